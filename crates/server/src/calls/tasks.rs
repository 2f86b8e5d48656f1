//! Calls about tasks.

use super::{explain, faulty};
use regatta_engine::core::{
    AgentId, Assignee, Create, Depend, EpicId, PrdSlug, Priority, Problem, Revise, TaskId, WaitsFor,
};
use regatta_engine::edits::Progress;
use regatta_engine::messages::MessageView;
use regatta_engine::notes::NoteView;
use regatta_engine::orders::{self, Approving, Caller, Rejecting};
use regatta_engine::{
    BranchName, Brought, DiffView, Entry, Filter, Listed, Project, SessionLog, TaskView, bring_back, edits,
    list_salvages, list_session_logs, list_task_events, list_task_page, messages, notes, open_in_editor,
    reading, show_diff, show_task, show_task_with_file,
};
use serde_json::Value;
use std::collections::BTreeSet;

/// What a new task is made of.
pub(crate) struct NewTask {
    pub(crate) title: String,
    pub(crate) description: String,
    pub(crate) criteria: Vec<String>,
    pub(crate) dependencies: BTreeSet<TaskId>,
    pub(crate) priority: Priority,
    pub(crate) epic: Option<EpicId>,
    pub(crate) prd: Option<PrdSlug>,
}

pub(crate) async fn list(
    project: &Project,
    filter: &Filter,
    after: Option<TaskId>,
    count_max: usize,
) -> Result<(Vec<TaskView>, bool), Problem> {
    list_task_page(project, filter, after, count_max).await.map_err(explain)
}

/// Returns a task as `task show` does, with what was just written in its file.
pub(crate) async fn show_whole(project: &Project, task: TaskId) -> Result<TaskView, Problem> {
    edits::look(project, task).await.map_err(explain)?;
    show_task_with_file(project, task).await.map_err(explain)
}

/// Returns a task as a verb leaves it.
pub(crate) async fn show(project: &Project, task: TaskId) -> Result<TaskView, Problem> {
    show_task(project, task).await.map_err(explain)
}

/// Tells whether something still happens to a task without a person.
pub(crate) fn is_under_way(task: &TaskView) -> bool {
    is_moving(task.waits_for)
}

pub(super) fn is_moving(waits_for: WaitsFor) -> bool {
    match waits_for {
        WaitsFor::Agent | WaitsFor::Clock | WaitsFor::Engine | WaitsFor::Queue => true,
        WaitsFor::You | WaitsFor::Task | WaitsFor::Nobody => false,
    }
}

pub(crate) async fn file(project: &Project, caller: &Caller, task: TaskId) -> Result<String, Problem> {
    edits::refresh(project, caller, task).await.map(|file| file.text().to_owned()).map_err(explain)
}

pub(crate) async fn replace_file(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    text: &str,
) -> Result<String, Problem> {
    edits::replace(project, caller, task, text).await.map(|file| file.text().to_owned()).map_err(explain)
}

pub(crate) async fn diff(project: &Project, task: TaskId) -> Result<DiffView, Problem> {
    show_diff(project, task).await.map_err(explain)
}

pub(crate) async fn salvages(project: &Project, task: TaskId) -> Result<Vec<Listed>, Problem> {
    list_salvages(project, task).await.map_err(explain)
}

pub(crate) async fn output(project: &Project, caller: &Caller, task: TaskId) -> Result<Value, Problem> {
    reading::output(project, caller, task).await.map_err(explain)
}

pub(crate) async fn archived(project: &Project, task: TaskId) -> Result<Value, Problem> {
    reading::check_task(project, task).await.map_err(explain)?;
    reading::archive(project, task).map_err(explain)
}

pub(crate) async fn sessions(project: &Project, task: TaskId) -> Result<Vec<SessionLog>, Problem> {
    reading::check_task(project, task).await.map_err(explain)?;
    list_session_logs(project, regatta_engine::core::session::Scope::Task(task)).await.map_err(explain)
}

pub(crate) async fn create(project: &Project, caller: &Caller, new: NewTask) -> Result<TaskId, Problem> {
    let create = Create::new(new.title, new.description, new.criteria, new.dependencies, new.priority);
    let create = create.map_err(faulty)?.filed_under(new.epic, new.prd);
    orders::create(project, caller, create).await.map_err(explain)
}

pub(crate) async fn edit(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    revise: Revise,
) -> Result<(), Problem> {
    orders::edit(project, caller, task, revise).await.map_err(explain)
}

pub(crate) async fn delete(project: &Project, caller: &Caller, task: TaskId) -> Result<(), Problem> {
    orders::delete(project, caller, task).await.map(drop).map_err(explain)
}

pub(crate) async fn depend(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    add: BTreeSet<TaskId>,
    remove: BTreeSet<TaskId>,
) -> Result<(), Problem> {
    orders::depend(project, caller, task, Depend { add, remove }).await.map(drop).map_err(explain)
}

