//! Keeps beside a file what could not be taken into its run.
//!
//! The event says under which name. What is kept gets a second name while the file stays where it is, so that a reader never
//! finds it gone; the writer then puts its own text in its place. What is no file is moved.

use crate::core::run::{KeptEdit, Run};
use crate::error::Error;
use crate::project::Project;
use crate::run_files::place::{self, Located};
use regatta_files::{disk, exchange};
use std::path::{Path, PathBuf};

/// Far more than anybody keeps; it bounds the search for a free name.
const NAMES_MAX: u32 = 10_000;

/// Keeps what is in the place of a file under the name that an event has, as a second name of it.
pub(super) fn keep_file(located: &Located, kept: &str, bytes: &[u8]) -> Result<(), Error> {
    let wanted = beside(located, kept);
    for path in names(&wanted) {
        match disk::read_itself(&located.root, &path).map_err(Error::of_folder)? {
            disk::Itself::Missing => {
                // Some file systems have no second names, and somebody may have replaced the file since it was read.
                if std::fs::hard_link(&located.path, &path).is_ok() {
                    match disk::read_itself(&located.root, &path) {
                        Ok(disk::Itself::File(found, _)) if found == bytes => return Ok(()),
                        _ => drop(std::fs::remove_file(&path)),
                    }
                }
                return disk::write_new(&located.root, &path, bytes).map_err(Error::StateFile);
            }
            // A crash came between keeping it and what follows.
            disk::Itself::File(found, _) if found == bytes => return Ok(()),
            disk::Itself::File(..) | disk::Itself::Odd => {}
        }
    }
    Err(Error::io("keep", &wanted)(std::io::ErrorKind::AlreadyExists.into()))
}

/// Keeps a text that is no longer in the place of a file.
pub(super) fn keep_text(located: &Located, kept: &str, text: &str) -> Result<(), Error> {
    let wanted = beside(located, kept);
    for path in names(&wanted) {
        match disk::read_itself(&located.root, &path).map_err(Error::of_folder)? {
            disk::Itself::Missing => {
                return disk::write_new(&located.root, &path, text.as_bytes()).map_err(Error::StateFile);
            }
            disk::Itself::File(found, _) if found == text.as_bytes() => return Ok(()),
            disk::Itself::File(..) | disk::Itself::Odd => {}
        }
    }
    Err(Error::io("keep", &wanted)(std::io::ErrorKind::AlreadyExists.into()))
}

/// Moves what is no file out of the place of one.
pub(super) fn move_odd(located: &Located, kept: &str) -> Result<(), Error> {
    let wanted = beside(located, kept);
    exchange::set_aside(&located.path, names(&wanted)).map(drop).map_err(Error::StateFile)
}

/// Lists the edits of a run that were not taken in and are still kept beside their files.
pub(crate) fn list(project: &Project, run: &Run) -> Vec<KeptEdit> {
    let is_there = |edit: &&KeptEdit| {
        let file = run.files.get(&edit.mark.file);
        file.is_some_and(|file| beside(&place::locate(project, file), &edit.kept).symlink_metadata().is_ok())
    };
    run.edits.kept.iter().filter(is_there).cloned().collect()
}

fn beside(located: &Located, kept: &str) -> PathBuf {
    located.path.with_file_name(Path::new(kept).file_name().unwrap_or_default())
}

fn names(wanted: &Path) -> impl Iterator<Item = PathBuf> {
    let others = (2..NAMES_MAX).map(|number| {
        let mut name = wanted.file_name().unwrap_or_default().to_owned();
        name.push(format!("-{number}"));
        wanted.with_file_name(name)
    });
    std::iter::once(wanted.to_owned()).chain(others)
}
