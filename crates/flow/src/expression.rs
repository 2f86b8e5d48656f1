//! An expression of a workflow: compiled, and with where it stands and whose it is.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use regatta_expr::Reads;
use serde_json::Value;

use crate::fault::Position;
use crate::folder::Folder;
use crate::path::{PathStep, ResolvedPath};
use crate::source::Source;

/// The names that expressions see beside the fields of the state; no field may be called so.
pub const RESERVED: [&str; 3] = ["input", "output", "feedback"];

/// A part of a workflow that has expressions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Part {
    /// The workflow itself.
    Workflow,
    /// The node of that name.
    Node(String),
    /// The edge of that id, or one of its routes.
    Edge(String),
    /// The name for a place under `[bind]`.
    Bind(String),
    /// The `[board]`.
    Board,
    /// The signal of that name.
    Signal(String),
    /// The view of that name.
    View(String),
    /// The file of that name.
    File(String),
}

impl fmt::Display for Part {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Part::Workflow => f.write_str("workflow"),
            Part::Node(name) => write!(f, "node `{name}`"),
            Part::Edge(id) => write!(f, "edge `{id}`"),
            Part::Bind(name) => write!(f, "bind `{name}`"),
            Part::Board => f.write_str("board"),
            Part::Signal(name) => write!(f, "signal `{name}`"),
            Part::View(name) => write!(f, "view `{name}`"),
            Part::File(name) => write!(f, "file `{name}`"),
        }
    }
}

/// A compiled expression of a workflow. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Expression(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    compiled: regatta_expr::Expression,
    part: Part,
    at: Position,
    reads: Reads,
    /// The path behind `output`, if that is all the expression is.
    part_of_output: Option<ResolvedPath>,
    is_known: bool,
}

/// What stands for a text that cannot be read: it reads no field, and nobody can say what comes of it.
const UNKNOWN: &str = "$random()";

impl Expression {
    pub(crate) fn new(compiled: regatta_expr::Expression, part: Part, at: Position) -> Expression {
        let reads = compiled.reads();
        let part_of_output = find_part_of_output(compiled.text());
        Expression(Arc::new(Inner { compiled, part, at, reads, part_of_output, is_known: true }))
    }

    /// Stands for an expression that cannot be read. It may use any variable.
    pub(crate) fn unknown(part: Part, at: Position) -> Expression {
        let compiled = regatta_expr::Expression::compile(UNKNOWN).expect("the stand-in can be read");
        let reads = Reads { any_variable: true, ..Reads::default() };
        Expression(Arc::new(Inner { compiled, part, at, reads, part_of_output: None, is_known: false }))
    }

    /// Whether the text could be read.
    pub(crate) fn is_known(&self) -> bool {
        self.0.is_known
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        self.0.compiled.text()
    }

    /// Returns the compiled expression itself.
    pub fn compiled(&self) -> &regatta_expr::Expression {
        &self.0.compiled
    }

    /// Returns whose expression it is.
    pub fn part(&self) -> &Part {
        &self.0.part
    }

    /// Returns where it stands.
    pub fn at(&self) -> &Position {
        &self.0.at
    }

    /// Returns where a stretch of its text stands in the files.
    ///
    /// Where the file does not hold the text as it is, because of escapes, the first such word of the literal counts.
    pub(crate) fn position_of(&self, folder: &Folder, within: Range<usize>) -> Position {
        let at = self.at();
        let Some(file) = folder.find(&at.file) else { return at.clone() };
        let written = file.get(at.bytes.clone()).unwrap_or_default();
        let found = if written == self.text() {
            Some(within)
        } else {
            self.text().get(within).and_then(|word| find_word(written, word))
        };
        let moved = found.map(|bytes| at.bytes.start + bytes.start..at.bytes.start + bytes.end);
        moved.map_or_else(|| at.clone(), |bytes| Source::new(Arc::clone(&at.file), file).position(bytes))
    }

    /// Returns what it may read, found once.
    pub fn reads(&self) -> &Reads {
        &self.0.reads
    }

    /// Returns the path behind `output`, if that is all the expression is and `output` has such a part.
    ///
    /// A path through a list is no such part: there JSONata gathers what it finds into a new list.
    pub(crate) fn find_part_of_output(&self, output: &Value) -> Option<&ResolvedPath> {
        self.0.part_of_output.as_ref().filter(|path| path.find(output).is_some())
    }
}

/// Finds a word that is not a part of a longer one.
pub(crate) fn find_word(text: &str, word: &str) -> Option<Range<usize>> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let is_alone = |at: &usize| {
        !text[..*at].ends_with(is_part) && !text[at + word.len()..].starts_with(is_part) && !word.is_empty()
    };
    text.match_indices(word).map(|(at, _)| at).find(is_alone).map(|at| at..at + word.len())
}

/// Returns the path behind `output`, of an expression that is nothing but names with dots between them.
fn find_part_of_output(text: &str) -> Option<ResolvedPath> {
    let is_plain = |name: &str| {
        name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
            && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
            && !["true", "false", "null", "and", "or", "in", "function"].contains(&name)
    };
    let mut names = text.trim().split('.');
    if names.next() != Some("output") {
        return None;
    }
    let step = |name: &str| is_plain(name).then(|| PathStep::Key(name.into()));
    names.map(step).collect::<Option<_>>().map(ResolvedPath)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_in_the_file_also_behind_escapes() {
        let told = |file: &str, literal: Range<usize>, text: &str| {
            let at = Source::new("a", file).position(literal);
            let compiled = regatta_expr::Expression::compile(text).unwrap();
            let folder: Folder = [("a".to_owned(), file.to_owned())].into_iter().collect();
            let start = text.find("bad").unwrap();
            let found = Expression::new(compiled, Part::Workflow, at)
                .position_of(&folder, start..start + "bad".len());
            (found.line, found.column, found.excerpt.to_string())
        };
        assert_eq!(told("k = 'a =\n bad'", 5..13, "a =\n bad"), (2, 2, "bad".to_owned()));
        let escaped = "k = \"\"\"a = \\\"x\\\" and\n  badly = bad\"\"\"";
        let found = told(escaped, 4..escaped.len(), "a = \"x\" and\n  badly = bad");
        assert_eq!(found, (2, 3 + "badly = ".len(), "bad".to_owned()));
    }

    #[test]
    fn a_part_of_the_output_is_named_with_dots_alone() {
        let told = |text| find_part_of_output(text).map(|path| path.to_string());
        assert_eq!(told(" output.tasks "), Some("tasks".to_owned()));
        assert_eq!(told("output"), Some(String::new()));
        for text in [
            "tasks",
            "output.null",
            "output[0]",
            "output.**",
            "$output",
            "output.tasks.$count()",
            "null",
            "'output'",
            "output . a b",
        ] {
            assert_eq!(told(text), None, "{text}");
        }
    }
}
