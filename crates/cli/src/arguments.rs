//! The arguments of the binary, and the way from them to a verb.

use crate::exit::Exit;
use crate::screen::Screen;
use crate::verb;
use clap::{Parser, Subcommand};
use regatta_engine::Project;
use regatta_engine::core::{Code, Problem};
use std::path::{Path, PathBuf};

/// Runs a team of coding agents through a project's work, and never loses a step.
#[derive(Parser)]
#[command(name = "regatta", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Try `regatta demo` first. Errors are explained at docs/errors/<CODE>.md.\n\
    Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 70 a bug in Regatta.")]
pub(crate) struct Arguments {
    /// Works in the project of another folder.
    #[arg(short = 'C', long = "directory", global = true, value_name = "DIR")]
    directory: Option<PathBuf>,
    /// Prints one JSON document on stdout, and errors as JSON on stderr.
    #[arg(long, global = true)]
    pub(crate) json: bool,
    #[command(subcommand)]
    verb: Verb,
}

#[derive(Subcommand)]
enum Verb {
    /// Shows the whole thing on a throwaway repository, with scripted agents.
    Demo(verb::demo::Demo),
    /// Makes a project in this repository.
    Init(verb::init::Init),
    /// Runs the project's engine until it is interrupted.
    Up(verb::up::Up),
    /// Adds tasks and takes them through the board.
    #[command(subcommand)]
    Task(verb::task::Task),
    /// Shows the agents.
    #[command(subcommand)]
    Agent(verb::agent::Agent),
    /// Shows the log.
    Events(verb::events::Events),
    /// Shows the task machine.
    #[command(subcommand)]
    Machine(verb::machine::Machine),
    /// Looks for what does not add up, and mends it.
    Doctor(verb::doctor::Doctor),
    /// Prints completions for a shell.
    Completions(verb::completions::Completions),
}

impl Arguments {
    pub(crate) async fn run(self, screen: &Screen) -> Result<Exit, Problem> {
        let folder = self.directory.unwrap_or_else(|| PathBuf::from("."));
        let place = Place { folder, screen: *screen };
        match self.verb {
            Verb::Demo(demo) => demo.run(&place).await,
            Verb::Init(init) => init.run(&place).await,
            Verb::Up(up) => up.run(&place).await,
            Verb::Task(task) => task.run(&place).await,
            Verb::Agent(agent) => agent.run(&place).await,
            Verb::Events(events) => events.run(&place).await,
            Verb::Machine(machine) => Ok(machine.run(&place)),
            Verb::Doctor(doctor) => doctor.run(&place).await,
            Verb::Completions(completions) => Ok(completions.run()),
        }
    }
}

/// Where a verb works and how it prints.
pub(crate) struct Place {
    folder: PathBuf,
    pub(crate) screen: Screen,
}

impl Place {
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Opens the project that the folder belongs to.
    pub(crate) async fn open(&self) -> Result<Project, Problem> {
        if !self.folder.is_dir() {
            let what = format!("the folder {} was not found", self.folder.display());
            return Err(Problem::new(
                Code::IoFailed,
                what,
                "there is no folder of that name",
                "check what follows `-C`",
            ));
        }
        Project::open(&self.folder).await.map_err(|error| error.explain())
    }
}
