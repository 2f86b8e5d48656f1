//! How a task file was understood: the answer of `regatta state validate`.

use crate::core::{Code, Problem};
use crate::error::Error;
use crate::task_files::archive::unreadable;
use crate::task_files::file_size::{self, FileSize};
use regatta_files::{TaskFile, disk};
use serde::Serialize;
use serde_json::{Map, Value};
use std::path::Path;

/// A task file, read whole.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are the parts of a task file")]
pub struct Understood {
    pub file: String,
    pub is_valid: bool,
    pub task_id: Option<u32>,
    pub title: Option<String>,
    pub metadata: Option<Map<String, Value>>,
    pub requirements: Option<String>,
    pub criteria: Vec<CriterionRead>,
    pub chain_inputs: Vec<InputRead>,
    pub sessions: Vec<SessionRead>,
    pub archived: Option<ArchivedRead>,
    pub chain_output: Option<String>,
    pub unknown: Vec<UnknownRead>,
    pub faults: Vec<FaultRead>,
    #[serde(flatten)]
    pub size: FileSize,
}

#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct CriterionRead {
    pub text: String,
    pub checked: bool,
    pub check: Option<String>,
    pub line: usize,
}

#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields say it")]
pub struct InputRead {
    pub task_id: Option<u32>,
    pub title: String,
    pub summary: String,
    pub link: Option<String>,
    pub stale: bool,
}

#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct SessionRead {
    pub number: u32,
    pub at: String,
    pub did: String,
    pub issues: String,
    pub next: String,
}

#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct ArchivedRead {
    pub first: u32,
    pub last: u32,
    pub duration: String,
    pub accomplishments: String,
    pub commits: Vec<String>,
    pub link: Option<String>,
}

#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct UnknownRead {
    pub what: &'static str,
    pub line: usize,
    pub text: String,
}

#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct FaultRead {
    pub line: usize,
    pub column: usize,
    pub problem: String,
    pub text: String,
}

/// Reads a task file and says what was understood; the file is not changed.
pub fn understand(path: &Path) -> Result<Understood, Error> {
    let read = disk::read(path).map_err(Error::StateFile)?;
    let Some((bytes, _)) = read else { return Err(missing(path)) };
    let file = TaskFile::parse_bytes(bytes).map_err(|error| unreadable(path, error.to_string()))?;
    Ok(of(path.display().to_string(), &file))
}

/// Says what is understood of the text of a task file, which has no name.
pub fn understand_text(text: &str) -> Understood {
    of(String::new(), &TaskFile::parse(text))
}

fn of(name: String, file: &TaskFile) -> Understood {
    let title = file.title();
    Understood {
        file: name,
        is_valid: file.faults().is_empty(),
        task_id: title.and_then(|title| title.id),
        title: title.map(|title| title.text.clone()),
        metadata: file.metadata().ok().cloned(),
        requirements: file.requirements().map(str::to_owned),
        criteria: file.criteria().iter().map(read_criterion).collect(),
        chain_inputs: file.chain_inputs().iter().map(read_input).collect(),
        sessions: file.sessions().iter().map(read_session).collect(),
        archived: file.archived().map(read_archived),
        chain_output: file.chain_output().map(str::to_owned),
        unknown: file.unknown().iter().map(read_unknown).collect(),
        faults: file.faults().iter().map(read_fault).collect(),
        size: file_size::measure(file, title.and_then(|title| title.id)),
    }
}

fn read_criterion(criterion: &regatta_files::Criterion) -> CriterionRead {
    let regatta_files::Criterion { text, checked, check, line, .. } = criterion;
    CriterionRead { text: text.clone(), checked: *checked, check: check.clone(), line: *line }
}

fn read_input(input: &regatta_files::ChainInput) -> InputRead {
    InputRead {
        task_id: input.task,
        title: input.title.clone(),
        summary: input.summary.clone(),
        link: input.link.clone(),
        stale: input.stale,
    }
}

fn read_session(entry: &regatta_files::SessionEntry) -> SessionRead {
    SessionRead {
        number: entry.number,
        at: entry.at.clone(),
        did: entry.did.clone(),
        issues: entry.issues.clone(),
        next: entry.next.clone(),
    }
}

fn read_archived(summary: &regatta_files::ArchivedSummary) -> ArchivedRead {
    ArchivedRead {
        first: summary.first,
        last: summary.last,
        duration: summary.duration.clone(),
        accomplishments: summary.accomplishments.clone(),
        commits: summary.commits.clone(),
        link: summary.link.clone(),
    }
}

fn read_unknown(unknown: &regatta_files::Unknown) -> UnknownRead {
    use regatta_files::UnknownKind as Kind;
    let what = match unknown.what {
        Kind::Section => "section",
        Kind::Heading => "heading",
        Kind::UnderlinedHeading => "underlined heading",
        Kind::MetadataKey => "metadata key",
        Kind::ItemWithoutBox => "item without a box",
    };
    UnknownRead { what, line: unknown.line, text: unknown.text.clone() }
}

fn read_fault(fault: &regatta_files::Fault) -> FaultRead {
    FaultRead {
        line: fault.line,
        column: fault.column,
        problem: fault.what.to_string(),
        text: fault.text.clone(),
    }
}

/// Explains that there is no such state file.
pub(crate) fn missing(path: &Path) -> Error {
    Problem::new(
        Code::IoFailed,
        format!("{} was not read", path.display()),
        "there is no such file",
        "check the path",
    )
    .into()
}
