//! Counts the values inside a value and the bytes of its strings, up to a bound.
//!
//! Comparing two values, or searching for duplicates, visits all of that in one step of the engine. The estimate in
//! `weight.rs` is too rough for this: it assumes that all items are like the first, so a value that holds another
//! twice behind a small first item looks small however often this is repeated. A tracer cannot walk a value; it can
//! only request a copy that is cut to so many items and levels. So copies are made that grow until nothing is cut or
//! the bound is passed; each is at most a few times as large as the one before. A string is read to its end even if
//! one character of it is copied, so the strings are measured exactly before more of them are looked at.

use std::collections::HashSet;

use jlens_core::audit::{CaptureLimits, ValueRef};
use serde_json::Value;

use crate::weight::SPINE;

/// The items and the levels of the first copy: most values are smaller.
const FIRST_ITEMS: usize = 4;
const FIRST_LEVELS: usize = 3;

/// How many times the bound a copy may be, at worst.
const COPY_SHARE: usize = 4;

/// The most copies. Values that are still cut by then are taken to be too large.
const COPIES_MAX: usize = 96;

/// The characters of a text that are copied at first: most texts are shorter.
const FIRST_CHARACTERS: usize = 256;

/// So many texts are copied whole: each may be as long as a string may be.
const WHOLE_TEXTS_MAX: usize = 8;

/// The most bytes of text that a copy may add to the one before, if they are more.
const COPIED_TEXT_BYTES_MAX: usize = 4 * 1024 * 1024;

/// How many bytes of text are copied in the time of a value.
const BYTES_PER_VALUE: usize = 64;

/// How many values a value stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count {
    /// How many were found, the outermost included.
    pub(crate) values: usize,
    /// How long the texts and the names of fields were that were found, in bytes.
    pub(crate) bytes: usize,
    /// How many different names of fields were found.
    pub(crate) names: usize,
    /// Whether there are no more of them.
    pub(crate) is_all: bool,
    /// How many values were copied to find out.
    pub(crate) copied: usize,
}

/// Counts the values and the texts of a value, until there are more than `values_max`, or they are longer than `bytes_max`.
pub(crate) fn count(value: ValueRef<'_>, values_max: usize, bytes_max: usize) -> Count {
    let (mut items, mut levels, mut characters, mut copied) =
        (FIRST_ITEMS, FIRST_LEVELS, FIRST_CHARACTERS, 0);
    let mut found = Count { values: 0, bytes: 0, names: 0, is_all: false, copied };
    for _ in 0..COPIES_MAX {
        let limits = CaptureLimits { max_items: items, max_depth: levels, max_string: characters, ..SPINE };
        let copy = value.capture(&limits).unwrap_or_default();
        let mut tally = Tally { items, levels, characters, ..Tally::default() };
        tally.add(&copy, 0, 0);
        copied += tally.values + tally.bytes / BYTES_PER_VALUE;
        found = Count {
            values: tally.values,
            bytes: tally.bytes,
            names: tally.names.len(),
            is_all: tally.cut_deep == 0 && tally.cut_wide == 0 && tally.cut_texts == 0,
            copied,
        };
        if found.is_all || found.values > values_max || found.bytes > bytes_max {
            break;
        }
        if tally.cut_texts > 0 {
            let is_few = tally.cut_texts <= WHOLE_TEXTS_MAX;
            // To copy a text whole takes far less time than to cut it.
            characters =
                if is_few { usize::MAX } else { characters + COPIED_TEXT_BYTES_MAX / tally.cut_texts };
            continue;
        }
        characters = FIRST_CHARACTERS;
        // Each value that was too deep may now show as many items as are copied.
        match (COPY_SHARE * values_max).checked_div(tally.cut_deep) {
            Some(items_max) => (items, levels) = (items.min(items_max).max(2), levels + 1),
            // On a way that is cut short at several levels, all of them grow.
            None => items += (items / tally.cut_wide.max(1)).max(1),
        }
    }
    found
}

/// Whether a JSON value holds more than so many others.
pub(crate) fn holds_more_than(value: &Value, values_max: usize) -> bool {
    let (mut pending, mut values) = (vec![value], 0);
    while let Some(value) = pending.pop() {
        values += 1;
        match value {
            _ if values + pending.len() > values_max => return true,
            Value::Array(items) => pending.extend(items),
            Value::Object(fields) => pending.extend(fields.values()),
            _ => {}
        }
    }
    false
}

