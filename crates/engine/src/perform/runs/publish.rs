//! Puts the items of a run on the board: the tasks, and the record of which task belongs to which item, in
//! one append. Those that are there already and wait depend on what the workflow says now.

use crate::clock;
use crate::commands::batch::{Batch, reads};
use crate::commands::documents;
use crate::commands::orders;
use crate::commands::round::{self, Round, Verdict};
use crate::commands::run_orders::get_run;
use crate::core::document::Catalogue;
use crate::core::run::{self, Command, Phase, Run, find_board_items, task_of};
use crate::core::{
    Actor, Assignments, Code, Depend, Failure, Plan, RunId, Settings, Situation, Stage, Standing, Task,
    TaskId, decide,
};
use crate::error::Error;
use crate::log;
use crate::log::Stream;
use crate::log::list;
use crate::perform::Work;
use crate::perform::log_watch::LogWatch;
use crate::perform::runs::{item_branches, item_order, settle};
use crate::project::Project;
use crate::runs::claim::{self, Claim, Found};
use crate::runs::driver::Driver;
use crate::runs::trouble;
use crate::task_files;
use jiff::Timestamp;
use regatta_flow::BoardItem;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};

pub(crate) async fn perform(work: &Work, run: RunId, step: u64) -> Result<(), Error> {
    let project = &work.project;
    let publish = Publish { run, step, settings: &project.config().settings };
    loop {
        let driver = Driver::load(project, run).await?;
        let Some(takes_up) = publish.is_due(driver.run()) else {
            return round::settle(project, &work.envelope()).await;
        };
        // What it takes up was published before.
        if takes_up && find_items(&driver, clock::now()).is_ok_and(|items| items.is_empty()) {
            match take_up(work, &driver).await? {
                TakenUp::All => {}
                TakenUp::Not(failure) => {
                    return settle(work, run, Command::NotPerformed { step, failure }).await;
                }
                // The next engine continues with it, or the run was stopped.
                TakenUp::Leaving if work.is_leaving() => return Ok(()),
                TakenUp::Leaving => continue,
            }
        }
        return match round::submit(project, &work.envelope(), &publish, None).await?.answer {
            Published::Tasks(new) => {
                for task in new {
                    task_files::sync_or_report(project, task).await?;
                }
                Ok(())
            }
            Published::Refused(failure) => settle(work, run, Command::NotPerformed { step, failure }).await,
            Published::Never(failure) => settle(work, run, Command::Unperformable { step, failure }).await,
        };
    }
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
async fn take_up(work: &Work, driver: &Driver) -> Result<TakenUp, Error> {
    let (project, run) = (&work.project, driver.run());
    for item in &run.driven {
        let Some(&task) = run.tasks.get(item) else { continue };
        let agent = match claim::find_agent(work, (run, driver.workflow()), (item, task)) {
            Ok(agent) => agent,
            Err(failure) => return Ok(TakenUp::Not(failure)),
        };
        let claim = Claim { work, run, item, task, agent: &agent };
        let mut log = LogWatch::start(work).await?;
        let mut is_asked = false;
        loop {
            match claim.look(&mut is_asked).await? {
                Found::Ready(_) => break,
                // The step that needs the task reports this.
                Found::Failed(failure) if failure.code == Code::TaskCancelled => break,
                Found::Failed(failure) => return Ok(TakenUp::Not(failure)),
                Found::Later => log.wait().await?,
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
fn find_items(driver: &Driver, at: Timestamp) -> Result<Vec<BoardItem>, Failure> {
    let mut items = find_all_items(driver, at)?;
    items.retain(|item| !driver.run().tasks.contains_key(&item.key));
    Ok(items)
}

fn find_all_items(driver: &Driver, at: Timestamp) -> Result<Vec<BoardItem>, Failure> {
    let run = driver.run();
    find_board_items(driver.inputs(at), run).map_err(|fault| run::explain_node(run, &fault))
}

/// The items of a run that become tasks.
struct Publish<'a> {
    run: RunId,
    step: u64,
    settings: &'a Settings,
}

/// What came of it.
#[derive(Serialize, Deserialize)]
enum Published {
    /// The tasks that are new or changed.
    Tasks(Vec<TaskId>),
    /// One was refused, and nothing was stored.
    Refused(Failure),
    /// The definition is wrong, and nothing was stored.
    Never(Failure),
}

/// A run with its new tasks, and what these depend on.
struct Board {
    driver: Driver,
    plan: Stream<Plan>,
    catalogue: Stream<Catalogue>,
    /// Those that are there already, in the order of their keys.
    known: Vec<Stream<Option<Task>>>,
    tasks: Vec<Stream<Option<Task>>>,
    /// The branches that the items name and that exist.
    taken: BTreeSet<String>,
}

reads!(Board: plan, catalogue, known, tasks, driver);

impl Round for Publish<'_> {
    type Reads = Board;
    type Answer = Published;

    async fn load(&self, project: &Project) -> Result<Board, Error> {
        let driver = Driver::load(project, self.run).await?;
        let mut known = Vec::new();
        if self.is_due(driver.run()).is_some() {
            for task in driver.run().tasks.values() {
                known.push(Stream::load(project, log::task_stream(*task)).await?);
            }
        }
        let items = find_items(&driver, clock::now()).unwrap_or_default();
        Ok(Board {
            plan: orders::load_plan(project).await?,
            catalogue: documents::load_catalogue(project).await?,
            known,
            tasks: Vec::new(),
            taken: item_branches::find_taken(project, &items).await?,
            driver,
        })
    }

    fn decide(&self, board: &mut Board, batch: &mut Batch) -> Result<Verdict<Published>, Error> {
        if self.is_due(board.driver.run()).is_none() {
            return Ok(Verdict::Append(Published::Tasks(Vec::new())));
        }
        let all = match find_all_items(&board.driver, batch.at) {
            Ok(items) => items,
            Err(failure) => return Ok(Verdict::Withdraw(Published::Never(failure))),
        };
        let known = &board.driver.run().tasks;
        let items: Vec<BoardItem> =
            all.iter().filter(|item| !known.contains_key(&item.key)).cloned().collect();
        if let Some(failure) = item_branches::find_fault(self.run, &items, &board.taken) {
            return Ok(Verdict::Withdraw(Published::Refused(failure)));
        }
        let tasks = match self.add_all(board, &items, batch) {
            Ok(tasks) => tasks,
            Err(error) => {
                let failure = trouble::of_run(board.driver.run(), error)?;
                return Ok(Verdict::Withdraw(Published::Refused(failure)));
            }
        };
        let mut new: Vec<TaskId> = tasks.values().copied().collect();
        new.extend(self.update_known(board, (&all, &tasks), batch));
        board.driver.decide(Actor::Engine, &Command::Published { step: self.step, tasks }, batch)?;
        Ok(Verdict::Append(Published::Tasks(new)))
    }
}

impl Publish<'_> {
    /// Tells whether the run then takes up what another had begun; nothing if it does not wait for its items.
    fn is_due(&self, run: &Run) -> Option<bool> {
        match run.phase() {
            Some(Phase::Publishing { then, .. }) if run.step == self.step => Some(then.is_some()),
            _ => None,
        }
    }

    /// Makes a task of each item, in their order, but after those that it depends on.
    fn add_all(
        &self,
        board: &mut Board,
        items: &[BoardItem],
        batch: &mut Batch,
    ) -> Result<BTreeMap<String, TaskId>, Error> {
        let mut tasks = BTreeMap::new();
        for item in item_order::sort(items) {
            let known = &board.driver.run().tasks;
            let find = |key: &String| tasks.get(key).or_else(|| known.get(key)).copied();
            let dependencies: BTreeSet<TaskId> = item.depends.iter().filter_map(find).collect();
            let id = self.add(board, item, dependencies, batch)?;
            tasks.insert(item.key.clone(), id);
        }
        Ok(tasks)
    }

    /// Makes the tasks that were there before and that nobody has begun depend on what their items depend on now. What
    /// a person added stays.
    fn update_known(
        &self,
        board: &mut Board,
        (items, new): (&[BoardItem], &BTreeMap<String, TaskId>),
        batch: &mut Batch,
    ) -> Vec<TaskId> {
        let Board { driver, plan, catalogue, known: streams, .. } = board;
        if driver.workflow().board.as_ref().is_none_or(|found| found.depends.is_none()) {
            return Vec::new();
        }
        let tasks = &driver.run().tasks;
        let own: BTreeSet<TaskId> = tasks.values().copied().collect();
        let mut changed = Vec::new();
        for stream in streams {
            let Some(task) = stream.state.clone().filter(|task| matches!(task.stage, Stage::Backlog)) else {
                continue;
            };
            let Some(item) = items.iter().find(|item| tasks.get(&item.key) == Some(&task.id)) else {
                continue;
            };
            let find = |key: &String| new.get(key).or_else(|| tasks.get(key)).copied();
            let wanted: BTreeSet<TaskId> = item.depends.iter().filter_map(find).collect();
            let add = wanted.difference(&task.dependencies).copied().collect();
            let remove = task.dependencies.iter().filter(|on| own.contains(on) && !wanted.contains(on));
            let depend = Depend { add, remove: remove.copied().collect() };
            let situation = Situation {
                task: Some(&task),
                assignments: &Assignments::default(),
                plan: &plan.state,
                catalogue: &catalogue.state,
                upstream: &BTreeMap::<TaskId, Standing>::new(),
                settings: self.settings,
            };
            // One that would wait for itself stays as it is.
            let command = crate::core::Command::Depend(depend);
            let Ok(decision) = decide(&situation, task.id, &Actor::Engine, &command) else { continue };
            if !decision.events.is_empty() {
                batch.add(&mut [stream, plan], decision.events);
                batch.list(list::rows_of(task.id, stream.state.as_ref()));
                changed.push(task.id);
            }
        }
        changed
    }

    fn add(
        &self,
        board: &mut Board,
        item: &BoardItem,
        dependencies: BTreeSet<TaskId>,
        batch: &mut Batch,
    ) -> Result<TaskId, Error> {
        let create = task_of(item, dependencies).map_err(orders::invalid)?;
        // A missing PRD is no reason to keep the tasks from the board.
        let prds = &board.catalogue.state.prds;
        let prd = board.driver.run().prd.clone().filter(|prd| prds.contains_key(prd));
        let id = board.plan.state.next_id();
        let situation = Situation {
            task: None,
            assignments: &Assignments::default(),
            plan: &board.plan.state,
            catalogue: &board.catalogue.state,
            upstream: &BTreeMap::<TaskId, Standing>::new(),
            settings: self.settings,
        };
        let command = crate::core::Command::Create(create.filed_under(None, prd));
        let decision = decide(&situation, id, &Actor::Engine, &command).map_err(Error::Refused)?;
        let mut task: Stream<Option<Task>> = Stream::empty(log::task_stream(id));
        batch.add(&mut [&mut task, &mut board.plan], decision.events);
        batch.list(list::rows_of(id, task.state.as_ref()));
        board.tasks.push(task);
        Ok(id)
    }
}
