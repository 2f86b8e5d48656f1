//! Which tasks of the list are asked for. Pure: it knows what a row says and nothing else.

use crate::core::EpicId;
use crate::core::machine::Column;

/// What is asked for; what is not named is not looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only those in this column.
    pub column: Option<Column>,
    /// Only those of this agent.
    pub agent: Option<String>,
    /// Only those of this epic.
    pub epic: Option<EpicId>,
    /// Only those whose title or description has these words, in whatever case.
    pub text: Option<String>,
    /// Hidden ones too.
    pub all: bool,
}

/// What a filter looks at.
#[derive(Debug, Clone, Copy)]
#[allow(missing_docs, reason = "the fields are those of the list")]
pub struct Row<'a> {
    pub column: Column,
    pub agent: Option<&'a str>,
    pub epic: Option<EpicId>,
    pub title: &'a str,
    pub description: &'a str,
    pub hidden: bool,
}

impl Filter {
    /// Tells whether a row is asked for.
    pub fn admits(&self, row: Row<'_>) -> bool {
        let has_words = |text: &String| {
            let text = text.to_lowercase();
            row.title.to_lowercase().contains(&text) || row.description.to_lowercase().contains(&text)
        };
        (self.all || !row.hidden)
            && self.column.is_none_or(|column| column == row.column)
            && self.agent.as_deref().is_none_or(|agent| row.agent == Some(agent))
            && self.epic.is_none_or(|epic| row.epic == Some(epic))
            && self.text.as_ref().is_none_or(has_words)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row() -> Row<'static> {
        Row {
            column: Column::Verified,
            agent: Some("alpha"),
            epic: EpicId::new(3).ok(),
            title: "Make it so",
            description: "With ÄRGER",
            hidden: false,
        }
    }

    #[test]
    fn everything_that_is_named_must_hold() {
        let admits = |filter: Filter| filter.admits(row());
        let some = |text: &str| Some(text.to_owned());
        assert!(admits(Filter::default()));
        assert!(admits(Filter { column: Some(Column::Verified), agent: some("alpha"), ..Filter::default() }));
        assert!(!admits(Filter { column: Some(Column::Backlog), agent: some("alpha"), ..Filter::default() }));
        assert!(!admits(Filter { agent: some("alph"), ..Filter::default() }));
        assert!(admits(Filter { epic: EpicId::new(3).ok(), text: some("MAKE"), ..Filter::default() }));
        assert!(!admits(Filter { epic: EpicId::new(4).ok(), ..Filter::default() }));
        assert!(admits(Filter { text: some("ärger"), ..Filter::default() }));
        assert!(!admits(Filter { text: some("nothing"), ..Filter::default() }));
    }

    #[test]
    fn hidden_ones_are_shown_with_all() {
        let hidden = Row { hidden: true, ..row() };
        assert!(
            !Filter::default().admits(hidden) && Filter { all: true, ..Filter::default() }.admits(hidden)
        );
    }
}
