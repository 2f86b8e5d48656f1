//! Every fault says what and where, under JSONata's code.

use regatta_expr::{Expression, Fault, Limit, Limits};
use serde_json::json;

use crate::{compile, evaluate};

#[test]
fn a_text_that_is_no_expression_is_refused_with_its_place() {
    let fault = Expression::compile("a = = b").expect_err("no expression");
    let Fault::Syntax { code, message, at, .. } = &fault else { panic!("{fault:?}") };
    assert_eq!(
        (code.as_str(), message.as_str()),
        ("S0211", "The symbol \"=\" cannot be used as a unary operator")
    );
    assert_eq!("a = = b".get(at.range()), Some("="));
}

#[test]
fn a_value_of_the_wrong_kind_is_named_with_its_place() {
    let text = "count + 1 > 2 and name + 1 > 2";
    let fault = evaluate(text, &json!({ "count": 5, "name": "x" })).expect_err("not a number");
    assert_eq!((fault.jsonata_code(), fault.token(), fault.limit()), ("T2001", Some("+"), None));
    assert_eq!(fault.to_string(), "The left side of the \"+\" operator must evaluate to a number");
    let at = fault.at().expect("a place");
    assert_eq!(text.get(at.range()), Some("name + 1"));
}

#[test]
fn a_place_behind_a_call_that_was_made_visible_is_that_of_the_text() {
    let text = "($f := function($x){ $string($x) }; $f(1); 1 + \"é\")";
    let fault = evaluate(text, &json!({})).expect_err("not a number");
    assert_eq!(text.get(fault.at().expect("a place").range()), Some("1 + \"é\""));
    let text = "$map([1], function($x){ $split(\"a\", \",\", -1) })";
    let fault = evaluate(text, &json!({})).expect_err("a negative limit");
    assert_eq!(fault.jsonata_code(), "D3020");
    assert_eq!(text.get(fault.at().expect("a place").range()), Some("$split(\"a\", \",\", -1)"));
}

#[test]
fn a_passed_limit_is_told_in_words() {
    let fault = evaluate("[1..1e9]", &json!({})).expect_err("too long");
    assert_eq!(fault.limit(), Some(Limit::Items));
    assert_eq!(fault.to_string(), "the limit of 10000 was passed: the items of an array");
}

#[test]
fn a_panic_of_the_engine_is_a_fault_with_its_place_and_the_next_evaluation_works() {
    for _ in 0..2 {
        // A function that is handed on is called unseen, and so its picture is not bounded.
        let text = "1 + $map([1], $formatNumber(?, picture))";
        let input = json!({ "picture": format!("0.{}", "0".repeat(65_536)) });
        let fault = evaluate(text, &input).expect_err("a panic inside");
        assert_eq!((fault.jsonata_code(), fault.limit()), ("U1000", None));
        assert!(fault.to_string().starts_with("the function failed inside the expression engine"), "{fault}");
        assert_eq!(
            text.get(fault.at().expect("a place").range()),
            Some("$map([1], $formatNumber(?, picture))")
        );
        assert_eq!(evaluate("$formatNumber(1, '0.00')", &input), Ok(Some(json!("1.00"))));
    }
}

#[test]
fn raising_an_error_is_a_fault_and_no_limit() {
    let fault = evaluate("$error(\"no\")", &json!({})).expect_err("raised");
    assert_eq!((fault.jsonata_code(), fault.to_string().as_str(), fault.limit()), ("D3137", "no", None));
}

#[test]
fn nothing_is_not_null() {
    assert_eq!(evaluate("missing", &json!({})), Ok(None));
    assert_eq!(evaluate("a", &json!({ "a": null })), Ok(Some(json!(null))));
    assert_eq!(compile("$").evaluate_alone(&[], &Limits::at(0)), Ok(None));
}
