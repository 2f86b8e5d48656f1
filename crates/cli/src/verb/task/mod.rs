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
mod open;
mod output;
mod progress;
mod reassign;
mod reject;
mod resume;
mod salvage;
pub(crate) mod show;
mod submit;

use crate::arguments::Place;
use crate::exit::Exit;
use clap::Subcommand;
use regatta_engine::core::{AgentId, Priority, Problem, TaskId};
use regatta_engine::orders;

/// The verbs of a task; the help of each is that of its type.
#[derive(Subcommand)]
pub(crate) enum Task {
    Add(add::Add),
    List(list::List),
    Show(show::Show),
    Log(log::Log),
    Assign(assign::Assign),
    Reassign(reassign::Reassign),
    Submit(submit::Submit),
    Dequeue(dequeue::Dequeue),
    Complete(complete::Complete),
    Approve(approve::Approve),
    Reject(reject::Reject),
    Resume(resume::Resume),
    Cancel(cancel::Cancel),
    Edit(edit::Edit),
    Delete(delete::Delete),
    Hide(hide::Hide),
    Open(open::Open),
    Depends(depends::Depends),
    Salvage(salvage::Salvage),
    Diff(diff::Diff),
    Criteria(criteria::Criteria),
    Progress(progress::Progress),
    Output(output::Output),
    Archive(archive::Archive),
}

impl Task {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        match self {
            Task::Add(verb) => verb.run(place).await,
            Task::List(verb) => verb.run(place).await,
            Task::Show(verb) => verb.run(place).await,
            Task::Log(verb) => verb.run(place).await,
            Task::Assign(verb) => verb.run(place).await,
            Task::Reassign(verb) => verb.run(place).await,
            Task::Submit(verb) => verb.run(place).await,
            Task::Dequeue(verb) => verb.run(place).await,
            Task::Complete(verb) => verb.run(place).await,
            Task::Approve(verb) => verb.run(place).await,
            Task::Reject(verb) => verb.run(place).await,
            Task::Resume(verb) => verb.run(place).await,
            Task::Cancel(verb) => verb.run(place).await,
            Task::Edit(verb) => verb.run(place).await,
            Task::Delete(verb) => verb.run(place).await,
            Task::Hide(verb) => verb.run(place).await,
            Task::Open(verb) => verb.run(place).await,
            Task::Depends(verb) => verb.run(place).await,
            Task::Salvage(verb) => verb.run(place).await,
            Task::Diff(verb) => verb.run(place).await,
            Task::Criteria(verb) => verb.run(place).await,
            Task::Progress(verb) => verb.run(place).await,
            Task::Output(verb) => verb.run(place).await,
            Task::Archive(verb) => verb.run(place).await,
        }
    }
}

/// Reads a task number as people write it.
pub(crate) fn task_id(text: &str) -> Result<TaskId, String> {
    text.parse().map_err(|error: regatta_engine::core::Id| error.to_string())
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
