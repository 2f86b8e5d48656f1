//! `regatta agent …`.

mod attempt;
mod detect;
mod questions;

use crate::arguments::Place;
use crate::columns;
use crate::exit::Exit;
use crate::screen::{DIM, YELLOW, clean};
use clap::Subcommand;
use regatta_engine::core::Problem;
use regatta_engine::{AgentView, list_agents};

/// The verbs of agents.
#[derive(Subcommand)]
pub(crate) enum Agent {
    /// List the configured agents, what they are doing and what they still need
    List,
    Detect(detect::Detect),
    Try(attempt::Try),
    Questions(questions::Questions),
    Answer(questions::Answer),
}

impl Agent {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        match self {
            Agent::List => list(place).await,
            Agent::Detect(verb) => verb.run(place).await,
            Agent::Try(verb) => verb.run(place).await,
            Agent::Questions(verb) => verb.run(place).await,
            Agent::Answer(verb) => verb.run(place).await,
        }
    }
}

async fn list(place: &Place) -> Result<Exit, Problem> {
    let project = place.open().await?;
    let agents = list_agents(&project).await?;
    place.screen.data(&agents, |agents| render(agents));
    Ok(Exit::Done)
}

fn render(agents: &[AgentView]) -> String {
    if agents.is_empty() {
        return format!("{DIM}no agents yet; `regatta agent detect` finds those that are installed{DIM:#}\n");
    }
    let row = |agent: &AgentView| {
        let runs = agent.runs.iter().map(|run| format!("run {run}"));
        let tasks: Vec<String> = agent.tasks.iter().map(|task| format!("#{task}")).chain(runs).collect();
        [
            agent.id.clone(),
            agent.kind.to_owned(),
            format!("{:?}", agent.state).to_lowercase(),
            agent.instances.to_string(),
            if tasks.is_empty() { "-".to_owned() } else { tasks.join(", ") },
            agent.note.unwrap_or_default().to_owned(),
        ]
    };
    let mut text =
        columns::table(["AGENT", "KIND", "STATE", "INSTANCES", "TASKS", "NOTE"], agents.iter().map(row));
    for agent in agents.iter().filter(|agent| !agent.missing.is_empty()) {
        text.push_str(&format!("\n{YELLOW}{} is not ready{YELLOW:#}\n", agent.id));
        for missing in &agent.missing {
            text.push_str(&format!("  {}\n", clean(missing)));
        }
    }
    text
}
