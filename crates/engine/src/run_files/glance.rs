//! What this process knows of the files of runs, so that most looks cost no reading: their stamps, and what was written.
//!
//! It is lost with the process. A stamp that is not known means that the file is read.

use crate::core::RunId;
use crate::run_files::place::Located;
use crate::task_files::settled::Stamp;
use regatta_files::disk::{self, Itself};
use std::collections::{BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, SystemTime};

/// With more files than this, those of runs that have ended are forgotten.
const FILES_MAX: usize = 4_096;

/// A change within this time may not be seen in the times of a file.
const TIME_GRAIN: Duration = Duration::from_millis(50);

/// The files that this process has looked at.
#[derive(Default)]
pub(crate) struct Glances(Mutex<HashMap<PathBuf, Glance>>);

/// What is known of one file.
#[derive(Debug, Clone)]
struct Glance {
    located: Located,
    run: RunId,
    is_over: bool,
    /// What was written last; nothing for a list that is extended in place.
    digest: Option<String>,
    /// How the file looked when it had that digest.
    stamp: Option<Stamp>,
}

impl Glances {
    /// Records what was written last to a file of a run.
    pub(super) fn note(&self, located: &Located, (run, is_over): (RunId, bool), digest: Option<&str>) {
        let mut files = self.files();
        if files.len() >= FILES_MAX {
            files.retain(|_, glance| !glance.is_over);
        }
        let known = files.get(&located.path).filter(|known| known.digest.as_deref() == digest);
        let stamp = known.and_then(|known| known.stamp);
        let digest = digest.map(str::to_owned);
        files.insert(located.path.clone(), Glance { located: located.clone(), run, is_over, digest, stamp });
    }

    /// Records how a file looks that holds what was written.
    pub(super) fn confirm(&self, located: &Located, stamp: Stamp) {
        if let Some(glance) = self.files().get_mut(&located.path) {
            glance.stamp = Some(stamp);
        }
    }

    /// Tells whether a file looks as it did when it held what was written. One that is not known does not.
    pub(super) fn is_unchanged(&self, located: &Located) -> bool {
        let now = std::fs::symlink_metadata(&located.path).ok().map(|found| Stamp::of(&found));
        self.files().get(&located.path).is_some_and(|glance| glance.stamp.is_some() && glance.stamp == now)
    }

    /// Lists the runs that this process has looked at.
    pub(super) fn runs(&self) -> BTreeSet<RunId> {
        self.files().values().map(|glance| glance.run).collect()
    }

    /// Finds the runs with a file that does not hold what was written; reads those that look different.
    pub(super) fn find_changed(&self, is_asked: impl Fn(RunId) -> bool) -> BTreeSet<RunId> {
        let known: Vec<Glance> = {
            let files = self.files();
            files.values().filter(|glance| is_asked(glance.run)).cloned().collect()
        };
        let mut changed = BTreeSet::new();
        for glance in known {
            let found = std::fs::symlink_metadata(&glance.located.path).ok();
            let is_old = found.as_ref().is_some_and(is_old);
            let stamp = found.map(|found| Stamp::of(&found));
            let Some(digest) = glance.digest.as_ref().filter(|_| stamp.is_none() || stamp != glance.stamp)
            else {
                continue;
            };
            match (disk::read_itself(&glance.located.root, &glance.located.path), stamp) {
                (Ok(Itself::File(_, found)), Some(stamp)) if found.as_str() == digest => {
                    if is_old {
                        self.confirm(&glance.located, stamp);
                    }
                }
                _ => drop(changed.insert(glance.run)),
            }
        }
        changed
    }

    /// Returns the run that has a path, if it is the one of a file.
    pub(super) fn find_run(&self, path: &std::path::Path) -> Option<RunId> {
        self.files().get(path).map(|glance| glance.run)
    }

    /// Lists the folders of the files.
    pub(super) fn folders(&self) -> BTreeSet<PathBuf> {
        self.files().keys().filter_map(|path| path.parent().map(PathBuf::from)).collect()
    }

    fn files(&self) -> MutexGuard<'_, HashMap<PathBuf, Glance>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Tells whether a later change of a file would give it another time.
fn is_old(found: &std::fs::Metadata) -> bool {
    let age = found.modified().ok().and_then(|at| SystemTime::now().duration_since(at).ok());
    age.is_some_and(|age| age >= TIME_GRAIN)
}
