//! The sessions of a task or a run, printed as text, items or transcripts, once or while they happen.

use super::follow::interruption;
use crate::arguments::Place;
use crate::progress::Progress;
use crate::screen::{DIM, Screen};
use crate::session_text::SessionText;
use clap::Args;
use jiff::tz::TimeZone;
use regatta_engine::core::session::Scope;
use regatta_engine::core::{Code, Problem};
use regatta_engine::{Follower, Journal, Project, SessionLog, list_session_logs};
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;
use tokio_util::sync::CancellationToken;

/// How often a transcript is looked at for more; a look is one system call while nothing was added.
const LOOK_EVERY: Duration = Duration::from_millis(200);

/// What of the sessions is printed, and how.
#[derive(Args)]
pub(crate) struct LogOptions {
    /// Keep printing until the last session has ended
    #[arg(long, short)]
    follow: bool,
    /// Print only the session with this number
    #[arg(long, value_name = "N")]
    session: Option<u32>,
    /// Print the prompt of each session too
    #[arg(long, conflicts_with = "raw")]
    prompt: bool,
    /// Print the transcripts as they are on disk, one JSON object per line
    #[arg(long)]
    raw: bool,
}

/// Prints the sessions of a scope in one of the forms.
struct Printer<'a> {
    project: &'a Project,
    scope: Scope,
    options: &'a LogOptions,
    screen: Screen,
    text: SessionText,
    /// Shows what is happening, while a person follows at a terminal.
    progress: Option<Progress>,
    /// What is printed at the end as one document.
    items: Vec<Value>,
    interrupt: CancellationToken,
    journal: Journal<'a>,
}

impl LogOptions {
    /// Prints the sessions; `continues` tells whether another is to be expected when none runs.
    pub(crate) async fn print(
        &self,
        place: &Place,
        project: &Project,
        scope: Scope,
        continues: impl AsyncFn(&Project) -> Result<bool, Problem>,
    ) -> Result<(), Problem> {
        let screen = place.screen;
        let is_live = self.follow && screen.is_live() && screen.is_terminal() && !self.raw;
        let mut printer = Printer {
            project,
            scope,
            options: self,
            screen,
            text: SessionText::new(screen.width(), TimeZone::system(), self.prompt),
            progress: is_live.then(|| Progress::new(screen, "waiting for a session")),
            items: Vec::new(),
            interrupt: interruption(),
            journal: Journal::at_end(project).await?,
        };
        let mut done = BTreeSet::new();
        loop {
            // Asked first: a session that begins after the answer is in the list that is read next.
            let is_more_expected = self.follow && continues(project).await?;
            let logs = printer.list().await?;
            let asked = logs.into_iter().filter(|log| self.session.is_none_or(|number| log.number == number));
            let asked: Vec<SessionLog> = asked.filter(|log| !done.contains(&log.session)).collect();
            if asked.is_empty() && done.is_empty() && !is_more_expected {
                return self.nothing(screen);
            }
            for log in asked {
                done.insert(log.session.clone());
                if !printer.print_session(log).await? {
                    return Ok(());
                }
            }
            if !is_more_expected || !printer.wait().await? {
                break;
            }
        }
        let items = std::mem::take(&mut printer.items);
        drop(printer);
        if screen.is_json() && !self.follow && !self.raw {
            screen.data(&items, |_| String::new());
        }
        Ok(())
    }

    fn nothing(&self, screen: Screen) -> Result<(), Problem> {
        if let Some(number) = self.session {
            return Err(Problem::new(
                Code::ValidationError,
                format!("session {number} was not shown"),
                "there is no session with that number",
                "omit `--session` to see all of them",
            ));
        }
        if screen.is_json() && !self.follow && !self.raw {
            screen.data(&Vec::<Value>::new(), |_| String::new());
        }
        screen.say(&format!("{DIM}no session has started yet{DIM:#}"));
        Ok(())
    }
}

impl Printer<'_> {
    async fn list(&self) -> Result<Vec<SessionLog>, Problem> {
        list_session_logs(self.project, self.scope).await.map_err(|error| error.explain())
    }

    /// Waits until the log moves, or for a short while; `false` when a person interrupts it.
    async fn wait(&mut self) -> Result<bool, Problem> {
        tokio::select! {
            () = self.interrupt.cancelled() => Ok(false),
            entries = self.journal.wait(LOOK_EVERY) => entries.map(|_| true).map_err(|error| error.explain()),
        }
    }

    /// Prints one session to its end, or to the end of what is there; `false` when nobody reads any more.
    async fn print_session(&mut self, mut log: SessionLog) -> Result<bool, Problem> {
        let mut follower = Follower::new(&log.transcript);
        let begun = self.text.begin(&log);
        if !self.write(&begun) {
            return Ok(false);
        }
        let mut listed_at = None;
        loop {
            // The log is asked before the file is read: what was written before the end is then read, too.
            if self.options.follow && listed_at != Some(self.journal.position()) {
                listed_at = Some(self.journal.position());
                let now = self.list().await?.into_iter().find(|other| other.session == log.session);
                log = now.unwrap_or(log);
            }
            loop {
                match self.read_on(&mut follower, &log)? {
                    Some(true) => {}
                    Some(false) => break,
                    None => return Ok(false),
                }
            }
            if !self.options.follow || !log.is_open() || !self.wait().await? {
                break;
            }
        }
        let ended = self.text.finish(&log);
        Ok(self.write(&ended))
    }

    /// Prints what was added to a transcript, and tells whether there is more; nothing when nobody reads any more.
    fn read_on(&mut self, follower: &mut Follower, log: &SessionLog) -> Result<Option<bool>, Problem> {
        let failed = |error: std::io::Error| {
            let what = format!("session {} was not shown", log.number);
            let why = format!("{} cannot be read: {error}", log.transcript.display());
            Problem::new(Code::IoFailed, what, why, "check that the file is readable, then try again")
        };
        if self.options.raw {
            let mut bytes = Vec::new();
            let is_more = follower.read_lines(|line| {
                bytes.extend_from_slice(line);
                bytes.push(b'\n');
            });
            let is_more = is_more.map_err(failed)?;
            let is_read = self.screen.bytes(&bytes);
            return Ok(is_read.then_some(is_more));
        }
        let (items, is_more) = follower.read().map_err(failed)?;
        for timed in &items {
            if self.screen.is_json() {
                let item = log.show_item(timed);
                if !self.options.follow {
                    self.items.push(item);
                } else if !self.screen.line(&item, |_| String::new()) {
                    return Ok(None);
                }
                continue;
            }
            let lines = self.text.push(timed);
            if !self.write(&lines) {
                return Ok(None);
            }
        }
        if let Some(progress) = &self.progress {
            progress.set_message(&self.text.status());
        }
        Ok(Some(is_more))
    }

    /// Writes lines of text; nothing with `--json` or `--raw`. `false` when nobody reads any more.
    fn write(&self, lines: &[String]) -> bool {
        if self.screen.is_json() || self.options.raw || lines.is_empty() {
            return true;
        }
        let write = || self.screen.lines(lines);
        match &self.progress {
            Some(progress) => progress.suspend(write),
            None => write(),
        }
    }
}
