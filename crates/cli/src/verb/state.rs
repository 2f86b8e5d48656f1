//! `regatta state …`.

use super::{state_file, state_prune};
use crate::arguments::Place;
use crate::columns::Fields;
use crate::exit::Exit;
use crate::screen::{BOLD, CYAN, DIM, GREEN, RED, YELLOW, clean};
use clap::Subcommand;
use regatta_engine::core::{Problem, RunId};
use regatta_engine::{Understood, WrittenFile, understand, write_elsewhere};
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// The verbs of state files.
#[derive(Subcommand)]
pub(crate) enum State {
    /// Check a task file and show how it is read, or where and why it cannot be
    ///
    /// Exits with 1 if the file has errors. Unknown parts are not errors: they are kept verbatim.
    Validate {
        /// Task file.
        file: PathBuf,
    },
    /// Write the log and everything that belongs to it to one file
    ///
    /// The file holds the log, transcripts, task files and archives, review and salvage refs, and the branches of tasks in
    /// progress. It does not hold uncommitted files in worktrees, nor the config and workflows, which belong in git. An
    /// engine may be running.
    Export {
        /// The file to write; `-` for stdout
        file: PathBuf,
    },
    /// Import what `state export` wrote in another clone of this repository
    ///
    /// Everything is checked first, and nothing changes if something is wrong. A project that already has a log is not
    /// changed.
    Import {
        /// The file to read; `-` for stdin
        file: PathBuf,
    },
    /// Write the files of a run, and of the runs below it, to a folder
    ///
    /// The files are those that the workflow's `[files]` describe, as they follow from the log now. The run may have ended, and its
    /// own files are not changed. A file that is already in the folder with other content stays, and is reported.
    Write {
        /// Run number.
        #[arg(value_name = "RUN")]
        run: RunId,
        /// Folder to write to; it is created if need be.
        #[arg(value_name = "DIR")]
        folder: PathBuf,
    },
    Prune(state_prune::Prune),
}

impl State {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        match self {
            State::Validate { file } => validate(place, &file),
            State::Export { file } => state_file::export(place, &file).await,
            State::Import { file } => state_file::import(place, &file).await,
            State::Write { run, folder } => write(place, run, &folder).await,
            State::Prune(verb) => verb.run(place).await,
        }
    }
}

async fn write(place: &Place, run: RunId, folder: &Path) -> Result<Exit, Problem> {
    let project = place.open().await?;
    let folder = place.folder()?.join(folder);
    let written = write_elsewhere(&project, run, &folder).await?;
    place.screen.data(&written, |written| {
        let line = |file: &WrittenFile| match &file.error {
            None => format!("{GREEN}wrote{GREEN:#}  {}\n", clean(&file.path)),
            Some(error) => format!("{RED}error[{}]{RED:#}: {}\n", error.code, clean(&error.message)),
        };
        match written.is_empty() {
            true => format!("{DIM}run {run} has no files{DIM:#}\n"),
            false => written.iter().map(line).collect(),
        }
    });
    let is_whole = written.iter().all(|file| file.error.is_none());
    Ok(if is_whole { Exit::Done } else { Exit::Failed })
}

fn validate(place: &Place, file: &Path) -> Result<Exit, Problem> {
    let path = place.folder()?.join(file);
    let understood = understand(&path)?;
    place.screen.data(&understood, render);
    Ok(if understood.is_valid { Exit::Done } else { Exit::Failed })
}

fn render(read: &Understood) -> String {
    let id = read.task_id.map_or_else(|| "#?".to_owned(), |id| format!("#{id}"));
    let title = read.title.as_deref().unwrap_or("(no title)");
    let mut fields = Fields::below(format!("{CYAN}{id}{CYAN:#} {BOLD}{}{BOLD:#}\n", clean(title)));
    let keys: Vec<&str> = read.metadata.iter().flat_map(|map| map.keys()).map(String::as_str).collect();
    fields.add("metadata", keys.join(", "));
    let checked = read.criteria.iter().filter(|criterion| criterion.checked).count();
    fields.add("criteria", format!("{checked} of {} ticked", read.criteria.len()));
    fields.add("inputs", count(read.chain_inputs.len(), "from other tasks"));
    fields.add("sessions", count(read.sessions.len(), "in full"));
    fields.add("output", if read.chain_output.is_some() { "written" } else { "not yet" });
    fields.add("size", format!("{} bytes, about {} tokens", read.size.bytes, read.size.tokens));
    for section in &read.size.sections {
        let title = if section.title.is_empty() { "(title)" } else { &section.title };
        fields.add("", format!("{title}: about {} tokens", section.tokens));
    }
    let mut text = fields.text;
    for unknown in &read.unknown {
        let _ = writeln!(
            text,
            "{YELLOW}kept{YELLOW:#}   line {}: unknown {}: {}",
            unknown.line,
            unknown.what,
            clean(&unknown.text)
        );
    }
    for fault in &read.faults {
        let _ =
            writeln!(text, "{RED}wrong{RED:#}  {}:{}: {}", fault.line, fault.column, clean(&fault.problem));
        if !fault.text.is_empty() {
            let _ = writeln!(text, "       {DIM}{}{DIM:#}", clean(&fault.text));
        }
    }
    for advice in &read.size.advice {
        let _ = writeln!(text, "{YELLOW}advice{YELLOW:#} {advice}");
    }
    if read.is_valid {
        let _ = writeln!(text, "{GREEN}understood{GREEN:#}: every section was read");
    }
    text
}

fn count(number: usize, what: &str) -> String {
    if number == 0 { "none".to_owned() } else { format!("{number} {what}") }
}
