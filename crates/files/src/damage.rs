//! Tells a file that lost a part of itself from one that somebody edited.
//!
//! A full disk, a killed program or a mistaken redirection leaves a file without its end, or empty. Treated
//! as an edit, that would delete criteria. A person who deletes a passage leaves the sections that every task
//! file has; so those sections decide, and not how much is gone.

use serde_json::Value;

use crate::section::Section;
use crate::task_file::TaskFile;

/// Why a text is not taken for an edit of the version before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Damage {
    /// Nothing is left.
    Empty,
    /// It ends before its last sections.
    Cut,
    /// It has none of the sections of a task file.
    Unlike,
    /// It says that it is of another task.
    Foreign,
}

/// Finds out whether a text is what is left of the version before it, rather than an edit of it.
pub fn find_damage(before: &TaskFile, now: &TaskFile) -> Option<Damage> {
    if before.text().trim().is_empty() {
        return None;
    }
    if now.text().trim().is_empty() {
        return Some(Damage::Empty);
    }
    let required = Section::ALL.into_iter().filter(|section| section.is_required());
    let (had, has) = (|section| has(before, section), |section| has(now, section));
    if required.clone().any(had) && !required.clone().any(has) {
        let is_cut = before.text().starts_with(now.text());
        return Some(if is_cut { Damage::Cut } else { Damage::Unlike });
    }
    if task_of(before).is_some() && task_of(now).is_some() && task_of(before) != task_of(now) {
        return Some(Damage::Foreign);
    }
    let is_lost = |section| had(section) && !has(section);
    let is_beginning = before.text().starts_with(now.text());
    let is_shorter = now.text().len() < before.text().len();
    let is_cut =
        is_lost(Section::ChainOutput) && is_shorter && (is_beginning || is_lost(Section::ProgressLog));
    is_cut.then_some(Damage::Cut)
}

fn has(file: &TaskFile, section: Section) -> bool {
    file.parts.find_section(section).is_some()
}

fn task_of(file: &TaskFile) -> Option<&Value> {
    file.metadata().ok()?.get("task_id").filter(|task| task.is_u64())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{NewCriterion, NewTaskFile, render_new};

    fn file() -> TaskFile {
        let new = NewTaskFile {
            id: 1,
            title: "A".into(),
            requirements: "Paint it.".into(),
            criteria: vec![NewCriterion::of("one"), NewCriterion::of("two")],
            ..NewTaskFile::default()
        };
        render_new(&new).with_chain_output("### Summary\nIt is red.\n\n### Notes\nAnd dry.\n").unwrap()
    }

    fn judge(text: &str) -> Option<Damage> {
        find_damage(&file(), &TaskFile::parse(text))
    }

    #[test]
    fn a_file_that_lost_its_end_is_damaged_wherever_it_ends() {
        let whole = file().into_text();
        let last = whole.find("## 4.").unwrap();
        for end in 1..last {
            assert_eq!(judge(&whole[..end]), Some(Damage::Cut), "{}", &whole[..end]);
        }
        for nothing in ["", " \n\n"] {
            assert_eq!(judge(nothing), Some(Damage::Empty));
        }
        let ticked = whole.replace("- [ ] one", "- [x] one");
        let end = ticked.find("## 3.").unwrap();
        assert_eq!(judge(&ticked[..end]), Some(Damage::Cut), "a new version that was not written to its end");
    }

    #[test]
    fn what_people_do_is_an_edit() {
        let whole = file().into_text();
        for (old, new) in [
            ("\n### Notes\nAnd dry.\n", ""),
            ("\n\n### Summary\nIt is red.\n\n### Notes\nAnd dry.\n", ""),
            ("- [ ] one\n- [ ] two\n", ""),
            ("- [ ] one", "- [x] one"),
            (
                "### Requirements\nPaint it.\n\n### Acceptance Criteria\n",
                "```\nan unclosed fence that is longer than what it replaces was\n",
            ),
            ("## 0. Metadata\n", "## Metadata\n"),
            ("# Task #1: A\n\n", ""),
        ] {
            assert!(whole.contains(old), "{old}");
            assert_eq!(judge(&whole.replace(old, new)), None, "{old}");
        }
        let start = whole.find("## 0.").unwrap();
        let end = whole.find("## 1.").unwrap();
        assert_eq!(
            judge(&format!("{}{}", &whole[..start], &whole[end..])),
            None,
            "the engine writes its metadata again"
        );
        assert_eq!(find_damage(&TaskFile::parse(""), &TaskFile::parse("anything")), None);
        let notes = TaskFile::parse("notes");
        assert_eq!(find_damage(&notes, &TaskFile::parse("note")), None, "it had no sections to lose");
    }

    #[test]
    fn what_is_no_file_of_this_task_is_damage() {
        let whole = file().into_text();
        assert_eq!(judge(&"my notes\n".repeat(200)), Some(Damage::Unlike));
        assert_eq!(judge(&whole.replace("\"task_id\": 1", "\"task_id\": 7")), Some(Damage::Foreign));
    }
}
