//! Starts the children of a `map` node that can be started: their runs, and the parent's record of them, in
//! one append.

use crate::commands::run_orders::{Batch, child_order};
use crate::core::run::{Command, Item, Phase};
use crate::core::{Actor, Failure, RunId};
use crate::error::Error;
use crate::perform::Work;
use crate::perform::runs::{mend, terms};
use crate::runs::seat::{self, Seat};
use std::collections::BTreeMap;

/// Each lost race means that another command went through.
const TRIES_MAX: u32 = 64;

pub(crate) async fn perform(work: &Work, run: RunId, step: u64) -> Result<(), Error> {
    let project = &work.project;
    let mut place = work.seats.enter(run).await;
    for _ in 0..TRIES_MAX {
        let mut seat = place.take(project).await?;
        let Some(Phase::Mapping(mapping)) = seat.run().phase() else {
            return seat::settle(project, &terms(work)).await;
        };
        let name = mapping.workflow.clone();
        let items: Vec<Item> = mapping.startable().into_iter().cloned().collect();
        let mut batch = Batch::open(project).await?;
        let mut children = BTreeMap::new();
        let workflow = seat.workflow().children.get(&name);
        for item in &items {
            let Some(workflow) = workflow else { break };
            match batch.begin(workflow, child_order(seat.run(), &name, item), &Actor::Engine) {
                Ok(id) => drop(children.insert(item.key.clone(), id)),
                Err(error @ Error::Refused(_)) => return hold(work, &mut seat, step, item, error).await,
                Err(other) => return Err(other),
            }
        }
        let command = Command::ChildrenStarted { step, children };
        let append = batch.into_append();
        if seat.give_with(project, &Actor::Engine, command, &terms(work), append).await? {
            place.leave(seat);
            return Ok(());
        }
    }
    Err(Error::Contended { tries: TRIES_MAX })
}

/// Holds the run because of an item whose child cannot begin.
async fn hold(work: &Work, seat: &mut Seat, step: u64, item: &Item, error: Error) -> Result<(), Error> {
    let run = seat.run().id;
    let mut problem = error.explain();
    problem.what = format!("run {run} cannot start the child for item `{}`", item.key);
    let command = mend::find_command(work, seat.run()).await?;
    problem.next = format!("fix the workflow (`regatta workflow check`), then {command} continues with it");
    let command = Command::NotPerformed { step, failure: Failure::from(problem) };
    seat.give(&work.project, &Actor::Engine, command, &terms(work)).await.map(|_| ())
}
