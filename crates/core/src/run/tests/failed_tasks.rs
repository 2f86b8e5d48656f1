//! A task of `speckit` that used up its retries or its reviews: it fails, and the run ends or continues without it.

use super::check;
use super::workflows::speckit;
use expect_test::expect;

#[test]
fn a_task_that_used_up_its_retries_fails_and_ends_the_run() {
    check(
        &speckit(),
        "begin; spec T001,T002; coder fail; coder fail; coder fail",
        "coder fail; state tasks.0.status tasks.1.status metrics currentTaskIndex; counts",
        expect![[r#"
            > coder fail
              run:stepped 5 coder -[coder-retry T001, used up, route 1, fail T001]-> end failed
              run:failed MAX_ITERATIONS_EXCEEDED: run 1 gave up: edge `coder-retry` reached its iteration limit for T001: the work on Title T001 was not good enough
              = failed MAX_ITERATIONS_EXCEEDED
            > state tasks.0.status tasks.1.status metrics currentTaskIndex
              tasks.0.status = "failed"
              tasks.1.status = "pending"
              metrics = {"tasksCompleted":0,"tasksFailed":1,"totalAttempts":4,"totalReviews":0}
              currentTaskIndex = 0
            > counts
              taken {"coder-retry":{"T001":3},"spec-to-coder":{"":1}}
              visits {"coder":{"T001":4},"spec":{"":1}}
        "#]],
    );
}

#[test]
fn a_task_that_used_up_its_reviews_fails_and_ends_the_run() {
    check(
        &speckit(),
        "begin; spec T001,T002; coder pass; review no; coder pass; review no; coder pass",
        "review no; state tasks.0.status tasks.1.status metrics currentTaskIndex; counts",
        expect![[r#"
            > review no
              run:stepped 7 reviewer -[reviewer-reject T001, used up, route 1, fail T001]-> end failed
              run:failed MAX_ITERATIONS_EXCEEDED: run 1 gave up: edge `reviewer-reject` reached its iteration limit for T001: the work on Title T001 was not good enough
              = failed MAX_ITERATIONS_EXCEEDED
            > state tasks.0.status tasks.1.status metrics currentTaskIndex
              tasks.0.status = "failed"
              tasks.1.status = "pending"
              metrics = {"tasksCompleted":0,"tasksFailed":1,"totalAttempts":3,"totalReviews":3}
              currentTaskIndex = 0
            > counts
              taken {"coder-to-reviewer":{"":3},"reviewer-reject":{"T001":2},"spec-to-coder":{"":1}}
              visits {"coder":{"T001":3},"reviewer":{"T001":3},"spec":{"":1}}
        "#]],
    );
}

#[test]
fn on_task_failed_continue_goes_on_with_the_next_whose_counters_start_at_zero() {
    check(
        &speckit(),
        "begin onTaskFailed=continue; spec T001,T002,T003; coder fail; coder fail; coder fail",
        "coder fail; state tasks.0.status metrics currentTaskIndex currentAttempts coderOutput
         coder fail; coder fail; coder fail; coder pass
         review no; coder pass; review no; coder pass; review no
         state tasks.1.status metrics
         coder pass; review yes
         state tasks.2.status metrics taskAttempts; counts",
        expect![[r#"
            > coder fail
              run:stepped 5 coder -[coder-retry T001, used up, route 0, fail T001]-> perform coder T002
              ! perform_node step 6
              = running, step 6 coder T002: performing
            > state tasks.0.status metrics currentTaskIndex currentAttempts coderOutput
              tasks.0.status = "failed"
              metrics = {"tasksCompleted":0,"tasksFailed":1,"totalAttempts":4,"totalReviews":0}
              currentTaskIndex = 1
              currentAttempts = 0
              coderOutput = null
            > coder fail
              run:stepped 6 coder -[coder-retry T002]-> perform coder T002
              ! perform_node step 7
              = running, step 7 coder T002: performing
            > coder fail
              run:stepped 7 coder -[coder-retry T002]-> perform coder T002
              ! perform_node step 8
              = running, step 8 coder T002: performing
            > coder fail
              run:stepped 8 coder -[coder-retry T002]-> perform coder T002
              ! perform_node step 9
              = running, step 9 coder T002: performing
            > coder pass
              run:stepped 9 coder -[coder-to-reviewer]-> perform reviewer T002
              ! perform_node step 10
              = running, step 10 reviewer T002: performing
            > review no
              run:stepped 10 reviewer -[reviewer-reject T002]-> perform coder T002
              ! perform_node step 11
              = running, step 11 coder T002: performing
            > coder pass
              run:stepped 11 coder -[coder-to-reviewer]-> perform reviewer T002
              ! perform_node step 12
              = running, step 12 reviewer T002: performing
            > review no
              run:stepped 12 reviewer -[reviewer-reject T002]-> perform coder T002
              ! perform_node step 13
              = running, step 13 coder T002: performing
            > coder pass
              run:stepped 13 coder -[coder-to-reviewer]-> perform reviewer T002
              ! perform_node step 14
              = running, step 14 reviewer T002: performing
            > review no
              run:stepped 14 reviewer -[reviewer-reject T002, used up, route 0, fail T002]-> perform coder T003
              ! perform_node step 15
              = running, step 15 coder T003: performing
            > state tasks.1.status metrics
              tasks.1.status = "failed"
              metrics = {"tasksCompleted":0,"tasksFailed":2,"totalAttempts":10,"totalReviews":3}
            > coder pass
              run:stepped 15 coder -[coder-to-reviewer]-> perform reviewer T003
              ! perform_node step 16
              = running, step 16 reviewer T003: performing
            > review yes
              run:stepped 16 reviewer -[all-done]-> end done
              run:completed null
              = completed
            > state tasks.2.status metrics taskAttempts
              tasks.2.status = "complete"
              metrics = {"tasksCompleted":1,"tasksFailed":2,"totalAttempts":11,"totalReviews":4}
              taskAttempts = {"T001":4,"T002":6,"T003":1}
            > counts
              taken {"all-done":{"":1},"coder-retry":{"T001":3,"T002":3},"coder-to-reviewer":{"":4},"reviewer-reject":{"T002":2},"spec-to-coder":{"":1}}
              visits {"coder":{"T001":4,"T002":6,"T003":1},"reviewer":{"T002":3,"T003":1},"spec":{"":1}}
        "#]],
    );
}

#[test]
fn the_last_task_that_fails_ends_the_run_even_if_it_was_to_continue() {
    check(
        &speckit(),
        "begin onTaskFailed=continue; spec T001; coder fail; coder fail; coder fail",
        "coder fail",
        expect![[r#"
            > coder fail
              run:stepped 5 coder -[coder-retry T001, used up, route 1, fail T001]-> end failed
              run:failed MAX_ITERATIONS_EXCEEDED: run 1 gave up: edge `coder-retry` reached its iteration limit for T001: the work on Title T001 was not good enough
              = failed MAX_ITERATIONS_EXCEEDED
        "#]],
    );
}
