//! Live progress: a spinner with the newest state on a terminal, plain lines elsewhere, nothing with `--json`.

use crate::describe::{describe_about, progress_line, subject};
use crate::screen::{DIM, Screen, YELLOW, clean};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use regatta_engine::core::{AnyEvent, Event, Origin, session};
use regatta_engine::{Entry, Update};
use std::time::Duration;

const TICK: Duration = Duration::from_millis(100);

/// What is shown while a command is carried out.
pub(crate) struct Progress {
    screen: Screen,
    spinner: Option<ProgressBar>,
}

impl Progress {
    pub(crate) fn new(screen: Screen, title: &str) -> Self {
        let spinner = screen.is_live().then(|| spinner(title));
        Progress { screen, spinner }
    }

    /// Shows one event.
    ///
    /// That the engine keeps the task's file up to date is left out: it says nothing that another event does not.
    pub(crate) fn show(&self, entry: &Entry) {
        self.show_about(entry, None);
    }

    /// Shows what was heard while a command is carried out.
    pub(crate) fn hear(&self, update: Update<'_>) {
        match update {
            Update::Event(entry) => self.show(entry),
            Update::Held(tasks) => {
                let names: Vec<String> =
                    tasks.iter().map(|(task, agent)| format!("{agent} is on #{task}")).collect();
                self.print(&format!(
                    "{YELLOW}it may wait for an agent{YELLOW:#}: {}, which nobody runs now {DIM}(`regatta task resume ID` \
                     in another terminal, `regatta task cancel ID`, or `regatta up`){DIM:#}",
                    names.join(", ")
                ));
            }
            Update::Turn(holder, own) => self.print(&format!(
                "{YELLOW}waiting{YELLOW:#} for `regatta {}` (process {} on {}), which works on {own} {DIM}(`regatta up` \
                 runs everything at once){DIM:#}",
                clean(&holder.command), holder.pid, holder.host
            )),
        }
    }

    /// Shows one event; `item` is what the node of a run worked on, where that is known.
    pub(crate) fn show_about(&self, entry: &Entry, item: Option<&str>) {
        let is_bookkeeping = match &entry.event {
            AnyEvent::Task(Event::FileChanged { origin, .. }) => *origin == Origin::Engine,
            AnyEvent::Session(session::Event::SessionOpened { .. }) => true,
            AnyEvent::Session(session::Event::SessionClosed { usage, .. }) => usage.output_tokens == 0,
            AnyEvent::Task(Event::FileWritten { .. }) => true,
            AnyEvent::Task(Event::ProgressLogged { entry, .. }) => entry.by_engine,
            _ => false,
        };
        if is_bookkeeping {
            return;
        }
        self.print(&progress_line(entry, item));
        if let Some(spinner) = &self.spinner {
            let message = format!("{} {}", subject(&entry.event), describe_about(&entry.event, item));
            spinner.set_message(message.trim_start().to_owned());
        }
    }

    /// Shows a line of its own.
    pub(crate) fn print(&self, line: &str) {
        match &self.spinner {
            Some(spinner) => spinner.suspend(|| self.screen.say(line)),
            None => self.screen.say(line),
        }
    }

    /// Shows what is happening, beside the spinner.
    pub(crate) fn set_message(&self, text: &str) {
        if let Some(spinner) = &self.spinner {
            spinner.set_message(text.to_owned());
        }
    }

    /// Does something with the spinner out of sight.
    pub(crate) fn suspend<T>(&self, print: impl FnOnce() -> T) -> T {
        match &self.spinner {
            Some(spinner) => spinner.suspend(print),
            None => print(),
        }
    }

    /// Takes the spinner away, so that a person can be asked something.
    pub(crate) fn pause(&mut self) {
        if let Some(spinner) = self.spinner.take() {
            spinner.finish_and_clear();
        }
    }

    /// Brings the spinner back.
    pub(crate) fn resume(&mut self, title: &str) {
        self.spinner = self.screen.is_live().then(|| spinner(title));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(spinner) = &self.spinner {
            spinner.finish_and_clear();
        }
    }
}

fn spinner(title: &str) -> ProgressBar {
    let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
    let style = ProgressStyle::with_template("{spinner:.cyan} {wide_msg} {elapsed:.dim}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    bar.set_message(title.to_owned());
    bar.enable_steady_tick(TICK);
    bar
}
