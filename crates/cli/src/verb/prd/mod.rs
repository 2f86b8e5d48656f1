//! `regatta prd …`: requirements documents.

mod add;
mod edit;
mod list;
mod show;

use crate::exit::Exit;
use regatta_engine::core::{Id, PrdSlug, Problem};

group! {
    /// The verbs of a PRD; the help of each is that of its type.
    Prd {
        Add in add, List in list, Show in show, Edit in edit,
    }
}

/// Reads the slug of a PRD.
pub(crate) fn prd_slug(text: &str) -> Result<PrdSlug, String> {
    text.parse().map_err(|error: Id| error.to_string())
}
