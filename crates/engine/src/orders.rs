//! Giving commands: look, load, decide, append.
//!
//! Any process may give a command at any time; the versions of the streams that the decision read decide which
//! of two at once was first. What a command sets off is performed by the engine.

use crate::clock;
use crate::core::document::Catalogue;
use crate::core::machine::{Column, CommandKind};
use crate::core::{
    Actor, AgentId, Answer, Approve, Assign, Cancel, Command, CommitId, Complete, Create, Crew, Depend, Diff,
    Feedback, FieldFault, FileText, News, Outcome, Plan, Priority, Reassign, Refusal, Reject, Review,
    ReviewPhase, Revise, Seen, Settings, Situation, Stage, Start, Take, Task, TaskId, WorkPhase, Worktree,
    decide, effects,
};
use crate::documents;
use crate::error::Error;
use crate::keeper;
use crate::list;
use crate::log::{self, Folded, SNAPSHOT_FORMAT};
use crate::obeyed::Obeyed;
use crate::project::Project;
use crate::revision;
use crate::round;
use crate::submission;
use regatta_files::TaskFile;
use regatta_git::{BranchName, Signature};
use regatta_store::{Append, CommandKey, IntentId, LeaseToken, NewRow, StreamName, Version};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use uuid::Uuid;

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
    keeper::sync_or_report(project, task).await?;
    Ok(task)
}

/// Changes what a task depends on.
pub async fn depend(project: &Project, giver: &Giver, task: TaskId, depend: Depend) -> Result<Given, Error> {
    let key = key(giver, Some(task), &format!("{depend:?}"));
    let order = Order { key, ..Order::new(Some(task), &giver.actor) };
    let given = give(project, order, Command::Depend(depend)).await?;
    keeper::sync_or_report(project, task).await?;
    Ok(given)
}

/// Gives a task to an agent; over the limit it is queued, and that is said as an error.
pub async fn assign(
    project: &Project,
    giver: &Giver,
    task: TaskId,
    agent: AgentId,
    priority: Option<Priority>,
) -> Result<Given, Error> {
    let key = key(giver, Some(task), &format!("assign {agent} {priority:?}"));
    let start = see_start(project).await?;
    let order = Order { key, ..Order::new(Some(task), &giver.actor) };
    let given =
        give(project, order, Command::Assign(Assign { agent, priority, start, run: None, is_taped: false }))
            .await?;
    if let Answer::Queued { working, limit } = given.answer {
        let place = load_crew(project).await?.find_place(task).unwrap_or(1);
        return Err(Error::Queued { task, place, working, limit });
    }
    Ok(given)
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
    let change = |file: &TaskFile| revision::apply(&found, &revise, file);
    keeper::edit_by(project, task, &giver.actor, key, change).await.map(|_| ())
}

