//! The one reader of the log that feeds all subscribers.
//!
//! It keeps the newest events, rendered once for everybody. A subscriber has only its position: one that is too slow for what
//! is kept reads on from the log, so it costs the others nothing, and nobody misses an event.

use bytes::Bytes;
use regatta_engine::{Entry, Error, EventFilter, Journal, Project};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio_util::sync::CancellationToken;

/// How many of the newest events are kept.
const RECENT_MAX: usize = 2_048;

/// How many bytes they may have together: an event can have many.
const RECENT_BYTES_MAX: usize = 8 * 1024 * 1024;

/// How many bytes of events a subscriber takes at once, unless a single event has more: it holds them while its client does
/// not read.
const PAGE_BYTES: usize = 64 * 1024;

/// How many events a subscriber that is behind reads from the log at once.
const LOG_PAGE: usize = 64;

/// The most bytes that are on their way to one subscriber at once, unless a single event has more.
const CHUNK_BYTES: usize = 16 * 1024;

/// How often a subscriber hears from us while nothing happens.
const HEARTBEAT: Duration = Duration::from_secs(15);

/// How long the reader waits for an event before it looks whether it is to stop, or after an error.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// An event as it is sent.
#[derive(Debug)]
pub(crate) struct Happened {
    entry: Entry,
    frame: Bytes,
}

impl Happened {
    fn new(entry: Entry) -> Arc<Self> {
        let frame = Bytes::from(format!("id: {}\ndata: {}\n\n", entry.seq, entry.to_json()));
        Arc::new(Happened { entry, frame })
    }
}

/// The newest events, and who waits for more.
pub(crate) struct Hub {
    project: Arc<Project>,
    head: watch::Sender<u64>,
    recent: Mutex<Recent>,
}

/// The newest events.
#[derive(Debug, Default)]
struct Recent {
    list: VecDeque<Arc<Happened>>,
    /// How many bytes their frames have.
    bytes: usize,
}

impl Recent {
    fn keep(&mut self, happened: Arc<Happened>) {
        self.bytes += happened.frame.len();
        self.list.push_back(happened);
        while self.list.len() > RECENT_MAX || self.bytes > RECENT_BYTES_MAX {
            let Some(oldest) = self.list.pop_front() else { return };
            self.bytes -= oldest.frame.len();
        }
    }
}

/// Takes the first of these events, as many as one subscriber holds.
fn take_page(events: impl Iterator<Item = Arc<Happened>>) -> Vec<Arc<Happened>> {
    let (mut page, mut bytes) = (Vec::new(), 0);
    for happened in events {
        bytes += happened.frame.len();
        if bytes > PAGE_BYTES && !page.is_empty() {
            break;
        }
        page.push(happened);
    }
    page
}

impl Hub {
    /// Returns how many subscribers there are.
    pub(crate) fn count_readers(&self) -> usize {
        self.head.receiver_count()
    }

    /// Stands at the end of the log, and reads nothing.
    pub(crate) async fn at_end(project: Arc<Project>) -> Result<Arc<Self>, Error> {
        let position = Journal::at_end(&project).await?.position();
        Ok(Arc::new(Hub { project, head: watch::Sender::new(position), recent: Mutex::default() }))
    }

    /// Starts the reader at the end of the log.
    pub(crate) async fn start(project: Arc<Project>, stop: CancellationToken) -> Result<Arc<Self>, Error> {
        let hub = Hub::at_end(project).await?;
        let position = *hub.head.borrow();
        tokio::spawn(Arc::clone(&hub).run(position, stop));
        Ok(hub)
    }

    async fn run(self: Arc<Self>, position: u64, stop: CancellationToken) {
        let mut journal = Journal::after(&self.project, position);
        loop {
            let read = tokio::select! {
                () = stop.cancelled() => return,
                read = journal.wait(LOOK_EVERY) => read,
            };
            match read {
                Ok(entries) => self.keep(entries),
                // A database that is busy or gone for a while: subscribers just wait longer.
                Err(_) => tokio::time::sleep(LOOK_EVERY).await,
            }
        }
    }

    fn keep(&self, entries: Vec<Entry>) {
        let Some(last) = entries.last().map(|entry| entry.seq) else { return };
        let mut recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        entries.into_iter().map(Happened::new).for_each(|happened| recent.keep(happened));
        drop(recent);
        self.head.send_replace(last);
    }

    /// Returns the events that follow a position, some of them at a time.
    async fn read_after(&self, position: u64) -> Result<Vec<Arc<Happened>>, Error> {
        if let Some(page) = self.find_recent(position) {
            return Ok(page);
        }
        let entries = Journal::after(&self.project, position).read_some(LOG_PAGE).await?;
        Ok(take_page(entries.into_iter().map(Happened::new)))
    }

    /// Finds them among what is kept; nothing if it begins later.
    fn find_recent(&self, position: u64) -> Option<Vec<Arc<Happened>>> {
        let recent = self.recent.lock().unwrap_or_else(PoisonError::into_inner);
        if position >= *self.head.borrow() {
            return Some(Vec::new());
        }
        let first = recent.list.front()?.entry.seq;
        let skipped = usize::try_from((position + 1).checked_sub(first)?).ok()?;
        Some(take_page(recent.list.iter().skip(skipped).cloned()))
    }

    /// Waits until the log has an event after a position.
    pub(crate) async fn wait_past(&self, position: u64) {
        // It fails only when the reader has ended, and then the server stops.
        let _ = self.head.subscribe().wait_for(|head| *head > position).await;
    }

    /// Sends a subscriber what follows its position, until it is gone or the server stops.
    pub(crate) async fn feed(
        self: Arc<Self>,
        mut position: u64,
        filter: EventFilter,
        sender: mpsc::Sender<Bytes>,
        stop: CancellationToken,
    ) {
        let mut head = self.head.subscribe();
        let mut beats = tokio::time::interval(HEARTBEAT);
        // The first one is due at once: it tells the client where it stands.
        loop {
            // Noted before the read, so that what comes after it is seen as a change.
            head.borrow_and_update();
            let page = self.read_after(position).await.unwrap_or_default();
            let is_sent = tokio::select! {
                biased;
                () = stop.cancelled() => false,
                is_sent = send(&sender, &page, &filter) => is_sent,
            };
            if !is_sent {
                break;
            }
            if let Some(last) = page.last() {
                position = last.entry.seq;
                continue;
            }
            let is_open = tokio::select! {
                () = stop.cancelled() => false,
                () = sender.closed() => false,
                changed = head.changed() => changed.is_ok(),
                // An ID without data moves the position of a client whose filter lets nothing through.
                _ = beats.tick() => sender.send(Bytes::from(format!(": heartbeat\nid: {position}\n\n"))).await.is_ok(),
            };
            if !is_open {
                break;
            }
        }
    }
}

/// Sends those of a page that are asked for, in few pieces; tells whether the client is still there.
async fn send(sender: &mpsc::Sender<Bytes>, page: &[Arc<Happened>], filter: &EventFilter) -> bool {
    let mut chunk: Vec<u8> = Vec::new();
    for happened in page.iter().filter(|happened| filter.admits(&happened.entry)) {
        if !chunk.is_empty() && chunk.len() + happened.frame.len() > CHUNK_BYTES {
            let full = std::mem::take(&mut chunk);
            if sender.send(Bytes::from(full)).await.is_err() {
                return false;
            }
        }
        chunk.extend_from_slice(&happened.frame);
    }
    chunk.is_empty() || sender.send(Bytes::from(chunk)).await.is_ok()
}
