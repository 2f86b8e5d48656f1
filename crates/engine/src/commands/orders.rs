//! Giving commands: look, load, decide, append.
//!
//! Any process may give a command at any time; the versions of the streams that the decision read decide which
//! of two at once was first. What a command sets off is performed by the engine.

use crate::clock;
use crate::commands::documents;
use crate::commands::revision;
use crate::commands::round;
use crate::commands::seen::see_worktree;
use crate::commands::submission;
use crate::core::document::Catalogue;
use crate::core::machine::{Column, CommandKind};
use crate::core::{
    Actor, AgentId, Answer, Approve, Assign, Assignee, Cancel, Code, Command, Complete, Create, Crew, Depend,
    Feedback, FieldFault, FileText, News, Outcome, Plan, Priority, Reassign, Refusal, Reject, Revise,
    Settings, Situation, Take, Task, TaskId, decide, effects,
};
use crate::error::Error;
use crate::log;
use crate::log::list;
use crate::log::{Folded, SNAPSHOT_FORMAT};
use crate::project::Project;
use crate::task_files;
use regatta_files::TaskFile;
use regatta_store::{Append, CommandKey, IntentId, LeaseToken, NewRow, StreamName, Version};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

// What a command looks at first, and its result in the words of git, are found with the commands.
pub(crate) use crate::commands::seen::{empty_diff, find_review, find_work, see_start, see_work};
pub(crate) use crate::view::work_diff::{commit_work, commit_work_as, find_base};
pub(crate) use crate::worktree::git_names::{author_of, branch_of, from_git, ourselves, to_git};

/// Who gives a command, and under which id.
#[derive(Debug, Clone)]
pub struct Giver {
    /// Who.
    pub actor: Actor,
    /// The command's id, if it may be given twice.
    pub command_id: Option<Uuid>,
}

/// What an approver says.
#[derive(Debug, Clone, Default)]
pub struct Approving {
    /// What they have to say.
    pub feedback: Option<String>,
    /// The commit that they looked at.
    pub head: Option<String>,
    /// Whether they approve it though it is not whole.
    pub anyway: bool,
}

/// What a command did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Given {
    /// The task.
    pub task: TaskId,
    /// What the giver is told.
    pub answer: Answer,
}

/// Makes a task.
pub async fn create(project: &Project, giver: &Giver, create: Create) -> Result<TaskId, Error> {
    let key = key(giver, None, &format!("{create:?}"));
    let order = Order { key, ..Order::new(None, &giver.actor) };
    let task = give(project, order, Command::Create(create)).await?.task;
    task_files::sync_or_report(project, task).await?;
    Ok(task)
}

/// Changes what a task depends on.
pub async fn depend(project: &Project, giver: &Giver, task: TaskId, depend: Depend) -> Result<Given, Error> {
    let key = key(giver, Some(task), &format!("{depend:?}"));
    let order = Order { key, ..Order::new(Some(task), &giver.actor) };
    let given = give(project, order, Command::Depend(depend)).await?;
    task_files::sync_or_report(project, task).await?;
    Ok(given)
}

/// Gives a task to an agent; when nobody is free it is queued, unless `may_queue` is false.
pub async fn assign(
    project: &Project,
    giver: &Giver,
    task: TaskId,
    to: Assignee,
    priority: Option<Priority>,
    may_queue: bool,
) -> Result<Given, Error> {
    let key = key(giver, Some(task), &assign_payload(&to, priority, may_queue));
    let start = see_start(project).await?;
    let order = Order { key, ..Order::new(Some(task), &giver.actor) };
    let assign = Assign { to, priority, start, run: None, is_taped: false, may_queue };
    give(project, order, Command::Assign(assign)).await
}

/// Writes an assignment as earlier versions did where they could: a command that is given again is known by this.
fn assign_payload(to: &Assignee, priority: Option<Priority>, may_queue: bool) -> String {
    let agent = match to {
        Assignee::Agent(agent) => agent.to_string(),
        Assignee::Any => AgentId::ANY.to_owned(),
        Assignee::Default => "by default".to_owned(),
    };
    let manner = if may_queue { "" } else { " without queueing" };
    format!("assign {agent} {priority:?}{manner}")
}

/// Takes a task out of the queue.
pub async fn dequeue(project: &Project, giver: &Giver, task: TaskId) -> Result<Given, Error> {
    let key = key(giver, Some(task), "dequeue");
    give(project, Order { key, ..Order::new(Some(task), &giver.actor) }, Command::Dequeue).await
}