/// Deletes a task that was never assigned, and its file.
pub async fn delete(project: &Project, giver: &Giver, task: TaskId) -> Result<Given, Error> {
    let key = key(giver, Some(task), "delete");
    let given = give(project, Order { key, ..Order::new(Some(task), &giver.actor) }, Command::Delete).await?;
    keeper::discard(project, task).await?;
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
    keeper::sync_or_report(project, id).await?;
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

pub(crate) async fn see_start(project: &Project) -> Result<Start, Error> {
    let target = &project.config().default_branch;
    let head = project.repository().find_branch(target).await?;
    let head = head.ok_or_else(|| Error::TargetMissing { branch: target.to_string() })?;
    let folder = project.config().worktrees.to_string_lossy().into_owned();
    Ok(Start { target: target.to_string(), base: from_git(&head), from: None, folder })
}

/// Looks at the work under review; at nothing when there is none, since the rule refuses before it looks at this.
async fn see_worktree(project: &Project, id: TaskId) -> Result<Seen, Error> {
    let nothing = Seen { head: None, dirty: Vec::new(), is_base_gone: false };
    let Some(review) = find_review(project, id).await? else { return Ok(nothing) };
    match look_at(project, id, &review).await {
        // It was cancelled while we looked: the rule says so better than git does.
        Err(_) if find_review(project, id).await?.is_none() => Ok(nothing),
        seen => seen,
    }
}

pub(crate) async fn find_review(project: &Project, id: TaskId) -> Result<Option<Review>, Error> {
    Ok(match get_task(project, id).await?.stage {
        Stage::WaitingApproval(review) if review.phase == ReviewPhase::Ready => Some(*review),
        _ => None,
    })
}

async fn look_at(project: &Project, id: TaskId, review: &Review) -> Result<Seen, Error> {
    let repository = project.repository();
    let branch = regatta_git::BranchName::parse(&review.worktree.branch).map_err(regatta_git::Error::from)?;
    let head = repository.find_branch(&branch).await?.map(|head| from_git(&head));
    let place = project.place(&review.worktree.path);
    let entries = repository.status(&place, &project.config().copy).await;
    let entries = entries.map_err(|error| name_missing(id, &review.worktree, error))?;
    let mut dirty: Vec<String> = entries.into_iter().map(|entry| entry.path).collect();
    // A status says nothing of what lies in submodules.
    let work = repository.find_submodule_work(&place, &to_git(&review.worktree.base)?).await?;
    dirty.extend(work.into_iter().map(|work| work.path));
    let base = to_git(&review.diff.base)?;
    let is_base_gone = !holds(project, &review.worktree, &base).await?;
    Ok(Seen { head, dirty, is_base_gone })
}

/// Tells whether the target of a worktree holds a commit; one that is gone altogether is left to the merge to report.
async fn holds(
    project: &Project,
    worktree: &Worktree,
    commit: &regatta_git::CommitId,
) -> Result<bool, Error> {
    let target = BranchName::parse(&worktree.target).map_err(regatta_git::Error::from)?;
    match project.repository().find_branch(&target).await? {
        Some(target) => Ok(project.repository().is_ancestor(commit, &target).await?),
        None => Ok(true),
    }
}

/// Finds where the diff of a worktree begins: where it was made from, or what of the target was merged into it since, so
/// that the work of others is not shown as its own. Of a target that was reset, the diff shows all that a merge would bring.
pub(crate) async fn find_base(
    project: &Project,
    worktree: &Worktree,
    head: &regatta_git::CommitId,
) -> Result<regatta_git::CommitId, Error> {
    let begun = to_git(&worktree.base)?;
    let target = BranchName::parse(&worktree.target).map_err(regatta_git::Error::from)?;
    let Some(target) = project.repository().find_branch(&target).await? else { return Ok(begun) };
    let repository = project.repository();
    let Some(met) = repository.find_merge_base(&target, head).await? else { return Ok(begun) };
    // Work of its own that is merged already came in from the side, and is still shown.
    let is_of_target = !repository.is_ancestor(&begun, &target).await?
        || repository.is_in_line(&begun, &target, &met).await?;
    Ok(if is_of_target { met } else { begun })
}

/// Commits what is left in the worktree of a task and returns the diff from its base; an empty one when there is no
/// work to put up, since the rule refuses before it looks at this.
pub(crate) async fn see_work(project: &Project, id: TaskId) -> Result<Diff, Error> {
    let Some(task) = find_work(project, id).await? else { return Ok(empty_diff()) };
    match commit_work(project, &task, &format!("Task #{id}: work up to its completion")).await {
        // It was cancelled while we looked: the rule says so better than git does.
        Err(_) if find_work(project, id).await?.is_none() => Ok(empty_diff()),
        diff => diff,
    }
}

pub(crate) async fn find_work(project: &Project, id: TaskId) -> Result<Option<Task>, Error> {
    let task = get_task(project, id).await?;
    let is_open = matches!(
        &task.stage,
        Stage::InProgress(work) if matches!(
            work.phase,
            WorkPhase::Running { .. }
                | WorkPhase::Driven { session: None, .. }
                | WorkPhase::Parked { .. }
                | WorkPhase::Halted
                | WorkPhase::ByHand
        )
    );
    Ok(is_open.then_some(task))
}

pub(crate) fn empty_diff() -> Diff {
    let nothing: CommitId = "0".repeat(40).parse().expect("forty zeros are a commit id");
    let (base, head) = (nothing.clone(), nothing);
    Diff {
        files_changed: 0,
        lines_added: 0,
        lines_removed: 0,
        digest: String::new(),
        base,
        head,
        obeyed_files: Vec::new(),
    }
}

/// Returns the branch of a worktree as git takes it.
pub(crate) fn branch_of(worktree: &Worktree) -> Result<BranchName, Error> {
    BranchName::parse(&worktree.branch).map_err(|error| Error::Git(error.into()))
}

/// Commits what is left in the worktree of a task, in the name of whoever has it, and returns the diff from its base.
pub(crate) async fn commit_work(project: &Project, task: &Task, message: &str) -> Result<Diff, Error> {
    let author = author_of(task, clock::now());
    commit_work_as(project, task, &author, message).await
}

/// Commits what is left in the worktree of a task, and returns the diff from its base.
pub(crate) async fn commit_work_as(
    project: &Project,
    task: &Task,
    author: &Signature,
    message: &str,
) -> Result<Diff, Error> {
    // Another process may have cancelled it since the caller began.
    let gone = || Error::Refused(Refusal::TaskBusy { task: task.id, doing: "it has no worktree any more" });
    let worktree = task.worktree().ok_or_else(gone)?;
    let repository = project.repository();
    let place = project.place(&worktree.path);
    repository
        .commit_all(&place, &project.config().copy, author, &ourselves(author.at), message)
        .await
        .map_err(|error| name_missing(task.id, worktree, error))?;
    let head = repository.head_of_worktree(&place).await?;
    let base = find_base(project, worktree, &head).await?;
    refuse_unmergeable(project, task.id, worktree, &base, &head).await?;
    let diff = repository.diff(&base, &head).await?;
    let obeyed = Obeyed::of(project.config(), project.root());
    Ok(Diff {
        obeyed_files: obeyed.find(diff.files.iter().map(|file| file.path.as_str())),
        files_changed: diff.files.len() as u64,
        lines_added: diff.lines_added,
        lines_removed: diff.lines_removed,
        digest: diff.digest,
        base: from_git(&base),
        head: from_git(&head),
    })
}

/// Refuses work that could not be merged, or of which a part would go with the worktree.
async fn refuse_unmergeable(
    project: &Project,
    task: TaskId,
    worktree: &Worktree,
    base: &regatta_git::CommitId,
    head: &regatta_git::CommitId,
) -> Result<(), Error> {
    let (repository, path) = (project.repository(), project.place(&worktree.path));
    let work = repository.find_submodule_work(&path, base).await?;
    if !work.is_empty() {
        return Err(Error::SubmoduleChanged { task, path, work });
    }
    let target = BranchName::parse(&worktree.target).map_err(regatta_git::Error::from)?;
    if let Some(tip) = repository.find_branch(&target).await?
        && repository.find_merge_base(head, &tip).await?.is_none()
    {
        let (branch, target) = (worktree.branch.clone(), worktree.target.clone());
        return Err(Error::UnrelatedHistory { task, branch, target });
    }
    Ok(())
}

/// Says whose worktree it is that was deleted.
fn name_missing(task: TaskId, worktree: &Worktree, error: regatta_git::Error) -> Error {
    match error {
        regatta_git::Error::WorktreeGone { path } => {
            Error::WorktreeMissing { task, path, branch: worktree.branch.clone() }
        }
        other => Error::Git(other),
    }
}

/// Returns the identity of whoever has a task: its agent, or the person who does it.
pub(crate) fn author_of(task: &Task, at: jiff::Timestamp) -> Signature {
    match (task.agent(), &task.owner) {
        (Some(agent), _) => {
            Signature { name: agent.to_string(), email: format!("{agent}@agents.invalid"), at }
        }
        (None, Some(owner)) => {
            Signature { name: owner.clone(), email: format!("{owner}@people.invalid"), at }
        }
        (None, None) => ourselves(at),
    }
}

/// Returns the identity under which the engine itself commits.
pub(crate) fn ourselves(at: jiff::Timestamp) -> Signature {
    Signature { name: "Regatta".to_owned(), email: "regatta@localhost".to_owned(), at }
}

pub(crate) fn from_git(commit: &regatta_git::CommitId) -> CommitId {
    commit.as_str().parse().expect("git's commit ids are commit ids")
}

pub(crate) fn to_git(commit: &CommitId) -> Result<regatta_git::CommitId, Error> {
    regatta_git::CommitId::parse(commit.as_str()).map_err(|error| Error::Git(error.into()))
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
}

fn render_answer(given: &Given) -> String {
    let queued = match given.answer {
        Answer::Accepted => None,
        Answer::Queued { working, limit } => Some((working, limit)),
    };
    serde_json::to_string(&KeptAnswer { task_id: given.task, queued }).expect("an answer is plain data")
}

fn parse_answer(text: &str) -> Result<Given, Error> {
    let kept: KeptAnswer =
        serde_json::from_str(text).map_err(|error| Error::LogUnsound { seq: 0, why: error.to_string() })?;
    let answer = kept.queued.map_or(Answer::Accepted, |(working, limit)| Answer::Queued { working, limit });
    Ok(Given { task: kept.task_id, answer })
}

fn key(giver: &Giver, task: Option<TaskId>, payload: &str) -> Option<CommandKey> {
    round::key(giver, &format!("{task:?} {payload}"))
}
