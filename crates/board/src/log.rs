//! What an agent said and did, as lines: text as it is, a tool call as one line that opens, an edit as a small diff.
//!
//! A line is made from one or more items of a transcript. It knows the place of its first item, from which it can be made
//! again: a text that grows, and a tool that has not come back yet, are rendered again from there. Whatever an agent wrote
//! is text here.

use crate::markup::{Markup, escape};
use crate::parts;
use crate::words::{self, Clock};
use jiff::Timestamp;
use regatta_engine::{Change, Item, PermissionAnswer, PlanState, TimedItem};
use serde_json::Value;

/// A longer text becomes another line, so that a program that prints without an end does not make one line of it all.
const TEXT_BYTES_MAX: usize = 4_000;

/// A longer prompt or thought is closed until somebody opens it.
const SHORT_CHARACTERS: usize = 280;

/// How much of a prompt is shown at all.
const PROMPT_CHARACTERS_MAX: usize = 40_000;

/// A diff of so many lines stands open.
const OPEN_LINES_MAX: usize = 12;

/// A part of a session's log.
#[derive(Debug, Clone, Copy)]
pub struct Part<'a> {
    /// The items, oldest first, with the place of each.
    pub items: &'a [(u64, TimedItem)],
    /// Where it begins; 0 is the beginning of the session.
    pub begin: u64,
    /// Where the next part begins.
    pub end: u64,
    /// Whether more follows at once.
    pub has_more: bool,
    /// Whether the session is still open.
    pub is_open: bool,
}

/// What a line is about, as far as what follows may change it.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Said(String),
    Thought(String),
    Complained(String),
    Prompt(String),
    Tool { id: String, tool: String, about: String, path: Option<String> },
    Other,
}

/// One line of the log.
#[derive(Debug, Clone)]
struct Line {
    from: u64,
    at: Timestamp,
    kind: Kind,
    icon: &'static str,
    tone: &'static str,
    /// What the line says, if its kind does not.
    text: String,
    took: String,
    /// What stands below it.
    below: String,
    is_open: bool,
    is_running: bool,
}

/// Renders a part of a log as a list. It can be taken apart line by line: each says where it begins.
pub fn part(part: Part<'_>, clock: &Clock) -> Markup {
    let lines = lines(part.items, part.is_open && !part.has_more);
    let rows: String = lines.iter().map(|line| row(line, clock)).collect();
    Markup::new(format!(
        "<ol data-begin=\"{}\" data-end=\"{}\"{}>{rows}</ol>",
        part.begin,
        part.end,
        if part.has_more { " data-more" } else { "" },
    ))
}

/// Renders the lines alone, for the page as it arrives.
pub fn rows(items: &[(u64, TimedItem)], is_open: bool, clock: &Clock) -> Markup {
    Markup::new(lines(items, is_open).iter().map(|line| row(line, clock)).collect())
}

fn lines(items: &[(u64, TimedItem)], is_open: bool) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for (from, timed) in items {
        if !grows(&mut lines, timed) {
            lines.extend(line_of(*from, timed));
        }
    }
    // Nothing runs in a session that has ended.
    for line in &mut lines {
        line.is_running &= is_open;
    }
    lines
}

/// Adds an item to a line that there is already; tells whether it could.
fn grows(lines: &mut [Line], timed: &TimedItem) -> bool {
    match &timed.item {
        Item::Said { text } => extend(lines, text, |kind| match kind {
            Kind::Said(own) => Some(own),
            _ => None,
        }),
        Item::Thought { text } => extend(lines, text, |kind| match kind {
            Kind::Thought(own) => Some(own),
            _ => None,
        }),
        Item::Complained { text } => extend(lines, text, |kind| match kind {
            Kind::Complained(own) => Some(own),
            _ => None,
        }),
        Item::Prompted { text } => extend(lines, text, |kind| match kind {
            Kind::Prompt(own) => Some(own),
            _ => None,
        }),
        Item::ToolReturned { id, is_error, text } => returned(lines, id, *is_error, text, timed.at),
        Item::Edited { path, change } => edited(lines, path, change.as_ref()),
        Item::Used { .. } => true,
        _ => false,
    }
}

