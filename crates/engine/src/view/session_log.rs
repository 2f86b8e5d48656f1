//! The sessions of a task or a run with their transcripts, and what the running ones are doing.
//!
//! The log says which sessions there are; the transcript says what happened in one. Any process may read both
//! while another process's engine writes them.

use crate::clock;
use crate::commands::accounts;
use crate::core::session::{Ending, Event, Scope, Subject, Usage};
use crate::core::{AgentId, FailureClass, RunId, TaskId};
use crate::error::Error;
use crate::project::Project;
use jiff::Timestamp;
use regatta_agents::{Activity, TimedItem};
use serde::Serialize;
use serde_json::{Value, json};
use std::path::PathBuf;

/// One session, including all of its tries.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionLog {
    /// Its name, the same when it is run again after a crash.
    pub session: String,
    /// The agent.
    pub agent_id: AgentId,
    /// The task it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub task_id: Option<TaskId>,
    /// The run it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    /// The role that the agent plays in the run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// Its number among those of its task, or of its role.
    pub number: u32,
    /// When it was opened first.
    pub opened_at: Timestamp,
    /// How its last try ended; nothing while it is open.
    pub end: Option<SessionEnd>,
    /// Its transcript.
    pub transcript: PathBuf,
    #[serde(skip)]
    subject: Subject,
}

/// How a session ended.
#[derive(Debug, Clone, Copy, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct SessionEnd {
    /// When.
    pub at: Timestamp,
    /// How.
    pub ending: Ending,
    /// The class of its failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub class: Option<FailureClass>,
    /// What it used, over all of its tries.
    pub usage: Usage,
}

/// What a running session is doing.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ActivityView {
    /// The session's number.
    pub session: u32,
    /// The agent.
    pub agent_id: AgentId,
    /// The role that the agent plays in a run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// When the session was opened.
    pub started_at: Timestamp,
    /// The tool that is running; nothing between two calls.
    pub tool: Option<String>,
    /// The arguments of that tool, in one line.
    pub about: Option<String>,
    /// The file that it last read or changed.
    pub file: Option<String>,
    /// Tokens so far, if the agent reports them while it works.
    pub tokens: Option<u64>,
    /// The cost so far in millionths of a US dollar, if the agent reports it while it works.
    pub cost_micros: Option<u64>,
    /// When it last said or did something.
    pub last_sign_at: Option<Timestamp>,
}

impl SessionLog {
    fn new(project: &Project, subject: Subject, opened_at: Timestamp) -> Self {
        SessionLog {
            session: subject.session.clone(),
            agent_id: subject.agent_id.clone(),
            task_id: subject.task_id,
            run_id: subject.run_id,
            role: subject.role.clone(),
            number: subject.number,
            opened_at,
            end: None,
            transcript: find_transcript(project, &subject),
            subject,
        }
    }

    /// Tells whether it has begun and not ended.
    pub fn is_open(&self) -> bool {
        self.end.is_none()
    }

    /// Returns an item of its transcript with the session it belongs to.
    pub fn show_item(&self, timed: &TimedItem) -> Value {
        let mut item = json!({ "session": self.number, "agentId": self.agent_id });
        let Value::Object(fields) = &mut item else { return item };
        if let Some(task) = self.task_id {
            fields.insert("taskId".to_owned(), json!(task));
        }
        if let Some(run) = self.run_id {
            fields.insert("runId".to_owned(), json!(run));
        }
        if let Some(role) = &self.role {
            fields.insert("role".to_owned(), json!(role));
        }
        if let Ok(Value::Object(own)) = serde_json::to_value(timed) {
            fields.extend(own);
        }
        item
    }

    /// Returns what it has used so far according to its transcript, and the time since it was opened.
    fn usage_so_far(&self) -> Usage {
        let used = Activity::load(&self.transcript).unwrap_or_default().usage.unwrap_or_default();
        let taken = clock::now().duration_since(self.opened_at).as_millis();
        Usage {
            input_tokens: used.input_tokens,
            cached_tokens: used.cached_tokens,
            output_tokens: used.output_tokens,
            cost_micros: used.cost_micros,
            milliseconds: u64::try_from(taken).unwrap_or_default(),
        }
    }
}

