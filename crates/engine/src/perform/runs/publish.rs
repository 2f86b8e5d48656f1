//! Puts the items of a run on the board: the tasks, and the record of which task belongs to which item, in
//! one append.

use crate::clock;
use crate::commands::documents;
use crate::commands::orders;
use crate::commands::run_orders::get_run;
use crate::core::document::Catalogue;
use crate::core::machine::Column;
use crate::core::run::{self, Command, Phase, find_board_items, task_of};
use crate::core::{
    Actor, Code, Crew, Event, Fact, Failure, Plan, PrdSlug, RunId, Situation, Task, TaskId, decide,
};
use crate::error::Error;
use crate::log;
use crate::log::list;
use crate::log::{Folded, SNAPSHOT_FORMAT};
use crate::perform::Work;
use crate::perform::runs::terms;
use crate::runs::drive::{self, Drive, Found};
use crate::runs::seat::{self, Seat};
use crate::runs::trouble;
use crate::task_files;
use regatta_flow::BoardItem;
use regatta_store::{Append, Version};
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// Each lost race means that another command went through.
const TRIES_MAX: u32 = 64;

/// How long it sleeps when nothing happens; it wakes at once when the log moves.
const IDLE: Duration = Duration::from_secs(1);

pub(crate) async fn perform(work: &Work, run: RunId, step: u64) -> Result<(), Error> {
    let project = &work.project;
    for _ in 0..TRIES_MAX {
        let mut seat = Seat::load(project, run).await?;
        let then = match seat.run().phase() {
            Some(Phase::Publishing { then }) if seat.run().step == step => then,
            _ => return seat::settle(project, &terms(work)).await,
        };
        let takes_up = then.is_some();
        let items = match find_items(&seat) {
            Ok(items) => items,
            Err(failure) => {
                let command = Command::Unperformable { step, failure: *failure };
                seat.give(project, &Actor::Engine, command, &terms(work)).await?;
                return Ok(());
            }
        };
        if items.is_empty() && takes_up {
            match take_up(work, &seat).await? {
                TakenUp::All => {}
                TakenUp::Not(failure) => {
                    let command = Command::NotPerformed { step, failure };
                    seat.give(project, &Actor::Engine, command, &terms(work)).await?;
                    return Ok(());
                }
                // The next engine continues with it, or the run was stopped.
                TakenUp::Leaving if work.is_leaving() => return Ok(()),
                TakenUp::Leaving => continue,
            }
        }
        let mut board = Board::open(work, seat.run().prd.clone()).await?;
        let tasks = match board.add_all(&items, &seat.run().tasks) {
            Ok(tasks) => tasks,
            Err(error) => {
                let failure = trouble::of_run(seat.run(), error)?;
                let command = Command::NotPerformed { step, failure };
                seat.give(project, &Actor::Engine, command, &terms(work)).await?;
                return Ok(());
            }
        };
        let new: Vec<TaskId> = tasks.values().copied().collect();
        let command = Command::Published { step, tasks };
        if seat.give_with(project, &Actor::Engine, command, &terms(work), board.into_append()).await? {
            for task in new {
                task_files::sync_or_report(project, task).await?;
            }
            return Ok(());
        }
    }
    Err(Error::Contended { tries: TRIES_MAX })
}

enum TakenUp {
    All,
    Not(Failure),
    /// Nobody needs them any more, or this engine is shutting down.
    Leaving,
}

/// Takes up the items that the other run had begun at the point of the fork, each at its last commit then.
///
/// Otherwise a step that performs nothing, such as a question, would continue with tasks that hold no work.
async fn take_up(work: &Work, seat: &Seat) -> Result<TakenUp, Error> {
    let (project, run) = (&work.project, seat.run());
    for item in &run.driven {
        let Some(&task) = run.tasks.get(item) else { continue };
        let agent = match drive::find_agent(work, (run, seat.workflow()), (item, task)) {
            Ok(agent) => agent,
            Err(failure) => return Ok(TakenUp::Not(failure)),
        };
        let drive = Drive { work, run, item, task, agent: &agent };
        let mut seen = project.store().head().await?;
        let mut is_asked = false;
        loop {
            match drive.look(&mut is_asked).await? {
                Found::Ready(_) => break,
                // The step that needs the task reports this.
                Found::Failed(failure) if failure.code == Code::TaskCancelled => break,
                Found::Failed(failure) => return Ok(TakenUp::Not(failure)),
                Found::Later => seen = project.store().wait_past(seen, IDLE).await?,
            }
            let now = get_run(project, run.id).await?;
            if work.is_leaving() || !matches!(now.phase(), Some(Phase::Publishing { .. })) {
                return Ok(TakenUp::Leaving);
            }
        }
    }
    Ok(TakenUp::All)
}

