//! Where the items of a list come from, as far as the text of the list says.
//!
//! The text is a path of names, perhaps filtered or sorted; a list of objects that is written out; or a choice of such.
//! Of anything else nothing is known, and then nothing is said of its items.

use serde_json::{Map, Value, json};

use super::condition::{Token, tokens};

/// One place that items may come from.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Source {
    /// The list at a path of names, from the top of what an expression sees.
    At(Vec<String>),
    /// An object that is written out, as the schema that describes it.
    Written(Value),
}

/// Lists where the items of a list may come from; nothing if that cannot be told.
pub(super) fn find_sources(text: &str) -> Option<Vec<Source>> {
    let tokens: Vec<Token<'_>> = tokens(text).into_iter().map(|(_, token)| token).collect();
    read_list(&tokens).filter(|sources| !sources.is_empty())
}

fn read_list(tokens: &[Token<'_>]) -> Option<Vec<Source>> {
    if let Some(inner) = find_enclosed(tokens, '(') {
        return read_list(inner);
    }
    if let Some((one, other)) = find_choice(tokens) {
        return Some([read_list(one)?, read_list(other)?].concat());
    }
    if let Some(inner) = find_enclosed(tokens, '[') {
        let read = split(inner, ',').into_iter().filter(|item| !item.is_empty()).map(read_list);
        return Some(read.collect::<Option<Vec<_>>>()?.concat());
    }
    if let Some(inner) = find_enclosed(tokens, '{') {
        return Some(vec![read_object(inner)?]);
    }
    match tokens {
        [Token::Name("null")] => Some(Vec::new()),
        _ => Some(vec![Source::At(read_path(tokens)?)]),
    }
}

/// Reads the keys of an object; of its values nothing is known.
fn read_object(inner: &[Token<'_>]) -> Option<Source> {
    let mut fields = Map::new();
    for pair in split(inner, ',') {
        let [Token::Text(key), Token::Sign(':'), ..] = pair else { return None };
        fields.insert((*key).to_owned(), json!({}));
    }
    let schema = json!({ "type": "object", "properties": fields, "additionalProperties": false });
    Some(Source::Written(schema))
}

/// Reads names with dots between them; a filter or an order behind a name leaves items what they are.
fn read_path(tokens: &[Token<'_>]) -> Option<Vec<String>> {
    let mut names = Vec::new();
    let mut rest = tokens;
    loop {
        let [Token::Name(name), after @ ..] = rest else { return None };
        names.push((*name).to_owned());
        rest = after;
        while let [Token::Sign('[' | '^'), ..] = rest {
            let start = usize::from(rest[0] == Token::Sign('^'));
            rest = rest.get(start + find_end(&rest[start..])? + 1..)?;
        }
        match rest {
            [] => return Some(names),
            [Token::Sign('.'), after @ ..] => rest = after,
            _ => return None,
        }
    }
}

/// Returns what one pair of brackets around all of the tokens encloses.
fn find_enclosed<'s, 't>(tokens: &'s [Token<'t>], bracket: char) -> Option<&'s [Token<'t>]> {
    let is_whole = tokens.first() == Some(&Token::Sign(bracket)) && find_end(tokens)? == tokens.len() - 1;
    is_whole.then(|| &tokens[1..tokens.len() - 1])
}

/// Finds where the bracket at the beginning is closed.
fn find_end(tokens: &[Token<'_>]) -> Option<usize> {
    depths(tokens).find(|(_, depth)| *depth == 0).map(|(index, _)| index)
}

/// Splits `condition ? one : other`, and returns both sides.
fn find_choice<'s, 't>(tokens: &'s [Token<'t>]) -> Option<(&'s [Token<'t>], &'s [Token<'t>])> {
    let at_top = |sign: char, index: usize, depth: usize| depth == 0 && tokens[index] == Token::Sign(sign);
    let question = depths(tokens).find(|(index, depth)| at_top('?', *index, *depth))?.0;
    let mut open = 0_usize;
    for (index, depth) in depths(tokens).filter(|(index, _)| *index > question) {
        if at_top('?', index, depth) {
            open += 1;
        } else if at_top(':', index, depth) {
            match open {
                0 => return Some((&tokens[question + 1..index], &tokens[index + 1..])),
                _ => open -= 1,
            }
        }
    }
    None
}

fn split<'s, 't>(tokens: &'s [Token<'t>], sign: char) -> Vec<&'s [Token<'t>]> {
    let is_end = |(index, depth): &(usize, usize)| *depth == 0 && tokens[*index] == Token::Sign(sign);
    let mut parts = Vec::new();
    let mut start = 0;
    for (index, _) in depths(tokens).filter(is_end) {
        parts.push(&tokens[start..index]);
        start = index + 1;
    }
    parts.push(&tokens[start..]);
    parts
}

/// Lists each token's number with how many brackets are open behind it.
fn depths<'s>(tokens: &'s [Token<'_>]) -> impl Iterator<Item = (usize, usize)> + 's {
    let depth_behind = |depth: &mut usize, token: &Token<'_>| {
        match token {
            Token::Sign('(' | '[' | '{') => *depth += 1,
            Token::Sign(')' | ']' | '}') => *depth = depth.saturating_sub(1),
            _ => {}
        }
        Some(*depth)
    };
    tokens.iter().scan(0, depth_behind).enumerate()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn told(text: &str) -> String {
        let Some(sources) = find_sources(text) else { return "unknown".to_owned() };
        let tell = |source: &Source| match source {
            Source::At(path) => path.join("."),
            Source::Written(schema) => {
                let fields = schema["properties"].as_object().unwrap();
                format!("{{{}}}", fields.keys().map(String::as_str).collect::<Vec<_>>().join(","))
            }
        };
        sources.iter().map(tell).collect::<Vec<_>>().join(" | ")
    }

    #[test]
    fn sources_are_found_in_the_text() {
        for (text, wanted) in [
            ("tasks", "tasks"),
            ("input.plan.parts", "input.plan.parts"),
            ("(tasks[status = 'open' ? true : false])", "tasks"),
            ("groups.tasks[done = false]^(>priority, id)[]", "groups.tasks"),
            ("$count(tasks) > 0 ? tasks : [{'id': 'PRD', 'title': input.title}]", "tasks | {id,title}"),
            ("a ? b ? c : d : [e, {'x': [1, 2], 'y': {'z': 1}}]", "c | d | e | {x,y}"),
            ("a ? tasks : null", "tasks"),
            ("a ? tasks : []", "tasks"),
        ] {
            assert_eq!(told(text), wanted, "{text}");
        }
    }

    #[test]
    fn of_anything_else_nothing_is_known() {
        for text in [
            "$map(tasks, $f)",
            "$task.parts",
            "tasks.{'id': key}",
            "tasks ?: more",
            "tasks ?? more",
            "[1..3]",
            "{key: 1}",
            "tasks ~> $sort",
            "a ? tasks",
            "$x := tasks; $x",
            "tasks.*",
            "",
            "null",
            "tasks[",
        ] {
            assert_eq!(told(text), "unknown", "{text}");
        }
    }
}
