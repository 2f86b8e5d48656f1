//! Gives commands about epics and PRDs: load, decide, append.
//!
//! They take the same round as the commands of tasks, and trigger nothing: there are no effects here.

use crate::commands::batch::{Batch, Reads, reads};
use crate::commands::orders::Caller;
use crate::commands::round::{self, Envelope, Round, Verdict};
use crate::core::document::{
    AddEpic, AddPrd, Catalogue, ChangeEpic, ChangePrd, Command, Epic, Event, Prd, Situation, decide,
};
use crate::core::{EpicId, PrdSlug, Refusal};
use crate::error::Error;
use crate::log;
use crate::log::Stream;
use crate::project::Project;
use serde::{Deserialize, Serialize};

/// Adds a PRD.
pub async fn add_prd(project: &Project, caller: &Caller, add: AddPrd) -> Result<PrdSlug, Error> {
    let slug = add.slug().clone();
    give(project, caller, Command::AddPrd(add)).await?;
    Ok(slug)
}

/// Changes a PRD.
pub async fn change_prd(project: &Project, caller: &Caller, change: ChangePrd) -> Result<(), Error> {
    give(project, caller, Command::ChangePrd(change)).await.map(|_| ())
}

/// Adds an epic, and returns its number.
pub async fn add_epic(project: &Project, caller: &Caller, add: AddEpic) -> Result<EpicId, Error> {
    let answer = give(project, caller, Command::AddEpic(add)).await?;
    let lost = || Error::LogUnsound { seq: 0, why: "the answer that was kept names no epic".to_owned() };
    answer.epic_id.ok_or_else(lost)
}

/// Changes an epic.
pub async fn change_epic(project: &Project, caller: &Caller, change: ChangeEpic) -> Result<(), Error> {
    give(project, caller, Command::ChangeEpic(change)).await.map(|_| ())
}

/// Returns the epic, or the refusal that there is none.
pub async fn get_epic(project: &Project, epic: EpicId) -> Result<Epic, Error> {
    let found: Stream<Option<Epic>> = Stream::load(project, log::epic_stream(epic)).await?;
    found.state.ok_or(Error::Refused(Refusal::EpicNotFound { epic }))
}

/// Returns the PRD, or the refusal that there is none.
pub async fn get_prd(project: &Project, prd: &PrdSlug) -> Result<Prd, Error> {
    let found: Stream<Option<Prd>> = Stream::load(project, log::prd_stream(prd)).await?;
    match found.state {
        Some(found) => Ok(found),
        None => Err(Error::Refused(load_catalogue(project).await?.state.lacks_prd(prd))),
    }
}

pub(crate) async fn load_catalogue(project: &Project) -> Result<Stream<Catalogue>, Error> {
    Stream::load(project, log::catalogue_stream()).await
}

/// What is kept with a command's id, to answer a repetition with.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    epic_id: Option<EpicId>,
}

async fn give(project: &Project, caller: &Caller, command: Command) -> Result<Answer, Error> {
    let envelope = Envelope::of(caller, &command);
    Ok(round::submit(project, &envelope, &Change { command }, None).await?.answer)
}

/// A command about an epic or a PRD.
struct Change {
    command: Command,
}

/// Everything that one decision reads.
struct Documents {
    catalogue: Stream<Catalogue>,
    epic: Option<Stream<Option<Epic>>>,
    prd: Option<Stream<Option<Prd>>>,
}

reads!(Documents: catalogue, epic, prd);

impl Round for Change {
    type Reads = Documents;
    type Answer = Answer;

    async fn load(&self, project: &Project) -> Result<Documents, Error> {
        let catalogue = load_catalogue(project).await?;
        let (epic, prd) = match &self.command {
            Command::AddEpic(add) => (Some(add.find_number(&catalogue.state)), None),
            Command::ChangeEpic(change) => (Some(change.epic()), None),
            Command::AddPrd(add) => (None, Some(add.slug())),
            Command::ChangePrd(change) => (None, Some(change.slug())),
        };
        let epic = match epic {
            Some(epic) => Some(Stream::load(project, log::epic_stream(epic)).await?),
            None => None,
        };
        let prd = match prd {
            Some(prd) => Some(Stream::load(project, log::prd_stream(prd)).await?),
            None => None,
        };
        Ok(Documents { catalogue, epic, prd })
    }

    fn decide(&self, reads: &mut Documents, batch: &mut Batch) -> Result<Verdict<Answer>, Error> {
        let situation = Situation {
            catalogue: &reads.catalogue.state,
            epic: reads.epic.as_ref().and_then(|epic| epic.state.as_ref()),
            prd: reads.prd.as_ref().and_then(|prd| prd.state.as_ref()),
        };
        let events = decide(&situation, &self.command).map_err(Error::Refused)?;
        let answer = Answer { epic_id: events.iter().find_map(Event::find_epic) };
        batch.add(&mut reads.streams(), events);
        Ok(Verdict::Append(answer))
    }
}
