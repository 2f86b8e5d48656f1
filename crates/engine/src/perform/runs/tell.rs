//! Tells a run that one of its children has ended.

use crate::commands::round;
use crate::commands::run_orders::get_run;
use crate::core::RunId;
use crate::core::run::{ChildEnd, Command, Situation};
use crate::error::Error;
use crate::perform::Work;
use crate::runs::driver;

pub(crate) async fn perform(work: &Work, run: RunId, parent: RunId) -> Result<(), Error> {
    let end = match get_run(&work.project, run).await?.situation {
        Situation::Completed { result } => ChildEnd::Completed { result },
        Situation::Failed { error } => ChildEnd::Failed { error },
        // It cannot be otherwise: the effect is asked for by the end.
        Situation::Working(_) => return round::settle(&work.project, &work.envelope()).await,
    };
    let command = Command::ChildEnded { child: run, end };
    let mut place = work.drivers.enter(parent).await;
    let left = place.take();
    let (told, _) = driver::give(&work.project, &work.envelope(), (parent, left), command).await?;
    place.leave(told);
    Ok(())
}
