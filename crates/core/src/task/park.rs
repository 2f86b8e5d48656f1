//! What follows a session that broke off: a pause and another try, or a person.
//!
//! The answer depends on the class of the failure and on how often it has come in a row. Tries are counted apart from
//! rejections and from the iterations of a workflow, and start again at zero when something succeeds or a person steps in.

use super::busy::check_not_busy;
use super::{Park, Stage, Task, WorkPhase};
use crate::machine::CommandKind;
use crate::{AgentId, Event, FailureClass, Refusal, Retries, SessionFailure, Settings};
use jiff::{SignedDuration, Timestamp};

/// First pause for a provider that gave no time; it doubles with each try.
const RATE_LIMIT_PAUSE: SignedDuration = SignedDuration::from_mins(1);
/// Longest pause for a provider that gave no time.
const RATE_LIMIT_PAUSE_MAX: SignedDuration = SignedDuration::from_hours(1);
/// Limits are given by the week at most; what asks for more is a mistake, or somebody's jest.
const RATE_LIMIT_WAIT_MAX: SignedDuration = SignedDuration::from_hours(8 * 24);
/// Rate limits in a row; at an hour each that is some days.
const RATE_LIMITS_MAX: u32 = 100;
/// Longest pause before a try after a crash or a lost connection.
const RETRY_PAUSE_MAX: SignedDuration = SignedDuration::from_mins(10);
/// How often an agent is asked again for output that can be understood.
const ASKS_MAX: u32 = 2;

/// Says until when to wait before the next try, or nothing when a person must choose.
pub fn find_next_try(retries: &Retries, attempt: u32, broke: &SessionFailure) -> Option<Timestamp> {
    let pause = match broke.class {
        FailureClass::RateLimit if attempt <= RATE_LIMITS_MAX => match broke.until {
            Some(until) => return Some(until.clamp(broke.at, later(broke.at, RATE_LIMIT_WAIT_MAX))),
            None => doubled(RATE_LIMIT_PAUSE, attempt, RATE_LIMIT_PAUSE_MAX),
        },
        FailureClass::Network | FailureClass::Crash if attempt <= retries.count => {
            let first = i64::try_from(retries.pause_milliseconds).unwrap_or(i64::MAX);
            doubled(SignedDuration::from_millis(first), attempt, RETRY_PAUSE_MAX)
        }
        FailureClass::InvalidOutput if attempt <= ASKS_MAX => SignedDuration::ZERO,
        _ => return None,
    };
    Some(later(broke.at, pause))
}

fn later(at: Timestamp, pause: SignedDuration) -> Timestamp {
    at.saturating_add(pause).unwrap_or(Timestamp::MAX)
}

fn doubled(first: SignedDuration, attempt: u32, most: SignedDuration) -> SignedDuration {
    let factor = 2_i32.saturating_pow(attempt.saturating_sub(1));
    first.checked_mul(factor).map_or(most, |pause| pause.min(most))
}

/// Parks the task until the next try, or halts it.
pub(super) fn broke(
    settings: &Settings,
    task: &Task,
    agent: &AgentId,
    session: u32,
    broke: &SessionFailure,
) -> Vec<Event> {
    let (task_id, agent_id, error) = (task.id, agent.clone(), broke.failure.clone());
    let attempt = task.retries + 1;
    vec![match find_next_try(&settings.retries, attempt, broke) {
        Some(until) => {
            Event::AgentParked { task_id, agent_id, session, class: broke.class, attempt, until, error }
        }
        None => Event::AgentSessionFailed { task_id, agent_id, session, error },
    }]
}

/// The pause is over.
pub(super) fn wait_over(task: &Task, agent: &AgentId, parked: u32, session: u32) -> Option<Vec<Event>> {
    (parked == session).then(|| vec![woken(task, agent, None)])
}

