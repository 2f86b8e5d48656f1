//! Edges that are never taken, that hold at once, and states in which none holds.

use expect_test::expect;

use crate::{WORK, check, faults_of, folder};

#[test]
fn an_edge_behind_one_that_always_holds_is_never_tried() {
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "done" }, { id = "b", from = "work", to = "done", when = "output.ok = true" }]
"#
        ),
        expect![[r#"
            3:59 error[edge-never-tried]: `b` is never tried: `a` comes first and has no `when`, so it always holds
                move it before `a`
        "#]],
    );
    // An edge that names its levels is warned of each at which it is dead.
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "done", levels = [1] }, { id = "b", from = "work", to = "done", when = "output.ok = true", levels = [1, 2] }, { id = "c", from = "work", to = "done", when = "output.ok = false", levels = [2] }]
levels.1 = { default = true }
levels.2 = {}
"#
        ),
        expect![[r#"
            3:73 warning[edge-never-tried]: `b` is never tried: `a` comes first and has no `when`, so it always holds (at level 1)
                move it before `a`
        "#]],
    );
}

#[test]
fn an_edge_holds_in_some_state() {
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "done", when = "output.status = 'finished'" }, { id = "b", from = "work", to = "done", when = "output.ok = true and output.ok = false" }, { id = "c", from = "work", to = "done" }]
"#
        ),
        expect![[r#"
            3:58 error[edge-never-holds]: `a` never holds after `work`
                compare the condition with the schema and with what the node sets
            3:137 error[edge-never-holds]: `b` never holds after `work`
                compare the condition with the schema and with what the node sets
        "#]],
    );
    // What the node sets is what its edges see.
    check(
        r#"nodes.work = { kind = "agent", role = "worker", set = { mode = "'fast'", last = "output" } }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "done", when = "mode = 'slow'" }, { id = "b", from = "work", to = "done", when = "$exists(last.ok)" }]
"#,
        expect![[r#"
            3:58 error[edge-never-holds]: `a` never holds after `work`
                compare the condition with the schema and with what the node sets
        "#]],
    );
    // What is not plain is let pass.
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "done", when = "$length(output.title) > 80", overrides = ["b"] }, { id = "b", from = "work", to = "done" }]
"#
        ),
        expect![[""]],
    );
}

#[test]
fn an_edge_is_not_shadowed() {
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "done", when = "output.score > 5" }, { id = "b", from = "work", to = "done", when = "output.score > 8" }, { id = "c", from = "work", to = "done", when = "output.score <= 5 or $not($exists(output.score))" }]
"#
        ),
        expect![[r#"
            3:127 error[edge-shadowed]: `b` is never taken: whenever it holds, `a` holds first
                move it before `a`, or narrow their conditions
        "#]],
    );
    // By two others together.
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "done", when = "output.ok = true" }, { id = "b", from = "work", to = "done", when = "output.ok = false" }, { id = "c", from = "work", to = "done", when = "output.status = 'done'" }]
"#
        ),
        expect![[r#"
            3:197 error[edge-shadowed]: `c` is never taken: whenever it holds, `a` or `b` holds first
                move it before `a` or `b`, or narrow their conditions
        "#]],
    );
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "done", when = "output.score > 8", overrides = ["b"] }, { id = "b", from = "work", to = "done", when = "output.score > 5" }, { id = "c", from = "work", to = "done", when = "output.score <= 5 or $not($exists(output.score))" }]
"#
        ),
        expect![[""]],
    );
}

#[test]
fn edges_do_not_overlap_unawares() {
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "done", when = "output.status = 'blocked'" }, { id = "b", from = "work", to = "done", when = "output.ok = false" }, { id = "c", from = "work", to = "done", when = "output.ok = true" }]
"#
        ),
        expect![[r#"
            3:136 warning[edges-overlap]: `b` overlaps with `a`, which is tried first, for example with `output.ok` = false, `output.status` = "blocked"
                if `a` should win, add overrides = ["b"] to it
            3:206 warning[edges-overlap]: `c` overlaps with `a`, which is tried first, for example with `output.ok` = true, `output.status` = "blocked"
                if `a` should win, add overrides = ["c"] to it
        "#]],
    );
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "done", when = "output.status = 'blocked'", overrides = ["b", "c"] }, { id = "b", from = "work", to = "done", when = "output.ok = false" }, { id = "c", from = "work", to = "done", when = "output.ok = true" }]
"#
        ),
        expect![[""]],
    );
}

