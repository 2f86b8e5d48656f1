//! What can be said of an expression from its text: its words, the names in it, and whether it is a path.
//!
//! What it asks is read off its tree ([`coverage`](super::coverage)); the text says where things stand.

use std::ops::Range;

use regatta_expr::{Expression as Compiled, Limits};
use serde_json::Value;

/// One word, sign or literal of an expression.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Token<'t> {
    Name(&'t str),
    /// Without the `$`.
    Variable(&'t str),
    Text(&'t str),
    Number(&'t str),
    Sign(char),
}

/// Splits a text into tokens, each with the byte it begins at. It never fails: the text was compiled before.
pub(super) fn tokens(text: &str) -> Vec<(usize, Token<'_>)> {
    let mut found: Vec<(usize, Token<'_>)> = Vec::new();
    let mut at = 0;
    while let Some(first) = text[at..].chars().next() {
        let rest = &text[at..];
        let word = |skipped: usize| {
            let end = rest[skipped..]
                .find(|c: char| !c.is_alphanumeric() && c != '_')
                .map_or(rest.len(), |end| end + skipped);
            &rest[skipped..end]
        };
        let (token, length) = match first {
            _ if first.is_whitespace() => (None, first.len_utf8()),
            '"' | '\'' => {
                let inner = quoted(rest, first);
                (Some(Token::Text(inner)), inner.len() + 2)
            }
            '`' => {
                let inner = quoted(rest, first);
                (Some(Token::Name(inner)), inner.len() + 2)
            }
            '$' => (Some(Token::Variable(word(1))), word(1).len() + 1),
            '/' if rest.starts_with("/*") => {
                (None, rest[2..].find("*/").map_or(rest.len(), |end| end + "/**/".len()))
            }
            '/' if is_operand_next(found.last()) => (Some(Token::Sign(first)), pattern_length(rest)),
            _ if first.is_ascii_digit() => {
                let end = number_length(rest);
                (Some(Token::Number(&rest[..end])), end)
            }
            _ if first.is_alphabetic() || first == '_' => (Some(Token::Name(word(0))), word(0).len()),
            _ => (Some(Token::Sign(first)), first.len_utf8()),
        };
        found.extend(token.map(|token| (at, token)));
        at = (at + length).min(text.len());
    }
    found
}

/// Whether a value comes next, so that `/` begins a regular expression and does not divide.
fn is_operand_next(before: Option<&(usize, Token<'_>)>) -> bool {
    match before {
        None => true,
        Some((_, Token::Sign(sign))) => !")]}*%".contains(*sign),
        Some((_, Token::Name(name))) => ["and", "or", "in"].contains(name),
        Some(_) => false,
    }
}

/// Returns the length of a regular expression with its flags, or of the one sign if it has no end.
fn pattern_length(rest: &str) -> usize {
    let (mut depth, mut is_escaped) = (0_usize, false);
    for (at, character) in rest.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            '/' if depth == 0 => {
                let behind = &rest[at + 1..];
                let flags = behind.find(|c| c != 'i' && c != 'm').unwrap_or(behind.len());
                return at + 1 + flags;
            }
            _ => {}
        }
    }
    1
}

/// Returns the length of a number: digits, perhaps a fraction, perhaps an exponent.
fn number_length(rest: &str) -> usize {
    let digits = |from: usize| {
        let behind = rest.get(from..).unwrap_or_default();
        from + behind.find(|c: char| !c.is_ascii_digit()).unwrap_or(behind.len())
    };
    let whole = digits(0);
    let fraction = if rest[whole..].starts_with('.') { digits(whole + 1) } else { whole };
    let end = if fraction > whole + 1 { fraction } else { whole };
    if !rest[end..].starts_with(['e', 'E']) {
        return end;
    }
    let start = end + 1 + usize::from(rest[end + 1..].starts_with(['+', '-']));
    if digits(start) > start { digits(start) } else { end }
}

fn quoted(rest: &str, quote: char) -> &str {
    let mut is_escaped = false;
    for (at, character) in rest.char_indices().skip(1) {
        match character {
            _ if is_escaped => is_escaped = false,
            '\\' => is_escaped = true,
            _ if character == quote => return &rest[1..at],
            _ => {}
        }
    }
    &rest[1..]
}

/// Finds the last name of a path in a text, where most of the names before it stand before it too.
///
/// A path may begin with a variable, such as `$task`. A filter between two names is not looked through.
pub(super) fn find_name(text: &str, path: &[String]) -> Option<Range<usize>> {
    let tokens = tokens(text);
    let says = |token: &Token<'_>, name: &str| match token {
        Token::Name(found) | Token::Text(found) => *found == name,
        Token::Variable(found) => name.strip_prefix('$') == Some(*found),
        _ => false,
    };
    let matching = |index: usize| {
        let pairs = path.iter().rev().enumerate();
        let is_there = |(back, name): &(usize, &String)| {
            let Some(at) = index.checked_sub(back * 2) else { return false };
            let is_linked = *back == 0 || tokens[at + 1].1 == Token::Sign('.');
            is_linked && says(&tokens[at].1, name)
        };
        let count = pairs.take_while(is_there).count();
        let is_behind = index
            .checked_sub(count * 2 - usize::from(count > 0))
            .is_some_and(|at| tokens[at].1 == Token::Sign('.'));
        (count, count == path.len() && !is_behind)
    };
    let candidates = (0..tokens.len()).filter(|index| matching(*index).0 > 0);
    // Of several that match as well the first counts.
    let best = candidates.rev().max_by_key(|index| matching(*index))?;
    let (start, token) = tokens[best];
    let length = match token {
        Token::Text(name) => name.len() + 2,
        Token::Name(name) if text[start..].starts_with('`') => name.len() + 2,
        Token::Name(name) => name.len(),
        Token::Variable(name) => name.len() + 1,
        _ => return None,
    };
    Some(start..(start + length).min(text.len()))
}

/// Lists the fields that a text reads behind a variable, such as `status` in `$task.status`.
pub(super) fn fields_behind(text: &str, variable: &str) -> Vec<Vec<String>> {
    let tokens: Vec<Token<'_>> = tokens(text).into_iter().map(|(_, token)| token).collect();
    let starts = (0..tokens.len()).filter(|index| tokens[*index] == Token::Variable(variable));
    let behind = |start: usize| {
        let pairs = tokens[start + 1..].chunks_exact(2);
        let names = pairs.map_while(|pair| match pair {
            [Token::Sign('.'), Token::Name(name)] => Some((*name).to_owned()),
            _ => None,
        });
        names.collect::<Vec<String>>()
    };
    starts.map(behind).collect()
}

/// Returns the value of a text that is the same for every state.
pub(super) fn constant(compiled: &Compiled) -> Option<Value> {
    if !compiled.is_constant() {
        return None;
    }
    compiled.evaluate_alone(&[], &Limits::at(0)).ok().flatten()
}

/// Returns the names of a text that is a path of names and nothing else.
pub(super) fn plain_path(text: &str) -> Option<Vec<String>> {
    let tokens = tokens(text);
    let (first, rest) = tokens.split_first()?;
    let Token::Name(name) = first.1 else { return None };
    let rest = rest.chunks(2).map(|pair| match pair {
        [(_, Token::Sign('.')), (_, Token::Name(name))] => Some((*name).to_owned()),
        _ => None,
    });
    let is_word = ["true", "false", "null"].contains(&name);
    if is_word { None } else { [Some(name.to_owned())].into_iter().chain(rest).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_is_found_where_its_path_stands() {
        let found = |text: &str, path: &[&str]| {
            let path: Vec<String> = path.iter().map(|name| (*name).to_owned()).collect();
            find_name(text, &path).map(|at| (at.start, text[at].to_owned()))
        };
        let at = |start: usize, name: &str| Some((start, name.to_owned()));
        assert_eq!(found("bad = 'bad' and bad", &["bad"]), at(0, "bad"));
        assert_eq!(found("a.bad = 1 and bad = 2", &["bad"]), at(14, "bad"));
        assert_eq!(found("bad = 1 and a.bad = 2 or b.bad", &["b", "bad"]), at(27, "bad"));
        assert_eq!(found("status = $task.status", &["$task", "status"]), at(15, "status"));
        assert_eq!(found("tasks[id = 1].bad", &["tasks", "bad"]), at(14, "bad"));
        assert_eq!(found("a.`bad one`", &["a", "bad one"]), at(2, "`bad one`"));
        assert_eq!(found("$lookup(a, 'b')", &["bad"]), None);
    }

    #[test]
    fn tokens_do_not_fail_on_any_text() {
        for text in ["", "'", "'a\\", "$", "`ä", "1.2.3", "ä.ö['\\'']", "\u{1F600}"] {
            assert!(tokens(text).len() <= text.len());
        }
    }

    #[test]
    fn comments_and_patterns_are_passed_over() {
        let words = |text| {
            let word = |(_, token)| match token {
                Token::Name(name) => Some(name),
                _ => None,
            };
            tokens(text).into_iter().filter_map(word).collect::<Vec<_>>()
        };
        assert_eq!(words("a /* it's b */ and c"), ["a", "and", "c"]);
        assert_eq!(words("a /*/ b */ and c"), ["a", "and", "c"]);
        assert_eq!(words("$contains(a, /'[/]b/i) or c"), ["a", "or", "c"]);
        assert_eq!(words("a / b / c"), ["a", "b", "c"]);
        assert_eq!(tokens("1.5e-3..2").len(), 4);
    }

    #[test]
    fn a_path_is_names_and_nothing_else() {
        let path = |text| plain_path(text).map(|names| names.join("/"));
        assert_eq!(path(" a.b_1 . c ").as_deref(), Some("a/b_1/c"));
        for other in ["a[0]", "a.", "a b", "$a", "'a'", "null", "1", "a.$b", ""] {
            assert_eq!(path(other), None, "{other}");
        }
    }

    #[test]
    fn fields_behind_a_variable_are_found() {
        let found = fields_behind("$task.a.b = $task.c and $tasks.d", "task");
        assert_eq!(found, [vec!["a", "b"], vec!["c"]]);
        assert_eq!(fields_behind("$task ? 1 : 0", "task"), [Vec::<String>::new()]);
    }
}
