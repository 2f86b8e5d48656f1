//! The one place where git is started: an argument list, never a shell, in a sealed environment.
//!
//! A repository's own configuration may have been written by an agent, so every setting that names a program
//! to run is overridden here: hooks, the file system monitor, editors, pagers, external diffs, signing,
//! transports. Filters and merge drivers can have any name and are handled in `programs`. The user's and the
//! system's configuration are not read at all. Each call has a limit on time and output, its own process
//! group, and is stopped when its future is dropped.

use std::ffi::OsStr;
use std::fs::File;
use std::ops::ControlFlow;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use rustix::process::Signal;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::Command;

use crate::error::Error;
use crate::programs::Overrides;
use crate::running::{Running, signal};
use crate::serial::Serial;
use crate::signature::Signature;
use crate::talk::Talk;

/// Far above what any call needs on a healthy disk; a call that takes longer hangs.
const TIME_MAX: Duration = Duration::from_secs(120);
/// Writing a whole checkout of a very large repository takes minutes.
pub(crate) const CHECKOUT_TIME_MAX: Duration = Duration::from_secs(600);
/// Lists of a few hundred thousand files fit; anything larger is a mistake or an attack.
const OUTPUT_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Enough of stderr to explain a failure; the end is what says why.
const STDERR_BYTES_MAX: usize = 4 * 1024;
const CHUNK_BYTES: usize = 16 * 1024;

/// What is taken over from our own environment: where programs and temporary files are.
const ENVIRONMENT_KEPT: [&str; 2] = ["PATH", "TMPDIR"];

const ENVIRONMENT_SET: [(&str, &str); 17] = [
    ("GIT_ASKPASS", "true"),
    ("GIT_ATTR_NOSYSTEM", "1"),
    ("GIT_CONFIG_GLOBAL", "/dev/null"),
    ("GIT_CONFIG_NOSYSTEM", "1"),
    ("GIT_EDITOR", "true"),
    // Grafts change who is whose parent, and so what counts as merged.
    ("GIT_GRAFT_FILE", "/dev/null"),
    ("GIT_LITERAL_PATHSPECS", "1"),
    ("GIT_MERGE_AUTOEDIT", "no"),
    ("GIT_NO_LAZY_FETCH", "1"),
    ("GIT_NO_REPLACE_OBJECTS", "1"),
    ("GIT_OPTIONAL_LOCKS", "0"),
    ("GIT_PAGER", "cat"),
    ("GIT_SEQUENCE_EDITOR", "true"),
    ("GIT_TERMINAL_PROMPT", "0"),
    ("LC_ALL", "C"),
    ("PAGER", "cat"),
    ("SSH_ASKPASS", "true"),
];

/// Settings given on the command line win over every file, also over a worktree's own.
const SETTINGS: [&str; 24] = [
    "advice.addEmbeddedRepo=false",
    "advice.detachedHead=false",
    "commit.gpgSign=false",
    "core.alternateRefsCommand=true",
    "core.attributesFile=/dev/null",
    // It repeats what the commits say, and could say otherwise.
    "core.commitGraph=false",
    "core.editor=true",
    "core.fsmonitor=false",
    "core.hooksPath=/dev/null",
    "core.pager=cat",
    "core.quotePath=true",
    "core.sshCommand=false",
    "core.symlinks=true",
    "core.untrackedCache=false",
    "credential.helper=",
    "diff.external=",
    "diff.suppressBlankEmpty=false",
    "gc.auto=0",
    "gpg.program=false",
    "i18n.commitEncoding=UTF-8",
    "init.defaultBranch=main",
    "maintenance.auto=false",
    "protocol.allow=never",
    "submodule.recurse=false",
];

/// One call of git that is being put together.
pub(crate) struct Git {
    command: Command,
    words: Vec<String>,
    time_max: Duration,
    input: Option<Vec<u8>>,
}

