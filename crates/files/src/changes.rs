//! What an editor did: the difference between two versions of a task file, in terms of the format.
//!
//! Nothing is judged here. A tick is reported as a tick; the rules decide whether it counts.

use std::collections::HashSet;

use crate::align::align;
use crate::chain_output::is_placeholder;
use crate::line;
use crate::parse::SubsectionKind;
use crate::section::Section;
use crate::session::SessionEntry;
use crate::task_file::TaskFile;
use crate::tile::{self, Kind, Tile};

/// One thing that differs between two versions. Indexes count from 0 in the new file, or in the old one for what
/// was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Change {
    /// A box was ticked.
    CriterionTicked {
        /// Which criterion.
        index: usize,
        /// Its text.
        text: String,
    },
    /// A tick was taken back.
    CriterionUnticked {
        /// Which criterion.
        index: usize,
        /// Its text.
        text: String,
    },
    /// A criterion was added.
    CriterionAdded {
        /// Which criterion.
        index: usize,
        /// Its text.
        text: String,
        /// Whether it came ticked.
        checked: bool,
    },
    /// A criterion was removed.
    CriterionRemoved {
        /// Which criterion it was.
        index: usize,
        /// Its text.
        text: String,
    },
    /// A criterion says something else, or names another check.
    CriterionReworded {
        /// Which criterion.
        index: usize,
        /// What it said.
        from: String,
        /// What it says.
        to: String,
    },
    /// What is nested under a criterion changed.
    CriterionDetailsChanged {
        /// Which criterion.
        index: usize,
        /// Its text.
        text: String,
    },
    /// A session was added.
    SessionAppended(SessionEntry),
    /// A session reads differently.
    SessionChanged {
        /// Its number.
        number: u32,
    },
    /// A session was removed.
    SessionRemoved {
        /// Its number.
        number: u32,
    },
    /// There is a chain output now.
    ChainOutputWritten,
    /// The chain output reads differently.
    ChainOutputChanged,
    /// There is no chain output any more.
    ChainOutputRemoved,
    /// The task is called something else.
    TitleEdited,
    /// The requirements read differently.
    RequirementsEdited,
    /// A metadata key was added, changed or removed.
    MetadataChanged {
        /// The key.
        key: String,
    },
    /// Something else changed.
    OtherChanged {
        /// The title of the section; empty for what stands before the first.
        section: String,
    },
}

/// Returns what differs between two versions of a file.
///
/// Blank lines between parts make no difference.
pub fn changes(old: &TaskFile, new: &TaskFile) -> Vec<Change> {
    let mut found = Vec::new();
    let words = |file: &TaskFile| file.title().map(crate::task_file::Title::plain);
    if words(old) != words(new) {
        found.push(Change::TitleEdited);
    }
    compare_metadata(old, new, &mut found);
    if old.requirements() != new.requirements() {
        found.push(Change::RequirementsEdited);
    }
    compare_criteria(old, new, &mut found);
    compare_sessions(old, new, &mut found);
    match (old.chain_output(), new.chain_output()) {
        (None, Some(_)) => found.push(Change::ChainOutputWritten),
        (Some(_), None) => found.push(Change::ChainOutputRemoved),
        (before, after) if before != after => found.push(Change::ChainOutputChanged),
        _ => {}
    }
    compare_rest(old, new, &mut found);
    found
}

fn compare_metadata(old: &TaskFile, new: &TaskFile, found: &mut Vec<Change>) {
    let (Ok(before), Ok(after)) = (&old.parts.metadata, &new.parts.metadata) else { return };
    let (old_json, new_json) = (&old.text[before.content.clone()], &new.text[after.content.clone()]);
    let added = after.members.iter().filter(|member| before.raw(old_json, &member.key).is_none());
    let mut seen = HashSet::new();
    for member in before.members.iter().chain(added) {
        let differs = before.raw(old_json, &member.key) != after.raw(new_json, &member.key);
        if differs && seen.insert(&member.key) {
            found.push(Change::MetadataChanged { key: member.key.clone() });
        }
    }
}

