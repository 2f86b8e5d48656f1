//! Steps of small workflows: what a `set` sees, which edge is taken, and what stops a step.

use expect_test::{Expect, expect};
use regatta_flow::{Choice, Given, Trial, Workflow, apply, assign, find_result, map_items, step};
use serde_json::{Value, json};

use crate::folders::load;

/// What the workflows of these cases have in common.
const NODES: &str = r#"name = "small"
start = "work"

[bind]
item = "items[count]"

[nodes.done]
kind = "end"

[nodes.work]
kind = "agent"
role = "worker"
input = { goal = "input.goal" }
"#;

fn schema() -> Value {
    json!({
        "type": "object",
        "properties": {
            "count": { "type": "integer", "maximum": 5, "default": 0 },
            "items": { "type": "array", "items": { "type": "string" }, "maxItems": 3, "default": ["a", "b"] },
            "notes": { "type": "object", "additionalProperties": { "type": "string" }, "default": {} },
            "last": { "default": null }
        }
    })
}

fn workflow(rest: &str) -> Workflow {
    load(&format!("{NODES}{rest}"), &schema())
}

/// Makes one step from the initial state and tells the state after it, the choice, or what stopped it.
fn check(rest: &str, output: Value, used: u32, expected: Expect) {
    let workflow = workflow(rest);
    let mut state = workflow.schema.initial();
    let mut given = Given { input: json!({ "goal": "x" }), output: output.clone(), ..Given::default() };
    let before = (state.clone(), given.clone());
    let mut trial = Trial::begin(&mut state, &mut given, 0);
    let stepped = step(&workflow, 1, "work", &mut trial, &|_, _| used);
    let set = trial.end();
    assert_eq!((&state, &given), (&before.0, &before.1), "a trial changes nothing");
    assert_eq!(state.to_string(), before.0.to_string(), "nor the order of fields");
    expected.assert_eq(&match stepped {
        Ok(choice) => {
            apply(&mut state, &set, &output).unwrap();
            assert_eq!(workflow.schema.check_whole(&state), Ok(()));
            format!("{state}\n{}\n", serde_json::to_string(&choice).unwrap())
        }
        Err(fault) => {
            let source =
                std::error::Error::source(&fault).map(|source| format!("\n  {source}")).unwrap_or_default();
            format!("{fault}{source}\n")
        }
    });
}

