//! Comments of earlier attempts, where they stand today.

use crate::markup::escape;
use crate::parts;
use regatta_engine::core::{Comment, Side};
use regatta_engine::{AnswerView, RejectionView};
use std::fmt::Write;

/// A comment of an earlier attempt, with where its lines are now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    comment: Comment,
    /// What the agent said to it.
    answer: Option<AnswerView>,
    /// The attempt whose diff it is about.
    attempt: u32,
    by: String,
    /// The last of its lines as the file is now; nothing if they changed.
    last_line: Option<u32>,
    /// Which version of the file has that line.
    side: Side,
}

impl Placed {
    /// Finds where the comments on a file stand in its texts as they are now.
    pub fn find(rejections: &[RejectionView], path: &str, old: Option<&str>, new: Option<&str>) -> Vec<Self> {
        let mut placed = Vec::new();
        for rejection in rejections {
            for (comment, number) in rejection.comments.iter().zip(1..) {
                if comment.path.as_deref() != Some(path) {
                    continue;
                }
                let find = |side: Side, text: Option<&str>| Some((side, find_lines(comment, text?)?));
                // A line that is gone now may stand among those that were removed.
                let found = match comment.side {
                    Side::Old => find(Side::Old, old),
                    Side::New => find(Side::New, new).or_else(|| find(Side::Old, old)),
                };
                placed.push(Placed {
                    comment: comment.clone(),
                    answer: rejection.find_answer(number).cloned(),
                    attempt: rejection.number,
                    by: rejection.by.clone(),
                    last_line: found.map(|(_, line)| line),
                    side: found.map_or(comment.side, |(side, _)| side),
                });
            }
        }
        placed
    }

    /// A comment that does not stand beside lines; `number` is its own in the rejection.
    pub(super) fn loose(rejection: &RejectionView, (comment, number): (&Comment, u32)) -> Self {
        let (attempt, by) = (rejection.number, rejection.by.clone());
        let answer = rejection.find_answer(number).cloned();
        Placed { comment: comment.clone(), answer, attempt, by, last_line: None, side: comment.side }
    }

    pub(super) fn is_old(&self) -> bool {
        self.side == Side::Old
    }

    pub(super) fn last_line(&self) -> Option<u32> {
        self.last_line
    }
}

/// Finds the quoted lines, the nearest to where they were.
fn find_lines(comment: &Comment, text: &str) -> Option<u32> {
    let (first, last) = comment.lines()?;
    let quote: Vec<&str> = comment.quote.as_deref()?.lines().collect();
    let lines: Vec<&str> = text.lines().collect();
    let is_same = |line: &&str, quoted: &&str| {
        let line = regatta_engine::core::plain_text(line.trim_end());
        // A quote keeps the beginning of a long line.
        line == *quoted || (quoted.chars().count() == 200 && line.starts_with(*quoted))
    };
    let starts = lines.windows(quote.len().max(1)).enumerate().filter(|(_, window)| {
        window.len() == quote.len() && window.iter().zip(&quote).all(|(line, quoted)| is_same(line, quoted))
    });
    let starts = starts.filter_map(|(at, _)| u32::try_from(at + 1).ok());
    let found = starts.min_by_key(|start| start.abs_diff(first))?;
    Some(found.saturating_add(last - first).min(u32::try_from(lines.len()).unwrap_or(u32::MAX)))
}

/// Writes a comment; one that is not beside its lines quotes them.
pub(super) fn render_talk(out: &mut String, placed: &Placed, is_loose: bool) {
    let comment = &placed.comment;
    let _ = write!(
        out,
        "<div class=\"talk is-sent\"><div class=\"say\">{}<span class=\"by\"><b class=\"mid\">{}</b> on attempt {}",
        parts::person(&placed.by),
        escape(&placed.by),
        placed.attempt,
    );
    if is_loose && comment.line.is_some() {
        let is_gone = placed.last_line.is_none() || placed.side != comment.side;
        let changed = if is_gone { ", which changed since" } else { "" };
        let place = match comment.lines() {
            Some((first, last)) if first != last => format!("lines {first}–{last}"),
            Some((first, _)) => format!("line {first}"),
            None => String::new(),
        };
        let side = if comment.side == Side::Old { " before" } else { "" };
        let _ = write!(out, " · {place}{side}{changed}");
    }
    out.push_str("</span>");
    if is_loose && let Some(quote) = &comment.quote {
        let _ = write!(out, "<pre class=\"quote\">{}</pre>", super::file::shown_lines(quote));
    }
    let _ = write!(out, "<p>{}</p></div>", escape(&comment.text));
    if let Some(answer) = &placed.answer {
        render_answer(out, answer, placed.attempt + 1);
    }
    out.push_str("</div>");
}

fn render_answer(out: &mut String, answer: &AnswerView, attempt: u32) {
    let _ = write!(
        out,
        "<div class=\"say is-answer\">{}<span class=\"by\"><b class=\"mid\">{}</b> in attempt {attempt}</span><p>{}</p></div>",
        parts::face(answer.agent_id.as_str()),
        escape(answer.agent_id.as_str()),
        escape(&answer.text),
    );
}

#[cfg(test)]
mod tests {
    use super::*;

    fn comment(line: u32, end: u32, quoted: &str) -> Comment {
        let (line, end_line) = (Some(line), Some(end));
        Comment { path: Some("a".into()), line, end_line, text: "x".into(), ..Comment::default() }
            .quoting(quoted.lines())
    }

    #[test]
    fn a_line_that_was_removed_since_keeps_its_comment() {
        let rejection = RejectionView {
            number: 1,
            at: jiff::Timestamp::UNIX_EPOCH,
            by: "me".into(),
            reason: "why".into(),
            feedback: None,
            comments: vec![comment(2, 2, "two"), comment(1, 1, "one"), comment(1, 1, "gone")],
            answers: Vec::new(),
            agent_id: None,
            base: None,
            head: None,
        };
        let placed = Placed::find(&[rejection], "a", Some("one\ntwo\n"), Some("one\n2\n"));
        let places: Vec<_> = placed.iter().map(|placed| (placed.is_old(), placed.last_line())).collect();
        assert_eq!(places, [(true, Some(2)), (false, Some(1)), (false, None)]);
    }

    #[test]
    fn lines_are_found_where_they_moved_to() {
        let text = "zero\na\nb\none\ntwo\na\nb\n";
        assert_eq!(find_lines(&comment(1, 2, "a\nb"), text), Some(3), "the nearest");
        assert_eq!(find_lines(&comment(9, 10, "a\nb"), text), Some(7));
        assert_eq!(find_lines(&comment(2, 2, "gone"), text), None);
        assert_eq!(find_lines(&Comment { quote: None, ..comment(2, 2, "a") }, text), None);
        assert_eq!(find_lines(&comment(2, 2, "a"), ""), None);
        let long = "x".repeat(500);
        assert_eq!(find_lines(&comment(1, 1, &long), &format!("new\n{long}\n")), Some(2));
        assert_eq!(
            find_lines(&comment(1, 40, &"a\n".repeat(40)), &"a\n".repeat(40)),
            Some(40),
            "longer than its quote"
        );
    }
}
