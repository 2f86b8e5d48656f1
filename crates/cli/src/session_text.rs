//! What happened in a session, as lines that a person reads: what it says, a line per tool call, small diffs.
//!
//! Texts of items are safe to show as they are. Agents say things piece by piece, so a line is held until it is whole or
//! something else happens.

use crate::screen::{BOLD, CYAN, DIM, GREEN, RED, YELLOW};
use crate::verb::cost::{render_cost, render_time};
use crate::wrap::{cut, wrap};
use anstyle::Style;
use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use regatta_engine::core::session::Ending;
use regatta_engine::{Change, Item, PermissionAnswer, PlanState, SessionEnd, SessionLog, TimedItem};

/// The time of day stands before everything.
const MARGIN: usize = 10;

/// Narrower than this, text is not wrapped.
const TEXT_WIDTH_MIN: usize = 30;

/// Wider than this is hard to read.
const TEXT_WIDTH_MAX: usize = 110;

/// What was used is shown again after this long.
const USAGE_EVERY: SignedDuration = SignedDuration::from_secs(30);

/// Lines of a failed tool's answer that are shown.
const FAILED_LINES_MAX: usize = 3;

/// Renders one session after the other.
pub(crate) struct SessionText {
    /// The width of the terminal; without one nothing is wrapped.
    width: Option<usize>,
    zone: TimeZone,
    shows_prompt: bool,
    held: Held,
    /// The time that was shown last.
    shown_at: Option<String>,
    prompt_lines: usize,
    tool: Option<(String, Option<String>)>,
    used: Option<Used>,
    told: Option<(Timestamp, Used)>,
    lines: Vec<String>,
}

/// Text that is being said, and how far its last line is.
#[derive(Default)]
struct Held {
    text: String,
    voice: Voice,
    at: Option<Timestamp>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
enum Voice {
    #[default]
    Says,
    Thinks,
    Complains,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Used {
    input: u64,
    cached: u64,
    output: u64,
    cost_micros: Option<u64>,
}

impl SessionText {
    pub(crate) fn new(width: Option<usize>, zone: TimeZone, shows_prompt: bool) -> Self {
        SessionText {
            width,
            zone,
            shows_prompt,
            held: Held::default(),
            shown_at: None,
            prompt_lines: 0,
            tool: None,
            used: None,
            told: None,
            lines: Vec::new(),
        }
    }

    /// Renders the line above a session.
    pub(crate) fn begin(&mut self, log: &SessionLog) -> Vec<String> {
        self.shown_at = None;
        self.tool = None;
        self.used = None;
        self.told = None;
        let task = log.task_id.map(|task| format!("task #{task}"));
        let run = log.run_id.map(|run| format!("run {run}"));
        let role = log.role.as_ref().map(|role| format!("{role} ({})", log.agent_id));
        let parts = [
            task,
            run,
            Some(format!("session {}", log.number)),
            Some(role.unwrap_or_else(|| log.agent_id.to_string())),
            Some(self.day_and_time(log.opened_at)),
        ];
        let title = parts.into_iter().flatten().collect::<Vec<_>>().join(" · ");
        vec![format!("{BOLD}── {title} ──{BOLD:#}")]
    }

    /// Renders one item; lines come when they are whole.
    pub(crate) fn push(&mut self, timed: &TimedItem) -> Vec<String> {
        let at = timed.at;
        if !matches!(timed.item, Item::Prompted { .. }) {
            self.end_prompt(at);
        }
        match &timed.item {
            Item::Prompted { text } => self.prompt(at, text),
            Item::Said { text } => self.say(at, Voice::Says, text),
            Item::Thought { text } => self.say(at, Voice::Thinks, text),
            Item::Complained { text } => self.say(at, Voice::Complains, text),
            Item::Used { input_tokens, cached_tokens, output_tokens, cost_micros } => {
                self.used = Some(Used {
                    input: *input_tokens,
                    cached: *cached_tokens,
                    output: *output_tokens,
                    cost_micros: *cost_micros,
                });
            }
            other => {
                self.flush();
                self.action(at, other);
            }
        }
        self.tell_usage(at);
        std::mem::take(&mut self.lines)
    }

