//! The chain output: what the tasks after this one learn from it.

use std::ops::Range;

use crate::line;
use crate::outline::Outline;

/// Returns the text of the section without blank lines around it; nothing while it is only a placeholder.
///
/// A placeholder is one line in parentheses. Comments beside it do not count.
pub(crate) fn find(text: &str, outline: &Outline, body: Range<usize>) -> Option<Range<usize>> {
    let mut rest = String::new();
    let mut at = body.start;
    for html in outline.html.iter().filter(|html| html.start >= body.start && html.end <= body.end) {
        if text[html.clone()].trim_start().starts_with("<!--") {
            rest.push_str(&text[at..html.start]);
            at = html.end;
        }
    }
    rest.push_str(&text[at..body.end]);
    (!is_placeholder(&rest)).then(|| line::trim_blank_lines(text, body))
}

/// Tells whether a text is blank, or one line in parentheses.
pub(crate) fn is_placeholder(text: &str) -> bool {
    let text = text.trim();
    text.is_empty() || (text.starts_with('(') && text.ends_with(')') && !text.contains(['\n', '\r']))
}

/// Returns what stands under `### Summary`, or the first paragraph that is no heading.
pub(crate) fn find_summary(text: &str, outline: &Outline, output: Range<usize>) -> Option<Range<usize>> {
    let mut headings =
        outline.headings.iter().filter(|heading| output.contains(&heading.range.start)).peekable();
    while let Some(heading) = headings.next() {
        if text[heading.text.clone()].eq_ignore_ascii_case("Summary") {
            let level = heading.level;
            let end = headings.find(|next| next.level <= level).map_or(output.end, |next| next.range.start);
            return Some(line::trim_blank_lines(text, heading.range.end.min(end)..end));
        }
    }
    first_paragraph(text, outline, output)
}

fn first_paragraph(text: &str, outline: &Outline, output: Range<usize>) -> Option<Range<usize>> {
    let is_heading = |at| outline.headings.binary_search_by_key(&at, |heading| heading.range.start).is_ok();
    let mut found: Option<Range<usize>> = None;
    for line in line::lines(text, output) {
        let ends = line::is_blank(&text[line.clone()]) || is_heading(line.start);
        match &mut found {
            Some(_) if ends => break,
            Some(range) => range.end = line.end,
            None if !ends => found = Some(line),
            None => {}
        }
    }
    found.map(|range| line::trim_blank_lines(text, range)).filter(|range| !range.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn output(text: &str) -> Option<&str> {
        find(text, &Outline::of(text), 0..text.len()).map(|range| &text[range])
    }

    fn summary(text: &str) -> Option<&str> {
        find_summary(text, &Outline::of(text), 0..text.len()).map(|range| &text[range])
    }

    #[test]
    fn a_line_in_parentheses_is_a_placeholder() {
        assert_eq!(output("\n(To be completed)\n"), None);
        assert_eq!(output("\n<!-- later -->\n\n(To be completed)\n"), None);
        assert_eq!(output("\n"), None);
        assert_eq!(output("\n(a)\n(b)\n"), Some("(a)\n(b)"));
        assert_eq!(output("\n(a) b\n"), Some("(a) b"));
    }

    #[test]
    fn the_summary_is_its_sub_section_or_the_first_paragraph() {
        assert_eq!(summary("a\n\n### Summary\n\nb\n\n#### c\n\n### d\n"), Some("b\n\n#### c"));
        assert_eq!(summary("### Files\na\nb\n\nc"), Some("a\nb"));
        assert_eq!(summary("### Files\n"), None);
    }
}
