//! What a reviewer writes to lines of a diff, and to the plan and output of a task.
//!
//! A comment names lines as they were when it was written, and carries a quote of them, because the lines move with
//! the next change. Whether such lines exist is seen by the engine, which adds the quote.

use crate::command::{Faults, FieldFault};
use crate::plain_text;
use serde::{Deserialize, Serialize};
use serde_with::skip_serializing_none;
use std::fmt::{self, Write};

/// More are not read; the work needs a talk, not a list.
pub const COMMENTS_MAX: usize = 200;
const TEXT_CHARACTERS_MAX: usize = 2_000;
/// What Linux allows.
const PATH_BYTES_MAX: usize = 4_096;
/// Enough to recognize a place; the agent can read the rest.
const QUOTE_LINES_MAX: usize = 12;
const QUOTE_LINE_CHARACTERS_MAX: usize = 200;
/// With many bad comments, the first few show what is wrong.
const FAULTS_MAX: usize = 20;

/// A comment of a reviewer.
#[skip_serializing_none]
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Comment {
    /// The file, from the root of the repository; nothing for a comment on a part.
    pub path: Option<String>,
    /// What it is about, if not a file.
    pub part: Option<Part>,
    /// Which version of the file the lines are counted in.
    #[serde(default)]
    pub side: Side,
    /// The first line, from 1; without it the comment is about the whole.
    pub line: Option<u32>,
    /// The last line.
    pub end_line: Option<u32>,
    /// What the reviewer says.
    pub text: String,
    /// The lines as they were, or the first of them.
    pub quote: Option<String>,
}

/// A version of a file in a diff.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Side {
    /// Before the change.
    Old,
    /// After it.
    #[default]
    New,
}

/// What a comment can be about that is no file of the diff.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Part {
    /// The description and criteria of the task.
    Plan,
    /// What the task says to its dependents.
    Output,
}

impl Side {
    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Side::Old => "old",
            Side::New => "new",
        }
    }
}

impl Part {
    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Part::Plan => "plan",
            Part::Output => "output",
        }
    }
}

impl Comment {
    /// Keeps the lines that it is about, or the first of them.
    #[must_use]
    pub fn quoting<'a>(self, lines: impl Iterator<Item = &'a str>) -> Self {
        let mut quote = String::new();
        for line in lines.take(QUOTE_LINES_MAX) {
            let line: String = line.chars().take(QUOTE_LINE_CHARACTERS_MAX).collect();
            let _ = writeln!(quote, "{}", plain_text(line.trim_end()).replace('\n', " "));
        }
        let quote = Some(quote.trim_end_matches('\n').to_owned()).filter(|quote| !quote.trim().is_empty());
        Comment { quote, ..self }
    }

    /// Returns the first and the last line, if it names lines.
    pub fn lines(&self) -> Option<(u32, u32)> {
        self.line.map(|first| (first, self.end_line.unwrap_or(first)))
    }

    /// Cleans it of control characters, and names an end for its lines.
    fn cleaned(self) -> Self {
        let end_line = self.end_line.or(self.line);
        let side = if self.path.is_some() { self.side } else { Side::New };
        Comment { text: plain_text(self.text.trim()), end_line, side, ..self }
    }

    fn check(&self, number: usize, faults: &mut Vec<FieldFault>) {
        let mut fault = |problem: String| {
            faults.push(FieldFault { field: "comments", problem: format!("number {number}: {problem}") });
        };
        match (&self.path, self.part) {
            (None, None) => fault("`path` must name a file, or `part` must be plan or output".to_owned()),
            (Some(_), Some(_)) => fault("only one of `path` and `part` can be given".to_owned()),
            (Some(path), None) if path.is_empty() || path.len() > PATH_BYTES_MAX => {
                fault(format!("`path` must have 1 to {PATH_BYTES_MAX} bytes, not {}", path.len()));
            }
            (Some(path), None) if path.starts_with('/') || path.split('/').any(|name| name == "..") => {
                fault("`path` must be relative to the root of the repository".to_owned());
            }
            _ => {}
        }
        match (self.line, self.end_line) {
            (Some(0), _) => fault("`line` must be at least 1".to_owned()),
            (Some(first), Some(last)) if last < first => {
                fault(format!("`endLine` must be at least `line` ({first}), not {last}"));
            }
            (None, Some(_)) => fault("`endLine` needs `line`".to_owned()),
            _ => {}
        }
        let count = self.text.trim().chars().count();
        if !(1..=TEXT_CHARACTERS_MAX).contains(&count) {
            fault(format!("`text` must have 1 to {TEXT_CHARACTERS_MAX} characters, not {count}"));
        }
    }
}

