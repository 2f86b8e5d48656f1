//! Runs an agent that speaks the protocol: pipes, clock, people, and the end of its tree.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use jiff::{Timestamp, Zoned};
use tokio::io::AsyncWriteExt;
use tokio::process::ChildStdin;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep, sleep_until, timeout};

use super::connection::{Connection, Event, WAITING_MESSAGES_MAX};
use super::conversation::Conversation;
use crate::agent_output::{AgentOutput, Totals};
use crate::failure::{Failure, FailureClass};
use crate::folder::Folder;
use crate::headless::{Lines, conclude};
use crate::judge::{judge, timed_out, was_silent};
use crate::limits::Limits;
use crate::outcome::{Ended, Outcome};
use crate::process::{Bounds, Cause, Launch, Running, Watched};
use crate::record::{Closing, Recorder};
use crate::start::{Start, StartError};
use crate::stop::{StopReason, StopSignal, stop_pair};

/// Longest time until the agent has taken the prompt: it starts up, and may connect to its servers of tools.
const HANDSHAKE_MAX: Duration = Duration::from_secs(180);

/// How long an agent may take to come back from a cancel; some never do.
const CANCEL_MAX: Duration = Duration::from_secs(5);

/// How long an agent's input stays open after its last answer: some save the session a moment later.
const LINGER: Duration = Duration::from_millis(500);

/// How long an agent may take to exit once its input is closed: it may be saving its session.
const EXIT_MAX: Duration = Duration::from_secs(3);

/// How long an agent must be silent after it has loaded a session: what it tells until then happened before.
const SETTLE: Duration = Duration::from_millis(500);

/// How often the clock is looked at while the agent says nothing.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// A moment that does not come while this runs, for limits too long to be added to a clock.
const FAR_AWAY: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// An agent that was started, with its open input.
#[derive(Debug)]
pub(crate) struct Agent {
    running: Running,
    stdin: ChildStdin,
    folder: Folder,
}

impl Agent {
    /// Returns the process id of the program.
    pub(crate) fn pid(&self) -> u32 {
        self.running.pid()
    }
}

