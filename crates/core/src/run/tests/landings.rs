//! What can follow when a task was merged or sent back: a question, an end, or a state that is not allowed.

use super::check;
use super::workflows::{Example, plain_state, small};
use expect_test::expect;

/// A worker whose task is put up for approval, with the rest of the edge to be filled in.
fn landing(edge: &str) -> Example {
    let toml = format!(
        r#"name = "landing"
start = "work"

[board]
items = "[{{'id': 'T'}}]"
key = "id"

[nodes.work]
kind = "agent"
role = "worker"
task = "'T'"

[nodes.ask]
kind = "approval"
question = "'What now? ' & feedback.text"

[nodes.done]
kind = "end"
result = "count"

[nodes.refused]
kind = "end"
status = "failed"
reason = "feedback.task & ' was refused: ' & feedback.text"

[[edges]]
id = "out"
from = "ask"
to = "done"

[[edges]]
id = "submit"
from = "work"
submit = "'T'"
{edge}
"#
    );
    small(&toml, &plain_state(), &[])
}

#[test]
fn a_task_that_is_sent_back_can_lead_to_an_end_or_a_question() {
    let end = landing("to = \"done\"\nset = { count = \"count + 1\" }\n[edges.rejected]\nto = \"refused\"");
    check(
        &end,
        "begin board; publish T=1; give 1",
        "back not like this; state count",
        expect![[r#"
            > back not like this
              run:sent_back 1 #1 "not like this" -> end refused
              run:failed RUN_FAILED: run 1 ended at node `refused`: T was refused: not like this
              ! release_task #1 RUN_FAILED
              = failed RUN_FAILED
            > state count
              count = 0
        "#]],
    );
    check(
        &end,
        "begin board; publish T=1; give 1",
        "land; state count",
        expect![[r#"
        > land
          run:landed 1 #1 -> end done
          run:completed 1
          = completed
        > state count
          count = 1
    "#]],
    );
    let ask = landing("to = \"done\"\n[edges.rejected]\nto = \"ask\"");
    check(
        &ask,
        "begin board; publish T=1; give 1",
        "back no; answer yes leave it; feedback",
        expect![[r#"
            > back no
              run:sent_back 1 #1 "no" -> ask ask "What now? no"
              = paused, step 2 ask T: asking "What now? no", not asked
            > answer yes leave it
              run:stepped 2 ask -[out]-> end done
              run:completed 0
              ! release_task #1
              = completed
            > feedback
              feedback = {"approved":true,"text":"leave it","task":"T"}
        "#]],
    );
}

#[test]
fn a_state_that_is_not_allowed_after_landing_fails_the_run() {
    let example = landing(
        "to = \"done\"\nset = { count = \"9\" }\n[edges.rejected]\nto = \"work\"\nset = { count = \"'a'\" }",
    );
    check(
        &example,
        "begin board; publish T=1; give 1",
        "land; state count",
        expect![[r#"
        > land
          run:failed STATE_INVALID: run 1 stopped after node `work`: the new state does not satisfy its schema: count: 9 is greater than the maximum of 3
          ! release_task #1 STATE_INVALID
          = failed STATE_INVALID
        > state count
          count = 0
    "#]],
    );
    check(
        &example,
        "begin board; publish T=1; give 1",
        "back no; state count; feedback",
        expect![[r#"
        > back no
          run:failed STATE_INVALID: run 1 stopped after node `work`: the new state does not satisfy its schema: count: "a" is not of type "integer"
          ! release_task #1 STATE_INVALID
          = failed STATE_INVALID
        > state count
          count = 0
        > feedback
          feedback = null
    "#]],
    );
    check(
        &example,
        "begin",
        "give 1; state count",
        expect![[r#"
        > give 1
          run:failed STATE_INVALID: run 1 stopped after node `work`: the new state does not satisfy its schema: count: 9 is greater than the maximum of 3
          = failed STATE_INVALID
        > state count
          count = 0
    "#]],
    );
}

#[test]
fn an_expression_that_fails_after_landing_is_named() {
    let example = landing("to = \"ask\"\nset = { note = \"'a' + 1\" }");
    check(
        &example,
        "begin board; publish T=1; give 1",
        "land",
        expect![[r#"
        > land
          run:failed EDGE_EVALUATION_FAILED: run 1 stopped after node `work`: edge `submit`: `'a' + 1` could not be evaluated: The left side of the "+" operator must evaluate to a number
          ! release_task #1 EDGE_EVALUATION_FAILED
          = failed EDGE_EVALUATION_FAILED
    "#]],
    );
}

#[test]
fn without_a_board_there_is_nobody_to_wait_for() {
    let example = landing("to = \"done\"\nset = { count = \"output\" }");
    check(
        &example,
        "",
        "begin; give 2; state count",
        expect![[r#"
        > begin
          run:created level 1, step 1: perform work T
          ! perform_node step 1
          = running, step 1 work T: performing
        > give 2
          run:stepped 1 work -[submit]-> end done
          run:completed 2
          = completed
        > state count
          count = 2
    "#]],
    );
}

#[test]
fn a_route_for_what_was_sent_back_can_give_the_task_up() {
    let on = landing("to = \"done\"\n[edges.rejected]\nto = \"ask\"\nfail = \"feedback.task\"");
    check(
        &on,
        "begin board; publish T=1; give 1",
        "back no; again; answer yes so be it",
        expect![[r#"
        > back no
          run:sent_back 1 #1 "no", fail T -> ask ask "What now? no"
          ! release_task #1 RUN_FAILED
          = paused, step 2 ask: asking "What now? no", not asked
        > again
          = nothing; paused, step 2 ask: asking "What now? no", not asked
        > answer yes so be it
          run:stepped 2 ask -[out]-> end done
          run:completed 0
          = completed
    "#]],
    );
    let end = landing("to = \"done\"\n[edges.rejected]\nto = \"refused\"\nfail = \"'T'\"");
    check(
        &end,
        "begin board; publish T=1; give 1",
        "back no",
        expect![[r#"
        > back no
          run:sent_back 1 #1 "no", fail T -> end refused
          run:failed RUN_FAILED: run 1 ended at node `refused`: T was refused: no
          ! release_task #1 RUN_FAILED
          = failed RUN_FAILED
    "#]],
    );
    let none = landing("to = \"done\"\n[edges.rejected]\nto = \"ask\"\nfail = \"feedback.nobody\"");
    check(
        &none,
        "begin board; publish T=1; give 1",
        "back no",
        expect![[r#"
        > back no
          run:sent_back 1 #1 "no" -> ask ask "What now? no"
          = paused, step 2 ask T: asking "What now? no", not asked
    "#]],
    );
    let broken = landing("to = \"done\"\n[edges.rejected]\nto = \"ask\"\nfail = \"'a' + 1\"");
    check(
        &broken,
        "begin board; publish T=1; give 1",
        "back no",
        expect![[r#"
        > back no
          run:failed EDGE_EVALUATION_FAILED: run 1 stopped after node `work`: edge `submit`: `'a' + 1` could not be evaluated: The left side of the "+" operator must evaluate to a number
          ! release_task #1 EDGE_EVALUATION_FAILED
          = failed EDGE_EVALUATION_FAILED
    "#]],
    );
}

#[test]
fn with_a_board_or_without_the_set_of_an_edge_sees_what_its_node_returned() {
    let example = landing(
        "to = \"done\"\nset = { count = \"output\", note = \"'got ' & output\" }\n[edges.rejected]\nto = \"work\"\n\
         set = { note = \"'not ' & output & ': ' & feedback.text\" }",
    );
    check(
        &example,
        "begin",
        "give 2; state count note",
        expect![[r#"
        > give 2
          run:stepped 1 work -[submit]-> end done
          run:completed 2
          = completed
        > state count note
          count = 2
          note = "got 2"
    "#]],
    );
    check(
        &example,
        "begin board; publish T=1; give 2",
        "land; state count note",
        expect![[r#"
        > land
          run:landed 1 #1 -> end done
          run:completed 2
          = completed
        > state count note
          count = 2
          note = "got 2"
    "#]],
    );
    check(
        &example,
        "begin board; publish T=1; give 2",
        "back no; state count note; give 3; land",
        expect![[r#"
            > back no
              run:sent_back 1 #1 "no" -> perform work T
              ! perform_node step 2 for #1
              = running, step 2 work T: performing
            > state count note
              count = 0
              note = "not 2: no"
            > give 3
              run:stepped 2 work -[submit]-> land T (#1)
              ! land_task step 2 #1
              = paused, step 2 work T: landing T (#1) along submit
            > land
              run:landed 2 #1 -> end done
              run:completed 3
              = completed
        "#]],
    );
}

#[test]
fn what_follows_a_landing_sees_it_too() {
    let example = landing("to = \"ask\"\n[edges.rejected]\nto = \"ask\"");
    let toml = example.workflow.folder.files()["workflow.toml"].replace("feedback.text", "output.say");
    let example = small(&toml, &plain_state(), &[]);
    check(
        &example,
        "begin board; publish T=1; give {\"say\":\"good\"}",
        "land",
        expect![[r#"
        > land
          run:landed 1 #1 -> ask ask "What now? good"
          = paused, step 2 ask: asking "What now? good", not asked
    "#]],
    );
    check(
        &example,
        "begin board; publish T=1; give {\"say\":\"good\"}",
        "back no",
        expect![[r#"
        > back no
          run:sent_back 1 #1 "no" -> ask ask "What now? good"
          = paused, step 2 ask T: asking "What now? good", not asked
    "#]],
    );
}
