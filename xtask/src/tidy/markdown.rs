//! As much of Markdown as the rule on links needs: links, headings, and what is code.

use std::collections::{BTreeMap, BTreeSet};

/// A link of a Markdown text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Link {
    /// Where it leads, as written.
    pub(crate) target: String,
    /// The line, from 1.
    pub(crate) line: usize,
}

/// Returns the links and pictures of a text, those of its HTML too.
pub(crate) fn find_links(text: &str) -> Vec<Link> {
    let mut links = Vec::new();
    for (line, content) in prose_lines(text) {
        let content = blank_code(content);
        let inline = content.match_indices("](").filter_map(|(at, _)| inline_target(&content[at + 2..]));
        let html = ["src=\"", "href=\""].into_iter().flat_map(|attribute| {
            let starts = content.match_indices(attribute).map(|(at, _)| at + attribute.len());
            starts.filter_map(|start| content[start..].split('"').next()).collect::<Vec<_>>()
        });
        let targets = inline.chain(html).chain(definition_target(&content));
        links.extend(targets.map(|target| Link { target: target.to_owned(), line }));
    }
    links
}

/// Returns the anchors of a text: one for each heading, as the usual renderers name it, and explicit ones.
pub(crate) fn find_anchors(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mut anchors = BTreeSet::new();
    for (_, line) in prose_lines(text) {
        if let Some(heading) = heading_text(line) {
            let slug = slug(heading);
            let count = seen.entry(slug.clone()).or_default();
            anchors.insert(if *count == 0 { slug } else { format!("{slug}-{count}") });
            *count += 1;
        }
        for attribute in ["id=\"", "name=\""] {
            let starts = line.match_indices(attribute).map(|(at, _)| at + attribute.len());
            anchors.extend(starts.filter_map(|start| line[start..].split('"').next()).map(str::to_owned));
        }
    }
    anchors
}

/// Returns the lines outside of fenced code, each with its number.
fn prose_lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<&str> = None;
    text.lines().enumerate().filter_map(move |(index, line)| {
        let found = fence_of(line);
        match (fence, found) {
            (None, Some(opened)) => fence = Some(opened),
            (Some(opened), Some(closing)) if closing.starts_with(opened) && line.trim() == closing => {
                fence = None
            }
            (None, None) => return Some((index + 1, line)),
            _ => {}
        }
        None
    })
}

fn fence_of(line: &str) -> Option<&str> {
    let line = line.trim_start();
    let mark = line.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let length = line.len() - line.trim_start_matches(mark).len();
    // An inline span may begin a line with three backticks, but then it has more of them later.
    (length >= 3 && !line[length..].contains('`')).then(|| &line[..length])
}

/// Blanks inline code, which may look like a link.
fn blank_code(line: &str) -> String {
    let mut out = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(start) = rest.find('`') {
        let ticks = rest[start..].len() - rest[start..].trim_start_matches('`').len();
        let after = &rest[start + ticks..];
        out.push_str(&rest[..start]);
        match find_run(after, ticks) {
            Some(length) => {
                out.push(' ');
                rest = &after[length + ticks..];
            }
            None => rest = after,
        }
    }
    out.push_str(rest);
    out
}

/// Returns where a run of exactly so many backticks begins.
fn find_run(text: &str, ticks: usize) -> Option<usize> {
    let mut at = 0;
    while let Some(found) = text[at..].find('`') {
        let start = at + found;
        let length = text[start..].len() - text[start..].trim_start_matches('`').len();
        if length == ticks {
            return Some(start);
        }
        at = start + length;
    }
    None
}

/// Reads the target after `](`, without its title.
fn inline_target(after: &str) -> Option<&str> {
    if let Some(inside) = after.strip_prefix('<') {
        return inside.split('>').next();
    }
    let mut depth = 0_u32;
    for (at, character) in after.char_indices() {
        match character {
            '(' => depth += 1,
            ')' if depth == 0 => return Some(&after[..at]),
            ')' => depth -= 1,
            ' ' => return Some(&after[..at]),
            _ => {}
        }
    }
    None
}

/// Reads the target of `[name]: target`; a footnote is none.
fn definition_target(line: &str) -> Option<&str> {
    let inside = line.trim_start().strip_prefix('[').filter(|inside| !inside.starts_with('^'))?;
    let (_, target) = inside.split_once("]: ")?;
    target.split_whitespace().next().map(|target| target.trim_start_matches('<').trim_end_matches('>'))
}

fn heading_text(line: &str) -> Option<&str> {
    let text = line.trim_start_matches('#');
    let level = line.len() - text.len();
    ((1..=6).contains(&level) && text.starts_with(' ')).then(|| text.trim().trim_end_matches('#').trim_end())
}

/// Names a heading as the usual renderers do: lower case, blanks as dashes, no punctuation.
fn slug(heading: &str) -> String {
    let mut shown = String::new();
    let mut rest = heading;
    // Of a link in a heading only its text counts.
    while let Some((before, after)) = rest.split_once("](") {
        shown.push_str(before);
        rest = after.split_once(')').map_or("", |(_, after)| after);
    }
    shown.push_str(rest);
    let keep = |character: char| match character {
        ' ' => Some('-'),
        '-' | '_' => Some(character),
        _ if character.is_alphanumeric() => Some(character),
        _ => None,
    };
    shown.to_lowercase().chars().filter_map(keep).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn targets(text: &str) -> Vec<String> {
        find_links(text).into_iter().map(|link| link.target).collect()
    }

    #[test]
    fn every_way_to_link_is_found() {
        assert_eq!(targets("see [a](b.md) and ![c](d(1).svg \"title\")"), ["b.md", "d(1).svg"]);
        assert_eq!(targets("[a](<b c.md>)\n[name]: e.md \"t\"\n[^1]: no.md"), ["b c.md", "e.md"]);
        assert_eq!(targets("<img src=\"a.svg\"> <a href=\"b.md\">x</a>"), ["a.svg", "b.md"]);
        assert_eq!(find_links("\n\n[a](b)"), [Link { target: "b".into(), line: 3 }]);
    }

    #[test]
    fn code_has_no_links_and_no_headings() {
        assert!(
            targets("`[a](b)` ``[c`](d)``\n```md\n[e](f)\n# g\n```\n~~~\n[h](i)\n```\n[j](k)\n~~~")
                .is_empty()
        );
        assert_eq!(targets("a ` b [c](d)"), ["d"]);
        assert!(find_anchors("```\n# a\n```\n").is_empty());
    }

    #[test]
    fn headings_are_named_as_renderers_do() {
        let anchors =
            find_anchors("# What to do?\n## `a_b`, [c](d)!\n## Twice\n## Twice\n#no\n<a id=\"own\"></a>\n");
        let expected = ["a_b-c", "own", "twice", "twice-1", "what-to-do"];
        assert_eq!(anchors.iter().map(String::as_str).collect::<Vec<_>>(), expected);
    }
}
