//! Plays the steps of a script, under the limits of its session.
//!
//! Each step either continues the play or ends it with an outcome. Whatever waits (a delay, a hang, a program)
//! is raced against the stop signal and the limits, so a script can be ended at any moment.

use std::ops::ControlFlow::{self, Break, Continue};
use std::process::ExitStatus;
use std::time::Duration;

use jiff::{Timestamp, Zoned};
use tokio::time::{Instant, sleep, sleep_until};

use super::commit;
use super::edit::{self, EditError};
use super::script::{Mishap, Part, Step};
use super::template::{ExpandError, Template, expand_value};
use crate::agent_output::AgentOutput;
use crate::change::Change;
use crate::failure::{Failure, FailureClass};
use crate::folder::Folder;
use crate::judge::{judge, timed_out, was_silent};
use crate::outcome::{Ended, Outcome, ResultFrom};
use crate::permission::Permissions;
use crate::process::{Bounds, Cause, Launch, Running, Stream, Watched};
use crate::question::Answer;
use crate::record::{Closing, Found, Recorder};
use crate::start::Start;
use crate::stop::StopSignal;
use crate::usage::Usage;

/// A moment that does not come while this runs, for limits too long to be added to a clock.
const FAR_AWAY: Duration = Duration::from_secs(10 * 365 * 24 * 60 * 60);

/// What a flood prints again and again.
const FLOOD_LINE: &[u8] = b"the quick brown fox jumps over the lazy dog, again and again\n";

/// How much a flood prints between two looks at the stop signal.
const FLOOD_PIECE_BYTES: u64 = 64 * 1024;

/// Plays one part of a script to its end.
pub(crate) async fn play(part: Part, start: Start, recorder: Recorder, stop: StopSignal) -> Ended {
    let now = Instant::now();
    let wall_end = after(now, start.limits.wall);
    let mut start = start;
    start.variables.insert("resumed".to_owned(), start.resume.clone().unwrap_or_default());
    let output = AgentOutput::new(&start.folder, &start.limits, None, Zoned::now());
    let mut player =
        Player { start, recorder, stop, wall_end, last_output: now, result: None, output, questions: 0 };
    let outcome = match player.play_steps(&part.steps).await {
        Break(outcome) => outcome,
        Continue(()) => Outcome::Finished,
    };
    let Player { recorder, result, output, .. } = player;
    let (turns, agent_session, usage) = (part.turns, part.agent_session, output.usage());
    recorder.finish(Closing { turns, agent_session, usage, ..Closing::new(outcome) }, result).await
}

type Flow<T = ()> = ControlFlow<Outcome, T>;

struct Player {
    start: Start,
    recorder: Recorder,
    stop: StopSignal,
    wall_end: Instant,
    last_output: Instant,
    result: Option<Found>,
    output: AgentOutput,
    questions: u64,
}

impl Player {
    async fn play_steps(&mut self, steps: &[Step]) -> Flow {
        let folder = match Folder::new(&self.start.folder) {
            Ok(folder) => folder,
            Err(error) => return crash(format!("the working folder is gone: {error}")),
        };
        for (position, step) in steps.iter().enumerate() {
            self.pause(Duration::ZERO).await?;
            self.play_step(&folder, step, &steps[position + 1..]).await?;
        }
        Continue(())
    }

    async fn play_step(&mut self, folder: &Folder, step: &Step, later: &[Step]) -> Flow {
        match step {
            Step::Say(text) => {
                let text = self.expand(text)?;
                self.print(Stream::Out, format!("{text}\n").as_bytes());
                Continue(())
            }
            Step::Write { .. } | Step::Append { .. } | Step::Replace { .. } | Step::Remove(_) => {
                self.edit(folder, step, later)
            }
            Step::Commit(message) => {
                let message = self.expand(message)?;
                self.commit(folder, &message).await
            }
            Step::Delay(delay) => self.pause(*delay).await,
            Step::Mishap(mishap) => self.go_wrong(*mishap).await,
            Step::Run(words) => {
                let mut command = Vec::new();
                for word in words {
                    command.push(self.expand(word)?);
                }
                self.run(&command).await
            }
            Step::Use(usage) => self.use_up(usage),
            Step::Ask(what) => {
                let what = self.expand(what)?;
                self.ask(what).await
            }
            Step::Exit(0) => Break(Outcome::Finished),
            Step::Exit(code) => Break(exited(*code)),
            Step::Result(value) => {
                let value = understood(expand_value(value, &self.start.variables))?;
                self.result = Some((value, ResultFrom::Message));
                Continue(())
            }
        }
    }