/// Continues a task that is parked or halted, because a person asked.
pub(crate) fn resume(task: &Task, feedback: Option<&str>) -> Result<Vec<Event>, Refusal> {
    let Stage::InProgress(work) = &task.stage else {
        return Err(Refusal::NothingToResume { task: task.id, column: task.column() });
    };
    match work.phase {
        WorkPhase::Halted | WorkPhase::Parked { .. } => {
            let woken = work.agent.iter().map(|agent| woken(task, agent, feedback.map(str::to_owned)));
            Ok(woken.collect())
        }
        WorkPhase::ByHand => {
            let why = "a person works on it, and there is no session to resume".to_owned();
            let next = format!("`regatta task reassign {} --agent NAME` gives it to an agent", task.id);
            Err(Refusal::NotLegal { task: task.id, column: task.column(), verb: "resume", why, next })
        }
        _ => check_not_busy(task, CommandKind::Assign).map(|()| Vec::new()),
    }
}

fn woken(task: &Task, agent: &AgentId, feedback: Option<String>) -> Event {
    Event::AgentWoken { task_id: task.id, agent_id: agent.clone(), session: task.sessions + 1, feedback }
}

impl Task {
    /// Returns what it waits for, if its last session broke off and another is to come.
    pub fn find_park(&self) -> Option<&Park> {
        let Stage::InProgress(work) = &self.stage else { return None };
        match &work.phase {
            WorkPhase::Parked { park, .. } => Some(park),
            WorkPhase::Driven { park, .. } => park.as_ref(),
            _ => None,
        }
    }

