//! What was found in the files of another tool: neutral, and nothing of it decided yet.

use crate::digest::sha256;
use crate::takeover::fit;
use crate::takeover::gather::Files;
use crate::takeover::kind::Kind;
use crate::takeover::order;
use crate::takeover::run_parts::RunParts;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// More oddities of one import than this are only counted: a file of a million bad lines has as many.
const ODDITIES_MAX: usize = 1_000;

/// What the files of another tool hold.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Found {
    /// Whose files they are.
    pub kind: Kind,
    /// The folder or file.
    pub folder: String,
    /// How many there are of everything.
    pub counts: Counts,
    /// The requirements documents.
    pub prds: Vec<PrdFound>,
    /// The groups of tasks.
    pub epics: Vec<EpicFound>,
    /// The tasks; a task comes after those that it depends on.
    pub tasks: Vec<TaskFound>,
    /// The runs of workflows.
    pub runs: Vec<RunFound>,
    /// What is odd, and what becomes of it.
    pub oddities: Vec<Oddity>,
    /// How many more oddities there are.
    #[serde(skip_serializing_if = "is_zero")]
    pub more_oddities: usize,
    /// All files. An import keeps a copy of each.
    pub files: Vec<KeptFile>,
    #[serde(skip)]
    pub(crate) sources: Files,
}

/// How many there are of everything.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names say it")]
pub struct Counts {
    pub tasks: usize,
    /// Those of the tasks that are done.
    pub done: usize,
    pub epics: usize,
    pub prds: usize,
    pub runs: usize,
    pub sessions: usize,
    pub outputs: usize,
    pub messages: usize,
    pub oddities: usize,
    pub files: usize,
}

/// A requirements document.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct PrdFound {
    pub slug: String,
    pub title: String,
    #[serde(skip)]
    pub text: String,
    pub file: String,
}

/// A group of tasks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct EpicFound {
    /// What it is called in the files.
    pub item: String,
    pub title: String,
    #[serde(skip)]
    pub description: String,
    /// The slug of its PRD.
    pub prd: Option<String>,
}

/// A task.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names say it")]
pub struct TaskFound {
    /// What it is called in the files.
    pub item: String,
    pub title: String,
    #[serde(skip)]
    pub description: String,
    pub criteria: Vec<CriterionFound>,
    /// The items that it depends on.
    pub depends_on: Vec<String>,
    pub priority: Option<crate::core::Priority>,
    /// The item of its epic.
    pub epic: Option<String>,
    /// The slug of its PRD.
    pub prd: Option<String>,
    /// Its status, in the words of the files.
    pub status: Option<String>,
    /// Whether it is done.
    pub done: bool,
    pub sessions: usize,
    pub has_output: bool,
    /// The messages that nobody has read; the next session on the task gets them.
    pub messages: Vec<MessageFound>,
    /// The file that it stands in.
    pub file: String,
    /// Its number there, which it keeps if it can.
    #[serde(skip)]
    pub number: Option<u32>,
    /// The text of its task file, if it has one.
    #[serde(skip)]
    pub text: Option<String>,
    /// The file with its archived sessions.
    #[serde(skip)]
    pub archive: Option<String>,
    /// The SHA-256 of what the files say of it.
    #[serde(skip)]
    pub digest: String,
}

/// A criterion of a task.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct CriterionFound {
    pub text: String,
    pub checked: bool,
}

/// A message that nobody has read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct MessageFound {
    pub item: String,
    pub text: String,
}

/// A run of a workflow.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the names say it")]
pub struct RunFound {
    pub item: String,
    pub title: String,
    pub workflow: String,
    /// Its status, in the words of the files.
    pub status: Option<String>,
    pub sessions: usize,
    pub outputs: usize,
    pub messages: usize,
    /// The input that the files do not contain, and that has to be given.
    pub missing: Vec<String>,
    #[serde(skip)]
    pub(crate) parts: RunParts,
}

/// Something odd, and what becomes of it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct Oddity {
    pub file: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    pub what: String,
}

/// A file, of which a copy is kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[allow(missing_docs, reason = "the names say it")]
pub struct KeptFile {
    pub path: String,
    pub bytes: u64,
    /// Whether anything was made of it.
    pub understood: bool,
}