    fn edit(&mut self, folder: &Folder, step: &Step, later: &[Step]) -> Flow {
        let before = match step {
            Step::Write { path, .. }
            | Step::Append { path, .. }
            | Step::Replace { path, .. }
            | Step::Remove(path) => edit::peek(folder, &self.expand(path)?),
            _ => String::new(),
        };
        let (path, changed) = match step {
            Step::Write { path, text } => {
                let (path, text) = (self.expand(path)?, self.expand(text)?);
                let changed = edit::write(folder, &path, &text);
                (path, changed)
            }
            Step::Append { path: template, text } => {
                let (path, text) = (self.expand(template)?, self.expand(text)?);
                let appended_later = self.find_later_appends(template, later)?;
                let changed = edit::append(folder, &path, &text, &appended_later);
                (path, changed)
            }
            Step::Replace { path, from, to } => {
                let (path, from, to) = (self.expand(path)?, self.expand(from)?, self.expand(to)?);
                let changed = edit::replace(folder, &path, &from, &to);
                (path, changed)
            }
            Step::Remove(path) => {
                let path = self.expand(path)?;
                let changed = edit::remove(folder, &path);
                (path, changed)
            }
            _ => return Continue(()),
        };
        match changed {
            Ok(()) => {
                self.last_output = Instant::now();
                let change = Change::between(&before, &edit::peek(folder, &path));
                self.recorder.edited(&path, change);
                Continue(())
            }
            Err(error) => Break(edit_failed(&error)),
        }
    }

    /// Returns what later steps append to the same file before anything else happens to it.
    fn find_later_appends(&self, path: &Template, later: &[Step]) -> Flow<Vec<String>> {
        let mut texts = Vec::new();
        for step in later {
            match step {
                Step::Append { path: other, text } if other == path => texts.push(self.expand(text)?),
                Step::Write { path: other, .. } | Step::Replace { path: other, .. } | Step::Remove(other)
                    if other == path =>
                {
                    break;
                }
                _ => {}
            }
        }
        Continue(texts)
    }

    async fn commit(&mut self, folder: &Folder, message: &str) -> Flow {
        self.run_git(folder, &commit::add_command(), &[0]).await?;
        if self.run_git(folder, &commit::compare_command(), &[0, 1]).await? == 0 {
            self.recorder.note("there is nothing to commit");
            return Continue(());
        }
        self.run_git(folder, &commit::commit_command(message), &[0]).await?;
        self.last_output = Instant::now();
        self.recorder.committed(message);
        Continue(())
    }

    /// Runs git and returns its exit code, which must be one of the expected ones.
    async fn run_git(&mut self, folder: &Folder, command: &[String], expected: &[i32]) -> Flow<i32> {
        let environment = commit::environment(folder, &self.start.environment);
        let watched = self.watch(command, &environment).await?;
        let code = watched.status.as_ref().and_then(ExitStatus::code);
        match (watched.cause, code) {
            (Cause::Exited, Some(code)) if expected.contains(&code) => Continue(code),
            _ => Break(judge(&watched, &self.start.limits)),
        }
    }

    async fn run(&mut self, command: &[String]) -> Flow {
        let environment = self.start.environment.clone();
        let watched = self.watch(command, &environment).await?;
        match judge(&watched, &self.start.limits) {
            Outcome::Finished => Continue(()),
            outcome => Break(outcome),
        }
    }

    /// Runs a program to its end; what it prints is output of the session.
    async fn watch(&mut self, command: &[String], environment: &[(String, String)]) -> Flow<Watched> {
        let launch = Launch {
            session: &self.start.session,
            command,
            folder: &self.start.folder,
            environment,
            input: None,
            sandbox: self.start.sandbox.as_ref(),
            grace: self.start.limits.grace,
        };
        let running = match Running::start(&launch) {
            Ok(running) => running,
            Err(error) => return crash(error.to_string()),
        };
        let silence = self.start.limits.silence;
        let wall = self.wall_end.saturating_duration_since(Instant::now());
        let recorder = &mut self.recorder;
        let print = |stream, bytes: &[u8]| recorder.print(stream, bytes);
        let watched = running.watch(Bounds { wall, silence }, &mut self.stop, print).await;
        self.last_output = Instant::now();
        Continue(watched)
    }

