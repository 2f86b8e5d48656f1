//! Every kind of edit, and what it may change: the bytes of its part, and nothing else.

use std::ops::Range;

use regatta_files::{Change, EditError, NewChainInput, NewCriterion, NewSession, Section, TaskFile, changes};
use serde_json::json;

use crate::random::Random;

/// Texts that are not easy to put into a file.
const TEXTS: &[&str] = &[
    "plain",
    "two\n\nparagraphs\n",
    "# Heading\n\n## 3. Progress Log\ntext",
    "```\nunclosed",
    "<!-- unclosed",
    "- [ ] box\n- [x] other",
    "> quote\n\n    code",
    "\r\nCRLF\r\ninside\r\n",
    "  indented",
    "**Next:** label\n**Did:** label",
    "🎉 ~~~~ `",
];

/// An edit of a task file.
#[derive(Debug, Clone)]
pub(crate) enum Edit {
    Criterion { index: usize, checked: bool },
    CriterionText { index: usize, text: String },
    AppendCriterion(String),
    Metadata { key: String, value: serde_json::Value },
    Requirements(String),
    Session(NewSession),
    ChainInput(NewChainInput),
    ChainOutput(String),
}

impl Edit {
    /// Returns one edit of each kind.
    pub(crate) fn all(random: &mut Random) -> Vec<Edit> {
        let mut text = || random.pick(TEXTS).to_owned();
        let session = NewSession {
            number: 7,
            at: "2024-11-26 15:30".into(),
            did: text(),
            issues: text(),
            next: text(),
            note: Some(text()),
        };
        let input = NewChainInput {
            task: 1,
            title: text(),
            summary: text(),
            link: Some("/api/tasks/1/chain-output".into()),
            stale: text().len() % 2 == 0,
        };
        vec![
            Edit::CriterionText { index: 0, text: text() },
            Edit::AppendCriterion(text()),
            Edit::Requirements(text()),
            Edit::ChainOutput(text()),
            Edit::Metadata { key: "status".into(), value: json!(text()) },
            Edit::Metadata { key: "new".into(), value: json!({ "a": [1, text()] }) },
            Edit::Session(session),
            Edit::ChainInput(input),
            Edit::Criterion { index: random.below(3), checked: true },
            Edit::Criterion { index: random.below(3), checked: false },
        ]
    }

    pub(crate) fn any(random: &mut Random) -> Edit {
        let mut all = Edit::all(random);
        all.swap_remove(random.below(all.len()))
    }

    pub(crate) fn apply(&self, file: &TaskFile) -> Result<TaskFile, EditError> {
        match self {
            Edit::Criterion { index, checked } => file.with_criterion(*index, *checked),
            Edit::CriterionText { index, text } => file.with_criterion_text(*index, text),
            Edit::AppendCriterion(text) => file.append_criterion(&NewCriterion::of(text)),
            Edit::Metadata { key, value } => file.with_metadata(key, value),
            Edit::Requirements(text) => file.with_requirements(text),
            Edit::Session(session) => file.with_session(session),
            Edit::ChainInput(input) => file.with_chain_inputs(std::slice::from_ref(input)),
            Edit::ChainOutput(text) => file.with_chain_output(text),
        }
    }

    /// Applies the edit and checks that it did what it should and no more; tells whether it could be made.
    pub(crate) fn check(&self, old: &TaskFile) -> bool {
        let new = match self.apply(old) {
            Ok(new) => new,
            Err(EditError::Misread { .. }) => panic!("{self:?} was misread in {:?}", old.text()),
            Err(_) => return false,
        };
        self.check_bytes(old, &new);
        self.check_changes(old, &new);
        true
    }

    fn check_bytes(&self, old: &TaskFile, new: &TaskFile) {
        let Some(part) = self.part(old) else {
            let same = common_prefix(old.text(), new.text()) + common_suffix(old.text(), new.text());
            assert!(same >= old.text().len(), "{self:?} changed more than it added: {:?}", new.text());
            return;
        };
        let (before, after) = (&old.text()[..part.start], &old.text()[part.end..]);
        let is_local = new.text().starts_with(before)
            && new.text().ends_with(after)
            && new.text().len() >= before.len() + after.len();
        assert!(is_local, "{self:?} changed bytes of another part\n{:?}\n{:?}", old.text(), new.text());
    }

