//! Tells a run that one of its children has ended.

use super::super::orders::get_run;
use super::super::seat;
use super::{settle, terms};
use crate::core::RunId;
use crate::core::run::{ChildEnd, Command, Phase};
use crate::error::Error;
use crate::perform::Work;

pub(super) async fn perform(work: &Work, run: RunId, parent: RunId) -> Result<(), Error> {
    let end = match get_run(&work.project, run).await?.phase {
        Phase::Completed { result } => ChildEnd::Completed { result },
        Phase::Failed { error } => ChildEnd::Failed { error },
        // It cannot be otherwise: the effect is asked for by the end.
        _ => return seat::settle(&work.project, &terms(work)).await,
    };
    settle(work, parent, Command::ChildEnded { child: run, end }).await
}
