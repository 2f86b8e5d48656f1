//! Gives runs the edits of their files.

use crate::commands::batch::Batch;
use crate::commands::round::{self, Envelope, Round, Verdict};
use crate::core::run::{self, Command, Event, FoundEdit};
use crate::core::{Actor, RunId};
use crate::error::Error;
use crate::project::Project;
use crate::recording::recorder;
use crate::runs::driver::Driver;

/// Gives a run an edit of one of its files; returns what it came to, which is nothing if the run has it already.
pub(crate) async fn give(project: &Project, run: RunId, found: FoundEdit) -> Result<Vec<Event>, Error> {
    let envelope = Envelope::by(&Actor::Unknown);
    let sent = round::submit(project, &envelope, &GiveEdit { run, found }, None).await?;
    if let Some(driver) = &sent.reads {
        recorder::close_if_resting(project, driver.run()).await;
    }
    Ok(sent.answer)
}

struct GiveEdit {
    run: RunId,
    found: FoundEdit,
}

impl Round for GiveEdit {
    type Reads = Driver;
    type Answer = Vec<Event>;

    async fn load(&self, project: &Project) -> Result<Driver, Error> {
        Driver::load(project, self.run).await
    }

    fn decide(&self, driver: &mut Driver, batch: &mut Batch) -> Result<Verdict<Vec<Event>>, Error> {
        let command = Command::Edited(self.found.clone());
        let events = run::decide(driver.inputs(batch.at), driver.run(), &command).map_err(Error::Refused)?;
        if events.is_empty() {
            return Ok(Verdict::Withdraw(events));
        }
        driver.decide(Actor::Unknown, &command, batch)?;
        Ok(Verdict::Append(events))
    }
}
