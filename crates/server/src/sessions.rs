//! Sessions by their names, and pages of their output.

use regatta_engine::core::{Code, Problem};
use regatta_engine::{Follower, Project, SessionLog, TranscriptPage, find_session_log};
use serde_json::Value;
use std::collections::VecDeque;

pub(crate) async fn find(project: &Project, name: &str) -> Result<SessionLog, Problem> {
    let found = find_session_log(project, name).await?;
    found.ok_or_else(|| {
        Problem::new(
            Code::SessionNotFound,
            format!("there is no session `{name}`"),
            "no session of that name was ever started",
            "see `GET /api/tasks/{id}/sessions` or `GET /api/runs/{id}/sessions`",
        )
    })
}

/// Reads the next piece of a session's output, possibly none, and tells whether there is more at once.
pub(crate) fn read(log: &SessionLog, follower: &mut Follower) -> Result<(VecDeque<Value>, bool), Problem> {
    let (items, is_more) = follower.read().map_err(|error| failed(log, &error))?;
    Ok((items.iter().map(|timed| log.show_item(timed)).collect(), is_more))
}

/// Reads the last items of a session's output before a place.
pub(crate) fn page_before(
    log: &SessionLog,
    place: Option<u64>,
    count: usize,
) -> Result<TranscriptPage, Problem> {
    TranscriptPage::before(&log.transcript, place, count).map_err(|error| failed(log, &error))
}

/// Reads the next items of a session's output from a place on.
pub(crate) fn page_from(log: &SessionLog, place: u64, count: usize) -> Result<TranscriptPage, Problem> {
    TranscriptPage::from(&log.transcript, place, count).map_err(|error| failed(log, &error))
}

fn failed(log: &SessionLog, error: &std::io::Error) -> Problem {
    let what = format!("the output of session {} was not shown", log.number);
    let why = format!("{} cannot be read: {error}", log.transcript.display());
    Problem::new(Code::IoFailed, what, why, "see that the file can be read, then ask again")
}
