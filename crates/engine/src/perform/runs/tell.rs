//! Tells a run that one of its children has ended.

use crate::commands::run_orders::get_run;
use crate::core::run::{ChildEnd, Command, Situation};
use crate::core::{Actor, RunId};
use crate::error::Error;
use crate::perform::Work;
use crate::perform::runs::terms;
use crate::runs::seat::{self, Seat};

pub(crate) async fn perform(work: &Work, run: RunId, parent: RunId) -> Result<(), Error> {
    let end = match get_run(&work.project, run).await?.situation {
        Situation::Completed { result } => ChildEnd::Completed { result },
        Situation::Failed { error } => ChildEnd::Failed { error },
        // It cannot be otherwise: the effect is asked for by the end.
        Situation::Working(_) => return seat::settle(&work.project, &terms(work)).await,
    };
    let command = Command::ChildEnded { child: run, end };
    let mut place = work.seats.enter(parent).await;
    match place.take(&work.project).await {
        Ok(mut seat) => {
            seat.give(&work.project, &Actor::Engine, command, &terms(work)).await?;
            place.leave(seat);
            Ok(())
        }
        // The parent then ends because it cannot continue; the end of the child must not be lost over that.
        Err(Error::Workflow(_)) => {
            let mut seat = Seat::load_bare(&work.project, parent).await?;
            seat.give(&work.project, &Actor::Engine, command, &terms(work)).await.map(|_| ())
        }
        Err(other) => Err(other),
    }
}
