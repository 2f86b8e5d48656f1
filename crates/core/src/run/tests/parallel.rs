//! `parallel` nodes: results as they come, one step for all of them, and members that fail.

use super::check;
use super::script::played;
use super::workflows::{Example, plain_state, small};
use crate::run::{Inputs, decide_again};
use expect_test::expect;

fn example(edges: &str) -> Example {
    let toml = format!(
        r#"name = "together"
start = "first"

[board]
items = "[{{'id': 'T'}}, {{'id': 'U'}}]"
key = "id"

[nodes.first]
kind = "pass"

[nodes.both]
kind = "parallel"
nodes = ["left", "right", "checks"]
set = {{ note = "note & ' all ' & $string(output.left.n + output.right.n)" }}

[nodes.left]
kind = "agent"
role = "worker"
task = "'T'"
set = {{ count = "output.n", "list[+]" = "output.add", note = "'left ' & $string(output.n)" }}

[nodes.right]
kind = "agent"
role = "worker"
writes = false
set = {{ count = "count + output.n", "list[+]" = "output.add", note = "note & ' right ' & $string(count)" }}

[nodes.checks]
kind = "check"
task = "'U'"

[nodes.ask]
kind = "approval"
question = "$string(count)"

[nodes.done]
kind = "end"

[[edges]]
id = "begun"
from = "first"
to = "both"

[[edges]]
id = "joined"
from = "both"
to = "done"
when = "output.checks.passed"
set = {{ "list[+]" = "output.right.add" }}

[[edges]]
id = "asked"
from = "ask"
to = "both"

{edges}"#
    );
    let output = r#"{ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] }"#;
    small(&toml, &plain_state(), &[("roles/worker.output.json", output)])
}

const GIVEN: &str = "begin board; give null; publish T=1,U=2";

