//! What `regatta up` prints while it runs: lines for people, or a JSON object per line for programs.

use crate::exit;
use crate::progress::Progress;
use crate::screen::Screen;
use clap::ValueEnum;
use jiff::Timestamp;
use regatta_engine::Entry;
use serde_json::{Map, Value, json};

/// How it is printed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum LogFormat {
    /// Lines for people
    Text,
    /// One JSON object per line
    Json,
}

/// How grave it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Level {
    Info,
    Warn,
}

/// The log of one `regatta up`.
pub(crate) struct Log {
    screen: Screen,
    format: LogFormat,
    is_quiet: bool,
    progress: Option<Progress>,
}

impl Log {
    pub(crate) fn new(screen: Screen, format: LogFormat, is_quiet: bool) -> Self {
        let screen = if is_quiet { screen.quiet() } else { screen };
        if format == LogFormat::Json {
            exit::report_in_json();
        }
        Log { screen, format, is_quiet, progress: None }
    }

    /// Shows a spinner on a terminal from now on.
    pub(crate) fn begin(&mut self) {
        if self.format == LogFormat::Text {
            self.progress = Some(Progress::new(self.screen, "waiting for commands"));
        }
    }

    /// Takes the spinner away.
    pub(crate) fn end(&mut self) {
        self.progress = None;
    }

    /// Prints a message: `text` for people, `name` and `fields` for programs.
    pub(crate) fn note(&self, level: Level, name: &str, text: &str, fields: Value) {
        match (self.format, &self.progress) {
            (LogFormat::Text, _) if text.is_empty() => {}
            (LogFormat::Text, Some(progress)) => progress.print(text),
            (LogFormat::Text, None) => self.screen.say(text),
            (LogFormat::Json, _) => self.write(level, name, fields),
        }
    }

    /// Prints an event of the project's log.
    pub(crate) fn event(&self, entry: &Entry) {
        match &self.progress {
            Some(progress) => progress.show(entry),
            None if self.format == LogFormat::Json => {
                let kind = entry.event.kind();
                let level = if kind.ends_with(":failed") { Level::Warn } else { Level::Info };
                self.write(level, kind, json!({ "event": entry.to_json() }));
            }
            None => {}
        }
    }

    fn write(&self, level: Level, name: &str, fields: Value) {
        if level != Level::Info || !self.is_quiet {
            self.screen.say_json(&render(level, name, fields));
        }
    }
}

fn render(level: Level, name: &str, fields: Value) -> Value {
    let mut line = Map::new();
    line.insert("at".to_owned(), format!("{:.3}", Timestamp::now()).into());
    let level = if level == Level::Warn { "warn" } else { "info" };
    line.insert("level".to_owned(), level.into());
    line.insert("message".to_owned(), name.into());
    if let Value::Object(fields) = fields {
        line.extend(fields);
    }
    Value::Object(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_says_when_how_grave_and_what() {
        let line = render(Level::Warn, "notify failed", json!({ "why": "it answered 500" }));
        let keys: Vec<&str> = line.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(keys, ["at", "level", "message", "why"]);
        assert_eq!(line["level"], "warn");
        assert!(line["at"].as_str().unwrap().ends_with('Z'));
    }
}
