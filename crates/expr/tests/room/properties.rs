//! Whatever is written, there is an answer or a fault, and never a panic.

use std::time::Duration;

use proptest::prelude::*;
use regatta_expr::{Expression, Limits};
use serde_json::json;

/// Pieces that make expressions more often than letters do.
const PIECES: &[&str] = &[
    "a",
    "b",
    ".",
    "[",
    "]",
    "(",
    ")",
    "{",
    "}",
    ",",
    ";",
    ":",
    ":=",
    "$x",
    "$",
    "$$",
    "%",
    "*",
    "**",
    "=",
    "!=",
    "<",
    ">=",
    " and ",
    " or ",
    " in ",
    "+",
    "-",
    "/",
    "&",
    "?",
    "?:",
    "??",
    "~>",
    "^(",
    "@$v",
    "#$i",
    "|",
    "..",
    "1",
    "0.5",
    "-1",
    "\"s\"",
    "'t'",
    "`q`",
    "/a+/",
    "/(a|b)*/i",
    "true",
    "null",
    "function($x){",
    "λ($y){",
    "}",
    "$map(",
    "$sum(",
    "$string(",
    "$match(",
    "$eval(",
    "$reduce(",
    "$sort(",
    "$merge(",
    "$spread(",
    "$now()",
    "/*",
    "*/",
    "é",
    "\u{1F600}",
    "\\",
    "\n",
];

fn end(text: &str) {
    let Ok(expression) = Expression::compile(text) else { return };
    let _ = (expression.reads(), expression.required_comparisons(), expression.is_constant());
    let input = json!({ "a": [1, { "b": "aab" }, null], "b": { "a": [], "q": 1.5 } });
    let limits = Limits { steps: 2_000, items: 500, time: Duration::from_secs(60), ..Limits::at(0) };
    let plain = expression.evaluate(&input, &[("x", &json!([3, "a"]))], &limits);
    let explained = expression.explain(&input, &[("x", &json!([3, "a"]))], &limits);
    assert_eq!(plain, explained.result, "{text}");
    if let Some(at) = plain.err().and_then(|fault| fault.at()) {
        assert!(at.start <= at.end, "{text}: {at:?}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_text_ends(text in "\\PC{0,60}") {
        end(&text);
    }

    #[test]
    fn any_pieces_end(pieces in prop::collection::vec(prop::sample::select(PIECES), 0..24)) {
        end(&pieces.concat());
    }
}
