//! A child while a run above it is paused: running work ends, and nothing more is asked for.

use super::check;
use super::maps::five_parts;
use super::workflows::speckit;
use expect_test::{Expect, expect};

fn at(given: &str, when: &str, expected: Expect) {
    check(&speckit(), given, when, expected);
}

#[test]
fn what_is_under_way_ends_and_the_next_step_waits() {
    at(
        "begin child; spec T001",
        "above pause; again; coder fail; resume; above resume; again; coder pass",
        expect![[r#"
            > above pause
              run:parent_paused
              = running, step 2 coder T001: performing, paused above
            > again
              = nothing; running, step 2 coder T001: performing, paused above
            > coder fail
              run:stepped 2 coder -[coder-retry T001]-> perform coder T001
              = paused, step 3 coder T001: performing, not asked, paused above
            > resume
              refused RUN_INVALID_TRANSITION: run 1 was not resumed: run 9, which waits for it, is paused
            > above resume
              run:parent_resumed
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
fn a_child_that_begins_meanwhile_waits_before_its_first_step() {
    at(
        "",
        "begin child held; above resume; spec T001",
        expect![[r#"
        > begin child held
          run:created level 7, step 1: perform spec
          = paused, step 1 spec: performing, not asked, paused above
        > above resume
          run:parent_resumed
          ! perform_node step 1
          = running, step 1 spec: performing
        > spec T001
          run:stepped 1 spec -[spec-to-coder]-> perform coder T001
          ! perform_node step 2
          = running, step 2 coder T001: performing
    "#]],
    );
}

#[test]
fn a_question_is_answered_all_the_same() {
    at(
        "begin child; spec T001; coder blocked",
        "above pause; answer yes so; above resume",
        expect![[r#"
        > above pause
          run:parent_paused
          = paused, step 3 question T001: asking "The coder is blocked on Title T001: Which one?", not asked, paused above
        > answer yes so
          run:stepped 3 question -[question-answered]-> perform coder T001
          = paused, step 4 coder T001: performing, not asked, paused above
        > above resume
          run:parent_resumed
          ! perform_node step 4
          = running, step 4 coder T001: performing
    "#]],
    );
}

#[test]
fn a_pause_of_its_own_stays() {
    at(
        "begin child; spec T001",
        "pause; above pause; coder fail; above resume; resume",
        expect![[r#"
        > pause
          run:paused
          = running, step 2 coder T001: performing, paused
        > above pause
          run:parent_paused
          = running, step 2 coder T001: performing, paused, paused above
        > coder fail
          run:stepped 2 coder -[coder-retry T001]-> perform coder T001
          = paused, step 3 coder T001: performing, not asked, paused, paused above
        > above resume
          run:parent_resumed
          = paused, step 3 coder T001: performing, not asked, paused
        > resume
          run:resumed
          ! perform_node step 3
          = running, step 3 coder T001: performing
    "#]],
    );
    at(
        "begin child; spec T001",
        "above pause; pause; coder fail; resume; above resume",
        expect![[r#"
        > above pause
          run:parent_paused
          = running, step 2 coder T001: performing, paused above
        > pause
          run:paused
          = running, step 2 coder T001: performing, paused, paused above
        > coder fail
          run:stepped 2 coder -[coder-retry T001]-> perform coder T001
          = paused, step 3 coder T001: performing, not asked, paused, paused above
        > resume
          run:resumed
          = paused, step 3 coder T001: performing, not asked, paused above
        > above resume
          run:parent_resumed
          ! perform_node step 3
          = running, step 3 coder T001: performing
    "#]],
    );
}

#[test]
fn it_can_be_stopped() {
    at(
        "begin child; spec T001; above pause; coder fail",
        "stop; above resume",
        expect![[r#"
        > stop
          run:failed RUN_STOPPED: run 1 was stopped: a person stopped it
          ! tell_parent 9 this
          = failed RUN_STOPPED
        > above resume
          = nothing; failed RUN_STOPPED
    "#]],
    );
    at(
        "begin child; spec T001; above pause",
        "stop; stopped",
        expect![[r#"
        > stop
          run:stopping None
          ! stop_run
          = running, step 2 coder T001: performing, stopping, paused above
        > stopped
          run:failed RUN_STOPPED: run 1 was stopped: a person stopped it
          ! tell_parent 9 this
          = failed RUN_STOPPED
    "#]],
    );
}

#[test]
fn a_landed_task_waits_before_the_next_step() {
    at(
        "begin child board; spec T001,T002; publish; coder pass; review yes",
        "above pause; land; above resume",
        expect![[r#"
            > above pause
              run:parent_paused
              = paused, step 3 reviewer T001: landing T001 (#1) along next-task, paused above
            > land
              run:landed 3 #1 -> perform coder T002
              = paused, step 4 coder T002: performing, not asked, paused above
            > above resume
              run:parent_resumed
              ! perform_node step 4 for #2
              = running, step 4 coder T002: performing
        "#]],
    );
}

#[test]
fn a_map_starts_no_more_children_and_makes_no_step() {
    check(
        &five_parts(),
        "begin child; start",
        "above pause; child a fail; child b ok 1; above resume",
        expect![[r#"
            > above pause
              run:parent_paused
              = paused, step 1 all: mapping a* b* c. d. e., not asked, paused above
            > child a fail
              run:child_ended 1 a failed RUN_FAILED
              run:child_ended 1 c skipped
              run:child_ended 1 d skipped
              run:child_ended 1 e skipped
              = paused, step 1 all: mapping a- b* c/ d/ e/, not asked, paused above
            > child b ok 1
              run:child_ended 1 b completed 1
              = paused, step 1 all: mapping a- b+ c/ d/ e/, not asked, paused above
            > above resume
              run:parent_resumed
              ! start_children step 1
              = running, step 1 all: mapping a- b+ c/ d/ e/
        "#]],
    );
}
