//! Keeps beside a file what somebody else wrote to it, and removes what a write of ours displaced.

use crate::error::Error;
use crate::run_files::memory::FileMemory;
use crate::run_files::target::Target;
use regatta_files::disk::{self, Itself};
use regatta_files::exchange;
use std::path::{Path, PathBuf};

/// Far more than anybody keeps; it bounds the search for a free name.
const NAMES_MAX: u32 = 10_000;

/// Moves what is in the place of a file beside it; returns where it is then.
pub(crate) fn keep(target: &Target) -> Result<PathBuf, Error> {
    keep_as_edit(target, &target.located.path)
}

/// Looks at what was in the place of a file until it was replaced. Ours is removed, anything else kept.
pub(super) fn judge(target: &Target, memory: &FileMemory, displaced: &Path) -> Result<(), Error> {
    match disk::read_itself(&target.located.root, displaced).map_err(Error::StateFile)? {
        Itself::Missing => Ok(()),
        Itself::File(_, digest) if memory.find(&digest).is_some() => remove(displaced),
        // What an extended list was before, which is part of what it is now.
        Itself::File(bytes, _) if bytes.is_empty() => remove(displaced),
        Itself::File(..) | Itself::Odd => keep_as_edit(target, displaced).map(drop),
    }
}

/// Judges what a process that was killed left beside a file.
pub(super) fn clean_up(target: &Target, memory: &FileMemory) -> Result<(), Error> {
    let begin = format!("{}{}-", exchange::NAME_ENDS.0, target.label());
    let unfinished = format!("{begin}{}-", exchange::UNFINISHED);
    for left in exchange::list(&target.located.path).map_err(Error::StateFile)? {
        let Some(name) = left.file_name().and_then(|name| name.to_str()) else { continue };
        if name.starts_with(&unfinished) {
            remove(&left)?;
        } else if name.starts_with(&begin) {
            judge(target, memory, &left)?;
        }
    }
    Ok(())
}

/// Keeps a text as `NAME.edit-41`, after the event as of which the file was to be written.
fn keep_as_edit(target: &Target, found: &Path) -> Result<PathBuf, Error> {
    let path = &target.located.path;
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let seq = target.seq;
    let names = (1..NAMES_MAX).map(|number| {
        let more = if number == 1 { String::new() } else { format!("-{number}") };
        path.with_file_name(format!("{name}.edit-{seq}{more}"))
    });
    exchange::set_aside(found, names).map_err(Error::StateFile)
}

fn remove(path: &Path) -> Result<(), Error> {
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(Error::io("remove", path)(error)),
        _ => Ok(()),
    }
}
