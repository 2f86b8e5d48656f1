//! `APPROVE`: decides that the diff under review is merged.

use super::{Stage, Task};
use crate::machine::{Attempt, Stop};
use crate::{Actor, Approval, Approve, Command, Event, Refusal, Settings, Situation};

/// Approves the diff. What it lacks is no guard of the machine: a person may override it, and the event says what.
pub(crate) fn approve(
    settings: &Settings,
    task: &Task,
    approver: &Actor,
    approve: &Approve,
) -> Result<Vec<Event>, Refusal> {
    let Stage::WaitingApproval(review) = &task.stage else { return Ok(Vec::new()) };
    let lacks = task.find_lacks(&settings.checks);
    if !lacks.is_empty() && !approve.anyway {
        let by_policy = matches!(approver, Actor::Policy(_));
        return Err(Refusal::NotWhole { task: task.id, lacks, by_policy });
    }
    Ok(vec![Event::ApprovalApproved {
        task_id: task.id,
        approver: approver.to_string(),
        feedback: approve.feedback.clone(),
        diff: review.diff.digest.clone(),
        head: review.diff.head.clone(),
        overrode: Some(lacks).filter(|lacks| !lacks.is_empty()),
    }])
}

pub(crate) fn has_diff(_: &Situation<'_>, attempt: &Attempt<'_>) -> Result<(), Stop> {
    match attempt.task.diff() {
        Some(diff) if diff.is_empty() => Err(Refusal::TaskNoDiff { task: attempt.task.id }.into()),
        _ => Ok(()),
    }
}

/// Without members the local user is the approver; a policy is one only if it is configured, and an agent never.
pub(crate) fn is_valid_approver(situation: &Situation<'_>, attempt: &Attempt<'_>) -> Result<(), Stop> {
    let settings = situation.settings;
    let allowed = match attempt.actor {
        Actor::User(name) => settings.members.is_empty() || settings.members.contains(name),
        Actor::Policy(_) => settings.approval == Approval::Auto,
        Actor::Agent(_) | Actor::Engine | Actor::Unknown => false,
    };
    if allowed {
        return Ok(());
    }
    let (task, approver, members) = (attempt.task.id, attempt.actor.clone(), settings.members.clone());
    Err(Refusal::ApproverNotAllowed { task, approver, members }.into())
}

