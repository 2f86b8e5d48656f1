//! What pages need of the whole project, in memory as far as the log has come: the rows of all tasks, and the inbox.
//!
//! A page shows a part of them, in its own order; reading all of them from the database for each request would cost more than
//! everything else. They are read again only after something was appended, or when what is not in the log may have changed.

use crate::answer::Rendered;
use crate::joined::Joined;
use crate::query::Query;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::{InboxItem, Journal, Project, TaskRow, list_inbox, list_rows};
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
    /// Tells whether a task is not merged yet.
    pub(crate) fn is_open(&self, task: TaskId) -> bool {
        self.find(task).is_some_and(|row| !row.is_done())
    }

    /// Finds the row of a task.
    pub(crate) fn find(&self, task: TaskId) -> Option<&TaskRow> {
        let at = self.list.binary_search_by_key(&task, |row| row.id).ok()?;
        self.list.get(at)
    }
}

/// Keeps what was made of the log; whoever finds it old makes it again, and the others wait for that.
#[derive(Debug)]
pub(crate) struct Kept<T> {
    kept: Mutex<Option<(u64, Instant, Arc<T>)>>,
}

impl<T> Default for Kept<T> {
    fn default() -> Self {
        Kept { kept: Mutex::new(None) }
    }
}

impl<T> Kept<T> {
    /// Returns it as the log has it now.
    async fn get<F>(&self, project: &Project, make: impl FnOnce(u64) -> F) -> Result<Arc<T>, Problem>
    where
        F: Future<Output = Result<T, Problem>>,
    {
        let mut kept = self.kept.lock().await;
        let seq = Journal::at_end(project).await?.position();
        if let Some((of, made_at, found)) = kept.as_ref()
            && *of == seq
            && made_at.elapsed() < AGE_MAX
        {
            return Ok(Arc::clone(found));
        }
        let made = Arc::new(make(seq).await?);
        *kept = Some((seq, Instant::now(), Arc::clone(&made)));
        Ok(made)
    }
}

/// What requests share.
#[derive(Debug, Default)]
pub(crate) struct Shared {
    rows: Kept<Rows>,
    inbox: Kept<Vec<InboxItem>>,
    /// The pages of `/api/tasks`.
    pub(crate) pages_of_tasks: Joined<Query, Result<Rendered, Problem>>,
}

impl Shared {
    /// Returns the rows of all tasks.
    pub(crate) async fn rows(&self, project: &Project) -> Result<Arc<Rows>, Problem> {
        let load = async |seq| Ok(Rows { seq, list: list_rows(project).await? });
        self.rows.get(project, load).await
    }

    /// Returns what waits for a person.
    pub(crate) async fn inbox(&self, project: &Project) -> Result<Arc<Vec<InboxItem>>, Problem> {
        let rows = self.rows(project).await?;
        self.inbox.get(project, async |_| Ok(list_inbox(project, &rows.list).await?)).await
    }
}
