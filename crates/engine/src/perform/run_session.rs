//! Runs one session of an agent, from its start to the report of its outcome.
//!
//! The intent stays open while the session runs. If the engine is killed, the next one ends the session's
//! remaining processes and runs the session again in the same worktree.

use crate::commands::orders;
use crate::core::{
    AgentId, Code, Complete, Failure, Outcome, Problem, Resume, SessionEnd, Stage, Task, TaskId, WorkPhase,
};
use crate::crash;
use crate::error::Error;
use crate::perform::Work;
use crate::project::Project;
use crate::runtime::control::Control;
use crate::session::charge::{self, Charge, Opening, Purpose};
use crate::session::desk::Subject;
use crate::session::prompt::{self, Share};
use crate::session::{leftovers, session_entry, sessions};
use crate::task_files;
use regatta_agents::{Ended, FailureClass, Outcome as Ending, ResultIs, StopReason};
use std::collections::BTreeMap;

pub(crate) async fn perform(
    work: &Work,
    task: TaskId,
    agent: &AgentId,
    session: u32,
    resume: Option<&Resume>,
    control: &Control,
) -> Result<(), Error> {
    crash::point("run_session.before");
    let stopped = |end| Outcome::SessionEnded { session, end };
    let found = orders::get_task(&work.project, task).await?;
    let Some(phase) = wanted(&found, session) else {
        leftovers::end_lost_session(work, task, session).await?;
        return work.settle(task, stopped(SessionEnd::Stopped)).await;
    };
    // If the session already ran before the engine was killed, its task has started, and the outcome is a
    // different one.
    let not_started = |failure| match phase {
        Phase::Starting => Outcome::SessionNotStarted { session, failure },
        Phase::Running => stopped(SessionEnd::Failed(failure)),
    };
    let mark = work.project.session_mark(task, session);
    let purpose = Purpose {
        mark: &mark,
        agent,
        task: Some(task),
        run: None,
        above: Vec::new(),
        role: None,
        number: session,
        is_fresh: resume.is_some_and(|resume| resume.follows),
    };
    let mut charge = match charge::open(work, purpose, control).await? {
        Opening::Open(charge) => charge,
        Opening::Refused(failure) => return work.settle(task, not_started(failure)).await,
        Opening::Stopped(reason) => return leave(work, task, session, reason).await,
    };
    work.keep_file(task).await?;
    session_entry::archive_if_due(work, task).await?;
    let found = orders::get_task(&work.project, task).await?;
    let start = session_entry::find_start(&work.project, &found).await;
    let mut ended = loop {
        let running = match begin(work, &found, agent, session, resume, &charge).await {
            Ok(Some(running)) => running,
            Ok(None) => {
                charge.abandon(work).await?;
                return leave(work, task, session, StopReason::Cancelled).await;
            }
            Err(problem) => {
                charge.abandon(work).await?;
                return work.settle(task, not_started(Failure::from(*problem))).await;
            }
        };
        work.note(task, Outcome::SessionStarted { session }).await?;
        crash::point("run_session.started");
        let ended = sessions::watch(&work.project, running, control).await;
        // The prompt says all that is needed, so a new session of the agent will do.
        if !charge.starts_afresh(&ended) {
            break ended;
        }
    };
    if let Some(entry) = work.project.config().agents.get(agent) {
        charge.judge(&entry.limits, &mut ended);
    }
    crash::point("run_session.ended");
    let end = match &ended.outcome {
        // The next engine continues with it.
        Ending::Stopped(StopReason::Shutdown) => return Ok(()),
        Ending::Stopped(StopReason::Cancelled | StopReason::Paused) => SessionEnd::Stopped,
        Ending::Failed(failure) => {
            let explained = explain(&work.project, task, session, failure);
            SessionEnd::Broken(charge::breakdown(failure, explained))
        }
        Ending::Finished => finish(&work.project, task, session, &ended).await,
    };
    charge.close(work, &ended).await?;
    session_entry::remember(work, &found, session, start.as_ref(), (&ended.outcome, &end)).await?;
    crash::point("run_session.after");
    work.settle(task, stopped(end)).await
}

enum Phase {
    Starting,
    Running,
}

/// Tells whether the task still waits for this session; otherwise what is left of it is ended.
pub(crate) fn is_wanted(task: &Task, session: u32) -> bool {
    wanted(task, session).is_some()
}