#[test]
fn each_result_is_recorded_when_it_comes_and_the_last_makes_the_step() {
    check(
        &example(""),
        "begin board; give null",
        r#"publish T=1,U=2; member right {"n": 1, "add": ["r", "s"]}; again; late member left {"n": 7}; member checks {"passed": true}; member left {"n": 1, "add": "l"}; state count note list; counts"#,
        expect![[r#"
            > publish T=1,U=2
              run:published 2 {"T":1,"U":2}
              ! perform_node step 2
              = running, step 2 both: left(T)* right* checks(U)*
            > member right {"n": 1, "add": ["r", "s"]}
              run:member_ended 2 right returned {"n":1,"add":["r","s"]}
              = running, step 2 both: left(T)* right+ checks(U)*
            > again
              = nothing; running, step 2 both: left(T)* right+ checks(U)*
            > late member left {"n": 7}
              = nothing; running, step 2 both: left(T)* right+ checks(U)*
            > member checks {"passed": true}
              run:member_ended 2 checks returned {"passed":true}
              = running, step 2 both: left(T)* right+ checks(U)+
            > member left {"n": 1, "add": "l"}
              run:member_ended 2 left returned {"n":1,"add":"l"}
              run:stepped 2 both -[joined]-> end done
              run:completed null
              ! release_task #1
              ! release_task #2
              = completed
            > state count note list
              count = 2
              note = "left 1 right 1 all 2"
              list = ["l","r","s","r","s"]
            > counts
              taken {"begun":{"":1},"joined":{"":1}}
              visits {"both":{"":1},"checks":{"U":1},"first":{"":1},"left":{"T":1},"right":{"":1}}
        "#]],
    );
}

#[test]
fn a_step_that_joins_is_decided_again_as_it_was() {
    let example = example("");
    let play = played(
        &example,
        &format!(
            r#"{GIVEN}; member right {{"n": 1}}; member checks {{"passed": true}}; member left {{"n": 1}}"#
        ),
    );
    let before = play.facts.iter().rposition(|fact| fact.event.kind() == "run:stepped").unwrap();
    let read = play.facts[..before].iter().cloned();
    let run = read.fold(None, |run, fact| crate::run::Run::evolve(run, &fact)).unwrap();
    let now = play.facts[before].at.as_millisecond();
    let again = decide_again(Inputs::new(&example.workflow, now), &run, &play.facts[before].event).unwrap();
    assert_eq!(again[0], play.facts[before].event);
}

#[test]
fn a_member_is_asked_again_alone_and_then_it_has_failed() {
    check(
        &example(""),
        GIVEN,
        r#"member left {}; member left {}; member left {}; member right {"n": 1}; member checks {"passed": true}; resume; member left {"n": 2}"#,
        expect![[r#"
            > member left {}
              run:member_ended 2 left asked 1: "n" is a required property
              = running, step 2 both: left(T)?1 right* checks(U)*
            > member left {}
              run:member_ended 2 left asked 2: "n" is a required property
              = running, step 2 both: left(T)?2 right* checks(U)*
            > member left {}
              run:member_ended 2 left failed AGENT_OUTPUT_INVALID
              = running, step 2 both: left(T)- right* checks(U)*
            > member right {"n": 1}
              run:member_ended 2 right returned {"n":1}
              = running, step 2 both: left(T)- right+ checks(U)*
            > member checks {"passed": true}
              run:member_ended 2 checks returned {"passed":true}
              run:held 2 AGENT_OUTPUT_INVALID
              = paused, step 2 both: left(T)- right+ checks(U)+, not asked, held by an error
            > resume
              run:resumed
              ! perform_node step 2
              = running, step 2 both: left(T)* right+ checks(U)+
            > member left {"n": 2}
              run:member_ended 2 left returned {"n":2}
              run:stepped 2 both -[joined]-> end done
              run:completed null
              ! release_task #1
              ! release_task #2
              = completed
        "#]],
    );
}

#[test]
fn if_one_fails_the_others_end_first_and_a_resume_performs_only_that_one() {
    check(
        &example(""),
        GIVEN,
        r#"member left fail AGENT_SESSION_FAILED crash; member right {"n": 1}; member checks fail IO_FAILED; resume; member right {"n": 9}; member checks {"passed": true}; member left {"n": 0}"#,
        expect![[r#"
            > member left fail AGENT_SESSION_FAILED crash
              run:member_ended 2 left failed AGENT_SESSION_FAILED
              = running, step 2 both: left(T)- right* checks(U)*
            > member right {"n": 1}
              run:member_ended 2 right returned {"n":1}
              = running, step 2 both: left(T)- right+ checks(U)*
            > member checks fail IO_FAILED
              run:member_ended 2 checks failed IO_FAILED
              run:held 2 IO_FAILED
              = paused, step 2 both: left(T)- right+ checks(U)-, not asked, held by an error
            > resume
              run:resumed
              ! perform_node step 2
              = running, step 2 both: left(T)* right+ checks(U)*
            > member right {"n": 9}
              = nothing; running, step 2 both: left(T)* right+ checks(U)*
            > member checks {"passed": true}
              run:member_ended 2 checks returned {"passed":true}
              = running, step 2 both: left(T)* right+ checks(U)+
            > member left {"n": 0}
              run:member_ended 2 left returned {"n":0}
              run:stepped 2 both -[joined]-> end done
              run:completed null
              ! release_task #1
              ! release_task #2
              = completed
        "#]],
    );
}

#[test]
fn an_outcome_of_a_member_is_one_of_the_node() {
    let edges = r#"
[[edges]]
id = "broken"
from = "both"
on = "failed"
to = "ask"
set = { note = "$outcome.node & ': ' & $outcome.class" }

[[edges]]
id = "gone"
from = "both"
on = "cancelled"
to = "both"
maxIterations = 1
"#;
    check(
        &example(edges),
        GIVEN,
        r#"member right fail AGENT_SESSION_FAILED crash; member left {"n": 1}; member checks {"passed": true}; state note; counts; answer yes go on; member left fail TASK_CANCELLED; member right {"n": 1}; member checks {"passed": true}"#,
        expect![[r#"
            > member right fail AGENT_SESSION_FAILED crash
              run:member_ended 2 right failed AGENT_SESSION_FAILED
              = running, step 2 both: left(T)* right- checks(U)*
            > member left {"n": 1}
              run:member_ended 2 left returned {"n":1}
              = running, step 2 both: left(T)+ right- checks(U)*
            > member checks {"passed": true}
              run:member_ended 2 checks returned {"passed":true}
              run:stepped 2 both on failed -[broken]-> ask ask "0"
              = paused, step 3 ask: asking "0", not asked
            > state note
              note = "right: crash"
            > counts
              taken {"begun":{"":1},"broken":{"":1}}
              visits {"both":{"":1},"checks":{"U":1},"first":{"":1},"left":{"T":1},"right":{"":1}}
            > answer yes go on
              run:stepped 3 ask -[asked]-> parallel both [left right checks]
              ! perform_node step 4
              = running, step 4 both: left(T)* right* checks(U)*
            > member left fail TASK_CANCELLED
              run:member_ended 4 left failed TASK_CANCELLED
              = running, step 4 both: left(T)- right* checks(U)*
            > member right {"n": 1}
              run:member_ended 4 right returned {"n":1}
              = running, step 4 both: left(T)- right+ checks(U)*
            > member checks {"passed": true}
              run:member_ended 4 checks returned {"passed":true}
              run:stepped 4 both on cancelled -[gone]-> parallel both [left right checks]
              ! perform_node step 5
              = running, step 5 both: left(T)* right* checks(U)*
        "#]],
    );
}

#[test]
fn pauses_and_stops_reach_all_members() {
    check(
        &example(""),
        GIVEN,
        r#"pause; member left {"n": 1}; off; resume; member right {"n": 1}; stop; member checks {"passed": true}; stopped"#,
        expect![[r#"
            > pause
              run:paused
              = running, step 2 both: left(T)* right* checks(U)*, paused
            > member left {"n": 1}
              run:member_ended 2 left returned {"n":1}
              = running, step 2 both: left(T)+ right* checks(U)*, paused
            > off
              run:put_off 2
              = paused, step 2 both: left(T)+ right* checks(U)*, not asked, paused
            > resume
              run:resumed
              ! perform_node step 2
              = running, step 2 both: left(T)+ right* checks(U)*
            > member right {"n": 1}
              run:member_ended 2 right returned {"n":1}
              = running, step 2 both: left(T)+ right+ checks(U)*
            > stop
              run:stopping None
              ! stop_run
              = running, step 2 both: left(T)+ right+ checks(U)*, stopping
            > member checks {"passed": true}
              = nothing; running, step 2 both: left(T)+ right+ checks(U)*, stopping
            > stopped
              run:failed RUN_STOPPED: run 1 was stopped: a person stopped it
              ! release_task #1 RUN_STOPPED
              ! release_task #2 RUN_STOPPED
              = failed RUN_STOPPED
        "#]],
    );
    check(
        &example(""),
        GIVEN,
        r#"member left {"n": 1}; member right {"n": 1}; pause; member checks {"passed": true}"#,
        expect![[r#"
            > member left {"n": 1}
              run:member_ended 2 left returned {"n":1}
              = running, step 2 both: left(T)+ right* checks(U)*
            > member right {"n": 1}
              run:member_ended 2 right returned {"n":1}
              = running, step 2 both: left(T)+ right+ checks(U)*
            > pause
              run:paused
              = running, step 2 both: left(T)+ right+ checks(U)*, paused
            > member checks {"passed": true}
              run:member_ended 2 checks returned {"passed":true}
              run:stepped 2 both -[joined]-> end done
              run:completed null
              ! release_task #1
              ! release_task #2
              = completed
        "#]],
    );
}

#[test]
fn items_that_are_not_on_the_board_fail_the_run_and_two_writers_are_refused() {
    check(
        &example(""),
        "begin board; give null",
        "publish T=1",
        expect![[r#"
        > publish T=1
          run:published 2 {"T":1}
          run:failed RUN_FAILED: run 1 cannot work on `U` at node `both`: no task on the board has that key
          ! release_task #1 RUN_FAILED
          = failed RUN_FAILED
    "#]],
    );
    let toml = r#"name = "together"
start = "both"
nodes.both = { kind = "parallel", nodes = ["a", "b"] }
nodes.a = { kind = "agent", role = "worker", task = "'T'" }
nodes.b = { kind = "agent", role = "worker", task = "'T' & ''" }
nodes.done = { kind = "end" }
edges = [{ id = "joined", from = "both", to = "done" }]
board = { items = "[{'id': 'T'}]", key = "id" }
"#;
    check(
        &small(toml, &plain_state(), &[]),
        "",
        "begin board",
        expect![[r#"
        > begin board
          refused VALIDATION_ERROR: the command is invalid: `workflow` cannot begin: node `b`: `'T' & ''` gives "T" where a task whose worktree no other member uses is needed
    "#]],
    );
}
