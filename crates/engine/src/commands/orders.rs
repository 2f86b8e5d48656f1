//! Gives commands: look, load, decide, append.
//!
//! Any process may give a command at any time. When two commands race, the versions of the streams that each
//! decision read determine which was first. The engine performs the effects of a command.

use crate::commands::batch::{Batch, Reads, reads};
use crate::commands::documents;
use crate::commands::request::Request;
use crate::commands::revision;
use crate::commands::round::{self, Envelope, Round, Verdict};
use crate::commands::seen::see_worktree;
use crate::commands::submission;
use crate::core::document::Catalogue;
use crate::core::{
    Actor, AgentId, Answer, Approve, Assign, Assignee, Assignments, Cancel, Code, Command, Complete, Create,
    Depend, Feedback, FieldFault, FileChange, FileText, Outcome, Plan, Priority, Reassign, Refusal, Revise,
    Settings, Situation, Standing, Take, Task, TaskId, TaskSource, decide,
};
use crate::error::Error;
use crate::log;
use crate::log::list;
use crate::log::{SNAPSHOT_FORMAT, Stream};
use crate::project::Project;
use crate::task_files::{self, Editing};
use crate::view::version::Unchanged;
use regatta_files::TaskFile;
use regatta_store::{CommandKey, IntentId, LeaseToken, NewRow, StreamName, Version};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

// What a command reads first, and its result in git's terms, is re-exported beside the commands.
pub use crate::commands::rejecting::{Rejecting, reject, reject_with};
pub(crate) use crate::commands::seen::{empty_diff, find_review, find_work, see_start, see_work};
pub(crate) use crate::view::work_diff::{commit_work, commit_work_as, find_base};
pub(crate) use crate::worktree::git_names::{author_of, branch_of, from_git, ourselves, to_git};

/// Who gives a command, and under which id.
#[derive(Debug, Clone)]
pub struct Caller {
    /// Who.
    pub actor: Actor,
    /// The command's id, if it may be repeated.
    pub command_id: Option<Uuid>,
    /// What the caller saw; the command is refused if it has changed.
    pub unchanged: Option<Unchanged>,
}

impl Caller {
    /// Makes a caller whose command has no id, and no condition.
    pub fn new(actor: Actor) -> Self {
        Caller { actor, command_id: None, unchanged: None }
    }
}

/// What an approver says.
#[derive(Debug, Clone, Default)]
pub struct Approving {
    /// Their feedback.
    pub feedback: Option<String>,
    /// The commit that they reviewed.
    pub head: Option<String>,
    /// Whether they approve it although it is incomplete.
    pub anyway: bool,
}

/// What a command did.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "KeptAnswer", into = "KeptAnswer")]
pub struct Given {
    /// The task.
    pub task: TaskId,
    /// The answer to the caller.
    pub answer: Answer,
}

/// Makes a task.
pub async fn create(project: &Project, caller: &Caller, create: Create) -> Result<TaskId, Error> {
    let key = round::key(caller, &Request::Create { create: &create });
    let order = Order { key, ..Order::new(None, &caller.actor) };
    let task = give(project, order, Command::Create(create)).await?.task;
    task_files::sync_or_report(project, task).await?;
    Ok(task)
}

/// Makes a task of the files of another tool, under the number that it has there unless that was ever used here. A
/// repetition of the import returns the task that was made first.
pub(crate) async fn import(
    project: &Project,
    caller: &Caller,
    number: Option<TaskId>,
    create: Create,
    source: &TaskSource,
) -> Result<TaskId, Error> {
    let TaskSource { kind, item, digest, .. } = source;
    let key = round::key(caller, &Request::ImportTask { kind, item, digest });
    let order = Order { key, ..Order::new(number, &caller.actor) };
    Ok(give(project, order, Command::Create(create)).await?.task)
}

/// Changes what a task depends on.
pub async fn depend(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    depend: Depend,
) -> Result<Given, Error> {
    let order = Order::of(caller, task, &Request::Depend { task, depend: &depend });
    let given = give(project, order, Command::Depend(depend)).await?;
    task_files::sync_or_report(project, task).await?;
    Ok(given)
}

