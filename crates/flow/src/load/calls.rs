//! The filters and tests that a prompt calls, found in its text.
//!
//! A template that calls an unknown one can be parsed, and fails only when it is rendered. The text is known to be a
//! template, so calls are found by their position alone: behind `|`, `is` or `filter`, in a tag.

use std::ops::Range;

/// What a prompt calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Call {
    /// As in `title | upper`.
    Filter,
    /// As in `title is defined`.
    Test,
}

/// One word or sign of a tag.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Token<'t> {
    Word(&'t str),
    Sign(char),
    Literal,
}

/// Lists what a template calls, with where the names stand.
pub(super) fn find_calls(text: &str) -> Vec<(Call, Range<usize>)> {
    tags(text).into_iter().flat_map(|tag| calls_of(text, tag)).collect()
}

/// Finds the insides of tags, past comments and what is to be taken as it is.
fn tags(text: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut is_raw = false;
    let mut at = 0;
    while let Some(start) = text[at..].find('{').map(|start| at + start) {
        let close = match text.as_bytes().get(start + 1) {
            Some(b'{') if !is_raw => "}}",
            Some(b'%') => "%}",
            Some(b'#') if !is_raw => "#}",
            _ => {
                at = start + 1;
                continue;
            }
        };
        let inside = start + 2..end_of(text, start + 2, close);
        at = (inside.end + close.len()).min(text.len());
        let word = text[inside.clone()].trim_matches(['-', '+']).trim();
        match word {
            "raw" => is_raw = true,
            "endraw" => is_raw = false,
            _ if is_raw => at = start + 1,
            _ if close != "#}" => found.push(inside),
            _ => {}
        }
    }
    found
}

/// Returns where a tag is closed, past its texts; a comment has none.
fn end_of(text: &str, from: usize, close: &str) -> usize {
    let mut at = from;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with(close) {
            return at;
        }
        at += match rest.chars().next() {
            Some(quote @ ('"' | '\'')) if close != "#}" => literal_length(rest, quote),
            Some(character) => character.len_utf8(),
            None => 1,
        };
    }
    text.len()
}

fn literal_length(rest: &str, quote: char) -> usize {
    let mut is_escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if character == quote => return at + 1,
            _ => {}
        }
    }
    rest.len()
}

fn calls_of(text: &str, tag: Range<usize>) -> Vec<(Call, Range<usize>)> {
    let tokens = tokens(&text[tag.clone()]);
    let word = |index: usize| match tokens.get(index) {
        Some((at, Token::Word(word))) => Some((*word, tag.start + at..tag.start + at + word.len())),
        _ => None,
    };
    let mut calls = Vec::new();
    for (index, (_, token)) in tokens.iter().enumerate() {
        let is_field = index > 0 && tokens[index - 1].1 == Token::Sign('.');
        let called = match token {
            Token::Sign('|') => word(index + 1).map(|(_, at)| (Call::Filter, at)),
            Token::Word("filter") if index == 0 => word(1).map(|(_, at)| (Call::Filter, at)),
            Token::Word("is") if index > 0 && !is_field => {
                let named = word(index + 1).filter(|(word, _)| *word != "not").or_else(|| word(index + 2));
                named.map(|(_, at)| (Call::Test, at))
            }
            _ => None,
        };
        calls.extend(called);
    }
    calls
}

fn tokens(tag: &str) -> Vec<(usize, Token<'_>)> {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    let mut found = Vec::new();
    let mut at = 0;
    while let Some(first) = tag[at..].chars().next() {
        let rest = &tag[at..];
        let (token, length) = match first {
            '"' | '\'' => (Some(Token::Literal), literal_length(rest, first)),
            _ if is_part(first) => {
                let end = rest.find(|c| !is_part(c)).unwrap_or(rest.len());
                (Some(Token::Word(&rest[..end])), end)
            }
            // What strips the blanks around a tag is no sign of it.
            '-' | '+' if at == 0 => (None, 1),
            _ if first.is_whitespace() => (None, first.len_utf8()),
            _ => (Some(Token::Sign(first)), first.len_utf8()),
        };
        found.extend(token.map(|token| (at, token)));
        at += length;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        let tell = |(call, at): (Call, Range<usize>)| format!("{call:?} {}", &text[at]);
        find_calls(text).into_iter().map(tell).collect::<Vec<_>>().join(", ")
    }

    #[test]
    fn filters_and_tests_are_found_in_tags_alone() {
        assert_eq!(told("a | b {{ title|upper | trim }}"), "Filter upper, Filter trim");
        assert_eq!(told("{%- if a is defined and b is not odd -%}"), "Test defined, Test odd");
        assert_eq!(told("{% filter upper %}is it{% endfilter %}{{ a.is + b }}"), "Filter upper");
        assert_eq!(
            told("{# a|b #}{{ '}} | c' ~ \"x|y\" }}{% raw %}{{ a|b }}{% endraw %}{{ ü|d }}"),
            "Filter d"
        );
        assert_eq!(told("{{ open | ended"), "Filter ended");
    }
}
