//! The text of a task file as the log knows it, and what an edit of it means.
//!
//! The log keeps every version of the file as splices of the one before, so that the file can be rebuilt, and
//! so that an edit can be distinguished from what was last written. The engine interprets the text; the rules
//! only see what changed.

use crate::{EpicId, Event, Fact, PrdSlug, Priority, TaskId};
use serde::{Deserialize, Serialize};

/// One change of a text: the bytes from `start` to `end` become `text`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Splice {
    /// The first byte that goes.
    pub start: u64,
    /// The first byte that stays.
    pub end: u64,
    /// What comes instead.
    pub text: String,
}

/// Who changed a task file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Origin {
    /// The engine; the change has still to be written to the disk.
    Engine,
    /// Somebody else; the change was found on the disk.
    Edit,
}

/// A change of a task file: one or more versions that become the newest one after the other, all at once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Edit {
    /// The digest of the version that it changes, unless the file is new.
    pub base: Option<String>,
    /// The versions, in order.
    pub steps: Vec<EditStep>,
    /// What the change means.
    pub changes: Vec<FileChange>,
}

/// One version of a task file, as a change of the one before.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EditStep {
    /// The digest of the new text.
    pub digest: String,
    /// What changed.
    pub splice: Splice,
    /// Who changed it.
    pub origin: Origin,
}

/// What a change of a task file means.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "each becomes an event of its own")]
pub enum FileChange {
    CriterionChecked {
        index: u32,
        text: String,
    },
    CriterionUnchecked {
        index: u32,
        text: String,
    },
    CriteriaSet {
        criteria: Vec<CriterionNote>,
    },
    ProgressLogged(ProgressNote),
    OutputWritten {
        digest: String,
        summary: String,
    },
    OutputRemoved,
    RequirementsEdited {
        text: String,
    },
    TitleEdited {
        title: String,
    },
    Edited {
        title: Option<String>,
        description: Option<String>,
        priority: Option<Priority>,
        filed: Option<Filed>,
    },
    InputsEmbedded {
        inputs: Vec<InputNote>,
    },
    Conflicted {
        section: String,
    },
    Archived {
        first: u32,
        last: u32,
        bytes: u64,
    },
}

/// What a task belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Filed {
    /// Its epic.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub epic_id: Option<EpicId>,
    /// Its PRD.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prd: Option<PrdSlug>,
}

/// A criterion as it is in the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CriterionNote {
    /// What must hold.
    pub text: String,
    /// Whether somebody claims that it does.
    pub checked: bool,
    /// The check that shows it, if one is named.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
}

/// An entry of the progress log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProgressNote {
    /// The number of the session.
    pub number: u32,
    /// When, in the words of the file.
    pub at: String,
    /// What was done.
    pub did: String,
    /// What stood in the way.
    pub issues: String,
    /// What comes next.
    pub next: String,
    /// Whether the engine wrote it, because the agent did not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub by_engine: bool,
}

/// Which output of an upstream task stands in a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InputNote {
    /// The upstream task.
    pub task_id: TaskId,
    /// The digest of the output that is embedded.
    pub digest: String,
    /// What is embedded of it.
    pub summary: String,
    /// Whether the upstream output has changed since.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stale: bool,
}

/// The text of one task file: the newest version, and the one on the disk if that is older.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileText {
    /// The newest version.
    pub newest: Option<FileVersion>,
    /// What is on the disk, as far as is known.
    pub on_disk: Option<FileVersion>,
}

/// One version of a task file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileVersion {
    /// The text.
    pub text: String,
    /// Its digest.
    pub digest: String,
}

impl FileText {
    /// Folds one fact into the text.
    pub fn evolve(mut self, fact: &Fact) -> Self {
        match &fact.event {
            Event::FileChanged { digest, splice, origin, .. } => {
                let old = self.newest.as_ref().map_or("", |version| version.text.as_str());
                let version = FileVersion { text: splice.apply(old), digest: digest.clone() };
                if *origin == Origin::Edit {
                    self.on_disk = Some(version.clone());
                }
                self.newest = Some(version);
            }
            Event::FileWritten { digest, .. }
                if self.newest.as_ref().is_some_and(|newest| newest.digest == *digest) =>
            {
                self.on_disk.clone_from(&self.newest);
            }
            _ => {}
        }
        self
    }
}