/// Gives a task to an agent; when nobody is free it is queued, unless `may_queue` is false.
pub async fn assign(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    to: Assignee,
    priority: Option<Priority>,
    may_queue: bool,
) -> Result<Given, Error> {
    let order = Order::of(caller, task, &Request::Assign { task, to: &to, priority, may_queue });
    let start = see_start(project).await?;
    let assign = Assign { to, priority, start, run: None, is_recorded: false, may_queue };
    give(project, order, Command::Assign(assign)).await
}

/// Takes a task out of the queue.
pub async fn dequeue(project: &Project, caller: &Caller, task: TaskId) -> Result<Given, Error> {
    give(project, Order::of(caller, task, &Request::Dequeue { task }), Command::Dequeue).await
}

/// Gives a task to the person who asks: a worktree is made, and no session is started.
pub async fn take(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    priority: Option<Priority>,
) -> Result<Given, Error> {
    let order = Order::of(caller, task, &Request::Take { task, priority });
    let start = see_start(project).await?;
    give(project, order, Command::Take(Take { priority, start })).await
}

/// Puts the work of a task up for approval, with everything in its worktree committed.
pub async fn complete(project: &Project, caller: &Caller, task: TaskId) -> Result<Given, Error> {
    complete_as(project, Order::of(caller, task, &Request::Complete { task })).await
}

pub(crate) async fn complete_as(project: &Project, order: Order<'_>) -> Result<Given, Error> {
    let id = order.task.expect("what is completed is a task");
    let diff = see_work(project, id).await?;
    let complete = Complete::new(diff, 1, None).map_err(invalid)?;
    give(project, order, Command::Complete(complete)).await
}

/// Submits what is in the worktree of a task, no matter who made it, with everything committed.
pub async fn submit(project: &Project, caller: &Caller, task: TaskId) -> Result<Given, Error> {
    let order = Order::of(caller, task, &Request::Submit { task });
    let diff = submission::see(project, task, &caller.actor).await?;
    let submit = Complete::new(diff, 1, None).map_err(invalid)?;
    give(project, order, Command::Submit(submit)).await
}

/// Gives a task to another agent, or to the person who asks; `stop` ends a running session first.
pub async fn reassign(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    to: Option<AgentId>,
    stop: bool,
    feedback: Option<String>,
) -> Result<Given, Error> {
    let request = Request::Reassign { task, to: to.as_ref(), stop, feedback: feedback.as_deref() };
    let order = Order::of(caller, task, &request);
    let reassign = Reassign::new(to, stop, feedback, see_start(project).await?).map_err(invalid)?;
    give(project, order, Command::Reassign(reassign)).await
}

/// Changes the description of a task, in the log and in its file at once.
pub async fn edit(project: &Project, caller: &Caller, task: TaskId, revise: Revise) -> Result<(), Error> {
    let editing = Editing::of(caller, &Request::Edit { task, revise: &revise });
    let revise = revise.checked().map_err(invalid)?;
    let found = get_task(project, task).await?;
    let named = revision::name(project, &found, &revise).await?;
    let change = |file: &TaskFile| revision::apply(&found, &revise, &named, file);
    task_files::edit_by(project, task, &editing, change).await.map(|_| ())
}

/// Deletes a task that was never assigned, and its file.
pub async fn delete(project: &Project, caller: &Caller, task: TaskId) -> Result<Given, Error> {
    let order = Order::of(caller, task, &Request::Delete { task });
    let given = give(project, order, Command::Delete).await?;
    task_files::discard(project, task).await?;
    Ok(given)
}

/// Takes a verified task out of the list, or puts it back.
pub async fn hide(project: &Project, caller: &Caller, task: TaskId, hidden: bool) -> Result<Given, Error> {
    let order = Order::of(caller, task, &Request::Hide { task, hidden });
    give(project, order, Command::Hide { hidden }).await
}

/// Approves the diff of a task.
pub async fn approve(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    approval: Approving,
) -> Result<Given, Error> {
    let (feedback, head) = (approval.feedback.as_deref(), approval.head.as_deref());
    let request = Request::Approve { task, feedback, head, anyway: approval.anyway };
    let order = Order::of(caller, task, &request);
    approve_as(project, order, approval).await
}