/// Returns the sessions of a task, or of a run and its children, in order.
pub async fn list_session_logs(project: &Project, scope: Scope) -> Result<Vec<SessionLog>, Error> {
    let mut logs: Vec<SessionLog> = Vec::new();
    for fact in accounts::list_sessions(project, scope).await? {
        let (at, event) = (fact.at, fact.event);
        let place = logs.iter().rposition(|log| log.session == event.subject().session);
        match (event, place) {
            (Event::SessionOpened { subject, .. }, None) => logs.push(SessionLog::new(project, subject, at)),
            (Event::SessionOpened { .. }, Some(place)) => logs[place].end = None,
            (Event::SessionClosed { ending, class, usage, .. }, Some(place)) => {
                logs[place].end = Some(SessionEnd { at, ending, class, usage });
            }
            _ => {}
        }
    }
    Ok(logs)
}

/// Finds a session by its name, which says whose it is: `MARK-task-NUMBER-SESSION`, `MARK-run-NUMBER-STEP`, or
/// `MARK-run-NUMBER-STEP-NODE` in a `parallel` node.
pub async fn find_session_log(project: &Project, name: &str) -> Result<Option<SessionLog>, Error> {
    let mut parts = name.split('-').skip(1);
    let (kind, number) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    let scope = match kind {
        "task" => number.parse().ok().map(Scope::Task),
        "run" => number.parse().ok().map(Scope::Run),
        _ => None,
    };
    let Some(scope) = scope else { return Ok(None) };
    Ok(list_session_logs(project, scope).await?.into_iter().find(|log| log.session == name))
}

/// Returns what the running sessions of a scope have used so far; none of it is in an account yet.
pub(crate) async fn list_running(project: &Project, scope: Scope) -> Result<Vec<(Subject, Usage)>, Error> {
    // Most of the time nothing runs, and the account says so at once.
    if accounts::get_account(project, scope).await?.held.is_empty() {
        return Ok(Vec::new());
    }
    let logs = list_session_logs(project, scope).await?;
    let open = logs.into_iter().filter(SessionLog::is_open);
    Ok(open.map(|log| (log.subject.clone(), log.usage_so_far())).collect())
}

/// Says what the session of a task is doing; nothing if none runs.
pub(crate) async fn find_activity(project: &Project, task: TaskId) -> Result<Option<ActivityView>, Error> {
    let scope = Scope::Task(task);
    if accounts::get_account(project, scope).await?.held.is_empty() {
        return Ok(None);
    }
    let logs = list_session_logs(project, scope).await?;
    let Some(log) = logs.into_iter().rfind(SessionLog::is_open) else { return Ok(None) };
    let Activity { tool, is_tool_open, file, usage, last_sign } =
        Activity::load(&log.transcript).unwrap_or_default();
    let (tool, about) = tool.filter(|_| is_tool_open).unzip();
    Ok(Some(ActivityView {
        session: log.number,
        agent_id: log.agent_id,
        role: log.role,
        started_at: log.opened_at,
        tool,
        about: about.filter(|about| !about.is_empty()),
        file,
        tokens: usage.map(|usage| usage.tokens()),
        cost_micros: usage.and_then(|usage| usage.cost_micros),
        last_sign_at: last_sign,
    }))
}

/// Returns the role that the newest session of a task plays or played; nothing if no run works on the task.
pub(crate) async fn find_role(project: &Project, task: TaskId) -> Result<Option<String>, Error> {
    let logs = list_session_logs(project, Scope::Task(task)).await?;
    Ok(logs.into_iter().next_back().and_then(|log| log.role))
}

/// Returns the path of a session's transcript. For a step of a run without a task, the session's name ends with that of the
/// step.
fn find_transcript(project: &Project, subject: &Subject) -> PathBuf {
    match (subject.task_id, subject.run_id) {
        (Some(task), _) => project.transcript(task, subject.number),
        (None, Some(run)) => {
            let step = subject.session.split_once(&format!("run-{run}-"));
            project.transcript_of_step(run, step.map_or("0", |(_, step)| step))
        }
        (None, None) => project.location().sessions().join(format!("{}.jsonl", subject.session)),
    }
}
