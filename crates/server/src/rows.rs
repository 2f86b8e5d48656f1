//! The rows of all tasks in memory, as far as the log has come.
//!
//! A page shows a part of them, in its own order; reading all of them from the database for each request would cost more than
//! everything else. They are read again only after something was appended, or when what is not in the log may have changed.

use crate::calls;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::{Project, TaskRow};
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::Mutex;

/// How long rows are good without an event: whether an engine runs is not in the log.
const AGE_MAX: Duration = Duration::from_secs(2);

/// The rows of all tasks, by number.
#[derive(Debug, Default)]
pub(crate) struct Rows {
    /// The last event that they know.
    pub(crate) seq: u64,
    pub(crate) list: Vec<TaskRow>,
}

impl Rows {
    /// Finds the row of a task.
    pub(crate) fn find(&self, task: TaskId) -> Option<&TaskRow> {
        let at = self.list.binary_search_by_key(&task, |row| row.id).ok()?;
        self.list.get(at)
    }
}

/// Keeps the rows; whoever finds them old reads them, and the others wait for that.
#[derive(Debug, Default)]
pub(crate) struct KeptRows {
    kept: Mutex<Option<(Arc<Rows>, Instant)>>,
}

impl KeptRows {
    /// Returns the rows as the log has them now.
    pub(crate) async fn get(&self, project: &Project) -> Result<Arc<Rows>, Problem> {
        let mut kept = self.kept.lock().await;
        let seq = calls::position(project).await?;
        if let Some((rows, read_at)) = kept.as_ref()
            && rows.seq == seq
            && read_at.elapsed() < AGE_MAX
        {
            return Ok(Arc::clone(rows));
        }
        let list = calls::project::rows(project).await?;
        let rows = Arc::new(Rows { seq, list });
        *kept = Some((Arc::clone(&rows), Instant::now()));
        Ok(rows)
    }
}
