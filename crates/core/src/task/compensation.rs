//! Every effect fails once: the task is back where it was, with the error, and nothing is half-done.

use crate::testing::check;
use expect_test::expect;

#[test]
fn a_worktree_that_is_not_made_leaves_the_task_in_the_backlog() {
    check(
        "add; assign 1 alpha",
        "fail 1; assign 1 alpha",
        expect![[r#"
        > fail 1
        [worktree:create:failed]
        #1 backlog, error WORKTREE_CREATION_FAILED
        > assign 1 alpha
        [task:assigned] -> create_worktree
        #1 in_progress/preparing, alpha starting
    "#]],
    );
}

#[test]
fn an_agent_that_does_not_start_unwinds_the_assignment() {
    check(
        "add; assign 1 alpha; ok 1",
        "fail 1; ok 1; assign 1 alpha",
        expect![[r#"
        > fail 1
        [agent:start:failed] -> remove_worktree
        #1 in_progress/unwinding, alpha error, error AGENT_START_FAILED
        > ok 1
        [worktree:salvaged, worktree:removed]
        #1 backlog, error AGENT_START_FAILED
        > assign 1 alpha
        [task:assigned] -> create_worktree
        #1 in_progress/preparing, alpha starting
    "#]],
    );
    check(
        "add; assign 1 alpha; ok 1; fail 1",
        "fail 1; cancel 1; settle 1",
        expect![[r#"
        > fail 1
        [worktree:remove:failed]
        #1 in_progress/halted, alpha error, error WORKTREE_REMOVAL_FAILED
        > cancel 1
        [agent:stopping] -> stop_agent
        #1 in_progress/stopping, alpha error
        > settle 1
        [agent:stopped, worktree:salvaged, worktree:removed, task:cancelled] -> remove_worktree
        #1 backlog
    "#]],
    );
}

#[test]
fn a_diff_that_is_not_recorded_takes_completion_back() {
    check(
        "add; assign 1 alpha; settle 1; finish 1",
        "fail 1; complete 1; settle 1",
        expect![[r#"
        > fail 1
        [approval:request:failed]
        #1 in_progress/halted, alpha error, error GIT_FAILED
        > complete 1
        [task:completed] -> record_diff
        #1 waiting_approval/recording, alpha error
        > settle 1
        [approval:requested, agent:paused] -> pause_agent
        #1 waiting_approval/ready, alpha paused
    "#]],
    );
}

#[test]
fn an_agent_that_is_not_paused_takes_completion_back() {
    check(
        "add; assign 1 alpha; settle 1; finish 1; ok 1",
        "fail 1; cancel 1; settle 1",
        expect![[r#"
        > fail 1
        [agent:pause:failed]
        #1 in_progress/halted, alpha error, error AGENT_STOP_FAILED
        > cancel 1
        [agent:stopping] -> stop_agent
        #1 in_progress/stopping, alpha error
        > settle 1
        [agent:stopped, worktree:salvaged, worktree:removed, task:cancelled] -> remove_worktree
        #1 backlog
    "#]],
    );
}

#[test]
fn a_task_whose_agent_was_not_stopped_is_resumed_with_one_session() {
    // The report: an engine on its way out left the first session to the next, which has no use for it any more.
    check(
        "add; assign 1 alpha; settle 1; cancel 1; fail 1",
        "resume 1; report 1 session_stopped 1; settle 1",
        expect![[r#"
            > resume 1
            [agent:woken] -> run_session
            #1 in_progress/starting, alpha starting, error AGENT_STOP_FAILED
            > report 1 session_stopped 1
            []
            #1 in_progress/starting, alpha starting, error AGENT_STOP_FAILED
            > settle 1
            [agent:resumed]
            #1 in_progress/running, alpha running
        "#]],
    );
}

#[test]
fn a_merge_that_fails_leaves_the_decision_open() {
    check(
        "add; assign 1 alpha; settle 1; ready 1; approve 1",
        "fail 1; approve 1; settle 1",
        expect![[r#"
            > fail 1
            [worktree:merge:failed]
            #1 waiting_approval/ready, alpha paused, error WORKTREE_MERGE_CONFLICT
            > approve 1
            [approval:approved] -> merge_branch
            #1 waiting_approval/merging, alpha paused
            > settle 1
            [worktree:merged, task:approved, worktree:removed] -> remove_worktree
            #1 verified/cleanupdone
        "#]],
    );
    check(
        "add; assign 1 alpha; settle 1; ready 1; approve 1; fail 1",
        "reject 1 rebase; settle 1",
        expect![[r#"
            > reject 1 rebase
            [approval:rejected, task:rejected] -> run_session
            #1 in_progress/starting, alpha starting, rejected 1
            > settle 1
            [agent:resumed]
            #1 in_progress/running, alpha running, rejected 1
        "#]],
    );
}

#[test]
fn an_agent_that_does_not_resume_leaves_the_decision_open() {
    check(
        "add; assign 1 alpha; settle 1; ready 1; reject 1 no",
        "fail 1; reject 1 again; settle 1",
        expect![[r#"
            > fail 1
            [agent:resume:failed]
            #1 waiting_approval/ready, alpha paused, error AGENT_START_FAILED
            > reject 1 again
            [approval:rejected, task:rejected] -> run_session
            #1 in_progress/starting, alpha starting, rejected 1
            > settle 1
            [agent:resumed]
            #1 in_progress/running, alpha running, rejected 1
        "#]],
    );
}

#[test]
fn an_agent_that_is_not_stopped_keeps_the_task_from_being_cancelled() {
    check(
        "add; assign 1 alpha; settle 1; cancel 1",
        "fail 1; cancel 1; settle 1",
        expect![[r#"
        > fail 1
        [agent:stop:failed]
        #1 in_progress/halted, alpha error, error AGENT_STOP_FAILED
        > cancel 1
        [agent:stopping] -> stop_agent
        #1 in_progress/stopping, alpha error
        > settle 1
        [agent:stopped, worktree:salvaged, worktree:removed, task:cancelled] -> remove_worktree
        #1 backlog
    "#]],
    );
    check(
        "add; assign 1 alpha; ok 1; cancel 1",
        "ok 1; fail 1",
        expect![[r#"
        > ok 1
        []
        #1 in_progress/stopping, alpha starting
        > fail 1
        [agent:stop:failed]
        #1 in_progress/halted, alpha error, error AGENT_STOP_FAILED
    "#]],
    );
    check(
        "add; assign 1 alpha; settle 1; ready 1; cancel 1",
        "fail 1; approve 1",
        expect![[r#"
        > fail 1
        [agent:stop:failed]
        #1 waiting_approval/ready, alpha paused, error AGENT_STOP_FAILED
        > approve 1
        [approval:approved] -> merge_branch
        #1 waiting_approval/merging, alpha paused
    "#]],
    );
    check(
        "add; assign 1 alpha; settle 1; finish 1; cancel 1; ok 1",
        "fail 1; complete 1",
        expect![[r#"
        > fail 1
        [agent:stop:failed]
        #1 in_progress/halted, alpha error, error AGENT_STOP_FAILED
        > complete 1
        [task:completed] -> record_diff
        #1 waiting_approval/recording, alpha error
    "#]],
    );
}

#[test]
fn a_worktree_that_is_not_removed_keeps_the_task_from_being_cancelled() {
    check(
        "add; assign 1 alpha; settle 1; cancel 1; ok 1",
        "fail 1; cancel 1; settle 1",
        expect![[r#"
        > fail 1
        [worktree:remove:failed]
        #1 in_progress/halted, alpha error, error WORKTREE_REMOVAL_FAILED
        > cancel 1
        [agent:stopping] -> stop_agent
        #1 in_progress/stopping, alpha error
        > settle 1
        [agent:stopped, worktree:salvaged, worktree:removed, task:cancelled] -> remove_worktree
        #1 backlog
    "#]],
    );
    check(
        "add; assign 1 alpha; settle 1; ready 1; cancel 1; ok 1",
        "fail 1; reject 1 no; settle 1",
        expect![[r#"
            > fail 1
            [worktree:remove:failed]
            #1 waiting_approval/ready, alpha paused, error WORKTREE_REMOVAL_FAILED
            > reject 1 no
            [approval:rejected, task:rejected] -> run_session
            #1 in_progress/starting, alpha starting, rejected 1
            > settle 1
            [agent:resumed]
            #1 in_progress/running, alpha running, rejected 1
        "#]],
    );
}

#[test]
fn a_merged_task_is_verified_even_if_its_worktree_stays() {
    check(
        "add; assign 1 alpha; settle 1; ready 1; approve 1; ok 1",
        "fail 1; report 1 worktree_not_removed; report 1 worktree_removed; report 1 worktree_removed",
        expect![[r#"
            > fail 1
            [worktree:remove:failed]
            #1 verified/cleanupfailed, error WORKTREE_REMOVAL_FAILED
            > report 1 worktree_not_removed
            []
            #1 verified/cleanupfailed, error WORKTREE_REMOVAL_FAILED
            > report 1 worktree_removed
            [worktree:removed]
            #1 verified/cleanupdone
            > report 1 worktree_removed
            []
            #1 verified/cleanupdone
        "#]],
    );
}