/// How a call ended, with what it printed.
pub(crate) struct Finished {
    /// The exit status; nothing when a signal ended it.
    pub(crate) code: Option<i32>,
    /// Everything it printed.
    pub(crate) stdout: Vec<u8>,
    /// The end of what it complained.
    pub(crate) stderr: String,
    words: Vec<String>,
}

impl Finished {
    /// Turns the end into an error, for a status that the caller did not expect.
    pub(crate) fn into_error(self) -> Error {
        Error::Failed { args: self.words, status: self.code, stderr: self.stderr }
    }

    /// Returns an error that quotes output which cannot be read.
    pub(crate) fn unexpected(&self, output: &[u8]) -> Error {
        let output = String::from_utf8_lossy(output).chars().take(200).collect();
        Error::UnexpectedOutput { args: self.words.clone(), output }
    }
}

impl Git {
    /// Starts a call that stands nowhere: git looks for no repository there.
    pub(crate) fn anywhere() -> Self {
        let mut command = Command::new("git");
        command.env_clear().current_dir("/").process_group(0);
        for key in ENVIRONMENT_KEPT {
            if let Some(value) = std::env::var_os(key) {
                command.env(key, value);
            }
        }
        command.envs(ENVIRONMENT_SET).stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        for setting in SETTINGS {
            command.args(["-c", setting]);
        }
        Self { command, words: Vec::new(), time_max: TIME_MAX, input: None }
    }

    /// Starts a call in a folder, where git looks for the repository itself.
    pub(crate) fn discovering(folder: &Path) -> Self {
        let mut git = Self::anywhere();
        git.command.arg("-C").arg(folder);
        git
    }

    /// Starts a call on a git folder that is already known, so that nothing on disk can redirect it.
    pub(crate) fn of(git_dir: &Path, work_tree: Option<&Path>) -> Self {
        let mut git = Self::discovering(work_tree.unwrap_or(git_dir)).env("GIT_DIR", git_dir);
        if let Some(work_tree) = work_tree {
            git = git.env("GIT_WORK_TREE", work_tree);
        }
        git
    }

    pub(crate) fn arg(mut self, word: impl AsRef<OsStr>) -> Self {
        self.words.push(word.as_ref().to_string_lossy().into_owned());
        self.command.arg(word);
        self
    }

    pub(crate) fn args<I: IntoIterator<Item = S>, S: AsRef<OsStr>>(self, words: I) -> Self {
        words.into_iter().fold(self, Self::arg)
    }

    pub(crate) fn env(mut self, key: &str, value: impl AsRef<OsStr>) -> Self {
        self.command.env(key, value);
        self
    }

    /// Gives the call the author and committer of the commit it makes.
    pub(crate) fn signed(self, author: &Signature, committer: &Signature) -> Self {
        self.env("GIT_AUTHOR_NAME", author.header_name())
            .env("GIT_AUTHOR_EMAIL", author.header_email())
            .env("GIT_AUTHOR_DATE", author.header_date())
            .env("GIT_COMMITTER_NAME", committer.header_name())
            .env("GIT_COMMITTER_EMAIL", committer.header_email())
            .env("GIT_COMMITTER_DATE", committer.header_date())
    }

    /// Lets the call read the user's own and the system's configuration; only to look something up there.
    pub(crate) fn with_users_settings(mut self) -> Self {
        for key in ["GIT_CONFIG_GLOBAL", "GIT_CONFIG_NOSYSTEM"] {
            self.command.env_remove(key);
        }
        for key in ["HOME", "XDG_CONFIG_HOME"] {
            if let Some(value) = std::env::var_os(key) {
                self.command.env(key, value);
            }
        }
        self
    }

    /// Gives the call settings that win over every file. They go by the environment: a name may hold an equals sign.
    pub(crate) fn overriding(mut self, overrides: &Overrides) -> Self {
        self.command.env("GIT_CONFIG_COUNT", overrides.settings.len().to_string());
        for (number, (key, value)) in overrides.settings.iter().enumerate() {
            self.command.env(format!("GIT_CONFIG_KEY_{number}"), key);
            self.command.env(format!("GIT_CONFIG_VALUE_{number}"), value);
        }
        self
    }

