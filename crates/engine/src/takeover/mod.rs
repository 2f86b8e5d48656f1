//! Takes over what other tools of this kind left behind: their folders become tasks, epics, PRDs and runs of this project.
//!
//! ```text
//! gather: a folder -> paths and bytes     read: one reader per kind -> what was found     apply: what was found -> the log
//! ```
//!
//! A reader is pure: it gets bytes and returns a [`Found`], which a dry run shows and [`apply()`] carries out. Nothing is
//! guessed and nothing is lost: every file is copied before anything else happens, and what is not understood is listed
//! as an oddity. It does not change or follow what it reads: the files stay as they are, and no link is followed. Only `gather` and `keep` open files,
//! and only `apply` and `rebuild` give commands.

mod apply;
mod coordination;
mod cycle;
mod fit;
mod found;
mod gather;
mod json_lines;
mod keep;
mod kind;
mod order;
mod rebuild;
mod run_parts;
mod spec_kit;
mod specflux;
mod table;

#[cfg(test)]
mod tests;

pub use apply::{Applied, AppliedItem, apply};
pub use cycle::become_of;
pub use found::{Counts, EpicFound, Found, KeptFile, MessageFound, Oddity, PrdFound, RunFound, TaskFound};
pub use kind::{Kind, is_foreign};
pub use rebuild::{Rebuilding, Rebuilt, rebuild};

use crate::error::Error;
use crate::project::Project;
use std::path::Path;

/// Reads a folder or file of another tool, of this kind or the one that it looks like. Nothing changes.
pub fn look(project: &Project, path: &Path, kind: Option<Kind>) -> Result<Found, Error> {
    let (kind, root) = kind::recognize(path, kind)?;
    let files = gather::gather(&root, kind)?;
    let mut found = read(project, kind, &files)?;
    found.folder = show_folder(project, &root);
    found.settle(files);
    Ok(found)
}

fn read(project: &Project, kind: Kind, files: &gather::Files) -> Result<Found, Error> {
    Ok(match kind {
        Kind::SpecFlux => specflux::read(files),
        Kind::Cycle => cycle::read(&run_parts::definition(project, cycle::WORKFLOW)?, files),
        Kind::Coordination => coordination::read(files),
        Kind::SpecKit => spec_kit::read(files),
        Kind::Csv => table::read(files),
        Kind::JsonLines => json_lines::read(files),
    })
}

/// Names a folder as people know it: from the project's root if it is below.
fn show_folder(project: &Project, path: &Path) -> String {
    let below =
        project.root().canonicalize().ok().and_then(|root| path.strip_prefix(root).ok().map(Path::to_owned));
    match below {
        Some(below) if below.as_os_str().is_empty() => ".".to_owned(),
        Some(below) => below.display().to_string(),
        None => path.display().to_string(),
    }
}
