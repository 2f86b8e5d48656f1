//! A project on disk: its root, its config, its repository and its log. `location` says where these are.

use crate::core::{Code, Problem, RunId, TaskId};
use crate::digest::sha256;
use crate::error::Error;
use crate::log::list;
use crate::meters::Meters;
use crate::project::config::Config;
use crate::project::current::Configs;
use crate::project::installed::known_agents;
use crate::project::location::Location;
use crate::project::old_place;
use crate::project::trust;
use crate::run_files::RunFiles;
use crate::runs::definitions::Definitions;
use crate::runs::facts::Families;
use crate::task_files::restore;
use regatta_git::Repository;
use regatta_store::{OpenMode, SqliteStore, Store};
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

/// What `regatta init` writes; every key is explained where it stands.
const CONFIG_TEMPLATE: &str = include_str!("../../templates/config.toml");
/// Git sees only what is meant for it.
pub(crate) const IGNORED: &str = "*\n!.gitignore\n!config.toml\n!workflows/\n!workflows/**\n";

/// An open project.
pub struct Project {
    location: Location,
    configs: Configs,
    repository: Repository,
    store: Arc<dyn Store>,
    mark: String,
    definitions: Definitions,
    /// Where this process serves it, once it does.
    served_at: OnceLock<String>,
    meters: Meters,
    /// What is known of runs, kept from step to step.
    families: Families,
    /// What was evaluated of the files of runs.
    run_files: RunFiles,
}

impl Project {
    /// Makes a project in the repository that holds `dir`, with a config to fill in.
    pub async fn init(dir: &Path) -> Result<Self, Error> {
        let repository = Repository::open(dir).await?;
        let location = Location::find_new(dir)?;
        let branch = repository.current_branch().await?;
        let branch = branch.map_or_else(|| "main".to_owned(), |branch| branch.to_string());
        let folder = location.folder();
        if location.config().exists() {
            return Err(exists(&location.config()));
        }
        std::fs::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
        write_new(&folder.join(".gitignore"), IGNORED)?;
        let agents: Vec<String> = known_agents().iter().map(|name| format!("`{name}`")).collect();
        let text = CONFIG_TEMPLATE.replace("{agents}", &agents.join(", "));
        let text = text.replace("{default_branch}", &branch);
        location.note_root()?;
        trust::note(&location)?;
        write_new(&location.config(), &text)?;
        let config = Config::read(&location.config())?;
        let project = Self::open_at(location, config).await?;
        list::ensure(&project).await?;
        Ok(project)
    }

    /// Opens the project that holds `dir`, looking upward; refused until a person here has agreed to its
    /// programs.
    pub async fn open(dir: &Path) -> Result<Self, Error> {
        let location = Location::find(dir)?;
        let config = Config::read(&location.config())?;
        trust::check(&location, &config.0).await?;
        Self::open_at(location, config).await
    }

    /// Opens a project whose config the caller wrote or brought.
    pub async fn open_own(dir: &Path) -> Result<Self, Error> {
        let location = Location::find(dir)?;
        let config = Config::read(&location.config())?;
        Self::open_at(location, config).await
    }

    async fn open_at(location: Location, (config, text): (Config, String)) -> Result<Self, Error> {
        // Opening a project does not start git: a caller that only reads the log does not need it.
        let repository = Repository::find(&location.root)?;
        let repository = repository.allowing_later(&config.filters, &config.merge_drivers);
        old_place::take_over(&location)?;
        // Nobody may replace the log while it is opened.
        let turn = old_place::keep_in_place(&location)?;
        let store = SqliteStore::open(location.log(), OpenMode::Create)?;
        drop(turn);
        let mark = mark_of(&location.root);
        let store = Arc::new(store);
        let (configs, definitions) = (Configs::new(config, text), Definitions::default());
        let project = Project {
            location,
            configs,
            repository,
            store,
            mark,
            definitions,
            served_at: OnceLock::new(),
            meters: Meters::default(),
            families: Families::default(),
            run_files: RunFiles::default(),
        };
        restore::write_all_if_gone(&project).await?;
        Ok(project)
    }

