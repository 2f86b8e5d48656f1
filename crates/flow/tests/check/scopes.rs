//! Caps that count for a scope: they end a loop only if the scope has few values in it.

use expect_test::{Expect, expect};

use crate::check;

/// Checks a loop whose edge has that scope, and whose node sets what is given.
fn check_scope(scope: &str, set: &str, expected: Expect) {
    let text = format!(
        r#"bind = {{ task = "tasks[index]" }}
nodes.work = {{ kind = "agent", role = "worker", input = {{ task = "$task" }}, set = {{ {set} }} }}
nodes.done = {{ kind = "end" }}
edges = [
  {{ id = "again", from = "work", to = "work", when = "output.ok = false", maxIterations = 2, scope = "{scope}", exhausted = [{{ to = "done" }}] }},
  {{ id = "out", from = "work", to = "done", when = "output.ok = true" }},
]
"#
    );
    check(&text, expected);
}

#[test]
fn a_scope_that_is_new_each_time_bounds_nothing() {
    check_scope(
        "$string(tries)",
        r#"tries = "tries + 1""#,
        expect![[r#"
            5:103 error[scope-without-bound]: the cap of `again` does not end the loop work → work: it counts each value of `scope` separately, and `tries` may change every time
                remove `scope` to count for the whole run, or use a value that the loop does not change
        "#]],
    );
    check_scope(
        "$now()",
        "",
        expect![[r#"
            5:103 error[scope-without-bound]: the cap of `again` does not end the loop work → work: it counts each value of `scope` separately, and what it reads may change every time
                remove `scope` to count for the whole run, or use a value that the loop does not change
        "#]],
    );
    check_scope(
        "$string(output.score)",
        "",
        expect![[r#"
            5:103 error[scope-without-bound]: the cap of `again` does not end the loop work → work: it counts each value of `scope` separately, and `output.score` may change every time
                remove `scope` to count for the whole run, or use a value that the loop does not change
        "#]],
    );
    check_scope(
        "$task.id",
        r#"tasks = "output.tasks""#,
        expect![[r#"
            5:103 error[scope-without-bound]: the cap of `again` does not end the loop work → work: it counts each value of `scope` separately, and `tasks.id` may change every time
                remove `scope` to count for the whole run, or use a value that the loop does not change
        "#]],
    );
    check_scope(
        "$string($$)",
        "",
        expect![[r#"
            5:103 error[scope-without-bound]: the cap of `again` does not end the loop work → work: it counts each value of `scope` separately, and what it reads may change every time
                remove `scope` to count for the whole run, or use a value that the loop does not change
        "#]],
    );
}

#[test]
fn a_scope_with_few_values_bounds_a_loop() {
    // Nothing in the loop sets it.
    check_scope("title", "", expect![[""]]);
    // An item of a list that stays, wherever the index goes.
    check_scope("$task.id", r#"index = "output.score", "tasks[index].status" = "'complete'""#, expect![[""]]);
    // Only constants are put there.
    check_scope("title", r#"title = "'again'""#, expect![[""]]);
    // The schema leaves a choice.
    check_scope("mode & $string(ok) & output.status", r#"ok = "output.ok""#, expect![[""]]);
    check_scope("$string(last.ok)", r#"last = "output""#, expect![[""]]);
    check_scope("output.ok", "", expect![[""]]);
    check_scope("ok", r#"ok = "output.ok""#, expect![[""]]);
    // A comparison has two answers, whatever it reads.
    check_scope("tries > 3", r#"tries = "tries + 1""#, expect![[""]]);
    check_scope("$now() > title and $exists(output.score)", "", expect![[""]]);
}

#[test]
fn a_scope_may_move_along_a_bounded_way() {
    check(
        r#"nodes.work = { kind = "agent", role = "worker" }
nodes.done = { kind = "end" }
edges = [
  { id = "again", from = "work", to = "work", when = "output.ok = false", maxIterations = 2, scope = "$string(index)", exhausted = [{ to = "done" }] },
  { id = "next", from = "work", to = "work", when = "output.ok = true and index < 3", set = { index = "index + 1" } },
  { id = "out", from = "work", to = "done", when = "output.ok = true and index >= 3" },
]
"#,
        expect![[""]],
    );
    // The loop that moves it has no cap: that is what must be fixed.
    check(
        r#"nodes.work = { kind = "agent", role = "worker" }
nodes.done = { kind = "end" }
edges = [
  { id = "again", from = "work", to = "work", when = "output.ok = false", maxIterations = 2, scope = "$string(index)", exhausted = [{ to = "done" }] },
  { id = "next", from = "work", to = "work", when = "output.ok = true and index != 3", set = { index = "index + 1" } },
  { id = "out", from = "work", to = "done", when = "output.ok = true and index = 3" },
]
"#,
        expect![[r#"
            5:10 error[loop-without-cap]: the loop work → work has no cap (by `next`)
                add `maxIterations` and an `exhausted` route to one of its edges
        "#]],
    );
}
