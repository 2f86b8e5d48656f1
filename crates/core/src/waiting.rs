//! What a task or a run waits for, and until when: every state that is not final has an owner and a deadline.
//!
//! Whether an engine runs, and whether tasks that come first are done, is seen outside and passed in. A
//! deadline that passes changes nothing by itself: a wait for a person is then overdue, and everything else
//! is ended by its own limit.

use crate::run::{self, Phase, Turn};
use crate::{Approval, Cleanup, ReviewPhase, Stage, Task, WorkPhase};
use jiff::{SignedDuration, Timestamp};
use serde::Serialize;

/// Who or what makes the next move.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are those of the contract")]
pub enum WaitsFor {
    You,
    Clock,
    Task,
    Queue,
    Agent,
    Engine,
    Nobody,
}

/// What is waited for, and until when at the latest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Wait {
    /// Who or what.
    pub waits_for: WaitsFor,
    /// The deadline; nothing in a final state.
    pub until: Option<Timestamp>,
}

/// How long each kind of wait may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Spans {
    /// For a person, for another task, and in the queue.
    pub review: SignedDuration,
    /// For a session of the agent.
    pub session: SignedDuration,
    /// To make a worktree, with its set-up.
    pub setup: SignedDuration,
    /// For all checks together.
    pub checks: SignedDuration,
    /// For anything else that the engine does.
    pub step: SignedDuration,
}

/// What is seen outside the task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Around {
    /// Whether an engine runs.
    pub has_engine: bool,
    /// Whether it is in the queue.
    pub is_queued: bool,
    /// Whether a task that it depends on is not verified.
    pub is_blocked: bool,
    /// Whether its agent has asked a person something.
    pub is_asking: bool,
}

impl Wait {
    /// Tells whether a person has let the deadline pass.
    pub fn is_overdue(&self, now: Timestamp) -> bool {
        self.waits_for == WaitsFor::You && self.until.is_some_and(|until| until < now)
    }

    fn nobody() -> Self {
        Wait { waits_for: WaitsFor::Nobody, until: None }
    }

    fn since(waits_for: WaitsFor, since: Timestamp, span: SignedDuration) -> Self {
        Wait { waits_for, until: Some(since.checked_add(span).unwrap_or(Timestamp::MAX)) }
    }

    /// Without an engine nobody but a person makes a move.
    fn or_you(self, around: Around, since: Timestamp, spans: &Spans) -> Self {
        let needs_engine =
            matches!(self.waits_for, WaitsFor::Engine | WaitsFor::Agent | WaitsFor::Clock | WaitsFor::Queue);
        if needs_engine && !around.has_engine {
            return Wait::since(WaitsFor::You, since, spans.review);
        }
        self
    }
}

impl Task {
    /// Says what the task waits for.
    pub fn find_wait(&self, around: Around, spans: &Spans) -> Wait {
        self.wait_by_log(around, spans).or_you(around, self.updated_at, spans)
    }

    fn wait_by_log(&self, around: Around, spans: &Spans) -> Wait {
        let since = |waits_for, span| Wait::since(waits_for, self.updated_at, span);
        let you = since(WaitsFor::You, spans.review);
        let engine = since(WaitsFor::Engine, spans.step);
        let agent = since(WaitsFor::Agent, spans.session);
        match &self.stage {
            Stage::Backlog if around.is_queued => since(WaitsFor::Queue, spans.review),
            Stage::Backlog if self.is_done_elsewhere() => Wait::nobody(),
            Stage::Backlog if around.is_blocked => since(WaitsFor::Task, spans.review),
            Stage::Backlog => you,
            Stage::InProgress(work) => match &work.phase {
                WorkPhase::Preparing => since(WaitsFor::Engine, spans.setup),
                _ if around.is_asking => you,
                WorkPhase::Running { .. } | WorkPhase::Driven { session: Some(_), .. } => agent,
                WorkPhase::Parked { park, .. } | WorkPhase::Driven { park: Some(park), .. } => {
                    Wait { waits_for: WaitsFor::Clock, until: Some(park.until) }
                }
                WorkPhase::Halted | WorkPhase::ByHand => you,
                _ => engine,
            },
            Stage::WaitingApproval(review) => match &review.phase {
                ReviewPhase::Ready if review.approval == Approval::Auto && self.error.is_none() => engine,
                ReviewPhase::Ready => you,
                ReviewPhase::Checking => since(WaitsFor::Engine, spans.checks),
                _ => engine,
            },
            Stage::Verified(landed) => match landed.cleanup {
                Cleanup::Pending => engine,
                Cleanup::Done => Wait::nobody(),
                Cleanup::Failed => you,
            },
        }
    }
}

