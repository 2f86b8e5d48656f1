//! The two streams: data to stdout, everything else to stderr; JSON or text.
//!
//! Data that could not be written is remembered here, and told when the verb is over: no verb asks for it. A reader that
//! went away, such as `head`, is no such failure.

use crate::exit;
use anstyle::{AnsiColor, Style};
use regatta_engine::core::{Code, Problem};
use serde::Serialize;
use std::borrow::Cow;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::sync::OnceLock;

pub(crate) const BOLD: Style = Style::new().bold();
pub(crate) const DIM: Style = Style::new().dimmed();
pub(crate) const RED: Style = AnsiColor::Red.on_default().bold();
pub(crate) const GREEN: Style = AnsiColor::Green.on_default();
pub(crate) const YELLOW: Style = AnsiColor::Yellow.on_default();
pub(crate) const CYAN: Style = AnsiColor::Cyan.on_default();

/// Where and how this process prints.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Screen {
    is_json: bool,
    is_quiet: bool,
    /// Why data was not written, the first time; it lives as long as the process.
    failure: &'static OnceLock<io::Error>,
}

impl Screen {
    /// Makes the screen of the process.
    pub(crate) fn new(is_json: bool) -> Self {
        Screen { is_json, is_quiet: false, failure: Box::leak(Box::default()) }
    }

    /// Returns the same screen, on which nothing is said but errors.
    pub(crate) fn quiet(self) -> Self {
        Screen { is_quiet: true, ..self }
    }

    /// Returns why data was not written, if some was not.
    pub(crate) fn find_loss(self) -> Option<Problem> {
        let error = self.failure.get()?;
        Some(Problem::new(
            Code::IoFailed,
            "the output was not written",
            error.to_string(),
            "check that there is space where it is written, then try again; the command itself was carried out",
        ))
    }