#[test]
fn some_edge_holds() {
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "done", when = "output.ok = true" }]
"#
        ),
        expect![[r#"
            1:7 warning[may-stall]: no edge may hold after `work`, for example with `output.ok` = false
                add an edge for this case, or a last one without `when` that the others list in `overrides`
        "#]],
    );
    // The schema allows null, but the node has set it.
    check(
        r#"nodes.work = { kind = "agent", role = "worker", set = { last = "{'ok': output.ok}" } }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "done", when = "last.ok = true" }, { id = "b", from = "work", to = "done", when = "last.ok = false" }]
"#,
        expect![[""]],
    );
    // What is not plain is let pass.
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "work", when = "index < $count(tasks) - 1", set = { index = "index + 1" } }, { id = "b", from = "work", to = "done", when = "index = $count(tasks) - 1" }]
"#
        ),
        expect![[""]],
    );
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "done", when = "$count(tasks) > 1" }, { id = "b", from = "work", to = "done", when = "$count(tasks) = 1" }]
"#
        ),
        expect![[r#"
            1:7 warning[may-stall]: no edge may hold after `work`, for example with `tasks` with 0 items
                add an edge for this case, or a last one without `when` that the others list in `overrides`
        "#]],
    );
}

/// Makes a workflow whose edges compare a number with 1 and so on, and then has some more.
fn many_edges(count: usize, more: &str) -> String {
    let edge = |number| {
        format!(
            "  {{ id = \"e{number}\", from = \"work\", to = \"done\", when = \"output.score = {number}\" }},\n"
        )
    };
    let edges: String = (1..=count).map(edge).collect();
    format!("{WORK}edges = [\n{edges}{more}]\n")
}

#[test]
fn many_edges_are_compared_with_each_other() {
    check(
        &many_edges(
            149,
            "  { id = \"late\", from = \"work\", to = \"done\", when = \"140 = output.score\" },\n",
        ),
        expect![[r#"
            1:7 warning[may-stall]: no edge may hold after `work`, for example with `output.score` = 0
                add an edge for this case, or a last one without `when` that the others list in `overrides`
            153:54 error[edge-shadowed]: `late` is never taken: whenever it holds, `e140` holds first
                move it before `e140`, or narrow their conditions
        "#]],
    );
    let last = "  { id = \"else\", from = \"work\", to = \"done\" },\n";
    let faults = faults_of(&folder(&many_edges(200, last), &[]));
    assert_eq!(faults.iter().filter(|fault| fault.rule == "edges-overlap").count(), 200);
    assert_eq!(faults.len(), 200);
}

#[test]
fn a_condition_that_is_there_twice_is_shadowed_whatever_it_asks() {
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [
  { id = "a", from = "work", to = "done", when = "$contains(title, 'x')" },
  { id = "b", from = "work", to = "done", when = " $contains(title, 'x')" },
  { id = "c", from = "work", to = "done" },
]
"#
        ),
        expect![[r#"
            5:51 error[edge-shadowed]: `b` is never taken: whenever it holds, `a` holds first
                move it before `a`, or narrow their conditions
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
            6:51 error[edge-never-holds]: `c` never holds after `work` (at level 2)
                compare the condition with the schema and with what the node sets
        "#]],
    );
}

#[test]
fn a_condition_that_cannot_be_evaluated_does_not_hold() {
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "done", when = "output.status > 5" }, { id = "b", from = "work", to = "done", when = "$error('boom')" }, { id = "c", from = "work", to = "done" }]
"#
        ),
        expect![[r#"
            3:58 error[edge-never-holds]: `a` never holds after `work`
                compare the condition with the schema and with what the node sets
            3:128 error[edge-never-holds]: `b` never holds after `work`
                compare the condition with the schema and with what the node sets
        "#]],
    );
    // Null is not compared with a number.
    check(
        r#"nodes.work = { kind = "agent", role = "worker", set = { limit = "output.score" } }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "done", when = "limit > 5" }, { id = "b", from = "work", to = "done", when = "limit <= 5" }]
"#,
        expect![[r#"
            1:7 warning[may-stall]: no edge may hold after `work`, for example with `limit` = null
                add an edge for this case, or a last one without `when` that the others list in `overrides`
        "#]],
    );
}

#[test]
fn a_field_is_there_only_with_its_object() {
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [
  { id = "a", from = "work", to = "done", when = "last = null" },
  { id = "b", from = "work", to = "done", when = "last.ok = true" },
  { id = "c", from = "work", to = "done", when = "last.ok = false" },
]
"#
        ),
        expect![[""]],
    );
}
