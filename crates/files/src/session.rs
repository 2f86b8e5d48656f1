//! The entries of the progress log: how a session is read, and how a new one is written.

use std::fmt::Write;
use std::ops::Range;

use crate::contain::contain;
use crate::label;
use crate::line;
use crate::outline::Outline;

/// The labels of a session's fields.
const LABELS: &[&str] = &["Did", "Issues", "Next"];

/// The level of headings that may stand inside a session: deeper than its own.
const INNER_LEVEL: usize = 4;

/// One session of the progress log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionEntry {
    /// Its number.
    pub number: u32,
    /// When it was, as written.
    pub at: String,
    /// What was done.
    pub did: String,
    /// What stood in the way.
    pub issues: String,
    /// What is to be done next.
    pub next: String,
    /// All of it, from its heading to the next, as written.
    pub text: String,
    /// Where it stands.
    pub range: Range<usize>,
    /// The line of its heading, from 1.
    pub line: usize,
}

/// A session to be added to the progress log.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewSession {
    /// Its number.
    pub number: u32,
    /// When it was.
    pub at: String,
    /// What was done.
    pub did: String,
    /// What stood in the way.
    pub issues: String,
    /// What is to be done next.
    pub next: String,
    /// A remark below the heading, such as who wrote the entry.
    pub note: Option<String>,
}

impl SessionEntry {
    /// Returns the entry as it was added with this remark; nothing when its words are no longer those of then.
    pub fn as_added(&self, note: Option<&str>) -> Option<NewSession> {
        let session = NewSession {
            number: self.number,
            at: self.at.clone(),
            did: self.did.clone(),
            issues: self.issues.clone(),
            next: self.next.clone(),
            note: note.map(str::to_owned),
        };
        (render(&session) == line::with_endings(self.text.trim_end(), "\n")).then_some(session)
    }
}

/// What a heading of the progress log says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LogHeading<'a> {
    Session { number: u32, at: &'a str },
    SessionWithoutNumber,
    Archived { first: u32, last: u32 },
    ArchivedWithoutSessions,
    Other,
}

/// Reads a heading of the progress log.
pub(crate) fn parse_heading(text: &str) -> LogHeading<'_> {
    if let Some(rest) = strip_word(text, "Archived Summary") {
        return parse_archived(rest).unwrap_or(LogHeading::ArchivedWithoutSessions);
    }
    let Some(rest) = strip_word(text, "Session") else { return LogHeading::Other };
    let rest = rest.trim_start().trim_start_matches('#');
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    match rest[..digits].parse() {
        Ok(number) => LogHeading::Session { number, at: strip_separator(&rest[digits..]) },
        Err(_) => LogHeading::SessionWithoutNumber,
    }
}

/// Takes one mark such as ` - ` or `: ` off the beginning of what follows a number.
pub(crate) fn strip_separator(text: &str) -> &str {
    let text = text.trim_start();
    text.strip_prefix(['-', '–', '—', ':', ',']).unwrap_or(text).trim_start()
}

fn parse_archived(rest: &str) -> Option<LogHeading<'_>> {
    let mut numbers = rest.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    let first = numbers.next()?.parse().ok()?;
    let last = numbers.next().map_or(Some(first), |digits| digits.parse().ok())?;
    Some(LogHeading::Archived { first, last })
}

/// Strips a word from the beginning of a text, ignoring case; no letter may follow it directly.
fn strip_word<'a>(text: &'a str, word: &str) -> Option<&'a str> {
    let head = text.get(..word.len())?;
    let rest = &text[word.len()..];
    (head.eq_ignore_ascii_case(word) && !rest.starts_with(char::is_alphanumeric)).then_some(rest)
}

/// Reads the entry whose heading has been read.
pub(crate) fn parse_entry(
    text: &str,
    outline: &Outline,
    range: Range<usize>,
    body: Range<usize>,
    (number, at): (u32, &str),
    line: usize,
) -> SessionEntry {
    let found = label::find(text, body, outline, LABELS);
    let value = |label| label::value_of(text, &found, label);
    SessionEntry {
        number,
        at: at.to_owned(),
        did: value("Did"),
        issues: value("Issues"),
        next: value("Next"),
        text: text[range.clone()].to_owned(),
        range,
        line,
    }
}

