//! Runs one program to its end: feeds it, reads it, holds its limits, and ends its whole tree.
//!
//! What it prints is read in pieces of fixed size and handed on at once, so memory does not depend on it. It
//! knows nothing of prompts, results or transcripts.

use std::ffi::OsString;
use std::io;
use std::path::Path;
use std::process::{ExitStatus, Stdio};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio::task::JoinHandle;
use tokio::time::{Instant, sleep, timeout};

use super::end::{StillAlive, end_tree};
use super::tree::Tree;
use super::{Around, environment, program};
use crate::sandbox::{self, Sandbox};
use crate::session_id::SessionId;
use crate::start::StartError;
use crate::stop::{StopReason, StopSignal};

/// Size of one read: the capacity of a pipe on Linux.
const READ_BYTES: usize = 64 * 1024;

/// How long to read on when the tree is dead but a pipe is open: somebody outside of it holds the other end.
const DRAIN_MAX: Duration = Duration::from_secs(2);

/// How long the exit status of a killed program may take.
const REAP_MAX: Duration = Duration::from_secs(2);

/// The longest grace when the engine shuts down: whoever stops it waits, and the next start continues the session.
const GRACE_AT_SHUTDOWN: Duration = Duration::from_secs(2);

/// What to start.
pub(crate) struct Launch<'a> {
    pub(crate) session: &'a SessionId,
    pub(crate) command: &'a [String],
    pub(crate) folder: &'a Path,
    pub(crate) environment: &'a [(String, String)],
    /// Text for its standard input; without it, the input is empty.
    pub(crate) input: Option<&'a str>,
    /// What it sees of the machine; without it, all.
    pub(crate) sandbox: Option<&'a Sandbox>,
    /// The time between SIGTERM and SIGKILL for what must end.
    pub(crate) grace: Duration,
}

/// How long it may run.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Bounds {
    pub(crate) wall: Duration,
    pub(crate) silence: Duration,
}

/// Where a piece of output came from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stream {
    Out,
    Error,
}

/// Why watching ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cause {
    Exited,
    Stopped(StopReason),
    Timeout,
    Silence,
}

/// How a program ended.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) cause: Cause,
    /// Missing only if the program could not be killed.
    pub(crate) status: Option<ExitStatus>,
    pub(crate) still_alive: Option<StillAlive>,
}

/// A program that was started. Dropping it before it was watched to the end kills its tree.
#[derive(Debug)]
pub(crate) struct Running {
    child: Child,
    pipes: Pipes,
    tree: Tree,
    pid: u32,
    grace: Duration,
    feeding: Option<JoinHandle<()>>,
    has_ended: bool,
}

impl Running {
    /// Starts a program in its own process group, and gives it its input.
    pub(crate) fn start(launch: &Launch<'_>) -> Result<Running, StartError> {
        let mut running = Running::spawn(launch, launch.input.is_some())?;
        let stdin = running.child.stdin.take();
        running.feeding = stdin.zip(launch.input).map(|(stdin, input)| feed(stdin, input.to_owned()));
        Ok(running)
    }

    /// Starts a program in its own process group, with an input that the caller writes to.
    pub(crate) fn start_with_open_input(launch: &Launch<'_>) -> Result<(Running, ChildStdin), StartError> {
        let mut running = Running::spawn(launch, true)?;
        let program = || launch.command.first().cloned().unwrap_or_default();
        let no_pipe = || StartError::Spawn { program: program(), source: io::ErrorKind::BrokenPipe.into() };
        let stdin = running.child.stdin.take().ok_or_else(no_pipe)?;
        Ok((running, stdin))
    }