/// What a copy holds.
#[derive(Default)]
struct Tally<'c> {
    /// How many items were copied of each array and object: the note of what was left out is one more.
    items: usize,
    /// How many levels were copied: what is below them was cut.
    levels: usize,
    /// How many characters were copied of each text: the mark of what was left out is one more.
    characters: usize,
    values: usize,
    bytes: usize,
    names: HashSet<&'c str>,
    /// How many arrays and objects were too deep to be looked into.
    cut_deep: usize,
    /// On the way from the top that has most of them, how many arrays and objects were cut short.
    cut_wide: usize,
    /// How many texts were cut short.
    cut_texts: usize,
}

impl<'c> Tally<'c> {
    fn add(&mut self, copy: &'c Value, level: usize, cut_above: usize) {
        self.values += 1;
        match copy {
            Value::Array(items) => {
                let is_cut = items.len() > self.items;
                let kept = &items[..items.len() - usize::from(is_cut)];
                let cut = self.cut(cut_above, is_cut);
                kept.iter().for_each(|item| self.add(item, level + 1, cut));
            }
            Value::Object(fields) => {
                // A field of the note's own name gives way to it.
                let is_replaced = fields.len() == self.items && is_note(fields.get("\u{2026}"));
                let is_cut = fields.len() > self.items || is_replaced;
                let cut = self.cut(cut_above, is_cut);
                for (name, field) in fields.iter().take(self.items) {
                    self.bytes += name.len();
                    self.names.insert(name);
                    self.add(field, level + 1, cut);
                }
            }
            Value::String(text) if level == self.levels && text == "\u{2026}" => self.cut_deep += 1,
            Value::String(text) => {
                self.bytes += text.len();
                let is_cut = text.len() > self.characters && text.chars().count() > self.characters;
                self.cut_texts += usize::from(is_cut);
            }
            _ => {}
        }
    }

    fn cut(&mut self, above: usize, is_cut: bool) -> usize {
        let cut = above + usize::from(is_cut);
        self.cut_wide = self.cut_wide.max(cut);
        cut
    }
}

/// Whether a text may be the engine's note of the fields that it left out, such as "7 more".
fn is_note(text: Option<&Value>) -> bool {
    text.and_then(Value::as_str).is_some_and(|text| text.ends_with(" more"))
}

/// Returns how long the texts and the names of fields of a JSON value are, in bytes.
pub(crate) fn text_bytes(value: &Value) -> usize {
    let (mut pending, mut bytes) = (vec![value], 0);
    while let Some(value) = pending.pop() {
        match value {
            Value::String(text) => bytes += text.len(),
            Value::Array(items) => pending.extend(items),
            Value::Object(fields) => {
                bytes += fields.keys().map(String::len).sum::<usize>();
                pending.extend(fields.values());
            }
            Value::Null | Value::Bool(_) | Value::Number(_) => {}
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use jlens_core::audit::{Outcome, Tracer};
    use jlens_core::{Bindings, Expression, Node, Options};

    use super::*;

    /// Keeps the count of the last value that a node had.
    struct Last(usize, Option<Count>);

    impl Tracer for Last {
        fn exit(&mut self, _: &Node, outcome: Outcome<'_>) {
            if let Outcome::Value(value) = outcome {
                self.1 = Some(count(value, self.0, 1_000_000));
            }
        }
    }

    fn count_of(text: &str, values_max: usize) -> Count {
        let mut last = Last(values_max, None);
        let expression = Expression::compile(text).expect("an expression");
        // The value is counted when its node is left; that it is too long for a result comes after.
        let options = Options::new().max_result_size(1_000);
        let _ = expression.evaluate_traced(None, &Bindings::new(), &options, &mut last);
        last.1.expect("a node was left")
    }

    #[test]
    fn what_is_small_is_counted_to_the_last() {
        for (text, values, names) in [
            ("1", 1, 0),
            ("[]", 1, 0),
            ("[1, [2, {\"a\": 3, \"b\": \"…\"}]]", 7, 2),
            ("[[[[[[[[[[7]]]]]]]]]]", 11, 0),
            ("[\"x\", \"1\"]", 3, 0),
            ("[\"\", \"1 more\", {\"…\": \"7 more\"}]", 5, 1),
            ("[1..300]", 301, 0),
            ("[0, [[1..300].{\"a\": $, \"b\": [$]}]]", 1_203, 2),
        ] {
            let found = count_of(text, 10_000);
            assert_eq!((found.values, found.names, found.is_all), (values, names, true), "{text}");
        }
    }

    #[test]
    fn what_is_large_is_not_copied_to_the_last() {
        let doubled = format!("($a := [1, 2]; {} $a)", "$a := [0, 0, [$a], [$a]]; ".repeat(50));
        for text in [doubled.as_str(), "[1..9000].{\"a\": 1}", "[1..100].[[1..100]]"] {
            let found = count_of(text, 2_000);
            assert!(!found.is_all && found.values > 2_000, "{found:?}");
            assert!(found.copied < 40_000, "{found:?}");
        }
    }
}