impl Found {
    pub(crate) fn new(kind: Kind) -> Self {
        Found {
            kind,
            folder: String::new(),
            counts: Counts::default(),
            prds: Vec::new(),
            epics: Vec::new(),
            tasks: Vec::new(),
            runs: Vec::new(),
            oddities: Vec::new(),
            more_oddities: 0,
            files: Vec::new(),
            sources: Files::default(),
        }
    }

    /// Notes something odd.
    pub(crate) fn odd(&mut self, file: &str, line: Option<usize>, what: impl Into<String>) {
        if self.oddities.len() < ODDITIES_MAX {
            self.oddities.push(Oddity { file: file.to_owned(), line, what: what.into() });
        } else {
            self.more_oddities += 1;
        }
    }

    /// Makes an epic of every word for one that tasks have.
    pub(crate) fn add_epics_of_tasks(&mut self) {
        let mut seen = BTreeSet::new();
        let items =
            self.tasks.iter().filter_map(|task| task.epic.clone()).filter(|item| seen.insert(item.clone()));
        let epic =
            |item: String| EpicFound { title: item.clone(), item, description: String::new(), prd: None };
        self.epics = items.map(epic).collect();
    }

    /// Puts the tasks in order, makes everything fit the limits of this project, and counts.
    pub(crate) fn settle(&mut self, files: Files) {
        for (file, what) in &files.oddities {
            self.odd(file, None, what.clone());
        }
        order::settle(self);
        fit::settle(self);
        let mut is_understood: BTreeMap<&str, bool> = BTreeMap::new();
        let used = self.tasks.iter().flat_map(|task| [Some(&task.file), task.archive.as_ref()]);
        let used = used.flatten().chain(self.prds.iter().map(|prd| &prd.file));
        let used = used.chain(self.runs.iter().flat_map(|run| run.parts.paths()));
        is_understood.extend(used.map(|path| (path.as_str(), true)));
        let file = |(path, size): (&String, u64)| KeptFile {
            path: path.clone(),
            bytes: size,
            understood: is_understood.contains_key(path.as_str()) || files.is_used(path),
        };
        self.files = files.sizes().map(file).collect();
        let unknown: Vec<String> =
            self.files.iter().filter(|file| !file.understood).map(|file| file.path.clone()).collect();
        for path in unknown {
            let is_told = self.oddities.iter().any(|oddity| oddity.file == path);
            if !is_told {
                self.odd(&path, None, "not a file of this kind; only a copy is kept");
            }
        }
        self.sources = files;
        self.count();
    }

    fn count(&mut self) {
        let of_tasks = |count: fn(&TaskFound) -> usize| self.tasks.iter().map(count).sum::<usize>();
        let of_runs = |count: fn(&RunFound) -> usize| self.runs.iter().map(count).sum::<usize>();
        self.counts = Counts {
            tasks: self.tasks.len(),
            done: of_tasks(|task| usize::from(task.done)),
            epics: self.epics.len(),
            prds: self.prds.len(),
            runs: self.runs.len(),
            sessions: of_tasks(|task| task.sessions) + of_runs(|run| run.sessions),
            outputs: of_tasks(|task| usize::from(task.has_output)) + of_runs(|run| run.outputs),
            messages: of_tasks(|task| task.messages.len()) + of_runs(|run| run.messages),
            oddities: self.oddities.len() + self.more_oddities,
            files: self.files.len(),
        };
    }
}

impl TaskFound {
    /// Makes a task of what the files say about it, word for word.
    pub(crate) fn new(item: impl Into<String>, file: &str, said: &[u8]) -> Self {
        TaskFound { item: item.into(), file: file.to_owned(), digest: sha256(said), ..TaskFound::default() }
    }

    /// Takes a status in the words of the files.
    pub(crate) fn with_status(mut self, status: Option<String>) -> Self {
        self.done = status.as_deref().is_some_and(is_done);
        self.status = status;
        self
    }
}

/// Tells whether a word for a status means that a task is done.
pub(crate) fn is_done(status: &str) -> bool {
    const DONE: [&str; 12] = [
        "done",
        "complete",
        "completed",
        "closed",
        "verified",
        "merged",
        "resolved",
        "finished",
        "x",
        "true",
        "yes",
        "archived",
    ];
    DONE.contains(&status.trim().to_lowercase().as_str())
}

fn is_zero(count: &usize) -> bool {
    *count == 0
}
