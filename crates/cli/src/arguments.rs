//! The arguments of the binary, and the way from them to a verb.

use crate::allowed;
use crate::ancestry::Ancestry;
use crate::exit::Exit;
use crate::screen::Screen;
use crate::verb;
use clap::{ArgMatches, Command, CommandFactory, FromArgMatches, Parser, Subcommand};
use regatta_engine::core::{Code, Problem};
use regatta_engine::{Project, endpoint};
use serde_json::Value;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Keeps the options that every verb has from standing between a verb's own.
const EVERYWHERE: &str = "Options of every verb";

/// Run a team of coding agents through a project's work without losing a step.
#[derive(Parser)]
#[command(name = "regatta", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Try `regatta demo` first. Each error code has a page: docs/errors/<CODE>.md.\n\
    Exit codes: 0 done, 1 refused or failed, 2 wrong usage, 70 a bug in Regatta.")]
pub(crate) struct Arguments {
    /// Run as if started in DIR.
    #[arg(short = 'C', long = "directory", global = true, value_name = "DIR", help_heading = EVERYWHERE)]
    directory: Option<PathBuf>,
    /// Print one JSON document on stdout, and errors as JSON on stderr.
    #[arg(long, global = true, help_heading = EVERYWHERE)]
    pub(crate) json: bool,
    #[command(subcommand)]
    verb: Verb,
}

/// Parses the words of a command line.
///
/// The options of a verb are made when it is named, because all of them together take as long to make as a verb takes to list
/// thousands of tasks. A help or an error is made from all of them: it may show verbs beside the one that was named.
fn parse(words: Vec<OsString>) -> Result<ArgMatches, clap::Error> {
    let parsed = Arguments::command().try_get_matches_from(&words);
    parsed.or_else(|_| Arguments::whole_command().try_get_matches_from(words))
}

/// The verbs; where a verb has a type of its own, its help is that type's.
#[derive(Subcommand)]
#[command(defer = true)]
enum Verb {
    Demo(verb::demo::Demo),
    Init(verb::init::Init),
    Trust(verb::trust::Trust),
    Up(verb::up::Up),
    Url(verb::url::Url),
    Token(verb::token::Token),
    Run(Box<verb::run::Run>),
    /// Add tasks and move them across the board.
    #[command(subcommand)]
    Task(verb::task::Task),
    /// Add, edit and show epics (groups of tasks).
    #[command(subcommand)]
    Epic(verb::epic::Epic),
    /// Add, edit and show PRDs (requirements documents).
    #[command(subcommand)]
    Prd(verb::prd::Prd),
    /// Show, check, draw and copy workflows.
    #[command(subcommand)]
    Workflow(verb::workflow::Workflow),
    Eval(verb::eval::Eval),
    /// Find, list and try agents, and answer their questions.
    #[command(subcommand)]
    Agent(verb::agent::Agent),
    Cost(verb::cost::Cost),
    Messages(verb::messages::Messages),
    Events(verb::events::Events),
    /// Check state files, and move a project's state to another clone
    #[command(subcommand)]
    State(verb::state::State),
    /// Show the task machine.
    #[command(subcommand)]
    Machine(verb::machine::Machine),
    Mcp(verb::mcp::Mcp),
    Skill(verb::skill::Skill),
    Doctor(verb::doctor::Doctor),
    Completions(verb::completions::Completions),
}

impl Arguments {
    /// Returns the command with the options of all verbs.
    pub(crate) fn whole_command() -> Command {
        let mut command = Self::command();
        command.build();
        command
    }

    /// Reads the arguments of the process, and refuses those that are not an agent's to give in its session.
    pub(crate) fn read() -> Result<(Self, Result<(), allowed::Refused>), clap::Error> {
        let matches = parse(std::env::args_os().collect())?;
        let mut arguments = Self::from_arg_matches(&matches)?;
        arguments.take_from_last_words();
        Ancestry::find(arguments.directory.as_deref().unwrap_or(Path::new(".")));
        Ok((arguments, allowed::check(&matches)))
    }

    /// Reads the words of the process again, with other options for one of the verbs, and returns what follows that verb.
    pub(crate) fn read_again(verb: &'static str, options: Command) -> Result<ArgMatches, clap::Error> {
        let command = Self::command().mut_subcommand(verb, |_| options);
        let mut matches = command.try_get_matches_from(std::env::args_os())?;
        Ok(matches.remove_subcommand().map(|(_, matches)| matches).unwrap_or_default())
    }