fn extend(lines: &mut [Line], text: &str, find: impl Fn(&mut Kind) -> Option<&mut String>) -> bool {
    let Some(own) = lines.last_mut().and_then(|line| find(&mut line.kind)) else { return false };
    if own.len() + text.len() > TEXT_BYTES_MAX && !matches!(text, "\n") {
        return false;
    }
    own.push_str(text);
    true
}

fn returned(lines: &mut [Line], id: &str, is_error: bool, text: &str, at: Timestamp) -> bool {
    let is_call =
        |line: &&mut Line| line.is_running && matches!(&line.kind, Kind::Tool { id: own, .. } if own == id);
    let Some(line) = lines.iter_mut().rev().find(is_call) else { return false };
    line.is_running = false;
    let took = at.duration_since(line.at).as_millis();
    if took >= 1_000 {
        line.took = words::took(u64::try_from(took).unwrap_or_default());
    }
    if is_error {
        (line.icon, line.tone) = ("x", "bad");
    }
    if !text.trim().is_empty() {
        line.below.push_str(&term(text.trim_end()));
        line.is_open |= is_error;
    }
    true
}

/// An edit belongs to the call that made it, if that is the line before.
fn edited(lines: &mut [Line], path: &str, change: Option<&Change>) -> bool {
    let Some(line) = lines.last_mut() else { return false };
    let Kind::Tool { path: Some(own), .. } = &line.kind else { return false };
    let is_same = own == path || own.ends_with(&format!("/{path}")) || path.ends_with(&format!("/{own}"));
    if !is_same || line.text.contains("class=\"tool\">Edit<") {
        return false;
    }
    let (took, running) = (std::mem::take(&mut line.took), line.is_running);
    dress_edit(line, path, change);
    (line.took, line.is_running) = (took, running);
    true
}

fn dress_edit(line: &mut Line, path: &str, change: Option<&Change>) {
    line.icon = if line.tone == "bad" { "x" } else { "edit" };
    line.text = format!("<span class=\"tool\">Edit</span> <code>{}</code>", escape(path));
    if let Some(change) = change {
        if change.added > 0 {
            line.text.push_str(&format!(" <span class=\"ok\">+{}</span>", change.added));
        }
        if change.removed > 0 {
            line.text.push_str(&format!(" <span class=\"bad\">−{}</span>", change.removed));
        }
        line.below = mini(change);
        line.is_open = change.lines.len() <= OPEN_LINES_MAX;
    }
}

fn line_of(from: u64, timed: &TimedItem) -> Option<Line> {
    let new = |kind: Kind, icon: &'static str, text: String| Line {
        from,
        at: timed.at,
        kind,
        icon,
        tone: "",
        text,
        took: String::new(),
        below: String::new(),
        is_open: false,
        is_running: false,
    };
    let plain = |icon, text: String| new(Kind::Other, icon, text);
    Some(match &timed.item {
        Item::Prompted { text } => new(Kind::Prompt(text.clone()), "play", String::new()),
        Item::Said { text } => new(Kind::Said(text.clone()), "comment", String::new()),
        Item::Thought { text } => new(Kind::Thought(text.clone()), "more", String::new()),
        Item::Complained { text } => {
            Line { tone: "warn", ..new(Kind::Complained(text.clone()), "alert", String::new()) }
        }
        Item::ToolCalled { id, tool, about, path } => {
            let (verb, icon) = verb_of(tool);
            let about_html = match about.trim() {
                "" => String::new(),
                about => format!(" <code>{}</code>", escape(&words::one_line(about, 300))),
            };
            let kind =
                Kind::Tool { id: id.clone(), tool: tool.clone(), about: about.clone(), path: path.clone() };
            let text = format!("<span class=\"tool\">{verb}</span>{about_html}");
            Line { is_running: true, ..new(kind, icon, text) }
        }
        Item::ToolReturned { is_error, text, .. } => {
            if text.trim().is_empty() {
                return None;
            }
            let (icon, tone) = if *is_error { ("x", "bad") } else { ("term", "") };
            let says = "<span class=\"tool\">A tool that was called before came back</span>".to_owned();
            Line { tone, below: term(text.trim_end()), ..plain(icon, says) }
        }
        Item::Edited { path, change } => {
            let mut line = plain("edit", String::new());
            dress_edit(&mut line, path, change.as_ref());
            line
        }
        Item::Committed { message } => Line {
            tone: "ok",
            ..plain(
                "check",
                format!("<span class=\"tool\">Commit</span> {}", escape(&words::one_line(message, 200))),
            )
        },
        Item::Planned { steps } => {
            let done = steps.iter().filter(|step| step.state == PlanState::Done).count();
            let rows: String = steps
                .iter()
                .map(|step| {
                    let (mark, name) = match step.state {
                        PlanState::Done => ("✓", "done"),
                        PlanState::UnderWay => ("▸", "under way"),
                        PlanState::Pending => ("○", "to do"),
                    };
                    format!(
                        "<li><span aria-hidden=\"true\">{mark}</span><span class=\"sr\">{name}: </span> {}</li>",
                        escape(&step.text)
                    )
                })
                .collect();
            let text = format!("<span class=\"tool\">Plan</span> {done} of {} done", steps.len());
            Line { below: format!("<ul class=\"plan\">{rows}</ul>"), ..plain("read", text) }
        }
        Item::PermissionAsked { what, answer, by } => {
            let (said, tone) = match answer {
                PermissionAnswer::Allowed => ("allowed", "ok"),
                PermissionAnswer::Denied => ("denied", "bad"),
            };
            let text = format!(
                "Asked to <code>{}</code> <span class=\"dim\">· {said} by {}</span>",
                escape(&words::one_line(what, 300)),
                escape(by)
            );
            Line { tone, ..plain("ask", text) }
        }
        Item::RateLimited { message, .. } => Line {
            tone: "warn",
            ..plain("clock", format!("Limited by the provider: {}", escape(&words::one_line(message, 300))))
        },
        Item::Skipped { bytes } => plain(
            "fold",
            format!("<span class=\"dim\">{bytes} bytes of output were too long to be read</span>"),
        ),
        Item::Noted { text } => {
            plain("flag", format!("<span class=\"dim\">{}</span>", escape(text.trim_end())))
        }
        Item::Ended { outcome } => {
            plain("back", format!("<b>Session ended</b> <span class=\"dim\">{}</span>", escape(outcome)))
        }
        Item::Used { .. } => return None,
    })
}

