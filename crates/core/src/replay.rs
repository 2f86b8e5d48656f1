//! Checks whether a log is consistent: the one place where facts are doubted.

use crate::document::{self, Catalogue, Epic, Prd};
use crate::message::{self, Inbox};
use crate::run::{self, Run};
use crate::{Assignments, Fact, Plan, Task, task};

/// The first fact that the state before it cannot carry.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("event {index} of its stream, `{kind}`, does not follow from the events before it")]
pub struct Unsound {
    /// Its place in the facts that were replayed, from 0.
    pub index: usize,
    /// Its kind.
    pub kind: &'static str,
}

/// Folds the facts of one task, and names the first that does not fit.
pub fn replay_task<'a>(facts: impl IntoIterator<Item = &'a Fact>) -> Result<Option<Task>, Unsound> {
    let mut state = None;
    for (index, fact) in facts.into_iter().enumerate() {
        state = task::try_evolve(state, fact).ok_or(Unsound { index, kind: fact.event.kind() })?;
    }
    Ok(state)
}

/// Folds the facts that concern the assignments.
pub fn replay_assignments<'a>(facts: impl IntoIterator<Item = &'a Fact>) -> Assignments {
    facts.into_iter().fold(Assignments::default(), Assignments::evolve)
}

/// Folds the facts that concern the plan.
pub fn replay_plan<'a>(facts: impl IntoIterator<Item = &'a Fact>) -> Plan {
    facts.into_iter().fold(Plan::default(), Plan::evolve)
}

/// Folds the facts of one run, and names the first that does not fit.
pub fn replay_run<'a>(facts: impl IntoIterator<Item = &'a Fact<run::Event>>) -> Result<Option<Run>, Unsound> {
    let mut state = None;
    for (index, fact) in facts.into_iter().enumerate() {
        state = Some(Run::try_evolve(state, fact).ok_or(Unsound { index, kind: fact.event.kind() })?);
    }
    Ok(state)
}

/// Folds the facts of one epic, and names the first that does not fit.
pub fn replay_epic<'a>(
    facts: impl IntoIterator<Item = &'a Fact<document::Event>>,
) -> Result<Option<Epic>, Unsound> {
    let mut state = None;
    for (index, fact) in facts.into_iter().enumerate() {
        let next = document::try_evolve_epic(state.as_ref(), fact);
        state = Some(next.ok_or(Unsound { index, kind: fact.event.kind() })?);
    }
    Ok(state)
}

/// Folds the facts of one PRD, and names the first that does not fit.
pub fn replay_prd<'a>(
    facts: impl IntoIterator<Item = &'a Fact<document::Event>>,
) -> Result<Option<Prd>, Unsound> {
    let mut state = None;
    for (index, fact) in facts.into_iter().enumerate() {
        let next = document::try_evolve_prd(state.as_ref(), fact);
        state = Some(next.ok_or(Unsound { index, kind: fact.event.kind() })?);
    }
    Ok(state)
}

/// Folds the facts of one inbox, and names the first that does not fit.
pub fn replay_inbox<'a>(facts: impl IntoIterator<Item = &'a Fact<message::Event>>) -> Result<Inbox, Unsound> {
    let mut inbox = Inbox::default();
    for (index, fact) in facts.into_iter().enumerate() {
        if !inbox.try_evolve(fact) {
            return Err(Unsound { index, kind: fact.event.kind() });
        }
    }
    Ok(inbox)
}

