//! Tasks and agents as people and programs see them: one shape for the CLI's JSON, and later for HTTP.

use crate::clock;
use crate::commands::accounts;
use crate::commands::notes::{self, NoteView};
use crate::commands::orders;
use crate::commands::questions::list_questions;
use crate::core;
use crate::core::machine::Column;
use crate::core::session::{Asked, Scope, Spent};
use crate::core::{
    AgentId, AgentState, Cleanup, Code, Criterion, Diff, EpicId, Evidence, Failure, InputNote, Lacks, Park,
    PrdSlug, Priority, Queued, ReviewPhase, RunId, Salvage, Spans, Stage, Task, TaskId, TaskSource, WaitsFor,
    WorkPhase, WorktreeState,
};
use crate::error::Error;
use crate::log::list;
use crate::project::Project;
use crate::project::config::Program;
use crate::project::readiness;
use crate::runs;
use crate::runtime::engine;
use crate::runtime::holder::Holder;
use crate::session::sandbox;
use crate::task_files;
use crate::task_files::file_size::{self, FileSize};
use crate::view::collision::{self, CollisionView};
use crate::view::question::QuestionView;
use crate::view::recovery::{Means, RecoveryView, recover_task};
use crate::view::rejections::{RejectionView, list_rejections};
use crate::view::session_log::{self, ActivityView};
use jiff::{SignedDuration, Timestamp};
use regatta_agents::Limits;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The phase of work that is in progress according to the log, but that nobody works on.
pub(crate) const UNATTENDED: &str = "unattended";

/// A task, flat and in camel case.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the contract")]
pub struct TaskView {
    pub id: TaskId,
    pub title: String,
    pub description: String,
    pub column: Column,
    pub phase: &'static str,
    pub priority: Priority,
    pub epic_id: Option<EpicId>,
    pub prd: Option<PrdSlug>,
    pub agent_id: Option<String>,
    pub agent_state: AgentState,
    pub dependencies: Vec<TaskId>,
    /// Those of its dependencies that are not merged yet; only for a task that could otherwise be assigned.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub blocked_by: Vec<TaskId>,
    /// The run that works on it, or worked on it last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run_id: Option<RunId>,
    pub criteria: Vec<CriterionView>,
    pub rejection_count: u32,
    pub sessions: u32,
    pub queue_position: Option<u32>,
    pub queued: Option<QueuedView>,
    pub branch: Option<String>,
    pub target: Option<String>,
    pub worktree: Option<String>,
    pub worktree_state: Option<WorktreeState>,
    pub diff: Option<Diff>,
    /// What the diff under review lacks to be complete.
    pub lacks: Option<Lacks>,
    pub turn_count: Option<u32>,
    pub summary: Option<String>,
    pub checks: Vec<Evidence>,
    pub approver: Option<String>,
    pub merge_commit: Option<String>,
    pub salvages: Vec<Salvage>,
    pub state_file: String,
    /// Only set when a task is requested with its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub state_file_size: Option<FileSize>,
    /// The sandbox of the agent's program; only set when a task is requested with its file, and not for
    /// scripts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<String>,
    /// What to look at although nothing is wrong: a stale input, a file that grows too large.
    pub warnings: Vec<String>,
    /// The work of others that it is going to collide with.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub collisions: Vec<CollisionView>,
    /// How many more there are.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_collisions: u32,
    pub progress_entries: u32,
    pub inputs: Vec<InputNote>,
    pub parked: Option<Park>,
    /// Only set when a task is requested with its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub spent: Option<Spent>,
    /// What its session is doing; only set when a task is requested with its file, while a session runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub activity: Option<ActivityView>,
    /// The role that its newest session plays or played in a run; only set on cards.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub role: Option<String>,
    /// What its session waits for a person to allow.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub question: Option<QuestionView>,
    /// What reviewers said who sent it back; only set when a task is requested with its file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub rejections: Vec<RejectionView>,
    /// What people wrote to its agents; only set when a task is requested with its file.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub notes: Vec<NoteView>,
    pub error: Option<Failure>,
    /// What a person can do about the error, or about checks that failed; only set when a task is requested with its file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub recovery: Option<Box<RecoveryView>>,
    /// The files of another tool that it was made of.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source: Option<Box<TaskSource>>,
    pub hidden: bool,
    pub owner: String,
    pub next: String,
    pub waits_for: WaitsFor,
    pub until: Option<Timestamp>,
    pub deadline: Option<Timestamp>,
    /// Whether a person has let the deadline pass.
    pub overdue: bool,
    pub created_at: Timestamp,
    pub updated_at: Timestamp,
}

