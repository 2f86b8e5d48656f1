//! A recorded run on disk: the prompt of each role, what it returned, and the files it left.
//!
//! ```text
//! run.json                   the workflow, what the run was given, its base, and what it and its children made of it
//! 0002-coder-T001.json       what the role returned, the names of files, what stood there, and where links lead
//! 0002-coder-T001.md         its prompt
//! 0002-coder-T001/…          the files as the role left them
//! 0003-b.0001-coder.json     what a role returned in the child that step 3 began for item `b`
//! ```
//!
//! A recording may come from anywhere, so every read of it is bounded; `files` says which paths it may name.

use crate::core::run::{Phase, RecordingMode, Run};
use crate::core::{AgentId, Code, CommitId, Problem, RunId};
use crate::error::Error;
use crate::project::Project;
use crate::recording::compare;
use crate::recording::difference::Difference;
use crate::recording::entry::Entry;
use crate::recording::head::{RecordingHead, head_of};
use crate::runs::path::{Stage, find_root, is_same_path};
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

const HEAD: &str = "run.json";

/// Written to test whether a recording can be recorded, and removed at once.
const TRIAL: &str = ".trial";

/// The largest document of a recording; outputs are far below.
const DOCUMENT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The most answers of a recording.
const TAKES_MAX: usize = 100_000;

/// How often a head is rewritten because it was outdated before it was written; each time something more has
/// happened.
const CLOSES_MAX: u32 = 64;

/// Who works in a replay, in place of any agent of the config.
const PLAYER: &str = "tape";

/// A folder with a recorded run.
#[derive(Debug, Clone)]
pub struct Recording {
    folder: PathBuf,
    takes: Vec<Entry>,
}

impl Recording {
    /// Makes an empty recording; a folder that has one already is refused.
    pub fn create(folder: &Path) -> Result<Self, Error> {
        Recording::check_free(folder)?;
        std::fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        Ok(Recording::at(folder))
    }

    /// Makes sure that a recording can be made in a folder: it is empty, or does not exist.
    pub fn check_free(folder: &Path) -> Result<(), Error> {
        let is_used =
            folder.exists() && std::fs::read_dir(folder).map_err(Error::io("read", folder))?.next().is_some();
        match is_used {
            false => Ok(()),
            true => Err(folder_used(folder)),
        }
    }

    /// Returns the recording of a folder, to be recorded on.
    pub(crate) fn at(folder: &Path) -> Self {
        Recording { folder: folder.to_owned(), takes: Vec::new() }
    }

