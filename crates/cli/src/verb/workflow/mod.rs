//! `regatta workflow …`: graphs of roles, the project's own and those in the program.

mod check;
mod find;
mod graph;
mod list;
mod new;
mod show;

pub(crate) use find::find_workflow;

use crate::exit::Exit;
use regatta_engine::core::Problem;

group! {
    /// The verbs of a workflow; the help of each is that of its type.
    Workflow {
        List in list, Show in show, Check in check, New in new, Graph in graph,
    }
}
