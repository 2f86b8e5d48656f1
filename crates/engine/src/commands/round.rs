//! The round that everything takes into the log: load, decide, append, and again when another command came first.
//!
//! The caller chooses what is decided, and from which streams; nothing here knows a task or a run. This is the only
//! place that appends, that retries, and that answers a repeated command from the log.

use crate::clock;
use crate::commands::batch::{Batch, Reads};
use crate::commands::orders::Caller;
use crate::core::{Actor, Effect};
use crate::crash;
use crate::digest::sha256;
use crate::error::Error;
use crate::project::Project;
use crate::view::version::{Unchanged, load_version};
use regatta_store::{Append, Appended, CommandKey, IntentId, LeaseToken, NewRow};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::time::Instant;

/// Each lost race means that another command went through, or that one of a large family made a step; so hundreds
/// are lost only under great load.
const TRIES_MAX: u32 = 256;

/// One command's path into the log.
///
/// A trait and not a closure: performers take the round in spawned tasks, and the future of an async closure that
/// borrows is not known to be `Send` there.
pub(crate) trait Round: Sync {
    /// What the decision reads.
    type Reads: Reads;

    /// The answer; with a command's id it is kept, and given again.
    type Answer: Serialize + DeserializeOwned + Send;

    /// Loads what the decision reads.
    fn load(&self, project: &Project) -> impl Future<Output = Result<Self::Reads, Error>> + Send;

    /// Decides, and adds the events to the batch.
    fn decide(&self, reads: &mut Self::Reads, batch: &mut Batch) -> Result<Verdict<Self::Answer>, Error>;
}

/// What becomes of a batch.
pub(crate) enum Verdict<A> {
    /// It is stored.
    Append(A),
    /// Nothing is stored, and nothing is settled.
    Withdraw(A),
}

/// What accompanies a command.
#[derive(Debug, Clone)]
pub(crate) struct Envelope {
    /// Who gives it.
    pub(crate) actor: Actor,
    /// Under which key its answer is kept.
    pub(crate) key: Option<CommandKey>,
    /// The intents whose outcome it is.
    pub(crate) settles: Vec<IntentId>,
    /// The lease that must still be held.
    pub(crate) fence: Option<LeaseToken>,
    /// The object that must still be as the caller saw it.
    pub(crate) unchanged: Option<Unchanged>,
}

impl Envelope {
    /// For a command that is not repeated.
    pub(crate) fn by(actor: &Actor) -> Self {
        Envelope { actor: actor.clone(), key: None, settles: Vec::new(), fence: None, unchanged: None }
    }

    /// For a request that may be repeated under its id.
    pub(crate) fn of(caller: &Caller, request: &impl Serialize) -> Self {
        let unchanged = caller.unchanged.clone();
        Envelope { key: key(caller, request), unchanged, ..Envelope::by(&caller.actor) }
    }
}

/// What a round came to.
pub(crate) struct Submitted<R: Round> {
    pub(crate) answer: R::Answer,
    /// What was read, as it is now in the log; nothing if this round stored nothing because an earlier one had.
    pub(crate) reads: Option<R::Reads>,
    /// The effects that were asked for, with their intents.
    pub(crate) asked: Vec<(IntentId, Effect)>,
}

/// Takes the round, from `reads` if they are given. After a conflict it loads, decides and appends again.
pub(crate) async fn submit<R: Round>(
    project: &Project,
    envelope: &Envelope,
    round: &R,
    mut reads: Option<R::Reads>,
) -> Result<Submitted<R>, Error> {
    let again = |answer| Submitted { answer, reads: None, asked: Vec::new() };
    if let Some(answer) = find_answer(project, envelope).await? {
        return Ok(again(answer));
    }
    for _ in 0..TRIES_MAX {
        let decided = decide(project, envelope, round, reads.take()).await;
        let (verdict, mut reads, batch) = match decided {
            Ok(decided) => decided,
            // The same command may have gone through since it was looked up; then it is refused because of itself.
            Err(refused @ (Error::Refused(_) | Error::Changed { .. })) => {
                let answer = find_answer(project, envelope).await?;
                return answer.map(again).ok_or(refused);
            }
            Err(other) => return Err(other),
        };
        let answer = match verdict {
            Verdict::Append(answer) => answer,
            Verdict::Withdraw(answer) => {
                return Ok(Submitted { answer, reads: Some(reads), asked: Vec::new() });
            }
        };
        let (append, effects) = make_append(envelope, &answer, &mut reads, batch);
        if is_nothing(&append) {
            return Ok(Submitted { answer, reads: Some(reads), asked: Vec::new() });
        }
        let snapshots: Vec<_> =
            append.snapshots.iter().map(|new| (new.stream.clone(), new.data.len())).collect();
        #[cfg(test)]
        super::races::meet_rival().await;
        crash::point("append.before");
        let begun = Instant::now();
        let appended = project.store().append(append).await;
        project.meters().append.note(begun.elapsed());
        match appended {
            Ok(Appended::Stored { intents, .. }) => {
                crash::point("append.after");
                for stream in reads.streams() {
                    let taken = snapshots.iter().find(|(name, _)| name == stream.name());
                    stream.settle(taken.map(|(_, bytes)| *bytes));
                }
                let asked = intents.into_iter().zip(effects).collect();
                return Ok(Submitted { answer, reads: Some(reads), asked });
            }
            Ok(Appended::Repeated { answer }) => return parse(&answer).map(again),
            // Its outcome is in the log already: a repetition has nothing to add.
            Err(regatta_store::Error::IntentSettled { .. }) => return Ok(again(answer)),
            Err(regatta_store::Error::Conflict { .. }) => {}
            Err(other) => return Err(other.into()),
        }
    }
    Err(Error::Contended { tries: TRIES_MAX })
}

