//! Pause, resume and stop in every phase, and a run that is held by an error.
//!
//! Running work is never asked for twice, and a run that is held asks for nothing.

use super::check;
use super::workflows::speckit;
use expect_test::{Expect, expect};

fn at(given: &str, when: &str, expected: Expect) {
    check(&speckit(), given, when, expected);
}

#[test]
fn what_is_under_way_goes_on_and_the_next_step_waits() {
    at(
        "begin; spec T001",
        "pause; again; coder fail; coder pass; resume; again; coder pass",
        expect![[r#"
            > pause
              run:paused
              = running, step 2 coder T001: performing, paused
            > again
              = nothing; running, step 2 coder T001: performing, paused
            > coder fail
              run:stepped 2 coder -[coder-retry T001]-> perform coder T001
              = paused, step 3 coder T001: performing, not asked, paused
            > coder pass
              = nothing; paused, step 3 coder T001: performing, not asked, paused
            > resume
              run:resumed
              ! perform_node step 3
              = running, step 3 coder T001: performing
            > again
              = nothing; running, step 3 coder T001: performing
            > coder pass
              run:stepped 3 coder -[coder-to-reviewer]-> perform reviewer T001
              ! perform_node step 4
              = running, step 4 reviewer T001: performing
        "#]],
    );
}

#[test]
fn a_step_that_nobody_has_begun_is_put_off() {
    at(
        "begin; spec T001",
        "off; pause; late off; off; again; coder pass; resume; off; coder pass",
        expect![[r#"
            > off
              = nothing; running, step 2 coder T001: performing
            > pause
              run:paused
              = running, step 2 coder T001: performing, paused
            > late off
              = nothing; running, step 2 coder T001: performing, paused
            > off
              run:put_off 2
              = paused, step 2 coder T001: performing, not asked, paused
            > again
              = nothing; paused, step 2 coder T001: performing, not asked, paused
            > coder pass
              = nothing; paused, step 2 coder T001: performing, not asked, paused
            > resume
              run:resumed
              ! perform_node step 2
              = running, step 2 coder T001: performing
            > off
              = nothing; running, step 2 coder T001: performing
            > coder pass
              run:stepped 2 coder -[coder-to-reviewer]-> perform reviewer T001
              ! perform_node step 3
              = running, step 3 reviewer T001: performing
        "#]],
    );
    at(
        "begin child; spec T001",
        "above pause; off; above resume; off",
        expect![[r#"
        > above pause
          run:parent_paused
          = running, step 2 coder T001: performing, paused above
        > off
          run:put_off 2
          = paused, step 2 coder T001: performing, not asked, paused above
        > above resume
          run:parent_resumed
          ! perform_node step 2
          = running, step 2 coder T001: performing
        > off
          = nothing; running, step 2 coder T001: performing
    "#]],
    );
    at(
        "begin; spec T001",
        "stop; off; stopped",
        expect![[r#"
        > stop
          run:stopping None
          ! stop_run
          = running, step 2 coder T001: performing, stopping
        > off
          = nothing; running, step 2 coder T001: performing, stopping
        > stopped
          run:failed RUN_STOPPED: run 1 was stopped: a person stopped it
          = failed RUN_STOPPED
    "#]],
    );
}

#[test]
fn a_node_that_can_never_be_performed_ends_the_run() {
    at(
        "begin; spec T001",
        "late cannot EDGE_EVALUATION_FAILED; cannot EDGE_EVALUATION_FAILED; again",
        expect![[r#"
            > late cannot EDGE_EVALUATION_FAILED
              = nothing; running, step 2 coder T001: performing
            > cannot EDGE_EVALUATION_FAILED
              run:failed EDGE_EVALUATION_FAILED: it did not work: a reason
              = failed EDGE_EVALUATION_FAILED
            > again
              = nothing; failed EDGE_EVALUATION_FAILED
        "#]],
    );
    at(
        "begin; spec T001; pause",
        "cannot EDGE_EVALUATION_FAILED",
        expect![[r#"
        > cannot EDGE_EVALUATION_FAILED
          run:failed EDGE_EVALUATION_FAILED: it did not work: a reason
          = failed EDGE_EVALUATION_FAILED
    "#]],
    );
    at(
        "begin; spec T001; stop",
        "cannot EDGE_EVALUATION_FAILED",
        expect![[r#"
        > cannot EDGE_EVALUATION_FAILED
          run:failed RUN_STOPPED: run 1 was stopped: a person stopped it
          = failed RUN_STOPPED
    "#]],
    );
    at(
        "begin board; spec T001",
        "cannot EDGE_EVALUATION_FAILED",
        expect![[r#"
        > cannot EDGE_EVALUATION_FAILED
          run:failed EDGE_EVALUATION_FAILED: it did not work: a reason
          = failed EDGE_EVALUATION_FAILED
    "#]],
    );
}

#[test]
fn a_run_that_is_resumed_before_the_node_returned_asks_for_nothing() {
    at(
        "begin; spec T001",
        "pause; resume; coder pass",
        expect![[r#"
        > pause
          run:paused
          = running, step 2 coder T001: performing, paused
        > resume
          run:resumed
          = running, step 2 coder T001: performing
        > coder pass
          run:stepped 2 coder -[coder-to-reviewer]-> perform reviewer T001
          ! perform_node step 3
          = running, step 3 reviewer T001: performing
    "#]],
    );
}

#[test]
fn an_output_that_is_refused_while_paused_is_asked_for_when_resumed() {
    at(
        "begin; spec T001",
        "pause; coder broken; resume; coder pass",
        expect![[r#"
        > pause
          run:paused
          = running, step 2 coder T001: performing, paused
        > coder broken
          run:output_refused 2 asked 1: "taskId" is a required property; "status" is a required property; "selfValidation" is a required property; code: 7 is not of type "string"
          = paused, step 2 coder T001: performing, asked 1, not asked, paused
        > resume
          run:resumed
          ! perform_node step 2 asked 1
          = running, step 2 coder T001: performing, asked 1
        > coder pass
          run:stepped 2 coder -[coder-to-reviewer]-> perform reviewer T001
          ! perform_node step 3
          = running, step 3 reviewer T001: performing
    "#]],
    );
}

#[test]
fn a_run_is_paused_while_its_items_are_published() {
    at(
        "begin board; spec T001",
        "pause; publish; resume; coder pass",
        expect![[r#"
        > pause
          run:paused
          = running, step 2 coder T001: publishing, paused
        > publish
          run:published 2 {"T001":1}
          = paused, step 2 coder T001: performing, not asked, paused
        > resume
          run:resumed
          ! perform_node step 2 for #1
          = running, step 2 coder T001: performing
        > coder pass
          run:stepped 2 coder -[coder-to-reviewer]-> perform reviewer T001
          ! perform_node step 3 for #1
          = running, step 3 reviewer T001: performing
    "#]],
    );
    at(
        "begin board",
        "pause; spec T001; resume; publish",
        expect![[r#"
        > pause
          run:paused
          = running, step 1 spec: performing, paused
        > spec T001
          run:stepped 1 spec -[spec-to-coder]-> perform coder T001
          = paused, step 2 coder T001: publishing, not asked, paused
        > resume
          run:resumed
          ! publish_items step 2
          = running, step 2 coder T001: publishing
        > publish
          run:published 2 {"T001":1}
          ! perform_node step 2 for #1
          = running, step 2 coder T001: performing
    "#]],
    );
}

#[test]
fn a_run_is_paused_while_a_task_is_up_for_approval() {
    at(
        "begin board; spec T001,T002; publish; coder pass; review yes",
        "pause; land; resume",
        expect![[r#"
        > pause
          run:paused
          = paused, step 3 reviewer T001: landing T001 (#1) along next-task, paused
        > land
          run:landed 3 #1 -> perform coder T002
          = paused, step 4 coder T002: performing, not asked, paused
        > resume
          run:resumed
          ! perform_node step 4 for #2
          = running, step 4 coder T002: performing
    "#]],
    );
    at(
        "begin board; spec T001,T002; publish; coder pass",
        "pause; review yes; resume; back no",
        expect![[r#"
        > pause
          run:paused
          = running, step 3 reviewer T001: performing, paused
        > review yes
          run:stepped 3 reviewer -[next-task]-> land T001 (#1)
          = paused, step 3 reviewer T001: landing T001 (#1) along next-task, not asked, paused
        > resume
          run:resumed
          ! land_task step 3 #1
          = paused, step 3 reviewer T001: landing T001 (#1) along next-task
        > back no
          run:sent_back 3 #1 "no" -> perform coder T001
          ! perform_node step 4 for #1
          = running, step 4 coder T001: performing
    "#]],
    );
}

#[test]
fn a_run_that_ends_while_it_is_paused_has_ended() {
    at(
        "begin level=1",
        "pause; coder pass; resume",
        expect![[r#"
        > pause
          run:paused
          = running, step 1 coder PRD: performing, paused
        > coder pass
          run:stepped 1 coder -[single-done]-> end done
          run:completed null
          = completed
        > resume
          refused RUN_INVALID_TRANSITION: run 1 cannot resume: it is completed
    "#]],
    );
}

#[test]
fn stopping_waits_for_what_is_under_way() {
    at(
        "begin; spec T001",
        "stop enough; again; pause; resume; stopped; again; coder pass",
        expect![[r#"
        > stop enough
          run:stopping Some("enough")
          ! stop_run
          = running, step 2 coder T001: performing, stopping
        > again
          = nothing; running, step 2 coder T001: performing, stopping
        > pause
          = nothing; running, step 2 coder T001: performing, stopping
        > resume
          refused RUN_INVALID_TRANSITION: run 1 cannot resume: it is running
        > stopped
          run:failed RUN_STOPPED: run 1 was stopped: enough
          = failed RUN_STOPPED
        > again
          = nothing; failed RUN_STOPPED
        > coder pass
          = nothing; failed RUN_STOPPED
    "#]],
    );
    at(
        "begin board; spec T001; publish",
        "stop; coder pass",
        expect![[r#"
        > stop
          run:stopping None
          ! stop_run
          = running, step 2 coder T001: performing, stopping
        > coder pass
          run:failed RUN_STOPPED: run 1 was stopped: a person stopped it
          ! release_task #1 RUN_STOPPED
          = failed RUN_STOPPED
    "#]],
    );
    at(
        "begin; spec T001",
        "pause; stop; fail AGENT_SESSION_FAILED",
        expect![[r#"
        > pause
          run:paused
          = running, step 2 coder T001: performing, paused
        > stop
          run:stopping None
          ! stop_run
          = running, step 2 coder T001: performing, stopping
        > fail AGENT_SESSION_FAILED
          run:failed RUN_STOPPED: run 1 was stopped: a person stopped it
          = failed RUN_STOPPED
    "#]],
    );
}

#[test]
fn stopping_ends_at_once_what_has_nothing_under_way() {
    at(
        "begin; spec T001; pause; coder fail",
        "stop enough",
        expect![[r#"
        > stop enough
          run:failed RUN_STOPPED: run 1 was stopped: enough
          = failed RUN_STOPPED
    "#]],
    );
    at(
        "begin board; spec T001",
        "stop; publish",
        expect![[r#"
        > stop
          run:failed RUN_STOPPED: run 1 was stopped: a person stopped it
          = failed RUN_STOPPED
        > publish
          = nothing; failed RUN_STOPPED
    "#]],
    );
    at(
        "begin; spec T001; coder blocked",
        "stop",
        expect![[r#"
        > stop
          run:failed RUN_STOPPED: run 1 was stopped: a person stopped it
          = failed RUN_STOPPED
    "#]],
    );
    at(
        "begin board; spec T001; publish; coder pass; review yes",
        "stop; land",
        expect![[r#"
        > stop
          run:failed RUN_STOPPED: run 1 was stopped: a person stopped it
          ! release_task #1 RUN_STOPPED
          = failed RUN_STOPPED
        > land
          = nothing; failed RUN_STOPPED
    "#]],
    );
    at(
        "begin; spec T001; fail AGENT_SESSION_FAILED",
        "stop",
        expect![[r#"
        > stop
          run:failed RUN_STOPPED: run 1 was stopped: a person stopped it
          = failed RUN_STOPPED
    "#]],
    );
    at(
        "begin; spec T001",
        "stopped",
        expect![[r#"
        > stopped
          = nothing; running, step 2 coder T001: performing
    "#]],
    );
}

#[test]
fn an_error_outside_holds_the_run_until_it_is_resumed() {
    at(
        "begin; spec T001; coder broken",
        "fail AGENT_SESSION_FAILED; again; coder pass; pause; resume; late fail AGENT_SESSION_FAILED; coder pass",
        expect![[r#"
            > fail AGENT_SESSION_FAILED
              run:held 2 AGENT_SESSION_FAILED
              = paused, step 2 coder T001: performing, asked 1, not asked, held by an error
            > again
              = nothing; paused, step 2 coder T001: performing, asked 1, not asked, held by an error
            > coder pass
              = nothing; paused, step 2 coder T001: performing, asked 1, not asked, held by an error
            > pause
              = nothing; paused, step 2 coder T001: performing, asked 1, not asked, held by an error
            > resume
              run:resumed
              ! perform_node step 2 asked 1
              = running, step 2 coder T001: performing, asked 1
            > late fail AGENT_SESSION_FAILED
              = nothing; running, step 2 coder T001: performing, asked 1
            > coder pass
              run:stepped 2 coder -[coder-to-reviewer]-> perform reviewer T001
              ! perform_node step 3
              = running, step 3 reviewer T001: performing
        "#]],
    );
    at(
        "begin; spec T001; pause",
        "fail AGENT_SESSION_FAILED; resume",
        expect![[r#"
        > fail AGENT_SESSION_FAILED
          run:held 2 AGENT_SESSION_FAILED
          = paused, step 2 coder T001: performing, not asked, held by an error
        > resume
          run:resumed
          ! perform_node step 2
          = running, step 2 coder T001: performing
    "#]],
    );
}

#[test]
fn a_run_that_is_over_is_told_so() {
    at(
        "begin level=1; coder pass",
        "pause; resume; stop; answer yes x; coder pass; stopped; fail IO_FAILED",
        expect![[r#"
        > pause
          refused RUN_INVALID_TRANSITION: run 1 cannot pause: it is completed
        > resume
          refused RUN_INVALID_TRANSITION: run 1 cannot resume: it is completed
        > stop
          refused RUN_INVALID_TRANSITION: run 1 cannot stop: it is completed
        > answer yes x
          refused RUN_INVALID_TRANSITION: run 1 cannot take an answer: it is completed
        > coder pass
          = nothing; completed
        > stopped
          = nothing; completed
        > fail IO_FAILED
          = nothing; completed
    "#]],
    );
}