/// Writes a session as an entry with LF line endings, without blank lines around it.
pub(crate) fn render(session: &NewSession) -> String {
    let mut out = format!("### Session {}", session.number);
    let at = line::on_one_line(&session.at);
    if !at.is_empty() {
        let _ = write!(out, " - {}", protect_closing_marks(&at));
    }
    out.push('\n');
    if let Some(note) = &session.note {
        let _ = write!(out, "*{}*\n\n", line::on_one_line(note));
    }
    let fields = [("Did", &session.did), ("Issues", &session.issues), ("Next", &session.next)];
    let is_compact = fields.iter().all(|(_, value)| !value.trim().contains(['\n', '\r']));
    let fields = fields.map(|(label, value)| render_field(label, value));
    out.push_str(&fields.join(if is_compact { "\n" } else { "\n\n" }));
    out
}

fn render_field(label: &str, value: &str) -> String {
    let value = escape_labels(&contain(&line::with_endings(value, "\n"), INNER_LEVEL));
    match value.trim() {
        "" => format!("**{label}:** None"),
        one if !one.contains('\n') && !starts_block(one) => format!("**{label}:** {one}"),
        several => format!("**{label}:**\n{several}"),
    }
}

/// Tells whether a text would mean something else if it did not begin its line.
fn starts_block(value: &str) -> bool {
    value.starts_with(['#', '>', '-', '+', '*', '`', '~', '<']) && !value.starts_with("**")
}

/// Keeps a line of a value from being read as the next field.
fn escape_labels(value: &str) -> String {
    let outline = Outline::of(value);
    let mut out = String::with_capacity(value.len());
    for range in line::lines(value, 0..value.len()) {
        let content = value[range.clone()].trim_start();
        let at = range.end - content.len();
        let is_label = content.starts_with(['-', '*', '+'])
            && !label::find(value, range.clone(), &outline, LABELS).is_empty();
        out.push_str(&value[range.start..at]);
        out.push_str(if is_label { "\\" } else { "" });
        out.push_str(content);
    }
    out
}

/// Keeps `#` at the end of a heading from being read as its closing mark.
pub(crate) fn protect_closing_marks(text: &str) -> String {
    let open = text.trim_end_matches('#');
    if open.len() < text.len() && (open.is_empty() || open.ends_with(' ')) {
        format!("{open}\\{}", &text[open.len()..])
    } else {
        text.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_read_in_their_usual_spellings() {
        let session = |number, at| LogHeading::Session { number, at };
        assert_eq!(parse_heading("Session 3 - 2024-11-26 14:00"), session(3, "2024-11-26 14:00"));
        assert_eq!(parse_heading("session #3: today"), session(3, "today"));
        assert_eq!(parse_heading("Session 3 – today"), session(3, "today"));
        assert_eq!(parse_heading("Session 3"), session(3, ""));
        assert_eq!(parse_heading("Session three"), LogHeading::SessionWithoutNumber);
        assert_eq!(parse_heading("Session 99999999999"), LogHeading::SessionWithoutNumber);
        assert_eq!(parse_heading("Sessions so far"), LogHeading::Other);
        assert_eq!(
            parse_heading("Archived Summary (Sessions 1-5)"),
            LogHeading::Archived { first: 1, last: 5 }
        );
        assert_eq!(parse_heading("Archived Summary (Session 4)"), LogHeading::Archived { first: 4, last: 4 });
        assert_eq!(parse_heading("Archived Summary"), LogHeading::ArchivedWithoutSessions);
    }

    #[test]
    fn short_fields_are_written_close_together() {
        let session = NewSession {
            number: 2,
            at: "2024-11-26 11:00".into(),
            did: "Fixed types".into(),
            next: "Implement verifyToken".into(),
            ..NewSession::default()
        };
        assert_eq!(
            render(&session),
            "### Session 2 - 2024-11-26 11:00\n**Did:** Fixed types\n**Issues:** None\n**Next:** Implement verifyToken"
        );
    }

    #[test]
    fn long_fields_stand_apart_and_cannot_break_out() {
        let session = NewSession {
            number: 1,
            did: "- a\n- b\n## 4. Chain Output\n**Next:** c".into(),
            issues: "- one".into(),
            note: Some("written by\nthe engine".into()),
            ..NewSession::default()
        };
        assert_eq!(
            render(&session),
            "### Session 1\n*written by the engine*\n\n\
             **Did:**\n- a\n- b\n#### 4. Chain Output\n\\**Next:** c\n\n**Issues:**\n- one\n\n**Next:** None"
        );
    }
}
