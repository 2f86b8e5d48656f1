//! Runs a headless agent: makes its files, starts it, reads it, holds its limits, and judges it at its end.

use jiff::{Timestamp, Zoned};

use super::conclude::conclude;
use super::plan::{Plan, save_files};
use super::reader::Reader;
use crate::agent_output::{AgentOutput, Totals};
use crate::failure::Failure;
use crate::home::add_settings;
use crate::judge::judge;
use crate::kind::HeadlessKind;
use crate::limits::Limits;
use crate::outcome::Ended;
use crate::process::{Bounds, Launch, Running, Stream};
use crate::record::{Closing, Recorder};
use crate::start::{Start, StartError};
use crate::stop::{StopReason, StopSignal, Stopper};

/// Starts the program.
pub(crate) fn spawn(
    start: &Start,
    kind: HeadlessKind,
    command: &[String],
) -> Result<(Running, Reader), StartError> {
    if command.is_empty() {
        return Err(StartError::EmptyCommand);
    }
    let mut adapter = kind.adapter();
    let Plan { command, environment, files, home_settings, input } = adapter.plan(start, command);
    save_files(&start.private, &files)?;
    let mut environment = add_missing(&start.environment, environment);
    if let Some(home) = &start.home {
        if let Some((path, fields)) = home_settings {
            let failed = |source| StartError::PrivateFile { path: home.join(path), source };
            add_settings(home, path, &fields).map_err(failed)?;
        }
        // The sandbox says the same of where the home is seen inside.
        if start.sandbox.is_none() {
            environment.extend(kind.home().environment(home));
        }
    }
    let running = Running::start(&Launch {
        session: &start.session,
        sandbox: start.sandbox.as_ref(),
        grace: start.limits.grace,
        command: &command,
        folder: &start.folder,
        environment: &environment,
        input: Some(&input),
    })?;
    let output = AgentOutput::new(&start.folder, &start.limits, start.resumed_usage, Zoned::now());
    Ok((running, Reader::new(adapter, output)))
}

/// Watches the program to its end.
pub(crate) async fn drive(
    running: Running,
    mut reader: Reader,
    limits: Limits,
    mut recorder: Recorder,
    stopper: Stopper,
    mut stop: StopSignal,
) -> Ended {
    let bounds = Bounds { wall: limits.wall, silence: limits.silence };
    let mut passed_limit: Option<Failure> = None;
    let take = |stream, bytes: &[u8]| {
        match stream {
            Stream::Out => recorder.keep(bytes),
            Stream::Error => recorder.print(stream, bytes),
        }
        for piece in reader.push(stream, bytes, Timestamp::now()) {
            recorder.pass(piece);
        }
        if passed_limit.is_none()
            && let Some(failure) = reader.output().find_passed_limit()
            && stopper.try_stop(StopReason::Cancelled)
        {
            passed_limit = Some(failure);
        }
    };
    let watched = running.watch(bounds, &mut stop, take).await;
    for piece in reader.finish() {
        recorder.pass(piece);
    }
    let output = reader.into_output();
    let tail = recorder.last_errors();
    let outcome = conclude(judge(&watched, &limits), passed_limit, &output, &tail, Timestamp::now());
    let Totals { mut message, session, is_session_gone, turns, usage } = output.into_totals();
    let text = String::from_utf8_lossy(message.read().0).into_owned();
    let result = recorder.find_result_in(message).await;
    let closing =
        Closing { outcome, turns, usage, agent_session: session, is_session_gone, message: Some(text) };
    recorder.finish(closing, result).await
}

/// Adds the variables that the session's own environment does not name: the user's settings come first.
fn add_missing(given: &[(String, String)], more: Vec<(String, String)>) -> Vec<(String, String)> {
    let is_missing = |(name, _): &(String, String)| given.iter().all(|(known, _)| known != name);
    given.iter().cloned().chain(more.into_iter().filter(is_missing)).collect()
}