fn compare_criteria(old: &TaskFile, new: &TaskFile, found: &mut Vec<Change>) {
    let texts = |file: &TaskFile| file.criteria().iter().map(|one| one.text.clone()).collect::<Vec<_>>();
    let places = align(&texts(old), &texts(new), |_, _| true);
    let mut is_kept = vec![false; old.criteria().len()];
    for (index, (after, place)) in new.criteria().iter().zip(&places).enumerate() {
        let text = after.text.clone();
        let Some(place) = *place else {
            found.push(Change::CriterionAdded { index, text, checked: after.checked });
            continue;
        };
        is_kept[place] = true;
        let before = &old.criteria()[place];
        if (&before.text, &before.check) != (&after.text, &after.check) {
            found.push(Change::CriterionReworded { index, from: before.text.clone(), to: text.clone() });
        } else if details(old, place) != details(new, index) {
            found.push(Change::CriterionDetailsChanged { index, text: text.clone() });
        }
        match (before.checked, after.checked) {
            (false, true) => found.push(Change::CriterionTicked { index, text }),
            (true, false) => found.push(Change::CriterionUnticked { index, text }),
            _ => {}
        }
    }
    let gone = old.criteria().iter().enumerate().filter(|(index, _)| !is_kept[*index]);
    found.extend(gone.map(|(index, one)| Change::CriterionRemoved { index, text: one.text.clone() }));
}

/// Returns what stands below the first paragraph of a criterion.
fn details(file: &TaskFile, index: usize) -> String {
    let criterion = &file.criteria()[index];
    let end = criterion.range.end.max(criterion.words.end);
    line::with_endings(file.text[criterion.words.end..end].trim(), "\n")
}

fn compare_sessions(old: &TaskFile, new: &TaskFile, found: &mut Vec<Change>) {
    let numbers = |file: &TaskFile| file.sessions().iter().map(|session| session.number).collect::<Vec<_>>();
    let places = align(&numbers(old), &numbers(new), |_, _| false);
    let mut is_kept = vec![false; old.sessions().len()];
    for (after, place) in new.sessions().iter().zip(&places) {
        let Some(place) = *place else {
            found.push(Change::SessionAppended(after.clone()));
            continue;
        };
        is_kept[place] = true;
        if old.sessions()[place].text.trim_end() != after.text.trim_end() {
            found.push(Change::SessionChanged { number: after.number });
        }
    }
    let gone = old.sessions().iter().zip(is_kept).filter(|(_, is_kept)| !is_kept);
    found.extend(gone.map(|(session, _)| Change::SessionRemoved { number: session.number }));
}

/// Compares what no other change names, section by section.
fn compare_rest(old: &TaskFile, new: &TaskFile, found: &mut Vec<Change>) {
    let is_readable = old.metadata().is_ok() && new.metadata().is_ok();
    let (old_rest, new_rest) = (rest_by_section(old, is_readable), rest_by_section(new, is_readable));
    let old_set: HashSet<&(String, Vec<String>)> = old_rest.iter().collect();
    let new_titles: HashSet<&String> = new_rest.iter().map(|(title, _)| title).collect();
    let gone = old_rest.iter().filter(|(title, _)| !new_titles.contains(title));
    let changed = new_rest.iter().filter(|rest| !old_set.contains(rest));
    for (section, _) in changed.chain(gone) {
        found.push(Change::OtherChanged { section: section.clone() });
    }
}

fn rest_by_section(file: &TaskFile, is_readable: bool) -> Vec<(String, Vec<String>)> {
    let mut sections: Vec<(String, Vec<String>)> = Vec::new();
    for tile in tile::cut(file).iter().filter(|tile| !is_named(tile, is_readable)) {
        let is_new = tile.key.kind == Kind::Head
            || sections.last().is_none_or(|(title, _)| *title != tile.key.section);
        if is_new {
            sections.push((tile.key.section.clone(), Vec::new()));
        }
        if let Some((_, bodies)) = sections.last_mut() {
            match (tile.key.kind, &file.parts.title_words) {
                (Kind::Preamble, Some(words)) => bodies.extend(rest_beside_title(tile, file, words)),
                _ => bodies.extend(rest_of(tile)),
            }
        }
    }
    sections
}

/// Returns what stands before the first section but for the words of the title; its number counts.
fn rest_beside_title(tile: &Tile<'_>, file: &TaskFile, words: &std::ops::Range<usize>) -> Option<String> {
    let (before, after) = (tile.body.get(..words.start)?, tile.body.get(words.end..)?);
    let number = file.title().and_then(|title| title.id).map_or_else(String::new, |id| id.to_string());
    Some(format!("{}{number}{}", before.trim_start(), after.trim_end()))
}