/// Returns the items of the board that have no task yet.
fn find_items(seat: &Seat) -> Result<Vec<BoardItem>, Box<Failure>> {
    let now_millis = clock::now().as_millisecond();
    let (run, workflow) = (seat.run(), seat.workflow());
    match find_board_items(run::Inputs { workflow, now_millis }, run) {
        Ok(items) => Ok(items.into_iter().filter(|item| !run.tasks.contains_key(&item.key)).collect()),
        Err(fault) => Err(Box::new(run::explain_node(run, &fault))),
    }
}

/// New tasks on their way into the log.
struct Board<'a> {
    work: &'a Work,
    /// The PRD that the tasks are filed under, and what is known of PRDs.
    prd: Option<PrdSlug>,
    catalogue: Folded<Catalogue>,
    plan: Folded<Plan>,
    plan_version: Version,
    append: Append,
}

impl<'a> Board<'a> {
    async fn open(work: &'a Work, prd: Option<PrdSlug>) -> Result<Self, Error> {
        let loaded = work.project.store().load(&log::plan_stream(), SNAPSHOT_FORMAT).await?;
        let plan: Folded<Plan> = Folded::from_loaded(loaded)?;
        let plan_version = plan.version;
        let catalogue = documents::load_catalogue(&work.project).await?;
        // A missing PRD is no reason to keep the tasks from the board.
        let prd = prd.filter(|prd| catalogue.state.prds.contains_key(prd));
        Ok(Board { work, prd, catalogue, plan, plan_version, append: Append::default() })
    }

    /// Makes a task of each item, in their order; what an item depends on must come before it, or exist
    /// already.
    fn add_all(
        &mut self,
        items: &[BoardItem],
        known: &BTreeMap<String, TaskId>,
    ) -> Result<BTreeMap<String, TaskId>, Error> {
        let mut tasks = BTreeMap::new();
        for item in items {
            let find = |key: &String| tasks.get(key).or_else(|| known.get(key)).copied();
            let dependencies: BTreeSet<TaskId> = item.depends.iter().filter_map(find).collect();
            let id = self.add(item, dependencies)?;
            tasks.insert(item.key.clone(), id);
        }
        Ok(tasks)
    }

    fn add(&mut self, item: &BoardItem, dependencies: BTreeSet<TaskId>) -> Result<TaskId, Error> {
        let create = task_of(item, dependencies).map_err(orders::invalid)?;
        let create = create.filed_under(None, self.prd.clone());
        let id = self.plan.state.next_id();
        let situation = Situation {
            task: None,
            crew: &Crew::default(),
            plan: &self.plan.state,
            catalogue: &self.catalogue.state,
            upstream: &BTreeMap::<TaskId, Column>::new(),
            settings: &self.work.project.config().settings,
        };
        let decision = decide(&situation, id, &Actor::Engine, &crate::core::Command::Create(create))
            .map_err(Error::Refused)?;
        self.append.expect.push((log::task_stream(id), Version(0)));
        let mut task = None;
        for event in decision.events {
            Task::evolve_in_place(&mut task, &self.push(event));
        }
        self.append.rows.extend(list::rows_of(id, task.as_ref()));
        Ok(id)
    }

    fn push(&mut self, event: Event) -> Fact {
        let fact = Fact { at: clock::now(), actor: Actor::Engine, event };
        let row = log::row_of(&fact);
        if fact.event.concerns_plan() {
            self.plan.push(&fact, row.data.len());
        }
        self.append.events.push(row);
        fact
    }

    fn into_append(mut self) -> Append {
        if self.append.events.is_empty() {
            return self.append;
        }
        self.append.expect.push((self.plan.stream.clone(), self.plan_version));
        self.append.snapshots.extend(self.plan.snapshot_if_due());
        self.append
    }
}
