//! The recording of a run: what is recorded on it, and what it answers in the place of an agent.

use crate::commands::orders;
use crate::core::run::{Phase, RecordingMode, Run};
use crate::core::{Code, CommitId, Failure, Problem, Start};
use crate::digest::sha256;
use crate::error::Error;
use crate::recording::difference::Difference;
use crate::recording::entry::Entry;
use crate::recording::files::RecordingFiles;
use crate::recording::fit::RecordedChange;
use crate::recording::recorder::Recording;
use crate::recording::replay_branch;
use crate::runs::path::find_path;
use crate::runs::trouble;
use crate::session::plan::Source;
use crate::session::role::RoleRequest;
use crate::session::roles::{AgentRoles, read_only};
use regatta_git::EntryChange;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError};

impl AgentRoles {
    /// Finds where the answer to a question comes from: from an agent, unless a recording is played.
    pub(super) async fn find_source(&self, ask: &RoleRequest<'_>) -> Result<Source, Box<Failure>> {
        let Some(RecordingMode::Replay(folder)) = &ask.run.recording else { return Ok(Source::Agent) };
        let failed = |error: Error| Box::new(trouble::explain(ask.run, &error));
        let recording = self.open(folder).map_err(failed)?;
        let asks = asks_of(ask.run);
        let way = find_path(ask.project, ask.run).await.map_err(failed)?;
        let take =
            recording.find(&way, ask.run, asks).ok_or_else(|| Box::new(not_recorded(ask.run, asks)))?.clone();
        if take.prompt_digest != sha256(&ask.prompt) {
            let text = format!("`{}` would get another prompt", ask.run.node);
            let difference = Difference::at(&way, ask.run.step, text);
            self.differences.lock().unwrap_or_else(PoisonError::into_inner).push(difference);
        }
        Ok(Source::Recording(recording, Box::new(take)))
    }

    /// Opens the recording of a run, once for all of its steps.
    fn open(&self, folder: &str) -> Result<Arc<Recording>, Error> {
        let mut recordings = self.recordings.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(recording) = recordings.get(folder) {
            return Ok(Arc::clone(recording));
        }
        let recording = Arc::new(Recording::open(Path::new(folder))?);
        recordings.insert(folder.to_owned(), Arc::clone(&recording));
        Ok(recording)
    }

    /// Finds where work in a worktree of its own would start.
    pub(super) async fn see_start(&self, ask: &RoleRequest<'_>) -> Result<Start, Error> {
        if let Some(start) = read_only::find_start_beside(ask).await? {
            return Ok(start);
        }
        match &ask.run.recording {
            Some(RecordingMode::Replay(folder)) => {
                replay_branch::see_start(ask.project, ask.run, &*self.open(folder)?).await
            }
            Some(RecordingMode::Record(_)) | None => orders::see_start(ask.project).await,
        }
    }
}

/// Says why no answer of a run can be recorded, before an answer is paid for.
pub(super) fn find_recording_trouble(run: &Run) -> Result<Option<Failure>, Error> {
    let Some(RecordingMode::Record(recording)) = &run.recording else { return Ok(None) };
    match Recording::at(Path::new(recording)).check_writable() {
        Ok(()) => Ok(None),
        Err(error) => trouble::of_recording(run, error).map(Some),
    }
}

/// Records an answer with the files that changed since a commit, if the run is recorded, or says why it was not.
pub(crate) async fn record(
    ask: &RoleRequest<'_>,
    output: &Value,
    commits: (&CommitId, Option<&regatta_git::CommitId>),
    folder: &Path,
) -> Result<Option<Failure>, Error> {
    let Some(RecordingMode::Record(recording)) = &ask.run.recording else { return Ok(None) };
    match keep(ask, Recording::at(Path::new(recording)), output, commits, folder).await {
        Ok(()) => Ok(None),
        Err(error) => trouble::of_recording(ask.run, error).map(Some),
    }
}

async fn keep(
    ask: &RoleRequest<'_>,
    recording: Recording,
    output: &Value,
    (base, start): (&CommitId, Option<&regatta_git::CommitId>),
    folder: &Path,
) -> Result<(), Error> {
    let (mut files, mut changes) = (RecordingFiles::default(), BTreeMap::new());
    if let Some(start) = start {
        let repository = ask.project.repository();
        let head = repository.head_of_worktree(folder).await?;
        let committed = repository.changed_entries(start, &head).await?;
        let left = repository.status(folder, &[]).await?.into_iter().map(|entry| entry.place);
        let changed: BTreeSet<PathBuf> =
            committed.iter().map(|change| change.path.clone()).chain(left).collect();
        files = RecordingFiles::look(folder, changed)?;
        let name = |change: &EntryChange| change.path.to_string_lossy().into_owned();
        changes = committed.iter().map(|change| (name(change), RecordedChange::of(change))).collect();
    }
    let take = Entry {
        way: find_path(ask.project, ask.run).await?,
        step: ask.run.step,
        node: ask.run.node.to_string(),
        item: ask.run.item.clone(),
        visit: ask.run.count_visits() + 1,
        asks: asks_of(ask.run),
        prompt_digest: sha256(&ask.prompt),
        output: output.clone(),
        base: Some(base.clone()),
        files,
        changes,
    };
    recording.keep(&take, &ask.prompt, folder)
}

fn asks_of(run: &Run) -> u32 {
    if let Some(Phase::Performing { asks, .. }) = run.phase() { *asks } else { 0 }
}

fn not_recorded(run: &Run, asks: u32) -> Failure {
    Failure::from(Problem::new(
        Code::RunFailed,
        format!("step {} of run {} cannot be replayed", run.step, run.id),
        missing(run.node.as_str(), run.item.as_deref(), run.count_visits() + 1, asks),
        "the workflow decides differently from when it was recorded; record it again if that is intended",
    ))
}

/// Names the answer that a recording does not have.
fn missing(node: &str, item: Option<&str>, visit: u32, asks: u32) -> String {
    let item = item.map_or_else(String::new, |item| format!(" for {item}"));
    match asks {
        0 => format!("the recording has no answer {visit} of `{node}`{item}"),
        1 => {
            format!("the recording has answer {visit} of `{node}`{item}, but none for when it is asked again")
        }
        _ => format!(
            "the recording has answer {visit} of `{node}`{item}, but none for when it is asked again {asks} times"
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::missing;

    #[test]
    fn an_answer_that_is_there_is_not_called_missing() {
        assert_eq!(missing("coder", Some("T001"), 2, 0), "the recording has no answer 2 of `coder` for T001");
        assert_eq!(
            missing("coder", None, 1, 1),
            "the recording has answer 1 of `coder`, but none for when it is asked again"
        );
    }
}