/// Names what a tool does, with its icon; a tool that is not known is named as the agent does.
///
/// Some agents name no tool but say what a call does, in words: that is shown as it is.
fn verb_of(tool: &str) -> (Markup, &'static str) {
    let (verb, icon) = named(tool);
    let is_title = tool.trim().contains(' ') && !tool.starts_with("mcp__");
    (if is_title { parts::prose(&words::one_line(tool, 300)) } else { Markup::new(escape(&verb)) }, icon)
}

fn named(tool: &str) -> (String, &'static str) {
    let name = tool.to_lowercase();
    let has = |words: &[&str]| words.iter().any(|word| name.contains(word));
    match () {
        () if name.starts_with("mcp__") || name.contains("regatta") => {
            let own = tool.rsplit("__").next().unwrap_or(tool).rsplit('.').next().unwrap_or(tool);
            (words::sentence(&own.replace('_', " ")), "flag")
        }
        () if has(&["bash", "shell", "exec", "command", "terminal", "run"]) => ("Run".to_owned(), "term"),
        () if has(&["grep", "search", "glob", "find"]) => ("Search".to_owned(), "search"),
        () if has(&["read", "view", "cat", "fetch", "list"]) => ("Read".to_owned(), "read"),
        () if has(&["write", "create"]) => ("Write".to_owned(), "edit"),
        () if has(&["edit", "patch", "replace"]) => ("Edit with".to_owned(), "edit"),
        () => (words::sentence(tool), "term"),
    }
}

