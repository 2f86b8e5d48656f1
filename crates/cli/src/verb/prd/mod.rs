//! `regatta prd …`: requirements documents.

mod add;
mod edit;
mod list;
mod show;

use crate::exit::Exit;
use regatta_engine::core::Problem;

group! {
    /// The verbs of a PRD; the help of each is that of its type.
    Prd {
        Add in add, List in list, Show in show, Edit in edit,
    }
}
