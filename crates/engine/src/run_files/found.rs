//! Reads a file of a run that anybody may be writing to, and tells what somebody made of it.
//!
//! An editor that truncates and writes has the file open meanwhile, so a file is whole when nobody has it open for writing and
//! it did not change while it was read; or when it has not changed for a while. Pure but for the reading: what comes of an
//! edit is for core.

use crate::core::run::EditContent;
use crate::core::{Code, Failure, Problem};
use crate::error::Error;
use crate::run_files::memory::{FileMemory, Version};
use crate::run_files::place::Located;
use crate::task_files::settled::Stamp;
use regatta_files::disk::{self, Digest, Itself};
use regatta_files::run_file::{self, Layout};
use regatta_files::writers::{self, Writers};
use regatta_flow::{Content, StateFile};
use serde_json::{Value, json};
use std::time::{Duration, SystemTime};

/// A file that is open, or that lost its end, and has not changed for this long is taken as it is.
const STEADY_AFTER: Duration = Duration::from_secs(10);

/// What is in the place of a file.
#[derive(Debug)]
pub(super) enum Found {
    /// Nothing.
    Missing,
    /// What we wrote last.
    Ours,
    /// Somebody may be in the middle of writing.
    Unfinished,
    /// Something that is no file, or is too large to be read.
    Odd { digest: String },
    /// What somebody wrote.
    Theirs { bytes: Vec<u8>, digest: String },
}

/// Looks at a file.
pub(super) async fn look(located: &Located, memory: &FileMemory) -> Result<Found, Error> {
    let Ok(before) = std::fs::symlink_metadata(&located.path) else { return Ok(Found::Missing) };
    let stamp = Stamp::of(&before);
    let read = || disk::read_itself(&located.root, &located.path).map_err(Error::of_folder);
    match read()? {
        Itself::Missing => return Ok(Found::Missing),
        Itself::File(_, digest) if memory.find(&digest).is_some() => return Ok(Found::Ours),
        Itself::File(..) | Itself::Odd => {}
    }
    let writers = find_writers(located).await;
    let found = read()?;
    let is_same = std::fs::symlink_metadata(&located.path).is_ok_and(|now| Stamp::of(&now) == stamp);
    let age = before.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
    let is_steady = is_same && age.is_some_and(|age| age >= STEADY_AFTER);
    let is_done = is_same && writers == Writers::Nobody;
    Ok(match found {
        Itself::Missing => Found::Missing,
        Itself::Odd => {
            let told = format!("{stamp:?}");
            Found::Odd { digest: Digest::of(told.as_bytes()).as_str().to_owned() }
        }
        // The rest may come with the next opening.
        Itself::File(bytes, _) if is_cut(memory, &bytes) && !(is_steady && writers != Writers::Somebody) => {
            Found::Unfinished
        }
        Itself::File(..) if !is_done && !is_steady => Found::Unfinished,
        Itself::File(bytes, digest) => Found::Theirs { bytes, digest: digest.as_str().to_owned() },
    })
}

/// Asks in a thread of its own: it takes milliseconds, and longer where many processes run.
async fn find_writers(located: &Located) -> Writers {
    let path = located.path.clone();
    tokio::task::spawn_blocking(move || writers::find(&path)).await.unwrap_or(Writers::Unknown)
}

/// Tells whether a text is empty, or what we wrote without its end.
fn is_cut(memory: &FileMemory, bytes: &[u8]) -> bool {
    let text = memory.written.as_ref().and_then(|written| written.text.as_deref());
    bytes.is_empty() || text.is_some_and(|text| is_beginning(text, bytes))
}

/// Tells whether a text lost its end in the middle of a line. Who takes whole lines off the end of a text may mean it.
fn is_beginning(text: &str, bytes: &[u8]) -> bool {
    bytes.len() < text.len() && text.as_bytes().starts_with(bytes) && !bytes.ends_with(b"\n")
}

/// What a text is as an edit of a file: a value that core can judge, or why it is none. Nothing if it is to stay as it is.
pub(super) fn read_edit(
    file: &StateFile,
    path: &str,
    written: &Version,
    bytes: &[u8],
) -> Option<EditContent> {
    let unusable = |code, why: String| EditContent::Unusable(unusable(code, path, why));
    let corrupt = |why: String| unusable(Code::StateCorrupt, why);
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Some(corrupt("it is empty".to_owned()));
    }
    Some(match &file.content {
        Content::Place { body, .. } => {
            let body = body.as_ref().map(|body| body.name.as_str());
            read_document(body, written, bytes).unwrap_or_else(corrupt)
        }
        Content::Append { template, .. } => match read_lines(written, bytes, template.is_none()) {
            Ok(content) => content?,
            Err((code, why)) => unusable(code, why),
        },
        // Core says why.
        Content::Value { .. } => EditContent::Value { base: Value::Null, edited: json!([]) },
    })
}

fn read_document(body: Option<&str>, written: &Version, bytes: &[u8]) -> Result<EditContent, String> {
    let text = written.text.as_ref().ok_or("it is not what was written, and that is not known any more")?;
    if is_beginning(text, bytes) {
        return Err("its end is missing".to_owned());
    }
    let layout = body.map_or(Layout::Json, |body| Layout::FrontMatter { body });
    let edited = run_file::parse(bytes, layout).map_err(|fault| fault.to_string())?;
    let base = run_file::parse(text.as_bytes(), layout).unwrap_or_default();
    Ok(EditContent::Value { base, edited })
}

/// Reads the lines that somebody added at the end of a list; those of a list that is not made of JSON stay as they are.
fn read_lines(written: &Version, bytes: &[u8], is_json: bool) -> Result<Option<EditContent>, (Code, String)> {
    let ours = usize::try_from(written.bytes).ok().and_then(|end| bytes.split_at_checked(end));
    let Some((ours, added)) = ours else {
        let is_cut = !bytes.ends_with(b"\n");
        let why = if is_cut { "its end is missing" } else { "lines that the run wrote were removed" };
        return Err((if is_cut { Code::StateCorrupt } else { Code::EditRefused }, why.to_owned()));
    };
    if written.digest.as_deref() != Some(Digest::of(ours).as_str()) {
        let why = "a line that the run wrote was changed or removed: only add lines at the end";
        return Err((Code::EditRefused, why.to_owned()));
    }
    if !is_json {
        return Ok(None);
    }
    let mut items = Vec::new();
    let first = ours.iter().filter(|byte| **byte == b'\n').count();
    for (number, line) in run_file::lines(added).enumerate() {
        match line.value {
            Ok(value) => items.extend(value),
            Err(fault) => {
                let line = first + number + 1;
                let why = format!("line {line}, column {}: {}", fault.column, fault.what);
                return Err((Code::StateCorrupt, why));
            }
        }
    }
    Ok(Some(EditContent::Value { base: json!([]), edited: items.into() }))
}

/// Explains why what was found is no edit; core says where it is kept.
pub(super) fn unusable(code: Code, path: &str, why: String) -> Failure {
    let what = match code {
        Code::StateCorrupt => format!("{path} was not read"),
        _ => format!("an edit of {path} was not taken in"),
    };
    Failure::from(Problem::new(code, what, why, "").with("path", path))
}
