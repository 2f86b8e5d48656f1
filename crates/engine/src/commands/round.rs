//! The round that every command takes: decide, append, and decide again when another command came first.
//!
//! What is decided, and from which streams, is the caller's matter; nothing here knows a task or a document.

use crate::commands::orders::Giver;
use crate::crash;
use crate::error::Error;
use crate::project::Project;
use regatta_store::{Append, Appended, CommandKey};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;

/// Each lost race means that another command went through, so a few dozen are only lost under great load.
const TRIES_MAX: u32 = 64;

/// A command that takes the round.
///
/// A trait and not a closure: performers take the round in spawned tasks, and the future of an async closure that
/// borrows is not known to be `Send` there.
pub(crate) trait Turn: Sync {
    /// What the giver is told.
    type Given: Send;

    /// Returns the key under which its answer is kept.
    fn key(&self) -> Option<&CommandKey>;

    /// Reads the answer that was kept when the same command was given before.
    fn parse(answer: &str) -> Result<Self::Given, Error>;

    /// Loads what the decision depends on, and decides.
    fn decide(&self, project: &Project) -> impl Future<Output = Result<(Self::Given, Append), Error>> + Send;
}

/// Takes the round.
pub(crate) async fn take<T: Turn>(project: &Project, turn: &T) -> Result<T::Given, Error> {
    if let Some(answer) = find_answer(project, turn.key()).await? {
        return T::parse(&answer);
    }
    for _ in 0..TRIES_MAX {
        let (given, append) = match turn.decide(project).await {
            Ok(decided) => decided,
            // The same command may have gone through since it was looked for: then it is what stands in its own way.
            Err(Error::Refused(refusal)) => {
                let answer = find_answer(project, turn.key()).await?;
                return answer.map_or(Err(Error::Refused(refusal)), |answer| T::parse(&answer));
            }
            Err(other) => return Err(other),
        };
        crash::point("append.before");
        match project.store().append(append).await {
            Ok(Appended::Stored { .. }) => {
                crash::point("append.after");
                return Ok(given);
            }
            Ok(Appended::Repeated { answer }) => return T::parse(&answer),
            Err(regatta_store::Error::Conflict { .. }) => {}
            Err(other) => return Err(other.into()),
        }
    }
    Err(Error::Contended { tries: TRIES_MAX })
}

/// Returns the key under which the answer of a command is kept, if it has an id.
pub(crate) fn key(giver: &Giver, payload: &str) -> Option<CommandKey> {
    let id = giver.command_id?;
    let text = format!("{} {payload}", giver.actor);
    let digest = Sha256::digest(text.as_bytes()).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    });
    Some(CommandKey { id, digest })
}

async fn find_answer(project: &Project, key: Option<&CommandKey>) -> Result<Option<String>, Error> {
    match key {
        Some(key) => Ok(project.store().find_answer(key).await?),
        None => Ok(None),
    }
}
