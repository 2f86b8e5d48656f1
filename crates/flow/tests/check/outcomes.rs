//! `on`, `drop` and `parallel`: where they mean something, and what they can never come to.

use expect_test::expect;

use crate::{WORK, check, check_all, check_with};

const BOARD: &str = "board = { items = \"tasks\", key = \"id\" }\n";

#[test]
fn an_outcome_is_for_nodes_that_can_come_to_it() {
    check(
        &format!(
            r#"{BOARD}nodes.work = {{ kind = "agent", role = "worker", task = "title" }}
nodes.ask = {{ kind = "approval", question = "'?'" }}
nodes.done = {{ kind = "end" }}
edges = [
  {{ id = "a", from = "work", to = "ask" }},
  {{ id = "b", from = "ask", to = "done", submit = "title" }},
  {{ id = "c", from = ["work", "ask"], on = "failed", to = "done" }},
  {{ id = "d", from = ["work", "ask"], on = "conflict", to = "done" }},
  {{ id = "e", from = ["work", "ask"], on = "cancelled", to = "done" }},
  {{ id = "f", from = ["work", "ask"], on = "rejected", to = "work" }},
  {{ id = "g", from = "work", on = "unchanged", to = "done" }},
]
"#
        ),
        expect![[r#"
            8:31 error[outcome-never-comes]: `ask` never comes to the outcome `failed`: it has no session
                use it for nodes of kind `agent`, or `parallel` with one
            9:23 error[outcome-never-comes]: `work` never comes to the outcome `conflict`: no edge that leaves it submits a task
                add `submit` to an edge of the node, or remove this edge
            11:23 error[outcome-never-comes]: `work` never comes to the outcome `rejected`: no edge that leaves it submits a task
                add `submit` to an edge of the node, or remove this edge
            12:22 error[outcome-never-comes]: `work` never comes to the outcome `unchanged`: no edge that leaves it submits a task
                add `submit` to an edge of the node, or remove this edge
        "#]],
    );
}

#[test]
fn an_unknown_outcome_is_named_with_the_nearest() {
    check_all(
        &format!(
            "{WORK}{}",
            r#"edges = [
  { id = "a", from = "work", to = "done" },
  { id = "b", from = "work", on = "fails", to = "done" },
  { id = "c", from = "work", on = "whatever", to = "done" },
]
"#
        ),
        &[],
        expect![[r#"
            5:35 error[unknown-outcome]: there is no outcome called `fails`
                did you mean `failed`?
            6:35 error[unknown-outcome]: there is no outcome called `whatever`
                the outcomes are `failed`, `conflict`, `unchanged`, `rejected` and `cancelled`
        "#]],
    );
}

#[test]
fn what_came_of_a_node_is_known_on_an_edge_for_it() {
    check_all(
        &format!(
            "{WORK}{}",
            r#"edges = [
  { id = "a", from = "work", to = "done", when = "$outcome.code = 'X'" },
  { id = "b", from = "work", on = "failed", to = "done", set = { title = "$outcome.code & $outcome.files" } },
]
"#
        ),
        &[],
        expect![[r#"
            4:51 error[misplaced-variable]: `$outcome` is not known here
                use it in an edge with `on`
            5:100 error[unknown-field]: `$outcome` has no field `files`
        "#]],
    );
}

#[test]
fn an_edge_for_an_outcome_can_be_tried_and_its_loop_ends() {
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [
  { id = "a", from = "work", to = "done" },
  { id = "b", from = "work", on = "failed", to = "work" },
  { id = "c", from = "work", on = "failed", to = "done" },
]
"#
        ),
        expect![[r#"
            5:10 error[loop-without-cap]: the loop work → work has no cap (by `b`)
                add `maxIterations` and an `exhausted` route to one of its edges
            6:10 error[edge-never-tried]: `c` is never tried: `b` comes first and has no `when`, so it always holds
                move it before `b`
        "#]],
    );
    // A result and an outcome do not meet.
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [
  { id = "a", from = "work", on = "failed", to = "work", when = "tries < 3", set = { tries = "tries + 1" } },
  { id = "b", from = "work", on = "failed", to = "done" },
  { id = "c", from = "work", to = "done" },
]
"#
        ),
        expect![[""]],
    );
}

#[test]
fn a_task_has_one_fate_and_is_not_submitted_again_unchanged() {
    check(
        &format!(
            r#"{BOARD}nodes.work = {{ kind = "agent", role = "worker", task = "title" }}
nodes.done = {{ kind = "end" }}
edges = [
  {{ id = "a", from = "work", to = "done", submit = "title", drop = "title", when = "ok" }},
  {{ id = "b", from = "work", on = "conflict", to = "done", submit = "title" }},
  {{ id = "c", from = "work", to = "work", maxIterations = 1, exhausted = [{{ to = "done", fail = "title", drop = "title" }}] }},
]
"#
        ),
        expect![[r#"
            5:69 error[two-fates]: `a` has both `submit` and `drop`, and a task has one fate
                keep one of them
            6:70 error[submit-again]: `b` would submit the same work again, which came to `conflict`
                lead the edge to a node that works on the task, or use `fail` or `drop`
            7:10 warning[edges-overlap]: `c` overlaps with `a`, which is tried first, for example with `ok` = true
                if `a` should win, add overrides = ["c"] to it
            7:114 error[two-fates]: `c` has both `fail` and `drop`, and a task has one fate
                keep one of them
        "#]],
    );
}

#[test]
fn a_child_works_on_the_tasks_of_the_run_above() {
    let child = r#"name = "one"
start = "work"
nodes.work = { kind = "agent", role = "worker", task = "input.id" }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "done", submit = "input.id" }]
"#;
    let others = [
        ("children/one/workflow.toml", child),
        ("children/one/state.schema.json", r#"{ "type": "object", "properties": {} }"#),
        ("children/one/roles/worker.md", "Work."),
        ("children/one/roles/worker.output.json", "{}"),
    ];
    let parent = r#"nodes.work = { kind = "agent", role = "worker" }
nodes.each = { kind = "map", workflow = "one", items = "tasks", key = "id" }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "each" }, { id = "b", from = "each", to = "done" }]
"#;
    check_with(
        parent,
        &others,
        expect![[r#"
            children/one/workflow.toml error[task-without-board]: `task` refers to a task, but no items are tasks
                add `[board]` with `items` and `key`
            children/one/workflow.toml error[task-without-board]: `submit` refers to a task, but no items are tasks
                add `[board]` with `items` and `key`
        "#]],
    );
    let board = "board = { items = \"tasks\", key = \"id\", branch = \"id & '-work'\", base = \"status\" }\n";
    check_with(&format!("{board}{parent}"), &others, expect![[""]]);
}

#[test]
fn members_are_agents_and_checks_without_edges() {
    let nodes = format!(
        r#"{BOARD}nodes.work = {{ kind = "parallel", nodes = ["one", "two", "test"], set = {{ ok = "output.one.ok" }} }}
nodes.one = {{ kind = "agent", role = "worker", task = "title" }}
nodes.two = {{ kind = "agent", role = "worker", task = "title", writes = false }}
nodes.test = {{ kind = "check", task = "title" }}
nodes.done = {{ kind = "end" }}
"#
    );
    check(
        &format!(
            "{nodes}{}",
            r#"edges = [{ id = "a", from = "work", to = "done" }, { id = "b", from = "work", on = "failed", to = "done" }]
"#
        ),
        expect![[""]],
    );
    check(
        &format!(
            "{}{}",
            nodes.replace(", writes = false", ""),
            r#"nodes.more = { kind = "parallel", nodes = ["test", "done", "gone"] }
edges = [
  { id = "a", from = "work", to = "more" },
  { id = "b", from = "one", to = "done" },
  { id = "c", from = "more", to = "two", when = "ok" },
  { id = "d", from = "more", to = "done" },
]
"#
        ),
        expect![[r#"
            2:51 error[members-write-together]: `one` and `two` both change the worktree of the same task
                give one of them `writes = false`, or let one follow the other
            7:44 error[member-twice]: `test` is performed by `work` too
                add a node with the same role, and name it in one of them
            7:52 error[bad-member]: `more` cannot perform `done`, which is of kind `end`
                a `parallel` node performs nodes of kind `agent` and `check`
            7:60 error[unknown-node]: there is no node `gone`
                did you mean `one`?
            10:22 error[member-with-edge]: `b` leaves `one`, which `work` performs
                let it leave or lead to `work`
            11:35 error[member-with-edge]: `c` leads to `two`, which `work` performs
                let it leave or lead to `work`
            12:10 warning[edges-overlap]: `d` overlaps with `c`, which is tried first, for example with `ok` = true
                if `c` should win, add overrides = ["d"] to it
        "#]],
    );
}

#[test]
fn a_parallel_node_has_members() {
    check_all(
        r#"nodes.work = { kind = "parallel", nodes = [] }
nodes.other = { kind = "parallel" }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "other" }, { id = "b", from = "other", to = "done" }]
"#,
        &[],
        expect![[r#"
            1:7 error[missing-key]: parallel node `work` has no `nodes`
                add `nodes = …`
            2:7 error[missing-key]: parallel node `other` has no `nodes`
                add `nodes = […]` with the names of agent and check nodes
        "#]],
    );
}
