//! `regatta task assign`.

use super::{bad_field, priority, task_id};
use crate::arguments::Place;
use crate::exit::Exit;
use crate::verb::carry::{Begin, Manner};
use clap::Args;
use regatta_engine::core::{AgentId, Problem, TaskId};
use regatta_engine::orders;

/// Gives a task to an agent, and waits for its session to end.
#[derive(Args)]
pub(crate) struct Assign {
    /// The task's number.
    #[arg(value_name = "ID", value_parser = task_id)]
    task: TaskId,
    /// The agent; `regatta agent list` shows them.
    #[arg(long, value_name = "NAME")]
    agent: String,
    /// A new priority: high, medium or low.
    #[arg(long)]
    priority: Option<String>,
    #[command(flatten)]
    manner: Manner,
}

impl Assign {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let agent: AgentId = self
            .agent
            .parse()
            .map_err(|error: regatta_engine::core::Id| bad_field("agentId", format!("is wrong: {error}")))?;
        let priority = self.priority.as_deref().map(priority).transpose()?;
        let title = format!("#{} goes to {agent}", self.task);
        let order =
            async |project: &_, giver: &_| orders::assign(project, giver, self.task, agent, priority).await;
        self.manner.carry_out(place, self.task, &title, Begin::WhenSettled, order).await
    }
}