async fn decide<R: Round>(
    project: &Project,
    envelope: &Envelope,
    round: &R,
    reads: Option<R::Reads>,
) -> Result<(Verdict<R::Answer>, R::Reads, Batch), Error> {
    let mut reads = match reads {
        Some(reads) => reads,
        None => round.load(project).await?,
    };
    let mut batch = Batch::new(clock::now(), envelope.actor.clone());
    if let Some(unchanged) = &envelope.unchanged {
        let stream = unchanged.of.stream();
        let read = reads.streams().iter().find(|read| *read.name() == stream).map(|read| read.version());
        let version = match read {
            Some(version) => version,
            None => load_version(project, &stream).await?,
        };
        unchanged.check(version.0)?;
        batch.expect(stream, version);
    }
    let verdict = round.decide(&mut reads, &mut batch)?;
    Ok((verdict, reads, batch))
}

/// Makes the append of a batch, which states the version of everything that was read.
fn make_append(
    envelope: &Envelope,
    answer: &impl Serialize,
    reads: &mut impl Reads,
    batch: Batch,
) -> (Append, Vec<Effect>) {
    let Batch { events, intents, effects, rows, expect, .. } = batch;
    let mut append = Append {
        command: envelope.key.clone(),
        events,
        intents,
        rows,
        settle: envelope.settles.clone(),
        fence: envelope.fence,
        expect,
        ..Append::default()
    };
    if append.command.is_some() {
        append.answer = serde_json::to_string(answer).expect("an answer is plain data");
    }
    for stream in reads.streams() {
        if !append.expect.iter().any(|(name, _)| name == stream.name()) {
            append.expect.push((stream.name().clone(), stream.version()));
        }
        append.snapshots.extend(stream.snapshot_if_due());
    }
    (append, effects)
}

fn is_nothing(append: &Append) -> bool {
    append.events.is_empty() && append.settle.is_empty() && append.rows.is_empty() && append.command.is_none()
}

/// Returns the answer that was kept when the same command was given before.
pub(crate) async fn find_answer<A: DeserializeOwned>(
    project: &Project,
    envelope: &Envelope,
) -> Result<Option<A>, Error> {
    let Some(key) = &envelope.key else { return Ok(None) };
    project.store().find_answer(key).await?.map(|answer| parse(&answer)).transpose()
}

fn parse<A: DeserializeOwned>(answer: &str) -> Result<A, Error> {
    serde_json::from_str(answer).map_err(|error| Error::LogUnsound { seq: 0, why: error.to_string() })
}

/// Returns the key under which the answer of a command is kept, if it has an id.
///
/// The digest is that of the request as JSON and of who makes it. What was seen on the way, such as the head of a
/// branch, is not part of a request: a repetition may see something else.
pub(crate) fn key(caller: &Caller, request: &impl Serialize) -> Option<CommandKey> {
    let id = caller.command_id?;
    let text = serde_json::to_string(&(&caller.actor, request)).expect("a request is plain data");
    Some(CommandKey { id, digest: sha256(text) })
}

/// Does something that no event decides, such as moving text between files, once for each command's id.
///
/// The answer is kept after it is done: a crash in between lets it be done again, so it must bear that.
pub(crate) async fn once<A: Serialize + DeserializeOwned + Send + Sync>(
    project: &Project,
    caller: &Caller,
    request: &impl Serialize,
    run: impl AsyncFnOnce() -> Result<A, Error>,
) -> Result<A, Error> {
    let envelope = Envelope::of(caller, request);
    if let Some(answer) = find_answer(project, &envelope).await? {
        return Ok(answer);
    }
    let answer = run().await?;
    if envelope.key.is_none() {
        return Ok(answer);
    }
    let kept = serde_json::to_value(&answer).expect("an answer is plain data");
    let envelope = Envelope { unchanged: None, ..envelope };
    submit(project, &envelope, &Keep(kept), None).await?;
    Ok(answer)
}

/// An answer to keep.
struct Keep(serde_json::Value);

impl Round for Keep {
    type Reads = ();
    type Answer = serde_json::Value;

    async fn load(&self, _: &Project) -> Result<(), Error> {
        Ok(())
    }

    fn decide(&self, (): &mut (), _: &mut Batch) -> Result<Verdict<serde_json::Value>, Error> {
        Ok(Verdict::Append(self.0.clone()))
    }
}

/// Settles intents that have no further effect: their outcome is in the log, or what asked for them is past it.
pub(crate) async fn settle(project: &Project, envelope: &Envelope) -> Result<(), Error> {
    submit(project, envelope, &Rows(Vec::new()), None).await.map(drop)
}

/// Writes rows of lists that no event changes.
pub(crate) async fn write_rows(project: &Project, rows: Vec<NewRow>) -> Result<(), Error> {
    submit(project, &Envelope::by(&Actor::Engine), &Rows(rows), None).await.map(drop)
}

/// Rows of lists, without a decision.
struct Rows(Vec<NewRow>);

impl Round for Rows {
    type Reads = ();
    type Answer = ();

    async fn load(&self, _: &Project) -> Result<(), Error> {
        Ok(())
    }

    fn decide(&self, (): &mut (), batch: &mut Batch) -> Result<Verdict<()>, Error> {
        batch.list(self.0.iter().cloned());
        Ok(Verdict::Append(()))
    }
}
