//! Who runs this process.

use crate::ancestry::Ancestry;
use clap::Args;
use regatta_engine::core::Actor;
use regatta_engine::orders::Caller;
use uuid::Uuid;

const AGENT: &str = "REGATTA_AGENT";

/// How a command is repeated.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct Repeat {
    /// Command ID; repeating the command with the same ID does nothing more and gives the same answer.
    #[arg(long, value_name = "UUID")]
    pub(crate) command_id: Option<Uuid>,
}

impl Repeat {
    pub(crate) fn caller(self) -> Caller {
        caller(self.command_id)
    }
}

/// Returns who gives the commands of this process.
///
/// A process of an agent's session acts for that agent.
pub(crate) fn caller(command_id: Option<Uuid>) -> Caller {
    let own = std::env::var(AGENT).ok();
    let agent = Ancestry::current().variable(AGENT).or(own.as_deref()).and_then(|name| name.parse().ok());
    let actor = agent.map_or_else(|| Actor::User(user()), Actor::Agent);
    Caller { command_id, ..Caller::new(actor) }
}

fn user() -> String {
    let named = |variable: &&str| std::env::var(variable).ok().filter(|name| !name.is_empty());
    let uid = rustix::process::getuid().as_raw();
    let found = ["REGATTA_USER", "USER", "LOGNAME"].iter().find_map(named);
    found.or_else(|| find_name(uid)).unwrap_or_else(|| format!("uid-{uid}"))
}

/// Looks the user up in the local list of users.
fn find_name(uid: u32) -> Option<String> {
    let users = std::fs::read_to_string("/etc/passwd").ok()?;
    let mut rows = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let row = rows.find(|row| row.get(2).is_some_and(|field| field.parse() == Ok(uid)))?;
    row.first().map(|name| (*name).to_owned())
}
