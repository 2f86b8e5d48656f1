//! The project's checks: what they said of a diff before it is decided on.
//!
//! Agents claim, the engine checks. The evidence stands beside the claims, and a policy does not pass over it.

use super::{Evidence, Task};
use crate::{CommitId, Event};

/// Returns the fact of checks that were run. What they mean for an approval says `whole`.
pub(super) fn checked(task: &Task, commit: &CommitId, results: &[Evidence]) -> Event {
    Event::ChecksRan { task_id: task.id, commit: commit.clone(), results: results.to_vec() }
}

#[cfg(test)]
mod tests {
    use super::super::Criterion;
    use crate::testing::{World, check, id};
    use expect_test::expect;

    const PAUSED: &str = "add; assign 1 alpha; settle 1; finish 1; ok 1";

    #[test]
    fn checks_are_run_before_a_person_decides() {
        check(
            &format!("checks test,lint; {PAUSED}"),
            "ok 1; approve 1; ok 1; approve 1",
            expect![[r#"
            > ok 1
            [agent:paused] -> run_checks
            #1 waiting_approval/checking, alpha paused
            > approve 1
            error[TASK_BUSY]: task #1 is busy
              why:  the project's checks are being run
              next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
            > ok 1
            [checks:ran]
            #1 waiting_approval/ready, alpha paused
            > approve 1
            [approval:approved] -> merge_branch
            #1 waiting_approval/merging, alpha paused
        "#]],
        );
    }

    #[test]
    fn a_person_may_approve_what_the_checks_refuse() {
        check(
            &format!("checks broken; {PAUSED}; ok 1"),
            "ok 1; approve 1",
            expect![[r#"
                > ok 1
                [checks:ran]
                #1 waiting_approval/ready, alpha paused
                > approve 1
                error[CHECKS_FAILED]: task #1 was not approved
                  why:  these checks failed: broken
                  next: look at `regatta task diff 1`; `regatta task approve 1 --anyway` approves it anyway, `regatta task reject 1 --reason "…"` sends it back
            "#]],
        );
    }

    #[test]
    fn a_policy_approves_only_what_the_checks_pass() {
        check(
            &format!("auto; checks test; {PAUSED}; ok 1"),
            "ok 1; ok 1",
            expect![[r#"
            > ok 1
            [checks:ran] -> approve_by_policy
            #1 waiting_approval/ready, alpha paused
            > ok 1
            [approval:approved] -> merge_branch
            #1 waiting_approval/merging, alpha paused
        "#]],
        );
        check(
            &format!("auto; checks test,broken; {PAUSED}; ok 1"),
            "ok 1; approve 1",
            expect![[r#"
                > ok 1
                [checks:ran] -> approve_by_policy
                #1 waiting_approval/ready, alpha paused
                > approve 1
                error[CHECKS_FAILED]: task #1 was not approved
                  why:  these checks failed: broken
                  next: look at `regatta task diff 1`; `regatta task approve 1 --anyway` approves it anyway, `regatta task reject 1 --reason "…"` sends it back
            "#]],
        );
    }

    #[test]
    fn checks_that_could_not_be_run_leave_the_decision_open() {
        check(
            &format!("checks test; {PAUSED}; ok 1"),
            "fail 1; approve 1",
            expect![[r#"
                > fail 1
                [checks:run:failed]
                #1 waiting_approval/ready, alpha paused, error CHECKS_FAILED
                > approve 1
                error[CHECKS_FAILED]: task #1 was not approved
                  why:  these checks did not run at this commit: test
                  next: look at `regatta task diff 1`; `regatta task approve 1 --anyway` approves it anyway, `regatta task reject 1 --reason "…"` sends it back
            "#]],
        );
    }

    #[test]
    fn a_task_that_is_being_checked_can_be_cancelled() {
        check(
            &format!("checks test; {PAUSED}; ok 1"),
            "cancel 1; report 1 checks_ran; settle 1",
            expect![[r#"
                > cancel 1
                [agent:stopping] -> stop_agent
                #1 waiting_approval/stopping, alpha paused
                > report 1 checks_ran
                []
                #1 waiting_approval/stopping, alpha paused
                > settle 1
                [agent:stopped, worktree:salvaged, worktree:removed, task:cancelled] -> remove_worktree
                #1 backlog
            "#]],
        );
    }

    #[test]
    fn a_criterion_is_verified_by_its_check_at_the_commit_under_review_only() {
        let given = "checks test,broken; add; assign 1 alpha; settle 1; ready 1";
        let world = World::given(given);
        let task = &world.tasks[&id(1)];
        let verified = |text: &str| task.is_verified(&Criterion::parse(text));
        assert!(verified("It works (check: test)"));
        assert!(!verified("It works (check: broken)"), "the check failed");
        assert!(!verified("It works (check: other)"), "there is no such check");
        assert!(!verified("It works"), "no check is named");
        let mut changed = task.clone();
        changed.proof.as_mut().unwrap().commit = crate::testing::commit(99);
        assert!(
            !changed.is_verified(&Criterion::parse("It works (check: test)")),
            "another commit was checked"
        );
    }

    #[test]
    fn a_criterion_names_its_check_at_its_end() {
        let parse = |text: &str| {
            let criterion = Criterion::parse(text);
            (criterion.text, criterion.check)
        };
        let named = |text: &str, check: &str| (text.to_owned(), Some(check.to_owned()));
        assert_eq!(parse("The tests pass (check: test)"), named("The tests pass", "test"));
        assert_eq!(
            parse("It is fast (see notes) (check:  bench ) "),
            named("It is fast (see notes)", "bench")
        );
        for plain in
            ["The tests pass", "(check: test)", "It (check: a) works", "It works (check: )", "a (check: (b))"]
        {
            assert_eq!(parse(plain), (plain.to_owned(), None));
        }
    }
}
