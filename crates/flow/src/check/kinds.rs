//! Which kinds of values an expression can give, and a place of the state can take, as far as that is certain.
//!
//! An expression is known if it is a path of names, a constant, or an object or a list that is written out. Along a
//! path a schema counts only where it says which kinds there are; what it leaves open, or reads out of a list, is not
//! known, and then nothing is concluded.

use std::fmt;

use serde_json::Value;

use super::condition::{Token, constant, plain_path, tokens};
use super::ground::Ground;
use super::shape::Shape;
use crate::expression::Expression;
use crate::place::{Place, Segment};

/// A set of kinds of JSON values. Whole numbers are numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Kinds(u8);

/// The words of a schema for a kind, and those of a message; their order is that of the bits.
const WORDS: [(&str, &str); 6] = [
    ("string", "a text"),
    ("number", "a number"),
    ("boolean", "a boolean"),
    ("null", "null"),
    ("array", "a list"),
    ("object", "an object"),
];

impl Kinds {
    const NONE: Kinds = Kinds(0);
    const ANY: Kinds = Kinds(0b11_1111);
    pub(super) const LIST: Kinds = Kinds(0b01_0000);
    pub(super) const OBJECT: Kinds = Kinds(0b10_0000);

    fn named(word: &str) -> Kinds {
        let word = if word == "integer" { "number" } else { word };
        let bit = WORDS.iter().position(|(name, _)| *name == word);
        // A word that nobody knows may mean anything.
        bit.map_or(Kinds::ANY, |bit| Kinds(1 << bit))
    }

    fn of(value: &Value) -> Kinds {
        Kinds::named(match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        })
    }

    pub(super) fn or(self, other: Kinds) -> Kinds {
        Kinds(self.0 | other.0)
    }

    /// Whether a value can be of both.
    pub(super) fn meets(self, other: Kinds) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether every value of this one is of the other.
    pub(super) fn is_within(self, other: Kinds) -> bool {
        self.0 & !other.0 == 0
    }

    /// Returns what one schema says, without its alternatives and references.
    fn of_one(shape: Shape<'_>) -> Kinds {
        if shape.is_never() {
            return Kinds::NONE;
        }
        let all = |kinds: &mut dyn Iterator<Item = Kinds>| kinds.fold(Kinds::NONE, Kinds::or);
        let types = match shape.keyword("type") {
            Some(Value::String(word)) => Kinds::named(word),
            Some(Value::Array(words)) => all(&mut words.iter().filter_map(Value::as_str).map(Kinds::named)),
            _ => Kinds::ANY,
        };
        let members = shape.keyword("enum").and_then(Value::as_array);
        let members = members.map_or(Kinds::ANY, |members| all(&mut members.iter().map(Kinds::of)));
        let only = shape.keyword("const").map_or(Kinds::ANY, Kinds::of);
        Kinds(types.0 & members.0 & only.0)
    }

    /// Returns what one of these schemas allows, if there is such a value at all.
    fn of_all(shapes: &[Shape<'_>]) -> Option<Kinds> {
        let all = shapes.iter().map(|shape| Kinds::of_one(*shape)).fold(Kinds::NONE, Kinds::or);
        (all != Kinds::NONE).then_some(all)
    }
}

impl fmt::Display for Kinds {
    /// Writes them as `a text or null`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let is_there = |(bit, _): &(usize, &(&str, &str))| self.0 & (1 << bit) != 0;
        let words: Vec<&str> =
            WORDS.iter().enumerate().filter(is_there).map(|(_, (_, word))| *word).collect();
        out.write_str(&words.join(" or "))
    }
}

/// Returns the kinds of what an expression can give after a node; `None` if that is not known.
pub(super) fn kinds_of(ground: &Ground<'_>, expression: &Expression, node: Option<usize>) -> Option<Kinds> {
    if !expression.is_known() {
        return None;
    }
    if let Some(value) = constant(expression.compiled()) {
        return Some(Kinds::of(&value));
    }
    if let Some(kinds) = kinds_of_written(expression.text()) {
        return Some(kinds);
    }
    let path = plain_path(expression.text())?;
    let (first, rest) = path.split_first()?;
    let found = match first.as_str() {
        "input" => follow(ground.input()?, rest),
        "output" => follow(ground.output_of(node?)?, rest),
        "feedback" => follow(ground.feedback(), rest),
        _ => follow(ground.state(), &path),
    };
    found.and_then(|shapes| Kinds::of_all(&shapes))
}

