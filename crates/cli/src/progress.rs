//! Live progress: a spinner with the newest state on a terminal, plain lines elsewhere, nothing with `--json`.

use crate::describe::{describe, progress_line};
use crate::screen::Screen;
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use regatta_engine::Entry;
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
    pub(crate) fn show(&self, entry: &Entry) {
        self.print(&progress_line(entry));
        if let Some(spinner) = &self.spinner {
            spinner.set_message(format!("#{} {}", entry.task(), describe(&entry.event)));
        }
    }

    /// Shows a line of its own.
    pub(crate) fn print(&self, line: &str) {
        match &self.spinner {
            Some(spinner) => spinner.suspend(|| self.screen.say(line)),
            None => self.screen.say(line),
        }
    }

    /// Does something that prints or asks, with the spinner out of the way.
    pub(crate) fn suspend<T>(&self, action: impl FnOnce() -> T) -> T {
        match &self.spinner {
            Some(spinner) => spinner.suspend(action),
            None => action(),
        }
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