/// Gives a task to the person who asks: a worktree is made, and no session is started.
pub async fn take(
    project: &Project,
    giver: &Giver,
    task: TaskId,
    priority: Option<Priority>,
) -> Result<Given, Error> {
    let key = key(giver, Some(task), &format!("take {priority:?}"));
    let start = see_start(project).await?;
    let order = Order { key, ..Order::new(Some(task), &giver.actor) };
    give(project, order, Command::Take(Take { priority, start })).await
}

/// Puts the work of a task up for approval, with everything in its worktree committed.
pub async fn complete(project: &Project, giver: &Giver, task: TaskId) -> Result<Given, Error> {
    let key = key(giver, Some(task), "complete");
    complete_as(project, Order { key, ..Order::new(Some(task), &giver.actor) }).await
}

pub(crate) async fn complete_as(project: &Project, order: Order<'_>) -> Result<Given, Error> {
    let id = order.task.expect("what is completed is a task");
    let diff = see_work(project, id).await?;
    let complete = Complete::new(diff, 1, None).map_err(invalid)?;
    give(project, order, Command::Complete(complete)).await
}

/// Puts up what is in the worktree of a task, by whoever's hand, with everything committed.
pub async fn submit(project: &Project, giver: &Giver, task: TaskId) -> Result<Given, Error> {
    let key = key(giver, Some(task), "submit");
    let order = Order { key, ..Order::new(Some(task), &giver.actor) };
    let diff = submission::see(project, task, &giver.actor).await?;
    let submit = Complete::new(diff, 1, None).map_err(invalid)?;
    give(project, order, Command::Submit(submit)).await
}

/// Gives a task to another agent, or to the person who asks; `stop` ends a session under way first.
pub async fn reassign(
    project: &Project,
    giver: &Giver,
    task: TaskId,
    to: Option<AgentId>,
    stop: bool,
    feedback: Option<String>,
) -> Result<Given, Error> {
    let key = key(giver, Some(task), &format!("reassign {to:?} {stop} {feedback:?}"));
    let reassign = Reassign::new(to, stop, feedback, see_start(project).await?).map_err(invalid)?;
    give(project, Order { key, ..Order::new(Some(task), &giver.actor) }, Command::Reassign(reassign)).await
}

/// Changes what a task says of itself, in the log and in its file at once.
pub async fn edit(project: &Project, giver: &Giver, task: TaskId, revise: Revise) -> Result<(), Error> {
    let key = key(giver, Some(task), &format!("{revise:?}"));
    let revise = revise.checked().map_err(invalid)?;
    let found = get_task(project, task).await?;
    let named = revision::name(project, &found, &revise).await?;
    let change = |file: &TaskFile| revision::apply(&found, &revise, &named, file);
    task_files::edit_by(project, task, &giver.actor, key, change).await.map(|_| ())
}

/// Deletes a task that was never assigned, and its file.
pub async fn delete(project: &Project, giver: &Giver, task: TaskId) -> Result<Given, Error> {
    let key = key(giver, Some(task), "delete");
    let given = give(project, Order { key, ..Order::new(Some(task), &giver.actor) }, Command::Delete).await?;
    task_files::discard(project, task).await?;
    Ok(given)
}

/// Takes a verified task out of the list, or puts it back.
pub async fn hide(project: &Project, giver: &Giver, task: TaskId, hidden: bool) -> Result<Given, Error> {
    let key = key(giver, Some(task), &format!("hide {hidden}"));
    let order = Order { key, ..Order::new(Some(task), &giver.actor) };
    give(project, order, Command::Hide { hidden }).await
}

/// Approves the diff of a task.
pub async fn approve(
    project: &Project,
    giver: &Giver,
    task: TaskId,
    approval: Approving,
) -> Result<Given, Error> {
    let Approving { feedback, head, anyway } = &approval;
    let anyway = if *anyway { " anyway" } else { "" };
    let key = key(giver, Some(task), &format!("approve {feedback:?} {head:?}{anyway}"));
    let order = Order { key, ..Order::new(Some(task), &giver.actor) };
    approve_as(project, order, approval).await
}

/// Sends the work of a task back.
pub async fn reject(
    project: &Project,
    giver: &Giver,
    task: TaskId,
    reason: String,
    feedback: Option<String>,
) -> Result<Given, Error> {
    reject_to(project, giver, task, reason, feedback, None).await
}

