//! The loop that keeps the memory: looks at what happened, posts notices, and hands them out one after the other.

use crate::core::Problem;
use crate::error::Error;
use crate::log::journal::Journal;
use crate::notices::deliver::{run_command, send_webhook};
use crate::notices::look::{Look, Touched};
use crate::notices::memory::{Memory, Receiver};
use crate::notices::notice::{Notice, NoticeKind};
use crate::notices::signature::Key;
use crate::project::Project;
use crate::project::config::NotifySettings;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;
use tokio::task::{JoinHandle, JoinSet};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

/// More than this after a start are one notice: somebody was away.
const BACKLOG_MAX: usize = 20;

/// How many problems wait for somebody who shows them; more say the same.
const PROBLEMS_MAX: usize = 16;

/// How fast things go; tests have less time.
#[derive(Debug, Clone)]
pub struct Timing {
    /// The pause after an event, for those that follow at once.
    pub settle: Duration,
    /// How long a receiver may take for one notice.
    pub delivery_wall: Duration,
    /// The pause after a delivery that failed; twice as long after each further one.
    pub pause_min: Duration,
    /// The longest pause.
    pub pause_max: Duration,
    /// For how long one notice is tried; then it is given up, and the next one follows.
    pub patience: Duration,
    /// How often deadlines are looked at.
    pub deadlines_every: Duration,
}

impl Default for Timing {
    fn default() -> Self {
        Timing {
            settle: Duration::from_millis(300),
            delivery_wall: Duration::from_secs(20),
            pause_min: Duration::from_secs(5),
            pause_max: Duration::from_secs(15 * 60),
            patience: Duration::from_secs(24 * 3_600),
            deadlines_every: Duration::from_secs(600),
        }
    }
}

/// How notices are started.
#[derive(Debug, Clone)]
pub struct NoticesSetup {
    /// The secret that webhooks are signed with.
    pub secret: String,
    /// Where the board is, if the project is served.
    pub address: Option<String>,
    /// How fast things go.
    pub timing: Timing,
}

/// Notices that are being sent, until it is stopped.
pub struct Notices {
    stop: CancellationToken,
    task: JoinHandle<()>,
    problems: mpsc::Receiver<String>,
}

impl Notices {
    /// Starts to notify; nothing if the config names nobody.
    pub async fn start(project: Arc<Project>, setup: NoticesSetup) -> Result<Option<Self>, Problem> {
        let settings = project.config().notify.clone();
        let receivers: Vec<Receiver> = [
            settings.command.as_ref().map(|_| Receiver::Command),
            settings.webhook.as_ref().map(|_| Receiver::Webhook),
        ]
        .into_iter()
        .flatten()
        .collect();
        if receivers.is_empty() {
            return Ok(None);
        }
        let key = Key::read(&setup.secret)?;
        let memory = match Memory::load(&project) {
            Some(memory) => memory,
            None => {
                // What happened before anybody asked to be notified is nobody's news.
                let head = Journal::at_end(&project).await.map_err(|error| error.explain())?;
                let memory = Memory { position: head.position(), ..Memory::default() };
                memory.save(&project).map_err(|error| error.explain())?;
                memory
            }
        };
        let stop = CancellationToken::new();
        let (complain, problems) = mpsc::channel(PROBLEMS_MAX);
        let notifier = Notifier {
            lanes: receivers.iter().map(|receiver| (*receiver, Lane::new(&setup.timing))).collect(),
            receivers,
            project,
            settings,
            key,
            setup,
            memory,
            complain,
            due: Instant::now(),
        };
        let task = tokio::spawn(notifier.run(stop.clone()));
        Ok(Some(Notices { stop, task, problems }))
    }

    /// Returns the next thing that went wrong with a receiver.
    pub async fn next_problem(&mut self) -> Option<String> {
        self.problems.recv().await
    }

    /// Stops; what was not sent is sent after the next start.
    pub async fn stop(self) {
        self.stop.cancel();
        // It fails only when the runtime shuts down.
        let _ = self.task.await;
    }
}

/// One receiver: one notice at a time, in order.
struct Lane {
    is_busy: bool,
    pause: Duration,
    not_before: Instant,
    /// Since when the first notice fails.
    failing_since: Option<Instant>,
}

impl Lane {
    fn new(timing: &Timing) -> Self {
        Lane { is_busy: false, pause: timing.pause_min, not_before: Instant::now(), failing_since: None }
    }
}

struct Notifier {
    project: Arc<Project>,
    settings: NotifySettings,
    key: Key,
    setup: NoticesSetup,
    memory: Memory,
    receivers: Vec<Receiver>,
    lanes: BTreeMap<Receiver, Lane>,
    complain: mpsc::Sender<String>,
    /// When deadlines are looked at again.
    due: Instant,
}

/// How one delivery ended.
type Delivered = (Receiver, String, Result<(), String>);