/// A criterion with its claim, and whether the engine has seen that it holds.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs, reason = "the fields are those of the contract")]
pub struct CriterionView {
    pub text: String,
    pub checked: bool,
    pub verified: bool,
    /// Whether a reviewer found it met; nothing if none has judged it.
    pub met: Option<bool>,
    pub check: Option<String>,
}

/// Why a task is queued, and for whom it waits.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the contract")]
pub struct QueuedView {
    pub code: Code,
    /// The agent, or `any`.
    pub agent_id: String,
}

/// An agent of the config with what it is doing.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields say it")]
pub struct AgentView {
    pub id: String,
    pub kind: &'static str,
    pub note: Option<&'static str>,
    pub state: AgentState,
    pub instances: u32,
    pub tasks: Vec<TaskId>,
    /// The runs in which it plays a role now, without a task.
    pub runs: Vec<RunId>,
    pub command: Option<Vec<String>>,
    pub script: Option<String>,
    /// What it lacks before it can work: a program, a variable, a login.
    pub missing: Vec<String>,
}

/// Returns one task.
pub async fn show_task(project: &Project, task: TaskId) -> Result<TaskView, Error> {
    let task = orders::get_task(project, task).await?;
    let mut around = Around::load(project).await?;
    around.unverified = orders::load_unverified(project, &task.dependencies).await?;
    let mut shown = view_with_run(project, &task, &around).await?;
    if let Some(way_on) = find_way_on(project, &task, &around).await? {
        shown.owner = "you".to_owned();
        shown.next = way_on;
    }
    Ok(shown)
}

/// Shows a task; if nobody works on it because a run is paused, at any distance above, names that run.
pub(crate) async fn view_with_run(
    project: &Project,
    task: &Task,
    around: &Around,
) -> Result<TaskView, Error> {
    let mut shown = view(project, task, around).await?;
    if let (UNATTENDED, Some(run)) = (shown.phase, task.run)
        && let Some(paused) = runs::find_paused(project, run).await?
    {
        shown.next = format!("run {paused} is paused: regatta run --resume {paused}");
    }
    Ok(shown)
}

/// Says how to continue the run that waited for a task; nothing while an engine does so, or the run waits for
/// more.
async fn find_way_on(project: &Project, task: &Task, around: &Around) -> Result<Option<String>, Error> {
    let (Stage::Verified(landed), Some(run)) = (&task.stage, task.run) else { return Ok(None) };
    if around.attends(project, task.id).await? || landed.cleanup != Cleanup::Done {
        return Ok(None);
    }
    let way_on = runs::find_way_on(project, run).await?;
    Ok(way_on.map(|way_on| format!("nothing; it is merged. Run {run} waits for an engine: {way_on}")))
}

/// Returns one task with the size of its file.
///
/// The size is that of the file on disk now. Other verbs omit it: their answers depend on the log alone, so
/// that a repeated command gets the same answer.
pub async fn show_task_with_file(project: &Project, task: TaskId) -> Result<TaskView, Error> {
    let file = task_files::peek_text(project, task);
    let state_file_size = file.map(|file| file_size::measure(&file, Some(task.number())));
    let spent = accounts::get_account(project, Scope::Task(task)).await?.spent;
    let view = show_task(project, task).await?;
    let sandbox = sandbox::describe(project, &orders::get_task(project, task).await?).await;
    // A session whose engine is gone is open in the log, but nobody is working.
    let activity = match view.phase {
        "running" | "asking" => session_log::find_activity(project, task).await?,
        _ => None,
    };
    let spent = Some(spent).filter(|spent| spent.sessions > 0);
    let rejections =
        if view.rejection_count > 0 { list_rejections(project, task).await? } else { Vec::new() };
    let notes = notes::list(project, task).await?;
    let recovery = recover_task(&view, &Means::of(project)).map(Box::new);
    Ok(TaskView { state_file_size, sandbox, spent, activity, notes, rejections, recovery, ..view })
}

/// Tells whether the log has a command for the task that nobody carries out, such as that of an interrupted
/// verb.
pub async fn is_left_alone(project: &Project, task: TaskId) -> Result<bool, Error> {
    let task = orders::get_task(project, task).await?;
    let is_by_itself = match &task.stage {
        Stage::InProgress(work) => matches!(work.phase, WorkPhase::Driven { .. } | WorkPhase::Parked { .. }),
        Stage::Backlog | Stage::WaitingApproval(_) | Stage::Verified(_) => false,
    };
    if task.is_at_rest() || is_by_itself {
        return Ok(false);
    }
    Ok(!Around::load(project).await?.attends(project, task.id).await?)
}

