//! Giving commands about epics and PRDs: load, decide, append.
//!
//! They take the same round as the commands of tasks, and set nothing off: there are no effects here.

use crate::clock;
use crate::commands::orders::Giver;
use crate::commands::round;
use crate::core::document::{
    AddEpic, AddPrd, Catalogue, ChangeEpic, ChangePrd, Command, Epic, Event, Prd, Situation, decide,
};
use crate::core::{EpicId, Fact, PrdSlug, Refusal};
use crate::error::Error;
use crate::log;
use crate::log::{Folded, SNAPSHOT_FORMAT};
use crate::project::Project;
use regatta_store::{Append, CommandKey, StreamName, Version};
use serde::{Deserialize, Serialize};

/// Adds a PRD.
pub async fn add_prd(project: &Project, giver: &Giver, add: AddPrd) -> Result<PrdSlug, Error> {
    let slug = add.slug().clone();
    give(project, giver, Command::AddPrd(add)).await?;
    Ok(slug)
}

/// Changes a PRD.
pub async fn change_prd(project: &Project, giver: &Giver, change: ChangePrd) -> Result<(), Error> {
    give(project, giver, Command::ChangePrd(change)).await.map(|_| ())
}

/// Adds an epic, and returns its number.
pub async fn add_epic(project: &Project, giver: &Giver, add: AddEpic) -> Result<EpicId, Error> {
    let answer = give(project, giver, Command::AddEpic(add)).await?;
    let lost = || Error::LogUnsound { seq: 0, why: "the answer that was kept names no epic".to_owned() };
    answer.epic_id.ok_or_else(lost)
}

/// Changes an epic.
pub async fn change_epic(project: &Project, giver: &Giver, change: ChangeEpic) -> Result<(), Error> {
    give(project, giver, Command::ChangeEpic(change)).await.map(|_| ())
}

/// Returns the epic, or the refusal that there is none.
pub async fn get_epic(project: &Project, epic: EpicId) -> Result<Epic, Error> {
    let loaded = project.store().load(&log::epic_stream(epic), SNAPSHOT_FORMAT).await?;
    let state = Folded::<Option<Epic>>::from_loaded(loaded)?.state;
    state.ok_or(Error::Refused(Refusal::EpicNotFound { epic }))
}

/// Returns the PRD, or the refusal that there is none.
pub async fn get_prd(project: &Project, prd: &PrdSlug) -> Result<Prd, Error> {
    let loaded = project.store().load(&log::prd_stream(prd), SNAPSHOT_FORMAT).await?;
    match Folded::<Option<Prd>>::from_loaded(loaded)?.state {
        Some(found) => Ok(found),
        None => Err(Error::Refused(load_catalogue(project).await?.state.lacks_prd(prd))),
    }
}

pub(crate) async fn load_catalogue(project: &Project) -> Result<Folded<Catalogue>, Error> {
    Folded::from_loaded(project.store().load(&log::catalogue_stream(), SNAPSHOT_FORMAT).await?)
}

/// What is kept with a command's id, to answer a repetition with.
#[derive(Default, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Answer {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    epic_id: Option<EpicId>,
}

async fn give(project: &Project, giver: &Giver, command: Command) -> Result<Answer, Error> {
    let key = round::key(giver, &format!("{command:?}"));
    round::take(project, &Turn { giver, key, command }).await
}

/// A command of a document on its round.
struct Turn<'a> {
    giver: &'a Giver,
    key: Option<CommandKey>,
    command: Command,
}

impl round::Turn for Turn<'_> {
    type Given = Answer;

    fn key(&self) -> Option<&CommandKey> {
        self.key.as_ref()
    }

    fn parse(answer: &str) -> Result<Answer, Error> {
        serde_json::from_str(answer).map_err(|error| Error::LogUnsound { seq: 0, why: error.to_string() })
    }

    async fn decide(&self, project: &Project) -> Result<(Answer, Append), Error> {
        let mut desk = Desk::load(project, &self.command).await?;
        let (answer, append) = desk.decide(self.giver, &self.command).map_err(Error::Refused)?;
        Ok((answer, Append { command: self.key.clone(), ..append }))
    }
}

/// Everything that one decision reads, at one moment.
struct Desk {
    catalogue: Folded<Catalogue>,
    epic: Option<Folded<Option<Epic>>>,
    prd: Option<Folded<Option<Prd>>>,
}

impl Desk {
    async fn load(project: &Project, command: &Command) -> Result<Self, Error> {
        let catalogue = load_catalogue(project).await?;
        let mut desk = Desk { catalogue, epic: None, prd: None };
        let load = |stream: StreamName| async move { project.store().load(&stream, SNAPSHOT_FORMAT).await };
        let epic = match command {
            Command::AddEpic(_) => Some(desk.catalogue.state.next_epic()),
            Command::ChangeEpic(change) => Some(change.epic()),
            Command::AddPrd(_) | Command::ChangePrd(_) => None,
        };
        if let Some(epic) = epic {
            desk.epic = Some(Folded::from_loaded(load(log::epic_stream(epic)).await?)?);
        }
        let prd = match command {
            Command::AddPrd(add) => Some(add.slug()),
            Command::ChangePrd(change) => Some(change.slug()),
            Command::AddEpic(_) | Command::ChangeEpic(_) => None,
        };
        if let Some(prd) = prd {
            desk.prd = Some(Folded::from_loaded(load(log::prd_stream(prd)).await?)?);
        }
        Ok(desk)
    }

    fn decide(&mut self, giver: &Giver, command: &Command) -> Result<(Answer, Append), Refusal> {
        let situation = Situation {
            catalogue: &self.catalogue.state,
            epic: self.epic.as_ref().and_then(|epic| epic.state.as_ref()),
            prd: self.prd.as_ref().and_then(|prd| prd.state.as_ref()),
        };
        let events = decide(&situation, command)?;
        let answer = Answer { epic_id: events.iter().find_map(Event::find_epic) };
        let kept = serde_json::to_string(&answer).expect("an answer is plain data");
        let mut append = Append { answer: kept, expect: self.versions(), ..Append::default() };
        for fact in log::facts(events, &giver.actor, clock::now()) {
            let row = log::row_of(&fact);
            self.push(&fact, row.data.len());
            append.events.push(row);
        }
        if !append.events.is_empty() {
            append.snapshots.extend(self.catalogue.snapshot_if_due());
            append.snapshots.extend(self.epic.as_ref().and_then(Folded::snapshot_if_due));
            append.snapshots.extend(self.prd.as_ref().and_then(Folded::snapshot_if_due));
        }
        Ok((answer, append))
    }

    fn push(&mut self, fact: &Fact<Event>, bytes: usize) {
        self.catalogue.push(fact, bytes);
        if let Some(epic) = &mut self.epic {
            epic.push(fact, bytes);
        }
        if let Some(prd) = &mut self.prd {
            prd.push(fact, bytes);
        }
    }

    fn versions(&self) -> Vec<(StreamName, Version)> {
        let mut versions = vec![(self.catalogue.stream.clone(), self.catalogue.version)];
        versions.extend(self.epic.as_ref().map(|epic| (epic.stream.clone(), epic.version)));
        versions.extend(self.prd.as_ref().map(|prd| (prd.stream.clone(), prd.version)));
        versions
    }
}