impl Notifier {
    async fn run(mut self, stop: CancellationToken) {
        let mut deliveries: JoinSet<Delivered> = JoinSet::new();
        let project = Arc::clone(&self.project);
        let mut is_first = true;
        loop {
            if let Err(error) = self.catch_up(is_first).await {
                // A database that is busy or gone for a while: the next look finds the same events.
                self.say(format!("notices wait: {error}"));
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = tokio::time::sleep(self.setup.timing.settle) => continue,
                }
            }
            is_first = false;
            self.hand_out(&mut deliveries);
            let wake = self.find_wake();
            let mut journal = Journal::after(&project, self.memory.position);
            tokio::select! {
                () = stop.cancelled() => return,
                Some(delivered) = deliveries.join_next() => {
                    // A delivery that panicked is tried again after the next start.
                    if let Ok(delivered) = delivered {
                        self.note(delivered);
                    }
                }
                // Events come in groups, and a look costs something.
                _ = journal.wait(wake) => tokio::time::sleep(self.setup.timing.settle).await,
            }
        }
    }

    /// Looks at everything that happened since, and posts what is new.
    async fn catch_up(&mut self, is_first: bool) -> Result<(), Error> {
        let project = Arc::clone(&self.project);
        let mut journal = Journal::after(&project, self.memory.position);
        let mut touched = Touched::default();
        let mut has_moved = false;
        loop {
            let entries = journal.read().await?;
            if entries.is_empty() {
                break;
            }
            has_moved = true;
            entries.iter().for_each(|entry| touched.note(entry));
        }
        let is_due = Instant::now() >= self.due;
        if !has_moved && !is_due {
            return Ok(());
        }
        let mut look =
            Look { project: &project, memory: &mut self.memory, address: self.setup.address.as_deref() };
        let mut found = look.at(&touched).await?;
        if is_due {
            found.extend(look.at_deadlines().await?);
            self.due = Instant::now() + self.setup.timing.deadlines_every;
        }
        if is_first && found.len() > BACKLOG_MAX {
            found = vec![self.sum_up(&found)];
        }
        for notice in &found {
            self.memory.post(notice, &self.receivers);
        }
        self.memory.position = journal.position();
        // An event that nobody is notified of need not be remembered at once: looking at it again finds nothing.
        if found.is_empty() { Ok(()) } else { self.memory.save(&self.project) }
    }

    fn sum_up(&self, found: &[Notice]) -> Notice {
        let count = |kind: NoticeKind| found.iter().filter(|notice| notice.kind == kind).count();
        let text = format!(
            "while nobody was notified: {} waiting, {} failed, {} overdue, {} done",
            count(NoticeKind::Waiting),
            count(NoticeKind::Failed),
            count(NoticeKind::Overdue),
            count(NoticeKind::Done)
        );
        let mut notice = Notice::new(NoticeKind::Summary, &found[0].project, &text).next("regatta task list");
        notice.url.clone_from(&self.setup.address);
        notice
    }

    /// Starts a delivery for each receiver that has none under way and may be tried.
    fn hand_out(&mut self, deliveries: &mut JoinSet<Delivered>) {
        for (receiver, lane) in &mut self.lanes {
            let Some(notice) = self.memory.first(*receiver) else { continue };
            if lane.is_busy || Instant::now() < lane.not_before {
                continue;
            }
            lane.is_busy = true;
            let (receiver, notice, project) = (*receiver, notice.clone(), Arc::clone(&self.project));
            let (settings, key, timing) =
                (self.settings.clone(), self.key.clone(), self.setup.timing.clone());
            deliveries.spawn(async move {
                let sent = match receiver {
                    Receiver::Command => {
                        let command = settings.command.unwrap_or_default();
                        run_command(&project, &command, &notice, &timing).await
                    }
                    Receiver::Webhook => {
                        let url = settings.webhook.unwrap_or_default();
                        send_webhook(&project, (&url, &key), &notice, &timing).await
                    }
                };
                (receiver, notice.id, sent)
            });
        }
    }

    fn note(&mut self, (receiver, id, sent): Delivered) {
        let timing = self.setup.timing.clone();
        let Some(lane) = self.lanes.get_mut(&receiver) else { return };
        lane.is_busy = false;
        let Err(why) = sent else {
            *lane = Lane::new(&timing);
            self.memory.take_off(receiver, &id);
            return self.save();
        };
        let since = *lane.failing_since.get_or_insert_with(Instant::now);
        let is_first = lane.pause == timing.pause_min;
        let pause = lane.pause;
        lane.not_before = Instant::now() + pause;
        lane.pause = (pause * 2).min(timing.pause_max);
        let key = match receiver {
            Receiver::Command => "notify.command",
            Receiver::Webhook => "notify.webhook",
        };
        if since.elapsed() >= timing.patience {
            *lane = Lane::new(&timing);
            self.memory.take_off(receiver, &id);
            self.say(format!("{key} failed for too long, and a notice was given up: {why}"));
            self.save();
        } else if is_first {
            self.say(format!("{key} failed and is tried again: {why}"));
        }
    }

    fn save(&self) {
        if let Err(error) = self.memory.save(&self.project) {
            self.say(format!("what was notified could not be noted: {error}"));
        }
    }

    /// Returns how long nothing is to do but to wait for an event.
    fn find_wake(&self) -> Duration {
        let lanes = self
            .lanes
            .iter()
            .filter(|(receiver, lane)| !lane.is_busy && self.memory.first(**receiver).is_some());
        let next = lanes.map(|(_, lane)| lane.not_before).chain([self.due]).min().unwrap_or(self.due);
        next.saturating_duration_since(Instant::now())
    }

    fn say(&self, problem: String) {
        // Nobody has read the last ones yet: this one says the same.
        let _ = self.complain.try_send(problem);
    }
}