    /// Renders what is held back, and how the session ended, if it did.
    pub(crate) fn finish(&mut self, log: &SessionLog) -> Vec<String> {
        self.flush();
        if let Some(end) = &log.end {
            self.lines.push(self.ending(log, end));
        }
        std::mem::take(&mut self.lines)
    }

    /// Says in a few words what the session is doing and what it used.
    pub(crate) fn status(&self) -> String {
        let tool = self.tool.as_ref().map_or("working", |(tool, _)| tool.as_str());
        match self.used {
            Some(used) => format!("{tool} · {}", used.total()),
            None => tool.to_owned(),
        }
    }

    fn prompt(&mut self, at: Timestamp, text: &str) {
        self.flush();
        self.prompt_lines += text.lines().count();
        if self.shows_prompt {
            self.paragraph(at, DIM, text);
        }
    }

    fn end_prompt(&mut self, at: Timestamp) {
        let lines = std::mem::take(&mut self.prompt_lines);
        if lines > 0 && !self.shows_prompt {
            let noun = if lines == 1 { "line" } else { "lines" };
            self.line(at, &format!("{DIM}prompt of {lines} {noun} (--prompt shows it){DIM:#}"));
        }
    }

    fn say(&mut self, at: Timestamp, voice: Voice, text: &str) {
        if self.held.voice != voice {
            self.flush();
            self.held.voice = voice;
        }
        self.held.at.get_or_insert(at);
        self.held.text.push_str(text);
        if let Some(end) = self.held.text.rfind('\n') {
            let rest = self.held.text.split_off(end + 1);
            self.speak();
            if !rest.is_empty() {
                self.held = Held { text: rest, voice, at: Some(at) };
            }
        }
    }

    /// Ends the line that is being said.
    fn flush(&mut self) {
        if !self.held.text.is_empty() {
            self.speak();
        }
    }

    fn speak(&mut self) {
        let Held { text, voice, at } = std::mem::take(&mut self.held);
        self.held.voice = voice;
        let Some(at) = at else { return };
        let style = match voice {
            Voice::Says => Style::new(),
            Voice::Thinks => DIM.italic(),
            Voice::Complains => YELLOW,
        };
        self.paragraph(at, style, &text);
    }

