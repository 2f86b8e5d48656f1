//! Parts that mean something only beside another: tasks and the board, caps and routes, levels.

use expect_test::expect;

use crate::{WORK, check, check_all};

#[test]
fn tasks_need_a_board() {
    check(
        r#"board = { items = "tasks", key = "id" }
nodes.work = { kind = "agent", role = "worker", task = "title" }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "done", submit = "title", rejected = { to = "work" } }]
"#,
        expect![[""]],
    );
    check(
        r#"nodes.work = { kind = "agent", role = "worker", task = "title" }
nodes.test = { kind = "check", task = "title" }
nodes.done = { kind = "end" }
edges = [
  { id = "a", from = "work", to = "test", submit = "title" },
  { id = "b", from = "test", to = "done", fail = "title", maxIterations = 1, exhausted = [{ to = "done", fail = "title" }] },
]
"#,
        expect![[r#"
            1:57 error[task-without-board]: `task` refers to a task, but no items are tasks
                add `[board]` with `items` and `key`
            2:40 error[task-without-board]: `task` refers to a task, but no items are tasks
                add `[board]` with `items` and `key`
            5:53 error[task-without-board]: `submit` refers to a task, but no items are tasks
                add `[board]` with `items` and `key`
            6:51 error[task-without-board]: `fail` refers to a task, but no items are tasks
                add `[board]` with `items` and `key`
            6:114 error[task-without-board]: `fail` refers to a task, but no items are tasks
                add `[board]` with `items` and `key`
        "#]],
    );
}

#[test]
fn checks_need_a_task() {
    check(
        r#"board = { items = "tasks", key = "id" }
nodes.work = { kind = "agent", role = "worker", task = "title" }
nodes.test = { kind = "check", checks = ["lint"] }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "test" }, { id = "b", from = "test", to = "done" }]
"#,
        expect![[r#"
            3:7 error[check-without-task]: `test` names no task, so its checks have no worktree to run in
                add `task` with the key of an item of the board
        "#]],
    );
}

#[test]
fn routes_need_what_leads_to_them() {
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "done", rejected = { to = "work" }, scope = "title", exhausted = [{ to = "done" }] }]
"#
        ),
        expect![[r#"
            3:1 error[exhausted-without-cap]: `a` has an `exhausted` route but no `maxIterations`, so it is never used up
                add `maxIterations`, or remove the route
            3:50 error[rejected-without-submit]: `a` has a `rejected` route but submits nothing that could be rejected
                add `submit` with the key of the task, or remove the route
            3:87 warning[scope-without-cap]: `a` has a `scope` but no `maxIterations`, so it is never used up
                add `maxIterations`, or remove the scope
        "#]],
    );
}

#[test]
fn a_cap_has_a_way_out() {
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "work", when = "output.ok = false", maxIterations = 3 }, { id = "b", from = "work", to = "done", when = "output.ok = true" }]
"#
        ),
        expect![[r#"
            3:17 error[cap-without-way-out]: nothing follows after `a` was taken 3 times
                add an `[[edges.exhausted]]` route, for example to an end
        "#]],
    );
    // The only route may not hold.
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "work", maxIterations = 1, exhausted = [{ to = "done", when = "output.status = 'done'" }] }]
"#
        ),
        expect![[r#"
            3:17 warning[cap-may-have-no-way-out]: none of the `exhausted` routes of `a` may hold
                remove `when` from the last `[[edges.exhausted]]` route
        "#]],
    );
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "work", maxIterations = 1, exhausted = [{ to = "done", when = "output.status = 'done'" }, { to = "done" }] }]
"#
        ),
        expect![[""]],
    );
}

#[test]
fn one_level_is_the_default() {
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "done" }]
levels.1 = { default = true }
levels.2 = {}
"#
        ),
        expect![[""]],
    );
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "done" }]
levels.1 = {}
levels.2 = {}
"#
        ),
        expect![[r#"
            5:8 error[level-without-default]: no level is the default; a run would have the last, 2
                add `default = true` to one level
        "#]],
    );
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "done" }]
levels.1 = { default = true }
levels.2 = { default = true }
"#
        ),
        expect![[r#"
            5:8 error[two-default-levels]: levels 1 and 2 are both the default
                keep `default` at one of them
        "#]],
    );
}

#[test]
fn what_names_a_level_or_a_field_names_one() {
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "done", levels = [1, 3] }, { id = "b", from = "work", to = "done", levels = [] }]
levels.1 = { default = true, fields = ["indx"], start = "wrk" }
"#
        ),
        expect![[r#"
            3:63 error[unknown-level]: there is no level 3
                the workflow has level 1
            3:76 error[edge-at-no-level]: `b` is part of no level
                name its levels, or remove `levels` to make it part of all
            4:40 error[unknown-field]: the state has no field `indx`
                did you mean `index`?
            4:57 error[unknown-node]: there is no node `wrk`
                did you mean `work`?
        "#]],
    );
}

#[test]
fn something_is_added_to_a_list_alone() {
    let set = |set: &str| {
        format!(
            "nodes.work = {{ kind = \"agent\", role = \"worker\", set = {{ {set} }} }}\nnodes.done = {{ kind = \"end\" }}\n\
             edges = [{{ id = \"a\", from = \"work\", to = \"done\" }}]\n"
        )
    };
    check(
        &set(r#""tasks[+]" = "output.tasks", "open.known[+]" = "1""#),
        expect![[r#"
        1:86 error[set-without-parent]: `open.known[+]` can never be set: `open.known` has no default, and no `set` changes that
            give `open.known` a default such as [] in the schema of the state, or set it before
    "#]],
    );
    check(
        &set(r#""tries[+]" = "1""#),
        expect![[r#"
            1:57 error[append-to-no-list]: `tries[+]` adds to what is no list
                remove `[+]` to set the place, or make it a list in the schema of the state
        "#]],
    );
    check(&set(r#""tasks[+]" = "{'id': 1}""#), expect![""]);
    check(
        &set(r#""tasks[+]" = "[1, 2]""#),
        expect![[r#"
        1:71 error[set-does-not-fit]: [1,2] does not fit `tasks[+]`
            the schema of the state says what is allowed there
    "#]],
    );
    check(
        &set(r#""tasks[0].notes[+]" = "'a'""#),
        expect![[r#"
        1:57 warning[set-outside-schema]: `tasks[0].notes` is outside the schema of the state: `tasks[0]` has no field `notes`
            add it to the schema of the state
    "#]],
    );
    check_all(
        &set(r#""[+]" = "1""#),
        &[],
        expect![[r#"
        1:58 error[bad-place]: a place begins with the name of a field
            a place is a path such as `tasks[currentTaskIndex].status`, or a list and `[+]` to add to it
    "#]],
    );
    check_all(
        &set(r#""tasks[+].id" = "1""#),
        &[],
        expect![[r#"
        1:64 error[bad-expression]: the expression cannot be read: The symbol "+" cannot be used as a unary operator (S0211)
        1:74 error[set-does-not-fit]: 1 does not fit `tasks[+].id`
            the schema of the state says what is allowed there
    "#]],
    );
}
