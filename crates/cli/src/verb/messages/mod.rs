//! `regatta messages …`: what agents, roles, tasks and people write to each other.

mod read;
mod send;

use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{BOLD, CYAN, DIM, YELLOW, clean};
use clap::{Args, Subcommand};
use regatta_engine::core::message::Party;
use regatta_engine::core::{Problem, RunId, TaskId};
use regatta_engine::messages::{self, Filter, MessageView};
use regatta_engine::{Error, Project};

/// Show messages between agents, roles, tasks and people, oldest first.
#[derive(Args)]
#[command(args_conflicts_with_subcommands = true)]
pub(crate) struct Messages {
    #[command(subcommand)]
    verb: Option<Verb>,
    /// Show only messages to `me`, `agent:NAME`, `role:NAME`, `task:NUMBER`, `person:NAME` or a bare name.
    #[arg(long, value_name = "WHOM")]
    to: Option<String>,
    /// Show only messages to this role, in any run.
    #[arg(long, value_name = "NAME")]
    role: Option<String>,
    /// Show only messages of this run, or to one of its roles.
    #[arg(long, value_name = "ID")]
    run: Option<RunId>,
    /// Show only messages about or to this task.
    #[arg(long, value_name = "ID")]
    task: Option<TaskId>,
    /// Show only unread messages.
    #[arg(long)]
    unread: bool,
}

/// The verbs of a message; the help of each is that of its type.
#[derive(Subcommand)]
enum Verb {
    Send(send::Send),
    Read(read::Read),
}

impl Messages {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        match self.verb {
            Some(Verb::Send(verb)) => return verb.run(place).await,
            Some(Verb::Read(verb)) => return verb.run(place).await,
            None => {}
        }
        let project = place.open().await?;
        let to = self.to.map(|text| find_party(&project, &text)).transpose()?;
        let filter = Filter { to, role: self.role, task: self.task, run: self.run, unread: self.unread };
        let found = messages::list_some(&project, &filter).await?;
        place.screen.data(&found, |found| render(found));
        Ok(Exit::Done)
    }
}

/// Finds whom a text means; `me` is the ancestry.
fn find_party(project: &Project, text: &str) -> Result<Party, Error> {
    if text == "me" {
        return Ok(messages::party_of(&crate::caller::caller(None).actor));
    }
    messages::find_party(project, text)
}

fn render(found: &[MessageView]) -> String {
    if found.is_empty() {
        return format!("{DIM}no messages; send one with `regatta messages send --to WHOM TEXT`{DIM:#}\n");
    }
    found.iter().map(render_one).collect()
}

fn render_one(view: &MessageView) -> String {
    let mark = if view.read { format!("{DIM}read{DIM:#}") } else { format!("{YELLOW}new {YELLOW:#}") };
    let run =
        view.to_run.or(view.run_id).map_or_else(String::new, |run| format!(" {DIM}in run {run}{DIM:#}"));
    let task = view.task_id.map_or_else(String::new, |task| format!(" {CYAN}#{task}{CYAN:#}"));
    let head = format!(
        "{:>4}  {mark}  {DIM}{:.0}{DIM:#}  {} -> {}{run}{task}  {}\n",
        view.message_id,
        view.sent_at,
        clean(&view.from.to_string()),
        clean(&view.to.to_string()),
        clean(&view.kind)
    );
    let subject = view
        .subject
        .as_ref()
        .map_or_else(String::new, |subject| format!("      {BOLD}{}{BOLD:#}\n", clean(subject)));
    let body: String = clean(&view.body).lines().map(|line| format!("      {line}\n")).collect();
    format!("{head}{subject}{body}")
}
