//! The seven levels of `speckit`: which nodes, edges and fields each uses, from the first step to the last.

use super::check;
use super::workflows::speckit;
use expect_test::{Expect, expect};

/// All that a state can show at once.
const STATE: &str = "state tasks.0.status tasks.1.status currentTaskIndex taskAttempts currentAttempts coderOutput \
                     reviewerOutput metrics";

fn at_level(level: u32, script: &str, expected: Expect) {
    check(&speckit(), "", &format!("begin level={level}; {script}; {STATE}; counts"), expected);
}

#[test]
fn levels_1_and_2_are_one_session_and_keep_nothing() {
    at_level(
        1,
        "coder fail",
        expect![[r#"
        > begin level=1
          run:created level 1, step 1: perform coder PRD
          ! perform_node step 1
          = running, step 1 coder PRD: performing
        > coder fail
          run:stepped 1 coder -[single-done]-> end done
          run:completed null
          = completed
        > state tasks.0.status tasks.1.status currentTaskIndex taskAttempts currentAttempts coderOutput reviewerOutput metrics
          tasks.0.status = null
          tasks.1.status = null
          currentTaskIndex = 0
          taskAttempts = {}
          currentAttempts = 0
          coderOutput = null
          reviewerOutput = null
          metrics = {"tasksCompleted":0,"tasksFailed":0,"totalAttempts":0,"totalReviews":0}
        > counts
          taken {"single-done":{"":1}}
          visits {"coder":{"PRD":1}}
    "#]],
    );
    at_level(
        2,
        "coder pass",
        expect![[r#"
        > begin level=2
          run:created level 2, step 1: perform coder PRD
          ! perform_node step 1
          = running, step 1 coder PRD: performing
        > coder pass
          run:stepped 1 coder -[single-done]-> end done
          run:completed null
          = completed
        > state tasks.0.status tasks.1.status currentTaskIndex taskAttempts currentAttempts coderOutput reviewerOutput metrics
          tasks.0.status = null
          tasks.1.status = null
          currentTaskIndex = 0
          taskAttempts = {}
          currentAttempts = 0
          coderOutput = null
          reviewerOutput = null
          metrics = {"tasksCompleted":0,"tasksFailed":0,"totalAttempts":0,"totalReviews":0}
        > counts
          taken {"single-done":{"":1}}
          visits {"coder":{"PRD":1}}
    "#]],
    );
}

#[test]
fn level_3_repeats_the_coder() {
    at_level(
        3,
        "coder fail; coder fail; coder fail; coder pass",
        expect![[r#"
        > begin level=3
          run:created level 3, step 1: perform coder PRD
          ! perform_node step 1
          = running, step 1 coder PRD: performing
        > coder fail
          run:stepped 1 coder -[coder-retry]-> perform coder PRD
          ! perform_node step 2
          = running, step 2 coder PRD: performing
        > coder fail
          run:stepped 2 coder -[coder-retry]-> perform coder PRD
          ! perform_node step 3
          = running, step 3 coder PRD: performing
        > coder fail
          run:stepped 3 coder -[coder-retry]-> perform coder PRD
          ! perform_node step 4
          = running, step 4 coder PRD: performing
        > coder pass
          run:stepped 4 coder -[self-validated]-> end done
          run:completed null
          = completed
        > state tasks.0.status tasks.1.status currentTaskIndex taskAttempts currentAttempts coderOutput reviewerOutput metrics
          tasks.0.status = null
          tasks.1.status = null
          currentTaskIndex = 0
          taskAttempts = {}
          currentAttempts = 4
          coderOutput = {"code":"fn main() {}","taskId":"PRD","status":"complete","selfValidation":{"passed":true,"issues":[]}}
          reviewerOutput = null
          metrics = {"tasksCompleted":0,"tasksFailed":0,"totalAttempts":0,"totalReviews":0}
        > counts
          taken {"coder-retry":{"":3},"self-validated":{"":1}}
          visits {"coder":{"PRD":4}}
    "#]],
    );
}

#[test]
fn level_3_gives_up_after_three_retries() {
    at_level(
        3,
        "coder fail; coder fail; coder fail; coder fail",
        expect![[r#"
        > begin level=3
          run:created level 3, step 1: perform coder PRD
          ! perform_node step 1
          = running, step 1 coder PRD: performing
        > coder fail
          run:stepped 1 coder -[coder-retry]-> perform coder PRD
          ! perform_node step 2
          = running, step 2 coder PRD: performing
        > coder fail
          run:stepped 2 coder -[coder-retry]-> perform coder PRD
          ! perform_node step 3
          = running, step 3 coder PRD: performing
        > coder fail
          run:stepped 3 coder -[coder-retry]-> perform coder PRD
          ! perform_node step 4
          = running, step 4 coder PRD: performing
        > coder fail
          run:stepped 4 coder -[coder-retry, used up, route 1, fail PRD]-> end failed
          run:failed MAX_ITERATIONS_EXCEEDED: run 1 gave up: edge `coder-retry` reached its iteration limit: the work on Login was not good enough
          = failed MAX_ITERATIONS_EXCEEDED
        > state tasks.0.status tasks.1.status currentTaskIndex taskAttempts currentAttempts coderOutput reviewerOutput metrics
          tasks.0.status = null
          tasks.1.status = null
          currentTaskIndex = 0
          taskAttempts = {}
          currentAttempts = 4
          coderOutput = {"code":"fn main() {}","taskId":"PRD","status":"needs_revision","selfValidation":{"passed":false,"issues":["It is wrong"]}}
          reviewerOutput = null
          metrics = {"tasksCompleted":0,"tasksFailed":0,"totalAttempts":0,"totalReviews":0}
        > counts
          taken {"coder-retry":{"":3}}
          visits {"coder":{"PRD":4}}
    "#]],
    );
}

#[test]
fn level_4_has_a_queue_and_one_review() {
    at_level(
        4,
        "spec T001,T002; coder fail; coder pass; review yes",
        expect![[r#"
        > begin level=4
          run:created level 4, step 1: perform spec
          ! perform_node step 1
          = running, step 1 spec: performing
        > spec T001,T002
          run:stepped 1 spec -[spec-to-coder]-> perform coder T001
          ! perform_node step 2
          = running, step 2 coder T001: performing
        > coder fail
          run:stepped 2 coder -[coder-retry T001]-> perform coder T001
          ! perform_node step 3
          = running, step 3 coder T001: performing
        > coder pass
          run:stepped 3 coder -[coder-to-reviewer]-> perform reviewer T001
          ! perform_node step 4
          = running, step 4 reviewer T001: performing
        > review yes
          run:stepped 4 reviewer -[reviewed]-> end done
          run:completed null
          = completed
        > state tasks.0.status tasks.1.status currentTaskIndex taskAttempts currentAttempts coderOutput reviewerOutput metrics
          tasks.0.status = "complete"
          tasks.1.status = "pending"
          currentTaskIndex = 0
          taskAttempts = {}
          currentAttempts = 2
          coderOutput = {"code":"fn main() {}","taskId":"T001","status":"complete","selfValidation":{"passed":true,"issues":[]}}
          reviewerOutput = null
          metrics = {"tasksCompleted":0,"tasksFailed":0,"totalAttempts":0,"totalReviews":0}
        > counts
          taken {"coder-retry":{"T001":1},"coder-to-reviewer":{"":1},"reviewed":{"":1},"spec-to-coder":{"":1}}
          visits {"coder":{"T001":2},"reviewer":{"T001":1},"spec":{"":1}}
    "#]],
    );
    at_level(
        4,
        "spec T001,T002; coder pass; review no",
        expect![[r#"
            > begin level=4
              run:created level 4, step 1: perform spec
              ! perform_node step 1
              = running, step 1 spec: performing
            > spec T001,T002
              run:stepped 1 spec -[spec-to-coder]-> perform coder T001
              ! perform_node step 2
              = running, step 2 coder T001: performing
            > coder pass
              run:stepped 2 coder -[coder-to-reviewer]-> perform reviewer T001
              ! perform_node step 3
              = running, step 3 reviewer T001: performing
            > review no
              run:stepped 3 reviewer -[not-approved, fail T001]-> end failed
              run:failed RUN_FAILED: run 1 ended at node `failed`: the work on Title T001 was not good enough
              = failed RUN_FAILED
            > state tasks.0.status tasks.1.status currentTaskIndex taskAttempts currentAttempts coderOutput reviewerOutput metrics
              tasks.0.status = "failed"
              tasks.1.status = "pending"
              currentTaskIndex = 0
              taskAttempts = {}
              currentAttempts = 1
              coderOutput = {"code":"fn main() {}","taskId":"T001","status":"complete","selfValidation":{"passed":true,"issues":[]}}
              reviewerOutput = null
              metrics = {"tasksCompleted":0,"tasksFailed":0,"totalAttempts":0,"totalReviews":0}
            > counts
              taken {"coder-to-reviewer":{"":1},"not-approved":{"":1},"spec-to-coder":{"":1}}
              visits {"coder":{"T001":1},"reviewer":{"T001":1},"spec":{"":1}}
        "#]],
    );
}

#[test]
fn level_5_reviews_every_task() {
    at_level(
        5,
        "spec T001,T002; coder fail; coder pass; review no; coder pass; review yes; coder pass; review yes",
        expect![[r#"
            > begin level=5
              run:created level 5, step 1: perform spec
              ! perform_node step 1
              = running, step 1 spec: performing
            > spec T001,T002
              run:stepped 1 spec -[spec-to-coder]-> perform coder T001
              ! perform_node step 2
              = running, step 2 coder T001: performing
            > coder fail
              run:stepped 2 coder -[coder-retry T001]-> perform coder T001
              ! perform_node step 3
              = running, step 3 coder T001: performing
            > coder pass
              run:stepped 3 coder -[coder-to-reviewer]-> perform reviewer T001
              ! perform_node step 4
              = running, step 4 reviewer T001: performing
            > review no
              run:stepped 4 reviewer -[reviewer-reject T001]-> perform coder T001
              ! perform_node step 5
              = running, step 5 coder T001: performing
            > coder pass
              run:stepped 5 coder -[coder-to-reviewer]-> perform reviewer T001
              ! perform_node step 6
              = running, step 6 reviewer T001: performing
            > review yes
              run:stepped 6 reviewer -[next-task]-> perform coder T002
              ! perform_node step 7
              = running, step 7 coder T002: performing
            > coder pass
              run:stepped 7 coder -[coder-to-reviewer]-> perform reviewer T002
              ! perform_node step 8
              = running, step 8 reviewer T002: performing
            > review yes
              run:stepped 8 reviewer -[all-done]-> end done
              run:completed null
              = completed
            > state tasks.0.status tasks.1.status currentTaskIndex taskAttempts currentAttempts coderOutput reviewerOutput metrics
              tasks.0.status = "complete"
              tasks.1.status = "complete"
              currentTaskIndex = 1
              taskAttempts = {"T001":3,"T002":1}
              currentAttempts = 1
              coderOutput = {"code":"fn main() {}","taskId":"T002","status":"complete","selfValidation":{"passed":true,"issues":[]}}
              reviewerOutput = {"taskId":"T002","approved":true,"issues":[],"criteriaResults":[]}
              metrics = {"tasksCompleted":0,"tasksFailed":0,"totalAttempts":0,"totalReviews":0}
            > counts
              taken {"all-done":{"":1},"coder-retry":{"T001":1},"coder-to-reviewer":{"":3},"next-task":{"":1},"reviewer-reject":{"T001":1},"spec-to-coder":{"":1}}
              visits {"coder":{"T001":3,"T002":1},"reviewer":{"T001":2,"T002":1},"spec":{"":1}}
        "#]],
    );
}

#[test]
fn level_6_counts() {
    at_level(
        6,
        "spec T001; coder fail; coder pass; review no; coder pass; review yes",
        expect![[r#"
        > begin level=6
          run:created level 6, step 1: perform spec
          ! perform_node step 1
          = running, step 1 spec: performing
        > spec T001
          run:stepped 1 spec -[spec-to-coder]-> perform coder T001
          ! perform_node step 2
          = running, step 2 coder T001: performing
        > coder fail
          run:stepped 2 coder -[coder-retry T001]-> perform coder T001
          ! perform_node step 3
          = running, step 3 coder T001: performing
        > coder pass
          run:stepped 3 coder -[coder-to-reviewer]-> perform reviewer T001
          ! perform_node step 4
          = running, step 4 reviewer T001: performing
        > review no
          run:stepped 4 reviewer -[reviewer-reject T001]-> perform coder T001
          ! perform_node step 5
          = running, step 5 coder T001: performing
        > coder pass
          run:stepped 5 coder -[coder-to-reviewer]-> perform reviewer T001
          ! perform_node step 6
          = running, step 6 reviewer T001: performing
        > review yes
          run:stepped 6 reviewer -[all-done]-> end done
          run:completed null
          = completed
        > state tasks.0.status tasks.1.status currentTaskIndex taskAttempts currentAttempts coderOutput reviewerOutput metrics
          tasks.0.status = "complete"
          tasks.1.status = null
          currentTaskIndex = 0
          taskAttempts = {"T001":3}
          currentAttempts = 3
          coderOutput = {"code":"fn main() {}","taskId":"T001","status":"complete","selfValidation":{"passed":true,"issues":[]}}
          reviewerOutput = {"taskId":"T001","approved":true,"issues":[],"criteriaResults":[]}
          metrics = {"tasksCompleted":1,"tasksFailed":0,"totalAttempts":3,"totalReviews":2}
        > counts
          taken {"all-done":{"":1},"coder-retry":{"T001":1},"coder-to-reviewer":{"":2},"reviewer-reject":{"T001":1},"spec-to-coder":{"":1}}
          visits {"coder":{"T001":3},"reviewer":{"T001":2},"spec":{"":1}}
    "#]],
    );
}

#[test]
fn level_7_is_the_default() {
    check(
        &speckit(),
        "",
        "begin; spec T001,T002; coder pass; review yes; coder pass; review yes; state metrics",
        expect![[r#"
        > begin
          run:created level 7, step 1: perform spec
          ! perform_node step 1
          = running, step 1 spec: performing
        > spec T001,T002
          run:stepped 1 spec -[spec-to-coder]-> perform coder T001
          ! perform_node step 2
          = running, step 2 coder T001: performing
        > coder pass
          run:stepped 2 coder -[coder-to-reviewer]-> perform reviewer T001
          ! perform_node step 3
          = running, step 3 reviewer T001: performing
        > review yes
          run:stepped 3 reviewer -[next-task]-> perform coder T002
          ! perform_node step 4
          = running, step 4 coder T002: performing
        > coder pass
          run:stepped 4 coder -[coder-to-reviewer]-> perform reviewer T002
          ! perform_node step 5
          = running, step 5 reviewer T002: performing
        > review yes
          run:stepped 5 reviewer -[all-done]-> end done
          run:completed null
          = completed
        > state metrics
          metrics = {"tasksCompleted":2,"tasksFailed":0,"totalAttempts":2,"totalReviews":2}
    "#]],
    );
}

#[test]
fn a_run_begins_only_with_a_level_and_an_input_that_there_are() {
    check(
        &speckit(),
        "",
        "begin level=8; begin prd=7; begin onTaskFailed=maybe; begin colour=red",
        expect![[r#"
        > begin level=8
          refused VALIDATION_ERROR: the command is invalid: `level` 8 is none of 1, 2, 3, 4, 5, 6, 7
        > begin prd=7
          refused VALIDATION_ERROR: the command is invalid: `input` prd: 7 is not of type "string"
        > begin onTaskFailed=maybe
          refused VALIDATION_ERROR: the command is invalid: `input` onTaskFailed: "maybe" is not one of ["end","continue"]
        > begin colour=red
          refused VALIDATION_ERROR: the command is invalid: `input` Additional properties are not allowed ('colour' was unexpected)
    "#]],
    );
}