    /// Lets the call hold the serial lock too.
    ///
    /// The lock file, which is empty, becomes its standard input. A git that outlives our own process, because that
    /// one was killed, so keeps the lock until it has ended, and nobody repairs what it is still writing.
    pub(crate) fn holding(mut self, serial: &Serial) -> Result<Self, Error> {
        let file: File = serial.share()?;
        self.command.stdin(Stdio::from(file));
        Ok(self)
    }

    /// Feeds the call's standard input.
    pub(crate) fn input(mut self, bytes: Vec<u8>) -> Self {
        self.command.stdin(Stdio::piped());
        self.input = Some(bytes);
        self
    }

    /// Feeds the call's standard input from a file.
    pub(crate) fn input_from(mut self, path: &Path) -> Result<Self, Error> {
        self.command.stdin(Stdio::from(File::open(path).map_err(Error::io("open", path))?));
        Ok(self)
    }

    /// Writes the call's standard output to a new file, which bounds our memory and not the output.
    pub(crate) fn output_to(mut self, path: &Path) -> Result<Self, Error> {
        self.command.stdout(Stdio::from(File::create_new(path).map_err(Error::io("create", path))?));
        Ok(self)
    }

    /// Allows the call more time than most.
    pub(crate) fn time_max(mut self, limit: Duration) -> Self {
        self.time_max = limit;
        self
    }

    /// Runs the call and returns how it ended, whatever the status.
    pub(crate) async fn run(self) -> Result<Finished, Error> {
        let words = self.words.clone();
        let mut stdout = Vec::new();
        let mut is_too_large = false;
        let mut finished = self
            .stream(|chunk| {
                is_too_large = stdout.len() + chunk.len() > OUTPUT_BYTES_MAX;
                if is_too_large {
                    return ControlFlow::Break(());
                }
                stdout.extend_from_slice(chunk);
                ControlFlow::Continue(())
            })
            .await?;
        if is_too_large {
            return Err(Error::OutputTooLarge { args: words, bytes_max: OUTPUT_BYTES_MAX });
        }
        finished.stdout = stdout;
        Ok(finished)
    }

    /// Runs the call and returns its output; any status but 0 is an error.
    pub(crate) async fn success(self) -> Result<Finished, Error> {
        let finished = self.run().await?;
        if finished.code == Some(0) { Ok(finished) } else { Err(finished.into_error()) }
    }

    /// Runs the call and returns its output as text without the newline at its end.
    pub(crate) async fn text(self) -> Result<String, Error> {
        let finished = self.success().await?;
        let bytes = finished.stdout.strip_suffix(b"\n").unwrap_or(&finished.stdout);
        String::from_utf8(bytes.to_vec()).map_err(|_| finished.unexpected(bytes))
    }

