//! Puts the items of a run on the board: the tasks, and the record of which task belongs to which item, in
//! one append.

use crate::clock;
use crate::commands::batch::{Batch, reads};
use crate::commands::documents;
use crate::commands::orders;
use crate::commands::round::{self, Round, Verdict};
use crate::commands::run_orders::get_run;
use crate::core::document::Catalogue;
use crate::core::machine::Column;
use crate::core::run::{self, Command, Phase, Run, find_board_items, task_of};
use crate::core::{
    Actor, Assignments, Code, Failure, Plan, RunId, Settings, Situation, Task, TaskId, decide,
};
use crate::error::Error;
use crate::log;
use crate::log::Stream;
use crate::log::list;
use crate::perform::Work;
use crate::perform::log_watch::LogWatch;
use crate::perform::runs::settle;
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
    let run = driver.run();
    match find_board_items(driver.inputs(at), run) {
        Ok(items) => Ok(items.into_iter().filter(|item| !run.tasks.contains_key(&item.key)).collect()),
        Err(fault) => Err(run::explain_node(run, &fault)),
    }
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
    /// The new tasks.
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
    tasks: Vec<Stream<Option<Task>>>,
}

reads!(Board: plan, catalogue, tasks, driver);

impl Round for Publish<'_> {
    type Reads = Board;
    type Answer = Published;

    async fn load(&self, project: &Project) -> Result<Board, Error> {
        Ok(Board {
            driver: Driver::load(project, self.run).await?,
            plan: orders::load_plan(project).await?,
            catalogue: documents::load_catalogue(project).await?,
            tasks: Vec::new(),
        })
    }

    fn decide(&self, board: &mut Board, batch: &mut Batch) -> Result<Verdict<Published>, Error> {
        if self.is_due(board.driver.run()).is_none() {
            return Ok(Verdict::Append(Published::Tasks(Vec::new())));
        }
        let items = match find_items(&board.driver, batch.at) {
            Ok(items) => items,
            Err(failure) => return Ok(Verdict::Withdraw(Published::Never(failure))),
        };
        let tasks = match self.add_all(board, &items, batch) {
            Ok(tasks) => tasks,
            Err(error) => {
                let failure = trouble::of_run(board.driver.run(), error)?;
                return Ok(Verdict::Withdraw(Published::Refused(failure)));
            }
        };
        let new = tasks.values().copied().collect();
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

    /// Makes a task of each item, in their order; what an item depends on must come before it, or exist
    /// already.
    fn add_all(
        &self,
        board: &mut Board,
        items: &[BoardItem],
        batch: &mut Batch,
    ) -> Result<BTreeMap<String, TaskId>, Error> {
        let mut tasks = BTreeMap::new();
        for item in items {
            let known = &board.driver.run().tasks;
            let find = |key: &String| tasks.get(key).or_else(|| known.get(key)).copied();
            let dependencies: BTreeSet<TaskId> = item.depends.iter().filter_map(find).collect();
            let id = self.add(board, item, dependencies, batch)?;
            tasks.insert(item.key.clone(), id);
        }
        Ok(tasks)
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
            upstream: &BTreeMap::<TaskId, Column>::new(),
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