    /// Makes sure that something can be recorded, by writing.
    pub(crate) fn check_writable(&self) -> Result<(), Error> {
        let path = self.folder.join(TRIAL);
        write(&path, "")?;
        // Another run of the family may try at the same time.
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io("delete", path)(error))
            }
            _ => Ok(()),
        }
    }

    /// Reads a recording.
    pub fn open(folder: &Path) -> Result<Self, Error> {
        let mut takes = Vec::new();
        let entries = std::fs::read_dir(folder).map_err(Error::io("read", folder))?;
        for entry in entries.filter_map(Result::ok).take(TAKES_MAX) {
            let path = entry.path();
            let is_take =
                path.extension().is_some_and(|extension| extension == "json") && !path.ends_with(HEAD);
            if is_take {
                takes.push(read_json(&path)?);
            }
        }
        Ok(Recording { folder: folder.to_owned(), takes })
    }

    /// Returns what it says about its run, which must have ended.
    pub fn head(&self) -> Result<RecordingHead, Error> {
        let path = self.folder.join(HEAD);
        // Without its folder there is no recording at all; reading says so.
        if self.folder.is_dir() && !path.exists() {
            return Err(unfinished(&self.folder, None));
        }
        let head: RecordingHead = read_json(&path)?;
        if head.is_unfinished() {
            return Err(unfinished(&self.folder, head.run_id));
        }
        if head.was_stopped() { Err(stopped(&self.folder)) } else { Ok(head) }
    }

    /// Returns the commit that the recorded work began from: that of the first answer.
    pub(crate) fn base(&self) -> Option<&CommitId> {
        let first = self.takes.iter().min_by_key(|take| (&take.way, take.step, take.asks));
        first.and_then(|take| take.base.as_ref())
    }

    /// Writes down what a family of runs has done so far.
    ///
    /// Several processes may do so at once, each with what it saw. Each looks again after it wrote, so that
    /// the newest version wins.
    async fn close(&self, project: &Project, root: RunId) -> Result<(), Error> {
        let base = self.base().cloned();
        let mut head = RecordingHead { base: base.clone(), ..head_of(project, root).await? };
        for _ in 0..CLOSES_MAX {
            write(&self.folder.join(HEAD), &to_pretty(&head))?;
            let newer = RecordingHead { base: base.clone(), ..head_of(project, root).await? };
            if newer == head {
                break;
            }
            head = newer;
        }
        Ok(())
    }

    /// Reports where another run of the same recordings differs, in the order of its steps; `told` lists the
    /// differences between the prompts.
    pub async fn compare(
        &self,
        project: &Project,
        run: RunId,
        told: Vec<Difference>,
    ) -> Result<Vec<Difference>, Error> {
        let mut found = told;
        found.extend(compare::compare(&self.head()?, &head_of(project, run).await?));
        Difference::sort(&mut found);
        Ok(found)
    }

    pub(crate) fn find(&self, way: &[Stage], run: &Run, asks: u32) -> Option<&Entry> {
        let visit = run.count_visits() + 1;
        self.takes.iter().find(|take| {
            is_same_path(&take.way, way)
                && take.node == run.node.as_str()
                && take.item == run.item
                && take.visit == visit
                && take.asks == asks
        })
    }

    /// Records an answer, with the files that the role left in a worktree.
    pub(crate) fn keep(&self, take: &Entry, prompt: &str, worktree: &Path) -> Result<(), Error> {
        let name = take.name();
        take.files.keep(worktree, &self.folder.join(&name))?;
        write(&self.folder.join(format!("{name}.md")), prompt)?;
        // Last, so that an answer that was only half recorded is not found.
        write(&self.folder.join(format!("{name}.json")), &to_pretty(take))
    }

    /// Writes the files of a recorded answer into a worktree.
    pub(crate) fn play(&self, take: &Entry, worktree: &Path) -> Result<(), Error> {
        take.files.play(&self.folder.join(take.name()), worktree)
    }
}

/// Writes down what the family of a run has done on its recording, if it is recorded.
pub async fn close_recording(project: &Project, run: RunId) -> Result<(), Error> {
    let found = crate::commands::run_orders::get_run(project, run).await?;
    match &found.recording {
        Some(RecordingMode::Record(folder)) => {
            let root = find_root(project, &found).await?;
            Recording::open(Path::new(folder))?.close(project, root.id).await
        }
        Some(RecordingMode::Replay(_)) | None => Ok(()),
    }
}

/// Closes the recording of a run after an event, if the run now rests.
pub(crate) async fn close_if_resting(project: &Project, run: &Run) {
    let is_recorded = matches!(run.recording, Some(RecordingMode::Record(_)));
    let is_at_rest = match run.phase() {
        // The run that waits for a child continues, and closes it in the end.
        None => run.parent.is_none(),
        Some(Phase::Asking { .. }) => true,
        Some(_) => run.hold().is_some(),
    };
    if is_recorded && is_at_rest {
        close_quietly(project, run.id).await;
    }
}

/// Tries to close the recording of a run: a recording that was thrown away is no reason to stop the work.
pub(crate) async fn close_quietly(project: &Project, run: RunId) {
    // The follower of the run closes the recording too, and reports errors.
    let _ = close_recording(project, run).await;
}

/// Returns the name under which a replay works on tasks.
pub(crate) fn player() -> AgentId {
    PLAYER.parse().expect("the name follows the rules of agents' names")
}