/// Folds the facts of all epics and PRDs, and names the first that does not fit.
pub fn replay_catalogue<'a>(
    facts: impl IntoIterator<Item = &'a Fact<document::Event>>,
) -> Result<Catalogue, Unsound> {
    let mut catalogue = Catalogue::default();
    for (index, fact) in facts.into_iter().enumerate() {
        if !catalogue.try_evolve(fact) {
            return Err(Unsound { index, kind: fact.event.kind() });
        }
    }
    Ok(catalogue)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Event;
    use crate::testing::{World, document_facts, id, samples, user};
    use expect_test::expect;

    #[test]
    fn the_first_fact_that_does_not_follow_is_named() {
        let world = World::given("add; assign 1 alpha; settle 1; ready 1");
        let mut facts = world.facts;
        assert_eq!(replay_task(&facts), Ok(world.tasks.into_values().next()));
        let lost = facts.remove(2);
        assert_eq!(lost.event.kind(), "worktree:created");
        let unsound = replay_task(&facts).unwrap_err();
        assert_eq!(unsound, Unsound { index: 2, kind: "agent:assigned" });
        expect!["event 2 of its stream, `agent:assigned`, does not follow from the events before it"]
            .assert_eq(&unsound.to_string());
    }

    #[test]
    fn a_log_begins_with_the_creation_of_its_task() {
        let facts = World::given("add; assign 1 alpha").facts;
        assert_eq!(replay_task([]), Ok(None));
        assert_eq!(replay_task(&facts[1..]).unwrap_err().index, 0);
        let twice = [facts[0].clone(), facts[0].clone()];
        assert_eq!(replay_task(&twice).unwrap_err(), Unsound { index: 1, kind: "task:created" });
    }

    #[test]
    fn facts_of_another_task_do_not_fit() {
        let facts = World::given("add; add").facts;
        assert_eq!(replay_task(&facts).unwrap_err().index, 1);
    }

    #[test]
    fn a_document_is_added_before_it_changes_and_only_once() {
        let facts = document_facts();
        let [epic, epic_changed, prd, prd_changed] = &facts[..] else { panic!("one of each kind") };
        assert_eq!(replay_catalogue(&facts).unwrap().epics.len(), 1);
        assert_eq!(replay_epic([epic, epic_changed]).unwrap().unwrap().description, "All of it");
        assert_eq!(replay_prd([prd, prd_changed]).unwrap().unwrap().created_at, prd.at);
        let unsound = |index, fact: &Fact<document::Event>| Unsound { index, kind: fact.event.kind() };
        assert_eq!(replay_epic([epic_changed]), Err(unsound(0, epic_changed)));
        assert_eq!(replay_epic([epic, epic]), Err(unsound(1, epic)));
        assert_eq!(replay_epic([epic, prd_changed]), Err(unsound(1, prd_changed)));
        assert_eq!(replay_prd([prd_changed]), Err(unsound(0, prd_changed)));
        assert_eq!(replay_prd([prd, prd]), Err(unsound(1, prd)));
        assert_eq!(replay_catalogue([epic, prd, epic]), Err(unsound(2, epic)));
        assert_eq!(replay_catalogue([prd, epic_changed]), Err(unsound(1, epic_changed)));
    }

    /// Lists, for each situation, the kinds of facts that may follow; any other makes the log unsound.
    #[test]
    fn what_may_follow() {
        let situations = [
            "add",
            "add; assign 1 alpha",
            "add; assign 1 alpha; ok 1",
            "add; assign 1 alpha; settle 1",
            "add; assign 1 alpha; settle 1; break 1",
            "add; assign 1 alpha; ok 1; fail 1",
            "add; assign 1 alpha; settle 1; cancel 1",
            "add; assign 1 alpha; settle 1; cancel 1; ok 1",
            "add; assign 1 alpha; settle 1; finish 1",
            "add; assign 1 alpha; settle 1; finish 1; ok 1",
            "add; assign 1 alpha; settle 1; ready 1",
            "add; assign 1 alpha; settle 1; ready 1; reject 1 no",
            "add; assign 1 alpha; settle 1; ready 1; submit 1",
            "add; take 1; settle 1",
            "add; assign 1 alpha; settle 1; reassign 1 beta stop",
            "add; assign 1 alpha; settle 1; ready 1; approve 1",
            "add; assign 1 alpha; settle 1; ready 1; cancel 1",
            "add; assign 1 alpha; settle 1; ready 1; cancel 1; ok 1",
            "add; assign 1 alpha; settle 1; ready 1; approve 1; ok 1",
            "add; assign 1 alpha; settle 1; ready 1; approve 1; ok 1; fail 1",
            "add; assign 1 alpha; settle 1; ready 1; approve 1; settle 1",
        ];
        let text: String =
            situations.iter().map(|given| format!("{given}\n    {}\n", followers(given))).collect();
        expect![[r#"
            add
                task:dependencies_set, task:queued, task:dequeued, task:assign:failed, task:assigned, task:imported, task:deleted
            add; assign 1 alpha
                worktree:created, worktree:create:failed, agent:stopping
            add; assign 1 alpha; ok 1
                agent:assigned, agent:start:failed, agent:session:failed, agent:stopping
            add; assign 1 alpha; settle 1
                agent:session:failed, task:completed, task:complete:failed, agent:parked, agent:stopping
            add; assign 1 alpha; settle 1; break 1
                task:completed, task:taken_up, agent:stopping
            add; assign 1 alpha; ok 1; fail 1
                worktree:salvaged, worktree:removed, worktree:remove:failed
            add; assign 1 alpha; settle 1; cancel 1
                agent:stopped, agent:stop:failed
            add; assign 1 alpha; settle 1; cancel 1; ok 1
                worktree:salvaged, worktree:removed, worktree:remove:failed, task:cancelled
            add; assign 1 alpha; settle 1; finish 1
                approval:requested, approval:request:failed, agent:stopping
            add; assign 1 alpha; settle 1; finish 1; ok 1
                agent:paused, agent:pause:failed, agent:stopping
            add; assign 1 alpha; settle 1; ready 1
                task:submitted, approval:approved, approval:approve:failed, approval:rejected, task:rejected, agent:stopping
            add; assign 1 alpha; settle 1; ready 1; reject 1 no
                agent:resumed, agent:resume:failed, agent:stopping
            add; assign 1 alpha; settle 1; ready 1; submit 1
                approval:requested, approval:request:failed
            add; take 1; settle 1
                task:completed, agent:stopping
            add; assign 1 alpha; settle 1; reassign 1 beta stop
                agent:stopped, agent:stop:failed
            add; assign 1 alpha; settle 1; ready 1; approve 1
                worktree:merged, worktree:merge:failed
            add; assign 1 alpha; settle 1; ready 1; cancel 1
                agent:stopped, agent:stop:failed
            add; assign 1 alpha; settle 1; ready 1; cancel 1; ok 1
                worktree:salvaged, worktree:removed, worktree:remove:failed, task:cancelled
            add; assign 1 alpha; settle 1; ready 1; approve 1; ok 1
                task:approved, worktree:salvaged, worktree:removed, worktree:remove:failed, task:hidden, task:unhidden
            add; assign 1 alpha; settle 1; ready 1; approve 1; ok 1; fail 1
                worktree:salvaged, worktree:removed, task:hidden, task:unhidden
            add; assign 1 alpha; settle 1; ready 1; approve 1; settle 1
                task:hidden, task:unhidden
        "#]]
        .assert_eq(&text);
    }

    fn is_of_any_stage(event: &Event) -> bool {
        event.is_of_file() || event.is_note()
    }

    fn followers(given: &str) -> String {
        let world = World::given(given);
        let task = &world.tasks[&id(1)];
        let at = task.updated_at;
        let fits = |event: &Event| {
            let fact = Fact { at, actor: user(), event: event.clone() };
            task::try_evolve(Some(task.clone()), &fact).is_some()
        };
        let (of_file, others): (Vec<Event>, Vec<Event>) =
            samples(id(1), task.sessions).into_iter().partition(is_of_any_stage);
        assert!(of_file.iter().all(fits), "what the task file says may follow anything");
        let kinds: Vec<&str> = others.iter().filter(|event| fits(event)).map(|event| event.kind()).collect();
        if kinds.is_empty() { "nothing".to_owned() } else { kinds.join(", ") }
    }
}