/// Checks comments together with the other fields of a payload, and cleans them.
pub(crate) fn check_comments(comments: Vec<Comment>, faults: &mut Faults) -> Vec<Comment> {
    if comments.len() > COMMENTS_MAX {
        faults.push("comments", format!("are too many ({}); at most {COMMENTS_MAX}", comments.len()));
        return Vec::new();
    }
    let mut found = Vec::new();
    for (comment, number) in comments.iter().zip(1..) {
        comment.check(number, &mut found);
    }
    let more = found.len().saturating_sub(FAULTS_MAX);
    found.truncate(FAULTS_MAX);
    for FieldFault { field, problem } in found {
        faults.push(field, problem);
    }
    if more > 0 {
        faults.push("comments", format!("have {more} more errors"));
    }
    comments.into_iter().map(Comment::cleaned).collect()
}

/// Returns the reason of a rejection that gives only comments.
pub(crate) fn reason_for(comments: &[Comment]) -> String {
    match comments.len() {
        1 => "See the comment.".to_owned(),
        count => format!("See the {count} comments."),
    }
}

impl fmt::Display for Comment {
    /// Says what it is about: `src/a.rs:12-14`, `the plan`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.part, &self.path) {
            (Some(Part::Plan), _) => f.write_str("the plan")?,
            (Some(Part::Output), _) => f.write_str("the chain output")?,
            (None, Some(path)) => {
                // A file name may hold anything but a NUL.
                for character in path.chars() {
                    if character.is_control() {
                        write!(f, "{}", character.escape_default())?;
                    } else {
                        f.write_char(character)?;
                    }
                }
            }
            (None, None) => f.write_str("the change")?,
        }
        match self.lines() {
            Some((first, last)) if first == last => write!(f, ":{first}")?,
            Some((first, last)) => write!(f, ":{first}-{last}")?,
            None => {}
        }
        if self.side == Side::Old { f.write_str(" (before the change)") } else { Ok(()) }
    }
}

