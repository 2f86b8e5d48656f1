//! The catalogue: which epics and PRDs there are, without their texts.
//!
//! It gives out the next number of an epic, and tells whether a document that is named exists.

use super::Event;
use crate::{EpicId, Fact, PrdSlug, Refusal};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Every epic and every PRD in a line each.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Catalogue {
    /// The epics.
    pub epics: BTreeMap<EpicId, EpicEntry>,
    /// The PRDs.
    pub prds: BTreeMap<PrdSlug, PrdEntry>,
}

/// An epic in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpicEntry {
    /// What it is called.
    pub title: String,
    /// The PRD that it was made for.
    pub prd: Option<PrdSlug>,
}

/// A PRD in one line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PrdEntry {
    /// What it is called.
    pub title: String,
    /// How long its text is.
    pub bytes: u64,
    /// When it was added.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Catalogue {
    /// Returns the number that the next epic gets.
    pub fn next_epic(&self) -> EpicId {
        self.epics.last_key_value().map_or(EpicId::FIRST, |(last, _)| last.next())
    }

    /// Returns an epic, or the refusal that there is none.
    pub fn get_epic(&self, epic: EpicId) -> Result<&EpicEntry, Refusal> {
        self.epics.get(&epic).ok_or(Refusal::EpicNotFound { epic })
    }

    /// Returns a PRD, or the refusal that there is none.
    pub fn get_prd(&self, prd: &PrdSlug) -> Result<&PrdEntry, Refusal> {
        self.prds.get(prd).ok_or_else(|| self.lacks_prd(prd))
    }

    /// Returns the refusal that there is no such PRD.
    pub fn lacks_prd(&self, prd: &PrdSlug) -> Refusal {
        Refusal::PrdNotFound { prd: prd.clone(), known: self.prds.keys().cloned().collect() }
    }

    /// Folds one fact into the catalogue; a fact that does not fit changes nothing.
    pub fn evolve(mut self, fact: &Fact<Event>) -> Self {
        self.try_evolve(fact);
        self
    }

    /// Folds one fact into the catalogue, and tells whether it could carry it.
    pub(crate) fn try_evolve(&mut self, fact: &Fact<Event>) -> bool {
        let is_known = match &fact.event {
            Event::EpicAdded { epic_id, .. } | Event::EpicChanged { epic_id, .. } => {
                self.epics.contains_key(epic_id)
            }
            Event::PrdAdded { slug, .. } | Event::PrdChanged { slug, .. } => self.prds.contains_key(slug),
        };
        let is_new = matches!(fact.event, Event::EpicAdded { .. } | Event::PrdAdded { .. });
        if is_known == is_new {
            return false;
        }
        match &fact.event {
            Event::EpicAdded { epic_id, title, prd, .. } | Event::EpicChanged { epic_id, title, prd, .. } => {
                self.epics.insert(*epic_id, EpicEntry { title: title.clone(), prd: prd.clone() });
            }
            Event::PrdAdded { slug, title, text } | Event::PrdChanged { slug, title, text } => {
                let created_at = self.prds.get(slug).map_or(fact.at, |entry| entry.created_at);
                let (bytes, updated_at) = (text.len() as u64, fact.at);
                let entry = PrdEntry { title: title.clone(), bytes, created_at, updated_at };
                self.prds.insert(slug.clone(), entry);
            }
        }
        true
    }
}
