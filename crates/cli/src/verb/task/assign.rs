//! `regatta task assign`.

use super::{agent_id, priority, task_id};
use crate::arguments::Place;
use crate::exit::Exit;
use crate::verb::carry::{Begin, Manner};
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::orders;

/// Give a task to an agent and wait for its session to end, or take it yourself with `--me`.
#[derive(Args)]
pub(crate) struct Assign {
    /// The task's number.
    #[arg(value_name = "ID", value_parser = task_id)]
    task: TaskId,
    /// The agent; `regatta agent list` shows them.
    #[arg(long, value_name = "NAME", required_unless_present = "me")]
    agent: Option<String>,
    /// Do the task yourself: make its worktree and start no agent.
    #[arg(long, conflicts_with = "agent")]
    me: bool,
    /// A new priority: high, medium or low.
    #[arg(long)]
    priority: Option<String>,
    #[command(flatten)]
    manner: Manner,
}

impl Assign {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let priority = self.priority.as_deref().map(priority).transpose()?;
        if self.me {
            let title = format!("#{} is yours", self.task);
            let order =
                async |project: &_, giver: &_| orders::take(project, giver, self.task, priority).await;
            return self.manner.carry_out(place, self.task, &title, Begin::WhenSettled, order).await;
        }
        let agent = agent_id(self.agent.as_deref().unwrap_or_default())?;
        let title = format!("#{} goes to {agent}", self.task);
        let order =
            async |project: &_, giver: &_| orders::assign(project, giver, self.task, agent, priority).await;
        self.manner.carry_out(place, self.task, &title, Begin::WhenSettled, order).await
    }
}