/// Sends the work of a task back, to another agent than the one that did it if one is named.
pub async fn reject_to(
    project: &Project,
    giver: &Giver,
    task: TaskId,
    reason: String,
    feedback: Option<String>,
    agent: Option<AgentId>,
) -> Result<Given, Error> {
    let key = key(giver, Some(task), &format!("reject {reason:?} {feedback:?} {agent:?}"));
    let reject = Reject::new(reason, feedback).map_err(invalid)?.handed_to(agent);
    give(project, Order { key, ..Order::new(Some(task), &giver.actor) }, Command::Reject(reject)).await
}

/// Goes on with a task whose session broke off.
pub async fn resume(
    project: &Project,
    giver: &Giver,
    task: TaskId,
    feedback: Option<String>,
) -> Result<Given, Error> {
    let key = key(giver, Some(task), &format!("resume {feedback:?}"));
    let feedback = Feedback::new(feedback).map_err(invalid)?;
    give(project, Order { key, ..Order::new(Some(task), &giver.actor) }, Command::Resume(feedback)).await
}

/// Gives up the work on a task.
pub async fn cancel(
    project: &Project,
    giver: &Giver,
    task: TaskId,
    reason: Option<String>,
) -> Result<Given, Error> {
    let key = key(giver, Some(task), &format!("cancel {reason:?}"));
    let cancel = Cancel::new(reason).map_err(invalid)?;
    give(project, Order { key, ..Order::new(Some(task), &giver.actor) }, Command::Cancel(cancel)).await
}

/// Returns the task, or the refusal that there is none.
pub async fn get_task(project: &Project, task: TaskId) -> Result<Task, Error> {
    let loaded = project.store().load(&log::task_stream(task), SNAPSHOT_FORMAT).await?;
    let folded: Folded<Option<Task>> = Folded::from_loaded(loaded)?;
    folded.state.ok_or(Error::Refused(Refusal::TaskNotFound { task }))
}

/// Returns the task with the version of its stream.
pub(crate) async fn get_task_at(project: &Project, task: TaskId) -> Result<(Task, Version), Error> {
    let loaded = project.store().load(&log::task_stream(task), SNAPSHOT_FORMAT).await?;
    let folded: Folded<Option<Task>> = Folded::from_loaded(loaded)?;
    let found = folded.state.ok_or(Error::Refused(Refusal::TaskNotFound { task }))?;
    Ok((found, folded.version))
}

/// A row that is written with the events of a command, if its task is still as the giver saw it.
pub(crate) struct Beside {
    pub(crate) version: Version,
    pub(crate) row: NewRow,
}

/// Tells whether there was a task of this number that is deleted.
pub(crate) async fn is_deleted(project: &Project, task: TaskId) -> Result<bool, Error> {
    let loaded = project.store().load(&log::task_stream(task), SNAPSHOT_FORMAT).await?;
    let folded: Folded<Option<Task>> = Folded::from_loaded(loaded)?;
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
    /// What stands in place of the project's settings.
    pub(crate) settings: Option<Settings>,
    pub(crate) beside: Option<Beside>,
}

impl<'a> Order<'a> {
    pub(crate) fn new(task: Option<TaskId>, actor: &'a Actor) -> Self {
        Order { task, actor, key: None, settle: Vec::new(), fence: None, settings: None, beside: None }
    }
}

pub(crate) async fn approve_as(
    project: &Project,
    order: Order<'_>,
    approval: Approving,
) -> Result<Given, Error> {
    let id = order.task.expect("an approval is for a task");
    // A criterion that was ticked in the file a moment ago counts.
    get_task(project, id).await?;
    task_files::sync_or_report(project, id).await?;
    let seen = see_worktree(project, id).await?;
    let Approving { feedback, head, anyway } = approval;
    let approve = Approve::new(feedback, head, seen).map_err(invalid)?.anyway(anyway);
    give(project, order, Command::Approve(approve)).await
}

pub(crate) async fn load_crew(project: &Project) -> Result<Crew, Error> {
    let loaded = project.store().load(&log::crew_stream(), SNAPSHOT_FORMAT).await?;
    Ok(Folded::<Crew>::from_loaded(loaded)?.state)
}

/// Decides, appends, and decides again when another command came first.
pub(crate) async fn give(project: &Project, order: Order<'_>, command: Command) -> Result<Given, Error> {
    round::take(project, &Turn { order, command }).await
}

/// A command of a task on its round.
struct Turn<'a> {
    order: Order<'a>,
    command: Command,
}