    /// Runs the call and answers its yes (status 0) or no (status 1); anything else is an error.
    pub(crate) async fn answer(self) -> Result<bool, Error> {
        let finished = self.run().await?;
        match finished.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(finished.into_error()),
        }
    }

    /// Starts the call and keeps it open, to speak with it.
    pub(crate) fn talk(mut self) -> Result<Talk, Error> {
        self.command.stdin(Stdio::piped());
        let running = self.spawn()?;
        Talk::new(running, self.words, self.time_max)
    }

    fn spawn(&mut self) -> Result<Running, Error> {
        let child = self.command.spawn().map_err(|source| match source.kind() {
            std::io::ErrorKind::NotFound => Error::NotFound,
            _ => Error::io("start", Path::new("git"))(source),
        })?;
        Ok(Running::new(child))
    }

    /// Runs the call and hands over its output in pieces; a `Break` stops it, and its status then means nothing.
    pub(crate) async fn stream(
        mut self,
        mut sink: impl FnMut(&[u8]) -> ControlFlow<()>,
    ) -> Result<Finished, Error> {
        let mut running = self.spawn()?;
        let (stdin, stdout, stderr) = running.take_pipes();
        let input = self.input.take();
        let feeding = async move {
            if let (Some(mut pipe), Some(bytes)) = (stdin, input) {
                // A program that ends without reading everything says why by its status.
                let _ = pipe.write_all(&bytes).await;
            }
        };
        let group = running.group;
        let reading = async {
            let result = read(stdout, |chunk| sink(chunk)).await;
            if !matches!(result, Ok(ControlFlow::Continue(()))) {
                signal(group, Signal::TERM);
            }
            result.map(|_| ())
        };
        let mut tail = Vec::new();
        let complaints = read(stderr, |chunk| {
            tail.extend_from_slice(chunk);
            let excess = tail.len().saturating_sub(STDERR_BYTES_MAX);
            tail.drain(..excess);
            ControlFlow::Continue(())
        });
        let everything = async {
            let ((), read_out, read_err) = tokio::join!(feeding, reading, complaints);
            read_out.and(read_err.map(|_| ()))?;
            running.wait().await
        };
        let ended = tokio::time::timeout(self.time_max, everything).await;
        let status = match ended {
            Ok(result) => result.map_err(Error::io("talk to", Path::new("git")))?,
            Err(_) => return Err(Error::TimedOut { args: self.words, limit: self.time_max }),
        };
        let stderr = String::from_utf8_lossy(&tail).trim().to_owned();
        Ok(Finished { code: status.code(), stdout: Vec::new(), stderr, words: self.words })
    }
}

async fn read<R: AsyncRead + Unpin>(
    source: Option<R>,
    mut sink: impl FnMut(&[u8]) -> ControlFlow<()>,
) -> std::io::Result<ControlFlow<()>> {
    let Some(mut source) = source else { return Ok(ControlFlow::Continue(())) };
    let mut chunk = vec![0; CHUNK_BYTES];
    loop {
        match source.read(&mut chunk).await? {
            0 => return Ok(ControlFlow::Continue(())),
            count if sink(&chunk[..count]).is_break() => return Ok(ControlFlow::Break(())),
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::{Duration, Instant};

    use super::{Error, Git, OUTPUT_BYTES_MAX, STDERR_BYTES_MAX};

    /// Returns a call that runs a shell script, as a helper of git.
    fn script(text: &str) -> Git {
        Git::anywhere().args(["-c", &format!("alias.script=!{text}"), "script"])
    }

    #[tokio::test]
    async fn a_call_that_hangs_is_stopped_with_its_helpers() {
        let begun = Instant::now();
        let ended = script("sleep 600").time_max(Duration::from_millis(100)).run().await;
        assert!(matches!(ended, Err(Error::TimedOut { .. })));
        assert!(begun.elapsed() < Duration::from_secs(60));
    }

    #[tokio::test]
    async fn output_without_end_is_stopped() {
        let ended = script("yes").run().await;
        assert!(matches!(ended, Err(Error::OutputTooLarge { bytes_max: OUTPUT_BYTES_MAX, .. })));
    }

    #[tokio::test]
    async fn a_failure_keeps_the_end_of_what_git_said() {
        let ended = script("seq 10000 >&2; echo the end >&2; exit 3;:").success().await;
        let Err(Error::Failed { status, stderr, .. }) = ended else { panic!("it should fail") };
        assert_eq!(status, Some(3));
        assert!(stderr.ends_with("10000\nthe end") && stderr.len() <= STDERR_BYTES_MAX, "{stderr}");
    }

    #[tokio::test]
    async fn only_the_named_parts_of_the_environment_are_passed_on() {
        let shown = script("env").text().await.expect("an environment");
        let own = |line: &&str| !line.starts_with("GIT_") && !line.starts_with("_=");
        let names = shown.lines().filter(own).filter_map(|line| line.split_once('=')).map(|(name, _)| name);
        let allowed = ["PATH", "TMPDIR", "LC_ALL", "PAGER", "SSH_ASKPASS", "PWD", "OLDPWD", "SHLVL"];
        assert_eq!(names.filter(|name| !allowed.contains(name)).collect::<Vec<_>>(), [""; 0]);
    }
}
