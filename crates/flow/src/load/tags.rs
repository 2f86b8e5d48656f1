//! Finds the tag of a template that an error message refers to.
//!
//! The template parser reports the line of an error but not the column. The tag is found through the message, which
//! often names a word of it.

use std::ops::Range;

/// Returns the bytes of what a message about a line (from 1) speaks of: a word, a tag, or the whole line.
pub(super) fn find_meant(text: &str, line: usize, message: &str) -> Range<usize> {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    let end = text[start..].find('\n').map_or(text.len(), |length| start + length);
    let tags = find_tags(text, start..end);
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let words = message.rsplit(|c| !is_part(c)).filter(|word| !word.is_empty());
    let found = words.flat_map(|word| tags.iter().filter_map(move |tag| find_word(text, tag, word))).next();
    if let Some(found) = found {
        return found;
    }
    match tags.as_slice() {
        [tag] => tag.clone(),
        // A tag that is not closed is missed only at the end of the text.
        [] => {
            find_tags(text, 0..start).pop().filter(|_| text[start..].trim().is_empty()).unwrap_or(start..end)
        }
        _ => start..end,
    }
}

/// Lists the tags that begin within a stretch, each up to its end or that of its line.
fn find_tags(text: &str, within: Range<usize>) -> Vec<Range<usize>> {
    let mut tags = Vec::new();
    let mut at = within.start;
    while let Some(found) = text[at..within.end].find(['{']).map(|found| at + found) {
        let close = match text[found..].get(..2) {
            Some("{{") => "}}",
            Some("{%") => "%}",
            Some("{#") => "#}",
            _ => {
                at = found + 1;
                continue;
            }
        };
        let line_end = text[found..].find('\n').map_or(text.len(), |length| found + length);
        let end = text[found..line_end].find(close).map_or(line_end, |length| found + length + close.len());
        tags.push(found..end);
        at = end.min(within.end);
    }
    tags
}

fn find_word(text: &str, tag: &Range<usize>, word: &str) -> Option<Range<usize>> {
    let found = crate::expression::find_word(&text[tag.clone()], word)?;
    Some(tag.start + found.start..tag.start + found.end)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tag_that_is_meant_is_found() {
        let meant = |text: &'static str, line, message| &text[find_meant(text, line, message)];
        let text = "one\n  text {{ x }} more {% endif %} and";
        assert_eq!(meant(text, 2, "unknown statement endif"), "endif");
        assert_eq!(meant("a {{ x + }} b", 1, "unexpected end of variable block"), "{{ x + }}");
        assert_eq!(meant("one {{ \"open }}\n", 2, "unexpected end of string"), "{{ \"open }}");
        assert_eq!(meant("{{ x", 1, "unexpected end of input"), "{{ x");
        assert_eq!(meant("{{ a }} {{ b }}", 1, "unexpected sign"), "{{ a }} {{ b }}");
        assert_eq!(meant("", 1, "it is not a template"), "");
    }
}