impl run::Run {
    /// Says what the run waits for; `is_persons` is whether a person has to move, in this run, its task or its children.
    pub fn find_wait(&self, is_persons: bool, around: Around, spans: &Spans) -> Wait {
        let since = |waits_for, span| Wait::since(waits_for, self.updated_at, span);
        let wait = match self.turn() {
            Turn::Nobody => return Wait::nobody(),
            _ if is_persons => since(WaitsFor::You, spans.review),
            Turn::Person | Turn::Parent => since(WaitsFor::You, spans.review),
            Turn::Task(_) | Turn::Children => since(WaitsFor::Task, spans.review),
            Turn::Engine => match self.phase() {
                Some(Phase::Performing { .. } | Phase::Parallel { .. }) => {
                    since(WaitsFor::Agent, spans.session)
                }
                _ => since(WaitsFor::Engine, spans.step),
            },
        };
        wait.or_you(around, self.updated_at, spans)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{World, id};
    use expect_test::expect;

    const SPANS: Spans = Spans {
        review: SignedDuration::from_hours(24 * 7),
        session: SignedDuration::from_hours(1),
        setup: SignedDuration::from_mins(10),
        checks: SignedDuration::from_mins(30),
        step: SignedDuration::from_mins(5),
    };

    #[test]
    fn every_state_that_is_not_final_has_somebody_to_wait_for_and_a_deadline() {
        let situations = [
            "add",
            "add; assign 1 alpha",
            "add; assign 1 alpha; ok 1",
            "add; assign 1 alpha; settle 1",
            "add; assign 1 alpha; settle 1; break 1",
            "add; take 1; settle 1",
            "retries 1; add; assign 1 alpha; settle 1; crash 1 crash",
            "add; assign 1 alpha run; settle 1",
            "add; assign 1 alpha run; settle 1; report 1 role_started 1 alpha",
            "add; assign 1 alpha; settle 1; cancel 1",
            "add; assign 1 alpha; settle 1; cancel 1; ok 1",
            "add; assign 1 alpha; settle 1; finish 1",
            "add; assign 1 alpha; settle 1; finish 1; ok 1",
            "checks test; add; assign 1 alpha; settle 1; finish 1; ok 1; ok 1",
            "add; assign 1 alpha; settle 1; ready 1",
            "auto; add; assign 1 alpha; settle 1; finish 1; ok 1; ok 1",
            "auto; add criteria 1; assign 1 alpha; settle 1; ready 1",
            "add; assign 1 alpha; settle 1; ready 1; approve 1",
            "add; assign 1 alpha; settle 1; ready 1; approve 1; ok 1",
            "add; assign 1 alpha; settle 1; ready 1; approve 1; settle 1",
            "add; assign 1 alpha; settle 1; ready 1; approve 1; ok 1; fail 1",
        ];
        let attended = Around { has_engine: true, ..Around::default() };
        let text: String = situations
            .iter()
            .map(|given| {
                let world = World::given(given);
                let task = &world.tasks[&id(1)];
                let wait = task.find_wait(attended, &SPANS);
                let alone = task.find_wait(Around::default(), &SPANS);
                assert!(wait.until.is_some() || wait.waits_for == WaitsFor::Nobody, "{given}");
                format!("{given}\n    {}; without an engine {:?}\n", show(task, wait), alone.waits_for)
            })
            .collect();
        expect![[r#"
            add
                You for 168h; without an engine You
            add; assign 1 alpha
                Engine for 10m; without an engine You
            add; assign 1 alpha; ok 1
                Engine for 5m; without an engine You
            add; assign 1 alpha; settle 1
                Agent for 1h; without an engine You
            add; assign 1 alpha; settle 1; break 1
                You for 168h; without an engine You
            add; take 1; settle 1
                You for 168h; without an engine You
            retries 1; add; assign 1 alpha; settle 1; crash 1 crash
                Clock for 1m; without an engine You
            add; assign 1 alpha run; settle 1
                Engine for 5m; without an engine You
            add; assign 1 alpha run; settle 1; report 1 role_started 1 alpha
                Agent for 1h; without an engine You
            add; assign 1 alpha; settle 1; cancel 1
                Engine for 5m; without an engine You
            add; assign 1 alpha; settle 1; cancel 1; ok 1
                Engine for 5m; without an engine You
            add; assign 1 alpha; settle 1; finish 1
                Engine for 5m; without an engine You
            add; assign 1 alpha; settle 1; finish 1; ok 1
                Engine for 5m; without an engine You
            checks test; add; assign 1 alpha; settle 1; finish 1; ok 1; ok 1
                Engine for 30m; without an engine You
            add; assign 1 alpha; settle 1; ready 1
                You for 168h; without an engine You
            auto; add; assign 1 alpha; settle 1; finish 1; ok 1; ok 1
                Engine for 5m; without an engine You
            auto; add criteria 1; assign 1 alpha; settle 1; ready 1
                You for 168h; without an engine You
            add; assign 1 alpha; settle 1; ready 1; approve 1
                Engine for 5m; without an engine You
            add; assign 1 alpha; settle 1; ready 1; approve 1; ok 1
                Engine for 5m; without an engine You
            add; assign 1 alpha; settle 1; ready 1; approve 1; settle 1
                Nobody for ever; without an engine Nobody
            add; assign 1 alpha; settle 1; ready 1; approve 1; ok 1; fail 1
                You for 168h; without an engine You
        "#]]
        .assert_eq(&text);
    }

    fn show(task: &Task, wait: Wait) -> String {
        let until = wait.until.map(|until| until.duration_since(task.updated_at));
        format!("{:?} for {}", wait.waits_for, until.map_or("ever".to_owned(), |span| format!("{span:#}")))
    }

    #[test]
    fn a_task_in_the_backlog_waits_for_whatever_comes_first() {
        let world = World::given("add");
        let task = &world.tasks[&id(1)];
        let wait = |is_queued, is_blocked| {
            task.find_wait(Around { has_engine: true, is_queued, is_blocked, is_asking: false }, &SPANS)
                .waits_for
        };
        assert_eq!(
            [wait(true, true), wait(false, true), wait(false, false)],
            [WaitsFor::Queue, WaitsFor::Task, WaitsFor::You]
        );
    }

    #[test]
    fn only_a_person_is_overdue() {
        let world = World::given("add; assign 1 alpha; settle 1; ready 1");
        let wait = world.tasks[&id(1)].find_wait(Around::default(), &SPANS);
        let until = wait.until.unwrap();
        let later = until.checked_add(SignedDuration::from_secs(1)).unwrap();
        assert_eq!((wait.is_overdue(until), wait.is_overdue(later)), (false, true));
        assert!(!Wait { waits_for: WaitsFor::Agent, ..wait }.is_overdue(later));
    }
}
