//! Items on the board: published before they are worked on, put up for approval, merged, sent back, given up.

use super::check;
use super::workflows::{Example, plain_state, small, speckit};
use expect_test::expect;

#[test]
fn with_a_board_the_items_are_published_and_each_is_landed() {
    check(
        &speckit(),
        "",
        "begin board; spec T001,T002; publish; tasks; coder pass; review yes
         state currentTaskIndex tasks.0.status metrics.tasksCompleted
         land; state currentTaskIndex currentAttempts coderOutput
         coder pass; review yes; land",
        expect![[r#"
            > begin board
              run:created level 7, step 1: perform spec
              ! perform_node step 1
              = running, step 1 spec: performing
            > spec T001,T002
              run:stepped 1 spec -[spec-to-coder]-> perform coder T001
              ! publish_items step 2
              = running, step 2 coder T001: publishing
            > publish
              run:published 2 {"T001":1,"T002":2}
              ! perform_node step 2 for #1
              = running, step 2 coder T001: performing
            > tasks
              tasks = {"T001":1,"T002":2}, sent back {}
            > coder pass
              run:stepped 2 coder -[coder-to-reviewer]-> perform reviewer T001
              ! perform_node step 3 for #1
              = running, step 3 reviewer T001: performing
            > review yes
              run:stepped 3 reviewer -[next-task]-> land T001 (#1)
              ! land_task step 3 #1
              = paused, step 3 reviewer T001: landing T001 (#1) along next-task
            > state currentTaskIndex tasks.0.status metrics.tasksCompleted
              currentTaskIndex = 0
              tasks.0.status = "complete"
              metrics.tasksCompleted = 1
            > land
              run:landed 3 #1 -> perform coder T002
              ! perform_node step 4 for #2
              = running, step 4 coder T002: performing
            > state currentTaskIndex currentAttempts coderOutput
              currentTaskIndex = 1
              currentAttempts = 0
              coderOutput = null
            > coder pass
              run:stepped 4 coder -[coder-to-reviewer]-> perform reviewer T002
              ! perform_node step 5 for #2
              = running, step 5 reviewer T002: performing
            > review yes
              run:stepped 5 reviewer -[all-done]-> land T002 (#2)
              ! land_task step 5 #2
              = paused, step 5 reviewer T002: landing T002 (#2) along all-done
            > land
              run:landed 5 #2 -> end done
              run:completed null
              = completed
        "#]],
    );
}

#[test]
fn without_a_queue_the_document_is_the_task() {
    check(
        &speckit(),
        "",
        "begin board level=1; publish; coder pass; land",
        expect![[r#"
        > begin board level=1
          run:created level 1, step 1: perform coder PRD
          ! publish_items step 1
          = running, step 1 coder PRD: publishing
        > publish
          run:published 1 {"PRD":1}
          ! perform_node step 1 for #1
          = running, step 1 coder PRD: performing
        > coder pass
          run:stepped 1 coder -[single-done]-> land PRD (#1)
          ! land_task step 1 #1
          = paused, step 1 coder PRD: landing PRD (#1) along single-done
        > land
          run:landed 1 #1 -> end done
          run:completed null
          = completed
    "#]],
    );
    check(
        &speckit(),
        "begin board level=3; publish",
        "coder fail; coder pass; land",
        expect![[r#"
        > coder fail
          run:stepped 1 coder -[coder-retry]-> perform coder PRD
          ! perform_node step 2 for #1
          = running, step 2 coder PRD: performing
        > coder pass
          run:stepped 2 coder -[self-validated]-> land PRD (#1)
          ! land_task step 2 #1
          = paused, step 2 coder PRD: landing PRD (#1) along self-validated
        > land
          run:landed 2 #1 -> end done
          run:completed null
          = completed
    "#]],
    );
    check(
        &speckit(),
        "begin board level=4; spec T001,T002; publish; coder pass",
        "review yes; land",
        expect![[r#"
        > review yes
          run:stepped 3 reviewer -[reviewed]-> land T001 (#1)
          ! land_task step 3 #1
          = paused, step 3 reviewer T001: landing T001 (#1) along reviewed
        > land
          run:landed 3 #1 -> end done
          run:completed null
          = completed
    "#]],
    );
}

#[test]
fn a_task_that_is_sent_back_goes_to_the_coder_with_the_feedback() {
    check(
        &speckit(),
        "begin board; spec T001,T002; publish; coder pass; review yes",
        "state tasks.0.status metrics.tasksCompleted
         back too slow; feedback; tasks; state tasks.0.status metrics.tasksCompleted currentTaskIndex
         coder pass; review yes; back still too slow; tasks
         coder pass; review yes; land; feedback; counts",
        expect![[r#"
            > state tasks.0.status metrics.tasksCompleted
              tasks.0.status = "complete"
              metrics.tasksCompleted = 1
            > back too slow
              run:sent_back 3 #1 "too slow" -> perform coder T001
              ! perform_node step 4 for #1
              = running, step 4 coder T001: performing
            > feedback
              feedback = {"approved":false,"text":"too slow","task":"T001"}
            > tasks
              tasks = {"T001":1,"T002":2}, sent back {"T001":1}
            > state tasks.0.status metrics.tasksCompleted currentTaskIndex
              tasks.0.status = "in_progress"
              metrics.tasksCompleted = 0
              currentTaskIndex = 0
            > coder pass
              run:stepped 4 coder -[coder-to-reviewer]-> perform reviewer T001
              ! perform_node step 5 for #1
              = running, step 5 reviewer T001: performing
            > review yes
              run:stepped 5 reviewer -[next-task]-> land T001 (#1)
              ! land_task step 5 #1
              = paused, step 5 reviewer T001: landing T001 (#1) along next-task
            > back still too slow
              run:sent_back 5 #1 "still too slow" -> perform coder T001
              ! perform_node step 6 for #1
              = running, step 6 coder T001: performing
            > tasks
              tasks = {"T001":1,"T002":2}, sent back {"T001":2}
            > coder pass
              run:stepped 6 coder -[coder-to-reviewer]-> perform reviewer T001
              ! perform_node step 7 for #1
              = running, step 7 reviewer T001: performing
            > review yes
              run:stepped 7 reviewer -[next-task]-> land T001 (#1)
              ! land_task step 7 #1
              = paused, step 7 reviewer T001: landing T001 (#1) along next-task
            > land
              run:landed 7 #1 -> perform coder T002
              ! perform_node step 8 for #2
              = running, step 8 coder T002: performing
            > feedback
              feedback = null
            > counts
              taken {"coder-to-reviewer":{"":3},"next-task":{"":3},"spec-to-coder":{"":1}}
              visits {"coder":{"T001":3},"reviewer":{"T001":3},"spec":{"":1}}
        "#]],
    );
}

#[test]
fn the_last_task_can_be_sent_back_too() {
    check(
        &speckit(),
        "begin board; spec T001; publish; coder pass; review yes",
        "back no; state tasks.0.status metrics; coder pass; review yes; land; state metrics",
        expect![[r#"
            > back no
              run:sent_back 3 #1 "no" -> perform coder T001
              ! perform_node step 4 for #1
              = running, step 4 coder T001: performing
            > state tasks.0.status metrics
              tasks.0.status = "in_progress"
              metrics = {"tasksCompleted":0,"tasksFailed":0,"totalAttempts":1,"totalReviews":1}
            > coder pass
              run:stepped 4 coder -[coder-to-reviewer]-> perform reviewer T001
              ! perform_node step 5 for #1
              = running, step 5 reviewer T001: performing
            > review yes
              run:stepped 5 reviewer -[all-done]-> land T001 (#1)
              ! land_task step 5 #1
              = paused, step 5 reviewer T001: landing T001 (#1) along all-done
            > land
              run:landed 5 #1 -> end done
              run:completed null
              = completed
            > state metrics
              metrics = {"tasksCompleted":1,"tasksFailed":0,"totalAttempts":2,"totalReviews":2}
        "#]],
    );
}

#[test]
fn at_every_level_a_task_that_is_sent_back_goes_to_the_coder() {
    check(
        &speckit(),
        "begin board level=1; publish; coder pass",
        "back no title; feedback; coder pass; land",
        expect![[r#"
            > back no title
              run:sent_back 1 #1 "no title" -> perform coder PRD
              ! perform_node step 2 for #1
              = running, step 2 coder PRD: performing
            > feedback
              feedback = {"approved":false,"text":"no title","task":"PRD"}
            > coder pass
              run:stepped 2 coder -[single-done]-> land PRD (#1)
              ! land_task step 2 #1
              = paused, step 2 coder PRD: landing PRD (#1) along single-done
            > land
              run:landed 2 #1 -> end done
              run:completed null
              = completed
        "#]],
    );
    check(
        &speckit(),
        "begin board level=3; publish; coder fail; coder pass",
        "back no title; feedback; state currentAttempts; coder fail; coder pass; land",
        expect![[r#"
            > back no title
              run:sent_back 2 #1 "no title" -> perform coder PRD
              ! perform_node step 3 for #1
              = running, step 3 coder PRD: performing
            > feedback
              feedback = {"approved":false,"text":"no title","task":"PRD"}
            > state currentAttempts
              currentAttempts = 2
            > coder fail
              run:stepped 3 coder -[coder-retry]-> perform coder PRD
              ! perform_node step 4 for #1
              = running, step 4 coder PRD: performing
            > coder pass
              run:stepped 4 coder -[self-validated]-> land PRD (#1)
              ! land_task step 4 #1
              = paused, step 4 coder PRD: landing PRD (#1) along self-validated
            > land
              run:landed 4 #1 -> end done
              run:completed null
              = completed
        "#]],
    );
    check(
        &speckit(),
        "begin board level=4; spec T001,T002; publish; coder pass; review yes",
        "state tasks.0.status; back no title; feedback; state tasks.0.status metrics; coder pass; review yes; land
         state tasks.0.status",
        expect![[r#"
            > state tasks.0.status
              tasks.0.status = "complete"
            > back no title
              run:sent_back 3 #1 "no title" -> perform coder T001
              ! perform_node step 4 for #1
              = running, step 4 coder T001: performing
            > feedback
              feedback = {"approved":false,"text":"no title","task":"T001"}
            > state tasks.0.status metrics
              tasks.0.status = "in_progress"
              metrics = {"tasksCompleted":0,"tasksFailed":0,"totalAttempts":0,"totalReviews":0}
            > coder pass
              run:stepped 4 coder -[coder-to-reviewer]-> perform reviewer T001
              ! perform_node step 5 for #1
              = running, step 5 reviewer T001: performing
            > review yes
              run:stepped 5 reviewer -[reviewed]-> land T001 (#1)
              ! land_task step 5 #1
              = paused, step 5 reviewer T001: landing T001 (#1) along reviewed
            > land
              run:landed 5 #1 -> end done
              run:completed null
              = completed
            > state tasks.0.status
              tasks.0.status = "complete"
        "#]],
    );
}

#[test]
fn an_edge_without_a_way_back_fails_the_run() {
    let with_a_way = on_board("'T'", "'T'");
    let toml =
        with_a_way.workflow.folder.files()["workflow.toml"].replace(", rejected = { to = \"work\" }", "");
    check(
        &small(&toml, &plain_state(), &[]),
        "begin board; publish T=1; give 1",
        "back no",
        expect![[r#"
        > back no
          run:failed RUN_FAILED: run 1 cannot continue: its task was sent back, and edge `out` has no `rejected` route
          ! release_task #1 RUN_FAILED
          = failed RUN_FAILED
    "#]],
    );
}

#[test]
fn a_task_that_is_given_up_is_released_and_the_run_ends() {
    check(
        &speckit(),
        "begin board; spec T001,T002; publish; coder fail; coder fail; coder fail",
        "coder fail",
        expect![[r#"
            > coder fail
              run:stepped 5 coder -[coder-retry T001, used up, route 1, fail T001]-> end failed
              run:failed MAX_ITERATIONS_EXCEEDED: run 1 gave up: edge `coder-retry` reached its iteration limit for T001: the work on Title T001 was not good enough
              ! release_task #1 MAX_ITERATIONS_EXCEEDED
              = failed MAX_ITERATIONS_EXCEEDED
        "#]],
    );
    check(
        &speckit(),
        "begin board level=4; spec T001; publish; coder pass",
        "review no",
        expect![[r#"
        > review no
          run:stepped 3 reviewer -[not-approved, fail T001]-> end failed
          run:failed RUN_FAILED: run 1 ended at node `failed`: the work on Title T001 was not good enough
          ! release_task #1 RUN_FAILED
          = failed RUN_FAILED
    "#]],
    );
}

#[test]
fn a_task_that_is_given_up_is_released_and_the_run_goes_on() {
    check(
        &speckit(),
        "begin board onTaskFailed=continue; spec T001,T002; publish; coder fail; coder fail; coder fail",
        "coder fail; coder pass; review yes; land",
        expect![[r#"
            > coder fail
              run:stepped 5 coder -[coder-retry T001, used up, route 0, fail T001]-> perform coder T002
              ! release_task #1 MAX_ITERATIONS_EXCEEDED
              ! perform_node step 6 for #2
              = running, step 6 coder T002: performing
            > coder pass
              run:stepped 6 coder -[coder-to-reviewer]-> perform reviewer T002
              ! perform_node step 7 for #2
              = running, step 7 reviewer T002: performing
            > review yes
              run:stepped 7 reviewer -[all-done]-> land T002 (#2)
              ! land_task step 7 #2
              = paused, step 7 reviewer T002: landing T002 (#2) along all-done
            > land
              run:landed 7 #2 -> end done
              run:completed null
              = completed
        "#]],
    );
}

#[test]
fn what_is_not_on_the_board_cannot_be_put_up_for_approval() {
    let example = on_board("'T'", "'other'");
    check(
        &example,
        "begin board; publish T=4",
        "give 1",
        expect![[r#"
        > give 1
          run:failed RUN_FAILED: run 1 cannot submit `other` for approval: no task on the board has that key
          ! release_task #4 RUN_FAILED
          = failed RUN_FAILED
    "#]],
    );
}

#[test]
fn a_node_whose_task_is_not_on_the_board_fails_the_run() {
    let example = on_board("'T' & input.number", "'T'");
    check(
        &example,
        "",
        "begin board number=9; pause; publish T=4; tasks; again",
        expect![[r#"
        > begin board number=9
          run:created level 1, step 1: perform work T9
          ! publish_items step 1
          = running, step 1 work T9: publishing
        > pause
          run:paused
          = running, step 1 work T9: publishing, paused
        > publish T=4
          run:published 1 {"T":4}
          run:failed RUN_FAILED: run 1 cannot work on `T9` at node `work`: no task on the board has that key
          = failed RUN_FAILED
        > tasks
          tasks = {"T":4}, sent back {}
        > again
          = nothing; failed RUN_FAILED
    "#]],
    );
    check(
        &example,
        "",
        "begin number=9; give 1",
        expect![[r#"
        > begin number=9
          run:created level 1, step 1: perform work T9
          ! perform_node step 1
          = running, step 1 work T9: performing
        > give 1
          run:stepped 1 work -[out]-> end done
          run:completed null
          = completed
    "#]],
    );
    let nothing = on_board("input.task", "'T'");
    check(
        &nothing,
        "",
        "begin board; give 1",
        expect![[r#"
        > begin board
          run:created level 1, step 1: perform work
          ! perform_node step 1
          = running, step 1 work: performing
        > give 1
          run:failed RUN_FAILED: run 1 cannot submit `T` for approval: no task on the board has that key
          = failed RUN_FAILED
    "#]],
    );
}

/// The role that returned them is asked again: nobody else could fix them.
#[test]
fn items_that_cannot_be_tasks_are_an_output_that_does_not_fit() {
    let long = "x".repeat(201);
    let titled = |title: &str| {
        let mut output = super::script::spec_output("T001");
        output["tasks"][0]["title"] = title.into();
        output
    };
    check(
        &speckit(),
        "begin board",
        &format!("spec T001,T001; give {}; give {}", titled(&long), titled(" ")),
        expect![[r#"
            > spec T001,T001
              run:output_refused 1 asked 1: two items have the key `T001`
              ! perform_node step 1 asked 1
              = running, step 1 spec: performing, asked 1
            > give {"tasks":[{"id":"T001","title":"xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx","description":"Text","priority":1,"complexity":"simple","acceptanceCriteria":["It works"],"status":"pending"}],"summary":{"totalTasks":1,"byPriority":{"1":1},"estimatedComplexity":"hours"}}
              run:output_refused 1 asked 2: item `T001`: `title` must have 1 to 200 characters, not 201
              ! perform_node step 1 asked 2
              = running, step 1 spec: performing, asked 2
            > give {"tasks":[{"id":"T001","title":" ","description":"Text","priority":1,"complexity":"simple","acceptanceCriteria":["It works"],"status":"pending"}],"summary":{"totalTasks":1,"byPriority":{"1":1},"estimatedComplexity":"hours"}}
              run:failed AGENT_OUTPUT_INVALID: run 1 has no usable answer at node `spec`: the role was asked again and still returned: item `T001`: `title` must have 1 to 200 characters, not 0
              = failed AGENT_OUTPUT_INVALID
        "#]],
    );
    check(
        &speckit(),
        "begin",
        "spec T001,T001",
        expect![[r#"
            > spec T001,T001
              run:output_refused 1 asked 1: two items have the key `T001`
              ! perform_node step 1 asked 1
              = running, step 1 spec: performing, asked 1
        "#]],
    );
    check(
        &speckit(),
        "",
        &format!("begin board level=1 title={long}; begin level=1 title={long}"),
        expect![[r#"
            > begin board level=1 title=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
              refused VALIDATION_ERROR: the command is invalid: `workflow` cannot begin: item `PRD`: `title` must have 1 to 200 characters, not 201
            > begin level=1 title=xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx
              run:created level 1, step 1: perform coder PRD
              ! perform_node step 1
              = running, step 1 coder PRD: performing
        "#]],
    );
}

#[test]
fn an_item_that_is_on_the_board_already_is_found() {
    let example = on_board("'T'", "'T'");
    check(
        &example,
        "begin board; publish T=4; give 1; back no",
        "give 2",
        expect![[r#"
        > give 2
          run:stepped 2 work -[out]-> land T (#4)
          ! land_task step 2 #4
          = paused, step 2 work T: landing T (#4) along out
    "#]],
    );
}

/// A worker on one task, which is then put up for approval.
fn on_board(task: &str, submit: &str) -> Example {
    let toml = format!(
        r#"name = "one"
start = "work"
board = {{ items = "[{{'id': 'T'}}]", key = "id" }}
nodes.work = {{ kind = "agent", role = "worker", task = "{task}" }}
nodes.done = {{ kind = "end" }}
edges = [{{ id = "out", from = "work", to = "done", submit = "{submit}", rejected = {{ to = "work" }} }}]
"#
    );
    small(&toml, &plain_state(), &[])
}

#[test]
fn a_failure_while_a_task_is_worked_on_releases_it() {
    check(
        &speckit(),
        "begin board; spec T001; publish; coder broken; coder broken",
        "coder broken",
        expect![[r#"
            > coder broken
              run:failed AGENT_OUTPUT_INVALID: run 1 has no usable answer at node `coder`: the role was asked again and still returned: "taskId" is a required property; "status" is a required property; "selfValidation" is a required property; code: 7 is not of type "string"
              ! release_task #1 AGENT_OUTPUT_INVALID
              = failed AGENT_OUTPUT_INVALID
        "#]],
    );
}

#[test]
fn reports_that_come_twice_or_too_late_change_nothing() {
    check(
        &speckit(),
        "begin board; spec T001,T002",
        "late publish; publish; again; late land; coder pass; again; late coder fail; land
         review yes; again; late land; late back no; land; again; publish",
        expect![[r#"
            > late publish
              = nothing; running, step 2 coder T001: publishing
            > publish
              run:published 2 {"T001":1,"T002":2}
              ! perform_node step 2 for #1
              = running, step 2 coder T001: performing
            > again
              = nothing; running, step 2 coder T001: performing
            > late land
              = nothing; running, step 2 coder T001: performing
            > coder pass
              run:stepped 2 coder -[coder-to-reviewer]-> perform reviewer T001
              ! perform_node step 3 for #1
              = running, step 3 reviewer T001: performing
            > again
              = nothing; running, step 3 reviewer T001: performing
            > late coder fail
              = nothing; running, step 3 reviewer T001: performing
            > land
              = nothing; running, step 3 reviewer T001: performing
            > review yes
              run:stepped 3 reviewer -[next-task]-> land T001 (#1)
              ! land_task step 3 #1
              = paused, step 3 reviewer T001: landing T001 (#1) along next-task
            > again
              = nothing; paused, step 3 reviewer T001: landing T001 (#1) along next-task
            > late land
              = nothing; paused, step 3 reviewer T001: landing T001 (#1) along next-task
            > late back no
              = nothing; paused, step 3 reviewer T001: landing T001 (#1) along next-task
            > land
              run:landed 3 #1 -> perform coder T002
              ! perform_node step 4 for #2
              = running, step 4 coder T002: performing
            > again
              = nothing; running, step 4 coder T002: performing
            > publish
              = nothing; running, step 4 coder T002: performing
        "#]],
    );
}

#[test]
fn publishing_and_landing_can_fail_and_are_tried_again() {
    check(
        &speckit(),
        "begin board; spec T001",
        "fail STORE_FAILED; publish; resume; fail STORE_FAILED; again; resume; publish
         coder pass; review yes; fail TASK_CANCELLED; resume; land",
        expect![[r#"
            > fail STORE_FAILED
              run:held 2 STORE_FAILED
              = paused, step 2 coder T001: publishing, not asked, held by an error
            > publish
              = nothing; paused, step 2 coder T001: publishing, not asked, held by an error
            > resume
              run:resumed
              ! publish_items step 2
              = running, step 2 coder T001: publishing
            > fail STORE_FAILED
              run:held 2 STORE_FAILED
              = paused, step 2 coder T001: publishing, not asked, held by an error
            > again
              = nothing; paused, step 2 coder T001: publishing, not asked, held by an error
            > resume
              run:resumed
              ! publish_items step 2
              = running, step 2 coder T001: publishing
            > publish
              run:published 2 {"T001":1}
              ! perform_node step 2 for #1
              = running, step 2 coder T001: performing
            > coder pass
              run:stepped 2 coder -[coder-to-reviewer]-> perform reviewer T001
              ! perform_node step 3 for #1
              = running, step 3 reviewer T001: performing
            > review yes
              run:stepped 3 reviewer -[all-done]-> land T001 (#1)
              ! land_task step 3 #1
              = paused, step 3 reviewer T001: landing T001 (#1) along all-done
            > fail TASK_CANCELLED
              run:held 3 TASK_CANCELLED
              = paused, step 3 reviewer T001: landing T001 (#1) along all-done, not asked, held by an error
            > resume
              run:resumed
              ! land_task step 3 #1
              = paused, step 3 reviewer T001: landing T001 (#1) along all-done
            > land
              run:landed 3 #1 -> end done
              run:completed null
              = completed
        "#]],
    );
}
