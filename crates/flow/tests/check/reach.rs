//! Nodes that cannot be reached, left, or brought to an end.

use expect_test::expect;

use crate::{WORK, check};

#[test]
fn every_node_is_reached_at_some_level() {
    check(
        &format!(
            "{WORK}{}",
            r#"nodes.more = { kind = "approval", question = "'Continue?'" }
edges = [{ id = "a", from = "work", to = "done" }, { id = "b", from = "more", to = "done" }]
"#
        ),
        expect![[r#"
            3:7 error[unreachable-node]: `more` cannot be reached from the start
                add an edge to it, or remove it
        "#]],
    );
    // At one level is enough.
    check(
        &format!(
            "{WORK}{}",
            r#"nodes.more = { kind = "approval", question = "'Continue?'" }
edges = [{ id = "a", from = "work", to = "done", levels = [1] }, { id = "b", from = "work", to = "more", levels = [2] }, { id = "c", from = "more", to = "done" }]
levels.1 = { default = true }
levels.2 = {}
"#
        ),
        expect![[""]],
    );
}

#[test]
fn an_end_is_not_left() {
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [{ id = "a", from = "work", to = "done" }, { id = "b", from = "done", to = "work" }]
"#
        ),
        expect![[r#"
            3:71 error[edge-leaves-end]: `b` leaves `done`, where a run ends
                remove the edge
        "#]],
    );
}

#[test]
fn every_node_can_be_left() {
    check(
        &format!(
            "{WORK}{}",
            r#"nodes.more = { kind = "approval", question = "'Continue?'" }
edges = [{ id = "a", from = "work", to = "more", when = "output.ok = true" }, { id = "b", from = "work", to = "done", when = "output.ok = false" }]
"#
        ),
        expect![[r#"
            3:7 error[dead-end]: `more` cannot be left: it has no outgoing edge and is not an end
                add an edge from it, or make its kind `end`
        "#]],
    );
    // It depends on the level.
    check(
        &format!(
            "{WORK}{}",
            r#"nodes.more = { kind = "approval", question = "'Continue?'" }
edges = [{ id = "a", from = "work", to = "more" }, { id = "b", from = "more", to = "done", levels = [1] }]
levels.1 = { default = true }
levels.2 = {}
levels.3 = {}
levels.4 = {}
"#
        ),
        expect![[r#"
            3:7 error[dead-end]: `more` cannot be left: it has no outgoing edge and is not an end (at levels 2-4)
                add an edge from it, or make its kind `end`
        "#]],
    );
}

#[test]
fn every_node_leads_to_an_end() {
    check(
        &format!(
            "{WORK}{}",
            r#"nodes.more = { kind = "approval", question = "'Continue?'" }
edges = [{ id = "a", from = "work", to = "more", when = "output.ok = true" }, { id = "b", from = "work", to = "done", when = "output.ok = false" }, { id = "c", from = "more", to = "more" }]
"#
        ),
        expect![[r#"
            3:7 error[no-way-to-end]: no path leads from `more` to an end
                add a node of kind `end` and an edge to it
        "#]],
    );
    check(
        &format!(
            "{WORK}{}",
            r#"nodes.more = { kind = "approval", question = "'Continue?'" }
edges = [{ id = "a", from = "work", to = "more" }, { id = "c", from = "more", to = "work", when = "output.approved = true" }, { id = "d", from = "more", to = "done", when = "output.approved = false" }]
"#
        ),
        expect![[""]],
    );
}