    fn spawn(launch: &Launch<'_>, has_input: bool) -> Result<Running, StartError> {
        let Some(program) = launch.command.first() else {
            return Err(StartError::EmptyCommand);
        };
        if !launch.folder.is_dir() {
            return Err(StartError::FolderMissing { folder: launch.folder.to_owned() });
        }
        let environment = environment::build(launch.session, launch.environment, launch.sandbox)?;
        let (words, around) = words(launch, &environment)?;
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .current_dir(launch.folder)
            .env_clear()
            .envs(environment)
            .stdin(if has_input { Stdio::piped() } else { Stdio::null() })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            // A supervisor reaps what is killed, and then ends by itself.
            .kill_on_drop(around != Around::Supervisor);
        // bubblewrap dies with its parent (`--die-with-parent`), and to the kernel that is this thread, not this process. So
        // nobody may start a program from a thread that ends before it: not in `spawn_blocking`, whose threads leave after a
        // while without work, and not in a task that calls `block_in_place`. A runtime's workers live as long as it does.
        let mut child = command.spawn().map_err(|source| spawn_error(program, source))?;
        // Only a child that was already waited for has no id.
        let pid = child.id().unwrap_or_default();
        let tree = Tree::of_child(launch.session, pid, around);
        let pipes = Pipes::new(child.stdout.take(), child.stderr.take());
        let grace = launch.grace;
        Ok(Running { child, pipes, tree, pid, grace, feeding: None, has_ended: false })
    }

    /// Returns the process id of the program.
    pub(crate) fn pid(&self) -> u32 {
        self.pid
    }

    /// Hands on the output until the program exits or must end, then ends its tree and reads what is left.
    pub(crate) async fn watch(
        mut self,
        bounds: Bounds,
        stop: &mut StopSignal,
        mut sink: impl FnMut(Stream, &[u8]),
    ) -> Watched {
        let mut status = None;
        let cause = self.watch_until_cause(bounds, stop, &mut status, &mut sink).await;
        let grace = match cause {
            Cause::Stopped(StopReason::Shutdown) => self.grace.min(GRACE_AT_SHUTDOWN),
            _ => self.grace,
        };
        let ending = end_tree(self.tree.clone(), grace);
        let still_alive = self.read_while(ending, &mut status, &mut sink).await.err();
        if status.is_none() {
            status = timeout(REAP_MAX, self.child.wait()).await.ok().and_then(Result::ok);
        }
        let _ = timeout(DRAIN_MAX, self.pipes.drain(&mut sink)).await;
        self.has_ended = still_alive.is_none();
        Watched { cause, status, still_alive }
    }

    async fn watch_until_cause(
        &mut self,
        bounds: Bounds,
        stop: &mut StopSignal,
        status: &mut Option<ExitStatus>,
        sink: &mut impl FnMut(Stream, &[u8]),
    ) -> Cause {
        let wall = sleep(bounds.wall);
        let silence = sleep(bounds.silence);
        tokio::pin!(wall, silence);
        let mut last_output = Instant::now();
        loop {
            tokio::select! {
                exited = self.child.wait() => {
                    *status = exited.ok();
                    return Cause::Exited;
                }
                reason = stop.stopped() => return Cause::Stopped(reason),
                () = &mut wall => return Cause::Timeout,
                () = &mut silence => {
                    // The timer is set again here rather than at each piece, which may come in millions.
                    let quiet = last_output.elapsed();
                    if quiet >= bounds.silence {
                        return Cause::Silence;
                    }
                    silence.as_mut().reset(Instant::now() + (bounds.silence - quiet));
                }
                Some((stream, length)) = self.pipes.read(), if !self.pipes.is_closed() => {
                    last_output = Instant::now();
                    sink(stream, self.pipes.piece(stream, length));
                }
            }
        }
    }

