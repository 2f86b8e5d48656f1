//! A place in the state, as it is written: `tasks[currentTaskIndex].status`.
//!
//! It is not JSONata: names and `[expression]` are followed one after the other and nothing is searched, so setting
//! a place costs the same whatever the state holds. The value of an expression is an index or a key.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use regatta_expr::is_mark;
use serde_json::Value;

use crate::expression::Expression;
use crate::path::{PathStep, ResolvedPath, find_along};
use crate::step::{Look, StepFault};

/// The most segments of a place: no state we know of is nested half as deep.
pub const SEGMENTS_MAX: usize = 32;

/// One segment of a place.
#[derive(Debug, Clone)]
pub enum Segment {
    /// A field.
    Name(Arc<str>),
    /// The item or field that the expression names.
    At(Expression),
}

/// A place in the state.
#[derive(Debug, Clone)]
pub struct Place {
    text: String,
    segments: Vec<Segment>,
    appends: bool,
}

/// What stands behind a list to which a `set` adds.
pub(crate) const APPENDS: &str = "[+]";

/// Why a text is no place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BadPlace {
    #[error("a place begins with the name of a field")]
    NoName,
    #[error("a name is expected here")]
    NameExpected(usize),
    #[error("the `[` is not closed")]
    Unclosed(usize),
    #[error("there is no expression within the brackets")]
    Empty(usize),
    #[error("`.` or `[` is expected here")]
    Unexpected(usize),
    #[error("a place has at most {SEGMENTS_MAX} segments")]
    TooLong,
}

impl BadPlace {
    /// Returns the byte of the text that is at fault.
    pub(crate) fn offset(&self) -> usize {
        match self {
            BadPlace::NoName | BadPlace::TooLong => 0,
            BadPlace::NameExpected(at)
            | BadPlace::Unclosed(at)
            | BadPlace::Empty(at)
            | BadPlace::Unexpected(at) => *at,
        }
    }
}

/// A segment before its expression is compiled, with the bytes that it takes in the text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum RawSegment {
    Name(String),
    At(Range<usize>),
}

impl Place {
    pub(crate) fn new(text: &str, segments: Vec<Segment>, appends: bool) -> Place {
        Place { text: text.to_owned(), segments, appends }
    }

    /// Stands for a place that cannot be read.
    pub(crate) fn unknown(text: &str) -> Place {
        Place { text: text.to_owned(), segments: Vec::new(), appends: false }
    }

    /// Returns the text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// Whether what is set there is added to the list at the place.
    pub fn appends(&self) -> bool {
        self.appends
    }

    /// Returns the segments; the first is a name.
    pub fn segments(&self) -> &[Segment] {
        &self.segments
    }

    /// Returns the field of the state that the place is in.
    pub fn field(&self) -> &str {
        match self.segments.first() {
            Some(Segment::Name(name)) => name,
            _ => "",
        }
    }

    /// Evaluates the expressions of the place. `None` means that one of them is undefined.
    pub fn resolve(&self, look: &Look<'_>) -> Result<Option<ResolvedPath>, StepFault> {
        let mut steps = Vec::with_capacity(self.segments.len());
        for segment in &self.segments {
            match segment {
                Segment::Name(name) => steps.push(PathStep::Key(name.clone())),
                Segment::At(expression) => match look.evaluate(expression)? {
                    Some(value) => steps.push(self.step_of(expression, &value)?),
                    None => return Ok(None),
                },
            }
        }
        Ok(Some(ResolvedPath(steps)))
    }

    /// Returns what is at the place, if it is there; nothing of the way is kept.
    pub(crate) fn find<'v>(&self, look: &Look<'v>) -> Result<Option<&'v Value>, StepFault> {
        let mut found = Some(look.root());
        for segment in &self.segments {
            found = match segment {
                Segment::Name(name) => found.and_then(|value| value.as_object()?.get(&**name)),
                Segment::At(expression) => match look.evaluate(expression)? {
                    Some(value) => {
                        let step = self.step_of(expression, &value)?;
                        found.and_then(|value| find_along(value, std::slice::from_ref(&step)))
                    }
                    None => return Ok(None),
                },
            };
        }
        Ok(found)
    }

    fn step_of(&self, expression: &Expression, value: &Value) -> Result<PathStep, StepFault> {
        let index = value.as_u64().and_then(|index| usize::try_from(index).ok()).map(PathStep::Index);
        let name = || value.as_str().filter(|name| !is_mark(name));
        let step = index.or_else(|| name().map(|name| PathStep::Key(name.into())));
        step.ok_or_else(|| StepFault::NoKey {
            part: expression.part().clone(),
            place: self.text.clone(),
            expression: expression.text().to_owned(),
            found: value.clone(),
        })
    }
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Returns whether a name can stand in a place as it is.
pub(crate) fn is_plain_name(name: &str) -> bool {
    name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(is_name_character)
}

