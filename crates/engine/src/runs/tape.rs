//! A recorded run on disk: what each role was told, what it returned, and the files it left.
//!
//! ```text
//! run.json                   the workflow, its level, what the run was given, its base, and the steps it made
//! 0002-coder-T001.json       what the role returned, the names of files, what stood there, and where links lead
//! 0002-coder-T001.md         what it was told
//! 0002-coder-T001/…          the files as the role left them
//! ```
//!
//! A tape may come from anywhere: no document of it is read without bound, and what it may name is in `tape_files`.

use super::difference::Difference;
use super::orders::load_facts;
use super::steps::{StepView, find_steps};
use super::tape_files::TapeFiles;
use super::tape_fit::TapeChange;
use crate::core::run::{Event, Hold, Phase, Run, Taping};
use crate::core::{AgentId, CommitId, Fact, RunId};
use crate::error::Error;
use crate::project::Project;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

const HEAD: &str = "run.json";

/// The largest document of a tape; outputs are far below.
const DOCUMENT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// The most takes of a tape.
const TAKES_MAX: usize = 100_000;

/// Who works in a replay, in place of any agent of the config.
const PLAYER: &str = "tape";

/// A folder with a recorded run.
#[derive(Debug, Clone)]
pub struct Tape {
    folder: PathBuf,
    takes: Vec<Take>,
}

/// One answer of a role.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Take {
    /// The item of the child that it is of, when its run is one of a `map` node.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) child: Option<String>,
    pub(super) step: u64,
    pub(super) node: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) item: Option<String>,
    pub(super) visit: u32,
    #[serde(default)]
    pub(super) asks: u32,
    pub(super) prompt_digest: String,
    pub(super) output: Value,
    /// The commit from which its task, or its own worktree, started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) base: Option<CommitId>,
    #[serde(flatten)]
    pub(super) files: TapeFiles,
    /// What it makes of the files of its task.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) changes: BTreeMap<String, TapeChange>,
}

/// What a tape says about its run as a whole.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TapeHead {
    /// The workflow.
    pub workflow: String,
    /// Names its definition.
    pub digest: String,
    /// The level.
    pub level: u32,
    /// What the run was given.
    pub input: Value,
    /// The commit that its work began from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub base: Option<CommitId>,
    /// How it ended.
    pub status: String,
    /// The steps that it made.
    pub steps: Vec<TapeStep>,
    /// What people answered.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<TapeAnswer>,
}

/// What a person answered in a recorded run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TapeAnswer {
    /// The step.
    pub step: u64,
    /// The node.
    pub node: String,
    /// Whether it was a yes.
    pub approved: bool,
    /// What was said.
    pub text: String,
}

/// A step that a recorded run made.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TapeStep {
    /// The node.
    pub node: String,
    /// The edge that was taken.
    pub edge: String,
    /// Where it led.
    pub to: String,
}

impl Tape {
    /// Makes an empty tape; a folder that has one already is refused.
    pub fn create(folder: &Path) -> Result<Self, Error> {
        std::fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
        let is_used = std::fs::read_dir(folder).map_err(Error::io("read", folder))?.next().is_some();
        if is_used {
            let source = std::io::Error::new(std::io::ErrorKind::AlreadyExists, "it is not empty");
            return Err(Error::Io { action: "record into", path: folder.to_owned(), source });
        }
        Ok(Tape::at(folder))
    }

    /// Returns the tape of a folder, to be recorded on.
    pub(super) fn at(folder: &Path) -> Self {
        Tape { folder: folder.to_owned(), takes: Vec::new() }
    }

    /// Reads a tape.
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
        Ok(Tape { folder: folder.to_owned(), takes })
    }

    /// Returns what it says about its run.
    pub fn head(&self) -> Result<TapeHead, Error> {
        read_json(&self.folder.join(HEAD))
    }

    /// Returns the commit that the recorded work began from: that of the first answer.
    pub(super) fn base(&self) -> Option<&CommitId> {
        let first = self.takes.iter().min_by_key(|take| (take.child.is_some(), take.step, take.asks));
        first.and_then(|take| take.base.as_ref())
    }

    async fn close(&self, project: &Project, run: RunId) -> Result<(), Error> {
        let head = TapeHead { base: self.base().cloned(), ..head_of(project, run).await? };
        write(&self.folder.join(HEAD), &to_pretty(&head))
    }

    /// Says where another run of the same takes went otherwise, in the order of its steps; `told` is what the roles were
    /// told differently in it.
    pub async fn compare(
        &self,
        project: &Project,
        run: RunId,
        told: Vec<Difference>,
    ) -> Result<Vec<Difference>, Error> {
        let (then, now) = (self.head()?, head_of(project, run).await?);
        let mut found = told;
        for place in 0..then.steps.len().max(now.steps.len()) {
            let (old, new) = (then.steps.get(place), now.steps.get(place));
            if old != new {
                let text = format!("recorded {}, now {}", shown(old), shown(new));
                found.push(Difference::at_step(place as u64 + 1, text));
                // What follows another choice is another story.
                break;
            }
        }
        if then.status != now.status {
            found.extend(find_error(&super::get_run(project, run).await?));
            found.push(Difference::of_run(format!("the run was {}, and is {}", then.status, now.status)));
        }
        Difference::sort(&mut found);
        Ok(found)
    }

    pub(super) fn find(&self, run: &Run, asks: u32) -> Option<&Take> {
        let visit = run.count_visits() + 1;
        self.takes.iter().find(|take| {
            take.child.as_deref() == child_of(run)
                && take.node == run.node.as_str()
                && take.item == run.item
                && take.visit == visit
                && take.asks == asks
        })
    }

    /// Keeps a take, with the files that it left in a worktree.
    pub(super) fn keep(&self, take: &Take, prompt: &str, worktree: &Path) -> Result<(), Error> {
        let name = take.name();
        take.files.keep(worktree, &self.folder.join(&name))?;
        write(&self.folder.join(format!("{name}.md")), prompt)?;
        // Last, so that a take that is cut off is not found.
        write(&self.folder.join(format!("{name}.json")), &to_pretty(take))
    }

    /// Leaves the files of a take in a worktree.
    pub(super) fn play(&self, take: &Take, worktree: &Path) -> Result<(), Error> {
        take.files.play(&self.folder.join(take.name()), worktree)
    }
}