/// Returns all tasks by number.
pub async fn list_tasks(project: &Project) -> Result<Vec<TaskView>, Error> {
    let mut around = Around::load(project).await?;
    let found = list::load_tasks(project).await?;
    let unverified = found.iter().filter(|task| !task.is_done());
    around.unverified = unverified.map(|task| task.id).collect();
    let mut tasks = Vec::new();
    for task in &found {
        tasks.push(view_with_run(project, task, &around).await?);
    }
    Ok(tasks)
}

/// Returns the agents of the config.
pub async fn list_agents(project: &Project) -> Result<Vec<AgentView>, Error> {
    let assignments = orders::load_assignments(project).await?;
    let roles = find_roles_at_work(project).await?;
    let agents = project.config().agents.iter();
    let agent = |(id, entry): (&crate::core::AgentId, &crate::project::config::AgentEntry)| {
        let held: Vec<_> =
            assignments.held.iter().filter(|(_, assignment)| assignment.agent == *id).collect();
        let runs = roles.get(id).cloned().unwrap_or_default();
        let states = held.iter().map(|(_, assignment)| assignment.state);
        let state =
            states.chain((!runs.is_empty()).then_some(AgentState::Running)).min_by_key(|state| rank(*state));
        let (kind, note, command, script) = match &entry.program {
            Program::Scripted { script } => {
                ("scripted", Some("plays a script, no model"), None, Some(script.display().to_string()))
            }
            Program::Command { command } => ("command", None, Some(command.clone()), None),
            Program::Headless { kind, command } => (kind.name(), None, Some(command.clone()), None),
            Program::Acp { command } => ("acp", None, Some(command.clone()), None),
        };
        AgentView {
            id: id.to_string(),
            kind,
            note,
            state: state.unwrap_or(AgentState::Idle),
            instances: entry.instances,
            tasks: held.iter().map(|(task, _)| **task).collect(),
            runs,
            command,
            script,
            missing: readiness::find_missing(project, entry),
        }
    };
    Ok(agents.map(agent).collect())
}

/// Finds the runs in which each agent plays a role now, without a task.
async fn find_roles_at_work(project: &Project) -> Result<BTreeMap<AgentId, Vec<RunId>>, Error> {
    let mut found: BTreeMap<AgentId, Vec<RunId>> = BTreeMap::new();
    let account = accounts::get_account(project, Scope::Project).await?;
    for name in account.held.keys().filter(|name| name.contains("-run-")) {
        let log = session_log::find_session_log(project, name).await?;
        let log = log.filter(|log| log.is_open() && log.task_id.is_none());
        if let Some((agent, run)) = log.and_then(|log| Some((log.agent_id, log.run_id?))) {
            found.entry(agent).or_default().push(run);
        }
    }
    for runs in found.values_mut() {
        runs.sort_unstable();
        runs.dedup();
    }
    Ok(found)
}

/// For an agent with several tasks, the most active state is shown.
fn rank(state: AgentState) -> u8 {
    match state {
        AgentState::Running => 0,
        AgentState::Starting => 1,
        AgentState::Error => 2,
        AgentState::Paused => 3,
        AgentState::Completed | AgentState::Idle => 4,
    }
}

/// What a task's next move depends on besides the task.
pub(crate) struct Around {
    /// The queue, with the place of each task.
    queue: BTreeMap<TaskId, (Queued, u32)>,
    questions: Vec<(String, Asked)>,
    engine: Option<Holder>,
    /// Tasks that are not verified, as far as others depend on them.
    pub(crate) unverified: BTreeSet<TaskId>,
}

/// What the current state of the project means for a task, beyond what the log says.
pub(crate) enum Stand<'a> {
    /// Nothing.
    AsLogged,
    /// No engine runs, so nobody makes the next move.
    Unattended,
    /// Its session waits for the answer to a question of this name.
    Asking(&'a str, &'a Asked),
}

impl Around {
    pub(crate) async fn load(project: &Project) -> Result<Self, Error> {
        let assignments = orders::load_assignments(project).await?;
        Ok(Around {
            queue: assignments
                .in_order()
                .into_iter()
                .zip(1..)
                .map(|(queued, place)| (queued.task, (queued.clone(), place)))
                .collect(),
            questions: list_questions(project).await?,
            engine: engine::find_running(project).await?,
            unverified: BTreeSet::new(),
        })
    }

