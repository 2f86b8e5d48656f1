//! `regatta task …`: tasks and their way over the board.

mod add;
mod approve;
mod archive;
mod assign;
mod cancel;
mod complete;
mod criteria;
mod delete;
mod depends;
mod dequeue;
mod diff;
mod edit;
mod hide;
mod list;
mod log;
mod note;
mod open;
mod output;
mod progress;
mod reassign;
mod reject;
mod resume;
mod salvage;
pub(crate) mod show;
mod submit;

use crate::exit::Exit;
use regatta_engine::core::{AgentId, Priority, Problem};
use regatta_engine::orders;

group! {
    /// The verbs of a task; the help of each is that of its type.
    Task {
        Add in add, List in list, Show in show, Log in log, Note in note, Assign in assign, Reassign in reassign,
        Submit in submit, Dequeue in dequeue, Complete in complete, Approve in approve, Reject in reject,
        Resume in resume, Cancel in cancel, Edit in edit, Delete in delete, Hide in hide, Open in open,
        Depends in depends, Salvage in salvage, Diff in diff, Criteria in criteria, Progress in progress,
        Output in output, Archive in archive,
    }
}

/// Reads a priority; a bad one is a bad field of the command.
fn priority(text: &str) -> Result<Priority, Problem> {
    match text {
        "high" => Ok(Priority::High),
        "medium" => Ok(Priority::Medium),
        "low" => Ok(Priority::Low),
        other => Err(bad_field("priority", format!("must be high, medium or low, not `{other}`"))),
    }
}

/// Reads the name of an agent; a bad one is a bad field of the command.
fn agent_id(text: &str) -> Result<AgentId, Problem> {
    text.parse().map_err(|error: regatta_engine::core::Id| bad_field("agentId", format!("is wrong: {error}")))
}

fn bad_field(field: &'static str, problem: String) -> Problem {
    orders::invalid(vec![regatta_engine::core::FieldFault { field, problem }]).explain()
}