/// Writes down what a run made of the tape that it is recorded on, if it is.
pub async fn close_tape(project: &Project, run: RunId) -> Result<(), Error> {
    match super::get_run(project, run).await?.tape {
        Some(Taping::Record(folder)) => Tape::open(Path::new(&folder))?.close(project, run).await,
        Some(Taping::Replay(_)) | None => Ok(()),
    }
}

impl Take {
    /// Names its files: the step, the node and the item, in letters that every file system knows.
    fn name(&self) -> String {
        let plain = |text: &str| -> String {
            text.chars()
                .map(|c| if c.is_ascii_alphanumeric() || "-_".contains(c) { c } else { '_' })
                .collect()
        };
        let mut name = match &self.child {
            Some(child) => format!("{}-{:04}-{}", plain(child), self.step, plain(&self.node)),
            None => format!("{:04}-{}", self.step, plain(&self.node)),
        };
        if let Some(item) = &self.item {
            let _ = write!(name, "-{}", plain(item));
        }
        if self.asks > 0 {
            let _ = write!(name, "-again{}", self.asks);
        }
        name
    }
}

/// Returns the name under which a replay works on tasks.
pub(super) fn player() -> AgentId {
    PLAYER.parse().expect("the name follows the rules of agents' names")
}

/// Returns the item that a run was made for, if it is a child.
pub(super) fn child_of(run: &Run) -> Option<&str> {
    run.parent.as_ref().map(|parent| parent.item.as_str())
}

/// Returns a name for what a role was told.
pub(super) fn digest_of(prompt: &str) -> String {
    Sha256::digest(prompt.as_bytes()).iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

async fn head_of(project: &Project, run: RunId) -> Result<TapeHead, Error> {
    let found = super::get_run(project, run).await?;
    let facts = load_facts(project, run).await?;
    let steps = find_steps(&facts);
    let step = |step: StepView| TapeStep { node: step.node, edge: step.edge, to: step.to };
    Ok(TapeHead {
        workflow: found.workflow.clone(),
        digest: found.digest.clone(),
        level: found.level,
        input: found.input.clone(),
        base: None,
        status: found.status().to_string(),
        steps: steps.into_iter().map(step).collect(),
        answers: find_answers(&facts),
    })
}

fn find_answers(facts: &[Fact<Event>]) -> Vec<TapeAnswer> {
    let mut run: Option<Run> = None;
    let mut answers = Vec::new();
    for fact in facts {
        let is_asked = run.as_ref().is_some_and(|run| matches!(run.phase, Phase::Asking { .. }));
        if let (true, Event::RunStepped { step, node, output, .. }) = (is_asked, &fact.event) {
            let approved = output["approved"].as_bool().unwrap_or_default();
            let text = output["text"].as_str().unwrap_or_default().to_owned();
            answers.push(TapeAnswer { step: *step, node: node.to_string(), approved, text });
        }
        run = Run::evolve(run, fact);
    }
    answers
}

/// Returns what keeps a run from going on.
fn find_error(run: &Run) -> Option<Difference> {
    let error = match (&run.phase, &run.hold) {
        (Phase::Failed { error, .. }, _) | (_, Some(Hold::Error { error })) => error,
        _ => return None,
    };
    Some(Difference::at_step(run.step, format!("{}: {}", error.code, error.message)))
}

fn shown(step: Option<&TapeStep>) -> String {
    step.map_or_else(
        || "nothing".to_owned(),
        |step| format!("`{}` -{}-> `{}`", step.node, step.edge, step.to),
    )
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

#[cfg(test)]
mod tests {
    use super::*;

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
        let tape = Tape::create(&place.path().join("tape")).unwrap();
        let take = Take {
            child: None,
            step: 2,
            node: "coder".to_owned(),
            item: Some("T/1".to_owned()),
            visit: 1,
            asks: 0,
            prompt_digest: digest_of("do it"),
            output: serde_json::json!({ "ok": true }),
            base: None,
            files: TapeFiles::look(&from, ["a.txt", "b.txt", "c.txt"].map(PathBuf::from)).unwrap(),
            changes: BTreeMap::new(),
        };
        tape.keep(&take, "do it", &from).unwrap();
        let tape = Tape::open(&place.path().join("tape")).unwrap();
        assert_eq!(tape.takes, std::slice::from_ref(&take));
        tape.play(&take, &to).unwrap();
        assert_eq!(std::fs::read_to_string(to.join("b.txt")).unwrap(), "text");
        assert!(Tape::create(&place.path().join("tape")).is_err(), "a tape is not recorded over");
    }
}
