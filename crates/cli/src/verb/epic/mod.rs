//! `regatta epic …`: groups of tasks.

mod add;
mod edit;
mod list;
mod show;

use crate::exit::Exit;
use regatta_engine::core::Problem;

group! {
    /// The verbs of an epic; the help of each is that of its type.
    Epic {
        Add in add, List in list, Show in show, Edit in edit,
    }
}
