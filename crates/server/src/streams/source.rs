//! What can be read as a stream.

use crate::app::App;
use crate::items::Items;
use crate::log_page;
use crate::sessions;
use regatta_engine::core::Problem;
use regatta_engine::{EventFilter, Journal, SessionLog};
use serde_json::Value;
use std::sync::Arc;
use std::time::Duration;

/// How many values are sent at once.
const PAGE: usize = 500;

/// How often the output of a session is looked at for more; a look is one system call while nothing was added.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// Where a stream ends now.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Tail {
    /// How many values it has.
    pub(crate) count: u64,
    /// Whether it never has more.
    pub(crate) is_closed: bool,
}

/// A stream of JSON values.
pub(crate) trait Source: Send + 'static {
    /// Returns where it ends now.
    fn tail(&mut self) -> impl Future<Output = Result<Tail, Problem>> + Send;

    /// Returns the values after so many, some of them at a time.
    fn read(&mut self, after: u64) -> impl Future<Output = Result<Vec<Value>, Problem>> + Send;

    /// Waits until it has more than so many values, or is closed, or the time is over.
    fn wait(&mut self, after: u64, limit: Duration) -> impl Future<Output = ()> + Send;

    /// Tells whether the server stops.
    fn is_over(&self) -> bool;
}

/// The log of the project: the value after `n` others is event `n + 1`.
pub(crate) struct LogSource {
    app: Arc<App>,
}

impl LogSource {
    pub(crate) fn new(app: &Arc<App>) -> Self {
        LogSource { app: Arc::clone(app) }
    }
}

impl Source for LogSource {
    async fn tail(&mut self) -> Result<Tail, Problem> {
        Ok(Tail { count: Journal::at_end(&self.app.project).await?.position(), is_closed: false })
    }

    async fn read(&mut self, after: u64) -> Result<Vec<Value>, Problem> {
        let page = log_page::read(&self.app.project, after, PAGE, &EventFilter::default()).await?;
        Ok(page.0)
    }

    async fn wait(&mut self, after: u64, limit: Duration) {
        let waiting = self.app.hub.wait_past(after);
        tokio::select! {
            () = self.app.stop.cancelled() => {}
            _ = tokio::time::timeout(limit, waiting) => {}
        }
    }

    fn is_over(&self) -> bool {
        self.app.stop.is_cancelled()
    }
}

/// The output of a session; it is closed when the session has ended.
pub(crate) struct SessionSource {
    app: Arc<App>,
    log: SessionLog,
    /// Reads on from where the last values ended.
    items: Items,
    /// Has counted all items that there are.
    counted: Items,
}

impl SessionSource {
    pub(crate) fn new(app: &Arc<App>, log: SessionLog) -> Self {
        let (items, counted) = (Items::new(&log), Items::new(&log));
        SessionSource { app: Arc::clone(app), log, items, counted }
    }
}

impl Source for SessionSource {
    async fn tail(&mut self) -> Result<Tail, Problem> {
        // The log is asked before the file is read: what was written before the end is then read, too.
        self.log = sessions::find(&self.app.project, &self.log.session).await?;
        let count = self.counted.count(&self.log).await?;
        Ok(Tail { count, is_closed: self.log.end.is_some() })
    }

    async fn read(&mut self, after: u64) -> Result<Vec<Value>, Problem> {
        self.items.page(&self.log, after, PAGE).await
    }

    async fn wait(&mut self, after: u64, limit: Duration) {
        let stop = self.app.stop.clone();
        let waiting = async {
            while self.tail().await.is_ok_and(|tail| tail.count <= after && !tail.is_closed) {
                tokio::time::sleep(LOOK_EVERY).await;
            }
        };
        tokio::select! {
            () = stop.cancelled() => {}
            _ = tokio::time::timeout(limit, waiting) => {}
        }
    }

    fn is_over(&self) -> bool {
        self.app.stop.is_cancelled()
    }
}
