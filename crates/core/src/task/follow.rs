//! What follows a session that ended well: the next criterion in a session of its own, or the review.
//!
//! An agent works on one criterion a session, so that each begins with a fresh context. A session that ticked nothing
//! would be followed by its like; it completes the task.

use super::complete::check_diff;
use super::{Failure, Task, complete};
use crate::{AgentId, Complete, Event, Settings};

impl Task {
    /// Tells whether another session follows if the one under way ends well.
    pub fn has_follower(&self, settings: &Settings) -> bool {
        self.ticked_with_more_open() && self.row.sessions + 1 < settings.sessions
    }

    fn ticked_with_more_open(&self) -> bool {
        self.row.ticked && !self.open_criteria().is_empty()
    }
}

/// Returns the facts that the end of a session adds.
pub(super) fn finished(settings: &Settings, task: &Task, agent: &AgentId, finished: &Complete) -> Vec<Event> {
    if task.has_follower(settings) {
        return vec![Event::AgentContinued {
            task_id: task.id,
            agent_id: agent.clone(),
            session: task.sessions + 1,
            open: u32::try_from(task.open_criteria().len()).unwrap_or(u32::MAX),
            limit: settings.sessions,
        }];
    }
    if let Err(refusal) = check_diff(task, finished) {
        let error = Failure::from(refusal.explain());
        return vec![Event::TaskCompleteFailed { task_id: task.id, error }];
    }
    let mut facts = complete(settings, task, finished);
    if let Some(Event::TaskCompleted { session_limit, .. }) = facts.first_mut() {
        *session_limit = task.ticked_with_more_open().then_some(settings.sessions);
    }
    facts
}

#[cfg(test)]
mod tests {
    use crate::testing::{World, check, id};
    use crate::{Event, Settings};
    use expect_test::expect;

    const THREE: &str = "add criteria 3; assign 1 alpha; settle 1";

    fn completed(world: &World) -> (&[String], Option<u32>) {
        let found = world.facts.iter().rev().find_map(|fact| match &fact.event {
            Event::TaskCompleted { open, session_limit, .. } => Some((open.as_slice(), *session_limit)),
            _ => None,
        });
        found.expect("it is completed")
    }

    #[test]
    fn each_criterion_has_a_session_of_its_own_and_then_the_task_is_completed() {
        check(
            THREE,
            "tick 1 1; finish 1; settle 1; tick 1 2; finish 1; settle 1; tick 1 3; ready 1",
            expect![[r#"
                > tick 1 1
                [criterion:checked]
                #1 in_progress/running, alpha running
                > finish 1
                [agent:continued] -> run_session
                #1 in_progress/starting, alpha starting
                > settle 1
                [agent:resumed]
                #1 in_progress/running, alpha running
                > tick 1 2
                [criterion:checked]
                #1 in_progress/running, alpha running
                > finish 1
                [agent:continued] -> run_session
                #1 in_progress/starting, alpha starting
                > settle 1
                [agent:resumed]
                #1 in_progress/running, alpha running
                > tick 1 3
                [criterion:checked]
                #1 in_progress/running, alpha running
                > ready 1
                [task:completed, approval:requested, agent:paused] -> record_diff, pause_agent
                #1 waiting_approval/ready, alpha paused
            "#]],
        );
    }

    #[test]
    fn a_session_that_ticked_nothing_completes_with_what_is_open() {
        check(
            THREE,
            "finish 1",
            expect![[r#"
            > finish 1
            [task:completed] -> record_diff
            #1 waiting_approval/recording, alpha running
        "#]],
        );
        check(
            THREE,
            "tick 1 1; finish 1; settle 1; finish 1",
            expect![[r#"
            > tick 1 1
            [criterion:checked]
            #1 in_progress/running, alpha running
            > finish 1
            [agent:continued] -> run_session
            #1 in_progress/starting, alpha starting
            > settle 1
            [agent:resumed]
            #1 in_progress/running, alpha running
            > finish 1
            [task:completed] -> record_diff
            #1 waiting_approval/recording, alpha running
        "#]],
        );
        let world = World::given(&format!("{THREE}; tick 1 1; finish 1; settle 1; finish 1"));
        assert_eq!(
            completed(&world),
            (&["Criterion 2 holds".to_owned(), "Criterion 3 holds".to_owned()][..], None)
        );
    }

    #[test]
    fn after_the_last_session_in_a_row_it_is_completed_whatever_is_open() {
        let world =
            World::given(&format!("sessions 2; {THREE}; tick 1 1; finish 1; settle 1; tick 1 2; ready 1"));
        assert_eq!(completed(&world), (&["Criterion 3 holds".to_owned()][..], Some(2)));
        let world = World::given(&format!("sessions 1; {THREE}; tick 1 1; ready 1"));
        assert_eq!(completed(&world).1, Some(1));
    }

    #[test]
    fn a_rejection_begins_another_row() {
        let given = format!(
            "sessions 2; {THREE}; tick 1 1; finish 1; settle 1; tick 1 2; ready 1; reject 1 no; settle 1"
        );
        let world = World::given(&given);
        assert_eq!(world.tasks[&id(1)].row, crate::Row::default());
        check(
            "sessions 2; add criteria 4; assign 1 alpha; settle 1; tick 1 1; finish 1; settle 1; tick 1 2; ready 1; reject 1 no; settle 1",
            "tick 1 3; finish 1",
            expect![[r#"
                > tick 1 3
                [criterion:checked]
                #1 in_progress/running, alpha running, rejected 1
                > finish 1
                [agent:continued] -> run_session
                #1 in_progress/starting, alpha starting, rejected 1
            "#]],
        );
    }

    #[test]
    fn a_follower_that_does_not_start_leaves_the_work_where_it_is() {
        check(
            THREE,
            "tick 1 1; finish 1; fail 1; resume 1; settle 1",
            expect![[r#"
            > tick 1 1
            [criterion:checked]
            #1 in_progress/running, alpha running
            > finish 1
            [agent:continued] -> run_session
            #1 in_progress/starting, alpha starting
            > fail 1
            [agent:session:failed]
            #1 in_progress/halted, alpha error, error AGENT_START_FAILED
            > resume 1
            [agent:woken] -> run_session
            #1 in_progress/starting, alpha starting, error AGENT_START_FAILED
            > settle 1
            [agent:resumed]
            #1 in_progress/running, alpha running
        "#]],
        );
    }

    #[test]
    fn ticks_before_the_session_do_not_count() {
        check(
            "add criteria 2; tick 1 1; assign 1 alpha; settle 1",
            "finish 1",
            expect![[r#"
            > finish 1
            [task:completed] -> record_diff
            #1 waiting_approval/recording, alpha running
        "#]],
        );
    }

    #[test]
    fn a_session_without_a_change_may_be_followed_too() {
        check(
            THREE,
            "tick 1 1; idle 1; settle 1; idle 1",
            expect![[r#"
            > tick 1 1
            [criterion:checked]
            #1 in_progress/running, alpha running
            > idle 1
            [agent:continued] -> run_session
            #1 in_progress/starting, alpha starting
            > settle 1
            [agent:resumed]
            #1 in_progress/running, alpha running
            > idle 1
            [task:complete:failed]
            #1 in_progress/halted, alpha error, error TASK_NO_DIFF
        "#]],
        );
    }

    #[test]
    fn the_default_is_eight() {
        let Settings { sessions, .. } = World::new().settings;
        assert_eq!(sessions, 8);
    }
}