/// Returns the kinds that a place of the state can take; `None` if that is not known.
pub(super) fn kinds_at(state: Shape<'_>, place: &Place) -> Option<Kinds> {
    if !place.is_known() {
        return None;
    }
    let mut shapes = lay_out(state)?;
    for segment in place.segments() {
        let mut next = Vec::new();
        for shape in shapes {
            let found = match segment {
                Segment::Name(name) => find_field(shape, name)?,
                Segment::At(expression) => match constant(expression.compiled()) {
                    Some(Value::String(name)) => find_field(shape, &name)?,
                    _ => find_item(shape)?,
                },
            };
            next.extend(found);
        }
        shapes = lay_out_all(next)?;
    }
    Kinds::of_all(&shapes)
}

/// Returns the kind of an object or a list that is written out from the first sign to the last.
fn kinds_of_written(text: &str) -> Option<Kinds> {
    let tokens: Vec<Token<'_>> = tokens(text).into_iter().map(|(_, token)| token).collect();
    let kinds = match tokens.first()? {
        Token::Sign('{') => Kinds::OBJECT,
        Token::Sign('[') => Kinds::LIST,
        _ => return None,
    };
    let mut depth = 0_usize;
    for (place, token) in tokens.iter().enumerate() {
        match token {
            Token::Sign('{' | '[' | '(') => depth += 1,
            Token::Sign('}' | ']' | ')') => depth = depth.saturating_sub(1),
            _ => {}
        }
        if depth == 0 {
            return (place + 1 == tokens.len()).then_some(kinds);
        }
    }
    None
}

/// Follows names from a schema as JSONata does; a value that may be a list ends what is known.
fn follow<'s>(from: Shape<'s>, names: &[String]) -> Option<Vec<Shape<'s>>> {
    let mut shapes = lay_out(from)?;
    for name in names {
        let mut next = Vec::new();
        for shape in shapes {
            if Kinds::of_one(shape).meets(Kinds::LIST) {
                return None;
            }
            next.extend(find_field(shape, name)?);
        }
        shapes = lay_out_all(next)?;
    }
    Some(shapes)
}

/// Lists the alternatives of a schema, if all of them are known.
fn lay_out(shape: Shape<'_>) -> Option<Vec<Shape<'_>>> {
    let alternatives = shape.alternatives();
    let is_whole = !alternatives.is_empty() && alternatives.len() < Shape::ALTERNATIVES_MAX;
    is_whole.then_some(alternatives)
}

fn lay_out_all(shapes: Vec<Shape<'_>>) -> Option<Vec<Shape<'_>>> {
    let laid_out: Option<Vec<Vec<Shape<'_>>>> = shapes.into_iter().map(lay_out).collect();
    laid_out.map(|all| all.concat())
}

/// Returns the schema of a field; nothing if there can be no such field, and `None` if it is not described.
fn find_field<'s>(shape: Shape<'s>, name: &str) -> Option<Option<Shape<'s>>> {
    if !Kinds::of_one(shape).meets(Kinds::OBJECT) {
        return Some(None);
    }
    if let Some((_, field, _)) = shape.properties().into_iter().find(|(known, ..)| *known == name) {
        return Some(Some(field));
    }
    match shape.others() {
        _ if shape.keyword("patternProperties").is_some() => None,
        Some(others) if others.is_never() => Some(None),
        others => others.map(Some),
    }
}

/// Returns the schema of an item, or of a field whose name is not known, as [`find_field`] does.
fn find_item(shape: Shape<'_>) -> Option<Option<Shape<'_>>> {
    let kinds = Kinds::of_one(shape);
    if !kinds.meets(Kinds::LIST.or(Kinds::OBJECT)) {
        return Some(None);
    }
    if kinds.meets(Kinds::OBJECT) {
        let is_named = ["properties", "patternProperties"].iter().any(|word| shape.keyword(word).is_some());
        return if kinds.meets(Kinds::LIST) || is_named { None } else { shape.others().map(Some) };
    }
    if shape.keyword("prefixItems").is_some() { None } else { shape.items().map(Some) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_out_is_known_by_its_first_sign() {
        let told = |text| kinds_of_written(text).map(|kinds| kinds.to_string());
        assert_eq!(told(" {'a': [1, (b)]} ").as_deref(), Some("an object"));
        assert_eq!(told("[n, '}']").as_deref(), Some("a list"));
        for other in ["{'a': n}.a", "[a][0]", "[a] = [b]", "(n)", "a{b: c}", "", "'['"] {
            assert_eq!(told(other), None, "{other}");
        }
    }

    #[test]
    fn kinds_are_told_in_words() {
        assert_eq!(Kinds::named("integer").or(Kinds::named("null")).to_string(), "a number or null");
    }
}
