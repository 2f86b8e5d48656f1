//! What is known of one PRD.

use super::Event;
use crate::command::Faults;
use crate::{Fact, PrdSlug};
use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// A PRD is read whole by agents, and kept whole in every event that changes it.
pub const TEXT_BYTES_MAX: usize = 1024 * 1024;

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

/// Checks the text of a PRD.
pub(super) fn check_text(faults: &mut Faults, text: &str) {
    if !(1..=TEXT_BYTES_MAX).contains(&text.len()) {
        let problem = format!("must have 1 to {TEXT_BYTES_MAX} bytes, not {}", text.len());
        faults.push("text", problem);
    }
}