/// Lists comments with the lines they are about, as Markdown for an agent.
pub fn render_comments(comments: &[Comment]) -> String {
    let mut text = String::new();
    for (comment, number) in comments.iter().zip(1..) {
        let _ = write!(text, "{}{number}. {comment}\n\n", if number > 1 { "\n" } else { "" });
        if let Some(quote) = &comment.quote {
            for line in quote.lines() {
                let _ = writeln!(text, "   > {line}");
            }
            text.push('\n');
        }
        for line in comment.text.lines() {
            let _ = writeln!(text, "   {line}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Reject;
    use expect_test::expect;

    fn on(path: &str, line: u32, end: u32, text: &str) -> Comment {
        let (line, end_line) = (Some(line), Some(end));
        Comment { path: Some(path.into()), line, end_line, text: text.into(), ..Comment::default() }
    }

    fn faults(comments: Vec<Comment>) -> Vec<String> {
        let faults = Reject::with_comments(None, None, comments).map(|_| ()).err().unwrap_or_default();
        faults.into_iter().map(|fault| format!("{} {}", fault.field, fault.problem)).collect()
    }

    #[test]
    fn limits_hold_at_both_ends() {
        let ok = on("a", 1, 1, "x");
        assert_eq!(faults(vec![ok.clone(); 200]), [""; 0]);
        assert_eq!(faults(vec![ok.clone(); 201]), ["comments are too many (201); at most 200"]);
        assert_eq!(faults(vec![on("a", 1, 1, &"é".repeat(2_000))]), [""; 0]);
        expect![[r#"
            comments number 2: `text` must have 1 to 2000 characters, not 2001
            comments number 3: `text` must have 1 to 2000 characters, not 0
            comments number 4: `line` must be at least 1
            comments number 5: `endLine` must be at least `line` (3), not 2
            comments number 6: `path` must have 1 to 4096 bytes, not 0
            comments number 7: `path` must be relative to the root of the repository
            comments number 8: `path` must be relative to the root of the repository
            comments number 9: `path` must name a file, or `part` must be plan or output
            comments number 10: only one of `path` and `part` can be given
            comments number 11: `endLine` needs `line`"#]]
        .assert_eq(
            &faults(vec![
                ok.clone(),
                on("a", 1, 1, &"é".repeat(2_001)),
                on("a", 1, 1, "  \n"),
                on("a", 0, 1, "x"),
                on("a", 3, 2, "x"),
                on("", 1, 1, "x"),
                on("/etc/passwd", 1, 1, "x"),
                on("a/../../b", 1, 1, "x"),
                Comment { text: "x".into(), ..Comment::default() },
                Comment { part: Some(Part::Plan), ..on("a", 1, 1, "x") },
                Comment { line: None, ..on("a", 1, 1, "x") },
            ])
            .join("\n"),
        );
    }

    #[test]
    fn of_very_many_errors_the_first_are_named() {
        let all = faults(vec![on("a", 0, 1, ""); 200]);
        assert_eq!((all.len(), all[20].as_str()), (21, "comments have 380 more errors"));
    }

    #[test]
    fn comments_alone_are_reason_enough() {
        let reason = |comments: Vec<Comment>| Reject::with_comments(None, None, comments).map(|it| it.reason);
        assert_eq!(reason(vec![on("a", 1, 1, "x")]).unwrap(), "See the comment.");
        assert_eq!(reason(vec![on("a", 1, 1, "x"); 3]).unwrap(), "See the 3 comments.");
        assert_eq!(reason(vec![]).unwrap_err()[0].field, "reason");
        let empty = Reject::with_comments(Some(String::new()), None, vec![on("a", 1, 1, "x")]);
        assert_eq!(empty.unwrap_err()[0].field, "reason");
    }

    #[test]
    fn they_are_listed_with_the_lines_they_are_about() {
        let quote = ["fn a() {\u{1b}[31m", "    b();\r", "}"];
        let comments = [
            on("src/a.rs", 12, 14, "Why not c?\nIt is shorter.").quoting(quote.into_iter()),
            Comment { side: Side::Old, ..on("odd\nname", 3, 3, "Keep this.") },
            Comment { part: Some(Part::Plan), text: "One step less.".into(), ..Comment::default() },
            Comment { path: Some("logo.png".into()), text: "Too large.".into(), ..Comment::default() },
        ];
        expect![[r#"
            1. src/a.rs:12-14

               > fn a() {
               >     b();
               > }

               Why not c?
               It is shorter.

            2. odd\nname:3 (before the change)

               Keep this.

            3. the plan

               One step less.

            4. logo.png

               Too large.
        "#]]
        .assert_eq(&render_comments(&comments));
    }

    #[test]
    fn a_quote_is_short() {
        let long = "x".repeat(1_000);
        let quote = on("a", 1, 99, "x").quoting(std::iter::repeat_n(long.as_str(), 99)).quote.unwrap();
        assert_eq!((quote.lines().count(), quote.lines().map(str::len).max()), (12, Some(200)));
        assert_eq!(on("a", 1, 1, "x").quoting([" ", ""].into_iter()).quote, None);
    }
}