    async fn go_wrong(&mut self, mishap: Mishap) -> Flow {
        let (class, message) = match mishap {
            Mishap::Hang => return Break(self.interrupted().await),
            Mishap::Flood { bytes } => return self.flood(bytes).await,
            Mishap::Crash => return Break(exited(1)),
            Mishap::RateLimit { reset } => return Break(self.limit_rate(reset)),
            Mishap::Network => (FailureClass::Network, "the script plays a broken network"),
            Mishap::Refused => (FailureClass::Refused, "the script plays an agent that declines"),
            Mishap::InvalidOutput => (FailureClass::InvalidOutput, "the script plays output without meaning"),
        };
        Break(Outcome::Failed(Failure::new(class, message)))
    }

    fn limit_rate(&mut self, reset: Option<Duration>) -> Outcome {
        let until = reset.and_then(|reset| Timestamp::now().checked_add(reset).ok());
        let message = "the script plays a rate limit";
        self.output.limit_rate(message, until);
        self.pass_heard();
        let failure = Failure::new(FailureClass::RateLimit, message);
        Outcome::Failed(Failure { until, ..failure })
    }

    fn use_up(&mut self, usage: &Usage) -> Flow {
        self.output.use_more(*usage);
        self.pass_heard();
        match self.output.find_passed_limit() {
            Some(failure) => Break(Outcome::Failed(failure)),
            None => Continue(()),
        }
    }

    /// Asks for permission by the policy of the session; a script continues either way.
    async fn ask(&mut self, what: String) -> Flow {
        let answer = match (self.start.permissions, self.start.asker.clone()) {
            (Permissions::Ask, Some(asker)) => {
                self.questions += 1;
                let session = self.start.session.clone();
                let asking = asker.ask(self.questions, session, what.clone(), Vec::new());
                tokio::select! {
                    biased;
                    reason = self.stop.stopped() => return Break(Outcome::Stopped(reason)),
                    () = sleep_until(self.wall_end) => {
                        return Break(Outcome::Failed(timed_out(&self.start.limits)));
                    }
                    answer = asking => answer,
                }
            }
            _ => Answer::denied("policy"),
        };
        self.last_output = Instant::now();
        self.output.ask(&what, answer.answer, &answer.by);
        self.pass_heard();
        Continue(())
    }

    fn pass_heard(&mut self) {
        self.last_output = Instant::now();
        for piece in self.output.take_pieces() {
            self.recorder.pass(piece);
        }
    }

    async fn flood(&mut self, bytes: u64) -> Flow {
        let mut rest = bytes;
        while rest > 0 {
            let length = rest.min(FLOOD_PIECE_BYTES);
            let piece: Vec<u8> = FLOOD_LINE.iter().copied().cycle().take(length as usize).collect();
            self.print(Stream::Out, &piece);
            rest -= length;
            tokio::task::yield_now().await;
            self.pause(Duration::ZERO).await?;
        }
        Continue(())
    }

    /// Waits, unless the session must end first.
    async fn pause(&mut self, delay: Duration) -> Flow {
        let waited = sleep(delay);
        tokio::select! {
            biased;
            outcome = self.interrupted() => Break(outcome),
            () = waited => Continue(()),
        }
    }

    /// Waits until the session must end.
    async fn interrupted(&mut self) -> Outcome {
        let limits = &self.start.limits;
        tokio::select! {
            biased;
            reason = self.stop.stopped() => Outcome::Stopped(reason),
            () = sleep_until(self.wall_end) => Outcome::Failed(timed_out(limits)),
            () = sleep_until(after(self.last_output, limits.silence)) => Outcome::Failed(was_silent(limits)),
        }
    }

    fn print(&mut self, stream: Stream, bytes: &[u8]) {
        self.last_output = Instant::now();
        self.recorder.print(stream, bytes);
    }

    fn expand(&self, template: &Template) -> Flow<String> {
        understood(template.expand(&self.start.variables))
    }
}

fn after(moment: Instant, duration: Duration) -> Instant {
    moment.checked_add(duration).unwrap_or(moment + FAR_AWAY)
}

fn crash<T>(message: String) -> Flow<T> {
    Break(Outcome::Failed(Failure::new(FailureClass::Crash, message)))
}

fn understood<T>(expanded: Result<T, ExpandError>) -> Flow<T> {
    match expanded {
        Ok(value) => Continue(value),
        Err(error) => Break(Outcome::Failed(Failure::new(FailureClass::InvalidOutput, error.to_string()))),
    }
}

fn edit_failed(error: &EditError) -> Outcome {
    let class = if error.is_mistake() { FailureClass::InvalidOutput } else { FailureClass::Crash };
    Outcome::Failed(Failure::new(class, error.to_string()))
}

fn exited(code: i32) -> Outcome {
    let failure = Failure::new(FailureClass::Crash, format!("exited with code {code}"));
    Outcome::Failed(Failure { exit: Some(code), ..failure })
}