    /// Returns a queued task with its place in the queue, from 1.
    pub(crate) fn find_queued(&self, task: TaskId) -> Option<(&Queued, u32)> {
        self.queue.get(&task).map(|(queued, place)| (queued, *place))
    }

    /// Says what the current state of the project means for a task, and whose move it is.
    pub(crate) async fn stand(
        &self,
        project: &Project,
        task: TaskId,
        phase: &str,
        owner: &str,
    ) -> Result<Stand<'_>, Error> {
        let is_a_persons = owner == "you" || owner == "nobody" || phase == "by_hand";
        if !is_a_persons && !self.attends(project, task).await? {
            return Ok(Stand::Unattended);
        }
        let question = self.find_question(task).filter(|_| phase == "running");
        Ok(question.map_or(Stand::AsLogged, |(name, asked)| Stand::Asking(name, asked)))
    }

    /// Tells whether an engine runs that performs what the task asks for next.
    async fn attends(&self, project: &Project, task: TaskId) -> Result<bool, Error> {
        match self.engine.as_ref().map(|engine| &engine.own) {
            None => Ok(false),
            Some(None) => Ok(true),
            Some(Some(own)) => {
                Ok(is_short(&orders::get_task(project, task).await?) || own.has_task(project, task).await?)
            }
        }
    }

    /// Returns what a wait of the task depends on.
    fn of(&self, task: &Task, queue_position: Option<u32>, phase: &str) -> core::Around {
        core::Around {
            has_engine: self.engine.is_some(),
            is_queued: queue_position.is_some(),
            is_blocked: task.dependencies.iter().any(|on| self.unverified.contains(on)),
            is_asking: phase == "asking",
        }
    }

    /// Returns the question with which the session of a task waits for a person.
    fn find_question(&self, task: TaskId) -> Option<(&str, &Asked)> {
        let found = self.questions.iter().find(|(_, asked)| asked.subject.task_id == Some(task));
        found.map(|(name, asked)| (name.as_str(), asked))
    }
}

async fn view(project: &Project, task: &Task, around: &Around) -> Result<TaskView, Error> {
    let landed = if let Stage::Verified(landed) = &task.stage { Some(landed) } else { None };
    let (turn_count, summary) = match &task.stage {
        Stage::WaitingApproval(review) => (Some(review.turn_count), review.summary.clone()),
        Stage::Verified(landed) => (Some(landed.turn_count), landed.summary.clone()),
        Stage::Backlog | Stage::InProgress(_) => (None, None),
    };
    let queued = around.find_queued(task.id);
    let queue_position = queued.map(|(_, place)| place);
    let worktree = task.worktree();
    let is_there = landed.is_none_or(|landed| landed.cleanup != Cleanup::Done);
    let (mut phase, mut owner, mut next) = next_move(task, queued);
    // Without an engine nobody makes the next move, and nothing runs, whatever the log says.
    let stand = around.stand(project, task.id, phase, &owner).await?;
    let mut question = None;
    if matches!(stand, Stand::Unattended) {
        phase = if queued.is_some() { phase } else { UNATTENDED };
        owner = "you".to_owned();
        let id = task.id;
        let way_on = match (task.run, queued) {
            (Some(run), _) => format!("regatta run --resume {run}"),
            (None, Some((queued, _))) => format!("regatta task assign {id} --agent {}", queued.agent),
            (None, None) => format!("regatta task resume {id}"),
        };
        next = format!("nobody works on it: {way_on}, or regatta up");
    } else if let Stand::Asking(name, asked) = stand {
        phase = "asking";
        owner = "you".to_owned();
        next = format!("regatta agent answer {name} allow (or deny); it asks for: {}", asked.what);
        question = Some(QuestionView::of(name.to_owned(), asked.clone()));
    }
    let is_open = |on: &TaskId| around.unverified.contains(on);
    let blocked_by = match &task.stage {
        Stage::Backlog => task.dependencies.iter().copied().filter(is_open).collect(),
        _ => Vec::new(),
    };
    let wait = task.find_wait(around.of(task, queue_position, phase), &spans(project, task.agent()));
    Ok(TaskView {
        id: task.id,
        title: task.title.clone(),
        description: task.description.clone(),
        column: task.column(),
        phase,
        priority: task.priority,
        epic_id: task.epic,
        prd: task.prd.clone(),
        agent_id: task.agent().map(ToString::to_string),
        agent_state: task.agent_state(),
        dependencies: task.dependencies.iter().copied().collect(),
        blocked_by,
        run_id: task.run,
        criteria: task.criteria.iter().map(|criterion| claim(task, criterion)).collect(),
        rejection_count: task.rejection_count,
        sessions: task.sessions,
        queue_position,
        queued: queued
            .map(|(queued, _)| QueuedView { code: queued.code, agent_id: queued.agent.to_string() }),
        branch: worktree.filter(|_| is_there).map(|worktree| worktree.branch.clone()),
        target: worktree.map(|worktree| worktree.target.clone()),
        worktree: worktree
            .filter(|_| is_there)
            .map(|worktree| project.place(&worktree.path).display().to_string()),
        worktree_state: task.worktree_state(),
        diff: task.diff().cloned(),
        lacks: Some(task.find_lacks(&project.config().settings.checks)).filter(|lacks| !lacks.is_empty()),
        turn_count,
        summary,
        checks: task.proof.as_ref().map_or_else(Vec::new, |proof| proof.results.clone()),
        approver: landed.map(|landed| landed.approver.clone()),
        merge_commit: landed.map(|landed| landed.commit.to_string()),
        salvages: task.salvages.clone(),
        state_file: task_files::file_path(project, task.id).display().to_string(),
        state_file_size: None,
        sandbox: None,
        warnings: file_size::warn(task),
        collisions: collision::list(&task.forecast),
        more_collisions: task.forecast.more_collisions,
        progress_entries: task.memory.entries,
        inputs: task.memory.inputs.clone(),
        parked: task.find_park().cloned(),
        spent: None,
        activity: None,
        role: None,
        question,
        rejections: Vec::new(),
        notes: Vec::new(),
        error: task.error.clone(),
        recovery: None,
        source: task.source.clone(),
        hidden: task.hidden,
        owner,
        next,
        waits_for: wait.waits_for,
        until: wait.until,
        deadline: wait.until,
        overdue: wait.is_overdue(clock::now()),
        created_at: task.created_at,
        updated_at: task.updated_at,
    })
}