pub(crate) async fn assign(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    agent: Option<AgentId>,
    priority: Option<Priority>,
    may_queue: bool,
) -> Result<(), Problem> {
    let to = agent.map_or(Assignee::Default, Assignee::from);
    orders::assign(project, caller, task, to, priority, may_queue).await.map(drop).map_err(explain)
}

pub(crate) async fn take(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    priority: Option<Priority>,
) -> Result<(), Problem> {
    orders::take(project, caller, task, priority).await.map(drop).map_err(explain)
}

pub(crate) async fn reassign(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    agent: Option<AgentId>,
    stop: bool,
    feedback: Option<String>,
) -> Result<(), Problem> {
    orders::reassign(project, caller, task, agent, stop, feedback).await.map(drop).map_err(explain)
}

pub(crate) async fn submit(project: &Project, caller: &Caller, task: TaskId) -> Result<(), Problem> {
    orders::submit(project, caller, task).await.map(drop).map_err(explain)
}

pub(crate) async fn dequeue(project: &Project, caller: &Caller, task: TaskId) -> Result<(), Problem> {
    orders::dequeue(project, caller, task).await.map(drop).map_err(explain)
}

pub(crate) async fn complete(project: &Project, caller: &Caller, task: TaskId) -> Result<(), Problem> {
    orders::complete(project, caller, task).await.map(drop).map_err(explain)
}

pub(crate) async fn approve(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    approving: Approving,
) -> Result<(), Problem> {
    orders::approve(project, caller, task, approving).await.map(drop).map_err(explain)
}

pub(crate) async fn reject(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    rejecting: Rejecting,
) -> Result<(), Problem> {
    orders::reject_with(project, caller, task, rejecting).await.map(drop).map_err(explain)
}

pub(crate) async fn resume(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    feedback: Option<String>,
) -> Result<(), Problem> {
    orders::resume(project, caller, task, feedback).await.map(drop).map_err(explain)
}

pub(crate) async fn cancel(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    reason: Option<String>,
) -> Result<(), Problem> {
    orders::cancel(project, caller, task, reason).await.map(drop).map_err(explain)
}

pub(crate) async fn note(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    text: String,
) -> Result<MessageView, Problem> {
    let id = notes::send(project, caller, task, text).await.map_err(explain)?;
    messages::get(project, id).await.map_err(explain)
}

/// Returns what happened to a task.
pub(crate) async fn history(project: &Project, task: TaskId) -> Result<Vec<Entry>, Problem> {
    list_task_events(project, task).await.map_err(explain)
}

pub(crate) async fn notes(project: &Project, task: TaskId) -> Result<Vec<NoteView>, Problem> {
    reading::check_task(project, task).await.map_err(explain)?;
    notes::list(project, task).await.map_err(explain)
}

/// Opens the worktree of a task, or a file in it, in the person's editor.
pub(crate) async fn open(
    project: &Project,
    task: TaskId,
    file: Option<&str>,
) -> Result<std::path::PathBuf, Problem> {
    let view = show_task(project, task).await.map_err(explain)?;
    let Some(folder) = view.worktree else {
        return Err(crate::answer::invalid("id", "must be a task that has a worktree; it has none now"));
    };
    open_in_editor(project, std::path::Path::new(&folder), file).map_err(explain)
}

pub(crate) async fn hide(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    hidden: bool,
) -> Result<(), Problem> {
    orders::hide(project, caller, task, hidden).await.map(drop).map_err(explain)
}

pub(crate) async fn tick(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    numbers: &[(usize, bool)],
) -> Result<(), Problem> {
    edits::tick(project, caller, task, numbers).await.map(drop).map_err(explain)
}

pub(crate) async fn log_progress(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    (did, issues, next): (String, String, String),
) -> Result<(), Problem> {
    edits::log_progress(project, caller, task, &Progress { did, issues, next })
        .await
        .map(drop)
        .map_err(explain)
}

pub(crate) async fn write_output(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    text: &str,
) -> Result<(), Problem> {
    edits::write_output(project, caller, task, text).await.map(drop).map_err(explain)
}

pub(crate) async fn archive(
    project: &Project,
    caller: &Caller,
    task: TaskId,
) -> Result<Option<(u32, u32)>, Problem> {
    edits::archive(project, caller, task).await.map_err(explain)
}

pub(crate) async fn bring_back_salvage(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    number: Option<u32>,
    branch: Option<&str>,
) -> Result<Brought, Problem> {
    let branch = branch.map(BranchName::parse).transpose();
    let branch = branch.map_err(|error| crate::answer::invalid("branch", format!("is wrong: {error}")))?;
    bring_back(project, caller, task, number, branch).await.map_err(explain)
}
