//! Outcomes: what comes of a node, or of the task that it submitted, instead of a result, and what is never one.

use super::check;
use super::workflows::{Example, plain_state, small};
use expect_test::expect;

/// A worker whose task is submitted along two edges, of which one has a route of its own for a rejection.
fn example(edges: &str) -> Example {
    let toml = format!(
        r#"name = "outcomes"
start = "work"

[board]
items = "[{{'id': 'T'}}]"
key = "id"

[nodes.work]
kind = "agent"
role = "worker"
task = "'T'"
set = {{ count = "count + 1" }}

[nodes.ask]
kind = "approval"
question = "'What now? ' & note"

[nodes.done]
kind = "end"
result = "note"

[nodes.failed]
kind = "end"
status = "failed"
reason = "note"

[[edges]]
id = "submit"
from = "work"
to = "done"
when = "output = 1"
submit = "'T'"
set = {{ note = "'merged ' & $string(output)" }}

[[edges]]
id = "submit-other"
from = "work"
to = "done"
when = "output = 2"
submit = "'T'"

[edges.rejected]
to = "ask"
set = {{ note = "'route'" }}

[[edges]]
id = "asked"
from = "ask"
to = "work"

{edges}"#
    );
    small(&toml, &plain_state(), &[])
}

const ALL: &str = r#"
[[edges]]
id = "broken"
from = "work"
on = "failed"
to = "work"
when = "$outcome.class = 'crash'"
maxIterations = 1
set = { note = "$outcome.code & ' at ' & $outcome.node & ' after ' & ($exists(output) ? $string(output) : 'nothing')" }

[[edges.exhausted]]
to = "failed"
fail = "'T'"
set = { note = "$outcome.message" }

[[edges]]
id = "unclear"
from = "work"
on = "failed"
to = "ask"
when = "$outcome.class = 'invalid_output'"

[[edges]]
id = "conflict"
from = "work"
on = "conflict"
to = "work"
maxIterations = 1
set = { note = "$outcome.target & ': ' & $join($outcome.files, ' ') & ' after ' & $string(output)" }

[[edges.exhausted]]
to = "failed"
drop = "'T'"

[[edges]]
id = "empty"
from = "work"
on = "unchanged"
to = "failed"
drop = "'T'"
set = { note = "'nothing done'" }

[[edges]]
id = "refused"
from = "work"
on = "rejected"
to = "work"
set = { note = "$outcome.edge & ': ' & feedback.text" }

[[edges]]
id = "gone"
from = "work"
on = "cancelled"
to = "ask"
"#;