/// A session as it is shared between who reads the agent and who watches the clock; it is never held across a wait.
#[derive(Debug)]
struct Shared {
    connection: Mutex<Connection>,
    changed: Notify,
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Connection> {
        // A panic under the lock ends the session by itself; what the agent said is still true.
        self.connection.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Starts the program.
pub(crate) fn spawn(start: &Start, command: &[String]) -> Result<Agent, StartError> {
    let missing = |_| StartError::FolderMissing { folder: start.folder.clone() };
    let folder = Folder::new(&start.folder).map_err(missing)?;
    let (running, stdin) = Running::start_with_open_input(&Launch {
        session: &start.session,
        sandbox: start.sandbox.as_ref(),
        grace: start.limits.grace,
        command,
        folder: &start.folder,
        environment: &start.environment,
        input: None,
    })?;
    Ok(Agent { running, stdin, folder })
}

/// Holds the conversation, and watches the program to its end.
pub(crate) async fn drive(agent: Agent, start: Start, recorder: Recorder, stop: StopSignal) -> Ended {
    let Agent { running, stdin, folder } = agent;
    let (input, messages) = mpsc::channel(WAITING_MESSAGES_MAX);
    let (events, received) = mpsc::channel(WAITING_MESSAGES_MAX);
    let waiting_bytes = Arc::new(AtomicUsize::new(0));
    let writing = tokio::spawn(write_messages(stdin, messages, waiting_bytes.clone()));
    let connection = Connection {
        output: AgentOutput::new(folder.root(), &start.limits, start.resumed_usage, Zoned::now()),
        conversation: Conversation::new(&start, folder),
        recorder,
        last_heard: Instant::now(),
        broken: None,
        input: Some(input),
        waiting_bytes,
        events,
        asker: start.asker.clone(),
        session: start.session.clone(),
        folder: start.folder.clone(),
        lines: Lines::default(),
        open_files: 0,
        asking: JoinSet::new(),
    };
    let shared = Shared { connection: Mutex::new(connection), changed: Notify::new() };
    shared.lock().begin();
    let (ending, watched) = watch(running, &shared, &start.limits, stop, received).await;
    writing.abort();
    let connection = shared.connection.into_inner().unwrap_or_else(PoisonError::into_inner);
    close(connection, ending, &watched, &start.limits).await
}

/// Why a session ends.
#[derive(Debug)]
enum Ending {
    /// The program exited by itself, in the middle of the conversation.
    Exited,
    /// The conversation is over.
    Over,
    /// Somebody stopped it.
    Stopped(StopReason),
    /// A limit was passed, or the agent broke the rules.
    Failed(Failure),
}

async fn watch(
    running: Running,
    shared: &Shared,
    limits: &Limits,
    mut stop: StopSignal,
    mut received: mpsc::Receiver<Event>,
) -> (Ending, Watched) {
    let bounds = Bounds { wall: Duration::MAX, silence: Duration::MAX };
    let (stopper, mut signal) = stop_pair();
    let watching = running.watch(bounds, &mut signal, |stream, bytes| {
        shared.lock().take(stream, bytes);
        shared.changed.notify_one();
    });
    tokio::pin!(watching);
    let ending = tokio::select! {
        watched = &mut watching => return (exited(shared), watched),
        ending = wait_for_end(shared, limits, &mut stop, &mut received) => ending,
    };
    let patience = if matches!(ending, Ending::Over) {
        tokio::select! {
            watched = &mut watching => return (ending, watched),
            () = sleep(LINGER) => shared.lock().input = None,
        }
        EXIT_MAX
    } else {
        shared.lock().cancel();
        CANCEL_MAX.min(limits.grace)
    };
    tokio::select! {
        watched = &mut watching => return (ending, watched),
        () = wait_until_over(shared, patience, matches!(ending, Ending::Over)) => {}
    }
    stopper.stop(StopReason::Shutdown);
    (ending, watching.await)
}

/// A program may say its last word and exit at once.
fn exited(shared: &Shared) -> Ending {
    if shared.lock().conversation.is_over() { Ending::Over } else { Ending::Exited }
}

/// Waits until the conversation is over, or must be ended; people's answers are passed on meanwhile.
async fn wait_for_end(
    shared: &Shared,
    limits: &Limits,
    stop: &mut StopSignal,
    received: &mut mpsc::Receiver<Event>,
) -> Ending {
    let started = Instant::now();
    let wall = started.checked_add(limits.wall).unwrap_or(started + FAR_AWAY);
    loop {
        tokio::select! {
            biased;
            reason = stop.stopped() => return Ending::Stopped(reason),
            () = sleep_until(wall) => return Ending::Failed(timed_out(limits)),
            Some(event) = received.recv() => shared.lock().receive(event),
            () = shared.changed.notified() => {}
            () = sleep(LOOK_EVERY) => {}
        }
        if let Some(ending) = look(&mut shared.lock(), limits, started) {
            return ending;
        }
    }
}

fn look(connection: &mut Connection, limits: &Limits, started: Instant) -> Option<Ending> {
    if connection.conversation.is_over() {
        return Some(Ending::Over);
    }
    if connection.conversation.is_settling() && connection.last_heard.elapsed() >= SETTLE {
        connection.settle();
    }
    if let Some(failure) = connection.broken.take().or_else(|| connection.output.find_passed_limit()) {
        return Some(Ending::Failed(failure));
    }
    if connection.conversation.is_asking() {
        // A person takes the time that a person takes.
        connection.last_heard = Instant::now();
    }
    if connection.last_heard.elapsed() >= limits.silence {
        return Some(Ending::Failed(was_silent(limits)));
    }
    let is_late = !connection.conversation.is_prompted() && started.elapsed() >= HANDSHAKE_MAX;
    is_late.then(|| {
        let said = format!("the agent did not take the prompt within {HANDSHAKE_MAX:?}");
        Ending::Failed(Failure::new(FailureClass::Timeout, said))
    })
}

/// Waits as long as the agent may take: for its exit, or for its answer to a cancel.
async fn wait_until_over(shared: &Shared, patience: Duration, is_exit_awaited: bool) {
    let over = async {
        while is_exit_awaited || !shared.lock().conversation.is_over() {
            shared.changed.notified().await;
        }
    };
    let _ = timeout(patience, over).await;
}

async fn close(connection: Connection, ending: Ending, watched: &Watched, limits: &Limits) -> Ended {
    let Connection { output, mut recorder, .. } = connection;
    let tail = recorder.last_errors();
    let outcome = match (&watched.still_alive, ending) {
        (Some(_), _) => judge(watched, limits),
        (None, Ending::Stopped(reason)) => Outcome::Stopped(reason),
        (None, Ending::Failed(failure)) => Outcome::Failed(failure),
        (None, Ending::Over) => conclude(Outcome::Finished, None, &output, &tail, Timestamp::now()),
        (None, Ending::Exited) => {
            let exited = Watched { cause: Cause::Exited, status: watched.status, still_alive: None };
            conclude(judge(&exited, limits), None, &output, &tail, Timestamp::now())
        }
    };
    let Totals { mut message, session, is_session_gone, turns, usage } = output.into_totals();
    let text = String::from_utf8_lossy(message.read().0).into_owned();
    let result = recorder.find_result_in(message).await;
    let closing =
        Closing { outcome, turns, usage, agent_session: session, is_session_gone, message: Some(text) };
    recorder.finish(closing, result).await
}

/// Writes messages until there are no more, or the agent reads no more; then its input is closed.
async fn write_messages(
    mut stdin: ChildStdin,
    mut messages: mpsc::Receiver<String>,
    waiting_bytes: Arc<AtomicUsize>,
) {
    while let Some(message) = messages.recv().await {
        if stdin.write_all(message.as_bytes()).await.is_err() {
            return;
        }
        waiting_bytes.fetch_sub(message.len(), Ordering::Relaxed);
    }
}
