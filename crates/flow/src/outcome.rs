//! What may come of a node beside a result: the words of `on`.
//!
//! An edge without `on` is for a result, and never tried for an outcome. Where an outcome has no edge that holds, the run
//! does what it does without such edges, which is for its owner to know.

use std::fmt;

use serde::{Deserialize, Serialize};

/// What came of a node, or of the task that it submitted, instead of a result.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OutcomeKind {
    /// A session failed for good.
    Failed,
    /// The submitted task does not merge.
    Conflict,
    /// The submitted task has no diff.
    Unchanged,
    /// A person or a policy sent the submitted task back.
    Rejected,
    /// A person cancelled the task that the node works on or submitted.
    Cancelled,
}

impl OutcomeKind {
    /// All of them.
    pub const ALL: [OutcomeKind; 5] = [
        OutcomeKind::Failed,
        OutcomeKind::Conflict,
        OutcomeKind::Unchanged,
        OutcomeKind::Rejected,
        OutcomeKind::Cancelled,
    ];

    /// Returns the word in the files.
    pub fn as_str(self) -> &'static str {
        match self {
            OutcomeKind::Failed => "failed",
            OutcomeKind::Conflict => "conflict",
            OutcomeKind::Unchanged => "unchanged",
            OutcomeKind::Rejected => "rejected",
            OutcomeKind::Cancelled => "cancelled",
        }
    }

    /// Finds the outcome of that word.
    pub fn find(word: &str) -> Option<OutcomeKind> {
        OutcomeKind::ALL.into_iter().find(|kind| kind.as_str() == word)
    }

    /// Whether only a task that was submitted can come to it.
    pub(crate) fn needs_submit(self) -> bool {
        matches!(self, OutcomeKind::Conflict | OutcomeKind::Unchanged | OutcomeKind::Rejected)
    }

    /// Whether it takes a decision of a person each time.
    pub(crate) fn is_by_person(self) -> bool {
        matches!(self, OutcomeKind::Rejected | OutcomeKind::Cancelled)
    }
}

impl fmt::Display for OutcomeKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_the_same_in_the_files_and_in_the_log() {
        for kind in OutcomeKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.as_str());
            assert_eq!(OutcomeKind::find(kind.as_str()), Some(kind));
        }
        assert_eq!(OutcomeKind::find("Failed"), None);
    }
}