#[test]
fn a_session_that_failed_for_good_takes_its_edge_within_the_cap() {
    check(
        &example(ALL),
        "begin board; publish T=1",
        "fail AGENT_SESSION_FAILED crash; state count note; counts; fail AGENT_SESSION_FAILED crash",
        expect![[r#"
            > fail AGENT_SESSION_FAILED crash
              run:stepped 1 work on failed -[broken]-> perform work T
              ! perform_node step 2 for #1
              = running, step 2 work T: performing
            > state count note
              count = 0
              note = "AGENT_SESSION_FAILED at work after null"
            > counts
              taken {"broken":{"":1}}
              visits {"work":{"T":1}}
            > fail AGENT_SESSION_FAILED crash
              run:stepped 2 work on failed -[broken, used up, route 0, fail T]-> end failed
              run:failed MAX_ITERATIONS_EXCEEDED: run 1 gave up: edge `broken` reached its iteration limit: it did not work: a reason
              ! release_task #1 MAX_ITERATIONS_EXCEEDED
              = failed MAX_ITERATIONS_EXCEEDED
        "#]],
    );
    check(
        &example(ALL),
        "begin board; publish T=1",
        "fail AGENT_SESSION_FAILED timeout; resume; fail AGENT_SESSION_FAILED invalid_output; late fail IO_FAILED",
        expect![[r#"
            > fail AGENT_SESSION_FAILED timeout
              run:held 1 AGENT_SESSION_FAILED
              = paused, step 1 work T: performing, not asked, held by an error
            > resume
              run:resumed
              ! perform_node step 1 for #1
              = running, step 1 work T: performing
            > fail AGENT_SESSION_FAILED invalid_output
              run:stepped 1 work on failed -[unclear]-> ask ask "What now? "
              = paused, step 2 ask T: asking "What now? ", not asked
            > late fail IO_FAILED
              = nothing; paused, step 2 ask T: asking "What now? ", not asked
        "#]],
    );
}

#[test]
fn what_a_person_or_the_project_has_to_mend_is_never_an_outcome() {
    check(
        &example("[[edges]]\nid = \"any\"\nfrom = \"work\"\non = \"failed\"\nto = \"failed\""),
        "begin board; publish T=1",
        "fail AGENT_SESSION_FAILED; resume; fail RATE_LIMITED; resume; fail BUDGET_EXCEEDED; resume; fail IO_FAILED; resume; \
         fail AGENT_NOT_FOUND; resume; fail TASK_NO_DIFF",
        expect![[r#"
            > fail AGENT_SESSION_FAILED
              run:held 1 AGENT_SESSION_FAILED
              = paused, step 1 work T: performing, not asked, held by an error
            > resume
              run:resumed
              ! perform_node step 1 for #1
              = running, step 1 work T: performing
            > fail RATE_LIMITED
              run:held 1 RATE_LIMITED
              = paused, step 1 work T: performing, not asked, held by an error
            > resume
              run:resumed
              ! perform_node step 1 for #1
              = running, step 1 work T: performing
            > fail BUDGET_EXCEEDED
              run:held 1 BUDGET_EXCEEDED
              = paused, step 1 work T: performing, not asked, held by an error
            > resume
              run:resumed
              ! perform_node step 1 for #1
              = running, step 1 work T: performing
            > fail IO_FAILED
              run:held 1 IO_FAILED
              = paused, step 1 work T: performing, not asked, held by an error
            > resume
              run:resumed
              ! perform_node step 1 for #1
              = running, step 1 work T: performing
            > fail AGENT_NOT_FOUND
              run:held 1 AGENT_NOT_FOUND
              = paused, step 1 work T: performing, not asked, held by an error
            > resume
              run:resumed
              ! perform_node step 1 for #1
              = running, step 1 work T: performing
            > fail TASK_NO_DIFF
              run:held 1 TASK_NO_DIFF
              = paused, step 1 work T: performing, not asked, held by an error
        "#]],
    );
}

#[test]
fn a_role_that_never_fits_its_schema_has_failed() {
    let strict = r#"{ "type": "integer" }"#;
    let mut example = example(ALL);
    let mut files = example.workflow.folder.files().clone();
    files.insert("roles/worker.output.json".to_owned(), strict.to_owned());
    example.workflow = super::workflows::load(files);
    check(
        &example,
        "begin board; publish T=1; give \"a\"; give \"b\"",
        "give \"c\"",
        expect![[r#"
            > give "c"
              run:stepped 1 work on failed -[unclear]-> ask ask "What now? "
              = paused, step 2 ask T: asking "What now? ", not asked
        "#]],
    );
}

#[test]
fn a_conflict_brings_the_task_back_within_the_cap() {
    check(
        &example(ALL),
        "begin board; publish T=1; give 1",
        "late conflict a.txt; conflict a.txt,b.txt; state count note; counts; tasks; give 1; conflict a.txt",
        expect![[r#"
            > late conflict a.txt
              = nothing; paused, step 1 work T: landing T (#1) along submit
            > conflict a.txt,b.txt
              run:stepped 1 work on conflict -[conflict]-> perform work T
              ! perform_node step 2 for #1
              = running, step 2 work T: performing
            > state count note
              count = 1
              note = "main: a.txt b.txt after 1"
            > counts
              taken {"conflict":{"":1},"submit":{"":1}}
              visits {"work":{"T":1}}
            > tasks
              tasks = {"T":1}, sent back {"T":1}
            > give 1
              run:stepped 2 work -[submit]-> land T (#1)
              ! land_task step 2 #1
              = paused, step 2 work T: landing T (#1) along submit
            > conflict a.txt
              run:stepped 2 work on conflict -[conflict, used up, route 0, drop T]-> end failed
              run:failed MAX_ITERATIONS_EXCEEDED: run 1 gave up: edge `conflict` reached its iteration limit: main: a.txt b.txt after 1
              ! drop_task #1 run 1 dropped it: edge `conflict`
              = failed MAX_ITERATIONS_EXCEEDED
        "#]],
    );
}

#[test]
fn an_outcome_without_an_edge_changes_nothing() {
    check(
        &example(""),
        "begin board; publish T=1; give 1",
        "conflict a.txt",
        expect![[r#"
        > conflict a.txt
          = nothing; paused, step 1 work T: landing T (#1) along submit
    "#]],
    );
    check(
        &example(""),
        "begin board; publish T=1; give 1",
        "fail TASK_NO_DIFF; resume; fail TASK_CANCELLED; back no",
        expect![[r#"
            > fail TASK_NO_DIFF
              run:held 1 TASK_NO_DIFF
              = paused, step 1 work T: landing T (#1) along submit, not asked, held by an error
            > resume
              run:resumed
              ! land_task step 1 #1
              = paused, step 1 work T: landing T (#1) along submit
            > fail TASK_CANCELLED
              run:held 1 TASK_CANCELLED
              = paused, step 1 work T: landing T (#1) along submit, not asked, held by an error
            > back no
              run:failed RUN_FAILED: run 1 cannot continue: its task was sent back, and edge `submit` has no `rejected` route
              ! release_task #1 RUN_FAILED
              = failed RUN_FAILED
        "#]],
    );
}

#[test]
fn a_task_that_changed_nothing_is_dropped() {
    check(
        &example(ALL),
        "begin board; publish T=1; give 1",
        "fail TASK_NO_DIFF",
        expect![[r#"
        > fail TASK_NO_DIFF
          run:stepped 1 work on unchanged -[empty, drop T]-> end failed
          run:failed RUN_FAILED: run 1 ended at node `failed`: nothing done
          ! drop_task #1 run 1 dropped it: edge `empty`
          = failed RUN_FAILED
    "#]],
    );
}

#[test]
fn the_route_of_an_edge_comes_before_the_edges_of_its_node() {
    check(
        &example(ALL),
        "begin board; publish T=1; give 1",
        "back too slow; state note count; feedback; tasks; give 2; back again; state note; feedback",
        expect![[r#"
            > back too slow
              run:stepped 1 work on rejected -[refused]-> perform work T
              ! perform_node step 2 for #1
              = running, step 2 work T: performing
            > state note count
              note = "submit: too slow"
              count = 1
            > feedback
              feedback = {"approved":false,"text":"too slow","task":"T"}
            > tasks
              tasks = {"T":1}, sent back {"T":1}
            > give 2
              run:stepped 2 work -[submit-other]-> land T (#1)
              ! land_task step 2 #1
              = paused, step 2 work T: landing T (#1) along submit-other
            > back again
              run:sent_back 2 #1 "again" -> ask ask "What now? route"
              = paused, step 3 ask T: asking "What now? route", not asked
            > state note
              note = "route"
            > feedback
              feedback = {"approved":false,"text":"again","task":"T"}
        "#]],
    );
}

#[test]
fn a_cancelled_task_begins_again_where_the_workflow_says_so() {
    check(
        &example(ALL),
        "begin board; publish T=1",
        "fail TASK_CANCELLED; answer yes go on; give 1; fail TASK_CANCELLED; tasks",
        expect![[r#"
            > fail TASK_CANCELLED
              run:stepped 1 work on cancelled -[gone]-> ask ask "What now? "
              = paused, step 2 ask T: asking "What now? ", not asked
            > answer yes go on
              run:stepped 2 ask -[asked]-> perform work T
              ! perform_node step 3 for #1
              = running, step 3 work T: performing
            > give 1
              run:stepped 3 work -[submit]-> land T (#1)
              ! land_task step 3 #1
              = paused, step 3 work T: landing T (#1) along submit
            > fail TASK_CANCELLED
              run:stepped 3 work on cancelled -[gone]-> ask ask "What now? "
              = paused, step 4 ask T: asking "What now? ", not asked
            > tasks
              tasks = {"T":1}, sent back {}
        "#]],
    );
}

#[test]
fn an_outcome_while_the_run_is_held_is_kept_and_a_stop_comes_first() {
    check(
        &example(ALL),
        "begin board; publish T=1",
        "pause; fail AGENT_SESSION_FAILED crash; resume; stop; fail AGENT_SESSION_FAILED crash",
        expect![[r#"
            > pause
              run:paused
              = running, step 1 work T: performing, paused
            > fail AGENT_SESSION_FAILED crash
              run:stepped 1 work on failed -[broken]-> perform work T
              = paused, step 2 work T: performing, not asked, paused
            > resume
              run:resumed
              ! perform_node step 2 for #1
              = running, step 2 work T: performing
            > stop
              run:stopping None
              ! stop_run
              = running, step 2 work T: performing, stopping
            > fail AGENT_SESSION_FAILED crash
              run:failed RUN_STOPPED: run 1 was stopped: a person stopped it
              ! release_task #1 RUN_STOPPED
              = failed RUN_STOPPED
        "#]],
    );
}

#[test]
fn an_expression_that_fails_for_an_outcome_fails_the_run() {
    let edges = "[[edges]]\nid = \"any\"\nfrom = \"work\"\non = \"failed\"\nto = \"work\"\nwhen = \"1 + 'a'\"\n\
                 [[edges]]\nid = \"other\"\nfrom = \"work\"\non = \"conflict\"\nto = \"work\"\nset = { count = \"'a'\" }";
    check(
        &example(edges),
        "begin board; publish T=1",
        "fail AGENT_SESSION_FAILED crash",
        expect![[r#"
            > fail AGENT_SESSION_FAILED crash
              run:failed EDGE_EVALUATION_FAILED: run 1 stopped after node `work`: edge `any`: `1 + 'a'` could not be evaluated: The right side of the "+" operator must evaluate to a number
              ! release_task #1 EDGE_EVALUATION_FAILED
              = failed EDGE_EVALUATION_FAILED
        "#]],
    );
    check(
        &example(edges),
        "begin board; publish T=1; give 1",
        "conflict a.txt",
        expect![[r#"
        > conflict a.txt
          run:failed STATE_INVALID: run 1 stopped after node `work`: the new state does not satisfy its schema: count: "a" is not of type "integer"
          ! release_task #1 STATE_INVALID
          = failed STATE_INVALID
    "#]],
    );
}