    /// Returns the folder that holds `.regatta`.
    pub fn root(&self) -> &Path {
        &self.location.root
    }

    /// Returns the config that is in force; see [`Project::reload_config`].
    pub fn config(&self) -> &Config {
        self.configs.current()
    }

    pub(crate) fn configs(&self) -> &Configs {
        &self.configs
    }

    /// Returns the git repository.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Returns where the project is, with its log and what else is kept in the git folder.
    pub(crate) fn location(&self) -> &Location {
        &self.location
    }

    /// Returns where the config is.
    pub fn config_path(&self) -> PathBuf {
        self.location.config()
    }

    /// Returns where the log is.
    pub fn log_path(&self) -> PathBuf {
        self.location.log()
    }

    /// Notes where this process serves the project, such as `http://127.0.0.1:4780`.
    pub fn note_served_at(&self, address: String) {
        let _ = self.served_at.set(address);
    }

    /// Returns where this process serves the project, if it does.
    pub(crate) fn served_at(&self) -> Option<&str> {
        self.served_at.get().map(String::as_str)
    }

    /// Returns what this process has measured of it.
    pub fn meters(&self) -> &Meters {
        &self.meters
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Returns what is known of runs.
    pub(crate) fn families(&self) -> &Families {
        &self.families
    }

    /// Returns what was evaluated of the files of runs.
    pub(crate) fn run_files(&self) -> &RunFiles {
        &self.run_files
    }

    /// Returns the workflows that were compiled.
    pub(crate) fn definitions(&self) -> &Definitions {
        &self.definitions
    }

    /// Returns the absolute form of a path that is stored relative to the root.
    pub(crate) fn place(&self, path: impl AsRef<Path>) -> PathBuf {
        self.location.root.join(path)
    }

    /// Returns the text that marks everything this project starts, so that other projects are left alone.
    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    /// Returns the prefix of the marks of a session, whichever engine runs it; no other session shares it.
    pub(crate) fn session_mark(&self, task: TaskId, session: u32) -> String {
        format!("{}-task-{task}-{session}.", self.mark)
    }

    /// Returns the prefix of the marks of the set-up of a task's worktree.
    pub(crate) fn setup_mark(&self, task: TaskId) -> String {
        format!("{}-setup-{task}.", self.mark)
    }

    /// Returns the prefix of the marks of a run's step without a task; see [`Run::step_name`](crate::core::run::Run::step_name).
    pub(crate) fn run_mark(&self, run: RunId, step: &str) -> String {
        format!("{}-run-{run}-{step}.", self.mark)
    }

    /// Returns the prefix of the marks of a task's checks.
    pub(crate) fn check_mark(&self, task: TaskId) -> String {
        format!("{}-check-{task}.", self.mark)
    }

    /// Returns where the transcript of a session is kept.
    pub fn transcript(&self, task: TaskId, session: u32) -> PathBuf {
        self.location.sessions().join(format!("task-{task}-session-{session}.jsonl"))
    }

    /// Returns where the transcript of a run's step without a task is kept.
    pub(crate) fn transcript_of_step(&self, run: RunId, step: &str) -> PathBuf {
        self.location.sessions().join(format!("run-{run}-step-{step}.jsonl"))
    }
}

/// Returns the folder of the project that holds `dir`, if there is one.
pub fn find_root(dir: &Path) -> Option<PathBuf> {
    Location::find(dir).ok().map(|location| location.root)
}

fn mark_of(root: &Path) -> String {
    format!("p{}", &sha256(root.as_os_str().as_encoded_bytes())[..12])
}

/// Writes a file that must not exist yet, and syncs it to disk.
fn write_new(path: &Path, text: &str) -> Result<(), Error> {
    use std::io::Write as _;
    let mut file = match std::fs::File::create_new(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Ok(()),
        other => other.map_err(Error::io("create", path))?,
    };
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(Error::io("write", path))
}

/// Explains that the folder has a project already.
pub(crate) fn exists(path: &Path) -> Error {
    Problem::new(
        Code::ProjectExists,
        "the project was not created",
        format!("{} already exists", path.display()),
        "use the existing project; `regatta doctor` checks it",
    )
    .into()
}