/// Continues a task whose session broke off.
pub async fn resume(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    feedback: Option<String>,
) -> Result<Given, Error> {
    let order = Order::of(caller, task, &Request::Resume { task, feedback: feedback.as_deref() });
    let feedback = Feedback::new(feedback).map_err(invalid)?;
    give(project, order, Command::Resume(feedback)).await
}

/// Abandons the work on a task.
pub async fn cancel(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    reason: Option<String>,
) -> Result<Given, Error> {
    let order = Order::of(caller, task, &Request::Cancel { task, reason: reason.as_deref() });
    let cancel = Cancel::new(reason).map_err(invalid)?;
    give(project, order, Command::Cancel(cancel)).await
}

/// Returns the task, or the refusal that there is none.
pub async fn get_task(project: &Project, task: TaskId) -> Result<Task, Error> {
    let folded: Stream<Option<Task>> = Stream::load(project, log::task_stream(task)).await?;
    folded.state.ok_or(Error::Refused(Refusal::TaskNotFound { task }))
}

/// Returns the task with the version of its stream.
pub(crate) async fn get_task_at(project: &Project, task: TaskId) -> Result<(Task, Version), Error> {
    let folded: Stream<Option<Task>> = Stream::load(project, log::task_stream(task)).await?;
    let found = folded.state.ok_or(Error::Refused(Refusal::TaskNotFound { task }))?;
    Ok((found, folded.version))
}

/// A row that is written with the events of a command, if its task is still as the caller saw it.
pub(crate) struct Beside {
    pub(crate) version: Version,
    pub(crate) row: NewRow,
}

/// Tells whether a task with this number was deleted.
pub(crate) async fn is_deleted(project: &Project, task: TaskId) -> Result<bool, Error> {
    let folded: Stream<Option<Task>> = Stream::load(project, log::task_stream(task)).await?;
    Ok(folded.version.0 > 0 && folded.state.is_none())
}

/// Tells whether there is such a task.
pub(crate) async fn has_task(project: &Project, task: TaskId) -> Result<bool, Error> {
    match get_task(project, task).await {
        Ok(_) => Ok(true),
        Err(Error::Refused(Refusal::TaskNotFound { .. })) => Ok(false),
        Err(other) => Err(other),
    }
}

/// A command on its way to the rules.
pub(crate) struct Order<'a> {
    pub(crate) task: Option<TaskId>,
    pub(crate) actor: &'a Actor,
    pub(crate) key: Option<CommandKey>,
    pub(crate) settle: Vec<IntentId>,
    pub(crate) fence: Option<LeaseToken>,
    /// Replaces the project's settings.
    pub(crate) settings: Option<Settings>,
    pub(crate) beside: Option<Beside>,
    pub(crate) unchanged: Option<Unchanged>,
}

impl<'a> Order<'a> {
    pub(crate) fn new(task: Option<TaskId>, actor: &'a Actor) -> Self {
        let settle = Vec::new();
        Order { task, actor, key: None, settle, fence: None, settings: None, beside: None, unchanged: None }
    }

    pub(crate) fn of(caller: &'a Caller, task: TaskId, request: &Request<'_>) -> Self {
        let unchanged = caller.unchanged.clone();
        Order { key: round::key(caller, request), unchanged, ..Order::new(Some(task), &caller.actor) }
    }
}

pub(crate) async fn approve_as(
    project: &Project,
    order: Order<'_>,
    approval: Approving,
) -> Result<Given, Error> {
    let id = order.task.expect("an approval is for a task");
    // A criterion that was just ticked in the file counts.
    get_task(project, id).await?;
    task_files::sync_or_report(project, id).await?;
    let seen = see_worktree(project, id).await?;
    let Approving { feedback, head, anyway } = approval;
    let approve = Approve::new(feedback, head, seen).map_err(invalid)?.anyway(anyway);
    give(project, order, Command::Approve(approve)).await
}

pub(crate) async fn load_assignments(project: &Project) -> Result<Assignments, Error> {
    Ok(Stream::<Assignments>::load(project, log::assignments_stream()).await?.state)
}

