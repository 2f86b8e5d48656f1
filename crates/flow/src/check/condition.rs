//! What can be said of a condition from its text: its parts, what they compare, and whether samples can stand for it.

use std::ops::Range;

use regatta_expr::{Comparison, Expression as Compiled, Limits};
use serde_json::Value;

use crate::expression::Expression;

/// Functions whose answer depends only on what the samples vary: whether a value is there, and how many.
const PLAIN_FUNCTIONS: [&str; 4] = ["count", "exists", "not", "boolean"];

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
    let mut found = Vec::new();
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
            _ if first.is_ascii_digit() => {
                let end = rest.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(rest.len());
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

/// Splits a condition into the parts that must all hold; one with `or` or a choice at its top is one part.
pub(super) fn conjuncts(text: &str) -> Vec<&str> {
    let mut depth = 0_usize;
    let mut parts = Vec::new();
    let mut start = 0;
    for (at, token) in tokens(text) {
        match token {
            Token::Sign('(' | '[' | '{') => depth += 1,
            Token::Sign(')' | ']' | '}') => depth = depth.saturating_sub(1),
            Token::Name("or") | Token::Sign('?' | ';' | '~') if depth == 0 => return vec![text],
            Token::Name("and") if depth == 0 => {
                parts.push(text[start..at].trim());
                start = at + "and".len();
            }
            _ => {}
        }
    }
    parts.push(text[start..].trim());
    parts
}

/// Whether samples can stand for every state that the condition can tell apart.
///
/// It compares fields, counts and literals, and nothing is computed from a text or searched in a list.
pub(super) fn is_plain(condition: &Expression) -> bool {
    let reads = condition.reads();
    let is_plain = |token: Token<'_>| match token {
        Token::Name(_) | Token::Text(_) | Token::Number(_) => true,
        Token::Variable(name) => {
            PLAIN_FUNCTIONS.contains(&name) || reads.variables.iter().any(|variable| variable == name)
        }
        Token::Sign(sign) => "=!<>()+-.,".contains(sign),
    };
    !reads.whole_input
        && !reads.any_variable
        && tokens(condition.text()).into_iter().all(|(_, token)| is_plain(token))
}

/// Lists what a condition compares with: the literals of its text.
pub(super) fn literals(text: &str) -> Vec<Value> {
    let literal = |token| match token {
        Token::Text(text) => Some(Value::from(text)),
        Token::Number(number) => number.parse::<f64>().ok().map(Value::from),
        _ => None,
    };
    tokens(text).into_iter().filter_map(|(_, token)| literal(token)).collect()
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

/// Returns the comparison that a text is, if it is one and nothing else.
pub(super) fn sole_comparison(text: &str) -> Option<Comparison> {
    let text = text.trim();
    Compiled::compile(text).ok()?.comparisons().into_iter().find(|comparison| comparison.text == text)
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
    fn a_condition_is_split_where_all_parts_must_hold() {
        assert_eq!(conjuncts("a = 1 and b < 2"), ["a = 1", "b < 2"]);
        assert_eq!(conjuncts("a = ' and ' and (b and c)"), ["a = ' and '", "(b and c)"]);
        assert_eq!(conjuncts("tasks[x and y].z and android"), ["tasks[x and y].z", "android"]);
        for whole in ["a and b or c", "a ? b and c : d", "(a and b)", "a"] {
            assert_eq!(conjuncts(whole), [whole]);
        }
    }

    #[test]
    fn tokens_do_not_fail_on_any_text() {
        for text in ["", "'", "'a\\", "$", "`ä", "1.2.3", "ä.ö['\\'']", "\u{1F600}"] {
            assert!(tokens(text).len() <= text.len());
        }
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

    #[test]
    fn the_comparison_is_the_whole_text() {
        assert_eq!(
            sole_comparison(" a.b < $count(c) - 1 ").map(|found| found.right).as_deref(),
            Some("$count(c) - 1")
        );
        assert!(sole_comparison("$not(a < b)").is_none());
        assert!(sole_comparison("a").is_none());
    }
}
