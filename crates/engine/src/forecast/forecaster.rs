//! The loop of forecasts: when a round is due, and what is recorded of it.

use super::branch::Branch;
use super::look::Sight;
use super::meet::{Meeting, meet};
use super::trials::{Trials, Trying};
use crate::commands::orders::{self, Order};
use crate::core::{Actor, Collision, CollisionKind, Command, Forecast};
use crate::error::Error;
use crate::project::Project;
use regatta_store::LeaseToken;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// Branches move in groups: a session ends, its task is submitted, approved, merged.
const SETTLE: Duration = Duration::from_millis(150);
/// The pause after a round, in rounds: all of them together take up at most a twentieth of the time.
const PAUSE_ROUNDS: u32 = 19;
/// Nobody waits longer than this for a round that is due.
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// How often `regatta up` looks at what is being changed, and whether somebody else moved a branch.
pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(30);
/// A command that ends waits so long for the forecast of what it did.
const LAST_ROUND_MAX: Duration = Duration::from_secs(2);

/// Tells the forecaster that a branch moved; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Moves(watch::Sender<()>);

impl Default for Moves {
    fn default() -> Self {
        Moves(watch::Sender::new(()))
    }
}

impl Moves {
    /// Records that a branch moved, appeared or went.
    pub(crate) fn note(&self) {
        self.0.send_replace(());
    }
}

/// Makes the forecasts of one engine.
pub(crate) struct Forecaster {
    project: Arc<Project>,
    token: LeaseToken,
    moves: Moves,
    sight: Sight,
    trials: Trials,
}

impl Forecaster {
    pub(crate) fn new(project: Arc<Project>, token: LeaseToken, moves: Moves) -> Self {
        Forecaster { project, token, moves, sight: Sight::default(), trials: Trials::default() }
    }

    /// Makes a forecast after each move, and from time to time if `every` says so, until it is stopped. What moved just
    /// before the end of a command is still forecast; the next engine that looks from time to time does so at its start.
    pub(crate) async fn run(mut self, every: Option<Duration>, stop: CancellationToken) {
        let mut moves = self.moves.0.subscribe();
        let mut due = every.map(|_| Instant::now());
        loop {
            let moved = tokio::select! {
                () = stop.cancelled() => break,
                // It ends only with the sender, which is ours.
                _ = moves.changed() => true,
                () = until(due) => false,
            };
            if moved && is_stopped_within(&stop, SETTLE).await {
                moves.mark_changed();
                break;
            }
            moves.mark_unchanged();
            let began = Instant::now();
            tokio::select! {
                () = stop.cancelled() => {
                    moves.mark_changed();
                    break;
                }
                // What failed is looked at again in the next round.
                _ = self.look() => {}
            }
            let pause = (began.elapsed() * PAUSE_ROUNDS).min(PAUSE_MAX);
            due = every.map(|every| Instant::now() + every.max(pause));
            if is_stopped_within(&stop, pause).await {
                break;
            }
        }
        if every.is_none() && moves.has_changed().unwrap_or_default() {
            // The next engine makes a forecast that takes too long.
            let _ = tokio::time::timeout(LAST_ROUND_MAX, self.look()).await;
        }
    }

    /// Makes one forecast of all branches, and records what changed.
    pub(crate) async fn look(&mut self) -> Result<(), Error> {
        let branches = self.sight.look(&self.project).await?;
        let mut found: Vec<Vec<Collision>> = vec![Vec::new(); branches.len()];
        let mut trying = self.trials.begin(&self.project);
        for meeting in meet(&branches) {
            let conflicts = find_conflicts(&branches, &meeting, &mut trying).await?;
            for (place, other) in [(Some(meeting.one), meeting.other), (meeting.other, Some(meeting.one))] {
                if let Some(place) = place {
                    found[place].extend(collisions(
                        &branches[place],
                        other.map(|at| &branches[at]),
                        &conflicts,
                        &meeting,
                    ));
                }
            }
        }
        if trying.is_cut {
            self.moves.note();
        }
        for (branch, found) in branches.iter().zip(found) {
            self.record(branch, Forecast::new(found)).await?;
        }
        Ok(())
    }

    async fn record(&self, branch: &Branch, forecast: Forecast) -> Result<(), Error> {
        if branch.recorded == forecast {
            return Ok(());
        }
        let order = Order { fence: Some(self.token), ..Order::new(Some(branch.task), &Actor::Engine) };
        orders::give(&self.project, order, Command::NoteCollisions(forecast)).await.map(drop)
    }
}

async fn find_conflicts(
    branches: &[Branch],
    meeting: &Meeting,
    trying: &mut Trying<'_>,
) -> Result<Vec<String>, Error> {
    if !meeting.is_committed {
        return Ok(Vec::new());
    }
    let one = &branches[meeting.one];
    let other = meeting.other.map_or(&one.target_head, |other| &branches[other].head);
    trying.find_conflicts(&one.head, other).await
}

/// Makes the collisions of one side of a meeting: what is certain, and what else overlaps.
fn collisions(
    branch: &Branch,
    other: Option<&Branch>,
    conflicts: &[String],
    meeting: &Meeting,
) -> Vec<Collision> {
    let overlap = meeting.overlap.iter().filter(|path| !conflicts.contains(path)).cloned().collect();
    [(CollisionKind::Conflict, conflicts.to_vec()), (CollisionKind::Overlap, overlap)]
        .into_iter()
        .filter(|(_, files)| !files.is_empty())
        .map(|(kind, files)| Collision {
            kind,
            task: other.map(|other| other.task),
            branch: other.map_or_else(|| branch.target.clone(), |other| other.name.clone()),
            files,
            more_files: 0,
        })
        .collect()
}

async fn until(due: Option<Instant>) {
    match due {
        Some(due) => tokio::time::sleep_until(due).await,
        None => std::future::pending().await,
    }
}

async fn is_stopped_within(stop: &CancellationToken, time: Duration) -> bool {
    tokio::time::timeout(time, stop.cancelled()).await.is_ok()
}