impl round::Turn for Turn<'_> {
    type Given = Given;

    fn key(&self) -> Option<&CommandKey> {
        self.order.key.as_ref()
    }

    fn parse(answer: &str) -> Result<Given, Error> {
        parse_answer(answer)
    }

    async fn decide(&self, project: &Project) -> Result<(Given, Append), Error> {
        let mut desk = Desk::load(project, &self.order, &self.command).await?;
        if desk.is_moved(&self.command) {
            return Err(Error::FileMoved { task: desk.id });
        }
        desk.decide(project, &self.order, &self.command).map_err(Error::Refused)
    }
}

/// Everything that one decision reads, at one moment.
struct Desk {
    id: TaskId,
    task: Folded<Option<Task>>,
    crew: Folded<Crew>,
    plan: Option<Folded<Plan>>,
    file: Option<Folded<FileText>>,
    catalogue: Option<Folded<Catalogue>>,
    upstream: BTreeMap<TaskId, Column>,
}

impl Desk {
    async fn load(project: &Project, order: &Order<'_>, command: &Command) -> Result<Self, Error> {
        let needs_plan = matches!(command, Command::Create(_) | Command::Depend(_) | Command::Delete);
        let plan = if needs_plan { Some(load_plan(project).await?) } else { None };
        let next_id = || plan.as_ref().map_or(TaskId::FIRST, |plan| plan.state.next_id());
        let id = order.task.unwrap_or_else(next_id);
        let streams = [log::task_stream(id), log::crew_stream()];
        let mut loaded = project.store().load_many(&streams, SNAPSHOT_FORMAT).await?.into_iter();
        let mut next = || loaded.next().ok_or_else(missing_stream);
        let task: Folded<Option<Task>> = Folded::from_loaded(next()?)?;
        let crew = Folded::from_loaded(next()?)?;
        let touches_file = matches!(command, Command::Edit(_) | Command::Report(Outcome::FileWritten { .. }));
        let file = if touches_file { Some(load_file(project, id).await?) } else { None };
        let is_filed = match command {
            Command::Create(create) => create.is_filed(),
            Command::Edit(edit) => {
                edit.news.iter().any(|news| matches!(news, News::Edited { filed: Some(_), .. }))
            }
            _ => false,
        };
        let catalogue = if is_filed { Some(documents::load_catalogue(project).await?) } else { None };
        let upstream = match (&task.state, command) {
            (Some(task), Command::Assign(_) | Command::Take(_) | Command::Reassign(_)) => {
                load_upstream(project, task).await?
            }
            _ => BTreeMap::new(),
        };
        Ok(Desk { id, task, crew, plan, file, catalogue, upstream })
    }

    fn decide(
        &mut self,
        project: &Project,
        order: &Order<'_>,
        command: &Command,
    ) -> Result<(Given, Append), Refusal> {
        let (no_plan, no_catalogue) = (Plan::default(), Catalogue::default());
        let situation = Situation {
            task: self.task.state.as_ref(),
            crew: &self.crew.state,
            plan: self.plan.as_ref().map_or(&no_plan, |plan| &plan.state),
            catalogue: self.catalogue.as_ref().map_or(&no_catalogue, |catalogue| &catalogue.state),
            upstream: &self.upstream,
            settings: order.settings.as_ref().unwrap_or(&project.config().settings),
        };
        let decision = decide(&situation, self.id, order.actor, command)?;
        let given = Given { task: self.id, answer: decision.answer };
        let mut append = Append {
            command: order.key.clone(),
            answer: render_answer(&given),
            expect: self.versions(),
            settle: order.settle.clone(),
            fence: order.fence,
            ..Append::default()
        };
        for (index, fact) in log::facts(decision.events, order.actor, clock::now()).into_iter().enumerate() {
            let row = log::row_of(&fact);
            self.task.push(&fact, row.data.len());
            if fact.event.concerns_crew() {
                self.crew.push(&fact, row.data.len());
            }
            if let Some(plan) = self.plan.as_mut().filter(|_| fact.event.concerns_plan()) {
                plan.push(&fact, row.data.len());
            }
            if let Some(file) = self.file.as_mut().filter(|_| fact.event.concerns_file()) {
                file.push(&fact, row.data.len());
            }
            let asked = self.task.state.as_ref().and_then(|task| effects(task, &fact.event));
            append.intents.extend(asked.map(|effect| log::intent_of(&effect, index)));
            append.events.push(row);
        }
        if !append.events.is_empty() {
            append.snapshots.extend(self.task.snapshot_if_due());
            append.snapshots.extend(self.crew.snapshot_if_due());
            append.snapshots.extend(self.plan.as_ref().and_then(Folded::snapshot_if_due));
            append.snapshots.extend(self.file.as_ref().and_then(Folded::snapshot_if_due));
            append.rows = list::rows_of(self.id, self.task.state.as_ref());
            let beside = order.beside.as_ref().filter(|beside| beside.version == self.task.version);
            append.rows.extend(beside.map(|beside| beside.row.clone()));
        }
        Ok((given, append))
    }

