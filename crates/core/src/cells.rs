//! The 20 cells of the task machine, each with its whole chain in a world where every effect succeeds.
//!
//! What `decide` and `effects` do must agree with the table that the drawings are made from.

use crate::machine::{self, Action, Column, CommandKind};
use crate::testing::{Step, World, agent, check, commit, complete, id, user};
use crate::{Approve, Assign, Cancel, Code, Command, Effect, Event, Refusal, Reject, Start};
use expect_test::expect;

#[test]
fn every_cell() {
    let mut text = String::new();
    for column in Column::ALL {
        for command in CommandKind::ALL {
            text.push_str(&format!("{column} {command}: {}", cell(column, command)));
        }
    }
    expect![[r#"
        backlog ASSIGN: in_progress
            task:assigned, worktree:created, agent:assigned
            -> create_worktree, run_session
        backlog COMPLETE: TASK_INVALID_TRANSITION
        backlog APPROVE: TASK_INVALID_TRANSITION
        backlog REJECT: TASK_INVALID_TRANSITION
        backlog CANCEL: TASK_INVALID_TRANSITION
        in_progress ASSIGN: TASK_INVALID_TRANSITION
        in_progress COMPLETE: waiting_approval
            task:completed, approval:requested, agent:paused
            -> record_diff, pause_agent
        in_progress APPROVE: TASK_INVALID_TRANSITION
        in_progress REJECT: TASK_INVALID_TRANSITION
        in_progress CANCEL: backlog
            agent:stopping, agent:stopped, worktree:salvaged, worktree:removed, task:cancelled
            -> stop_agent, remove_worktree
        waiting_approval ASSIGN: TASK_INVALID_TRANSITION
        waiting_approval COMPLETE: TASK_INVALID_TRANSITION
        waiting_approval APPROVE: verified
            approval:approved, worktree:merged, task:approved, worktree:removed
            -> merge_branch, remove_worktree
        waiting_approval REJECT: in_progress
            approval:rejected, task:rejected, agent:resumed
            -> run_session
        waiting_approval CANCEL: backlog
            agent:stopping, agent:stopped, worktree:salvaged, worktree:removed, task:cancelled
            -> stop_agent, remove_worktree
        verified ASSIGN: TASK_INVALID_TRANSITION
        verified COMPLETE: TASK_INVALID_TRANSITION
        verified APPROVE: TASK_INVALID_TRANSITION
        verified REJECT: TASK_INVALID_TRANSITION
        verified CANCEL: TASK_INVALID_TRANSITION
    "#]]
    .assert_eq(&text);
}

#[test]
fn an_illegal_command_is_explained() {
    check(
        "add",
        "approve 1",
        expect![[r#"
        > approve 1
        error[TASK_INVALID_TRANSITION]: APPROVE was refused for task #1
          why:  the task is in backlog, where APPROVE is not legal
          next: legal in backlog: ASSIGN; see `regatta task show 1`
    "#]],
    );
    check(
        "add; assign 1 alpha; settle 1",
        "reject 1 no",
        expect![[r#"
        > reject 1 no
        error[TASK_INVALID_TRANSITION]: REJECT was refused for task #1
          why:  the task is in in_progress, where REJECT is not legal
          next: legal in in_progress: COMPLETE, CANCEL; see `regatta task show 1`
    "#]],
    );
    check(
        "add; assign 1 alpha; settle 1; ready 1",
        "complete 1",
        expect![[r#"
        > complete 1
        error[TASK_INVALID_TRANSITION]: COMPLETE was refused for task #1
          why:  the task is in waiting_approval, where COMPLETE is not legal
          next: legal in waiting_approval: APPROVE, REJECT, CANCEL; see `regatta task show 1`
    "#]],
    );
    check(
        "add; assign 1 alpha; settle 1; ready 1; approve 1; settle 1",
        "cancel 1",
        expect![[r#"
        > cancel 1
        error[TASK_INVALID_TRANSITION]: CANCEL was refused for task #1
          why:  the task is in verified, where CANCEL is not legal
          next: nothing: verified is final; add a new task with `regatta task add`
    "#]],
    );
}

/// Gives the command to a task that stands in the column, lets every effect go well, and says what happened.
fn cell(column: Column, command: CommandKind) -> String {
    let mut world = World::given(script(column));
    assert_eq!(world.tasks[&id(1)].column(), column);
    let (facts, before) = (world.facts.len(), world.tasks[&id(1)].clone());
    let given = order(&world, command);
    let answer = world.give(id(1), &user(), &given);
    let end = |world: &World| world.tasks[&id(1)].column();
    let Some(row) = machine::find(column, command) else {
        assert_eq!(answer.unwrap_err(), Refusal::InvalidTransition { task: id(1), column, command });
        assert_eq!((world.facts.len(), &world.tasks[&id(1)]), (facts, &before), "a refusal changes nothing");
        return format!("{}\n", Code::TaskInvalidTransition);
    };
    let mut steps = vec![answer.unwrap()];
    steps.extend(world.settle(id(1)));
    assert_eq!(end(&world), row.to, "{column} {command} leads where the table says");
    let (events, effects) = flatten(steps);
    check_actions(row.actions, &events, &effects);
    let kinds: Vec<&str> = events.iter().map(Event::kind).collect();
    let asked: Vec<&str> = effects.iter().map(Effect::kind).collect();
    format!("{}\n    {}\n    -> {}\n", end(&world), kinds.join(", "), asked.join(", "))
}

fn script(column: Column) -> &'static str {
    match column {
        Column::Backlog => "add",
        Column::InProgress => "add; assign 1 alpha; settle 1",
        Column::WaitingApproval => "add; assign 1 alpha; settle 1; ready 1",
        Column::Verified => "add; assign 1 alpha; settle 1; ready 1; approve 1; settle 1",
    }
}

fn order(world: &World, command: CommandKind) -> Command {
    let start = Start { target: "main".to_owned(), base: commit(0), from: None, folder: "trees".to_owned() };
    match command {
        CommandKind::Assign => Command::Assign(Assign {
            to: agent("alpha").into(),
            priority: None,
            start,
            run: None,
            is_recorded: false,
            may_queue: true,
        }),
        CommandKind::Complete => Command::Complete(complete(1, commit(1))),
        CommandKind::Approve => Command::Approve(Approve::new(None, None, world.seen(id(1))).unwrap()),
        CommandKind::Reject => Command::Reject(Reject::new("not yet".to_owned(), None).unwrap()),
        CommandKind::Cancel => Command::Cancel(Cancel::new(None).unwrap()),
    }
}

fn flatten(steps: Vec<Step>) -> (Vec<Event>, Vec<Effect>) {
    let (events, effects): (Vec<_>, Vec<_>) =
        steps.into_iter().map(|step| (step.events, step.effects)).unzip();
    (events.concat(), effects.concat())
}

/// Each action of the table is an effect, in the table's order, or else a fact that an effect brings with it.
fn check_actions(actions: &[Action], events: &[Event], effects: &[Effect]) {
    let mut left = effects.iter();
    for action in actions {
        let done = match action {
            Action::CreateWorktree => matches!(left.next(), Some(Effect::CreateWorktree { .. })),
            Action::StartAgent => matches!(left.next(), Some(Effect::RunSession { resume: None, .. })),
            Action::ResumeAgent => matches!(left.next(), Some(Effect::RunSession { resume: Some(_), .. })),
            Action::RecordDiff => matches!(left.next(), Some(Effect::RecordDiff { .. })),
            Action::PauseAgent => matches!(left.next(), Some(Effect::PauseAgent { .. })),
            Action::StopAgent => matches!(left.next(), Some(Effect::StopAgent { .. })),
            Action::RemoveWorktree => matches!(left.next(), Some(Effect::RemoveWorktree { .. })),
            Action::MergeBranch => matches!(left.next(), Some(Effect::MergeBranch { .. })),
            Action::Salvage => events.iter().any(|event| matches!(event, Event::WorktreeSalvaged { .. })),
            Action::IncrementRejectionCount => {
                events.iter().any(|event| matches!(event, Event::TaskRejected { rejection_count: 1, .. }))
            }
        };
        assert!(done, "{} is missing in {effects:?}", action.as_str());
    }
    assert_eq!(left.next(), None, "the table names every effect");
}
