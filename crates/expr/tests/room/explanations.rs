//! An explanation names what was compared, and what decided.

use regatta_expr::{Explanation, Limits};
use serde_json::{Value, json};

use crate::compile;

fn explain(text: &str, input: &Value) -> Explanation {
    let explained = compile(text).explain(input, &[], &Limits::at(0));
    let plain = compile(text).evaluate(input, &[], &Limits::at(0));
    assert_eq!(explained.result, plain, "explaining changes nothing");
    explained.explanation
}

fn decisive(text: &str, input: &Value) -> Vec<String> {
    explain(text, input).decisive().map(|observation| observation.text.clone()).collect()
}

#[test]
fn a_comparison_is_told_with_both_sides() {
    let explanation = explain("a.b < $count(tasks) - 1", &json!({ "a": { "b": 2 }, "tasks": [1, 2, 3] }));
    let told = serde_json::to_value(&explanation).expect("it can be sent");
    assert_eq!(
        told["observations"],
        json!([{ "text": "a.b < $count(tasks) - 1", "at": { "start": 0, "end": 23 }, "operator": "<",
                 "left": 2, "right": 2, "result": false, "decided": true }])
    );
    assert!(told["steps"].as_u64() > Some(0));
}

#[test]
fn an_undefined_side_is_absent() {
    let explanation = explain("missing = null", &json!({}));
    let told = serde_json::to_value(&explanation.observations[0]).expect("it can be sent");
    assert_eq!((told.get("left"), told.get("right")), (None, Some(&Value::Null)));
}

#[test]
fn the_first_false_of_an_and_decides() {
    let input = json!({ "a": 1, "b": 2, "c": 3 });
    assert_eq!(decisive("a = 1 and b = 0 and c = 0", &input), ["b = 0"]);
    assert_eq!(decisive("a = 0 and b = 0", &input), ["a = 0"]);
    assert_eq!(decisive("a = 1 and b = 2 and c = 3", &input), ["a = 1", "b = 2", "c = 3"]);
}

#[test]
fn the_first_true_of_an_or_decides() {
    let input = json!({ "a": 1, "b": 2, "c": 3 });
    assert_eq!(decisive("a = 0 or b = 2 or c = 3", &input), ["b = 2"]);
    assert_eq!(decisive("a = 0 or b = 0", &input), ["a = 0", "b = 0"]);
    assert_eq!(decisive("a = 0 and b = 2 or (b = 2 and c = 4) or c = 3", &input), ["c = 3"]);
}

#[test]
fn a_value_that_is_tested_as_it_is_counts_too() {
    let input = json!({ "ready": false, "a": 1 });
    assert_eq!(decisive("a = 1 and ready", &input), ["ready"]);
    assert_eq!(decisive("ready", &input), ["ready"]);
    assert_eq!(decisive("$not(a = 1)", &input), ["a = 1"]);
    assert_eq!(decisive("a = 1 ? \"x\" : \"y\"", &input), ["a = 1"]);
}

#[test]
fn of_a_block_only_the_last_value_decides() {
    let input = json!({ "a": { "b": 2 }, "c": 3 });
    assert_eq!(decisive("(c = 3; a.b = 2)", &input), ["a.b = 2"]);
    assert_eq!(decisive("($x := c = 3; a.b = 2)", &input), ["a.b = 2"]);
    assert_eq!(decisive("($x := c = 3; $x and a.b = 2)", &input), ["c = 3", "a.b = 2"]);
    assert_eq!(decisive("(c = 4; $x := a.b = 2)", &input), ["a.b = 2"]);
}

#[test]
fn what_stands_inside_an_operand_is_listed_and_does_not_decide() {
    let tasks: Vec<Value> = (0..500).map(|n| json!({ "n": n })).collect();
    let explanation = explain("$count(tasks[n < 10]) = 10", &json!({ "tasks": tasks }));
    assert!(explanation.observations.len() <= 100 && explanation.omitted > 400);
    let decisive: Vec<&str> = explanation.decisive().map(|observation| observation.text.as_str()).collect();
    assert_eq!(decisive, ["$count(tasks[n < 10]) = 10"]);
}

#[test]
fn long_values_are_shortened() {
    let explanation = explain("s = \"x\"", &json!({ "s": "y".repeat(100_000) }));
    assert!(serde_json::to_string(&explanation).expect("it can be sent").len() < 1_000);
}

#[test]
fn a_fault_is_explained_as_far_as_it_went() {
    let explained =
        compile("a = 1 and b + 1 > \"x\"").explain(&json!({ "a": 1, "b": 1 }), &[], &Limits::at(0));
    assert_eq!(explained.result.expect_err("a fault").jsonata_code(), "T2009");
    let texts: Vec<&str> = explained.explanation.observations.iter().map(|seen| seen.text.as_str()).collect();
    assert_eq!(texts, ["a = 1", "b + 1 > \"x\""]);
    let failed: Vec<bool> = explained.explanation.observations.iter().map(|seen| seen.failed).collect();
    assert_eq!(failed, [false, true]);
    assert_eq!(explained.explanation.decisive().count(), 0);
}

#[test]
fn a_comparison_whose_sides_failed_did_not_take_place() {
    for text in ["1 = 1 and \"a\" + 1 = 2", "1 = 1 and (\"a\" + 1)", "1 = 1 and $not(\"a\" + 1 = 2)"] {
        let explained = compile(text).explain(&json!({}), &[], &Limits::at(0));
        assert_eq!(explained.result.expect_err("a fault").jsonata_code(), "T2001");
        let seen: Vec<(&str, bool)> = explained
            .explanation
            .observations
            .iter()
            .map(|seen| (seen.text.as_str(), seen.decided))
            .collect();
        assert_eq!(seen, [("1 = 1", false)], "{text}");
    }
}

#[test]
fn positions_are_those_of_the_text_as_written() {
    let text = "$map(a, function($x){ $string($x) }) = \"1\"";
    let explanation = explain(text, &json!({ "a": 1 }));
    assert_eq!(explanation.observations[0].text, text);
}