fn row(line: &Line, clock: &Clock) -> String {
    let (text, below) = match &line.kind {
        Kind::Said(text) => match report_of(text) {
            Some(summary) => (
                format!("<span class=\"tool\">Result</span> <span class=\"say\">{}</span>", escape(&summary)),
                term(text.trim()),
            ),
            None => (prose(text, "say"), String::new()),
        },
        Kind::Complained(text) => (prose(text, "say err"), String::new()),
        Kind::Thought(text) => folded("Thinks", text),
        Kind::Prompt(text) => {
            let cut: String = text.chars().take(PROMPT_CHARACTERS_MAX).collect();
            let says = format!(
                "<b>Session started</b> <span class=\"dim\">with a prompt of {} lines</span>",
                text.lines().count()
            );
            (says, format!("<pre class=\"term\">{}</pre>", escape(&cut)))
        }
        Kind::Tool { .. } | Kind::Other => (line.text.clone(), line.below.clone()),
    };
    let time = line.at.to_zoned(clock.zone.clone()).strftime("%H:%M:%S").to_string();
    let icon = if line.is_running {
        "<span class=\"live\"></span>".to_owned()
    } else {
        parts::drawn(line.icon, &format!("i {}", line.tone)).into_string()
    };
    let running = if line.is_running { " data-running" } else { "" };
    let took = escape(&line.took);
    let inner = if below.is_empty() {
        format!("<div>{text}</div><span class=\"took\">{took}</span>")
    } else {
        let open = if line.is_open || line.is_running { " open" } else { "" };
        let arrow = parts::small("right");
        format!(
            "<details class=\"opens\"{open}><summary><span class=\"grow\">{text}</span><span class=\"took\">{took}{arrow}</span></summary>\
             <div class=\"open\">{below}</div></details>"
        )
    };
    format!(
        "<li data-from=\"{}\"{running}><time datetime=\"{}\">{time}</time>{icon}{inner}</li>",
        line.from, line.at
    )
}

/// Returns the summary of a text that is the report of a session, which is JSON.
fn report_of(text: &str) -> Option<String> {
    let text = text.trim();
    let report: Value = text.starts_with('{').then(|| serde_json::from_str(text).ok())??;
    report["summary"].as_str().map(|summary| summary.trim().to_owned()).filter(|summary| !summary.is_empty())
}

fn prose(text: &str, class: &str) -> String {
    format!("<div class=\"{class}\">{}</div>", escape(text.trim_matches('\n')))
}

/// A thought: a short one stands there, a long one opens.
fn folded(name: &str, text: &str) -> (String, String) {
    let text = text.trim();
    if text.chars().count() <= SHORT_CHARACTERS {
        return (format!("<div class=\"say dim\">{}</div>", escape(text)), String::new());
    }
    let first = words::one_line(text, 120);
    let head = format!("<span class=\"tool\">{name}</span> <span class=\"dim\">{}</span>", escape(&first));
    (head, format!("<div class=\"say dim\">{}</div>", escape(text)))
}

fn term(text: &str) -> String {
    format!("<pre class=\"term\">{}</pre>", escape(text))
}

