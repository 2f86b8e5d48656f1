//! Loops that may run for ever, and what bounds a loop.

use expect_test::expect;

use crate::{WORK, check, faults_of, folder};

#[test]
fn a_loop_without_a_cap_is_named() {
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "again", from = "work", to = "work", when = "output.ok = false" }, { id = "out", from = "work", to = "done", when = "output.ok = true" }]
"#
        ),
        expect![[r#"
            3:17 error[loop-without-cap]: the loop work → work has no cap (by `again`)
                add `maxIterations` and an `exhausted` route to one of its edges
        "#]],
    );
    check(
        &format!(
            "{WORK}{}",
            r#"nodes.test = { kind = "check", task = "title" }
edges = [
  { id = "try", from = "work", to = "test" },
  { id = "fix", from = "test", to = "work", when = "output.passed = false" },
  { id = "out", from = "test", to = "done", when = "output.passed = true" },
]
board = { items = "tasks", key = "id" }
"#
        ),
        expect![[r#"
            6:10 error[loop-without-cap]: the loop work → test → work has no cap (by `try`, `fix`)
                add `maxIterations` and an `exhausted` route to one of its edges
        "#]],
    );
}

#[test]
fn a_cap_bounds_a_loop() {
    check(
        &format!(
            "{WORK}{}",
            r#"nodes.test = { kind = "check", task = "title" }
edges = [
  { id = "try", from = "work", to = "test" },
  { id = "fix", from = "test", to = "work", when = "output.passed = false", maxIterations = 2, exhausted = [{ to = "done" }] },
  { id = "out", from = "test", to = "done", when = "output.passed = true" },
]
board = { items = "tasks", key = "id" }
"#
        ),
        expect![[""]],
    );
    // The route of a used-up edge may be taken for ever.
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "again", from = "work", to = "work", maxIterations = 2, exhausted = [{ to = "work", when = "output.ok = true" }, { to = "done" }] }]
"#
        ),
        expect![[r#"
            3:17 error[loop-without-cap]: the loop work → work has no cap (by `again used up`)
                point the route elsewhere, or make it step a field towards a bound in its `when`
        "#]],
    );
}

#[test]
fn a_person_bounds_a_loop() {
    check(
        &format!(
            "{WORK}{}",
            r#"nodes.ask = { kind = "approval", question = "'Continue?'" }
edges = [
  { id = "show", from = "work", to = "ask" },
  { id = "again", from = "ask", to = "work", when = "output.approved = false" },
  { id = "out", from = "ask", to = "done", when = "output.approved = true" },
]
"#
        ),
        expect![[""]],
    );
    check(
        r#"board = { items = "tasks", key = "id" }
nodes.work = { kind = "agent", role = "worker" }
nodes.done = { kind = "end" }
edges = [{ id = "out", from = "work", to = "done", submit = "title", rejected = { to = "work" } }]
"#,
        expect![[""]],
    );
}

#[test]
fn a_step_towards_a_bound_bounds_a_loop() {
    // The edge raises the index itself.
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [
  { id = "next", from = "work", to = "work", when = "index < $count(tasks) - 1", set = { index = "index + 1" } },
  { id = "out", from = "work", to = "done", when = "index >= $count(tasks) - 1" },
]
"#
        ),
        expect![[""]],
    );
    // The node raises it, and the bound stands on the left.
    check(
        r#"nodes.work = { kind = "agent", role = "worker", set = { tries = "tries + 1" } }
nodes.done = { kind = "end" }
edges = [
  { id = "again", from = "work", to = "work", when = "output.ok = false and 3 > tries" },
  { id = "out", from = "work", to = "done", when = "output.ok = true or tries >= 3" },
]
"#,
        expect![[""]],
    );
    // Downwards.
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [
  { id = "next", from = "work", to = "work", when = "most > 0", set = { most = "most - 1" } },
  { id = "out", from = "work", to = "done", when = "most <= 0" },
]
"#
        ),
        expect![[""]],
    );
}

