//! Conditions that wait for what nobody sets.

use expect_test::expect;

use crate::{WORK, check};

#[test]
fn a_number_that_bounds_a_loop_is_set_in_it() {
    // Setting it on the way out is too late.
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [
  { id = "next", from = "work", to = "work", when = "index < $count(tasks) - 1", maxIterations = 9, exhausted = [{ to = "done" }] },
  { id = "out", from = "work", to = "done", when = "index >= $count(tasks) - 1", set = { index = "0" } },
]
"#
        ),
        expect![[r#"
            4:54 error[never-set]: nothing in the loop work → work raises `index`, so `index < $count(tasks) - 1` never changes
                `set` it on an edge of the loop: index = "index + 1"
        "#]],
    );
    // The list is set in the loop, so the comparison can change.
    check(
        r#"nodes.work = { kind = "agent", role = "worker", set = { tasks = "output.tasks" } }
nodes.done = { kind = "end" }
edges = [
  { id = "next", from = "work", to = "work", when = "index < $count(tasks) - 1", maxIterations = 9, exhausted = [{ to = "done" }] },
  { id = "out", from = "work", to = "done", when = "index >= $count(tasks) - 1" },
]
"#,
        expect![[""]],
    );
}

#[test]
fn what_a_condition_compares_is_set_somewhere() {
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "done", when = "mode = 'fast'" }, { id = "b", from = "work", to = "done", when = "mode = 'slow'" }]
"#
        ),
        expect![[r#"
            3:58 error[never-set]: nothing sets `mode`, so `mode = 'fast'` never changes
                `set` it at a node or on an edge, or look at `output`
            3:124 error[never-set]: nothing sets `mode`, so `mode = 'slow'` never changes
                `set` it at a node or on an edge, or look at `output`
        "#]],
    );
    check(
        r#"nodes.work = { kind = "agent", role = "worker", set = { mode = "output.ok ? 'fast' : 'slow'" } }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "done", when = "mode = 'fast'" }, { id = "b", from = "work", to = "done", when = "mode = 'slow'" }]
"#,
        expect![[""]],
    );
    // What stands behind a name for a place counts as well.
    check(
        r#"bind.task = "tasks[index]"
nodes.work = { kind = "agent", role = "worker" }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "done", when = "$task.status = 'pending'", overrides = ["b"] }, { id = "b", from = "work", to = "done" }]
"#,
        expect![[r#"
            4:58 error[never-set]: nothing sets `tasks` or `index`, so `$task.status = 'pending'` never changes
                `set` it at a node or on an edge, or look at `output`
        "#]],
    );
}

#[test]
fn a_level_that_does_not_keep_a_field_up_does_not_set_it() {
    check(
        r#"nodes.work = { kind = "agent", role = "worker", set = { ok = "output.ok" } }
nodes.done = { kind = "end" }
edges = [
  { id = "a", from = "work", to = "done", when = "ok = true", levels = [1] },
  { id = "b", from = "work", to = "done", when = "ok = false", levels = [1] },
  { id = "c", from = "work", to = "done", when = "ok = true", levels = [2] },
  { id = "d", from = "work", to = "done", when = "ok = false", levels = [2] },
]
levels.1 = { default = true }
levels.2 = { fields = [] }
"#,
        expect![[r#"
            6:51 error[edge-never-holds]: `c` holds in no state that can follow `work` (at level 2)
                compare its condition with the schema, and with what its node sets
            6:51 error[never-set]: nothing sets `ok`, so `ok = true` never changes (at level 2)
                `set` it at a node or on an edge, or look at `output`
            7:51 error[never-set]: nothing sets `ok`, so `ok = false` never changes (at level 2)
                `set` it at a node or on an edge, or look at `output`
        "#]],
    );
}