impl Splice {
    /// Returns the smallest splice that makes `new` of `old`.
    pub fn between(old: &str, new: &str) -> Self {
        let (mut start, mut same_end) = (common(old.bytes(), new.bytes()), 0);
        while !old.is_char_boundary(start) || !new.is_char_boundary(start) {
            start -= 1;
        }
        let rest = (old.len() - start).min(new.len() - start);
        same_end += common(old.bytes().rev(), new.bytes().rev()).min(rest);
        while !old.is_char_boundary(old.len() - same_end) || !new.is_char_boundary(new.len() - same_end) {
            same_end -= 1;
        }
        let text = new[start..new.len() - same_end].to_owned();
        Splice { start: start as u64, end: (old.len() - same_end) as u64, text }
    }

    /// Applies the splice; one that does not fit leaves the text alone.
    pub fn apply(&self, old: &str) -> String {
        let place = usize::try_from(self.start).ok().zip(usize::try_from(self.end).ok());
        let parts = place.and_then(|(start, end)| Some((old.get(..start)?, old.get(end..)?, start <= end)));
        match parts {
            Some((before, after, true)) => [before, &self.text, after].concat(),
            _ => old.to_owned(),
        }
    }
}

fn common(left: impl Iterator<Item = u8>, right: impl Iterator<Item = u8>) -> usize {
    left.zip(right).take_while(|(left, right)| left == right).count()
}

/// Returns the facts of an edit.
pub(crate) fn edit(task_id: TaskId, edit: &Edit) -> Vec<Event> {
    let changed = |step: &EditStep| Event::FileChanged {
        task_id,
        digest: step.digest.clone(),
        splice: step.splice.clone(),
        origin: step.origin,
    };
    let changes = edit.changes.iter().map(|changes| changes.to_event(task_id));
    edit.steps.iter().map(changed).chain(changes).collect()
}

