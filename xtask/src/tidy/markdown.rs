//! As much of Markdown as the rule on links needs: links, headings, and what is code.

use super::fault::line_of;
use pulldown_cmark::{Event, Options, Parser, Tag, TagEnd};
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
    for (event, range) in Parser::new_ext(text, Options::ENABLE_TABLES).into_offset_iter() {
        let targets = match event {
            Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
                vec![dest_url.to_string()]
            }
            Event::Html(html) | Event::InlineHtml(html) => attributes(&html, &["src", "href"]),
            _ => continue,
        };
        let line = line_of(text, range.start);
        links.extend(targets.into_iter().map(|target| Link { target, line }));
    }
    links
}

/// Returns the anchors of a text: one for each heading, as the usual renderers name it, and explicit ones.
pub(crate) fn find_anchors(text: &str) -> BTreeSet<String> {
    let mut seen: BTreeMap<String, u32> = BTreeMap::new();
    let mut anchors = BTreeSet::new();
    let mut heading = None;
    for event in Parser::new_ext(text, Options::ENABLE_TABLES) {
        match event {
            Event::Start(Tag::Heading { .. }) => heading = Some(String::new()),
            Event::Text(text) | Event::Code(text) => {
                heading.iter_mut().for_each(|heading| heading.push_str(&text));
            }
            Event::End(TagEnd::Heading(_)) => {
                let slug = slug(&heading.take().unwrap_or_default());
                let count = seen.entry(slug.clone()).or_default();
                anchors.insert(if *count == 0 { slug } else { format!("{slug}-{count}") });
                *count += 1;
            }
            Event::Html(html) | Event::InlineHtml(html) => anchors.extend(attributes(&html, &["id", "name"])),
            _ => {}
        }
    }
    anchors
}

/// Returns the values of these attributes in a piece of HTML.
fn attributes(html: &str, names: &[&str]) -> Vec<String> {
    let values = |name: &&str| {
        let pieces: Vec<&str> = html.split(&format!(" {name}=\"")).skip(1).collect();
        pieces.into_iter().filter_map(|piece| piece.split('"').next()).map(str::to_owned).collect::<Vec<_>>()
    };
    names.iter().flat_map(values).collect()
}

/// Names a heading as the usual renderers do: lower case, blanks as dashes, no punctuation.
fn slug(heading: &str) -> String {
    let keep = |character: char| match character {
        ' ' => Some('-'),
        '-' | '_' => Some(character),
        _ if character.is_alphanumeric() => Some(character),
        _ => None,
    };
    heading.to_lowercase().chars().filter_map(keep).collect()
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
        assert_eq!(targets("[a](<b c.md>) [name]\n\n[name]: e.md \"t\""), ["b c.md", "e.md"]);
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
