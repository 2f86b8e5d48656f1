//! Chain inputs: what a task learns from the tasks it depends on.
//!
//! An entry is a heading, a mark if it is stale, the summary as a block quote, and a link to the rest. The
//! engine may replace these lines; whatever a person wrote below them is kept.

use std::fmt::Write;
use std::ops::Range;

use crate::line;
use crate::session::{protect_closing_marks, strip_separator};

/// How the line begins that marks an entry as stale.
const STALE: &str = "**Stale:**";

/// The words of the link to the whole output.
const LINK_TEXT: &str = "[Full chain output](";

/// One entry of the chain inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainInput {
    /// The task it comes from.
    pub task: Option<u32>,
    /// That task's title.
    pub title: String,
    /// The text under the heading, without blank lines around it.
    pub body: String,
    /// What the quote says.
    pub summary: String,
    /// Where the whole output is.
    pub link: Option<String>,
    /// Whether it is marked as out of date.
    pub stale: bool,
    /// All of it, from its heading to the next.
    pub range: Range<usize>,
    /// The line of its heading, from 1.
    pub line: usize,
    /// The lines that the engine wrote, from the heading on.
    pub(crate) written: Range<usize>,
}

/// A chain input to be written.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewChainInput {
    /// The task it comes from.
    pub task: u32,
    /// That task's title.
    pub title: String,
    /// The summary of its output.
    pub summary: String,
    /// Where the whole output is.
    pub link: Option<String>,
    /// Whether that output has changed since it was used.
    pub stale: bool,
}

/// Reads `From Task #100: Title`; returns nothing when it begins otherwise.
pub(crate) fn parse_heading(text: &str) -> Option<(Option<u32>, String)> {
    let head = text.get(.."From Task".len())?;
    let rest = text["From Task".len()..].trim_start().trim_start_matches('#');
    if !head.eq_ignore_ascii_case("From Task") {
        return None;
    }
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    let title = strip_separator(&rest[digits..]);
    Some((rest[..digits].parse().ok(), unprotect_closing_marks(title)))
}

/// Reads the entry whose heading has been read.
pub(crate) fn parse_entry(
    text: &str,
    range: Range<usize>,
    body: Range<usize>,
    (task, title): (Option<u32>, String),
    line: usize,
) -> ChainInput {
    let mut input = ChainInput {
        task,
        title,
        body: text[line::trim_blank_lines(text, body.clone())].to_owned(),
        summary: String::new(),
        link: None,
        stale: false,
        written: range.start..body.start,
        range,
        line,
    };
    let mut summary: Vec<&str> = Vec::new();
    for range in line::lines(text, body) {
        let content = text[range.clone()].trim();
        let is_quote = content.starts_with('>');
        if let Some(quoted) = content.strip_prefix('>').filter(|_| input.link.is_none()) {
            summary.push(quoted.strip_prefix(' ').unwrap_or(quoted));
        } else if content.starts_with(STALE) && summary.is_empty() {
            input.stale = true;
        } else if let Some(link) = parse_link(content).filter(|_| input.link.is_none()) {
            input.link = Some(link.to_owned());
        } else if !content.is_empty() {
            break;
        }
        if is_quote || !content.is_empty() {
            input.written.end = range.end;
        }
    }
    input.summary = summary.join("\n");
    input
}

fn parse_link(line: &str) -> Option<&str> {
    line.strip_prefix(LINK_TEXT)?.strip_suffix(')')
}

/// Writes an entry with LF line endings, without a line ending at its end.
pub(crate) fn render(input: &NewChainInput) -> String {
    let title = line::on_one_line(&input.title);
    let mut out =
        format!("### From Task #{}: {}", input.task, protect_closing_marks(&title)).trim_end().to_owned();
    if input.stale {
        let _ =
            write!(out, "\n{STALE} the output of task #{} has changed since it was used here.\n", input.task);
    }
    let summary = line::with_endings(&input.summary, "\n");
    for line in summary.trim_end().split('\n') {
        let _ = write!(out, "\n> {}", line.trim_end());
        out.truncate(out.trim_end_matches(' ').len());
    }
    if let Some(link) = &input.link {
        let _ = write!(out, "\n\n{LINK_TEXT}{})", line::on_one_line(link));
    }
    out
}

/// Tells whether an entry already says this.
pub(crate) fn says(entry: &ChainInput, input: &NewChainInput) -> bool {
    let lines = |text: &str| -> Vec<String> {
        line::with_endings(text, "\n").trim_end().split('\n').map(|line| line.trim_end().to_owned()).collect()
    };
    entry.task == Some(input.task)
        && entry.title == line::on_one_line(&input.title)
        && lines(&entry.summary) == lines(&input.summary)
        && entry.link == input.link
        && entry.stale == input.stale
}

fn unprotect_closing_marks(title: &str) -> String {
    let open = title.trim_end_matches('#');
    match open.strip_suffix('\\') {
        Some(before) if open.len() < title.len() => format!("{before}{}", &title[open.len()..]),
        _ => title.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> ChainInput {
        let body = line::line_end(text, 0);
        let heading = parse_heading(text[..body].trim_start_matches('#').trim()).unwrap();
        parse_entry(text, 0..text.len(), body..text.len(), heading, 1)
    }

    #[test]
    fn what_is_written_reads_back() {
        let input = NewChainInput {
            task: 100,
            title: "Learn C #".into(),
            summary: "Users table:\n\n- id\n## not a heading".into(),
            link: Some("/api/tasks/100/chain-output".into()),
            stale: true,
        };
        let text = render(&input);
        assert_eq!(
            text,
            "### From Task #100: Learn C \\#\n\
             **Stale:** the output of task #100 has changed since it was used here.\n\n\
             > Users table:\n>\n> - id\n> ## not a heading\n\n[Full chain output](/api/tasks/100/chain-output)"
        );
        let entry = read(&text);
        assert!(says(&entry, &input), "{entry:?}");
        assert_eq!(entry.written, 0..text.len());
        assert!(!says(&entry, &NewChainInput { stale: false, ..input }));
    }

    #[test]
    fn what_a_person_added_is_not_part_of_what_was_written() {
        let text = "### From Task #1: A\n> b\n\nmy own note\n> quoted\n";
        let entry = read(text);
        assert_eq!((entry.summary.as_str(), &text[entry.written]), ("b", "### From Task #1: A\n> b\n"));
        assert_eq!(entry.body, "> b\n\nmy own note\n> quoted");
    }

    #[test]
    fn a_heading_names_a_task_or_at_least_says_so() {
        assert_eq!(parse_heading("From Task #100: A"), Some((Some(100), "A".into())));
        assert_eq!(parse_heading("from task 7 – B"), Some((Some(7), "B".into())));
        assert_eq!(parse_heading("From Task: C"), Some((None, "C".into())));
        assert_eq!(parse_heading("Notes"), None);
    }
}
