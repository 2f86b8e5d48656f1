//! `regatta task reassign`.

use super::agent_id;
use crate::arguments::Place;
use crate::exit::Exit;
use crate::verb::follow::{Begin, WaitOptions};
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::orders;

/// Give a task to another agent and wait for its session to end, or take it yourself with `--me`
///
/// The work continues in the same worktree. If the task waits for approval, only its agent changes; if it is queued, it
/// waits for the new agent instead.
#[derive(Args)]
pub(crate) struct Reassign {
    /// Task number.
    #[arg(value_name = "ID")]
    task: TaskId,
    /// Agent; `regatta agent list` shows them.
    #[arg(long, value_name = "NAME", required_unless_present = "me")]
    agent: Option<String>,
    /// Take it yourself: start no agent.
    #[arg(long, conflicts_with = "agent")]
    me: bool,
    /// Stop the running session first.
    #[arg(long)]
    stop: bool,
    /// Instructions for the agent, at most 5000 characters.
    #[arg(long, value_name = "TEXT", conflicts_with = "me")]
    feedback: Option<String>,
    #[command(flatten)]
    options: WaitOptions,
}

impl Reassign {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let agent = self.agent.as_deref().map(agent_id).transpose()?;
        let title = match &agent {
            Some(agent) => format!("#{} goes to {agent}", self.task),
            None => format!("#{} is yours", self.task),
        };
        // Stopping is meant for what is being done, so it does not wait for that.
        let begin = if self.stop { Begin::AtOnce } else { Begin::WhenSettled };
        let order = async |project: &_, caller: &_| {
            orders::reassign(project, caller, self.task, agent, self.stop, self.feedback).await
        };
        self.options.carry_out(place, self.task, &title, begin, order).await
    }
}
