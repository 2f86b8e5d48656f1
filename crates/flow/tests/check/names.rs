//! Names that lead nowhere, and names that nobody uses.

use expect_test::expect;

use crate::{WORK, check, check_all, check_with};

#[test]
fn a_sound_workflow_has_no_fault() {
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "done" }]
"#
        ),
        expect![[""]],
    );
}

#[test]
fn nodes_that_are_named_are_there() {
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "doen" }, { id = "b", from = "wrk", to = "done" }]
"#
        ),
        expect![[r#"
            3:42 error[unknown-node]: there is no node `doen`
                did you mean `done`?
            3:71 error[unknown-node]: there is no node `wrk`
                did you mean `work`?
        "#]],
    );
    // It may lead anywhere, and its `set` counts; a node that nothing leads to is still reported.
    check(
        &format!(
            "{WORK}{}",
            r#"nodes.more = { kind = "agent", role = "worker" }
edges = [
  { id = "a", from = "work", to = "mroe", when = "output.ok = true", set = { title = "'x'" } },
  { id = "b", from = "work", to = "work", when = "output.ok = false and title = 'y'", maxIterations = 2, exhausted = [{ to = "doen" }] },
  { id = "c", from = "wrok", to = "done", when = "output.ok = false and title != 'y'" },
  { id = "d", from = "more", to = "done" },
]
"#
        ),
        expect![[r#"
            5:35 error[unknown-node]: there is no node `mroe`
                did you mean `more`?
            6:126 error[unknown-node]: there is no node `doen`
                did you mean `done`?
            7:22 error[unknown-node]: there is no node `wrok`
                did you mean `work`?
        "#]],
    );
    check(
        &format!(
            "{WORK}{}",
            r#"nodes.lone = { kind = "agent", role = "worker" }
edges = [{ id = "a", from = "work", to = "done" }, { id = "b", from = "lone", to = "nowhere" }]
"#
        ),
        expect![[r#"
            3:7 error[unreachable-node]: `lone` cannot be reached from the start
                add an edge to it, or remove it
            4:84 error[unknown-node]: there is no node `nowhere`
        "#]],
    );
    // A route is followed too; nothing like it is known.
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "done", maxIterations = 1, exhausted = [{ to = "zebra" }] }]
"#
        ),
        expect![[r#"
            3:89 error[unknown-node]: there is no node `zebra`
        "#]],
    );
}

#[test]
fn roles_that_are_named_are_there_and_used() {
    check(
        r#"nodes.work = { kind = "agent", role = "wroker" }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "done" }]
"#,
        expect![[r#"
            roles/worker.md warning[unused-role]: no node has the role `worker`
                remove its files, or add a node for it
            1:39 error[unknown-role]: there is no role `wroker`
                did you mean `worker`?
        "#]],
    );
    check(
        r#"nodes.work = { kind = "check", task = "title" }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "done" }]
board = { items = "tasks", key = "id" }
"#,
        expect![[r#"
            roles/worker.md warning[unused-role]: no node has the role `worker`
                remove its files, or add a node for it
        "#]],
    );
}

#[test]
fn children_that_are_named_are_there_and_used() {
    check_with(
        r#"nodes.work = { kind = "map", workflow = "sub", items = "tasks", key = "id" }
nodes.again = { kind = "agent", role = "worker" }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "again" }, { id = "b", from = "again", to = "done" }]
"#,
        &[
            (
                "children/sub/workflow.toml",
                "name = \"sub\"\nstart = \"end\"\nstate = \"state.schema.json\"\nnodes.end = { kind = \"end\" }\n",
            ),
            ("children/sub/state.schema.json", "{\"type\":\"object\"}"),
        ],
        expect![[""]],
    );
    check_with(
        r#"nodes.work = { kind = "map", workflow = "sup", items = "tasks", key = "id" }
nodes.again = { kind = "agent", role = "worker" }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "again" }, { id = "b", from = "again", to = "done" }]
"#,
        &[
            (
                "children/sub/workflow.toml",
                "name = \"sub\"\nstart = \"end\"\nstate = \"state.schema.json\"\nnodes.end = { kind = \"end\" }\n",
            ),
            ("children/sub/state.schema.json", "{\"type\":\"object\"}"),
        ],
        expect![[r#"
            children/sub/workflow.toml warning[unused-child]: no `map` node runs the child workflow `sub`
                remove its folder, or add a node for it
            1:41 error[unknown-child]: there is no child workflow `sup`
                did you mean `sub`?
        "#]],
    );
}

#[test]
fn the_faults_of_a_child_are_told_with_its_file() {
    check_with(
        r#"nodes.work = { kind = "map", workflow = "sub", items = "tasks", key = "id" }
nodes.again = { kind = "agent", role = "worker" }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "again" }, { id = "b", from = "again", to = "done" }]
"#,
        &[
            (
                "children/sub/workflow.toml",
                "name = \"sub\"\nstart = \"ned\"\nstate = \"state.schema.json\"\nnodes.end = { kind = \"end\" }\n",
            ),
            ("children/sub/state.schema.json", "{\"type\":\"object\"}"),
        ],
        expect![[r#"
            children/sub/workflow.toml error[unknown-node]: there is no node `ned`
        "#]],
    );
}

#[test]
fn binds_are_used() {
    check(
        r#"bind.task = "tasks[index]"
nodes.work = { kind = "agent", role = "worker", set = { index = "output.ok ? index + 1 : 0", title = "$task.id" } }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "done" }]
"#,
        expect![[""]],
    );
    check(
        r#"bind.task = "tasks[index]"
nodes.work = { kind = "agent", role = "worker" }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "done" }]
"#,
        expect![[r#"
            1:13 warning[unused-bind]: no expression uses `$task`
                remove it from `[bind]`
        "#]],
    );
}

#[test]
fn overrides_name_edges_below() {
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "done", when = "output.ok = true", overrides = ["b"] }, { id = "b", from = "work", to = "done" }]
"#
        ),
        expect![[""]],
    );
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "done", when = "output.ok = true", overrides = ["bb"] }, { id = "b", from = "work", to = "done", when = "output.ok = false", overrides = ["a"] }]
"#
        ),
        expect![[r#"
            3:90 error[unknown-edge]: there is no edge `bb`
                did you mean `b`?
            3:180 warning[override-without-effect]: `b` cannot override `a`: it is tried first
                remove it from `overrides`
        "#]],
    );
}

