//! A run and the runs below it: a pause or its end goes down to all of them, in one append.
//!
//! So there is no moment, and no crash, between a run that is paused and a child that goes on. A child keeps a pause of
//! its own apart from the one above; a child that is started by then begins with that one.

use crate::commands::orders::Giver;
use crate::commands::run_orders::get_run;
use crate::core::run::{Command, Run};
use crate::core::{Actor, RunId};
use crate::crash;
use crate::error::Error;
use crate::project::Project;
use crate::runs::seat::Seat;
use regatta_store::Append;

/// Each lost race means that another command went through, or that one of the family made a step.
const TRIES_MAX: u32 = 256;

/// Returns the runs that a run is a child of, the nearest first.
pub(crate) async fn find_above(project: &Project, run: &Run) -> Result<Vec<RunId>, Error> {
    let mut above = Vec::new();
    let mut parent = run.parent.clone();
    while let Some(next) = parent {
        above.push(next.run_id);
        parent = get_run(project, next.run_id).await?.parent;
    }
    Ok(above)
}

/// Pauses or resumes a run with all that is under way below it.
pub(crate) async fn tell(
    project: &Project,
    giver: &Giver,
    run: RunId,
    command: Command,
) -> Result<(), Error> {
    for _ in 0..TRIES_MAX {
        let append = decide(project, giver, run, command.clone()).await?;
        if append.events.is_empty() {
            return Ok(());
        }
        crash::point("append.before");
        match project.store().append(append).await {
            Ok(_) => {
                crash::point("append.after");
                return Ok(());
            }
            Err(regatta_store::Error::Conflict { .. }) => {}
            Err(other) => return Err(other.into()),
        }
    }
    Err(Error::Contended { tries: TRIES_MAX })
}

/// Decides for the run, and then for each that follows one which was decided for.
async fn decide(project: &Project, giver: &Giver, run: RunId, command: Command) -> Result<Append, Error> {
    let mut append = Append::default();
    let mut seat = Seat::load_bare(project, run).await?;
    seat.join(&giver.actor, command, &mut append)?;
    let mut followers = find_followers(seat.run());
    while let Some((child, is_paused)) = followers.pop() {
        let mut seat = Seat::load_bare(project, child).await?;
        seat.join(&Actor::Engine, Command::FollowParent { is_paused }, &mut append)?;
        followers.extend(find_followers(seat.run()));
    }
    Ok(append)
}

/// Returns the children that are under way, with whether they are paused by what is above them.
fn find_followers(run: &Run) -> Vec<(RunId, bool)> {
    run.children_under_way().into_iter().map(|child| (child, run.pauses_children())).collect()
}
