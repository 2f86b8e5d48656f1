//! What a step says to roles.

use expect_test::{Expect, expect};
use regatta_flow::{Given, Said, Trial, step};
use serde_json::{Value, json};

use crate::folders::load;

const NODES: &str = r#"name = "small"
start = "work"
nodes.done = { kind = "end" }
nodes.work = { kind = "agent", role = "worker", input = { goal = "input.goal" }, set = { count = "count + 1" } }
"#;

/// Makes one step and tells what it says, or what stops it.
fn check(send: &str, output: Value, expected: Expect) {
    let schema = json!({ "type": "object", "properties": { "count": { "type": "integer", "default": 0 } } });
    let edge = format!(
        "edges = [{{ id = \"a\", from = \"work\", to = \"done\", set = {{ count = \"count + 10\" }}, send = {send} }}]\n"
    );
    let workflow = load(&format!("{NODES}{edge}"), &schema);
    let mut state = workflow.schema.initial();
    let mut given = Given { output, ..Given::default() };
    let mut trial = Trial::begin(&mut state, &mut given, 0);
    let stepped = step(&workflow, 1, "work", &mut trial, &|_, _| 0);
    let said = trial.take_said();
    assert!(trial.take_said().is_empty(), "it is taken once");
    let tell = |said: &Said| format!("{said:?}\n");
    expected.assert_eq(&match stepped {
        Ok(_) => said.iter().map(tell).collect(),
        Err(fault) => format!("{fault}\n"),
    });
}

#[test]
fn messages_see_what_the_set_beside_them_sees() {
    check(
        r#"[{ to = "worker", kind = "DONE", subject = "'step ' & $string(count)", body = "output.text", data = "{'count': count}" },
            { to = "worker", kind = "NEVER", when = "count = 11" },
            { to = "worker", from = "boss", kind = "BARE", when = "count = 1" }]"#,
        json!({ "text": "All of it." }),
        expect![[r#"
            Said { to: "worker", from: None, kind: "DONE", subject: Some("step 1"), body: "All of it.", data: {"count": Number(1)} }
            Said { to: "worker", from: Some("boss"), kind: "BARE", subject: None, body: "", data: {} }
        "#]],
    );
}

#[test]
fn what_an_agent_says_is_cut_and_data_is_not() {
    let long = "x".repeat(30_000);
    check(
        r#"{ to = "worker", kind = "A", subject = "$substring(output.text, 0, 300) = output.text ? 'a' : 'two\nlines'", body = "$string($length(output.text))" }"#,
        json!({ "text": long }),
        expect![[r#"
            Said { to: "worker", from: None, kind: "A", subject: Some("two lines"), body: "30000", data: {} }
        "#]],
    );
    check(
        r#"{ to = "worker", kind = "A", data = "{'text': output.text}" }"#,
        json!({ "text": "x".repeat(70_000) }),
        expect![[r#"
            edge `a`: `{'text': output.text}` gives {"text":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx… (70011 bytes) where an object of at most 64 KiB is needed
        "#]],
    );
    check(
        r#"{ to = "worker", kind = "A", data = "'x'" }"#,
        Value::Null,
        expect![[r#"
        edge `a`: `'x'` gives "x" where an object is needed
    "#]],
    );
    check(
        r#"{ to = "worker", kind = "A", body = "{'a': 1}" }"#,
        Value::Null,
        expect![[r#"
        edge `a`: `{'a': 1}` gives {"a":1} where a text is needed
    "#]],
    );
    check(
        r#"{ to = "worker", kind = "A", body = "nothing", data = "nothing" }"#,
        Value::Null,
        expect![[r#"
        Said { to: "worker", from: None, kind: "A", subject: None, body: "", data: {} }
    "#]],
    );
}