impl FileChange {
    fn to_event(&self, task_id: TaskId) -> Event {
        match self.clone() {
            FileChange::CriterionChecked { index, text } => Event::CriterionChecked { task_id, index, text },
            FileChange::CriterionUnchecked { index, text } => {
                Event::CriterionUnchecked { task_id, index, text }
            }
            FileChange::CriteriaSet { criteria } => Event::CriteriaSet { task_id, criteria },
            FileChange::ProgressLogged(entry) => Event::ProgressLogged { task_id, entry },
            FileChange::OutputWritten { digest, summary } => {
                Event::OutputWritten { task_id, digest, summary }
            }
            FileChange::OutputRemoved => Event::OutputRemoved { task_id },
            FileChange::RequirementsEdited { text } => Event::RequirementsEdited { task_id, text },
            FileChange::TitleEdited { title } => {
                let (title, description, priority, filed) = (Some(title), None, None, None);
                Event::TaskEdited { task_id, title, description, priority, filed }
            }
            FileChange::Edited { title, description, priority, filed } => {
                Event::TaskEdited { task_id, title, description, priority, filed }
            }
            FileChange::InputsEmbedded { inputs } => Event::InputsEmbedded { task_id, inputs },
            FileChange::Conflicted { section } => Event::FileConflicted { task_id, section },
            FileChange::Archived { first, last, bytes } => {
                Event::FileArchived { task_id, first, last, bytes }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{World, id, progress};
    use crate::{Actor, Command};
    use proptest::prelude::*;

    #[test]
    fn a_splice_is_as_small_as_it_can_be() {
        let splice = Splice::between("- [ ] it works\n- [ ] two\n", "- [x] it works\n- [ ] two\n");
        assert_eq!(splice, Splice { start: 3, end: 4, text: "x".into() });
        assert_eq!(Splice::between("", "new"), Splice { start: 0, end: 0, text: "new".into() });
        assert_eq!(Splice::between("same", "same"), Splice { start: 4, end: 4, text: String::new() });
    }

    fn fold(events: Vec<Event>) -> FileText {
        let fact = |event| Fact { at: jiff::Timestamp::UNIX_EPOCH, actor: Actor::Engine, event };
        events.into_iter().map(fact).fold(FileText::default(), |text, fact| text.evolve(&fact))
    }

    fn step(old: &str, new: &str, origin: Origin) -> EditStep {
        EditStep { digest: new.to_owned(), splice: Splice::between(old, new), origin }
    }

    #[test]
    fn the_newest_version_and_the_one_on_the_disk_are_told_apart() {
        let ours = Edit { base: None, steps: vec![step("", "one", Origin::Engine)], changes: vec![] };
        let written = Event::FileWritten { task_id: id(1), digest: "one".to_owned() };
        let late = Event::FileWritten { task_id: id(1), digest: "older".to_owned() };
        let texts = |text: FileText| (text.newest.map(|it| it.text), text.on_disk.map(|it| it.text));
        let some = |text: &str| Some(text.to_owned());
        assert_eq!(texts(fold(edit(id(1), &ours))), (some("one"), None));
        assert_eq!(texts(fold([edit(id(1), &ours), vec![late]].concat())), (some("one"), None));
        let begun = [edit(id(1), &ours), vec![written]].concat();
        assert_eq!(texts(fold(begun.clone())), (some("one"), some("one")));
        let steps = vec![step("one", "two", Origin::Edit), step("two", "two and three", Origin::Engine)];
        let merged = Edit { base: some("one"), steps, changes: vec![] };
        assert_eq!(texts(fold([begun, edit(id(1), &merged)].concat())), (some("two and three"), some("two")));
    }

    #[test]
    fn what_the_file_says_is_remembered_in_every_stage() {
        for given in ["add", "add; assign 1 alpha; settle 1; ready 1; approve 1; settle 1"] {
            let mut world = World::given(given);
            let changes = vec![
                FileChange::CriteriaSet {
                    criteria: vec![CriterionNote { text: "it works".into(), checked: false, check: None }],
                },
                FileChange::CriterionChecked { index: 0, text: "it works".into() },
                FileChange::CriterionChecked { index: 7, text: "there is no such one".into() },
                FileChange::ProgressLogged(progress(1)),
                FileChange::OutputWritten { digest: "01".into(), summary: "a file".into() },
                FileChange::RequirementsEdited { text: "all of it".into() },
                FileChange::TitleEdited { title: "Another".into() },
            ];
            let edit = Edit { base: None, steps: vec![step("", "text", Origin::Edit)], changes };
            world.give(id(1), &Actor::Unknown, &Command::Edit(edit)).unwrap();
            let task = &world.tasks[&id(1)];
            assert!(task.criteria[0].checked);
            assert_eq!((task.memory.entries, task.description.as_str()), (1, "all of it"));
            assert_eq!(task.title, "Another");
            assert_eq!(task.memory.output.as_ref().map(|output| output.summary.as_str()), Some("a file"));
            assert_eq!(crate::replay_task(&world.facts).unwrap().as_ref(), Some(task));
        }
    }

    proptest! {
        #[test]
        fn a_splice_leads_from_the_old_to_the_new(old in "[aé€😀\r\n]{0,12}", new in "[aé€😀\r\n]{0,12}") {
            prop_assert_eq!(Splice::between(&old, &new).apply(&old), new);
        }

        #[test]
        fn a_splice_that_does_not_fit_changes_nothing(start in 0u64..9, end in 0u64..9) {
            let splice = Splice { start, end, text: String::new() };
            let text = "é€";
            let kept = splice.apply(text);
            prop_assert!(text.starts_with(&kept) || text.ends_with(&kept) || kept.len() < text.len());
        }
    }
}