    fn action(&mut self, at: Timestamp, item: &Item) {
        match item {
            Item::ToolCalled { tool, about, path, .. } => {
                let tool = one_line(tool);
                let shown = self.fit(&one_line(about), tool.chars().count() + 1);
                self.line(at, format!("{CYAN}{tool}{CYAN:#} {shown}").trim_end());
                let doing = format!("{tool} {about}").trim_end().to_owned();
                self.tool = Some((doing, path.clone()));
            }
            Item::ToolReturned { is_error: true, text, .. } => {
                let lines: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
                let (first, rest) =
                    lines.split_first().map_or(("no reason given", &[][..]), |(first, rest)| (*first, rest));
                let first = self.fit(first, 8);
                self.more(&format!("{RED}failed:{RED:#} {first}"));
                for line in rest.iter().take(FAILED_LINES_MAX - 1) {
                    let line = self.fit(line, 8);
                    self.more(&format!("{DIM}        {line}{DIM:#}"));
                }
            }
            Item::ToolReturned { .. } => {}
            Item::Edited { path, change } => self.edit(at, path, change.as_ref()),
            Item::Committed { message } => {
                let first = message.lines().next().unwrap_or_default();
                self.line(at, &format!("{CYAN}commit{CYAN:#} {}", self.fit(first, 7)));
            }
            Item::Planned { steps } => {
                self.line(at, &format!("{CYAN}plan{CYAN:#}"));
                for step in steps {
                    let (mark, style) = match step.state {
                        PlanState::Done => ('x', DIM),
                        PlanState::UnderWay => ('>', BOLD),
                        PlanState::Pending => (' ', Style::new()),
                    };
                    let text = self.fit(&one_line(&step.text), 6);
                    self.more(&format!("  {style}[{mark}] {text}{style:#}"));
                }
            }
            Item::PermissionAsked { what, answer, by } => {
                let (said, style) = match answer {
                    PermissionAnswer::Allowed => ("allowed", GREEN),
                    PermissionAnswer::Denied => ("denied", RED),
                };
                let what = self.fit(&one_line(what), said.len() + by.len() + 5);
                self.line(at, &format!("{style}{said}{style:#} by {by}: {what}"));
            }
            Item::RateLimited { message, until } => {
                let until = until.map_or_else(String::new, |until| format!(" until {}", self.time(until)));
                let message = self.fit(&one_line(message), 40);
                self.line(at, &format!("{YELLOW}rate limit{until}:{YELLOW:#} {message}"));
            }
            Item::Skipped { bytes } => {
                self.line(at, &format!("{DIM}{bytes} bytes of output were too long to be read{DIM:#}"));
            }
            Item::Noted { text } => self.paragraph(at, DIM, text),
            // How it ended, and what it used, is said below the session; only the reason is not.
            Item::Ended { outcome } if outcome.starts_with("failed") => self.paragraph(at, RED, outcome),
            Item::Ended { .. } => {}
            Item::Prompted { .. }
            | Item::Said { .. }
            | Item::Thought { .. }
            | Item::Complained { .. }
            | Item::Used { .. } => {}
        }
    }

    /// The file is named unless the call before it did.
    fn edit(&mut self, at: Timestamp, path: &str, change: Option<&Change>) {
        let is_named = self.tool.as_ref().is_some_and(|(_, file)| file.as_deref() == Some(path));
        let counts = change
            .map(|change| format!(" {GREEN}+{}{GREEN:#} {RED}-{}{RED:#}", change.added, change.removed));
        let counts = counts.unwrap_or_default();
        if is_named {
            if !counts.is_empty() {
                self.more(counts.trim_start());
            }
        } else {
            self.line(at, &format!("{CYAN}edit{CYAN:#} {}{counts}", self.fit(&one_line(path), 20)));
        }
        let Some(change) = change else { return };
        for line in &change.lines {
            let (mark, text) = line.split_at(line.chars().next().map_or(0, char::len_utf8));
            let text = self.fit(&text.replace('\t', "    "), 4);
            let shown = match mark {
                "+" => format!("{GREEN}+ {text}{GREEN:#}"),
                "-" => format!("{RED}- {text}{RED:#}"),
                "@" => format!("{DIM}…{DIM:#}"),
                _ => format!("{DIM}  {text}{DIM:#}"),
            };
            self.more(&format!("  {shown}"));
        }
        if change.left_out > 0 {
            let noun = if change.left_out == 1 { "line" } else { "lines" };
            self.more(&format!("  {DIM}… {} more {noun}{DIM:#}", change.left_out));
        }
    }

    /// Tells what was used, if it has changed and was not told for a while.
    fn tell_usage(&mut self, at: Timestamp) {
        let Some(used) = self.used else { return };
        let is_due = match self.told {
            Some((_, told)) if told == used => false,
            Some((since, _)) => at.duration_since(since) >= USAGE_EVERY,
            None => {
                // The first figures say little; the time runs from them.
                self.told = Some((at, Used { input: 0, cached: 0, output: 0, cost_micros: None }));
                false
            }
        };
        if is_due {
            self.told = Some((at, used));
            self.more(&format!("{DIM}{}{DIM:#}", used.in_full()));
        }
    }