    /// Finds options of every verb among the words that a verb reads once it knows the workflow.
    fn take_from_last_words(&mut self) {
        let Verb::Run(run) = &self.verb else { return };
        let mut words = run.last_words().iter().take_while(|word| *word != "--");
        while let Some(word) = words.next() {
            match word.as_str() {
                "--json" => self.json = true,
                "-C" | "--directory" => self.directory = words.next().map(PathBuf::from),
                _ => {
                    let named = word.strip_prefix("--directory=").or_else(|| word.strip_prefix("-C"));
                    self.directory = named.map(PathBuf::from).or(self.directory.take());
                }
            }
        }
    }

    /// Tells whether it only lists what is in the log: then threads would cost more than they save.
    pub(crate) fn is_list(&self) -> bool {
        use verb::{epic::Epic, prd::Prd, task::Task};
        matches!(&self.verb, Verb::Task(Task::List(_)) | Verb::Epic(Epic::List(_)) | Verb::Prd(Prd::List(_)))
    }

    pub(crate) async fn run(self, screen: &Screen) -> Result<Exit, Problem> {
        let folder = self.directory.unwrap_or_else(|| PathBuf::from("."));
        let place = Place { folder, screen: *screen };
        match self.verb {
            Verb::Demo(demo) => demo.run(&place).await,
            Verb::Init(init) => init.run(&place).await,
            Verb::Trust(trust) => trust.run(&place).await,
            Verb::Up(up) => up.run(&place).await,
            Verb::Url(url) => url.run(&place).await,
            Verb::Token(token) => token.run(&place).await,
            Verb::Run(run) => run.run(&place).await,
            Verb::Workflow(workflow) => workflow.run(&place).await,
            Verb::Eval(eval) => eval.run(&place).await,
            Verb::Task(task) => task.run(&place).await,
            Verb::Epic(epic) => epic.run(&place).await,
            Verb::Prd(prd) => prd.run(&place).await,
            Verb::Agent(agent) => agent.run(&place).await,
            Verb::Cost(cost) => cost.run(&place).await,
            Verb::Messages(messages) => messages.run(&place).await,
            Verb::Mcp(mcp) => mcp.run(&place).await,
            Verb::Skill(skill) => skill.run(&place),
            Verb::Events(events) => events.run(&place).await,
            Verb::State(state) => state.run(&place).await,
            Verb::Machine(machine) => Ok(machine.run(&place)),
            Verb::Doctor(doctor) => doctor.run(&place).await,
            Verb::Completions(completions) => Ok(completions.run(&place)),
        }
    }
}

/// Where a verb works and how it prints.
pub(crate) struct Place {
    folder: PathBuf,
    pub(crate) screen: Screen,
}

impl Place {
    /// Returns the folder, which must be there.
    pub(crate) fn folder(&self) -> Result<&Path, Problem> {
        if !self.folder.is_dir() {
            let what = format!("the folder {} was not found", self.folder.display());
            return Err(Problem::new(
                Code::IoFailed,
                what,
                "there is no folder with that name",
                "check what follows `-C`",
            ));
        }
        Ok(&self.folder)
    }

    /// Returns the same for another folder.
    pub(crate) fn at(&self, folder: PathBuf) -> Self {
        Place { folder, screen: self.screen }
    }

    /// Returns the place of a path that is given from the folder.
    pub(crate) fn resolve(&self, path: &Path) -> PathBuf {
        self.folder.join(path)
    }

    /// Asks the endpoint of the session around this process; nothing outside of a session.
    pub(crate) async fn ask_endpoint(&self, tool: &str, arguments: Value) -> Result<Option<Value>, Problem> {
        let Some(folder) = allowed::find_endpoint() else { return Ok(None) };
        endpoint::call(&folder, tool, arguments).await.map(Some).map_err(|error| error.explain())
    }

    /// Opens the project that the folder belongs to.
    pub(crate) async fn open(&self) -> Result<Project, Problem> {
        allowed::check_reach()?;
        verb::trust::ask_if_untrusted(self).await?;
        Project::open(self.folder()?).await.map_err(|error| error.explain())
    }
}