#[test]
fn one_edge_may_leave_several_nodes() {
    let nodes = format!("{WORK}nodes.more = {{ kind = \"agent\", role = \"worker\", title = \"Again\" }}\n");
    let edges = |from: &str| {
        format!(
            "{nodes}edges = [\n  {{ id = \"a\", from = \"work\", to = \"more\", when = \"output.ok = true\" }},\n  \
             {{ id = \"b\", from = {from}, to = \"done\", title = \"Enough\", when = \"output.ok = false\" }},\n]\n"
        )
    };
    check(
        &edges(r#"["work", "more"]"#),
        expect![[r#"
            3:7 warning[may-stall]: no edge may hold after `more`, for example with `output.ok` = true
                add an edge for this case, or a last one without `when` that the others list in `overrides`
        "#]],
    );
    // Each of the names is looked at.
    check(
        &edges(r#"["work", "moer"]"#),
        expect![[r#"
        6:31 error[unknown-node]: there is no node `moer`
            did you mean `more`?
    "#]],
    );
    check_all(
        &edges(r#"["work", "work"]"#),
        &[],
        expect![[r#"
        3:7 error[dead-end]: `more` cannot be left: it has no outgoing edge and is not an end
            add an edge from it, or make its kind `end`
        6:31 error[duplicate-name]: `work` is named twice
            remove one
    "#]],
    );
    check_all(
        &edges("[]"),
        &[],
        expect![[r#"
        6:1 error[missing-key]: edge `b` has no `from`
            add `from = …`
    "#]],
    );
    check_all(
        &edges("[7]"),
        &[],
        expect![[r#"
        6:1 error[missing-key]: edge `b` has no `from`
            add `from = …`
        6:23 error[wrong-type]: `from` of edge `b` must be the name of a node, or a list of names, but is `7`
    "#]],
    );
}

#[test]
fn a_node_may_have_a_prompt_of_its_own() {
    let text = |prompt: &str| {
        format!(
            "nodes.work = {{ kind = \"agent\", role = \"worker\", prompt = \"{prompt}\" }}\n\
             nodes.done = {{ kind = \"end\" }}\n\
             edges = [{{ id = \"a\", from = \"work\", to = \"done\", when = \"output.fine = true\" }}]\n"
        )
    };
    let others = [
        ("roles/fine.md", "Work."),
        (
            "roles/fine.output.json",
            r#"{"type": "object", "properties": {"fine": {"const": true}}, "required": ["fine"]}"#,
        ),
    ];
    // The edge reads what that prompt returns; nobody uses the role's own.
    check_with(
        &text("fine"),
        &others,
        expect![[r#"
        roles/worker.md warning[unused-role]: no node has the role `worker`
            remove its files, or add a node for it
    "#]],
    );
    check_with(
        &text("fien"),
        &others,
        expect![[r#"
        roles/fine.md warning[unused-role]: no node has the role `fine`
            remove its files, or add a node for it
        roles/worker.md warning[unused-role]: no node has the role `worker`
            remove its files, or add a node for it
        1:58 error[unknown-role]: there is no role `fien`
            did you mean `fine`?
    "#]],
    );
}