    fn ending(&self, log: &SessionLog, end: &SessionEnd) -> String {
        let took = render_time(u64::try_from(end.at.duration_since(log.opened_at).as_millis()).unwrap_or(0));
        let word = match end.ending {
            Ending::Finished => format!("{GREEN}finished{GREEN:#}"),
            Ending::Stopped => format!("{YELLOW}stopped{YELLOW:#}"),
            Ending::Failed => {
                let class = end.class.map_or_else(String::new, |class| format!(" ({class})"));
                format!("{RED}failed{class}{RED:#}")
            }
            Ending::Lost => format!("{RED}lost{RED:#}"),
        };
        let tokens = end.usage.input_tokens.saturating_add(end.usage.output_tokens);
        let used = match (tokens, end.usage.cost_micros) {
            (0, _) => String::new(),
            (tokens, Some(micros)) => format!(" · {} tokens · {}", grouped(tokens), render_cost(micros, 0)),
            (tokens, None) => format!(" · {} tokens", grouped(tokens)),
        };
        format!("{BOLD}──{BOLD:#} {word} after {took}{used} {BOLD}──{BOLD:#}")
    }

    /// Adds text that may have several lines, wrapped.
    fn paragraph(&mut self, at: Timestamp, style: Style, text: &str) {
        let text = text.trim_end_matches('\n');
        for (index, line) in text.lines().enumerate() {
            let line = line.replace('\t', "    ");
            for (piece_index, piece) in wrap(&line, self.text_width()).into_iter().enumerate() {
                let shown = if piece.is_empty() { String::new() } else { format!("{style}{piece}{style:#}") };
                if index == 0 && piece_index == 0 { self.line(at, &shown) } else { self.more(&shown) }
            }
        }
    }

    /// Adds a line with its time, which is left out while it stays the same.
    fn line(&mut self, at: Timestamp, text: &str) {
        let time = self.time(at);
        if self.shown_at.as_deref() == Some(time.as_str()) {
            return self.more(text);
        }
        self.lines.push(format!("{DIM}{time}{DIM:#}  {text}").trim_end().to_owned());
        self.shown_at = Some(time);
    }

    /// Adds a line below another.
    fn more(&mut self, text: &str) {
        self.lines.push(format!("{:MARGIN$}{text}", "").trim_end().to_owned());
    }

    fn text_width(&self) -> Option<usize> {
        let width = self.width?.saturating_sub(MARGIN);
        (width >= TEXT_WIDTH_MIN).then_some(width.min(TEXT_WIDTH_MAX))
    }

    /// Cuts a text so that it fits on a line beside so many other columns.
    fn fit(&self, text: &str, beside: usize) -> String {
        let width = self.width.map(|width| width.saturating_sub(MARGIN + beside).max(TEXT_WIDTH_MIN));
        width.map_or_else(|| text.to_owned(), |width| cut(text, width))
    }

    fn time(&self, at: Timestamp) -> String {
        at.to_zoned(self.zone.clone()).strftime("%H:%M:%S").to_string()
    }

    fn day_and_time(&self, at: Timestamp) -> String {
        at.to_zoned(self.zone.clone()).strftime("%Y-%m-%d %H:%M:%S").to_string()
    }
}

impl Used {
    fn total(&self) -> String {
        let cost =
            self.cost_micros.map_or_else(String::new, |micros| format!(" · {}", render_cost(micros, 0)));
        format!("{} tokens{cost}", grouped(self.input.saturating_add(self.output)))
    }

    fn in_full(&self) -> String {
        let cached = match self.cached {
            0 => String::new(),
            cached => format!(" ({} cached)", grouped(cached)),
        };
        let cost =
            self.cost_micros.map_or_else(String::new, |micros| format!(", {}", render_cost(micros, 0)));
        format!("{} tokens in{cached}, {} out{cost} so far", grouped(self.input), grouped(self.output))
    }
}

/// Writes a number as people do: 12,345.
pub(crate) fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(width: Option<usize>, items: &[&str]) -> String {
        let mut text = SessionText::new(width, TimeZone::UTC, false);
        let mut lines = Vec::new();
        for (index, item) in items.iter().enumerate() {
            let at = format!("2026-01-01T10:00:{index:02}Z");
            let line = if item.starts_with('{') {
                format!("{{\"at\":\"{at}\",\"stream\":\"item\",\"item\":{item}}}")
            } else {
                format!("{{\"at\":\"{at}\",{item}}}")
            };
            let timed = TimedItem::parse(line.as_bytes()).expect("the line can be read");
            lines.extend(text.push(&timed));
        }
        text.flush();
        lines.append(&mut text.lines);
        anstream::adapter::strip_str(&lines.join("\n")).to_string() + "\n"
    }