    /// Tells whether an edit is of a version of the file that is no longer the newest.
    fn is_moved(&self, command: &Command) -> bool {
        let (Command::Edit(edit), Some(file)) = (command, &self.file) else { return false };
        file.state.newest.as_ref().map(|version| &version.digest) != edit.base.as_ref()
    }

    fn versions(&self) -> Vec<(StreamName, Version)> {
        let mut versions = vec![
            (self.task.stream.clone(), self.task.version),
            (self.crew.stream.clone(), self.crew.version),
        ];
        versions.extend(self.plan.as_ref().map(|plan| (plan.stream.clone(), plan.version)));
        versions.extend(self.file.as_ref().map(|file| (file.stream.clone(), file.version)));
        let catalogue = self.catalogue.as_ref();
        versions.extend(catalogue.map(|catalogue| (catalogue.stream.clone(), catalogue.version)));
        versions
    }
}

pub(crate) async fn load_plan(project: &Project) -> Result<Folded<Plan>, Error> {
    Folded::from_loaded(project.store().load(&log::plan_stream(), SNAPSHOT_FORMAT).await?)
}

/// Returns the numbers of all tasks.
pub(crate) async fn list_ids(project: &Project) -> Result<Vec<TaskId>, Error> {
    Ok(load_plan(project).await?.state.ids().collect())
}

pub(crate) async fn load_file(project: &Project, task: TaskId) -> Result<Folded<FileText>, Error> {
    Folded::from_loaded(project.store().load(&log::file_stream(task), SNAPSHOT_FORMAT).await?)
}

/// Returns the tasks that depend on this one.
pub(crate) async fn load_dependents(project: &Project, task: TaskId) -> Result<Vec<TaskId>, Error> {
    Ok(load_plan(project).await?.state.dependents(task))
}

/// Returns the tasks that this one depends on and that are not verified.
pub(crate) async fn load_unverified(project: &Project, task: &Task) -> Result<BTreeSet<TaskId>, Error> {
    let columns = load_upstream(project, task).await?;
    let is_open = |on: &&TaskId| columns.get(on) != Some(&Column::Verified);
    Ok(task.dependencies.iter().filter(is_open).copied().collect())
}

async fn load_upstream(project: &Project, task: &Task) -> Result<BTreeMap<TaskId, Column>, Error> {
    let streams: Vec<StreamName> = task.dependencies.iter().map(|on| log::task_stream(*on)).collect();
    let mut columns = BTreeMap::new();
    for loaded in project.store().load_many(&streams, SNAPSHOT_FORMAT).await? {
        if let Some(task) = Folded::<Option<Task>>::from_loaded(loaded)?.state {
            columns.insert(task.id, task.column());
        }
    }
    Ok(columns)
}

fn missing_stream() -> Error {
    Error::LogUnsound { seq: 0, why: "the store returned fewer streams than were asked for".to_owned() }
}

/// Makes the refusal of a payload.
pub fn invalid(faults: Vec<FieldFault>) -> Error {
    Error::Refused(Refusal::Invalid { faults })
}

/// Tells whether a command is legal for the task as it stands.
pub fn is_legal(task: &Task, command: CommandKind) -> bool {
    crate::core::machine::find(task.column(), command).is_some()
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

fn render_answer(given: &Given) -> String {
    let (queued, code) = match given.answer {
        Answer::Accepted => (None, None),
        Answer::Queued { code, working, limit } => (Some((working, limit)), Some(code)),
    };
    serde_json::to_string(&KeptAnswer { task_id: given.task, queued, code }).expect("an answer is plain data")
}

fn parse_answer(text: &str) -> Result<Given, Error> {
    let kept: KeptAnswer =
        serde_json::from_str(text).map_err(|error| Error::LogUnsound { seq: 0, why: error.to_string() })?;
    let code = kept.code.unwrap_or(Code::ConcurrencyLimitExceeded);
    let queued = |(working, limit)| Answer::Queued { code, working, limit };
    Ok(Given { task: kept.task_id, answer: kept.queued.map_or(Answer::Accepted, queued) })
}

fn key(giver: &Giver, task: Option<TaskId>, payload: &str) -> Option<CommandKey> {
    round::key(giver, &format!("{task:?} {payload}"))
}
