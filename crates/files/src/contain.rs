//! Makes a text fit to stand inside a part of a task file, so that it cannot become structure.
//!
//! A chain output may well contain `## Summary`, or a fence that is never closed. The words stay as they are:
//! headings are deepened, and a text that would hide what follows it is put into a fence of its own.

use crate::line;
use crate::outline::Outline;

/// Stands for what follows the text in the file.
const SENTINEL: &str = "\n\n## following\n";

/// Markdown has no deeper headings.
const LEVEL_MAX: usize = 6;

/// Returns the text with no heading above `level`, and nothing left open at its end.
///
/// Line endings must be LF. Blank lines around the text are left out.
pub(crate) fn contain(text: &str, level: usize) -> String {
    let text = &text[line::trim_blank_lines(text, 0..text.len())];
    let probe = format!("{text}{SENTINEL}");
    let outline = Outline::of(&probe);
    let is_open = outline.headings.last().is_none_or(|heading| heading.range.start < text.len());
    if is_open {
        return fence(text);
    }
    let own = &outline.headings[..outline.headings.len() - 1];
    let lowest = own.iter().map(|heading| heading.level).min().unwrap_or(level);
    let added = level.saturating_sub(lowest);
    let mut out = String::with_capacity(text.len());
    let mut copied = 0;
    for heading in own {
        let marks = text[heading.range.start..]
            .find('#')
            .map_or(heading.range.start, |found| heading.range.start + found);
        out.push_str(&text[copied..marks]);
        out.push_str(&"#".repeat(added.min(LEVEL_MAX - heading.level)));
        copied = marks;
    }
    out.push_str(&text[copied..]);
    out
}

/// Puts a text into a fence that nothing in it can close.
pub(crate) fn fence(text: &str) -> String {
    let mark = fence_mark(text);
    let ending = if text.is_empty() || text.ends_with(['\n', '\r']) { "" } else { "\n" };
    format!("{mark}text\n{text}{ending}{mark}")
}

/// Returns a fence that is longer than any in the text.
pub(crate) fn fence_mark(text: &str) -> String {
    let mut longest = 0;
    let mut run = 0;
    for byte in text.bytes() {
        run = if byte == b'~' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    "~".repeat(longest.max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_are_deepened_together() {
        assert_eq!(contain("\n# A\ntext\n## B\n\n", 3), "### A\ntext\n#### B");
        assert_eq!(contain("# A\n\n###### B", 4), "#### A\n\n###### B");
        assert_eq!(contain("### A\n```\n# not\n```", 3), "### A\n```\n# not\n```");
    }

    #[test]
    fn what_is_left_open_goes_into_a_fence() {
        assert_eq!(contain("a\n```\nb", 3), "~~~text\na\n```\nb\n~~~");
        assert_eq!(contain("<!-- ~~~~", 3), "~~~~~text\n<!-- ~~~~\n~~~~~");
        assert_eq!(contain("", 3), "");
    }
}
