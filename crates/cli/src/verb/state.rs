//! `regatta state …`.

use super::{state_file, state_prune, state_rebuild, state_takeover, state_validate};
use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{DIM, GREEN, RED, clean};
use crate::verb::run::parse_pair;
use clap::{Args, Subcommand};
use regatta_engine::core::{Problem, RunId};
use regatta_engine::{TakeoverKind, WrittenFile, is_foreign, write_elsewhere};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// The verbs of state files.
#[derive(Subcommand)]
pub(crate) enum State {
    Validate(state_validate::Validate),
    /// Write the log and everything that belongs to it to one file
    ///
    /// The file holds the log, transcripts, task files and archives, review and salvage refs, and the branches of tasks in
    /// progress. It does not hold uncommitted files in worktrees, nor the config and workflows, which belong in git. An
    /// engine may be running.
    Export {
        /// The file to write; `-` for stdout
        file: PathBuf,
    },
    Import(Import),
    Rebuild(state_rebuild::Rebuild),
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

/// Import the state of another clone, or the files of another tool
///
/// Given a file that `state export` wrote, imports it into a project that has no log yet. Everything is checked first, and
/// nothing changes if something is wrong.
///
/// Given a folder of another tool, or a table of tasks, shows what it holds; `--apply` imports it. Known are task files
/// (.specflux), cycles (.workflow/.cycle), a team's files (coordination), GitHub Spec Kit (specs), CSV and JSON lines. The files
/// themselves are not changed, a copy of each is kept, and importing them again changes nothing.
#[derive(Args)]
pub(crate) struct Import {
    /// The export, folder or table to read; `-` for an export on stdin
    path: PathBuf,
    /// Import what the folder or table holds [default: only show it]
    #[arg(long)]
    apply: bool,
    /// Kind of files: specflux, cycle, coordination, spec-kit, csv or jsonl [default: recognized by their names]
    #[arg(long, value_name = "KIND")]
    from: Option<TakeoverKind>,
    /// Set one field of a run's input that its files do not contain; the value is read as JSON if possible, else as text
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_pair)]
    set: Vec<(String, Value)>,
}

impl State {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        match self {
            State::Validate(verb) => verb.run(place).await,
            State::Export { file } => state_file::export(place, &file).await,
            State::Import(verb) => verb.run(place).await,
            State::Rebuild(verb) => verb.run(place).await,
            State::Write { run, folder } => write(place, run, &folder).await,
            State::Prune(verb) => verb.run(place).await,
        }
    }
}

impl Import {
    async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let Import { path, apply, from, set } = self;
        if from.is_some() || apply || is_foreign(&place.resolve(&path)) {
            return state_takeover::import(place, &path, from, apply, set.into_iter().collect()).await;
        }
        state_file::import(place, &path).await
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
