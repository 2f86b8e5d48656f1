//! `regatta task reject`.

use super::{agent_id, task_id};
use crate::arguments::Place;
use crate::exit::Exit;
use crate::verb::follow::{Begin, WaitOptions};
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::orders;

/// Send a task's work back to its agent or to another, and wait for the session to end.
#[derive(Args)]
pub(crate) struct Reject {
    /// Task number.
    #[arg(value_name = "ID", value_parser = task_id)]
    task: TaskId,
    /// Reason, 1 to 1000 characters.
    #[arg(long, value_name = "TEXT")]
    reason: String,
    /// Instructions for the agent, at most 5000 characters.
    #[arg(long, value_name = "TEXT")]
    feedback: Option<String>,
    /// Send it to this agent [default: the one that did the work].
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    #[command(flatten)]
    options: WaitOptions,
}

impl Reject {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let agent = self.agent.as_deref().map(agent_id).transpose()?;
        let title = match &agent {
            Some(agent) => format!("#{} goes to {agent}", self.task),
            None => format!("#{} goes back to its agent", self.task),
        };
        let order = async |project: &_, caller: &_| {
            orders::reject_to(project, caller, self.task, self.reason, self.feedback, agent).await
        };
        self.options.carry_out(place, self.task, &title, Begin::WhenSettled, order).await
    }
}