fn read_json<T: for<'de> Deserialize<'de>>(path: &Path) -> Result<T, Error> {
    let metadata = std::fs::metadata(path).map_err(Error::io("read", path))?;
    let wrong = |why: String| Error::Io {
        action: "understand",
        path: path.to_owned(),
        source: std::io::Error::new(std::io::ErrorKind::InvalidData, why),
    };
    if metadata.len() > DOCUMENT_BYTES_MAX {
        return Err(wrong("it is too large".to_owned()));
    }
    let text = std::fs::read_to_string(path).map_err(Error::io("read", path))?;
    if regatta_flow::is_deceptive(&text) {
        return Err(wrong("it has a key that is reserved".to_owned()));
    }
    serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    std::fs::write(path, text).map_err(Error::io("write", path))
}

fn to_pretty(value: &impl Serialize) -> String {
    let mut text = serde_json::to_string_pretty(value).expect("a take is plain data");
    text.push('\n');
    text
}

/// Explains that a recording is to be recorded where something is already.
fn folder_used(folder: &Path) -> Error {
    Problem::new(
        Code::IoFailed,
        format!("cannot record to {}", folder.display()),
        "it is not empty",
        "give a new or empty folder",
    )
    .into()
}

/// Explains that a recording cannot be replayed, because a person stopped its run, and it says nothing of what follows.
fn stopped(folder: &Path) -> Error {
    Problem::new(
        Code::ValidationError,
        format!("{} cannot be replayed", folder.display()),
        "the run recorded there, or a child of it, was stopped",
        "record it again, and let it come to its end",
    )
    .into()
}

/// Explains that a recording cannot be replayed, because its run has not ended.
fn unfinished(folder: &Path, run: Option<RunId>) -> Error {
    let next = match run {
        Some(run) => {
            format!("continue it with `regatta run --resume {run}` where it was recorded, then replay it")
        }
        None => "find its run with `regatta run list` where it was recorded, continue it with `regatta run \
                 --resume ID`, then replay it"
            .to_owned(),
    };
    let problem = Problem::new(
        Code::ValidationError,
        format!("{} cannot be replayed", folder.display()),
        match run {
            Some(_) => "the run recorded there has not ended",
            None => "no ended run is recorded there",
        },
        next,
    );
    match run {
        Some(run) => problem.with("runId", run.number()).into(),
        None => problem.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::digest::sha256;
    use crate::recording::files::RecordingFiles;
    use std::collections::BTreeMap;

    #[test]
    fn a_reserved_key_is_not_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("run.json");
        std::fs::write(&path, r#"{"a": {"$serde_json::private::RawValue": "1"}}"#).unwrap();
        let refused = read_json::<serde_json::Value>(&path).unwrap_err();
        assert!(format!("{refused:?}").contains("a key that is reserved"), "{refused:?}");
        std::fs::write(&path, r#"{"a": 1}"#).unwrap();
        assert_eq!(read_json::<serde_json::Value>(&path).unwrap(), serde_json::json!({ "a": 1 }));
    }

    #[test]
    fn what_is_kept_can_be_played() {
        let place = tempfile::tempdir().unwrap();
        let [from, to] = ["from", "to"].map(|name| place.path().join(name));
        std::fs::create_dir_all(&from).unwrap();
        std::fs::create_dir_all(&to).unwrap();
        std::fs::write(from.join("a.txt"), "text").unwrap();
        std::os::unix::fs::symlink("a.txt", from.join("b.txt")).unwrap();
        let recording = Recording::create(&place.path().join("tape")).unwrap();
        let take = Entry {
            way: Vec::new(),
            step: 2,
            node: "coder".to_owned(),
            item: Some("T/1".to_owned()),
            visit: 1,
            asks: 0,
            prompt_digest: sha256("do it"),
            output: serde_json::json!({ "ok": true }),
            base: None,
            files: RecordingFiles::look(&from, ["a.txt", "b.txt", "c.txt"].map(PathBuf::from)).unwrap(),
            changes: BTreeMap::new(),
        };
        recording.keep(&take, "do it", &from).unwrap();
        let recording = Recording::open(&place.path().join("tape")).unwrap();
        assert_eq!(recording.takes, std::slice::from_ref(&take));
        recording.play(&take, &to).unwrap();
        assert_eq!(std::fs::read_to_string(to.join("b.txt")).unwrap(), "text");
        let refused = Recording::create(&place.path().join("tape")).unwrap_err().explain();
        assert_eq!(refused.next, "give a new or empty folder", "a tape is not recorded over");
    }
}
