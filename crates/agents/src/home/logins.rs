//! Keeps the logins of a session and those of the user in step while the session runs.
//!
//! An agent renews its login by itself, and the refresh token that it used may not work again. So a renewed login is
//! brought back as soon as it is seen, and one that the user or another session renewed is brought in. The newer one
//! wins. A change of the user's login is made under a lock on its folder: a lock file would be one more file in the home,
//! and engines of several projects must see the same lock.

use std::fs::{File, Permissions};
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::fs::{CWD, FlockOperation, Mode, OFlags, flock, openat};
use serde_json::Value;

use super::description::{Given, Rotation};
use super::fields::{parse_json, pick_value, render_json};
use super::inside::{Inside, read_regular};
use super::rotation::{rotates, take_newer};

/// Shorter texts in a login are names and kinds.
const TOKEN_BYTES_MIN: usize = 20;

/// The logins of one session that rotate.
#[derive(Debug)]
pub(super) struct Logins {
    inside: Inside,
    logins: Vec<Login>,
}

#[derive(Debug)]
struct Login {
    given: &'static Given,
    rotation: &'static Rotation,
    /// The file of the user, without symlinks.
    outside: PathBuf,
    /// What was last given to the session.
    last: Option<Value>,
    /// Both texts when they were last compared.
    seen: (Option<String>, Option<String>),
}

impl Logins {
    pub(super) fn new(inside: Inside) -> Logins {
        Logins { inside, logins: Vec::new() }
    }

    /// Follows a file that was copied into the session's home.
    pub(super) fn follow(&mut self, given: &'static Given, outside: &Path) {
        let Some(rotation) = &given.rotation else { return };
        let Ok(outside) = outside.canonicalize() else { return };
        self.logins.push(Login { given, rotation, outside, last: None, seen: (None, None) });
    }

    /// Compares all logins once, and brings the newer ones over.
    pub(super) fn step(&mut self, now: Timestamp) {
        for login in &mut self.logins {
            // What cannot be read or written now is tried again with the next step.
            let _ = login.step(&self.inside, now);
        }
    }

    /// Returns the texts in the logins that are long enough to be tokens.
    pub(super) fn tokens(&self) -> Vec<String> {
        let mut found = Vec::new();
        for value in self.logins.iter().filter_map(|login| login.last.as_ref()) {
            collect_tokens(value, &mut found);
        }
        found
    }

    /// Removes the session's copies.
    pub(super) fn remove(&self) {
        for login in &self.logins {
            self.inside.remove(login.given.path);
        }
    }
}

impl Login {
    fn step(&mut self, inside: &Inside, now: Timestamp) -> Option<()> {
        let seen = (read(&self.outside), inside.read(self.given.path));
        if seen == self.seen {
            return Some(());
        }
        let _lock = lock(self.outside.parent()?)?;
        let text = read(&self.outside)?;
        let outside = parse_json(&text)?;
        let within = inside.read(self.given.path).and_then(|text| parse_json(&text));
        let newer = within.as_ref().and_then(|within| take_newer(self.rotation, &outside, within, now));
        if let Some(newer) = &newer {
            replace(&self.outside, &render_json(newer, &text)).ok()?;
        }
        let given = pick_value(newer.as_ref().unwrap_or(&outside), self.given.fields);
        let is_changed = self.last.is_some() && given != self.last;
        if let Some(given) = given.as_ref().filter(|_| is_changed) {
            let known = within.and_then(|within| pick_value(&within, self.given.fields));
            if known.as_ref() != Some(given) {
                inside.write(self.given.path, &render_json(given, &text)).ok()?;
            }
        }
        self.last = given;
        self.seen = (read(&self.outside), inside.read(self.given.path));
        Some(())
    }
}

fn collect_tokens(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::String(text) if text.len() >= TOKEN_BYTES_MIN => found.push(text.clone()),
        Value::Array(all) => all.iter().for_each(|value| collect_tokens(value, found)),
        Value::Object(fields) => fields.values().for_each(|value| collect_tokens(value, found)),
        _ => {}
    }
}

/// Tells whether a login of the user rotates.
pub(super) fn is_rotating(given: &Given, path: &Path) -> bool {
    let value = read(path).and_then(|text| parse_json(&text));
    given.rotation.as_ref().zip(value).is_some_and(|(rotation, value)| rotates(rotation, &value))
}

/// Reads a file of the user's.
pub(super) fn read(path: &Path) -> Option<String> {
    let file = openat(CWD, path, OFlags::NONBLOCK | OFlags::CLOEXEC, Mode::empty()).ok()?;
    read_regular(file)
}

/// Takes the lock on a folder of logins; nothing while somebody else has it.
fn lock(folder: &Path) -> Option<OwnedFd> {
    let handle = openat(CWD, folder, OFlags::DIRECTORY | OFlags::CLOEXEC, Mode::empty()).ok()?;
    flock(&handle, FlockOperation::NonBlockingLockExclusive).ok()?;
    Some(handle)
}

/// Replaces a file of the user's in one step, with the mode that it had.
fn replace(path: &Path, text: &str) -> io::Result<()> {
    let mode = path.metadata()?.mode() & 0o777;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = path.with_file_name(format!(".{name}.regatta-{}", std::process::id()));
    let _ = std::fs::remove_file(&new);
    let written = (|| {
        let mut file = File::options().write(true).create_new(true).mode(0o600).open(&new)?;
        file.write_all(text.as_bytes())?;
        file.set_permissions(Permissions::from_mode(mode))?;
        file.sync_all()?;
        std::fs::rename(&new, path)
    })();
    if written.is_err() {
        let _ = std::fs::remove_file(&new);
    }
    written
}