fn claim(task: &Task, criterion: &Criterion) -> CriterionView {
    CriterionView {
        text: criterion.text.clone(),
        checked: criterion.checked,
        verified: task.is_verified(criterion),
        met: task.is_met(criterion),
        check: criterion.check.clone(),
    }
}

/// Returns the phase of a task, whose move it is, and which move.
pub(crate) fn next_move(task: &Task, queued: Option<(&Queued, u32)>) -> (&'static str, String, String) {
    let id = task.id;
    let engine = || "engine".to_owned();
    match &task.stage {
        Stage::Backlog => match (queued, &task.error) {
            (Some(_), Some(error)) => {
                ("queued", "you".to_owned(), format!("{}; or regatta task dequeue {id}", error.hint))
            }
            (Some((queued, place)), None) => {
                let whom = match (queued.code, queued.agent.is_any()) {
                    (Code::AgentAlreadyRunning, true) => "an agent".to_owned(),
                    (Code::AgentAlreadyRunning, false) => queued.agent.to_string(),
                    _ => "a place".to_owned(),
                };
                ("queued", engine(), format!("starts when {whom} is free; number {place} in the queue"))
            }
            (None, _) if task.is_done_elsewhere() => {
                let next =
                    format!("none: it was done elsewhere; regatta task hide --undo {id} makes it open work");
                ("done", "nobody".to_owned(), next)
            }
            (None, _) => ("waiting", "you".to_owned(), format!("regatta task assign {id} --agent NAME")),
        },
        Stage::InProgress(work) => match &work.phase {
            WorkPhase::Preparing => {
                ("preparing", engine(), "creates the worktree, then starts the agent".to_owned())
            }
            WorkPhase::Starting { .. } => {
                ("starting", engine(), "starts the agent when the limit allows".to_owned())
            }
            WorkPhase::Running { .. } => {
                ("running", agent_of(task), "ends its session; the engine then takes the diff".to_owned())
            }
            WorkPhase::Driven { session: Some(_), .. } => {
                ("running", agent_of(task), format!("ends its step of run {}", run_of(task)))
            }
            WorkPhase::Driven { session: None, .. } => {
                ("driven", format!("run {}", run_of(task)), format!("regatta run show {}", run_of(task)))
            }
            WorkPhase::Parked { park, .. } => (
                "parked",
                engine(),
                format!("resumes automatically at {:.0} (or now: regatta task resume {id})", park.until),
            ),
            WorkPhase::Halted => (
                "halted",
                "you".to_owned(),
                format!(
                    "regatta task resume {id} tries again (or regatta task reassign {id} --agent NAME); or regatta task \
                     submit {id}, or regatta task cancel {id}"
                ),
            ),
            WorkPhase::ByHand => (
                "by_hand",
                task.owner.clone().unwrap_or_else(|| "you".to_owned()),
                format!(
                    "work in the worktree (regatta task open {id}), then regatta task submit {id}, or regatta task cancel {id}"
                ),
            ),
            WorkPhase::Handing { to } => (
                "stopping",
                engine(),
                match &to.agent_id {
                    Some(agent) => format!("stops the agent, then starts {agent}"),
                    None => "stops the agent; the work is yours then".to_owned(),
                },
            ),
            WorkPhase::Unwinding => ("unwinding", engine(), "removes the worktree again".to_owned()),
            WorkPhase::Stopping { .. } => {
                ("stopping", engine(), "stops the agent, then removes the worktree".to_owned())
            }
            WorkPhase::Removing { .. } => {
                ("removing", engine(), "salvages and removes the worktree".to_owned())
            }
        },
        Stage::WaitingApproval(review) => match &review.phase {
            ReviewPhase::Recording | ReviewPhase::Resubmitting { .. } => {
                ("recording", engine(), "records the diff".to_owned())
            }
            ReviewPhase::Pausing => ("pausing", engine(), "pauses the agent".to_owned()),
            ReviewPhase::Checking => ("checking", engine(), "runs the project's checks".to_owned()),
            ReviewPhase::Ready => (
                "ready",
                "you".to_owned(),
                format!(
                    "regatta task diff {id}, then regatta task approve {id} or regatta task reject {id} --reason \"…\""
                ),
            ),
            ReviewPhase::Merging { .. } => ("merging", engine(), "merges the branch".to_owned()),
            ReviewPhase::Stopping { .. } => {
                ("stopping", engine(), "stops the agent, then removes the worktree".to_owned())
            }
            ReviewPhase::Removing { .. } => {
                ("removing", engine(), "salvages and removes the worktree".to_owned())
            }
        },
        Stage::Verified(landed) => match landed.cleanup {
            Cleanup::Pending => ("cleaning", engine(), "removes the worktree".to_owned()),
            Cleanup::Done => ("done", "nobody".to_owned(), "nothing; it is merged".to_owned()),
            Cleanup::Failed => ("done", "you".to_owned(), "regatta doctor --fix".to_owned()),
        },
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde asks for a reference")]
fn is_zero(number: &u32) -> bool {
    *number == 0
}

fn agent_of(task: &Task) -> String {
    task.agent().map_or_else(|| "nobody".to_owned(), |agent| format!("agent {agent}"))
}

/// Tells whether what the task asks for next is a short effect, which any engine performs.
fn is_short(task: &Task) -> bool {
    match &task.stage {
        Stage::Backlog => false,
        Stage::InProgress(work) => matches!(
            work.phase,
            WorkPhase::Unwinding | WorkPhase::Stopping { .. } | WorkPhase::Removing { .. }
        ),
        Stage::WaitingApproval(review) => !matches!(review.phase, ReviewPhase::Checking),
        Stage::Verified(landed) => landed.cleanup == Cleanup::Pending,
    }
}

fn run_of(task: &Task) -> String {
    task.run.map_or_else(|| "?".to_owned(), |run| run.to_string())
}

/// The longest that git and the file system may take for one action of the engine.
const STEP: SignedDuration = SignedDuration::from_mins(10);

/// Returns how long each kind of wait may take for a task of that agent, or for any agent's.
pub(crate) fn spans(project: &Project, agent: Option<&AgentId>) -> Spans {
    let config = project.config();
    let long = |span: std::time::Duration| SignedDuration::try_from(span).unwrap_or(SignedDuration::MAX);
    let walls = config.agents.iter().filter(|(id, _)| agent.is_none_or(|agent| agent == *id));
    let session = walls.map(|(_, entry)| entry.limits.wall).max().unwrap_or(Limits::default().wall);
    let count = u32::try_from(config.checks.len()).unwrap_or(u32::MAX);
    Spans {
        review: long(config.review),
        session: long(session),
        setup: long(config.setup_wall).saturating_add(STEP),
        checks: long(config.check_wall.saturating_mul(count)).saturating_add(STEP),
        step: STEP,
    }
}
