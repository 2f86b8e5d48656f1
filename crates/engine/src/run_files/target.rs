//! A file that is to be written, and the one step that does it.

use crate::core::RunId;
use crate::error::Error;
use crate::run_files::memory::FileMemory;
use crate::run_files::place::{self, Located};
use crate::run_files::{append, write};

/// Which file is to be written, and as of which event.
#[derive(Debug, Clone)]
pub(crate) struct Target {
    pub(crate) run: RunId,
    /// Which of the workflow's files it is.
    pub(crate) number: usize,
    pub(crate) located: Located,
    pub(crate) seq: u64,
}

impl Target {
    /// Returns what the names of its temporary files begin with.
    pub(crate) fn label(&self) -> String {
        place::label(self.run, self.number)
    }
}

/// What a file needs.
#[derive(Debug)]
pub(crate) enum Next {
    /// It has what it has to have.
    Nothing,
    /// Something has to be done.
    Do(Step),
    /// Somebody is in the middle of writing to it.
    Later,
}

/// What has to be done to a file, once it is remembered that it is being done.
#[derive(Debug)]
pub(crate) enum Step {
    /// Its text is put in the place of what is there.
    Replace(String),
    /// There is no longer a file.
    Remove,
    /// Lines are added to its end.
    Extend(append::Lines),
}

impl Step {
    /// Does it, and records that.
    pub(crate) fn perform(self, target: &Target, memory: &mut FileMemory) -> Result<(), Error> {
        match self {
            Step::Replace(text) => write::replace(target, memory, &text),
            Step::Remove => write::remove(target, memory),
            Step::Extend(lines) => append::extend(target, memory, &lines),
        }
    }
}