#[test]
fn a_step_that_is_undone_bounds_nothing() {
    // Something else in the loop sets it back.
    check(
        r#"nodes.work = { kind = "agent", role = "worker", set = { index = "0" } }
nodes.done = { kind = "end" }
edges = [
  { id = "next", from = "work", to = "work", when = "index < 3", set = { index = "index + 1" } },
  { id = "out", from = "work", to = "done", when = "index >= 3" },
]
"#,
        expect![[r#"
            4:10 error[loop-without-cap]: the loop work → work has no cap (by `next`)
                add `maxIterations` and an `exhausted` route to one of its edges
            5:53 error[edge-never-holds]: `out` never holds after `work`
                compare the condition with the schema and with what the node sets
        "#]],
    );
    // The bound moves too.
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [
  { id = "next", from = "work", to = "work", when = "index < most", set = { index = "index + 1", most = "most + 1" } },
  { id = "out", from = "work", to = "done", when = "index >= most" },
]
"#
        ),
        expect![[r#"
            4:10 error[loop-without-cap]: the loop work → work has no cap (by `next`)
                add `maxIterations` and an `exhausted` route to one of its edges
        "#]],
    );
    // It steps away from the bound.
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [
  { id = "next", from = "work", to = "work", when = "index < 3", set = { index = "index - 1" } },
  { id = "out", from = "work", to = "done", when = "index >= 3" },
]
"#
        ),
        expect![[r#"
            4:10 error[loop-without-cap]: the loop work → work has no cap (by `next`)
                add `maxIterations` and an `exhausted` route to one of its edges
        "#]],
    );
    // The bound need not hold.
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [
  { id = "next", from = "work", to = "work", when = "index < 3 or output.ok = false", set = { index = "index + 1" } },
  { id = "out", from = "work", to = "done", when = "index >= 3 and output.ok = true" },
]
"#
        ),
        expect![[r#"
            4:10 error[loop-without-cap]: the loop work → work has no cap (by `next`)
                add `maxIterations` and an `exhausted` route to one of its edges
        "#]],
    );
}

#[test]
fn a_bounded_loop_may_set_back_the_counter_of_one_inside_it() {
    check(
        &format!(
            "{WORK}{}",
            r#"nodes.test = { kind = "check", task = "title" }
edges = [
  { id = "again", from = "work", to = "work", when = "output.ok = false and tries < 3", set = { tries = "tries + 1" } },
  { id = "try", from = "work", to = "test", when = "output.ok = true or tries >= 3" },
  { id = "next", from = "test", to = "work", when = "index < 5", set = { index = "index + 1", tries = "0" } },
  { id = "out", from = "test", to = "done", when = "index >= 5" },
]
board = { items = "tasks", key = "id" }
"#
        ),
        expect![[""]],
    );
}

/// Whether a loop with this condition and these fields set on its way is found to be endless.
fn is_endless(when: &str, set: &str) -> bool {
    let text = format!(
        "{WORK}edges = [\n  {{ id = \"next\", from = \"work\", to = \"work\", when = \"{when}\", set = {{ {set} }} }},\n  \
         {{ id = \"out\", from = \"work\", to = \"done\" }},\n]\n"
    );
    faults_of(&folder(&text, &[])).iter().any(|fault| fault.rule == "loop-without-cap")
}

#[test]
fn a_bound_stands_where_the_condition_is_evaluated() {
    let step = "index = 'index + 1'";
    for when in [
        "output.ok /* was: and index < 10 and more */",
        "$contains(output.title, /'/) or $contains(output.title, /'/) and index < 10",
        "output.ok /* it's */ or output.score > 3 /* it's */ and index < 10",
    ] {
        assert!(is_endless(when, step), "{when}");
    }
    for when in ["output.ok /* it's */ and index < 10", "$contains(output.title, /'/) and (index < 10)"] {
        assert!(!is_endless(when, step), "{when}");
    }
}

#[test]
fn a_limit_that_moves_is_no_bound() {
    let step = "index = 'index + 1'";
    for (when, set) in [
        ("index < $sum(counts.*)", "'counts.a' = 'counts.a + 1'"),
        ("index < counts.*[0]", "'counts.a' = 'counts.a + 1'"),
        ("index < $length($string(last))", "'last.score' = 'last.score + 1'"),
        ("index < $max($each(counts, function($v){$v}))", "'counts.a' = 'counts.a + 1'"),
    ] {
        assert!(is_endless(when, &format!("{step}, {set}")), "{when}");
        assert!(!is_endless(when, step), "{when}");
    }
    for when in ["index < $millis()", "index < $toMillis($now())", "index < $random() * 9"] {
        assert!(is_endless(when, step), "{when}");
    }
    // How many there are does not change with one of them.
    assert!(!is_endless("index < $count(tasks)", &format!("{step}, 'tasks[index].status' = '\"complete\"'")));
}

#[test]
fn nodes_that_perform_nothing_do_not_go_round_alone() {
    let text = |second: &str| {
        format!(
            "nodes.work = {{ kind = \"pass\" }}\nnodes.more = {second}\nnodes.done = {{ kind = \"end\" }}\n\
             edges = [\n  {{ id = \"a\", from = \"work\", to = \"more\", maxIterations = 2, exhausted = [{{ to = \"done\" }}] }},\n  \
             {{ id = \"b\", from = \"more\", to = \"work\" }},\n]\n"
        )
    };
    check(&text(r#"{ kind = "agent", role = "worker" }"#), expect![""]);
    check(
        &text(r#"{ kind = "pass", set = { tries = "tries + 1" } }"#),
        expect![[r#"
        roles/worker.md warning[unused-role]: no node has the role `worker`
            remove its files, or add a node for it
        5:10 error[pass-loop]: the loop work → more → work performs nothing: all of its nodes are `pass` (by `a`, `b`)
            lead it through a node of another kind
    "#]],
    );
    // It has no output.
    check(
        &text(r#"{ kind = "agent", role = "worker" }"#)
            .replace("to = \"more\",", "to = \"more\", when = \"output.ok\","),
        expect![[r#"
            5:58 error[unknown-field]: `output` has no field `ok`
        "#]],
    );
}

/// A view is read as if it were written out, and the node that an edge leads to may make the step.
#[test]
fn a_view_that_only_a_signal_moves_bounds_a_loop() {
    let with = |raise: &str| {
        format!(
            r#"[view]
limit = "most"
[nodes.begin]
kind = "pass"
set = {{ index = "index + 1" }}
[nodes.work]
kind = "agent"
role = "worker"
{raise}
[nodes.done]
kind = "end"
[[edges]]
id = "begun"
from = "begin"
to = "work"
[[edges]]
id = "again"
from = "work"
to = "begin"
when = "output.ok = false and index < $limit"
overrides = ["enough"]
[[edges]]
id = "enough"
from = "work"
to = "done"
[signals.raise]
input = "signals/raise.json"
to = "begin"
set = {{ most = "$signal.most" }}
"#
        )
    };
    let state = r#"{ "type": "object", "properties": {
        "index": { "type": "integer", "default": 0 }, "most": { "type": "integer", "default": 3 } } }"#;
    let signal = r#"{ "type": "object", "properties": { "most": { "type": "integer" } } }"#;
    let files = [("state.schema.json", state), ("signals/raise.json", signal)];
    let told = |raise: &str| {
        let faults = faults_of(&folder(&with(raise), &files));
        let told = faults.iter().map(|fault| format!("{} {}", fault.rule, fault.line));
        told.collect::<Vec<_>>().join(", ")
    };
    assert_eq!(told(""), "");
    // The work itself moves the bound.
    assert_eq!(told("set = { most = \"most + 1\" }"), "loop-without-cap 20");
    // A bound may not be read from what happens.
    let of_fact = with("").replace("limit = \"most\"", "limit = \"$run.steps + most\"");
    let faults = faults_of(&folder(&of_fact, &files));
    assert!(faults.iter().any(|fault| fault.rule == "loop-without-cap"), "{faults:?}");
}