    /// Keeps reading, and reaps the program, while something else is done: a full pipe must not hold it up.
    async fn read_while<T>(
        &mut self,
        other: impl Future<Output = T>,
        status: &mut Option<ExitStatus>,
        sink: &mut impl FnMut(Stream, &[u8]),
    ) -> T {
        tokio::pin!(other);
        loop {
            tokio::select! {
                done = &mut other => return done,
                exited = self.child.wait(), if status.is_none() => *status = exited.ok(),
                Some((stream, length)) = self.pipes.read(), if !self.pipes.is_closed() => {
                    sink(stream, self.pipes.piece(stream, length));
                }
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        if let Some(feeding) = &self.feeding {
            feeding.abort();
        }
        if !self.has_ended {
            let alive = self.tree.find_alive();
            self.tree.kill(&alive);
        }
    }
}

#[derive(Debug)]
struct Pipes {
    out: Option<ChildStdout>,
    error: Option<ChildStderr>,
    out_buffer: Box<[u8]>,
    error_buffer: Box<[u8]>,
}

impl Pipes {
    fn new(out: Option<ChildStdout>, error: Option<ChildStderr>) -> Pipes {
        let buffer = || vec![0; READ_BYTES].into_boxed_slice();
        Pipes { out, error, out_buffer: buffer(), error_buffer: buffer() }
    }

    fn is_closed(&self) -> bool {
        self.out.is_none() && self.error.is_none()
    }

    fn piece(&self, stream: Stream, length: usize) -> &[u8] {
        match stream {
            Stream::Out => &self.out_buffer[..length],
            Stream::Error => &self.error_buffer[..length],
        }
    }

    /// Reads one piece of either pipe; nothing once both are closed.
    async fn read(&mut self) -> Option<(Stream, usize)> {
        while !self.is_closed() {
            tokio::select! {
                length = read_some(&mut self.out, &mut self.out_buffer) => match length {
                    Ok(length) if length > 0 => return Some((Stream::Out, length)),
                    _ => self.out = None,
                },
                length = read_some(&mut self.error, &mut self.error_buffer) => match length {
                    Ok(length) if length > 0 => return Some((Stream::Error, length)),
                    _ => self.error = None,
                },
            }
        }
        None
    }

    async fn drain(&mut self, sink: &mut impl FnMut(Stream, &[u8])) {
        while let Some((stream, length)) = self.read().await {
            sink(stream, self.piece(stream, length));
        }
    }
}

async fn read_some(pipe: &mut Option<impl AsyncRead + Unpin>, buffer: &mut [u8]) -> io::Result<usize> {
    match pipe {
        Some(pipe) => pipe.read(buffer).await,
        None => std::future::pending().await,
    }
}

/// Writes the input beside the reading. A program need not read it: then the write fails, and that is fine.
fn feed(mut stdin: ChildStdin, input: String) -> JoinHandle<()> {
    tokio::spawn(async move {
        let _ = stdin.write_all(input.as_bytes()).await;
    })
}

/// Returns what is started, and what that is if not the command itself.
fn words(
    launch: &Launch<'_>,
    environment: &[(OsString, OsString)],
) -> Result<(Vec<OsString>, Around), StartError> {
    let plain: Vec<OsString> = launch.command.iter().map(OsString::from).collect();
    let mut found = plain.clone();
    found[0] = program::find(&launch.command[0], launch.folder, environment)?.into_os_string();
    let Some(sandbox) = launch.sandbox else {
        let supervised = supervisor_around(found, launch.grace);
        return Ok(supervised.map_or((plain, Around::Nothing), |words| (words, Around::Supervisor)));
    };
    if let Some(needs) = sandbox::find_hidden(sandbox, &found) {
        return Err(StartError::ProgramHidden { program: launch.command[0].clone(), needs });
    }
    let mut words = vec![OsString::from(sandbox::PROGRAM)];
    words.extend(sandbox::arguments(sandbox, launch.folder, &found));
    Ok((words, Around::Sandbox))
}

#[cfg(target_os = "linux")]
fn supervisor_around(command: Vec<OsString>, grace: Duration) -> Option<Vec<OsString>> {
    super::supervise::wrap(command, grace)
}

/// Nothing can be around it: only Linux hands orphans to a process of one's choice.
#[cfg(not(target_os = "linux"))]
fn supervisor_around(_command: Vec<OsString>, _grace: Duration) -> Option<Vec<OsString>> {
    None
}

fn spawn_error(program: &str, source: io::Error) -> StartError {
    let program = program.to_owned();
    match source.kind() {
        io::ErrorKind::NotFound => StartError::ProgramNotFound { program },
        io::ErrorKind::PermissionDenied => StartError::ProgramNotExecutable { program },
        _ => StartError::Spawn { program, source },
    }
}
