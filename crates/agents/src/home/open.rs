//! Opens the home of a session: sweeps it, fills it, and keeps its logins in step until it is closed.

use std::ffi::OsString;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::{DirBuilderExt, symlink};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use jiff::Timestamp;
use rustix::fs::{FlockOperation, flock};
use tokio::task::JoinHandle;

use super::description::{Given, Home};
use super::fields::pick;
use super::inside::Inside;
use super::logins::{Logins, is_rotating, read};
use super::sweep::{remove_folder, sweep};
use crate::kind::HeadlessKind;

/// How often logins are compared while a session runs. The files are small, and a refresh takes a second itself.
const STEP: Duration = Duration::from_millis(250);

/// Sessions that use one home at the same time get homes beside it, up to this many.
const NEIGHBOURS_MAX: u32 = 64;

/// What a transcript shows in place of a token.
const TOKEN: &str = "LOGIN_TOKEN";

/// What the home of a session is made of.
#[derive(Debug, Clone)]
pub struct HomePlan<'a> {
    /// The folder for it; made if it is missing.
    pub folder: &'a Path,
    /// The user's home.
    pub user: &'a Path,
    /// Whose login and settings it gets.
    pub login: Option<HeadlessKind>,
    /// Name and e-mail for commits.
    pub git_user: Option<(String, String)>,
}

/// The home of a session, while the session runs. Dropping it closes it.
#[derive(Debug)]
pub struct OpenHome {
    folder: PathBuf,
    home: Option<&'static Home>,
    logins: Arc<Mutex<Logins>>,
    watch: Option<JoinHandle<()>>,
    /// Keeps others out of the folder.
    _lock: Inside,
}

/// What is known of the login that an agent would get.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LoginState {
    /// The files with a login that exist.
    pub found: Vec<PathBuf>,
    /// Whether one of them holds a login that is renewed every few hours.
    pub is_rotating: bool,
    /// How to get one that is not.
    pub long_lived: &'static str,
}

impl OpenHome {
    /// Sweeps the home, and puts login and settings into it.
    pub fn open(plan: &HomePlan<'_>) -> io::Result<OpenHome> {
        let (folder, lock) = claim(plan.folder)?;
        let home = plan.login.map(HeadlessKind::home);
        if sweep(&folder, home.map_or(&[], |home| home.kept)).is_err() {
            // Whatever was done to it, the next session does not need it.
            if remove_folder(&folder).is_err() {
                set_aside(&folder)?;
            }
            return Self::open(plan);
        }
        let mut logins = Logins::new(Inside::open(&folder)?);
        let inside = Inside::open(&folder)?;
        if let Some((name, email)) = &plan.git_user {
            inside.write(".gitconfig", &git_config(name, email))?;
        }
        for given in home.iter().flat_map(|home| home.files) {
            let source = find_source(home.map_or(&[], |home| home.moved_by), given, plan.user, &variable);
            let text = read(&source).and_then(|text| pick(given, &text));
            let text = text.as_deref().or(given.otherwise).unwrap_or_default();
            if !text.is_empty() || !given.added.is_empty() {
                inside.write(given.path, &format!("{text}{}", given.added))?;
            }
            logins.follow(given, &source);
        }
        logins.step(Timestamp::now());
        Ok(OpenHome { folder, home, logins: Arc::new(Mutex::new(logins)), watch: None, _lock: lock })
    }

    /// Returns the folder.
    pub fn folder(&self) -> &Path {
        &self.folder
    }

    /// Returns the tokens of its logins, with the name to show in their place.
    pub fn tokens(&self) -> Vec<(String, String)> {
        let tokens = self.logins.lock().unwrap_or_else(PoisonError::into_inner).tokens();
        tokens.into_iter().map(|token| (TOKEN.to_owned(), token)).collect()
    }