    /// Returns the bytes that the edit may change; nothing when it has to add the part.
    fn part(&self, file: &TaskFile) -> Option<Range<usize>> {
        let section = |wanted| {
            let span = file.sections().iter().find(|span| span.section == Some(wanted))?;
            Some(span.range.clone())
        };
        match self {
            Edit::Criterion { index, .. } | Edit::CriterionText { index, .. } => {
                Some(file.criteria()[*index].range.clone())
            }
            Edit::AppendCriterion(_) | Edit::Requirements(_) => section(Section::Context),
            Edit::Metadata { .. } => section(Section::Metadata),
            Edit::Session(_) => section(Section::ProgressLog),
            Edit::ChainInput(_) => section(Section::ChainInputs),
            Edit::ChainOutput(_) => section(Section::ChainOutput),
        }
    }

    fn check_changes(&self, old: &TaskFile, new: &TaskFile) {
        let found = changes(old, new);
        let is_meant = |change: &Change| match (self, change) {
            (Edit::Criterion { checked: true, .. }, Change::CriterionTicked { .. })
            | (Edit::Criterion { checked: false, .. }, Change::CriterionUnticked { .. })
            | (Edit::CriterionText { .. }, Change::CriterionReworded { .. })
            | (Edit::AppendCriterion(_), Change::CriterionAdded { .. })
            | (Edit::Requirements(_), Change::RequirementsEdited)
            | (Edit::ChainOutput(_), Change::ChainOutputWritten | Change::ChainOutputChanged) => true,
            (Edit::Metadata { key, .. }, Change::MetadataChanged { key: changed }) => key == changed,
            (Edit::Session(session), Change::SessionAppended(entry)) => session.number == entry.number,
            (Edit::ChainInput(_), Change::OtherChanged { section }) => section == "Chain Inputs",
            // The part had to be added, perhaps with its section.
            (Edit::AppendCriterion(_) | Edit::Requirements(_), Change::OtherChanged { section }) => {
                section == "Context" && self.adds_heading(old)
            }
            (Edit::Metadata { .. }, Change::OtherChanged { section }) => {
                section == "Metadata" && old.metadata().is_err()
            }
            (_, Change::OtherChanged { section }) => self.part(old).is_none() && self.section() == section,
            _ => false,
        };
        assert!(found.iter().all(is_meant), "{self:?} made {found:?} of {:?}", old.text());
        assert!(found.len() <= 2, "{self:?} made {found:?}");
        assert_eq!(found.is_empty(), new.text() == old.text() || self.says_the_same(old, new), "{self:?}");
    }

    fn adds_heading(&self, file: &TaskFile) -> bool {
        match self {
            Edit::Requirements(_) => file.requirements().is_none(),
            _ => file.criteria().is_empty(),
        }
    }

    /// Tells whether an edit changed bytes without changing what they say, such as a box with other spacing.
    fn says_the_same(&self, old: &TaskFile, new: &TaskFile) -> bool {
        match self {
            Edit::CriterionText { index, .. } => old.criteria()[*index].text == new.criteria()[*index].text,
            Edit::ChainOutput(_) => old.chain_output() == new.chain_output(),
            _ => false,
        }
    }

    fn section(&self) -> &'static str {
        match self {
            Edit::Criterion { .. } | Edit::CriterionText { .. } => "",
            Edit::AppendCriterion(_) | Edit::Requirements(_) => "Context",
            Edit::Metadata { .. } => "Metadata",
            Edit::Session(_) => "Progress Log",
            Edit::ChainInput(_) => "Chain Inputs",
            Edit::ChainOutput(_) => "Chain Output",
        }
    }
}

fn common_prefix(one: &str, other: &str) -> usize {
    one.bytes().zip(other.bytes()).take_while(|(one, other)| one == other).count()
}

fn common_suffix(one: &str, other: &str) -> usize {
    one.bytes().rev().zip(other.bytes().rev()).take_while(|(one, other)| one == other).count()
}
