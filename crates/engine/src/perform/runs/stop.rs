//! Stops the current work of a run: the session of a role, and its children.

use crate::commands::round::Envelope;
use crate::commands::run_orders::get_run;
use crate::core::RunId;
use crate::core::run::{Command, Phase};
use crate::core::session::Scope;
use crate::error::Error;
use crate::perform::Work;
use crate::perform::runs::settle;
use crate::runs::driver;
use crate::runtime::stop_handle::StopHandle;
use crate::session::leftovers;
use regatta_agents::StopReason;

pub(crate) async fn perform(work: &Work, run: RunId, stop_handle: Option<StopHandle>) -> Result<(), Error> {
    if let Some(stop_handle) = stop_handle {
        stop_handle.stop(StopReason::Cancelled);
        stop_handle.over().await;
    }
    leftovers::end_lost(work, Scope::Run(run)).await?;
    if let Some(Phase::Mapping(mapping)) = get_run(&work.project, run).await?.phase() {
        for child in mapping.under_way() {
            let envelope = Envelope { settles: Vec::new(), ..work.envelope() };
            match driver::tell(&work.project, &envelope, child, Command::Stop { reason: None }).await {
                // It has already ended.
                Err(Error::Refused(_)) | Ok(()) => {}
                Err(other) => return Err(other),
            }
        }
    }
    settle(work, run, Command::Stopped).await
}