    /// Puts symlinks into the home; `from` is where the home is seen.
    pub(crate) fn link(&self, from: &Path, links: &[(PathBuf, PathBuf)]) {
        for (path, target) in links {
            let Ok(below) = path.strip_prefix(from) else { continue };
            let place = self.folder.join(below);
            if let Some(parent) = place.parent() {
                let _ = DirBuilder::new().recursive(true).mode(0o700).create(parent);
            }
            // One that cannot be made is a folder of PATH that is missing inside.
            let _ = symlink(target, place);
        }
    }

    /// Returns the variables of its agent, given where the home is seen.
    pub(crate) fn environment(&self, seen_at: &Path) -> Vec<(String, String)> {
        self.home.map(|home| home.environment(seen_at)).unwrap_or_default()
    }

    /// Keeps the logins in step from now on; called from within a runtime.
    pub fn watch(&mut self) {
        let logins = Arc::clone(&self.logins);
        self.watch = Some(tokio::spawn(async move {
            let mut ticks = tokio::time::interval(STEP);
            loop {
                ticks.tick().await;
                logins.lock().unwrap_or_else(PoisonError::into_inner).step(Timestamp::now());
            }
        }));
    }
}

impl Drop for OpenHome {
    /// Brings back what was renewed last, and leaves nothing behind but what is needed to resume.
    fn drop(&mut self) {
        if let Some(watch) = self.watch.take() {
            watch.abort();
        }
        let mut logins = self.logins.lock().unwrap_or_else(PoisonError::into_inner);
        logins.step(Timestamp::now());
        logins.remove();
        let _ = sweep(&self.folder, self.home.map_or(&[], |home| home.kept));
    }
}

/// Brings back logins that sessions renewed whose engine was killed, and removes their copies.
///
/// `homes` is the folder of all homes; those in use are passed over.
pub fn recover_logins(homes: &Path, user: &Path) {
    for entry in std::fs::read_dir(homes).into_iter().flatten().flatten() {
        let Ok(inside) = Inside::open(&entry.path()) else { continue };
        if flock(inside.handle(), FlockOperation::NonBlockingLockExclusive).is_err() {
            continue;
        }
        for home in HeadlessKind::all().map(HeadlessKind::home) {
            for given in home.files.iter().filter(|given| given.rotation.is_some()) {
                let Ok(own) = Inside::open(&entry.path()) else { continue };
                if own.read(given.path).is_some() {
                    let mut logins = Logins::new(own);
                    logins.follow(given, &find_source(home.moved_by, given, user, &variable));
                    logins.step(Timestamp::now());
                }
                inside.remove(given.path);
            }
        }
    }
}

impl HeadlessKind {
    /// Looks at the login that an agent of this kind would get from a home folder.
    pub fn look_at_login(self, user: &Path) -> LoginState {
        let home = self.home();
        let places = home.files.iter().filter(|given| given.is_login());
        let places = places.map(|given| (given, find_source(home.moved_by, given, user, &variable)));
        let found: Vec<(&Given, PathBuf)> = places.filter(|(_, place)| place.is_file()).collect();
        LoginState {
            is_rotating: found.iter().any(|(given, place)| is_rotating(given, place)),
            found: found.into_iter().map(|(_, place)| place).collect(),
            long_lived: home.long_lived,
        }
    }
}

impl Given {
    fn is_login(&self) -> bool {
        let name = self.path.rsplit('/').next().unwrap_or_default();
        self.rotation.is_some() || matches!(name, ".env" | "secrets.yaml")
    }
}

/// Makes the folder and locks it; one that is in use has neighbours.
fn claim(wanted: &Path) -> io::Result<(PathBuf, Inside)> {
    for number in 1..=NEIGHBOURS_MAX {
        let folder = match number {
            1 => wanted.to_owned(),
            number => {
                let name = wanted.file_name().unwrap_or_default().to_string_lossy();
                wanted.with_file_name(format!("{name}~{number}"))
            }
        };
        DirBuilder::new().recursive(true).mode(0o700).create(&folder)?;
        let inside = Inside::open(&folder)?;
        if flock(inside.handle(), FlockOperation::NonBlockingLockExclusive).is_ok() {
            return Ok((folder, inside));
        }
    }
    Err(io::Error::new(io::ErrorKind::ResourceBusy, "too many sessions use the same home"))
}

