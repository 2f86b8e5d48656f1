//! What happens when a command about a document is given, or why it may not.

use super::{AddEpic, AddPrd, Catalogue, ChangeEpic, ChangePrd, Epic, Event, Prd};
use super::{add_epic, add_prd, change_epic, change_prd};
use crate::Refusal;
use serde::Serialize;

/// Something that is to be done to an epic or a PRD.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub enum Command {
    /// Add a PRD.
    AddPrd(AddPrd),
    /// Change a PRD.
    ChangePrd(ChangePrd),
    /// Add an epic.
    AddEpic(AddEpic),
    /// Change an epic.
    ChangeEpic(ChangeEpic),
}

/// Everything a decision about one document may depend on.
#[derive(Debug, Clone)]
pub struct Situation<'a> {
    /// Which documents there are.
    pub catalogue: &'a Catalogue,
    /// The epic; needed by `ChangeEpic`.
    pub epic: Option<&'a Epic>,
    /// The PRD; needed by `ChangePrd`.
    pub prd: Option<&'a Prd>,
}

/// Says what happens, or why it may not; nothing happens when nothing would change.
pub fn decide(situation: &Situation<'_>, command: &Command) -> Result<Vec<Event>, Refusal> {
    match command {
        Command::AddPrd(add) => add_prd::decide(situation.catalogue, add),
        Command::ChangePrd(change) => change_prd::decide(situation, change),
        Command::AddEpic(add) => add_epic::decide(situation.catalogue, add),
        Command::ChangeEpic(change) => change_epic::decide(situation, change),
    }
}