/// Decides, appends, and decides again when another command came first.
pub(crate) async fn give(project: &Project, order: Order<'_>, command: Command) -> Result<Given, Error> {
    let Order { task, actor, key, settle: settles, fence, settings, beside, unchanged } = order;
    let envelope = Envelope { actor: actor.clone(), key, settles, fence, unchanged };
    let settings = settings.as_ref().unwrap_or(&project.config().settings);
    let round = OnTask { task, actor, settings, beside, command };
    Ok(round::submit(project, &envelope, &round, None).await?.answer)
}

/// A command to a task, or to make one.
struct OnTask<'a> {
    task: Option<TaskId>,
    actor: &'a Actor,
    settings: &'a Settings,
    beside: Option<Beside>,
    command: Command,
}

/// Everything that one decision reads, at one point of the log.
struct TaskReads {
    id: TaskId,
    task: Stream<Option<Task>>,
    assignments: Stream<Assignments>,
    plan: Option<Stream<Plan>>,
    file: Option<Stream<FileText>>,
    catalogue: Option<Stream<Catalogue>>,
    upstream: BTreeMap<TaskId, Standing>,
}

reads!(TaskReads: task, assignments, plan, file, catalogue);

impl Round for OnTask<'_> {
    type Reads = TaskReads;
    type Answer = Given;

    async fn load(&self, project: &Project) -> Result<TaskReads, Error> {
        let command = &self.command;
        let needs_plan = matches!(command, Command::Create(_) | Command::Depend(_) | Command::Delete);
        let plan = if needs_plan { Some(load_plan(project).await?) } else { None };
        let next_id = || plan.as_ref().map_or(TaskId::FIRST, |plan| plan.state.next_id());
        let id = self.task.unwrap_or_else(next_id);
        let streams = [log::task_stream(id), log::assignments_stream()];
        let mut loaded = project.store().load_many(&streams, SNAPSHOT_FORMAT).await?.into_iter();
        let mut next = || loaded.next().ok_or_else(missing_stream);
        let task: Stream<Option<Task>> = Stream::from_loaded(next()?)?;
        let assignments = Stream::from_loaded(next()?)?;
        let touches_file = matches!(command, Command::Edit(_) | Command::Report(Outcome::FileWritten { .. }));
        let file = if touches_file { Some(load_file(project, id).await?) } else { None };
        let is_filed = match command {
            Command::Create(create) => create.is_filed(),
            Command::Edit(edit) => edit
                .changes
                .iter()
                .any(|changes| matches!(changes, FileChange::Edited { filed: Some(_), .. })),
            _ => false,
        };
        let catalogue = if is_filed { Some(documents::load_catalogue(project).await?) } else { None };
        let upstream = match (&task.state, command) {
            (Some(task), Command::Assign(_) | Command::Take(_) | Command::Reassign(_)) => {
                load_upstream(project, &task.dependencies).await?
            }
            _ => BTreeMap::new(),
        };
        Ok(TaskReads { id, task, assignments, plan, file, catalogue, upstream })
    }

    fn decide(&self, reads: &mut TaskReads, batch: &mut Batch) -> Result<Verdict<Given>, Error> {
        if matches!(self.command, Command::Create(_)) && reads.task.version != Version(0) {
            let problem = format!("{} was used before", reads.id);
            return Err(invalid(vec![FieldFault { field: "taskId", problem }]));
        }
        if reads.is_moved(&self.command) {
            return Err(Error::FileMoved { task: reads.id });
        }
        let (no_plan, no_catalogue) = (Plan::default(), Catalogue::default());
        let situation = Situation {
            task: reads.task.state.as_ref(),
            assignments: &reads.assignments.state,
            plan: reads.plan.as_ref().map_or(&no_plan, |plan| &plan.state),
            catalogue: reads.catalogue.as_ref().map_or(&no_catalogue, |catalogue| &catalogue.state),
            upstream: &reads.upstream,
            settings: self.settings,
        };
        let decision = decide(&situation, reads.id, self.actor, &self.command).map_err(Error::Refused)?;
        if !decision.events.is_empty() {
            batch.add(&mut reads.streams(), decision.events);
            batch.list(list::rows_of(reads.id, reads.task.state.as_ref()));
            let beside = self.beside.as_ref().filter(|beside| beside.version == reads.task.version);
            batch.list(beside.map(|beside| beside.row.clone()));
        }
        Ok(Verdict::Append(Given { task: reads.id, answer: decision.answer }))
    }
}