/// Moves a folder that cannot be removed out of the way.
fn set_aside(folder: &Path) -> io::Result<()> {
    let name = folder.file_name().unwrap_or_default().to_string_lossy();
    let free = (1..=NEIGHBOURS_MAX).map(|number| folder.with_file_name(format!("{name}.left-{number}")));
    match free.into_iter().find(|place| place.symlink_metadata().is_err()) {
        Some(place) => std::fs::rename(folder, place),
        None => Err(io::Error::new(
            io::ErrorKind::AlreadyExists,
            "too many homes are left that cannot be removed",
        )),
    }
}

fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}

/// Returns where a file is in the user's home.
fn find_source(
    moved_by: &[(&str, &str)],
    given: &Given,
    user: &Path,
    variable: &dyn Fn(&str) -> Option<OsString>,
) -> PathBuf {
    let moved = moved_by.iter().find_map(|(name, part)| {
        let below = Path::new(given.path).strip_prefix(part).ok()?;
        Some(PathBuf::from(variable(name)?)).filter(|to| to.is_absolute()).map(|to| to.join(below))
    });
    moved.unwrap_or_else(|| user.join(given.source.unwrap_or(given.path)))
}

fn git_config(name: &str, email: &str) -> String {
    let quote = |text: &str| {
        let plain: String = text.chars().filter(|character| !character.is_control()).collect();
        format!("\"{}\"", plain.replace('\\', "\\\\").replace('"', "\\\""))
    };
    format!("[user]\n\tname = {}\n\temail = {}\n", quote(name), quote(email))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::testing::headless;

    fn login(token: &str, stamp: i64) -> Value {
        json!({"claudeAiOauth": {"accessToken": token, "refreshToken": format!("r-{token}"), "expiresAt": stamp},
               "mcpOAuth": {"server": {"accessToken": "other-secret"}}})
    }

    fn soon(minutes: i64) -> i64 {
        Timestamp::now().as_millisecond() + minutes * 60_000
    }

    struct Place {
        folder: tempfile::TempDir,
    }

    impl Place {
        fn new() -> Place {
            let place = Place { folder: tempfile::tempdir().unwrap() };
            for path in ["user/.claude", "homes"] {
                std::fs::create_dir_all(place.folder.path().join(path)).unwrap();
            }
            place.write("user/.claude/.credentials.json", &login("one", soon(10)).to_string());
            place
        }

        fn write(&self, path: &str, text: &str) {
            std::fs::write(self.folder.path().join(path), text).unwrap();
        }

        fn token(&self, path: &str) -> String {
            let text = std::fs::read_to_string(self.folder.path().join(path)).unwrap_or_default();
            let value: Value = serde_json::from_str(&text).unwrap_or_default();
            value["claudeAiOauth"]["refreshToken"].as_str().unwrap_or("none").to_owned()
        }

        fn open(&self, name: &str) -> OpenHome {
            let (folder, user) =
                (self.folder.path().join("homes").join(name), self.folder.path().join("user"));
            let login = Some(headless("claude"));
            let git_user = Some(("A \"B\"".to_owned(), "a@example.com".to_owned()));
            OpenHome::open(&HomePlan { folder: &folder, user: &user, login, git_user }).unwrap()
        }
    }

    const INSIDE: &str = ".claude/.credentials.json";

    fn step(home: &OpenHome) {
        home.logins.lock().unwrap().step(Timestamp::now());
    }

    #[test]
    fn a_renewed_login_goes_to_the_user_and_to_other_sessions() {
        let place = Place::new();
        let (one, two) = (place.open("one"), place.open("two"));
        let text = std::fs::read_to_string(one.folder().join(INSIDE)).unwrap();
        assert!(text.contains("r-one") && !text.contains("other-secret"), "{text}");
        std::fs::write(one.folder().join(INSIDE), login("two", soon(20)).to_string()).unwrap();
        step(&one);
        assert_eq!(place.token("user/.claude/.credentials.json"), "r-two");
        step(&two);
        assert_eq!(place.token("homes/two/.claude/.credentials.json"), "r-two");
        let user =
            std::fs::read_to_string(place.folder.path().join("user/.claude/.credentials.json")).unwrap();
        assert!(user.contains("other-secret"), "what is not a login of the agent stays: {user}");
        // The user signs in again, with an older stamp than a session's: the session has the newer one.
        place.write("user/.claude/.credentials.json", &login("three", soon(30)).to_string());
        step(&one);
        step(&two);
        assert_eq!(place.token("homes/one/.claude/.credentials.json"), "r-three");
        drop(one);
        drop(two);
        assert!(!place.folder.path().join("homes/one").join(INSIDE).exists(), "no copy is left");
        let names: Vec<_> = std::fs::read_dir(place.folder.path().join("user/.claude")).unwrap().collect();
        assert_eq!(names.len(), 1, "{names:?}");
    }

    #[test]
    fn what_is_renewed_last_comes_back_at_the_end_and_after_a_kill() {
        let place = Place::new();
        let one = place.open("one");
        std::fs::write(one.folder().join(INSIDE), login("end", soon(20)).to_string()).unwrap();
        drop(one);
        assert_eq!(place.token("user/.claude/.credentials.json"), "r-end");
        std::fs::create_dir_all(place.folder.path().join("homes/killed/.claude")).unwrap();
        place.write("homes/killed/.claude/.credentials.json", &login("killed", soon(30)).to_string());
        let busy = place.open("busy");
        recover_logins(&place.folder.path().join("homes"), &place.folder.path().join("user"));
        assert_eq!(place.token("user/.claude/.credentials.json"), "r-killed");
        assert!(!place.folder.path().join("homes/killed").join(INSIDE).exists());
        assert!(busy.folder().join(INSIDE).exists(), "one in use is left alone");
    }

    #[test]
    fn what_a_session_plants_in_its_home_is_gone_for_the_next() {
        let place = Place::new();
        let one = place.open("one");
        let folder = one.folder().to_owned();
        std::fs::create_dir_all(folder.join(".claude/projects/p")).unwrap();
        std::fs::write(folder.join(".claude/projects/p/s.jsonl"), "kept").unwrap();
        std::fs::write(folder.join(".claude/settings.json"), "{\"hooks\": 1}").unwrap();
        std::fs::write(folder.join(".bashrc"), "evil").unwrap();
        let other = place.open("one");
        assert!(other.folder().ends_with("one~2"), "a home has one session at a time");
        drop(one);
        assert!(!folder.join(".bashrc").exists() && !folder.join(".claude/settings.json").exists());
        let again = place.open("one");
        assert_eq!(std::fs::read_to_string(folder.join(".claude/projects/p/s.jsonl")).unwrap(), "kept");
        assert_eq!(
            std::fs::read_to_string(again.folder().join(".gitconfig")).unwrap(),
            "[user]\n\tname = \"A \\\"B\\\"\"\n\temail = \"a@example.com\"\n"
        );
    }

    #[test]
    fn a_variable_says_where_the_users_login_is() {
        let given = Given { source: Some(".claude.json"), ..Given::text(".claude/.claude.json") };
        let moved_by = [("CLAUDE_CONFIG_DIR", ".claude")];
        let find = |value: Option<&'static str>| {
            find_source(&moved_by, &given, Path::new("/h"), &|_| value.map(OsString::from))
        };
        assert_eq!(find(None), Path::new("/h/.claude.json"));
        assert_eq!(find(Some("/x/work")), Path::new("/x/work/.claude.json"));
        assert_eq!(find(Some("relative")), Path::new("/h/.claude.json"));
    }
}
