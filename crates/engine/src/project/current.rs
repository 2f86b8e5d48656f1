//! The config that is in force, and those that were before it.
//!
//! A config is never changed in place and never dropped while its project is open: what began under one may keep a
//! reference to it, so a session that runs keeps what it started with. Each is a link to the next, and the last one is in
//! force. A person edits a config a few times a day; see [`CHANGES_MAX`].

use crate::core::Problem;
use crate::error::Error;
use crate::project::Project;
use crate::project::config::change::{Waiting, apply};
use crate::project::config::{Config, ConfigError};
use crate::session::sandbox;
use serde::{Serialize, Serializer};
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};
use tokio::sync::watch;

/// So many changes of one project are applied before it has to be opened again; each costs a few kilobytes.
const CHANGES_MAX: u32 = 1_000;

/// All configs of an open project.
pub(crate) struct Configs {
    first: Link,
    seen: Mutex<Seen>,
    /// How many changes were applied.
    changes: watch::Sender<u32>,
}

struct Link {
    config: Config,
    next: OnceLock<Box<Link>>,
}

/// What is known of the file.
struct Seen {
    text: String,
    /// At the last look.
    stamp: Option<Stamp>,
    /// When it was last read.
    read: Option<Stamp>,
    state: ConfigState,
}

/// What changes when a file is written: when, how long it is, and which file it is.
type Stamp = (i64, i64, u64, u64);

/// How the config in force differs from the file.
#[derive(Debug, Clone, Default, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ConfigState {
    /// How many changes were applied since the start.
    pub changes: u32,
    /// The changes that wait for a restart.
    pub waits_for_restart: Vec<Waiting>,
    /// Why the file cannot be used as it is; the config before it stays in force.
    #[serde(serialize_with = "as_json")]
    pub error: Option<Problem>,
}

impl Configs {
    pub(crate) fn new(config: Config, text: String) -> Self {
        let seen = Seen { text, stamp: None, read: None, state: ConfigState::default() };
        let first = Link { config, next: OnceLock::new() };
        Configs { first, seen: Mutex::new(seen), changes: watch::Sender::new(0) }
    }

    /// Returns the config that is in force.
    pub(crate) fn current(&self) -> &Config {
        let mut link = &self.first;
        while let Some(next) = link.next.get() {
            link = next;
        }
        &link.config
    }

    fn put(&self, config: Config) {
        let mut new = Box::new(Link { config, next: OnceLock::new() });
        let mut link = &self.first;
        loop {
            match link.next.get() {
                Some(next) => link = next,
                None => match link.next.set(new) {
                    Ok(()) => return,
                    Err(back) => new = back,
                },
            }
        }
    }

    fn change<T>(&self, change: impl FnOnce(&mut Seen) -> T) -> T {
        change(&mut self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Project {
    /// Applies what has changed in the config, as far as it may apply at once; returns the new state if there is one.
    ///
    /// Call it again and again: a file counts once two looks agree, because an editor may be in the middle of writing.
    pub async fn reload_config(&self) -> Option<ConfigState> {
        let (path, configs) = (self.config_path(), self.configs());
        let stamp = stamp_of(&path);
        let is_new = |seen: &mut Seen| {
            let is_still = seen.stamp.replace(stamp) == Some(stamp);
            is_still && seen.read.replace(stamp) != Some(stamp)
        };
        if configs.change(is_new) { self.read_config().await } else { None }
    }

    /// Applies what is in the config now, for whoever has just written it; returns the new state if there is one.
    pub(crate) async fn read_config(&self) -> Option<ConfigState> {
        let (path, configs) = (self.config_path(), self.configs());
        let text = std::fs::read_to_string(&path);
        if configs.change(|seen| text.as_ref().is_ok_and(|text| *text == seen.text)) {
            return None;
        }
        let parsed = match &text {
            Ok(text) => Config::parse(text, &path),
            Err(error) => Err(ConfigError::Unreadable {
                path: path.clone(),
                source: std::io::Error::new(error.kind(), error.to_string()),
            }),
        };
        let is_sandboxed = sandbox::is_inside(self).await;
        Some(configs.change(|seen| {
            if let Ok(text) = text {
                seen.text = text;
            }
            seen.state = match parsed {
                Ok(new) => self.put_config(new, is_sandboxed, seen.state.changes),
                Err(error) => {
                    let error = Some(Error::Config(error).explain());
                    ConfigState { error, ..seen.state.clone() }
                }
            };
            seen.state.clone()
        }))
    }

    fn put_config(&self, new: Config, is_sandboxed: bool, changes: u32) -> ConfigState {
        if changes == CHANGES_MAX {
            let waiting =
                Waiting { key: "config".to_owned(), why: "it was changed too often since the start" };
            return ConfigState { changes, waits_for_restart: vec![waiting], error: None };
        }
        let applied = apply(self.config(), new, is_sandboxed);
        self.configs().put(applied.config);
        self.configs().changes.send_replace(changes + 1);
        ConfigState { changes: changes + 1, waits_for_restart: applied.waiting, error: None }
    }

    /// Returns how the config in force differs from the file, as of the last look.
    pub fn config_state(&self) -> ConfigState {
        self.configs().change(|seen| seen.state.clone())
    }

    /// Returns what changes whenever another config comes into force.
    pub(crate) fn watch_config(&self) -> watch::Receiver<u32> {
        self.configs().changes.subscribe()
    }
}

fn as_json<S: Serializer>(error: &Option<Problem>, serializer: S) -> Result<S::Ok, S::Error> {
    error.as_ref().map(|error| error.to_json()["error"].clone()).serialize(serializer)
}

fn stamp_of(path: &Path) -> Stamp {
    std::fs::metadata(path)
        .map_or((0, 0, 0, 0), |found| (found.mtime(), found.mtime_nsec(), found.len(), found.ino()))
}
