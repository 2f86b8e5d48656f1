//! A `map` node: children by dependency and by `max_parallel`, failing and skipped ones, and what it gives.

use super::check;
use super::workflows::{Example, plain_state, small};
use expect_test::expect;
use serde_json::{Value, json};

const CHILD: &str = r#"name = "part"
start = "done"
[nodes.done]
kind = "end"
"#;

const MAP: &str = r#"name = "parts"
start = "all"

[nodes.all]
kind = "map"
workflow = "part"
items = "input.items"
key = "key"
depends = "after"
max_parallel = 2
set = { list = "output" }

[nodes.done]
kind = "end"
result = "list.status"

[[edges]]
id = "finish"
from = "all"
to = "done"
"#;

/// Five parts of which some depend on others.
pub(super) fn five_parts() -> Example {
    map_of(five())
}

fn map_of(items: Value) -> Example {
    map_with(MAP, items)
}

fn map_with(toml: &str, items: Value) -> Example {
    let state = plain_state().to_string();
    let child = [("children/part/workflow.toml", CHILD), ("children/part/state.schema.json", state.as_str())];
    let example = small(toml, &plain_state(), &child);
    Example { input: json!({ "items": items }), ..example }
}

/// `a` and `b` alone, `c` after `a`, `d` after both, `e` after `d`.
fn five() -> Value {
    let item = |key: &str, after: &[&str]| json!({ "key": key, "after": after });
    json!([item("a", &[]), item("b", &[]), item("c", &["a"]), item("d", &["a", "b"]), item("e", &["d"])])
}