/// Returns the phase of the session, if the task still waits for it.
fn wanted(task: &Task, session: u32) -> Option<Phase> {
    let Stage::InProgress(work) = &task.stage else { return None };
    match work.phase {
        WorkPhase::Starting { session: number, .. } if number == session => Some(Phase::Starting),
        WorkPhase::Running { session: number } if number == session => Some(Phase::Running),
        _ => None,
    }
}

/// A session that was stopped before it began is over if its task was stopped; otherwise it begins with the
/// next engine.
async fn leave(work: &Work, task: TaskId, session: u32, reason: StopReason) -> Result<(), Error> {
    match reason {
        StopReason::Shutdown => Ok(()),
        StopReason::Cancelled | StopReason::Paused => {
            work.settle(task, Outcome::SessionEnded { session, end: SessionEnd::Stopped }).await
        }
    }
}

async fn begin(
    work: &Work,
    task: &Task,
    agent: &AgentId,
    session: u32,
    resume: Option<&Resume>,
    charge: &Charge,
) -> Result<Option<sessions::Live>, Box<Problem>> {
    let project = &work.project;
    let worktree = task.worktree().expect("a task in progress has a worktree");
    let request = sessions::Request {
        mark: project.session_mark(task.id, session),
        agent,
        speaks_for: Subject { agent: agent.clone(), session, task: Some(task.id), run: None },
        subject: format!("task #{}", task.id),
        number: session,
        item: None,
        result_is: ResultIs::Report,
        folder: project.place(&worktree.path),
        branch: orders::branch_of(worktree).map_err(|error| Box::new(error.explain()))?,
        writes: true,
        prompt: prompt::render(
            task,
            &task_files::file_path(project, task.id),
            session,
            resume,
            Share::of(task, &project.config().settings),
        ),
        transcript: project.transcript(task.id, session),
        own: sessions::names_of_task(project, task, agent, session),
        variables: variables(task, session),
        charge: Some(charge),
    };
    sessions::begin(work, request).await
}

fn variables(task: &Task, session: u32) -> BTreeMap<String, String> {
    let pairs = [
        ("task", task.id.to_string()),
        ("title", task.title.clone()),
        ("description", task.description.clone()),
        ("session", session.to_string()),
    ];
    pairs.map(|(name, value)| (name.to_owned(), value)).into()
}

/// Commits what the agent left, and computes the diff.
async fn finish(project: &Project, task: TaskId, session: u32, ended: &Ended) -> SessionEnd {
    let diff = async {
        let found = orders::get_task(project, task).await?;
        orders::commit_work(project, &found, &format!("Task #{task}: work of session {session}")).await
    };
    match diff.await.map(|diff| Complete::new(diff, ended.turns.max(1), ended.summary.clone())) {
        Ok(Ok(complete)) => SessionEnd::Finished(complete),
        Ok(Err(faults)) => SessionEnd::Failed(Failure::from(orders::invalid(faults).explain())),
        Err(error) => SessionEnd::Failed(Failure::from(error.explain())),
    }
}

fn explain(project: &Project, task: TaskId, session: u32, failure: &regatta_agents::Failure) -> Failure {
    let transcript = project.transcript(task, session);
    let (code, next) = match failure.class {
        FailureClass::RateLimit => {
            (Code::RateLimited, format!("it resumes automatically; `regatta task resume {task}` tries now"))
        }
        FailureClass::Budget => (
            Code::BudgetExceeded,
            format!("raise the limit in .regatta/config.toml, then `regatta task resume {task}`"),
        ),
        _ => (
            Code::AgentSessionFailed,
            format!(
                "read {}; then `regatta task resume {task}` to try again, `regatta task complete {task}` if the work is \
                 good, or `regatta task cancel {task}` (the work is kept as a salvage)",
                transcript.display()
            ),
        ),
    };
    let mut problem =
        Problem::new(code, format!("session {session} of task #{task} failed"), failure.to_string(), next)
            .with("class", failure.class.name())
            .with("session", session)
            .with("transcript", transcript.display().to_string());
    if let Some(exit) = failure.exit {
        problem = problem.with("exit", exit);
    }
    if let Some(signal) = failure.signal {
        problem = problem.with("signal", signal);
    }
    if !failure.tail.is_empty() {
        problem = problem.with("tail", failure.tail.as_str());
    }
    Failure::from(problem)
}
