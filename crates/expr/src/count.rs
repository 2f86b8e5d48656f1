//! Counts how many values a value stands for when all that it holds is written out, as far as a bound.
//!
//! What compares two values, or looks for the same ones among many, goes through all of that in one step. The weight of a
//! value is too rough for it: it takes all items to be like the first, and a value that holds another twice, behind a
//! small first item, would be taken for small however often that was done. A tracer has no way to walk a value, it can
//! only have a copy made, cut to so many items and levels. So copies are made that grow until nothing is cut, or until
//! the bound is passed; each is at most a few times as large as the one before.

use std::collections::HashSet;

use jlens_core::audit::{CaptureLimits, ValueRef};
use serde_json::Value;

use crate::weight::SPINE;

/// The items and the levels of the first copy: most values are smaller.
const FIRST_ITEMS: usize = 16;
const FIRST_LEVELS: usize = 3;

/// How many times the bound a copy may be, at worst.
const COPY_SHARE: usize = 4;

/// The most copies. Values that are still cut by then are taken to be too large.
const COPIES_MAX: usize = 48;

/// How many values a value stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Count {
    /// How many were found, the outermost included.
    pub(crate) values: usize,
    /// How many different names of fields were found.
    pub(crate) names: usize,
    /// Whether there are no more of them.
    pub(crate) is_all: bool,
    /// How many values were copied to find out.
    pub(crate) copied: usize,
}

/// Counts the values of a value, until there are more than `values_max`.
pub(crate) fn count(value: ValueRef<'_>, values_max: usize) -> Count {
    let (mut items, mut levels, mut copied) = (FIRST_ITEMS, FIRST_LEVELS, 0);
    let mut found = Count { values: 0, names: 0, is_all: false, copied };
    for _ in 0..COPIES_MAX {
        let limits = CaptureLimits { max_items: items, max_depth: levels, max_string: 1, ..SPINE };
        let copy = value.capture(&limits).unwrap_or_default();
        let mut tally = Tally { levels, ..Tally::default() };
        tally.add(&copy, 0, 0);
        copied += tally.values;
        found = Count {
            values: tally.values,
            names: tally.names.len(),
            is_all: tally.cut_deep == 0 && tally.cut_wide == 0,
            copied,
        };
        if found.is_all || found.values > values_max {
            break;
        }
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
    /// How many levels were copied: what is below them was cut.
    levels: usize,
    values: usize,
    names: HashSet<&'c str>,
    /// How many arrays and objects were too deep to be looked into.
    cut_deep: usize,
    /// On the way from the top that has most of them, how many arrays and objects were cut short.
    cut_wide: usize,
}

impl<'c> Tally<'c> {
    fn add(&mut self, copy: &'c Value, level: usize, cut_above: usize) {
        self.values += 1;
        match copy {
            Value::Array(items) => {
                let is_cut = is_note(items.last());
                let kept = &items[..items.len() - usize::from(is_cut)];
                let cut = self.cut(cut_above, is_cut);
                kept.iter().for_each(|item| self.add(item, level + 1, cut));
            }
            Value::Object(fields) => {
                let is_cut = is_note(fields.get("\u{2026}"));
                let cut = self.cut(cut_above, is_cut);
                for (name, field) in fields {
                    self.names.insert(name);
                    self.add(field, level + 1, cut);
                }
            }
            Value::String(text) if level == self.levels && text == "\u{2026}" => self.cut_deep += 1,
            _ => {}
        }
    }

    fn cut(&mut self, above: usize, is_cut: bool) -> usize {
        let cut = above + usize::from(is_cut);
        self.cut_wide = self.cut_wide.max(cut);
        cut
    }
}

/// Whether a text is the engine's note of what it left out, "\u{2026} 7 more" or "7 more". Other texts are cut to a
/// character, so that none of them can be taken for it.
fn is_note(text: Option<&Value>) -> bool {
    text.and_then(Value::as_str).is_some_and(|text| text.ends_with(" more"))
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
                self.1 = Some(count(value, self.0));
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
