//! What is known of one PRD.

use super::Event;
use crate::{Fact, PrdSlug};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A requirements document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prd {
    /// Its name in links and commands.
    pub slug: PrdSlug,
    /// What it is called.
    pub title: String,
    /// All of it, as Markdown.
    pub text: String,
    /// When it was added.
    pub created_at: Timestamp,
    /// When it last changed.
    pub updated_at: Timestamp,
}

impl Prd {
    /// Folds one fact into the PRD; `None` before it is added. A fact that does not fit changes nothing.
    pub fn evolve(prd: Option<Prd>, fact: &Fact<Event>) -> Option<Prd> {
        try_evolve(prd.as_ref(), fact).or(prd)
    }
}

/// Folds one fact into the PRD, or returns `None` when it cannot carry it.
pub(crate) fn try_evolve(prd: Option<&Prd>, fact: &Fact<Event>) -> Option<Prd> {
    match (prd, &fact.event) {
        (None, Event::PrdAdded { slug, title, text }) => Some(Prd {
            slug: slug.clone(),
            title: title.clone(),
            text: text.clone(),
            created_at: fact.at,
            updated_at: fact.at,
        }),
        (Some(prd), Event::PrdChanged { slug, title, text }) if prd.slug == *slug => Some(Prd {
            slug: slug.clone(),
            title: title.clone(),
            text: text.clone(),
            created_at: prd.created_at,
            updated_at: fact.at,
        }),
        _ => None,
    }
}
