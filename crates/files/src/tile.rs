//! A task file cut into tiles: every byte belongs to exactly one part that can be compared on its own.
//!
//! Merging and finding changes both work on tiles. A tile has a body and the white space after it; only
//! bodies are compared, because a blank line before the next part is not a change.

use std::ops::Range;

use crate::parse::{Subsection, SubsectionKind};
use crate::section::{Section, SectionSpan};
use crate::task_file::TaskFile;

/// One part of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Tile<'a> {
    pub(crate) key: Key,
    /// The section it is in, if the format knows that one.
    pub(crate) section: Option<Section>,
    pub(crate) body: &'a str,
    /// The white space after the body.
    pub(crate) space: &'a str,
    pub(crate) start: usize,
}

/// What makes a tile the same in two texts.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    pub(crate) kind: Kind,
    /// The title of the section it is in; empty before the first.
    pub(crate) section: String,
    /// A heading, a number or the words of a criterion.
    pub(crate) name: String,
}

/// The kinds of parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Kind {
    /// What stands before the first section.
    Preamble,
    /// The heading of a section, and what stands before its first part.
    Head,
    /// The JSON object of section 0.
    Metadata,
    /// What stands after the JSON or after the criteria.
    Tail,
    Criterion,
    Subsection(SubsectionKind),
}

/// Cuts a file into tiles; joined in order they are its text.
pub(crate) fn cut(file: &TaskFile) -> Vec<Tile<'_>> {
    let mut edges =
        vec![Edge { start: 0, kind: Kind::Preamble, section: None, title: "", name: String::new() }];
    let mut subsections = file.parts.subsections.iter().peekable();
    while let Some(found) = subsections.next_if(|found| is_before_sections(file, found)) {
        push_subsection(&mut edges, file, None, "", found);
    }
    for span in &file.parts.sections {
        push_section(&mut edges, file, span);
        while let Some(found) = subsections.next_if(|found| found.range.start < span.range.end) {
            push_subsection(&mut edges, file, span.section, &span.title, found);
        }
    }
    // The JSON may stand below a sub-heading of its section.
    edges.sort_by_key(|edge| edge.start);
    let ends: Vec<usize> = edges.iter().skip(1).map(|edge| edge.start).chain([file.text.len()]).collect();
    edges.into_iter().zip(ends).filter_map(|(edge, end)| edge.into_tile(&file.text, end)).collect()
}

fn is_before_sections(file: &TaskFile, found: &Subsection) -> bool {
    file.parts.sections.first().is_none_or(|first| found.range.start < first.range.start)
}

/// Where a tile begins; it ends where the next one begins.
struct Edge<'a> {
    start: usize,
    kind: Kind,
    section: Option<Section>,
    title: &'a str,
    name: String,
}

impl<'a> Edge<'a> {
    fn into_tile(self, text: &'a str, end: usize) -> Option<Tile<'a>> {
        let whole = &text[self.start..end];
        let body = whole.trim_end_matches([' ', '\t', '\r', '\n']);
        let key = Key { kind: self.kind, section: self.title.to_owned(), name: self.name };
        let tile = Tile { key, section: self.section, body, space: &whole[body.len()..], start: self.start };
        (!whole.is_empty()).then_some(tile)
    }
}

fn push_section<'a>(edges: &mut Vec<Edge<'a>>, file: &'a TaskFile, span: &'a SectionSpan) {
    let mut push = |start, kind| {
        edges.push(Edge { start, kind, section: span.section, title: &span.title, name: String::new() });
    };
    push(span.range.start, Kind::Head);
    if let (Some(Section::Metadata), Ok(metadata)) = (span.section, &file.parts.metadata) {
        push(metadata.content.start, Kind::Metadata);
        push(metadata.content.end, Kind::Tail);
    }
}

fn push_subsection<'a>(
    edges: &mut Vec<Edge<'a>>,
    file: &'a TaskFile,
    section: Option<Section>,
    title: &'a str,
    found: &Subsection,
) {
    let name = match found.kind {
        SubsectionKind::Session => {
            let index = file.sessions().partition_point(|session| session.range.start < found.range.start);
            file.sessions()[index].number.to_string()
        }
        SubsectionKind::ChainInput => {
            let index = file.chain_inputs().partition_point(|input| input.range.start < found.range.start);
            file.chain_inputs()[index].task.map_or_else(|| found.title.clone(), |task| task.to_string())
        }
        SubsectionKind::Archived => String::new(),
        _ => found.title.clone(),
    };
    edges.push(Edge { start: found.range.start, kind: Kind::Subsection(found.kind), section, title, name });
    if found.kind == SubsectionKind::Criteria {
        push_criteria(edges, file, section, title, &found.range);
    }
}

fn push_criteria<'a>(
    edges: &mut Vec<Edge<'a>>,
    file: &'a TaskFile,
    section: Option<Section>,
    title: &'a str,
    range: &Range<usize>,
) {
    let items = &file.parts.criterion_items;
    for (index, item) in items.iter().enumerate() {
        let place = file.criteria().partition_point(|criterion| criterion.range.start < item.start);
        let criterion = file.criteria().get(place).filter(|criterion| criterion.range.start == item.start);
        let name =
            criterion.map_or_else(|| file.text[item.clone()].trim().to_owned(), |found| found.text.clone());
        edges.push(Edge { start: item.start, kind: Kind::Criterion, section, title, name });
        let next = items.get(index + 1).map_or(range.end, |next| next.start);
        if item.end < next {
            edges.push(Edge { start: item.end, kind: Kind::Tail, section, title, name: "criteria".into() });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_joined_are_the_text() {
        let text = "# T\n\n### early\n\n## 0. Metadata\n```json\n{}\n```\n\n## 1. Context\nc\n\n### Requirements\nr\n\n\
                    ### Acceptance Criteria\nintro\n- [ ] a\n- b\n\nend\n## Odd\n### x\n## 3. Progress Log\n### Session 1\n";
        let file = TaskFile::parse(text);
        let tiles = cut(&file);
        let joined: String = tiles.iter().flat_map(|tile| [tile.body, tile.space]).collect();
        assert_eq!(joined, text);
        let bodies: Vec<&str> = tiles.iter().map(|tile| tile.body).collect();
        assert_eq!(
            bodies,
            [
                "# T",
                "### early",
                "## 0. Metadata\n```json",
                "{}",
                "```",
                "## 1. Context\nc",
                "### Requirements\nr",
                "### Acceptance Criteria\nintro",
                "- [ ] a",
                "- b",
                "\nend",
                "## Odd",
                "### x",
                "## 3. Progress Log",
                "### Session 1"
            ]
        );
    }
}
