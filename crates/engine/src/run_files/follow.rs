//! Follows the log and brings the files of runs up to date, apart from the steps.
//!
//! After a round it rests nine times as long as the round took, so that all rounds together cost at most a tenth of a core,
//! and at most 900 ms, so that files are within a second of the log.

use crate::core::RunId;
use crate::error::Error;
use crate::project::Project;
use crate::run_files::family::{Ask, bring_up_to_date};
use crate::run_files::memory::Memory;
use regatta_store::Seq;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// The shortest time from the begin of a round to that of the next.
const ROUND_EVERY: Duration = Duration::from_millis(100);
/// How long it rests after a round, in rounds.
const REST_ROUNDS: u32 = 9;
/// The longest rest.
const REST_MAX: Duration = Duration::from_millis(900);
/// How long it waits for the log to move before it looks at what is owed.
const IDLE: Duration = Duration::from_secs(1);
/// An engine that ends waits so long for the last round.
const LAST_ROUND_MAX: Duration = Duration::from_secs(10);
/// As many events are read at once.
const PAGE: usize = 500;

/// The families whose files are followed, by their outermost runs.
struct Follower {
    project: Arc<Project>,
    /// How far the log was read.
    position: Seq,
    families: BTreeMap<RunId, Followed>,
}

/// What is to be done for a family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Followed {
    /// Something may have changed.
    Due(Ask),
    /// It is up to date, and can change.
    UpToDate,
    /// The outermost run has ended.
    Over,
    /// There are no files.
    Without,
}

/// Brings files up to date for as long as the engine runs, and once more at its end.
pub(crate) async fn follow(project: Arc<Project>, stop: CancellationToken) {
    let Ok(position) = project.store().head().await else { return };
    let mut follower = Follower { project, position, families: BTreeMap::new() };
    follower.begin().await;
    loop {
        let began = Instant::now();
        let is_owed = follower.round().await;
        let took = began.elapsed();
        let rest = (took * REST_ROUNDS).min(REST_MAX).max(ROUND_EVERY.saturating_sub(took));
        if is_stopped_within(&stop, rest).await {
            break;
        }
        let store = follower.project.store();
        let wait = if is_owed { ROUND_EVERY } else { IDLE };
        tokio::select! {
            () = stop.cancelled() => break,
            // What cannot be read now is read in the next round.
            _ = store.wait_past(follower.position, wait) => {}
        }
    }
    let _ = tokio::time::timeout(LAST_ROUND_MAX, follower.round()).await;
}

impl Follower {
    /// Finds what an engine left that was killed: every family is compared with the disk once.
    async fn begin(&mut self) {
        for run in Memory::list(&self.project) {
            if Memory::load(&self.project, run).is_none_or(|memory| memory.is_over) {
                continue;
            }
            if let Ok(root) = self.project.families().find_root(&self.project, run).await {
                self.families.insert(root, Followed::Due(Ask::Everything));
            }
        }
    }

    /// Reads what happened, and writes what follows from it. The answer is whether something has to be tried again.
    async fn round(&mut self) -> bool {
        if self.read().await.is_err() {
            return true;
        }
        let mut is_owed = false;
        let due: Vec<(RunId, Ask)> = self
            .families
            .iter()
            .filter_map(|(root, followed)| match followed {
                Followed::Due(ask) => Some((*root, *ask)),
                Followed::UpToDate | Followed::Over | Followed::Without => None,
            })
            .collect();
        for (root, ask) in due {
            let followed = match bring_up_to_date(&self.project, root, ask).await {
                Ok(brought) if brought.is_owed => Followed::Due(Ask::Changed),
                Ok(brought) if brought.is_without => Followed::Without,
                Ok(brought) if brought.is_over => Followed::Over,
                Ok(_) => Followed::UpToDate,
                Err(_) => Followed::Due(ask),
            };
            is_owed |= matches!(followed, Followed::Due(_));
            self.families.insert(root, followed);
        }
        is_owed
    }

    /// Reads the log on, and marks what may be out of date.
    async fn read(&mut self) -> Result<(), Error> {
        loop {
            let rows = self.project.store().read(self.position, PAGE).await?;
            for row in &rows {
                let streams = row.streams.iter().map(|stream| stream.as_str());
                match streams.clone().find_map(|name| name.strip_prefix("run/")?.parse().ok()) {
                    Some(run) => self.mark_run(run).await,
                    // A session, a message or a task: any run under way may know of it.
                    None if !is_unknown_to_runs(&row.kind) => self.mark_all(),
                    None => {}
                }
                self.position = row.seq;
            }
            if rows.len() < PAGE {
                return Ok(());
            }
        }
    }

    async fn mark_run(&mut self, run: RunId) {
        // One that cannot be found now is found with its next event.
        if let Ok(root) = self.project.families().find_root(&self.project, run).await {
            let followed = self.families.entry(root).or_insert(Followed::UpToDate);
            if matches!(followed, Followed::UpToDate | Followed::Over) {
                *followed = Followed::Due(Ask::Changed);
            }
        }
    }

    fn mark_all(&mut self) {
        for followed in self.families.values_mut().filter(|followed| **followed == Followed::UpToDate) {
            *followed = Followed::Due(Ask::Changed);
        }
    }
}

/// Whether no fact about a run follows from the events of a kind.
fn is_unknown_to_runs(kind: &str) -> bool {
    ["file:", "workflow:", "epic:", "prd:"].iter().any(|prefix| kind.starts_with(prefix))
}

async fn is_stopped_within(stop: &CancellationToken, time: Duration) -> bool {
    tokio::time::timeout(time, stop.cancelled()).await.is_ok()
}