/// Tells whether a change of this part has a name of its own.
fn is_named(tile: &Tile<'_>, is_readable: bool) -> bool {
    match tile.key.kind {
        Kind::Metadata => is_readable,
        Kind::Criterion => tile.body.contains(']'),
        Kind::Subsection(kind) => {
            matches!(kind, SubsectionKind::Requirements | SubsectionKind::Session)
                || tile.section == Some(Section::ChainOutput)
        }
        Kind::Preamble | Kind::Head | Kind::Tail => false,
    }
}

/// Returns what counts of a part: a placeholder does not, and neither does what the chain output says.
fn rest_of(tile: &Tile<'_>) -> Option<String> {
    if tile.key.kind != Kind::Head {
        return Some(tile.body.trim().to_owned()).filter(|body| !body.is_empty());
    }
    let end = line::line_end(tile.body, 0);
    let (heading, body) = tile.body.split_at(end);
    if tile.section == Some(Section::ChainOutput) || is_placeholder(body) {
        return Some(heading.trim().to_owned());
    }
    Some(tile.body.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const OLD: &str = "# Task #1: A\n\n## 0. Metadata\n```json\n{ \"a\": 1, \"b\": 2 }\n```\n\n## 1. Context\n\n\
        ### Requirements\nr\n\n### Acceptance Criteria\n- [ ] one\n- [x] two\n  - nested\n- plain\n\n\
        ## 3. Progress Log\n\n(No sessions yet)\n\n## 4. Chain Output\n\n(To be completed)\n";

    fn check(edits: &[(&str, &str)], expected: &[Change]) {
        let new = edits.iter().fold(OLD.to_owned(), |text, (from, to)| {
            assert!(text.contains(from), "{from}");
            text.replacen(from, to, 1)
        });
        let (old, new) = (TaskFile::parse(OLD), TaskFile::parse(new));
        assert_eq!(changes(&old, &new), expected, "{}", new.text());
    }

    fn other(section: &str) -> Change {
        Change::OtherChanged { section: section.into() }
    }

    #[test]
    fn criteria() {
        check(&[("[ ] one", "[X] one")], &[Change::CriterionTicked { index: 0, text: "one".into() }]);
        check(&[("[x] two", "[ ] two")], &[Change::CriterionUnticked { index: 1, text: "two".into() }]);
        let (from, to) = ("one".into(), "uno".into());
        check(&[("[ ] one", "[ ] uno")], &[Change::CriterionReworded { index: 0, from, to }]);
        check(&[("nested", "nests")], &[Change::CriterionDetailsChanged { index: 1, text: "two".into() }]);
        check(
            &[("- [ ] one\n", "- [x] zero\n- [ ] one\n")],
            &[Change::CriterionAdded { index: 0, text: "zero".into(), checked: true }],
        );
        check(&[("- [ ] one\n", "")], &[Change::CriterionRemoved { index: 0, text: "one".into() }]);
    }

    #[test]
    fn sessions_and_output() {
        let written = [("(No sessions yet)", "### Session 1 - t\n**Did:** a"), ("(To be completed)", "done")];
        let new = TaskFile::parse(OLD.replace(written[0].0, written[0].1));
        check(&written, &[Change::SessionAppended(new.sessions()[0].clone()), Change::ChainOutputWritten]);
        let edited = TaskFile::parse(new.text().replace("**Did:** a", "**Did:** b"));
        assert_eq!(changes(&new, &edited), [Change::SessionChanged { number: 1 }]);
        assert_eq!(changes(&new, &TaskFile::parse(OLD)), [Change::SessionRemoved { number: 1 }]);
    }

    #[test]
    fn everything_else_is_named_by_its_section() {
        check(&[("\nr\n", "\ns\n")], &[Change::RequirementsEdited]);
        check(
            &[("\"b\": 2", "\"c\": 3")],
            &[Change::MetadataChanged { key: "b".into() }, Change::MetadataChanged { key: "c".into() }],
        );
        check(&[("# Task #1: A", "# Task #1: B")], &[Change::TitleEdited]);
        check(&[("# Task #1: A", "# Task #2: A")], &[other("")]);
        check(&[("# Task #1: A\n", "")], &[Change::TitleEdited, other("")]);
        check(&[("- plain", "- fancy")], &[other("Context")]);
        check(&[("## 4.", "## Notes\nn\n\n## 4.")], &[other("Notes")]);
        check(&[("\"a\": 1,", "\"a\": ,")], &[other("Metadata")]);
        check(&[], &[]);
        check(&[("\n\n## 3.", "\n\n\n\n## 3.")], &[]);
    }
}