#[test]
fn a_set_sees_the_state_before_it_and_an_edge_the_state_after() {
    check(
        "set = { count = \"count + 1\", last = \"count\", \"items[count]\" = \"'c'\" }\n\
         [[edges]]\nid = \"on\"\nfrom = \"work\"\nto = \"done\"\nwhen = \"count = 1\"\nset = { last = \"[last, count]\" }\n",
        json!({}),
        0,
        expect![[r#"
            {"count":1,"items":["c","b"],"notes":{},"last":[0,1]}
            {"choice":"taken","edge":"on","scope":"","to":"done","tried":[["on",true,[["count",1]]]]}
        "#]],
    );
}

#[test]
fn undefined_leaves_a_place_as_it_is_and_null_does_not() {
    check(
        "set = { count = \"output.none\", items = \"output.list\", last = \"output.nothing\", \"items[output.none]\" = \"output.none\" }\n\
         [[edges]]\nid = \"on\"\nfrom = \"work\"\nto = \"done\"\n",
        json!({ "nothing": null, "list": [] }),
        0,
        expect![[r#"
            {"count":0,"items":[],"notes":{},"last":null}
            {"choice":"taken","edge":"on","scope":"","to":"done","tried":[["on",true,[]]]}
        "#]],
    );
}

#[test]
fn a_place_is_added_to_a_list_and_to_an_object() {
    check(
        "set = { \"items[$count(items)]\" = \"'c'\", \"notes[output.key]\" = \"$item\" }\n\
         [[edges]]\nid = \"on\"\nfrom = \"work\"\nto = \"done\"\n",
        json!({ "key": "odd key" }),
        0,
        expect![[r#"
            {"count":0,"items":["a","b","c"],"notes":{"odd key":"a"},"last":null}
            {"choice":"taken","edge":"on","scope":"","to":"done","tried":[["on",true,[]]]}
        "#]],
    );
}

#[test]
fn the_key_that_the_reader_of_json_keeps_for_itself_is_never_in_a_state() {
    let edge = "[[edges]]\nid = \"on\"\nfrom = \"work\"\nto = \"done\"\n";
    let mark = "'$serde_json::private::' & 'RawValue'";
    check(
        &format!("set = {{ last = \"{{{mark}: '1'}}\" }}\n{edge}"),
        json!({}),
        0,
        expect![[r#"
        node `work`: `{'$serde_json::private::' & 'RawValue': '1'}` gives {"$serde_json::private::RawValue":"1"} where a value without a reserved key is needed
    "#]],
    );
    check(
        &format!("set = {{ \"notes[{mark}]\" = \"1\" }}\n{edge}"),
        json!({}),
        0,
        expect![[r#"
        node `work`: `'$serde_json::private::' & 'RawValue'` gives "$serde_json::private::RawValue", which is neither an index nor a key, in `notes['$serde_json::private::' & 'RawValue']`
    "#]],
    );
}

#[test]
fn edges_are_tried_in_order_and_tell_what_they_saw() {
    check(
        "[[edges]]\nid = \"truthy\"\nfrom = \"work\"\nto = \"done\"\nwhen = \"$count(items)\"\n\
         [[edges]]\nid = \"missing\"\nfrom = \"work\"\nto = \"done\"\nwhen = \"output.none.deep = 1\"\n\
         [[edges]]\nid = \"bound\"\nfrom = \"work\"\nto = \"done\"\nwhen = \"$item = 'a' and output.text != ''\"\n\
         [[edges]]\nid = \"never-asked\"\nfrom = \"work\"\nto = \"done\"\n",
        json!({ "text": "long ".repeat(40) }),
        0,
        expect![[r#"
            {"count":0,"items":["a","b"],"notes":{},"last":null}
            {"choice":"taken","edge":"bound","scope":"","to":"done","tried":[["truthy",false,[["items",{"items":2}]]],["missing",false,[]],["bound",true,[["output.text","long long long long long long long long long long long long long long long long … (200 bytes)"],["$item","a"]]]]}
        "#]],
    );
}

#[test]
fn no_edge_holds() {
    check(
        "[[edges]]\nid = \"on\"\nfrom = \"work\"\nto = \"done\"\nwhen = \"count = 9\"\n",
        json!({}),
        0,
        expect![[r#"
            {"count":0,"items":["a","b"],"notes":{},"last":null}
            {"choice":"stalled","tried":[["on",false,[["count",0]]]]}
        "#]],
    );
    check(
        "[[edges]]\nid = \"on\"\nfrom = \"done\"\nto = \"work\"\n",
        json!({}),
        0,
        expect![[r#"
        {"count":0,"items":["a","b"],"notes":{},"last":null}
        {"choice":"stalled","tried":[]}
    "#]],
    );
}

#[test]
fn a_cap_leads_to_the_first_route_that_holds() {
    let capped = "[[edges]]\nid = \"again\"\nfrom = \"work\"\nto = \"work\"\nmaxIterations = 2\nscope = \"$item\"\n\
         set = { last = \"'taken'\" }\n\
         [[edges.exhausted]]\nto = \"work\"\nwhen = \"count > 3\"\n\
         [[edges.exhausted]]\nto = \"done\"\nfail = \"$item\"\nset = { last = \"'out'\" }\n";
    check(
        capped,
        json!({}),
        1,
        expect![[r#"
            {"count":0,"items":["a","b"],"notes":{},"last":"taken"}
            {"choice":"taken","edge":"again","scope":"a","to":"work","tried":[["again",true,[]]]}
        "#]],
    );
    check(
        capped,
        json!({}),
        2,
        expect![[r#"
            {"count":0,"items":["a","b"],"notes":{},"last":"out"}
            {"choice":"exhausted","edge":"again","scope":"a","route":1,"to":"done","fail":"a","tried":[["again",true,[]]]}
        "#]],
    );
    let without = capped.split("[[edges.exhausted]]\nto = \"done\"").next().unwrap();
    check(
        without,
        json!({}),
        2,
        expect![[r#"
            {"count":0,"items":["a","b"],"notes":{},"last":null}
            {"choice":"exhaustedWithoutRoute","edge":"again","scope":"a","tried":[["again",true,[]]]}
        "#]],
    );
}

#[test]
fn a_submitted_task_waits_with_the_set_of_its_edge() {
    let edge = "[[edges]]\nid = \"on\"\nfrom = \"work\"\nto = \"done\"\nset = { count = \"count + 1\" }\n";
    check(
        &format!("{edge}submit = \"$item\"\n"),
        json!({}),
        0,
        expect![[r#"
            {"count":0,"items":["a","b"],"notes":{},"last":null}
            {"choice":"taken","edge":"on","scope":"","to":"done","submit":"a","tried":[["on",true,[]]]}
        "#]],
    );
    check(
        &format!("{edge}submit = \"output.none\"\n"),
        json!({}),
        0,
        expect![[r#"
        edge `on`: `output.none` gives null where a text is needed
    "#]],
    );
}

#[test]
fn a_cap_counts_for_a_text_a_number_or_a_boolean() {
    let told = |scope: &str| {
        let edge = "[[edges]]\nid = \"on\"\nfrom = \"work\"\nto = \"work\"\nmaxIterations = 1\n";
        let workflow = workflow(&format!("{edge}scope = \"{scope}\"\n"));
        let (mut state, mut given) = (workflow.schema.initial(), Given::default());
        given.output = json!({ "ok": true, "name": "x" });
        let mut trial = Trial::begin(&mut state, &mut given, 0);
        let stepped = step(&workflow, 1, "work", &mut trial, &|_, _| 0);
        trial.end();
        match stepped {
            Ok(Choice::Taken { scope, .. }) => scope,
            Ok(other) => panic!("{other:?}"),
            Err(fault) => fault.to_string(),
        }
    };
    let scopes = ["output.name", "count + 1", "output.ok", "count > 1", "output.none", "last"];
    assert_eq!(scopes.map(told), ["x", "1", "true", "false", "", ""]);
    let wanted = "where a text, a number or a boolean is needed";
    assert_eq!(told("{'a': count}"), format!("edge `on`: `{{'a': count}}` gives {{\"a\":0}} {wanted}"));
    assert_eq!(
        told("[1..100]"),
        format!(
            "edge `on`: `[1..100]` gives [1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,3… (293 bytes) {wanted}"
        )
    );
}

#[test]
fn what_stops_a_step_names_its_expression() {
    let edge = "[[edges]]\nid = \"on\"\nfrom = \"work\"\nto = \"done\"\n";
    check(
        &format!("{edge}when = \"count + 'a'\"\n"),
        json!({}),
        0,
        expect![[r#"
        edge `on`: `count + 'a'` could not be evaluated
          The right side of the "+" operator must evaluate to a number
    "#]],
    );
    check(
        &format!("{edge}when = \"$sum([1..1000000]) = 1\"\n"),
        json!({}),
        0,
        expect![[r#"
        edge `on`: `$sum([1..1000000]) = 1` could not be evaluated
          the limit of 10000 was passed: the items of an array
    "#]],
    );
    check(
        &format!("set = {{ \"items[true]\" = \"'x'\" }}\n{edge}"),
        json!({}),
        0,
        expect![[r#"
        node `work`: `true` gives true, which is neither an index nor a key, in `items[true]`
    "#]],
    );
    check(
        &format!("set = {{ \"items[output.none]\" = \"'x'\" }}\n{edge}"),
        json!({}),
        0,
        expect![[r#"
        node `work`: `items[output.none]` is not a place: an expression in it is undefined
    "#]],
    );
    check(
        &format!("set = {{ \"items[7]\" = \"'x'\" }}\n{edge}"),
        json!({}),
        0,
        expect![[r#"
        node `work`: a change does not fit the state
          `items[7]` is beyond the end of a list of 2
    "#]],
    );
    check(
        &format!("set = {{ \"last.x\" = \"'x'\" }}\n{edge}"),
        json!({}),
        0,
        expect![[r#"
        node `work`: a change does not fit the state
          `last.x` cannot be set because `last` is null: give it a default, or set it first
    "#]],
    );
    check(
        &format!("{edge}fail = \"items\"\n"),
        json!({}),
        0,
        expect![[r#"
        edge `on`: `items` gives ["a","b"] where a text is needed
    "#]],
    );
}

#[test]
fn a_state_that_does_not_fit_refuses_the_step() {
    let edge = "[[edges]]\nid = \"on\"\nfrom = \"work\"\nto = \"done\"\n";
    check(
        &format!("set = {{ count = \"6\", \"items[0]\" = \"1\", \"notes.a\" = \"null\" }}\n{edge}"),
        json!({}),
        0,
        expect![[r#"
        the new state does not satisfy its schema: count: 6 is greater than the maximum of 5; items[0]: 1 is not of type "string"; notes.a: null is not of type "string"
    "#]],
    );
    check(
        &format!("set = {{ \"items[2]\" = \"'c'\" }}\n{edge}set = {{ \"items[3]\" = \"'d'\" }}\n"),
        json!({}),
        0,
        expect![[r#"
        the new state does not satisfy its schema: items: has 4 parts, more than the 3 allowed
    "#]],
    );
}

#[test]
fn a_part_of_the_output_is_what_jsonata_would_have_found() {
    let outputs = [
        json!({ "a": { "b": [] } }),
        json!({ "a": { "b": [1] } }),
        json!({ "a": { "b": [[1]] } }),
        json!({ "a": { "b": null } }),
        json!({ "a": [{ "b": 1 }] }),
        json!({ "a": [{ "b": [1] }, { "b": [2] }] }),
        json!({ "a": [] }),
        json!([{ "a": { "b": 1 } }]),
        json!([]),
        Value::Null,
    ];
    for text in ["output", "output.a", "output.a.b"] {
        let workflow = workflow(&format!("set = {{ last = \"{text}\" }}\n"));
        let compiled = regatta_expr::Expression::compile(text).unwrap();
        for output in &outputs {
            let found =
                compiled.evaluate(&json!({ "output": output }), &[], &regatta_expr::Limits::at(0)).unwrap();
            let mut state = workflow.schema.initial();
            let mut given = Given { output: output.clone(), ..Given::default() };
            let trial = Trial::begin(&mut state, &mut given, 0);
            let patches =
                assign(&trial.look(&workflow), 1, &workflow.find_node("work").unwrap().set).unwrap();
            let assigned = patches.first().map(|patch| patch.assigned.value(output).clone());
            assert_eq!(assigned, found, "{text} of {output}");
        }
    }
}

#[test]
fn an_end_gives_the_state_or_its_result() {
    let workflow = workflow("");
    let mut state = workflow.schema.initial();
    let initial = state.clone();
    let mut given = Given { input: json!(1), output: json!(2), feedback: json!(3), ..Given::default() };
    let trial = Trial::begin(&mut state, &mut given, 0);
    assert_eq!(find_result(&trial.look(&workflow), None).unwrap(), initial);
    assert_eq!(
        step(
            &workflow,
            1,
            "done",
            &mut Trial::begin(&mut initial.clone(), &mut Given::default(), 0),
            &|_, _| 0
        )
        .unwrap(),
        Choice::End
    );
}

#[test]
fn items_of_a_map_have_keys_and_dependencies() {
    let map = NODES.replace("kind = \"agent\"\nrole = \"worker\"\ninput = { goal = \"input.goal\" }\n", "");
    let map = format!(
        "{map}kind = \"map\"\nworkflow = \"part\"\nitems = \"output.parts\"\nkey = \"id\"\ndepends = \"after\"\n"
    );
    let workflow = load(&map, &schema());
    let mut state = workflow.schema.initial();
    let parts = json!([{ "id": "a" }, { "id": 2, "after": "a" }, { "id": "c", "after": ["a", 2] }]);
    let mut given = Given { output: json!({ "parts": parts }), ..Given::default() };
    let trial = Trial::begin(&mut state, &mut given, 0);
    let items = map_items(&trial.look(&workflow), workflow.find_node("work").unwrap()).unwrap();
    let told: Vec<(&str, String)> =
        items.iter().map(|item| (item.key.as_str(), item.depends.join(" "))).collect();
    assert_eq!(told, [("a", String::new()), ("2", "a".to_owned()), ("c", "a 2".to_owned())]);
    assert_eq!(items[1].value, json!({ "id": 2, "after": "a" }));
}

#[test]
fn what_is_added_to_a_list_is_all_that_the_step_holds() {
    let appended = |set: &str, output: Value| {
        let workflow = workflow(&format!(
            "set = {{ {set} }}\n[[edges]]\nid = \"on\"\nfrom = \"work\"\nto = \"done\"\n\
             set = {{ \"items[+]\" = \"'last'\" }}\n"
        ));
        let mut state = workflow.schema.initial();
        let mut given = Given { output: output.clone(), ..Given::default() };
        let mut trial = Trial::begin(&mut state, &mut given, 0);
        let stepped = step(&workflow, 1, "work", &mut trial, &|_, _| 0);
        let set = trial.end();
        assert_eq!(state, workflow.schema.initial());
        match stepped {
            Ok(_) => {
                apply(&mut state, &set, &output).unwrap();
                format!("{}\n{}\n", serde_json::to_string(&set).unwrap(), state["items"])
            }
            Err(fault) => format!("{fault}\n"),
        }
    };
    let mut told = appended("", Value::Null);
    told += &appended(r#""items[+]" = "missing""#, Value::Null);
    told += &appended(r#""items[+]" = "output.more""#, json!({ "more": [] }));
    told += &appended(
        r#"items = "[]", "last" = "items", "items[+]" = "output.more""#,
        json!({ "more": ["x", "y"] }),
    );
    told += &appended(r#"items = "[]""#, Value::Null);
    // Three items are allowed.
    told += &appended(r#""items[+]" = "'c'""#, Value::Null);
    told += &appended(r#""last[+]" = "'c'""#, Value::Null);
    expect![[r#"
        [[["items",2],"last"]]
        ["a","b","last"]
        [[["items",2],"last"]]
        ["a","b","last"]
        [[["items",2],"last"]]
        ["a","b","last"]
        node `work`: a change does not fit the state
        [[["items"],[]],[["items",0],"last"]]
        ["last"]
        the new state does not satisfy its schema: items: has 4 parts, more than the 3 allowed
        node `work`: a change does not fit the state
    "#]]
    .assert_eq(&told);
}
