//! Writes the files of lists that only grow: a line, or what a template makes, for each item.
//!
//! Up to 1 MiB such a file is replaced whole. A longer one is extended in place: how far it is ours is remembered, the next
//! items are written behind that, and only then it is remembered that they are there. After a crash the same lines would be
//! written at the same place, so those that are there already are not written again, and one that is cut off is completed.
//! Whole lines that others added to the end stay, and ours follow.

use crate::core::Failure;
use crate::crash;
use crate::error::Error;
use crate::run_files::memory::{FileMemory, Version, WHOLE_BYTES_MAX};
use crate::run_files::target::{Next, Step, Target};
use crate::run_files::{aside, content, write};
use crate::task_files::settled::Stamp;
use regatta_files::disk::{self, Digest, Itself};
use regatta_files::run_file::{self, Extension};
use regatta_flow::StateFile;
use serde_json::Value;
use std::time::{Duration, SystemTime};

/// A line without an end that nobody has touched for this long is taken as it is.
const STEADY_AFTER: Duration = Duration::from_secs(10);

/// Lines that are added to the end of a file.
#[derive(Debug)]
pub(crate) struct Lines {
    /// How long the file is, as far as it is ours.
    from: u64,
    /// How many items it has then.
    items: usize,
    lines: Vec<String>,
}

/// Prepares that a file gets the items that it lacks.
pub(crate) fn prepare(
    target: &Target,
    memory: &mut FileMemory,
    file: &StateFile,
    items: &[Value],
) -> Result<Next, Failure> {
    let failed = |error: Error| Failure::from(error.explain());
    let render = |from: usize| {
        let lines = content::render_items(file, &items[from..]);
        lines.map_err(|fault| fault.explain(target.run, &file.name))
    };
    write::ensure_folder(target).map_err(failed)?;
    if memory.is_inherited {
        // The list of the run that had the path before: it is replaced, and no line of it is ours.
        let text = render(0)?.concat();
        return Ok(match write::prepare(target, memory, &text, false).map_err(failed)? {
            Next::Do(_) => replace(target, memory, text, items.len()),
            other => other,
        });
    }
    if let Some(written) = memory.written.as_ref().filter(|written| written.stamp.is_some())
        && is_there(target, written)
        && written.items <= items.len()
    {
        if written.items == items.len() {
            return Ok(Next::Nothing);
        }
        let lines = Lines { from: written.bytes, items: items.len(), lines: render(written.items)? };
        return Ok(Next::Do(Step::Extend(lines)));
    }
    let found = disk::read_itself(&target.located.root, &target.located.path).map_err(Error::StateFile);
    let found = match found.map_err(failed)? {
        Itself::Missing => None,
        Itself::File(bytes, _) => Some(bytes),
        Itself::Odd => aside::keep(target).map(|_| None).map_err(failed)?,
    };
    let base = found.as_deref().and_then(|found| find_base(memory, found));
    // An edit that was taken into the log, whose lines may be elsewhere in the list.
    let is_ours = base.as_ref().is_some_and(|base| {
        base.items == usize::MAX && found.as_ref().is_some_and(|found| base.bytes == found.len() as u64)
    });
    if let (Some(found), Some(base)) = (&found, base.filter(|base| base.items <= items.len())) {
        return follow_on(target, memory, (found, &base), render(base.items)?, items.len());
    }
    let text = render(0)?.concat();
    if let Some(found) = found {
        if found == text.as_bytes() {
            memory.written = Some(Version { items: items.len(), ..Version::of(&text, target.seq) });
            return Ok(Next::Nothing);
        }
        // Also when the list has become shorter: what the file says is no longer true, and not lost. What is ours to its end is
        // in the log or kept already.
        if !is_ours {
            aside::keep(target).map_err(failed)?;
        }
    }
    Ok(replace(target, memory, text, items.len()))
}

/// Whether a file that was extended in place is still there, with at least what was written.
fn is_there(target: &Target, written: &Version) -> bool {
    std::fs::symlink_metadata(&target.located.path)
        .is_ok_and(|found| found.is_file() && found.len() >= written.bytes)
}

/// Finds the version of ours that a file begins with, and records that it is the one that was written.
fn find_base(memory: &mut FileMemory, found: &[u8]) -> Option<Version> {
    let is_base = |version: &&Version| {
        let begin = usize::try_from(version.bytes).ok().and_then(|bytes| found.get(..bytes));
        begin.is_some_and(|begin| version.digest.as_deref() == Some(Digest::of(begin).as_str()))
    };
    let base = [&memory.begun, &memory.written].into_iter().flatten().find(is_base)?.clone();
    (memory.written, memory.begun) = (Some(base.clone()), None);
    Some(base)
}

/// Adds lines to a file that begins with a version of ours; what others added stays between.
fn follow_on(
    target: &Target,
    memory: &mut FileMemory,
    (found, base): (&[u8], &Version),
    lines: Vec<String>,
    items: usize,
) -> Result<Next, Failure> {
    if lines.is_empty() {
        return Ok(Next::Nothing);
    }
    let is_whole = run_file::count_whole(found) == found.len();
    if !is_whole && !is_steady(target) {
        return Ok(Next::Later);
    }
    let end = if is_whole { "" } else { "\n" };
    let added: usize = lines.iter().map(String::len).sum();
    if (found.len() + added) as u64 > WHOLE_BYTES_MAX {
        return Ok(Next::Do(Step::Extend(Lines { from: base.bytes, items, lines })));
    }
    // It is ours to the last byte, or a list of lines that somebody added to, as text too.
    let text = format!("{}{end}{}", String::from_utf8_lossy(found), lines.concat());
    Ok(replace(target, memory, text, items))
}

fn is_steady(target: &Target) -> bool {
    let modified = std::fs::symlink_metadata(&target.located.path).and_then(|found| found.modified());
    let age = modified.ok().and_then(|at| SystemTime::now().duration_since(at).ok());
    age.is_some_and(|age| age >= STEADY_AFTER)
}

fn replace(target: &Target, memory: &mut FileMemory, text: String, items: usize) -> Next {
    memory.begun = Some(Version { items, ..Version::of(&text, target.seq) });
    Next::Do(Step::Replace(text))
}

/// Adds lines to the end of a file in place.
pub(crate) fn extend(target: &Target, memory: &mut FileMemory, lines: &Lines) -> Result<(), Error> {
    let path = &target.located.path;
    crash::point("run_file.extending");
    let extended = run_file::extend(&target.located.root, path, lines.from, &lines.lines);
    let bytes = match extended.map_err(Error::StateFile)? {
        Extension::Done { end } => end,
        Extension::Cut => {
            // Written again as a whole.
            memory.written = None;
            return Err(Error::io("extend", path)(std::io::ErrorKind::UnexpectedEof.into()));
        }
        Extension::Unfinished => {
            return Err(Error::io("extend", path)(std::io::ErrorKind::WouldBlock.into()));
        }
    };
    crash::point("run_file.extended");
    let metadata = std::fs::symlink_metadata(path).map_err(Error::io("look at", path))?;
    let stamp = Some(Stamp::of(&metadata));
    memory.begun = None;
    memory.written =
        Some(Version { digest: None, seq: target.seq, text: None, items: lines.items, bytes, stamp });
    Ok(())
}
