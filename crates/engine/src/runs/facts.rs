//! The facts that the expressions of runs read, kept in memory for each family of runs and brought up to date from the log.
//!
//! What follows from an event is for [`Known`]; this reads the events. A family is read from its first event on once, and
//! from then on only what was added, so a step costs what has happened since the one before. Nothing is gathered for a
//! workflow that names no fact. A fork begins with what was known of the other run at its step.

use crate::commands::run_orders::get_run;
use crate::core::RunId;
use crate::core::run::{Event, Known, Run};
use crate::error::Error;
use crate::log::{self, NO_SNAPSHOT};
use crate::project::Project;
use regatta_flow::{Variables, Workflow};
use regatta_store::{Recorded, Seq};
use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use tokio::sync::OwnedMutexGuard;

/// As many events are read at once.
const PAGE: usize = 500;

/// With more families than this, unused ones are dropped.
const FAMILIES_MAX: usize = 16;

/// The kinds of events from which nothing follows: what a task file says, the folders of workflows.
const SKIPPED: [&str; 4] = ["file:", "workflow:", "epic:", "prd:"];

/// The facts for one decision.
#[derive(Debug, Clone, Default)]
pub(crate) struct Facts {
    pub(crate) variables: Variables,
    /// The last event that they are as of.
    pub(crate) seen: u64,
}

/// The families of a project that this process has read.
#[derive(Default)]
pub(crate) struct Families {
    places: Mutex<HashMap<RunId, Arc<tokio::sync::Mutex<Option<Family>>>>>,
    /// The outermost run above each.
    roots: Mutex<HashMap<RunId, RunId>>,
}

/// A family, as far as the log was read.
pub(crate) struct Family {
    pub(crate) known: Known,
    position: Seq,
    /// Distinguishes it from the same family when it is read again.
    id: u64,
}

/// A family for one holder at a time.
pub(crate) struct Held(OwnedMutexGuard<Option<Family>>);

impl Held {
    pub(crate) fn family(&mut self) -> &mut Family {
        self.0.as_mut().expect("a family is held only once it is read")
    }
}

impl Families {
    /// Returns the family of a run, as of the newest event.
    pub(crate) async fn enter(&self, project: &Project, run: RunId) -> Result<Held, Error> {
        let root = self.find_root(project, run).await?;
        let place = {
            let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            if places.len() >= FAMILIES_MAX && !places.contains_key(&root) {
                places.retain(|_, place| Arc::strong_count(place) > 1);
            }
            Arc::clone(places.entry(root).or_default())
        };
        let mut held = place.lock_owned().await;
        if held.is_none() {
            let digest = get_run(project, root).await?.digest;
            let definition = project.definitions().get(project, &digest).await?;
            *held = Some(Family::begin(project, root, &definition).await?);
        }
        let mut held = Held(held);
        held.family().advance(project, None).await?;
        Ok(held)
    }

    /// Returns the outermost run above a run.
    pub(crate) async fn find_root(&self, project: &Project, run: RunId) -> Result<RunId, Error> {
        let known = self.roots.lock().unwrap_or_else(PoisonError::into_inner).get(&run).copied();
        if let Some(root) = known {
            return Ok(root);
        }
        let root = find_root(project, run).await?;
        self.roots.lock().unwrap_or_else(PoisonError::into_inner).insert(run, root);
        Ok(root)
    }
}

/// Finds the outermost run above a run.
pub(crate) async fn find_root(project: &Project, run: RunId) -> Result<RunId, Error> {
    let mut root = run;
    while let Some(parent) = get_run(project, root).await?.parent {
        root = parent.run_id;
    }
    Ok(root)
}

/// Gathers the facts that the steps of a run read, as of now.
pub(crate) async fn gather(project: &Project, run: &Run, workflow: &Workflow) -> Result<Facts, Error> {
    if workflow.facts.is_empty() {
        return Ok(Facts::default());
    }
    let mut held = project.families().enter(project, run.id).await?;
    let known = &mut held.family().known;
    Ok(Facts { variables: known.variables(run.id, &workflow.facts), seen: known.seen() })
}

impl Family {
    /// Begins to read the family of a run, with what a fork takes over.
    pub(crate) async fn begin(
        project: &Project,
        root: RunId,
        definition: &Arc<Workflow>,
    ) -> Result<Self, Error> {
        let rows = load_rows(project, root).await?;
        let none = || Error::LogUnsound { seq: 0, why: format!("run {root} has no first event") };
        let first = rows.first().ok_or_else(none)?;
        let position = Seq(first.seq.0.saturating_sub(1));
        let fact = log::fact_of::<Event>(first)?;
        let forked = if let Event::RunCreated { plan, .. } = &fact.event { plan.forked } else { None };
        let Some(fork) = forked else {
            return Ok(Family { known: Known::new(Arc::clone(definition), root), position, id: next_id() });
        };
        let until = find_step(project, fork.run_id, fork.step).await?;
        let other = find_root(project, fork.run_id).await?;
        let digest = get_run(project, other).await?.digest;
        let of_other = project.definitions().get(project, &digest).await?;
        let mut before = Box::pin(Family::begin(project, other, &of_other)).await?;
        before.advance(project, Some(until)).await?;
        let known = Known::forked(Arc::clone(definition), root, before.known, fork.run_id);
        Ok(Family { known, position, id: next_id() })
    }

    /// Returns a number that no other family in this process has.
    pub(crate) fn id(&self) -> u64 {
        self.id
    }

    /// Reads on, to an event or to the end of the log.
    pub(crate) async fn advance(&mut self, project: &Project, until: Option<Seq>) -> Result<(), Error> {
        loop {
            let rows = project.store().read(self.position, PAGE).await?;
            let is_last = rows.len() < PAGE;
            for row in &rows {
                if until.is_some_and(|until| row.seq > until) {
                    return Ok(());
                }
                self.position = row.seq;
                if !SKIPPED.iter().any(|kind| row.kind.starts_with(kind)) {
                    self.known.fold(row.seq.0, log::happening_of(row)?);
                }
            }
            if is_last {
                self.known.see(self.position.0);
                return Ok(());
            }
        }
    }
}

fn next_id() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

async fn load_rows(project: &Project, run: RunId) -> Result<Vec<Recorded>, Error> {
    Ok(project.store().load(&log::run_stream(run), NO_SNAPSHOT).await?.tail)
}

/// Finds the event by which a run came to a step.
async fn find_step(project: &Project, run: RunId, step: u64) -> Result<Seq, Error> {
    let mut state: Option<Run> = None;
    let mut last = Seq(0);
    for row in load_rows(project, run).await? {
        state = Run::evolve(state, &log::fact_of(&row)?);
        last = row.seq;
        if state.as_ref().is_some_and(|run| run.step >= step) {
            break;
        }
    }
    Ok(last)
}