#[test]
fn children_start_when_what_they_depend_on_has_completed_and_a_place_is_free() {
    check(
        &map_of(five()),
        "",
        "begin; start; child a ok 1; start; child c ok 2; child b ok 3; start; child d ok 4; start; child e ok 5
         state list",
        expect![[r#"
            > begin
              run:created level 1, step 1: map all part [a b c d e] 2 at once
              ! start_children step 1
              = running, step 1 all: mapping a. b. c. d. e.
            > start
              run:children_started 1 {"a":2,"b":3}
              = running, step 1 all: mapping a* b* c. d. e., not asked
            > child a ok 1
              run:child_ended 1 a completed 1
              ! start_children step 1
              = running, step 1 all: mapping a+ b* c. d. e.
            > start
              run:children_started 1 {"c":4}
              = running, step 1 all: mapping a+ b* c* d. e., not asked
            > child c ok 2
              run:child_ended 1 c completed 2
              = running, step 1 all: mapping a+ b* c+ d. e., not asked
            > child b ok 3
              run:child_ended 1 b completed 3
              ! start_children step 1
              = running, step 1 all: mapping a+ b+ c+ d. e.
            > start
              run:children_started 1 {"d":5}
              = running, step 1 all: mapping a+ b+ c+ d* e., not asked
            > child d ok 4
              run:child_ended 1 d completed 4
              ! start_children step 1
              = running, step 1 all: mapping a+ b+ c+ d+ e.
            > start
              run:children_started 1 {"e":6}
              = running, step 1 all: mapping a+ b+ c+ d+ e*, not asked
            > child e ok 5
              run:child_ended 1 e completed 5
              run:stepped 1 all -[finish]-> end done
              run:completed ["completed","completed","completed","completed","completed"]
              = completed
            > state list
              list = [{"key":"a","status":"completed","result":1},{"key":"b","status":"completed","result":3},{"key":"c","status":"completed","result":2},{"key":"d","status":"completed","result":4},{"key":"e","status":"completed","result":5}]
        "#]],
    );
}

#[test]
fn a_child_that_fails_skips_what_depends_on_it() {
    check(
        &map_of(five()),
        "begin; start",
        "child a fail; child b ok 1; state list",
        expect![[r#"
        > child a fail
          run:child_ended 1 a failed RUN_FAILED
          run:child_ended 1 c skipped
          run:child_ended 1 d skipped
          run:child_ended 1 e skipped
          = running, step 1 all: mapping a- b* c/ d/ e/, not asked
        > child b ok 1
          run:child_ended 1 b completed 1
          run:stepped 1 all -[finish]-> end done
          run:completed ["failed","completed","skipped","skipped","skipped"]
          = completed
        > state list
          list = [{"key":"a","status":"failed","error":{"code":"RUN_FAILED","message":"it did not work: a reason","hint":"try again"}},{"key":"b","status":"completed","result":1},{"key":"c","status":"skipped"},{"key":"d","status":"skipped"},{"key":"e","status":"skipped"}]
    "#]],
    );
    check(
        &map_of(five()),
        "begin; start; child a ok 1; start; child b fail",
        "child c ok 2; state list",
        expect![[r#"
        > child c ok 2
          run:child_ended 1 c completed 2
          run:stepped 1 all -[finish]-> end done
          run:completed ["completed","failed","completed","skipped","skipped"]
          = completed
        > state list
          list = [{"key":"a","status":"completed","result":1},{"key":"b","status":"failed","error":{"code":"RUN_FAILED","message":"it did not work: a reason","hint":"try again"}},{"key":"c","status":"completed","result":2},{"key":"d","status":"skipped"},{"key":"e","status":"skipped"}]
    "#]],
    );
}

#[test]
fn a_map_of_nothing_goes_on_at_once() {
    check(
        &map_of(json!([])),
        "",
        "begin; start; state list",
        expect![[r#"
        > begin
          run:created level 1, step 1: map all part [] 2 at once
          ! start_children step 1
          = running, step 1 all: mapping 
        > start
          run:stepped 1 all -[finish]-> end done
          run:completed null
          = completed
        > state list
          list = []
    "#]],
    );
    check(
        &map_of(Value::Null),
        "",
        "begin; pause; start; resume",
        expect![[r#"
        > begin
          run:created level 1, step 1: map all part [] 2 at once
          ! start_children step 1
          = running, step 1 all: mapping 
        > pause
          run:paused
          = running, step 1 all: mapping , paused
        > start
          run:stepped 1 all -[finish]-> end done
          run:completed null
          = completed
        > resume
          refused RUN_INVALID_TRANSITION: run 1 cannot resume: it is completed
    "#]],
    );
}

#[test]
fn a_map_without_dependencies_starts_as_many_as_it_may() {
    let toml = MAP.replace("depends = \"after\"\n", "").replace("max_parallel = 2\n", "");
    check(
        &map_with(&toml, five()),
        "",
        "begin; start; child b ok 1; start; child a fail",
        expect![[r#"
        > begin
          run:created level 1, step 1: map all part [a b c d e] 4 at once
          ! start_children step 1
          = running, step 1 all: mapping a. b. c. d. e.
        > start
          run:children_started 1 {"a":2,"b":3,"c":4,"d":5}
          = running, step 1 all: mapping a* b* c* d* e., not asked
        > child b ok 1
          run:child_ended 1 b completed 1
          ! start_children step 1
          = running, step 1 all: mapping a* b+ c* d* e.
        > start
          run:children_started 1 {"e":6}
          = running, step 1 all: mapping a* b+ c* d* e*, not asked
        > child a fail
          run:child_ended 1 a failed RUN_FAILED
          = running, step 1 all: mapping a- b+ c* d* e*, not asked
    "#]],
    );
}

/// A report may name fewer than could be started; the rest is asked for again.
#[test]
fn a_child_tells_its_parent_how_it_ended() {
    let alone = map_of(json!([]));
    check(
        &alone,
        "",
        "begin child; start",
        expect![[r#"
        > begin child
          run:created level 1, step 1: map all part [] 2 at once
          ! start_children step 1
          = running, step 1 all: mapping 
        > start
          run:stepped 1 all -[finish]-> end done
          run:completed null
          ! tell_parent 9 this
          = completed
    "#]],
    );
    check(
        &alone,
        "",
        "begin child; stop",
        expect![[r#"
        > begin child
          run:created level 1, step 1: map all part [] 2 at once
          ! start_children step 1
          = running, step 1 all: mapping 
        > stop
          run:failed RUN_STOPPED: run 1 was stopped: a person stopped it
          ! tell_parent 9 this
          = failed RUN_STOPPED
    "#]],
    );
}

#[test]
fn an_item_that_its_child_does_not_take_is_refused() {
    let state = plain_state().to_string();
    let input = json!({ "type": "object", "properties": { "key": { "type": "string" }, "size": { "type": "number" } } });
    let child = format!("input = \"input.schema.json\"\n{CHILD}");
    let files = [
        ("children/part/workflow.toml", child.as_str()),
        ("children/part/state.schema.json", state.as_str()),
        ("children/part/input.schema.json", &input.to_string()),
    ];
    let example = |size: Value| Example {
        input: json!({ "items": [{ "key": "a", "size": 1 }, { "key": "b", "size": size }] }),
        ..small(MAP, &plain_state(), &files)
    };
    check(
        &example(json!("large")),
        "",
        "begin",
        expect![[r#"
        > begin
          refused VALIDATION_ERROR: the command is invalid: `workflow` cannot begin: node `all`: item `b` is not an input of `part`: size: "large" is not of type "number"
    "#]],
    );
    check(
        &example(json!(2)),
        "",
        "begin; start",
        expect![[r#"
        > begin
          run:created level 1, step 1: map all part [a b] 2 at once
          ! start_children step 1
          = running, step 1 all: mapping a. b.
        > start
          run:children_started 1 {"a":2,"b":3}
          = running, step 1 all: mapping a* b*, not asked
    "#]],
    );
}

/// An item that could never start would keep the run waiting forever.
#[test]
fn items_that_can_never_start_are_refused() {
    let item = |key: &str, after: &str| json!({ "key": key, "after": after });
    for items in [
        json!([item("a", "zz")]),
        json!([item("a", "a")]),
        json!([item("a", "b"), item("b", "a")]),
        json!([{ "key": "a" }, { "key": "a" }]),
        json!([{ "name": "a" }]),
    ] {
        let mut play = None;
        let said = super::script::carry_out(&map_of(items), &mut play, "begin");
        assert!(said.contains("refused VALIDATION_ERROR"), "{said}");
    }
    check(
        &map_of(json!([item("a", "b"), item("b", "a")])),
        "",
        "begin",
        expect![[r#"
            > begin
              refused VALIDATION_ERROR: the command is invalid: `workflow` cannot begin: node `all`: items depend on each other: a → b → a
        "#]],
    );
    check(
        &map_of(json!([item("a", "b"), item("b", "c"), item("c", "d"), item("d", "b")])),
        "",
        "begin",
        expect![[r#"
            > begin
              refused VALIDATION_ERROR: the command is invalid: `workflow` cannot begin: node `all`: items depend on each other: b → c → d → b
        "#]],
    );
    check(
        &map_of(json!([item("a", "a")])),
        "",
        "begin",
        expect![[r#"
            > begin
              refused VALIDATION_ERROR: the command is invalid: `workflow` cannot begin: node `all`: items depend on each other: a → a
        "#]],
    );
    let many: Vec<Value> = (0..500).map(|n| item(&format!("k{n}"), &format!("k{}", (n + 1) % 500))).collect();
    check(
        &map_of(json!(many)),
        "",
        "begin",
        expect![[r#"
            > begin
              refused VALIDATION_ERROR: the command is invalid: `workflow` cannot begin: node `all`: items depend on each other: k0 → k1 → k2 → k3 → k4 → k5 → k6 → k7 → k8 → … → k0
        "#]],
    );
    check(
        &map_of(json!([{ "key": "b" }, item("a", "zz")])),
        "",
        "begin",
        expect![[r#"
            > begin
              refused VALIDATION_ERROR: the command is invalid: `workflow` cannot begin: node `all`: item `a` depends on `zz`, and no item has that key
        "#]],
    );
    check(
        &map_of(json!([{ "key": "a" }, { "key": "a" }])),
        "",
        "begin",
        expect![[r#"
            > begin
              refused VALIDATION_ERROR: the command is invalid: `workflow` cannot begin: node `all`: `key` gives "a" where a key that no other item has is needed
        "#]],
    );
    let lost = MAP.replace("\"part\"", "\"gone\"");
    check(
        &map_with(&lost, json!([])),
        "",
        "begin",
        expect![[r#"
            > begin
              refused VALIDATION_ERROR: the command is invalid: `workflow` cannot begin: the workflow has no child `gone`
        "#]],
    );
}

#[test]
fn a_map_in_the_middle_is_reached_and_left_by_edges() {
    let toml = r#"name = "middle"
start = "work"
[nodes.work]
kind = "agent"
role = "worker"
set = { list = "output" }
[nodes.all]
kind = "map"
workflow = "part"
items = "list"
key = "key"
depends = "after"
[nodes.done]
kind = "end"
[[edges]]
id = "begin"
from = "work"
to = "all"
[[edges]]
id = "well"
from = "all"
to = "done"
when = "$count(output[status = 'completed']) = $count(list)"
"#;
    let example = map_with(toml, Value::Null);
    check(
        &example,
        "begin; give [{\"key\": \"a\"}]; start",
        "child a ok {\"x\": 1}",
        expect![[r#"
        > child a ok {"x": 1}
          run:child_ended 2 a completed {"x":1}
          run:stepped 2 all -[well]-> end done
          run:completed null
          = completed
    "#]],
    );
    check(
        &example,
        "begin; give [{\"key\": \"a\"}]; start",
        "child a fail",
        expect![[r#"
            > child a fail
              run:child_ended 2 a failed RUN_FAILED
              run:failed RUN_STALLED: run 1 cannot continue from node `all`: none of its edges holds: `well` saw list = 1 item, output = 1 item
              = failed RUN_STALLED
        "#]],
    );
    check(
        &example,
        "begin",
        "give [{\"key\": \"a\", \"after\": \"b\"}]",
        expect![[r#"
            > give [{"key": "a", "after": "b"}]
              run:failed EDGE_EVALUATION_FAILED: run 1 stopped after node `work`: node `all`: item `a` depends on `b`, and no item has that key
              = failed EDGE_EVALUATION_FAILED
        "#]],
    );
}