    /// Tells whether it waits for a time that its agent's provider gave, which may be hours away.
    pub fn waits_for_its_provider(&self) -> bool {
        self.find_park().is_some_and(|park| park.class == FailureClass::RateLimit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Code;
    use crate::testing::{check, failure};
    use expect_test::expect;

    fn pauses(class: FailureClass, given: Option<i64>, attempts: &[u32]) -> Vec<Option<i64>> {
        let at = Timestamp::from_second(1_000_000).unwrap();
        let until = given.map(|seconds| at.saturating_add(SignedDuration::from_secs(seconds)).unwrap());
        let broke = SessionFailure { failure: failure(Code::AgentSessionFailed), class, until, at };
        let retries = Retries { count: 3, pause_milliseconds: 5_000 };
        let pause = |attempt: &u32| {
            find_next_try(&retries, *attempt, &broke).map(|until| until.as_second() - at.as_second())
        };
        attempts.iter().map(pause).collect()
    }

    #[test]
    fn a_rate_limit_waits_for_the_time_that_was_given_or_longer_and_longer() {
        use FailureClass::RateLimit;
        assert_eq!(pauses(RateLimit, Some(90), &[1, 5]), [Some(90), Some(90)]);
        assert_eq!(pauses(RateLimit, Some(-90), &[1]), [Some(0)]);
        assert_eq!(pauses(RateLimit, Some(1_000_000_000), &[1]), [Some(8 * 24 * 3_600)]);
        assert_eq!(pauses(RateLimit, None, &[1, 2, 6, 7, 100]), [60, 120, 1_920, 3_600, 3_600].map(Some));
        assert_eq!(pauses(RateLimit, Some(90), &[101]), [None]);
    }

    #[test]
    fn a_crash_and_a_lost_connection_are_tried_again_as_often_as_the_settings_say() {
        for class in [FailureClass::Network, FailureClass::Crash] {
            assert_eq!(pauses(class, None, &[1, 2, 3, 4]), [Some(5), Some(10), Some(20), None]);
        }
        assert_eq!(pauses(FailureClass::InvalidOutput, None, &[1, 2, 3]), [Some(0), Some(0), None]);
    }

    #[test]
    fn the_rest_is_for_a_person() {
        use FailureClass::{Budget, Refused, Silence, Timeout};
        for class in [Timeout, Silence, Refused, Budget] {
            assert_eq!(pauses(class, Some(5), &[1]), [None], "{class}");
        }
    }

    #[test]
    fn a_broken_session_is_tried_again_and_then_left_to_a_person() {
        check(
            "retries 1; add; assign 1 alpha; settle 1",
            "crash 1 network; ok 1; ok 1; crash 1 crash; resume 1; settle 1; ready 1",
            expect![[r#"
                > crash 1 network
                [agent:parked] -> wait
                #1 in_progress/parked, alpha paused, error AGENT_SESSION_FAILED
                > ok 1
                [agent:woken] -> run_session
                #1 in_progress/starting, alpha starting, error AGENT_SESSION_FAILED
                > ok 1
                [agent:resumed]
                #1 in_progress/running, alpha running
                > crash 1 crash
                [agent:session:failed]
                #1 in_progress/halted, alpha error, error AGENT_SESSION_FAILED
                > resume 1
                [agent:woken] -> run_session
                #1 in_progress/starting, alpha starting, error AGENT_SESSION_FAILED
                > settle 1
                [agent:resumed]
                #1 in_progress/running, alpha running
                > ready 1
                [task:completed, approval:requested, agent:paused] -> record_diff, pause_agent
                #1 waiting_approval/ready, alpha paused
            "#]],
        );
    }

    #[test]
    fn a_parked_task_holds_no_place_and_can_be_woken_cancelled_or_completed() {
        check(
            "limit 1; add; add; assign 1 alpha; settle 1; crash 1 rate_limit",
            "assign 2 beta; resume 1; ok 1; report 1 wait_over 1",
            expect![[r#"
                > assign 2 beta
                [task:assigned] -> create_worktree
                #2 in_progress/preparing, beta starting
                > resume 1
                [agent:woken] -> run_session
                #1 in_progress/starting, alpha starting, error AGENT_SESSION_FAILED
                > ok 1
                []
                #1 in_progress/starting, alpha starting, error AGENT_SESSION_FAILED
                > report 1 wait_over 1
                []
                #1 in_progress/starting, alpha starting, error AGENT_SESSION_FAILED
            "#]],
        );
        check(
            "add; assign 1 alpha; settle 1; crash 1 rate_limit",
            "cancel 1; settle 1",
            expect![[r#"
            > cancel 1
            [agent:stopping] -> stop_agent
            #1 in_progress/stopping, alpha paused
            > settle 1
            [agent:stopped, worktree:salvaged, worktree:removed, task:cancelled] -> remove_worktree
            #1 backlog
        "#]],
        );
        check(
            "add; assign 1 alpha; settle 1; crash 1 rate_limit",
            "complete 1; report 1 wait_over 1",
            expect![[r#"
                > complete 1
                [task:completed] -> record_diff
                #1 waiting_approval/recording, alpha paused
                > report 1 wait_over 1
                []
                #1 waiting_approval/recording, alpha paused
            "#]],
        );
    }

    #[test]
    fn what_is_not_parked_or_halted_is_not_resumed() {
        check(
            "add",
            "resume 1; assign 1 alpha; resume 1; settle 1; resume 1; ready 1; resume 1",
            expect![[r#"
                > resume 1
                error[TASK_INVALID_TRANSITION]: task #1 was not resumed
                  why:  it is in backlog, and only tasks in progress can be resumed
                  next: see `regatta task show 1`
                > assign 1 alpha
                [task:assigned] -> create_worktree
                #1 in_progress/preparing, alpha starting
                > resume 1
                error[TASK_BUSY]: task #1 is busy
                  why:  its worktree is being created
                  next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
                > settle 1
                [worktree:created, agent:assigned] -> run_session
                #1 in_progress/running, alpha running
                > resume 1
                error[TASK_BUSY]: task #1 is busy
                  why:  its session is running
                  next: wait for it (`regatta events --follow`, `regatta task show 1`), then try again
                > ready 1
                [task:completed, approval:requested, agent:paused] -> record_diff, pause_agent
                #1 waiting_approval/ready, alpha paused
                > resume 1
                error[TASK_INVALID_TRANSITION]: task #1 was not resumed
                  why:  it is in waiting_approval, and only tasks in progress can be resumed
                  next: see `regatta task show 1`
            "#]],
        );
    }

    #[test]
    fn an_agent_that_does_not_start_again_leaves_the_work_where_it_is() {
        check(
            "add; assign 1 alpha; settle 1; crash 1 rate_limit; ok 1",
            "fail 1; resume 1; settle 1",
            expect![[r#"
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
    fn without_budget_the_task_keeps_its_worktree() {
        check(
            "add; assign 1 alpha; ok 1",
            "report 1 session_without_budget 1; resume 1",
            expect![[r#"
            > report 1 session_without_budget 1
            [agent:session:failed]
            #1 in_progress/halted, alpha error, error BUDGET_EXCEEDED
            > resume 1
            [agent:woken] -> run_session
            #1 in_progress/starting, alpha starting, error BUDGET_EXCEEDED
        "#]],
        );
    }
}
