//! Writes documents: whole, and never over a text that is not ours.
//!
//! The new text swaps places with what is there, and what was displaced is looked at: if somebody wrote to the file since it
//! was read, their text is kept beside it. A reader sees the old text or the new one.

use crate::crash;
use crate::error::Error;
use crate::run_files::aside;
use crate::run_files::memory::{FileMemory, Version};
use crate::run_files::target::{Next, Step, Target};
use crate::task_files::settled::Stamp;
use regatta_files::disk::{self, Itself};
use regatta_files::{beneath, exchange};
use std::path::Path;

/// Stands for the version of a file that there was none of.
const NO_BASE: &str = "none";
/// This many characters of a digest tell the versions of a file apart.
const BASE_CHARACTERS: usize = 16;

/// Prepares that a document is written, unless the file has it already.
pub(crate) fn prepare(
    target: &Target,
    memory: &mut FileMemory,
    text: &str,
    is_place: bool,
) -> Result<Next, Error> {
    let mut version = Version::of(text, target.seq);
    version.text = is_place.then(|| text.to_owned());
    let found = find_ours(target, memory, version.digest.as_deref())?;
    if found.is_some() && found == version.digest {
        (memory.written, memory.begun, memory.is_inherited) = (Some(version), None, false);
        return Ok(Next::Nothing);
    }
    memory.begun = Some(version);
    Ok(Next::Do(Step::Replace(text.to_owned())))
}

/// Prepares that a file is removed, if there is one of ours.
pub(crate) fn prepare_removal(target: &Target, memory: &mut FileMemory) -> Result<Next, Error> {
    if memory.written.is_none() && memory.begun.is_none() {
        return Ok(Next::Nothing);
    }
    if find_ours(target, memory, None)?.is_some() {
        return Ok(Next::Do(Step::Remove));
    }
    (memory.written, memory.begun) = (None, None);
    Ok(Next::Nothing)
}

/// Returns the digest of the file if it is ours, or holds what is wanted; anything else is set aside.
fn find_ours(
    target: &Target,
    memory: &mut FileMemory,
    wanted: Option<&str>,
) -> Result<Option<String>, Error> {
    let located = &target.located;
    // Before it is read: a link on the way is refused here.
    ensure_folder(target)?;
    match disk::read_itself(&located.root, &located.path).map_err(Error::StateFile)? {
        Itself::Missing => Ok(None),
        Itself::File(_, digest) => {
            memory.settle(&digest);
            match memory.find(&digest).is_some() || wanted == Some(digest.as_str()) {
                true => Ok(Some(digest.as_str().to_owned())),
                false => aside::keep(target).map(|_| None),
            }
        }
        Itself::Odd => aside::keep(target).map(|_| None),
    }
}

/// Puts a text in its place.
pub(crate) fn replace(target: &Target, memory: &mut FileMemory, text: &str) -> Result<(), Error> {
    let located = &target.located;
    ensure_folder(target)?;
    let known = memory.written.as_ref().and_then(|version| version.digest.as_deref());
    let base = known.map_or(NO_BASE, |digest| digest.get(..BASE_CHARACTERS).unwrap_or(digest));
    crash::point("run_file.before");
    let prepared = exchange::prepare(&located.path, text.as_bytes(), &target.label(), base);
    let prepared = prepared.map_err(Error::StateFile)?;
    crash::point("run_file.prepared");
    let displaced = prepared.land().map_err(Error::StateFile)?;
    crash::point("run_file.exchanged");
    if let Some(displaced) = displaced {
        aside::judge(target, memory, &displaced)?;
    }
    (memory.written, memory.is_inherited) = (memory.begun.take(), false);
    if let Some(written) = memory.written.as_mut().filter(|written| written.is_long_list()) {
        let metadata =
            std::fs::symlink_metadata(&located.path).map_err(Error::io("look at", &located.path))?;
        (written.digest, written.stamp) = (None, Some(Stamp::of(&metadata)));
    }
    crash::point("run_file.after");
    Ok(())
}

/// Removes a file of ours.
pub(crate) fn remove(target: &Target, memory: &mut FileMemory) -> Result<(), Error> {
    let path = &target.located.path;
    let name = format!("{}{}-{NO_BASE}-gone{}", exchange::NAME_ENDS.0, target.label(), exchange::NAME_ENDS.1);
    let displaced = path.with_file_name(name);
    match std::fs::rename(path, &displaced) {
        Ok(()) => aside::judge(target, memory, &displaced)?,
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => return Err(Error::io("remove", path)(error)),
    }
    (memory.written, memory.begun) = (None, None);
    Ok(())
}

/// Makes the folder of a file; a link on the way is refused.
pub(crate) fn ensure_folder(target: &Target) -> Result<(), Error> {
    let folder = target.located.path.parent().unwrap_or(Path::new("."));
    beneath::ensure_folder(&target.located.root, folder).map_err(Error::of_folder)
}
