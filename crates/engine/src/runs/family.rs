//! A run and the runs below it: a pause or a stop reaches all of them in one append.
//!
//! So neither a race nor a crash can leave a run paused while a child continues. A child keeps its own pause
//! apart from the one above; a child that starts later begins with the parent's pause.

use crate::commands::batch::Batch;
use crate::commands::round::{self, Envelope, Round, Verdict};
use crate::commands::run_orders::get_run;
use crate::core::run::{Command, Hold, Run};
use crate::core::{Actor, RunId};
use crate::error::Error;
use crate::project::Project;
use crate::runs::driver::Driver;
use std::collections::BTreeMap;

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

/// Pauses a run with everything that has not ended below it, or resumes it with that.
pub(crate) async fn tell(
    project: &Project,
    envelope: &Envelope,
    run: RunId,
    command: Command,
) -> Result<(), Error> {
    let tell = TellFamily { actor: &envelope.actor, run, command };
    round::submit(project, envelope, &tell, None).await.map(drop)
}

/// A command to a run and to those below it.
struct TellFamily<'a> {
    actor: &'a Actor,
    run: RunId,
    command: Command,
}

impl Round for TellFamily<'_> {
    type Reads = Vec<Driver>;
    type Answer = ();

    /// Loads the run and all below it that have not ended, each after its parent.
    async fn load(&self, project: &Project) -> Result<Vec<Driver>, Error> {
        let mut family = Vec::new();
        let mut next = vec![self.run];
        while let Some(run) = next.pop() {
            let driver = Driver::load_bare(project, run).await?;
            next.extend(driver.run().children_under_way());
            family.push(driver);
        }
        Ok(family)
    }

    fn decide(&self, family: &mut Vec<Driver>, batch: &mut Batch) -> Result<Verdict<()>, Error> {
        let mut paused: BTreeMap<RunId, bool> = BTreeMap::new();
        for driver in family {
            match driver.run().parent.as_ref().and_then(|parent| paused.get(&parent.run_id)) {
                None => drop(driver.decide(self.actor.clone(), &self.command, batch)?),
                Some(&is_paused) => {
                    driver.decide(Actor::Engine, &Command::FollowParent { is_paused }, batch)?;
                    // What an error holds is tried again with the run above it.
                    let is_held_by_error = matches!(driver.run().hold(), Some(Hold::Error { .. }));
                    if self.command == Command::Resume && is_held_by_error {
                        driver.decide(self.actor.clone(), &Command::Resume, batch)?;
                    }
                }
            }
            paused.insert(driver.run().id, driver.run().pauses_children());
        }
        Ok(Verdict::Append(()))
    }
}