/// Renders the first lines of an edit as a diff without line numbers.
fn mini(change: &Change) -> String {
    if change.lines.is_empty() {
        return String::new();
    }
    let row = |line: &String| {
        let mut characters = line.chars();
        let (class, mark) = match characters.next() {
            Some('+') => (" class=\"a\"", "+"),
            Some('-') => (" class=\"d\"", "−"),
            Some('@') => {
                return "<tr class=\"gap\"><td class=\"s\">⋯</td><td class=\"c\"></td></tr>".to_owned();
            }
            _ => ("", ""),
        };
        format!(
            "<tr{class}><td class=\"s\">{mark}</td><td class=\"c\">{}</td></tr>",
            escape(characters.as_str())
        )
    };
    let rows: String = change.lines.iter().map(row).collect();
    let more = match change.left_out {
        0 => String::new(),
        count => format!("<p class=\"dim more\">{}</p>", words::count(count, "more line")),
    };
    format!(
        "<div class=\"mini\"><table class=\"diff tiny\"><colgroup><col class=\"s\"><col></colgroup>{rows}</table>{more}</div>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::TimeZone;

    fn clock() -> Clock {
        Clock { now: "2026-03-05T13:42:10Z".parse().unwrap(), zone: TimeZone::UTC }
    }

    fn timed(second: u8, item: Item) -> TimedItem {
        TimedItem { at: format!("2026-03-05T13:00:{second:02}Z").parse().unwrap(), item }
    }

    fn called(id: &str, tool: &str, about: &str, path: Option<&str>) -> Item {
        Item::ToolCalled {
            id: id.to_owned(),
            tool: tool.to_owned(),
            about: about.to_owned(),
            path: path.map(str::to_owned),
        }
    }

    fn returned(id: &str, is_error: bool, text: &str) -> Item {
        Item::ToolReturned { id: id.to_owned(), is_error, text: text.to_owned() }
    }

    fn said(text: &str) -> Item {
        Item::Said { text: text.to_owned() }
    }

    fn show(items: Vec<Item>, is_open: bool) -> String {
        let items: Vec<(u64, TimedItem)> = items
            .into_iter()
            .zip(0u8..)
            .map(|(item, at)| (u64::from(at) * 100, timed(at * 2, item)))
            .collect();
        rows(&items, is_open, &clock()).into_string()
    }

    #[test]
    fn a_report_is_shown_by_its_summary() {
        let said = |text: &str| rows(&[(0, timed(1, Item::Said { text: text.to_owned() }))], false, &clock());
        let html = said(r#"{"summary":"All <done>","answers":[]}"#).into_string();
        assert!(html.contains("Result</span> <span class=\"say\">All &lt;done&gt;</span>"), "{html}");
        for plain in [r#"{"summary":""}"#, r#"{"tasks":[]}"#, "{summary", "done"] {
            assert!(!said(plain).into_string().contains("Result"), "{plain}");
        }
    }

    #[test]
    fn pieces_of_a_text_are_one_line_that_begins_with_the_first() {
        let html = show(vec![said("The lea"), said("der can\nfail."), called("1", "Bash", "ls", None)], true);
        assert!(html.contains("<div class=\"say\">The leader can\nfail.</div>"), "{html}");
        assert_eq!(html.matches("<li ").count(), 2);
        assert!(
            html.contains("data-from=\"0\"") && html.contains("data-from=\"200\" data-running"),
            "{html}"
        );
    }

    #[test]
    fn a_tool_is_one_line_with_what_came_back_below_it() {
        let items = vec![called("1", "Bash", "cargo test", None), said("x"), returned("1", false, "ok <b>")];
        let html = show(items, true);
        assert!(html.contains("Run</span> <code>cargo test</code>") && html.contains("4.0 s"), "{html}");
        assert!(html.contains("ok &lt;b&gt;") && !html.contains("data-running"), "{html}");
        let failed = show(vec![called("1", "Bash", "x", None), returned("1", true, "no such file")], true);
        assert!(failed.contains("i bad") && failed.contains("<details class=\"opens\" open>"), "{failed}");
        let alone = show(vec![returned("9", false, "late")], true);
        assert!(alone.contains("late"), "{alone}");
        assert!(
            !show(vec![called("1", "Bash", "x", None)], false).contains("data-running"),
            "the session is over"
        );
    }

    #[test]
    fn an_edit_joins_the_call_that_made_it() {
        let change = Change {
            added: 1,
            removed: 1,
            lines: vec![" a".into(), "-<i>".into(), "+b".into()],
            left_out: 3,
        };
        let edit = Item::Edited { path: "src/a.rs".to_owned(), change: Some(change) };
        let html = show(
            vec![
                called("1", "Edit", "src/a.rs", Some("/w/src/a.rs")),
                edit.clone(),
                returned("1", false, ""),
            ],
            true,
        );
        assert_eq!(html.matches("<li ").count(), 1, "{html}");
        assert!(html.contains("<span class=\"ok\">+1</span> <span class=\"bad\">−1</span>"), "{html}");
        assert!(html.contains("&lt;i&gt;") && html.contains("3 more lines"), "{html}");
        assert_eq!(show(vec![said("x"), edit], true).matches("<li ").count(), 2);
    }

    #[test]
    fn a_text_without_an_end_becomes_lines() {
        let html = show((0..8).map(|_| said(&"y".repeat(1_000))).collect(), true);
        assert_eq!(html.matches("<li ").count(), 2);
    }

    #[test]
    fn what_an_agent_writes_is_text_everywhere() {
        let evil = "<script>alert(1)</script>\"'><img src=x onerror=y>";
        let items = vec![
            Item::Prompted { text: evil.to_owned() },
            said(evil),
            Item::Thought { text: evil.repeat(20) },
            Item::Complained { text: evil.to_owned() },
            called(evil, evil, evil, Some(evil)),
            returned(evil, true, evil),
            Item::Edited { path: evil.to_owned(), change: None },
            Item::Committed { message: evil.to_owned() },
            Item::PermissionAsked {
                what: evil.to_owned(),
                answer: PermissionAnswer::Denied,
                by: evil.to_owned(),
            },
            Item::RateLimited { message: evil.to_owned(), until: None },
            Item::Noted { text: evil.to_owned() },
            Item::Ended { outcome: evil.to_owned() },
        ];
        let html = show(items, true);
        assert!(!html.contains("<script") && !html.contains("<img") && !html.contains("\"'>"), "{html}");
    }
}
