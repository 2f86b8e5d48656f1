//! Stops the current work of a run: the session of a role, and its children.

use crate::commands::run_orders::get_run;
use crate::core::run::{Command, Phase};
use crate::core::session::Scope;
use crate::core::{Actor, RunId};
use crate::error::Error;
use crate::perform::Work;
use crate::perform::runs::terms;
use crate::runs::seat::{Seat, Terms};
use crate::runtime::control::Control;
use crate::session::leftovers;
use regatta_agents::StopReason;

pub(crate) async fn perform(work: &Work, run: RunId, control: Option<Control>) -> Result<(), Error> {
    if let Some(control) = control {
        control.stop(StopReason::Cancelled);
        control.over().await;
    }
    leftovers::end_lost(work, Scope::Run(run)).await?;
    if let Some(Phase::Mapping(mapping)) = get_run(&work.project, run).await?.phase() {
        for child in mapping.under_way() {
            let mut seat = Seat::load_bare(&work.project, child).await?;
            let terms = Terms { settle: Vec::new(), fence: Some(work.token) };
            match seat.give(&work.project, &Actor::Engine, Command::Stop { reason: None }, &terms).await {
                // It has already ended.
                Err(Error::Refused(_)) | Ok(_) => {}
                Err(other) => return Err(other),
            }
        }
    }
    let mut seat = Seat::load_bare(&work.project, run).await?;
    seat.give(&work.project, &Actor::Engine, Command::Stopped, &terms(work)).await.map(|_| ())
}
