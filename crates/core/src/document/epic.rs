//! What is known of one epic.

use super::Event;
use crate::{EpicId, Fact, PrdSlug};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A numbered group of tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Epic {
    /// Its number.
    pub id: EpicId,
    /// What it is called.
    pub title: String,
    /// What it is about.
    pub description: String,
    /// The PRD that it was made for.
    pub prd: Option<PrdSlug>,
    /// When it was added.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Epic {
    /// Folds one fact into the epic; `None` before it is added. A fact that does not fit changes nothing.
    pub fn evolve(epic: Option<Epic>, fact: &Fact<Event>) -> Option<Epic> {
        try_evolve(epic.as_ref(), fact).or(epic)
    }
}

/// Folds one fact into the epic, or returns `None` when it cannot carry it.
pub(crate) fn try_evolve(epic: Option<&Epic>, fact: &Fact<Event>) -> Option<Epic> {
    match (epic, &fact.event) {
        (None, Event::EpicAdded { epic_id, title, description, prd }) => Some(Epic {
            id: *epic_id,
            title: title.clone(),
            description: description.clone(),
            prd: prd.clone(),
            created_at: fact.at,
            updated_at: fact.at,
        }),
        (Some(epic), Event::EpicChanged { epic_id, title, description, prd }) if epic.id == *epic_id => {
            Some(Epic {
                title: title.clone(),
                description: description.clone(),
                prd: prd.clone(),
                updated_at: fact.at,
                ..*epic
            })
        }
        _ => None,
    }
}
