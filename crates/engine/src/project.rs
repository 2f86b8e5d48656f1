//! A project on disk: its root, its config, its repository and its log.

use crate::config::Config;
use crate::core::{RunId, TaskId};
use crate::error::Error;
use crate::list;
use crate::runs::Book;
use regatta_git::Repository;
use regatta_store::{OpenMode, SqliteStore, Store};
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const FOLDER: &str = ".regatta";
const CONFIG: &str = "config.toml";
const DATABASE: &str = "regatta.db";

/// What `regatta init` writes; every key is explained where it stands.
const CONFIG_TEMPLATE: &str = include_str!("../templates/config.toml");
/// Only what is meant for git is shown to git.
pub(crate) const IGNORED: &str = "*\n!.gitignore\n!config.toml\n!workflows/\n!workflows/**\n";

/// An open project.
pub struct Project {
    root: PathBuf,
    config: Config,
    repository: Repository,
    store: Arc<dyn Store>,
    mark: String,
    book: Book,
}

impl Project {
    /// Makes a project in the repository that holds `dir`, with a config to fill in.
    pub async fn init(dir: &Path) -> Result<Self, Error> {
        let repository = Repository::open(dir).await?;
        let root = repository.root().to_owned();
        let branch = repository.current_branch().await?;
        let branch = branch.map_or_else(|| "main".to_owned(), |branch| branch.to_string());
        let folder = root.join(FOLDER);
        if folder.join(CONFIG).exists() {
            return Err(Error::ProjectExists(folder.join(CONFIG)));
        }
        std::fs::create_dir_all(&folder).map_err(Error::io("create", &folder))?;
        write_new(&folder.join(".gitignore"), IGNORED)?;
        let text = CONFIG_TEMPLATE.replace("{default_branch}", &branch);
        write_new(&folder.join(CONFIG), &text)?;
        let project = Self::open_at(root).await?;
        list::ensure(&project).await?;
        Ok(project)
    }

    /// Opens the project that holds `dir`, looking upward.
    pub async fn open(dir: &Path) -> Result<Self, Error> {
        let dir = dir.canonicalize().map_err(Error::io("find", dir))?;
        Self::open_at(find_root(&dir)?).await
    }

    async fn open_at(root: PathBuf) -> Result<Self, Error> {
        let config = Config::load(&root.join(FOLDER).join(CONFIG))?;
        let repository = Repository::open(&root).await?;
        let repository = repository.allowing(&config.filters, &config.merge_drivers).await?;
        let path = root.join(FOLDER).join(DATABASE);
        let store = SqliteStore::open(&path, OpenMode::Create)?;
        let mark = mark_of(&root);
        Ok(Project { root, config, repository, store: Arc::new(store), mark, book: Book::default() })
    }

    /// Returns the folder that holds `.regatta`.
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// Returns the config as it was when the project was opened.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Returns the git repository.
    pub fn repository(&self) -> &Repository {
        &self.repository
    }

    /// Returns the folder of all that is Regatta's.
    pub(crate) fn folder(&self) -> PathBuf {
        self.root.join(FOLDER)
    }

    /// Returns where the config is.
    pub fn config_path(&self) -> PathBuf {
        self.root.join(FOLDER).join(CONFIG)
    }

    pub(crate) fn store(&self) -> &dyn Store {
        &*self.store
    }

    /// Returns the workflows that were compiled.
    pub(crate) fn book(&self) -> &Book {
        &self.book
    }

    /// Returns the absolute place of a path that is kept from the root.
    pub(crate) fn place(&self, path: impl AsRef<Path>) -> PathBuf {
        self.root.join(path)
    }

    /// Returns the text that marks everything this project starts, so that no other project's is touched.
    pub(crate) fn mark(&self) -> &str {
        &self.mark
    }

    /// Returns how the marks of a session begin, whichever engine runs it; no other session's begin so.
    pub(crate) fn session_mark(&self, task: TaskId, session: u32) -> String {
        format!("{}-task-{task}-{session}.", self.mark)
    }

    /// Returns how the marks of the set-up of a task's worktree begin.
    pub(crate) fn setup_mark(&self, task: TaskId) -> String {
        format!("{}-setup-{task}.", self.mark)
    }

    /// Returns how the marks of a step of a run begin that is for no task.
    pub(crate) fn run_mark(&self, run: RunId, step: u64) -> String {
        format!("{}-run-{run}-{step}.", self.mark)
    }

    /// Marks the checks of a task in the same way.
    pub(crate) fn check_mark(&self, task: TaskId) -> String {
        format!("{}-check-{task}.", self.mark)
    }

    /// Returns where the transcript of a session is kept.
    pub fn transcript(&self, task: TaskId, session: u32) -> PathBuf {
        self.place(&self.config.sessions).join(format!("task-{task}-session-{session}.jsonl"))
    }
}

/// Finds the project that holds `dir`; a worktree inside a project belongs to that project, not to its own copy
/// of the config.
fn find_root(dir: &Path) -> Result<PathBuf, Error> {
    let has_config = |folder: &&Path| folder.join(FOLDER).join(CONFIG).is_file();
    let owner =
        dir.ancestors().find(|folder| folder.ends_with(FOLDER)).and_then(Path::parent).filter(has_config);
    let found = owner.or_else(|| dir.ancestors().find(has_config));
    found.map(Path::to_owned).ok_or_else(|| Error::ProjectNotFound(dir.to_owned()))
}

fn mark_of(root: &Path) -> String {
    let digest = Sha256::digest(root.as_os_str().as_encoded_bytes());
    digest.iter().take(6).fold(String::from("p"), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Writes a file that must not be there yet, and has it on disk before it returns.
fn write_new(path: &Path, text: &str) -> Result<(), Error> {
    use std::io::Write as _;
    let mut file = match std::fs::File::create_new(path) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Ok(()),
        other => other.map_err(Error::io("create", path))?,
    };
    file.write_all(text.as_bytes()).and_then(|()| file.sync_all()).map_err(Error::io("write", path))
}
