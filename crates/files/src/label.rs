//! Labelled lines such as `**Did:** …`, with which sessions and archived summaries name their fields.

use std::ops::Range;

use crate::line;
use crate::outline::Outline;

/// A label is a word or two; a longer bold beginning is a sentence.
const LABEL_BYTES_MAX: usize = 40;

/// A labelled text: from after the label to the next one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Labelled<'a> {
    pub(crate) label: &'a str,
    pub(crate) value: Range<usize>,
}

/// Returns the labelled texts of a range.
///
/// `known` labels may follow a bullet; others count only at the beginning of a line, because an item such as
/// `- **Parser:** rewritten` is part of the text it stands in.
pub(crate) fn find<'a>(
    text: &'a str,
    range: Range<usize>,
    outline: &Outline,
    known: &[&str],
) -> Vec<Labelled<'a>> {
    let mut found: Vec<Labelled<'a>> = Vec::new();
    for line in line::lines(text, range.clone()) {
        let Some((label, length)) = parse(&text[line.clone()], known) else { continue };
        if outline.is_opaque(line.start + (text[line.clone()].len() - text[line.clone()].trim_start().len()))
        {
            continue;
        }
        if let Some(previous) = found.last_mut() {
            previous.value.end = line.start;
        }
        found.push(Labelled { label, value: line.start + length..range.end });
    }
    found
}

/// Returns the trimmed text with this label, or nothing.
pub(crate) fn value_of(text: &str, found: &[Labelled<'_>], label: &str) -> String {
    let labelled = found.iter().find(|labelled| labelled.label.eq_ignore_ascii_case(label));
    labelled.map_or_else(String::new, |labelled| text[labelled.value.clone()].trim().to_owned())
}

/// Reads `**Label:**` or `**Label**:` at the beginning of a line, and how many bytes that takes.
fn parse<'a>(line: &'a str, known: &[&str]) -> Option<(&'a str, usize)> {
    let content = line.trim_start_matches([' ', '\t']);
    let plain = content.strip_prefix("**");
    let bulleted =
        || content.strip_prefix(['-', '*', '+'])?.trim_start_matches([' ', '\t']).strip_prefix("**");
    let (inner, is_bulleted) = match plain {
        Some(inner) => (inner, false),
        None => (bulleted()?, true),
    };
    let end = inner.find("**")?;
    let (label, after) = match inner[..end].strip_suffix(':') {
        Some(label) => (label, end + 2),
        None => (&inner[..end], end + 2 + usize::from(inner[end + 2..].starts_with(':'))),
    };
    let has_colon = inner[..after].contains(':');
    let is_known = known.iter().any(|name| name.eq_ignore_ascii_case(label));
    let is_label = has_colon && !label.is_empty() && label.len() <= LABEL_BYTES_MAX;
    (is_label && (is_known || !is_bulleted)).then_some((label, line.len() - inner.len() + after))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fields(text: &str) -> Vec<(&str, &str)> {
        let found = find(text, 0..text.len(), &Outline::of(text), &["Did", "Next"]);
        found.iter().map(|labelled| (labelled.label, text[labelled.value.clone()].trim())).collect()
    }

    #[test]
    fn a_value_reaches_to_the_next_label() {
        let text = "**Did:**\n- a\n- **b:** c\n\n**Issues**: None\n- **next:** d\n";
        assert_eq!(fields(text), [("Did", "- a\n- **b:** c"), ("Issues", "None"), ("next", "d")]);
    }

    #[test]
    fn bold_text_quotes_and_fences_are_no_labels() {
        let text = "**bold** words\n> **Did:** a\n```\n**Did:** b\n```\n**Did:** c";
        assert_eq!(fields(text), [("Did", "c")]);
    }
}
