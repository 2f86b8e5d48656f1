//! Faults as a person reads them: what, where with the line of the file, and what to do.
//!
//! ```text
//! error[cap-without-way-out]: there is no way out after `retry` was taken 3 times
//!   --> workflow.toml:12:6
//!    |
//! 12 | id = "retry"
//!    |      ^^^^^^^
//!    = help: add an `[[edges.exhausted]]` route, for example to an end
//! ```
//!
//! It is plain text. A library for this would bring more than these lines need: one mark in one line.

use std::fmt::Write;

use crate::fault::Fault;
use crate::folder::Folder;
use crate::source::BYTE_ORDER_MARK;

/// The longest line that is shown, in characters; a longer one is cut around the mark.
const LINE_CHARACTERS_MAX: usize = 120;

/// How much of a long line is shown before the mark.
const BEFORE_MARK: usize = 40;

/// Renders faults in their order, with the lines of the files they stand in, and how many there are.
pub fn render_faults(faults: &[Fault], folder: &Folder) -> String {
    let mut text = String::new();
    for fault in faults {
        render_fault(&mut text, fault, folder);
        text.push('\n');
    }
    text.push_str(&count(faults));
    text
}

fn render_fault(text: &mut String, fault: &Fault, folder: &Folder) {
    let Fault { severity, rule, file, line, column, message, .. } = fault;
    let margin = " ".repeat(line.to_string().len());
    let _ = writeln!(text, "{severity}[{rule}]: {message}");
    let _ = writeln!(text, "{margin}--> {file}:{line}:{column}");
    let source = folder.find(file).map(|source| source.trim_start_matches(BYTE_ORDER_MARK));
    if let Some(source) = source.and_then(|source| source.lines().nth(line.saturating_sub(1))) {
        let (shown, mark) = mark_line(source, column.saturating_sub(1), fault.excerpt.chars().count());
        let _ = writeln!(text, "{margin} |\n{line} | {shown}\n{margin} | {mark}");
    }
    if let Some(hint) = &fault.hint {
        let _ = writeln!(text, "{margin} = help: {hint}");
    }
}

/// Returns a line and what marks a stretch of it, both cut alike if the line is long.
fn mark_line(source: &str, start: usize, length: usize) -> (String, String) {
    let characters: Vec<char> = source.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let skipped = if characters.len() > LINE_CHARACTERS_MAX { start.saturating_sub(BEFORE_MARK) } else { 0 };
    let end = characters.len().min(skipped + LINE_CHARACTERS_MAX);
    let shown: String = characters.get(skipped..end).unwrap_or_default().iter().collect();
    let start = start - skipped;
    let length = length.min((end - skipped).saturating_sub(start)).max(1);
    (shown.trim_end().to_owned(), format!("{}{}", " ".repeat(start), "^".repeat(length)))
}

fn count(faults: &[Fault]) -> String {
    let errors = faults.iter().filter(|fault| fault.is_error()).count();
    let plural = |count: usize, word: &str| format!("{count} {word}{}", if count == 1 { "" } else { "s" });
    format!("{}, {}\n", plural(errors, "error"), plural(faults.len() - errors, "warning"))
}

#[cfg(test)]
mod tests {
    use expect_test::expect;

    use super::*;
    use crate::fault::Severity;

    fn fault(line: usize, column: usize, excerpt: &str) -> Fault {
        Fault {
            severity: Severity::Error,
            rule: "some-rule",
            file: "workflow.toml".to_owned(),
            line,
            column,
            excerpt: excerpt.to_owned(),
            message: "something is wrong".to_owned(),
            hint: Some("fix it".to_owned()),
        }
    }

    fn folder(text: &str) -> Folder {
        [("workflow.toml".to_owned(), text.to_owned())].into_iter().collect()
    }

    #[test]
    fn the_mark_stands_below_the_text_also_behind_wide_letters() {
        let text = format!("{}id = \"ä\"\twhen = 1", "\n".repeat(11));
        expect![[r#"
            error[some-rule]: something is wrong
              --> workflow.toml:12:6
               |
            12 | id = "ä" when = 1
               |      ^^^
               = help: fix it

            1 error, 0 warnings
        "#]]
        .assert_eq(&render_faults(&[fault(12, 6, "\"ä\"")], &folder(&text)));
    }

    #[test]
    fn a_long_line_is_cut_around_the_mark() {
        let text = format!("{}bad{}", "x".repeat(300), "y".repeat(300));
        let rendered = render_faults(&[fault(1, 301, "bad")], &folder(&text));
        let lines: Vec<&str> = rendered.lines().collect();
        assert_eq!(lines[3], format!("1 | {}bad{}", "x".repeat(40), "y".repeat(77)));
        assert_eq!(lines[4], format!("  | {}^^^", " ".repeat(40)));
    }

    #[test]
    fn a_place_that_is_not_there_is_told_without_a_line() {
        let rendered = render_faults(&[fault(9, 9, "x")], &folder("one line"));
        assert!(
            rendered.starts_with("error[some-rule]: something is wrong\n --> workflow.toml:9:9\n  = help"),
            "{rendered}"
        );
        let rendered = render_faults(&[fault(1, 99, "xyz")], &folder("one line"));
        assert!(rendered.contains("1 | one line\n"), "{rendered}");
    }
}