    #[test]
    fn a_session_reads_like_a_report() {
        let shown = render(
            Some(80),
            &[
                r#""stream":"prompt","text":"one\ntwo\n""#,
                r#"{"kind":"thought","text":"Where is it?"}"#,
                r#"{"kind":"said","text":"I will look at "}"#,
                r#"{"kind":"said","text":"the greeting first, because the task says that it has to be polite.\nThen"}"#,
                r#"{"kind":"toolCalled","id":"1","tool":"Read","about":"src/greeting.txt","path":"src/greeting.txt"}"#,
                r#"{"kind":"toolReturned","id":"1","isError":false,"text":"hello"}"#,
                r#"{"kind":"toolCalled","id":"2","tool":"Edit","about":"src/greeting.txt","path":"src/greeting.txt"}"#,
                r#"{"kind":"edited","path":"src/greeting.txt","change":{"added":1,"removed":1,"lines":[" one","-hello","+\thello world","@"],"leftOut":3}}"#,
                r#"{"kind":"toolCalled","id":"3","tool":"Bash","about":"cargo test --workspace --all-features --no-fail-fast -- --test-threads 1 a_very_long_name"}"#,
                r#"{"kind":"toolReturned","id":"3","isError":true,"text":"error: test failed\n\nto rerun pass --lib\nthird\nfourth"}"#,
                r#"{"kind":"edited","path":"other.txt"}"#,
                r#"{"kind":"planned","steps":[{"text":"look","state":"done"},{"text":"change it","state":"underWay"},{"text":"test","state":"pending"}]}"#,
                r#"{"kind":"permissionAsked","what":"rm -rf /","answer":"denied","by":"policy"}"#,
                r#"{"kind":"rateLimited","message":"too many requests","until":"2026-01-01T10:05:00Z"}"#,
                r#"{"kind":"used","inputTokens":12345,"cachedTokens":1000,"outputTokens":180,"costMicros":16600}"#,
                r#""stream":"note","text":"finished","end":true"#,
            ],
        );
        insta::assert_snapshot!(shown, @r#"
        10:00:01  prompt of 2 lines (--prompt shows it)
                  Where is it?
        10:00:02  I will look at the greeting first, because the task says that it has
                  to be polite.
        10:00:03  Then
        10:00:04  Read src/greeting.txt
        10:00:06  Edit src/greeting.txt
                  +1 -1
                      one
                    - hello
                    +     hello world
                    …
                    … 3 more lines
        10:00:08  Bash cargo test --workspace --all-features --no-fail-fast -- --test-t…
                  failed: error: test failed
                          to rerun pass --lib
                          third
        10:00:10  edit other.txt
        10:00:11  plan
                    [x] look
                    [>] change it
                    [ ] test
        10:00:12  denied by policy: rm -rf /
        10:00:13  rate limit until 10:05:00: too many requests
        "#);
    }

    #[test]
    fn pieces_of_a_message_are_put_together_and_nothing_wraps_without_a_terminal() {
        let long = "word ".repeat(40);
        let shown = render(
            None,
            &[&format!("{{\"kind\":\"said\",\"text\":\"{long}\"}}"), r#"{"kind":"said","text":"end"}"#],
        );
        assert_eq!(shown, format!("10:00:00  {long}end\n"));
    }

    #[test]
    fn numbers_are_grouped() {
        assert_eq!([0, 999, 1000, 1_234_567].map(grouped), ["0", "999", "1,000", "1,234,567"]);
    }
}