/// What is merged must be what the approver looked at, and all of it must be in the diff.
pub(crate) fn diff_is_current(_: &Situation<'_>, attempt: &Attempt<'_>) -> Result<(), Stop> {
    let task = attempt.task;
    let (Command::Approve(approve), Stage::WaitingApproval(review)) = (attempt.command, &task.stage) else {
        return Ok(());
    };
    let reviewed = &review.diff.head;
    let stale =
        |current| Err(Refusal::ApprovalStale { task: task.id, reviewed: reviewed.clone(), current }.into());
    if let Some(head) = &approve.head
        && !reviewed.as_str().starts_with(head)
    {
        return stale(Some(head.clone()));
    }
    if !approve.seen.dirty.is_empty() {
        return Err(Refusal::WorktreeDirty { task: task.id, files: approve.seen.dirty.clone() }.into());
    }
    if approve.seen.head.as_ref() != Some(reviewed) {
        return stale(approve.seen.head.as_ref().map(|head| head.short().to_owned()));
    }
    if approve.seen.is_base_gone {
        let (base, target) = (review.diff.base.clone(), review.worktree.target.clone());
        return Err(Refusal::ApprovalBaseGone { task: task.id, base, target }.into());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::testing::check;
    use expect_test::expect;

    #[test]
    fn the_local_user_approves_in_single_user_mode() {
        check(
            "add; assign 1 alpha; settle 1; ready 1",
            "approve 1 by anyone",
            expect![[r#"
            > approve 1 by anyone
            [approval:approved] -> merge_branch
            #1 waiting_approval/merging, alpha paused
        "#]],
        );
    }

    #[test]
    fn in_team_mode_only_a_member_approves() {
        check(
            "members one,two; add; assign 1 alpha; settle 1; ready 1",
            "approve 1 by stranger; approve 1 by two",
            expect![[r#"
                > approve 1 by stranger
                error[APPROVER_NOT_ALLOWED]: task #1 was not approved
                  why:  `stranger` is not among the project's members
                  next: let a member approve (one, two), or add a name to `members` in .regatta/config.toml
                > approve 1 by two
                [approval:approved] -> merge_branch
                #1 waiting_approval/merging, alpha paused
            "#]],
        );
    }

    #[test]
    fn an_agent_never_approves() {
        check(
            "add; assign 1 alpha; settle 1; ready 1",
            "approve 1 by agent:alpha",
            expect![[r#"
            > approve 1 by agent:alpha
            error[APPROVER_NOT_ALLOWED]: task #1 was not approved
              why:  `alpha` is an agent, and an agent never approves
              next: let a person approve
        "#]],
        );
        check(
            "members alpha; add; assign 1 alpha; settle 1; ready 1",
            "approve 1 by agent:alpha",
            expect![[r#"
                > approve 1 by agent:alpha
                error[APPROVER_NOT_ALLOWED]: task #1 was not approved
                  why:  `alpha` is an agent, and an agent never approves
                  next: let a member approve (alpha), or add a name to `members` in .regatta/config.toml
            "#]],
        );
        check(
            "auto; add; assign 1 alpha; settle 1; finish 1; ok 1; ok 1",
            "approve 1 by agent:beta; approve 1 by engine",
            expect![[r#"
                > approve 1 by agent:beta
                error[APPROVER_NOT_ALLOWED]: task #1 was not approved
                  why:  `beta` is an agent, and an agent never approves
                  next: let a person approve
                > approve 1 by engine
                error[APPROVER_NOT_ALLOWED]: task #1 was not approved
                  why:  the engine carries out decisions and cannot approve
                  next: let a person approve
            "#]],
        );
    }

    #[test]
    fn a_policy_approves_only_when_the_config_says_so() {
        check(
            "add; assign 1 alpha; settle 1; ready 1",
            "approve 1 by policy:auto",
            expect![[r#"
            > approve 1 by policy:auto
            error[APPROVER_NOT_ALLOWED]: task #1 was not approved
              why:  the config does not say `approval = "auto"`
              next: let a person approve
        "#]],
        );
        check(
            "auto; add; assign 1 alpha; settle 1; finish 1; ok 1; ok 1",
            "approve 1 by policy:auto",
            expect![[r#"
                > approve 1 by policy:auto
                [approval:approved] -> merge_branch
                #1 waiting_approval/merging, alpha paused
            "#]],
        );
    }

    #[test]
    fn with_auto_approval_the_task_is_merged_by_itself() {
        check(
            "auto; add; assign 1 alpha; settle 1",
            "ready 1",
            expect![[r#"
            > ready 1
            [task:completed, approval:requested, agent:paused, approval:approved, worktree:merged, task:approved, worktree:removed] -> record_diff, pause_agent, approve_by_policy, merge_branch, remove_worktree
            #1 verified/cleanupdone
        "#]],
        );
    }

    #[test]
    fn a_policy_that_is_refused_leaves_the_decision_to_a_person() {
        check(
            "auto; add; assign 1 alpha; settle 1; finish 1; ok 1; ok 1",
            "fail 1; approve 1; settle 1",
            expect![[r#"
                > fail 1
                [approval:approve:failed]
                #1 waiting_approval/ready, alpha paused, error APPROVAL_STALE
                > approve 1
                [approval:approved] -> merge_branch
                #1 waiting_approval/merging, alpha paused
                > settle 1
                [worktree:merged, task:approved, worktree:removed] -> remove_worktree
                #1 verified/cleanupdone
            "#]],
        );
    }

    #[test]
    fn the_diff_that_was_looked_at_must_be_the_one_for_review() {
        check(
            "add; assign 1 alpha; settle 1; ready 1",
            "approve 1 head 9999999; approve 1 head 0000001",
            expect![[r#"
                > approve 1 head 9999999
                error[APPROVAL_STALE]: task #1 was not merged
                  why:  the diff under review ends at 0000001000, but what you approve is 9999999
                  next: submit the current work with `regatta task submit 1`, review it with `regatta task diff 1`, then approve it
                > approve 1 head 0000001
                [approval:approved] -> merge_branch
                #1 waiting_approval/merging, alpha paused
            "#]],
        );
    }

    #[test]
    fn a_branch_that_moved_or_is_gone_is_stale() {
        check(
            "add; assign 1 alpha; settle 1; ready 1",
            "approve 1 moved; approve 1 gone; approve 1 baseless",
            expect![[r#"
                > approve 1 moved
                error[APPROVAL_STALE]: task #1 was not merged
                  why:  the diff under review ends at 0000001000, but what you approve is 0000999000
                  next: submit the current work with `regatta task submit 1`, review it with `regatta task diff 1`, then approve it
                > approve 1 gone
                error[APPROVAL_STALE]: task #1 was not merged
                  why:  the diff under review ends at 0000001000, but what you approve is gone
                  next: submit the current work with `regatta task submit 1`, review it with `regatta task diff 1`, then approve it
                > approve 1 baseless
                error[APPROVAL_STALE]: task #1 was not merged
                  why:  main was reset: it no longer holds 0000000000, where the diff starts, so more would be merged than the diff shows
                  next: `regatta task submit 1` submits everything that would be merged now; or restore main, or `regatta task cancel 1` (the work is kept as a salvage)
            "#]],
        );
    }

    #[test]
    fn files_changed_after_completion_are_dirty() {
        check(
            "add; assign 1 alpha; settle 1; ready 1",
            "approve 1 dirty a.txt; approve 1 dirty a,b,c,d,e,f",
            expect![[r#"
                > approve 1 dirty a.txt
                error[WORKTREE_DIRTY]: task #1 was not merged
                  why:  1 file in its worktree is not committed: a.txt
                  next: `regatta task submit 1` commits them and submits the new diff; `regatta task reject 1 --reason "…"` leaves them to the agent; `regatta task cancel 1` keeps them as a salvage
                > approve 1 dirty a,b,c,d,e,f
                error[WORKTREE_DIRTY]: task #1 was not merged
                  why:  6 files in its worktree are not committed: a, b, c, d, e, …
                  next: `regatta task submit 1` commits them and submits the new diff; `regatta task reject 1 --reason "…"` leaves them to the agent; `regatta task cancel 1` keeps them as a salvage
            "#]],
        );
    }

    #[test]
    fn it_waits_for_what_is_under_way() {
        check(
            "add; assign 1 alpha; settle 1; finish 1",
            "approve 1; ok 1; approve 1; ok 1; approve 1; approve 1",
            expect![[r#"
                > approve 1
                error[TASK_BUSY]: task #1 is busy
                  why:  its diff is being recorded
                  next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
                > ok 1
                [approval:requested] -> pause_agent
                #1 waiting_approval/pausing, alpha running
                > approve 1
                error[TASK_BUSY]: task #1 is busy
                  why:  its agent is being paused
                  next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
                > ok 1
                [agent:paused]
                #1 waiting_approval/ready, alpha paused
                > approve 1
                [approval:approved] -> merge_branch
                #1 waiting_approval/merging, alpha paused
                > approve 1
                error[TASK_BUSY]: task #1 is busy
                  why:  it is approved and being merged
                  next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
            "#]],
        );
        check(
            "add; assign 1 alpha; settle 1; ready 1; cancel 1",
            "approve 1; ok 1; approve 1",
            expect![[r#"
                > approve 1
                error[TASK_BUSY]: task #1 is busy
                  why:  it is being cancelled
                  next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
                > ok 1
                [agent:stopped] -> remove_worktree
                #1 waiting_approval/removing, alpha paused
                > approve 1
                error[TASK_BUSY]: task #1 is busy
                  why:  it is being cancelled
                  next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
            "#]],
        );
    }
}