/// Splits a text into segments.
pub(crate) fn split(text: &str) -> Result<Vec<RawSegment>, BadPlace> {
    let mut segments = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let (segment, end) = match text.as_bytes()[at] {
            b'[' if !segments.is_empty() => split_expression(text, at)?,
            b'.' if !segments.is_empty() => split_name(text, at + 1)?,
            _ if segments.is_empty() => split_name(text, at).map_err(|_| BadPlace::NoName)?,
            _ => return Err(BadPlace::Unexpected(at)),
        };
        segments.push(segment);
        at = end;
    }
    match segments.len() {
        0 => Err(BadPlace::NoName),
        1..=SEGMENTS_MAX => Ok(segments),
        _ => Err(BadPlace::TooLong),
    }
}

fn split_name(text: &str, start: usize) -> Result<(RawSegment, usize), BadPlace> {
    let end = text[start..].find(|c: char| !is_name_character(c)).map_or(text.len(), |length| start + length);
    let name = &text[start..end];
    if is_plain_name(name) {
        Ok((RawSegment::Name(name.to_owned()), end))
    } else {
        Err(BadPlace::NameExpected(start))
    }
}

/// Finds the bracket that closes the one at `start`, past strings and brackets within.
fn split_expression(text: &str, start: usize) -> Result<(RawSegment, usize), BadPlace> {
    let mut depth = 0_usize;
    let mut quote = None;
    let mut escaped = false;
    for (offset, byte) in text.bytes().enumerate().skip(start) {
        match (quote, byte) {
            (Some(_), _) if escaped => escaped = false,
            (Some(_), b'\\') => escaped = true,
            (Some(open), _) if byte == open => quote = None,
            (Some(_), _) => {}
            (None, b'"' | b'\'' | b'`') => quote = Some(byte),
            (None, b'[') => depth += 1,
            (None, b']') if depth > 1 => depth -= 1,
            (None, b']') if text[start + 1..offset].trim().is_empty() => return Err(BadPlace::Empty(start)),
            (None, b']') => return Ok((RawSegment::At(start + 1..offset), offset + 1)),
            (None, _) => {}
        }
    }
    Err(BadPlace::Unclosed(start))
}

fn is_name_character(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_' || c == '-'
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expected: Expect) {
        let told = match split(text) {
            Ok(segments) => segments
                .iter()
                .map(|segment| match segment {
                    RawSegment::Name(name) => name.clone(),
                    RawSegment::At(bytes) => format!("<{}>", &text[bytes.clone()]),
                })
                .collect::<Vec<_>>()
                .join(" "),
            Err(bad) => format!("{}: {bad}", bad.offset()),
        };
        expected.assert_eq(&told);
    }

    #[test]
    fn places_are_split_into_segments() {
        check("tasks", expect!["tasks"]);
        check("tasks[currentTaskIndex].status", expect!["tasks <currentTaskIndex> status"]);
        check("a[b[0]][']'].c-d", expect!["a <b[0]> <']'> c-d"]);
        check("a[$lookup(b, \"]\\\"\")]", expect![[r#"a <$lookup(b, "]\"")>"#]]);
    }

    #[test]
    fn what_is_no_place_is_told_with_where() {
        check("", expect!["0: a place begins with the name of a field"]);
        check("[0]", expect!["0: a place begins with the name of a field"]);
        check("1a", expect!["0: a place begins with the name of a field"]);
        check("a.", expect!["2: a name is expected here"]);
        check("a..b", expect!["2: a name is expected here"]);
        check("a[ ]", expect!["1: there is no expression within the brackets"]);
        check("a[b", expect!["1: the `[` is not closed"]);
        check("a b", expect!["1: `.` or `[` is expected here"]);
        check("a[0]b", expect!["4: `.` or `[` is expected here"]);
        check(&format!("a{}", ".a".repeat(32)), expect!["0: a place has at most 32 segments"]);
    }
}