    /// Writes to stdout, and tells whether somebody still reads.
    fn print(self, write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> bool {
        let mut out = anstream::stdout();
        self.note(write(&mut out).and_then(|()| out.flush()))
    }

    /// Remembers why data was not written; tells whether it was.
    pub(crate) fn note(self, written: io::Result<()>) -> bool {
        match written {
            Ok(()) => true,
            Err(error) => {
                if error.kind() != ErrorKind::BrokenPipe {
                    let _ = self.failure.set(error);
                }
                false
            }
        }
    }

    pub(crate) fn is_json(self) -> bool {
        self.is_json
    }

    /// Tells whether a person watches the progress.
    pub(crate) fn is_live(self) -> bool {
        !self.is_json && !self.is_quiet && std::io::stderr().is_terminal()
    }

    /// Tells whether data goes to a terminal.
    pub(crate) fn is_terminal(self) -> bool {
        std::io::stdout().is_terminal()
    }

    /// Returns how many columns the terminal has that data goes to; nothing if it goes elsewhere.
    pub(crate) fn width(self) -> Option<usize> {
        let out = std::io::stdout();
        let size = rustix::termios::tcgetwinsize(&out).ok().filter(|_| out.is_terminal())?;
        Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
    }

    /// Tells whether a person can be asked.
    pub(crate) fn can_ask(self) -> bool {
        self.is_live() && std::io::stdin().is_terminal()
    }

    /// Prints data: one JSON document, or the text.
    pub(crate) fn data<T: Serialize>(self, value: &T, text: impl FnOnce(&T) -> String) {
        let text = if self.is_json { format!("{}\n", to_json(value, true)) } else { text(value) };
        self.print(|out| out.write_all(text.as_bytes()));
    }

    /// Prints a text that has no styles; it may be long, and is not searched for them.
    pub(crate) fn plain(self, text: &str) {
        let mut out = std::io::stdout().lock();
        self.note(out.write_all(text.as_bytes()).and_then(|()| out.flush()));
    }

    /// Prints a text byte for byte; on a terminal, control characters are shown instead of obeyed.
    pub(crate) fn verbatim(self, text: &str) {
        let mut out = std::io::stdout().lock();
        let shown = if out.is_terminal() { clean(text) } else { text.to_owned() };
        self.note(out.write_all(shown.as_bytes()).and_then(|()| out.flush()));
    }

    /// Prints one JSON document per line, or a line of text; `false` when nobody reads any more.
    pub(crate) fn line<T: Serialize>(self, value: &T, text: impl FnOnce(&T) -> String) -> bool {
        let text = if self.is_json { to_json(value, false) } else { text(value) };
        self.print(|out| writeln!(out, "{text}"))
    }

    /// Prints lines of text; `false` when nobody reads any more.
    pub(crate) fn lines(self, lines: &[String]) -> bool {
        self.print(|out| lines.iter().try_for_each(|line| writeln!(out, "{line}")))
    }

    /// Prints bytes as they are; on a terminal, control characters are shown instead of obeyed.
    pub(crate) fn bytes(self, bytes: &[u8]) -> bool {
        let mut out = std::io::stdout().lock();
        let written = if out.is_terminal() {
            out.write_all(clean(&String::from_utf8_lossy(bytes)).as_bytes())
        } else {
            out.write_all(bytes)
        };
        self.note(written.and_then(|()| out.flush()))
    }

    /// Says something to a person; with `--json` nothing is said.
    pub(crate) fn say(self, text: &str) {
        if !self.is_json && !self.is_quiet {
            let _ = writeln!(anstream::stderr(), "{text}");
        }
    }

    /// Prints a line of a log that programs read.
    pub(crate) fn say_json(self, line: &serde_json::Value) {
        let _ = writeln!(anstream::stderr(), "{line}");
    }

    /// Prints an error.
    pub(crate) fn problem(self, problem: &Problem) {
        let text = if self.is_json || exit::is_reported_in_json() {
            format!("{}\n", problem.to_json())
        } else {
            render_problem(problem)
        };
        let _ = write!(anstream::stderr(), "{text}");
    }
}

fn to_json<T: Serialize>(value: &T, is_pretty: bool) -> String {
    let json = if is_pretty { serde_json::to_string_pretty(value) } else { serde_json::to_string(value) };
    json.expect("what is shown is plain data")
}

/// Renders an error: what failed, why, what to do next.
fn render_problem(problem: &Problem) -> String {
    let mut text = format!("{RED}error[{}]{RED:#}: {BOLD}{}{BOLD:#}\n", problem.code, clean(&problem.what));
    for (index, why) in problem.why.iter().filter(|why| !why.is_empty()).enumerate() {
        let label = if index == 0 { "why: " } else { "     " };
        let shown = clean(why).trim_end().replace('\n', "\n        ");
        text.push_str(&format!("  {label} {shown}\n"));
    }
    for line in last_words(problem).into_iter().chain(excerpt(problem)) {
        text.push_str(&format!("        {DIM}|{DIM:#} {}\n", clean(line)));
    }
    text.push_str(&format!("  next: {}\n", clean(&problem.next)));
    text
}

/// Returns the last lines that a failed program printed, if the error has them.
fn last_words(problem: &Problem) -> Vec<&str> {
    /// The transcript has the rest.
    const LINES_MAX: usize = 5;
    let tail = problem.details.get("tail").and_then(serde_json::Value::as_str).unwrap_or_default();
    let mut lines: Vec<&str> =
        tail.lines().rev().filter(|line| !line.trim().is_empty()).take(LINES_MAX).collect();
    lines.reverse();
    lines
}

/// Returns the text that the error is about, with a mark below the place, if the error has it.
fn excerpt(problem: &Problem) -> impl Iterator<Item = &str> {
    problem.details.get("excerpt").and_then(serde_json::Value::as_str).unwrap_or_default().lines()
}

/// Shows control characters instead of obeying them: what is quoted may come from an agent.
pub(crate) fn clean(text: &str) -> String {
    cleaned(text).into_owned()
}

/// The same, borrowed where there is nothing to show: most texts have nothing, and lists have many of them.
pub(crate) fn cleaned(text: &str) -> Cow<'_, str> {
    // Without a way out, so that it looks at many bytes at once.
    let is_plain = |byte: u8| matches!(byte, b'\n' | b'\t' | b' '..=b'~');
    if text.bytes().fold(true, |is_so, byte| is_so & is_plain(byte)) {
        return text.into();
    }
    let show = |character: char| match character {
        '\n' | '\t' => character.to_string(),
        control if control.is_control() => control.escape_default().to_string(),
        // Directional overrides can make a line read as another.
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => character.escape_default().to_string(),
        other => other.to_string(),
    };
    text.chars().map(show).collect::<String>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use regatta_engine::core::Code;

    #[test]
    fn an_error_says_what_why_and_next() {
        let mut problem = Problem::new(Code::WorktreeDirty, "task #12 was not merged", "3 files", "see them");
        problem.why.push("cause\nof two lines".to_owned());
        let shown = anstream::adapter::strip_str(&render_problem(&problem)).to_string();
        let expected = "error[WORKTREE_DIRTY]: task #12 was not merged\n  why:  3 files\n        cause\n        \
                        of two lines\n  next: see them\n";
        assert_eq!(shown, expected);
    }

    #[test]
    fn control_characters_are_shown() {
        assert_eq!(clean("a\x1b[31mb\u{202e}c\td"), "a\\u{1b}[31mb\\u{202e}c\td");
    }
}
