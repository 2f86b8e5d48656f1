//! Following the output of a session while its agent writes.

use crate::app::App;
use crate::items::Items;
use crate::sessions;
use bytes::Bytes;
use regatta_engine::SessionLog;
use serde_json::{Value, json};
use std::sync::Arc;
use std::time::Duration;
use tokio::sync::mpsc;

/// How often a transcript is looked at for more; a look is one system call while nothing was added.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// After how many looks in vain a client hears from us.
const LOOKS_PER_HEARTBEAT: u32 = 75;

/// How items are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Frames {
    /// On a connection of their own: the ID is the number of the item.
    Own,
    /// Beside the log, whose events have the IDs: each says which session it belongs to.
    Shared,
}

/// One client that follows one session.
pub(crate) struct Following {
    app: Arc<App>,
    log: SessionLog,
    items: Items,
    frames: Frames,
    /// How many of them the client knows.
    known: u64,
}

/// The client is gone, the server stops, or the file cannot be read any more.
struct Gone;

/// One client that learns how far the output of a session has come, and reads it by pages: however long it is, nothing of
/// it is read here.
pub(crate) struct Marks {
    app: Arc<App>,
    log: SessionLog,
    place: u64,
}

impl Marks {
    pub(crate) fn new(app: &Arc<App>, log: SessionLog, place: u64) -> Self {
        Marks { app: Arc::clone(app), log, place }
    }

    /// Sends a mark each time there is more, until the session has ended.
    pub(crate) async fn run(mut self, sender: mpsc::Sender<Bytes>) {
        let name = format!("{}@", self.log.session);
        let stop = self.app.stop.clone();
        loop {
            let length = std::fs::metadata(&self.log.transcript).map_or(0, |file| file.len());
            let mut frames = String::new();
            if length > self.place {
                self.place = length;
                frames = format!("event: output\ndata: {}\n\n", json!({ "session": name, "number": length }));
            }
            if let Some(end) = &self.log.end {
                frames.push_str(&format!("event: end\ndata: {}\n\n", json!({ "session": name, "end": end })));
            }
            if !frames.is_empty() {
                tokio::select! {
                    () = stop.cancelled() => return,
                    sent = sender.send(Bytes::from(frames)) => if sent.is_err() { return },
                }
            }
            if self.log.end.is_some() {
                return;
            }
            tokio::select! {
                () = stop.cancelled() => return,
                () = sender.closed() => return,
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
            match sessions::find(&self.app.project, &self.log.session).await {
                Ok(log) => self.log = log,
                Err(_) => return,
            }
        }
    }
}

impl Following {
    pub(crate) fn new(app: &Arc<App>, log: SessionLog, known: u64, frames: Frames) -> Self {
        let items = Items::new(&log);
        Following { app: Arc::clone(app), log, items, frames, known }
    }

    /// Sends what there is and what comes, until the session has ended.
    pub(crate) async fn run(mut self, sender: mpsc::Sender<Bytes>) {
        let _ = self.follow(&sender).await;
    }

    async fn follow(&mut self, sender: &mpsc::Sender<Bytes>) -> Result<(), Gone> {
        let mut looks = 0;
        loop {
            while let Some(item) = self.items.next(&self.log).await.map_err(|_| Gone)? {
                if self.items.number() > self.known {
                    self.send(sender, self.frame(&item)).await?;
                }
            }
            if self.log.end.is_some() {
                let end = json!({ "session": self.log.session, "end": self.log.end });
                return self.send(sender, format!("event: end\ndata: {end}\n\n")).await;
            }
            looks += 1;
            if looks % LOOKS_PER_HEARTBEAT == 0 && self.frames == Frames::Own {
                self.send(sender, ": heartbeat\n\n".to_owned()).await?;
            }
            tokio::select! {
                () = self.app.stop.cancelled() => return Err(Gone),
                () = sender.closed() => return Err(Gone),
                () = tokio::time::sleep(LOOK_EVERY) => {}
            }
            // The log is asked before the file is read: what was written before the end is then read, too.
            self.log = sessions::find(&self.app.project, &self.log.session).await.map_err(|_| Gone)?;
        }
    }

    fn frame(&self, item: &Value) -> String {
        match self.frames {
            Frames::Own => format!("id: {}\ndata: {item}\n\n", self.items.number()),
            Frames::Shared => {
                let number = self.items.number();
                let data = json!({ "session": self.log.session, "number": number, "item": item });
                format!("event: output\ndata: {data}\n\n")
            }
        }
    }

    async fn send(&self, sender: &mpsc::Sender<Bytes>, text: String) -> Result<(), Gone> {
        tokio::select! {
            () = self.app.stop.cancelled() => Err(Gone),
            sent = sender.send(Bytes::from(text)) => sent.map_err(|_| Gone),
        }
    }
}