impl TaskReads {
    /// Tells whether an edit is based on a version of the file that is no longer the newest.
    fn is_moved(&self, command: &Command) -> bool {
        let (Command::Edit(edit), Some(file)) = (command, &self.file) else { return false };
        file.state.newest.as_ref().map(|version| &version.digest) != edit.base.as_ref()
    }
}

pub(crate) async fn load_plan(project: &Project) -> Result<Stream<Plan>, Error> {
    Stream::load(project, log::plan_stream()).await
}

/// Returns the numbers of all tasks.
pub(crate) async fn list_ids(project: &Project) -> Result<Vec<TaskId>, Error> {
    Ok(load_plan(project).await?.state.ids().collect())
}

pub(crate) async fn load_file(project: &Project, task: TaskId) -> Result<Stream<FileText>, Error> {
    Stream::load(project, log::file_stream(task)).await
}

/// Returns the tasks that depend on this one.
pub(crate) async fn load_dependents(project: &Project, task: TaskId) -> Result<Vec<TaskId>, Error> {
    Ok(load_plan(project).await?.state.dependents(task))
}

/// Returns those of some dependencies that are not done.
pub(crate) async fn load_unverified(
    project: &Project,
    dependencies: &BTreeSet<TaskId>,
) -> Result<BTreeSet<TaskId>, Error> {
    let upstream = load_upstream(project, dependencies).await?;
    let is_open = |on: &&TaskId| upstream.get(on).is_none_or(|standing| !standing.is_done);
    Ok(dependencies.iter().filter(is_open).copied().collect())
}

async fn load_upstream(
    project: &Project,
    dependencies: &BTreeSet<TaskId>,
) -> Result<BTreeMap<TaskId, Standing>, Error> {
    let streams: Vec<StreamName> = dependencies.iter().map(|on| log::task_stream(*on)).collect();
    let mut upstream = BTreeMap::new();
    for found in Stream::<Option<Task>>::load_many(project, &streams).await? {
        if let Some(task) = found.state {
            upstream.insert(task.id, task.standing());
        }
    }
    Ok(upstream)
}

fn missing_stream() -> Error {
    Error::LogUnsound { seq: 0, why: "the store returned fewer streams than were asked for".to_owned() }
}

/// Makes the refusal of a payload.
pub fn invalid(faults: Vec<FieldFault>) -> Error {
    Error::Refused(Refusal::Invalid { faults })
}

/// Refuses texts that have more characters than they may; each comes with its name and its limit.
pub(crate) fn check_lengths(texts: &[(&'static str, &str, usize)]) -> Result<(), Error> {
    let fault = |(field, text, max): &(&'static str, &str, usize)| {
        let count = text.chars().count();
        let problem = || format!("must have at most {max} characters, not {count}");
        (count > *max).then(|| FieldFault { field, problem: problem() })
    };
    let faults: Vec<FieldFault> = texts.iter().filter_map(fault).collect();
    if faults.is_empty() { Ok(()) } else { Err(invalid(faults)) }
}

/// What is kept with a command's id, to answer a repetition with.
#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct KeptAnswer {
    task_id: TaskId,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    queued: Option<(u32, u32)>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    code: Option<Code>,
}

impl From<Given> for KeptAnswer {
    fn from(given: Given) -> Self {
        let (queued, code) = match given.answer {
            Answer::Accepted => (None, None),
            Answer::Queued { code, working, limit } => (Some((working, limit)), Some(code)),
        };
        KeptAnswer { task_id: given.task, queued, code }
    }
}

impl From<KeptAnswer> for Given {
    fn from(kept: KeptAnswer) -> Self {
        let code = kept.code.unwrap_or(Code::ConcurrencyLimitExceeded);
        let queued = |(working, limit)| Answer::Queued { code, working, limit };
        Given { task: kept.task_id, answer: kept.queued.map_or(Answer::Accepted, queued) }
    }
}
