//! `APPROVE`: decides that the diff under review is merged.

use super::{Review, ReviewPhase, Stage, Task};
use crate::{Actor, Approval, Approve, Event, Refusal, Settings};

/// Approves the diff when the approver may, and when it is the current one.
pub(crate) fn approve(
    settings: &Settings,
    task: &Task,
    approver: &Actor,
    approve: &Approve,
) -> Result<Vec<Event>, Refusal> {
    let Stage::WaitingApproval(review) = &task.stage else { return Ok(Vec::new()) };
    check_is_ready(task, review)?;
    if review.diff.is_empty() {
        return Err(Refusal::TaskNoDiff { task: task.id });
    }
    check_approver(settings, task, approver)?;
    check_is_current(task, review, approve)?;
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

pub(super) fn check_is_ready(task: &Task, review: &Review) -> Result<(), Refusal> {
    let doing = match review.phase {
        ReviewPhase::Ready => return Ok(()),
        ReviewPhase::Recording | ReviewPhase::Resubmitting { .. } => "its diff is being recorded",
        ReviewPhase::Pausing => "its agent is being paused",
        ReviewPhase::Checking => "the project's checks are being run",
        ReviewPhase::Merging { .. } => "it is approved and being merged",
        ReviewPhase::Stopping { .. } | ReviewPhase::Removing { .. } => "it is being cancelled",
    };
    Err(Refusal::TaskBusy { task: task.id, doing })
}

fn check_approver(settings: &Settings, task: &Task, approver: &Actor) -> Result<(), Refusal> {
    let allowed = match approver {
        Actor::User(name) => settings.members.is_empty() || settings.members.contains(name),
        Actor::Policy(_) => settings.approval == Approval::Auto,
        Actor::Agent(_) | Actor::Engine | Actor::Unknown => false,
    };
    if allowed {
        return Ok(());
    }
    let members = settings.members.clone();
    Err(Refusal::ApproverNotAllowed { task: task.id, approver: approver.clone(), members })
}

fn check_is_current(task: &Task, review: &Review, approve: &Approve) -> Result<(), Refusal> {
    let reviewed = &review.diff.head;
    let stale = |current| Err(Refusal::ApprovalStale { task: task.id, reviewed: reviewed.clone(), current });
    if let Some(head) = &approve.head
        && !reviewed.as_str().starts_with(head)
    {
        return stale(Some(head.clone()));
    }
    if !approve.seen.dirty.is_empty() {
        return Err(Refusal::WorktreeDirty { task: task.id, files: approve.seen.dirty.clone() });
    }
    if approve.seen.head.as_ref() != Some(reviewed) {
        return stale(approve.seen.head.as_ref().map(|head| head.short().to_owned()));
    }
    if approve.seen.is_base_gone {
        let (base, target) = (review.diff.base.clone(), review.worktree.target.clone());
        return Err(Refusal::ApprovalBaseGone { task: task.id, base, target });
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
                  why:  the engine carries out decisions and does not make them
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
                  why:  the diff for review leads to 0000001000, but what you approve is 9999999
                  next: `regatta task submit 1` puts up what is there now; then see it with `regatta task diff 1` and approve that
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
                  why:  the diff for review leads to 0000001000, but what you approve is 0000999000
                  next: `regatta task submit 1` puts up what is there now; then see it with `regatta task diff 1` and approve that
                > approve 1 gone
                error[APPROVAL_STALE]: task #1 was not merged
                  why:  the diff for review leads to 0000001000, but what you approve is gone
                  next: `regatta task submit 1` puts up what is there now; then see it with `regatta task diff 1` and approve that
                > approve 1 baseless
                error[APPROVAL_STALE]: task #1 was not merged
                  why:  main was reset: it no longer holds 0000000000, where the diff starts, so more would be merged than the diff shows
                  next: `regatta task submit 1` puts up all that would be merged now; or restore main, or `regatta task cancel 1` (the work is kept as a salvage)
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
                  next: `regatta task submit 1` commits them and puts up the new diff; `regatta task reject 1 --reason "…"` leaves them to the agent, and `regatta task cancel 1` keeps them as a salvage
                > approve 1 dirty a,b,c,d,e,f
                error[WORKTREE_DIRTY]: task #1 was not merged
                  why:  6 files in its worktree are not committed: a, b, c, d, e, …
                  next: `regatta task submit 1` commits them and puts up the new diff; `regatta task reject 1 --reason "…"` leaves them to the agent, and `regatta task cancel 1` keeps them as a salvage
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
