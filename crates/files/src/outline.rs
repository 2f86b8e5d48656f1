//! What Markdown says about a text, as far as a task file needs it: headings, list items, fences, and what is
//! opaque.
//!
//! A `#` inside a fence, an HTML block, a block quote or a list is not a heading. The Markdown parser decides
//! that; this file only keeps its offsets. Underlined headings do not structure a task file, because `---`
//! under a paragraph is more often meant as a rule; they are listed separately.

use std::borrow::Cow;
use std::ops::Range;

use pulldown_cmark::{CodeBlockKind, Event, Options, Parser, Tag, TagEnd};

use crate::line;

/// A line may open this many quotes and lists. More is nobody's text, and costs the Markdown parser time for each
/// of them on every line that follows.
const CONTAINERS_PER_LINE_MAX: usize = 100;

/// The mark that some editors put at the beginning of a file.
const BYTE_ORDER_MARK: char = '\u{feff}';

/// What was found in a text, in the order of the text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Outline {
    pub(crate) headings: Vec<Heading>,
    /// The items of lists that are in nothing else.
    pub(crate) items: Vec<Item>,
    /// The fenced code blocks that are in nothing else.
    pub(crate) fences: Vec<Fence>,
    /// The HTML blocks that are in nothing else.
    pub(crate) html: Vec<Range<usize>>,
    /// Code, HTML and quotes: what stands in them is not read.
    pub(crate) opaque: Vec<Range<usize>>,
    /// Where underlined headings begin.
    pub(crate) underlined: Vec<usize>,
    /// Where a fence or comment begins that hides the rest of the file, because nothing closes it.
    pub(crate) unclosed: Option<usize>,
}

/// A heading that begins with `#`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Heading {
    pub(crate) level: usize,
    /// The whole line with its ending.
    pub(crate) range: Range<usize>,
    /// What it says, without marks.
    pub(crate) text: Range<usize>,
}

/// An item of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Item {
    pub(crate) range: Range<usize>,
    /// Its first paragraph, the bullet included.
    pub(crate) head: Range<usize>,
}

/// A fenced code block.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fence {
    pub(crate) range: Range<usize>,
    pub(crate) info: String,
    /// The lines between the fences.
    pub(crate) content: Range<usize>,
}

impl Outline {
    pub(crate) fn of(text: &str) -> Self {
        let offset = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
        let leveled = level(&text[offset..]);
        let mut reader = Reader { text, outline: Outline::default(), depth: 0, item: None, opaque_depth: 0 };
        for (event, range) in Parser::new_ext(&leveled, Options::empty()).into_offset_iter() {
            reader.read(&event, range.start + offset..range.end + offset);
        }
        reader.outline
    }

    /// Tells whether an offset lies in code, HTML or a quote.
    pub(crate) fn is_opaque(&self, at: usize) -> bool {
        let after = self.opaque.partition_point(|range| range.start <= at);
        after > 0 && at < self.opaque[after - 1].end
    }
}

/// Returns the text as the Markdown parser should see it; offsets stay the same.
///
/// Lines that open too many containers are blotted out. A lone CR becomes LF, because the parser does not see it as
/// the end of a line inside a fence.
fn level(text: &str) -> Cow<'_, str> {
    let mut leveled: Option<Vec<u8>> = None;
    for range in line::lines(text, 0..text.len()) {
        let content = &text[range.clone()];
        let is_tower = count_container_marks(content) > CONTAINERS_PER_LINE_MAX;
        if !is_tower && !content.ends_with('\r') {
            continue;
        }
        for byte in &mut leveled.get_or_insert_with(|| text.as_bytes().to_vec())[range] {
            match byte {
                b'\r' if content.ends_with('\r') => *byte = b'\n',
                b'\n' | b'\r' => {}
                _ if is_tower => *byte = b'.',
                _ => {}
            }
        }
    }
    leveled.map_or(Cow::Borrowed(text), |bytes| Cow::Owned(String::from_utf8_lossy(&bytes).into_owned()))
}

fn count_container_marks(line: &str) -> usize {
    let bytes = line.as_bytes();
    let mut count = 0;
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        let is_mark = match byte {
            b'>' => true,
            b'-' | b'*' | b'+' | b'.' | b')' => matches!(bytes.get(at + 1), Some(b' ' | b'\t') | None),
            b' ' | b'\t' | b'0'..=b'9' => false,
            _ => break,
        };
        count += usize::from(is_mark);
        at += 1;
    }
    count
}

struct Reader<'a> {
    text: &'a str,
    outline: Outline,
    /// How many quotes, lists and items are open.
    depth: usize,
    item: Option<OpenItem>,
    opaque_depth: usize,
}

struct OpenItem {
    range: Range<usize>,
    is_fresh: bool,
    head_end: Option<usize>,
}

impl Reader<'_> {
    fn read(&mut self, event: &Event<'_>, range: Range<usize>) {
        self.note_head_of_item(event, &range);
        match event {
            Event::Start(tag) => self.open(tag, range),
            Event::End(tag) => self.close(tag),
            _ => {}
        }
    }

    /// The head of an item ends where its first paragraph does, or where another block begins in it.
    fn note_head_of_item(&mut self, event: &Event<'_>, range: &Range<usize>) {
        let Some(item) = &mut self.item else { return };
        let is_fresh = std::mem::replace(&mut item.is_fresh, false);
        if item.head_end.is_some() {
            return;
        }
        match event {
            Event::Start(Tag::Paragraph) if is_fresh => item.head_end = Some(range.end),
            Event::Start(
                Tag::Paragraph
                | Tag::List(_)
                | Tag::BlockQuote(_)
                | Tag::CodeBlock(_)
                | Tag::HtmlBlock
                | Tag::Heading { .. },
            )
            | Event::Rule => item.head_end = Some(range.start),
            _ => {}
        }
    }

    fn open(&mut self, tag: &Tag<'_>, range: Range<usize>) {
        match tag {
            Tag::Heading { .. } if self.depth == 0 => self.open_heading(range),
            Tag::CodeBlock(kind) => self.open_code(kind, range),
            Tag::HtmlBlock => self.open_html(range),
            Tag::BlockQuote(_) => {
                self.open_opaque(range);
                self.depth += 1;
            }
            Tag::List(_) => self.depth += 1,
            Tag::Item => {
                if self.depth == 1 && self.opaque_depth == 0 {
                    self.item = Some(OpenItem { range, is_fresh: true, head_end: None });
                }
                self.depth += 1;
            }
            _ => {}
        }
    }

    fn close(&mut self, tag: &TagEnd) {
        match tag {
            TagEnd::CodeBlock | TagEnd::HtmlBlock => self.opaque_depth -= 1,
            TagEnd::BlockQuote(_) => {
                self.opaque_depth -= 1;
                self.depth -= 1;
            }
            TagEnd::List(_) => self.depth -= 1,
            TagEnd::Item => {
                self.depth -= 1;
                if self.depth == 1
                    && let Some(item) = self.item.take()
                {
                    let head = item.range.start..item.head_end.unwrap_or(item.range.end);
                    self.outline.items.push(Item { range: item.range, head });
                }
            }
            _ => {}
        }
    }

    fn open_heading(&mut self, range: Range<usize>) {
        let line = line_from(self.text, range.start);
        let content = self.text[line.clone()].trim_start_matches([' ', '\t']);
        let level = content.bytes().take_while(|byte| *byte == b'#').count();
        if level == 0 {
            self.outline.underlined.push(line.start);
            return;
        }
        let start = line.end - content.len() + level;
        let text = trim_closing_marks(self.text, start..line.end);
        self.outline.headings.push(Heading { level, range: line, text });
    }

    fn open_code(&mut self, kind: &CodeBlockKind<'_>, range: Range<usize>) {
        if self.depth == 0
            && let CodeBlockKind::Fenced(info) = kind
        {
            let range = line_from(self.text, range.start).start..range.end;
            let (content, is_closed) = find_content(self.text, &range);
            if !is_closed {
                self.outline.unclosed = Some(range.start);
            }
            self.outline.fences.push(Fence { range, info: info.to_string(), content });
        }
        self.open_opaque(range);
    }

    fn open_html(&mut self, range: Range<usize>) {
        if self.depth == 0 {
            let block = &self.text[range.clone()];
            if block.trim_start().starts_with("<!--") && !block.contains("-->") {
                self.outline.unclosed = Some(range.start);
            }
            self.outline.html.push(range.clone());
        }
        self.open_opaque(range);
    }

    fn open_opaque(&mut self, range: Range<usize>) {
        if self.opaque_depth == 0 {
            self.outline.opaque.push(range);
        }
        self.opaque_depth += 1;
    }
}

/// Returns the line that holds `at`; a byte order mark is no part of it.
fn line_from(text: &str, at: usize) -> Range<usize> {
    let start = line::line_start(text, at);
    let mark = if start == 0 && text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len_utf8() } else { 0 };
    start + mark..line::line_end(text, at)
}

/// Leaves out white space and the `#` that may close a heading.
fn trim_closing_marks(text: &str, range: Range<usize>) -> Range<usize> {
    let content = &text[range.clone()];
    let start = range.start + (content.len() - content.trim_start().len());
    let content = text[start.min(range.end)..range.end].trim_end();
    let open = content.trim_end_matches('#');
    let is_closing = open.is_empty() || open.ends_with([' ', '\t']);
    start..start + if is_closing { open.trim_end().len() } else { content.len() }
}

/// Returns the lines between the fences, and whether there is a closing one.
fn find_content(text: &str, range: &Range<usize>) -> (Range<usize>, bool) {
    let opening = text[range.start..].trim_start_matches(' ');
    let mark = opening.chars().next().unwrap_or('`');
    let length = opening.chars().take_while(|found| *found == mark).count();
    let start = line::line_end(text, range.start).min(range.end);
    let block = text[start..range.end].trim_end();
    let last = start + block.len() - block.rsplit(['\n', '\r']).next().map_or(0, str::len);
    let closing = block[last - start..].trim();
    let is_closed = closing.len() >= length && closing.chars().all(|found| found == mark);
    (start..if is_closed { last } else { range.end }, is_closed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headings(text: &str) -> Vec<(usize, &str)> {
        Outline::of(text).headings.iter().map(|found| (found.level, &text[found.text.clone()])).collect()
    }

    #[test]
    fn headings_in_fences_comments_quotes_and_lists_are_none() {
        let text =
            "# A #\n```\n## B\n```\n<!--\n## C\n-->\n> ## D\n\n- ## E\n\n    ## F\n\n ## G ##\n\\## H\n##I\n";
        assert_eq!(headings(text), [(1, "A"), (2, "G")]);
    }

    #[test]
    fn a_mark_at_the_beginning_and_any_line_ending_do_no_harm() {
        assert_eq!(headings("\u{feff}# A\r\n## B\r\n"), [(1, "A"), (2, "B")]);
        assert_eq!(headings("# A\r## B\r"), [(1, "A"), (2, "B")]);
        assert_eq!(headings("```\r# A\r```\r## B\r"), [(2, "B")]);
        assert_eq!(headings("#\n## #\n### C#\n"), [(1, ""), (2, ""), (3, "C#")]);
    }

    #[test]
    fn an_underlined_heading_is_listed_apart() {
        let outline = Outline::of("text\n---\n\nA\n===\n");
        assert!(outline.headings.is_empty());
        assert_eq!(outline.underlined, [0, 10]);
    }

    #[test]
    fn a_fence_knows_its_content_and_whether_it_is_closed() {
        let text = "````json a\n{\n```\n}\n````\n";
        let outline = Outline::of(text);
        assert_eq!(&text[outline.fences[0].content.clone()], "{\n```\n}\n");
        assert_eq!((outline.fences[0].info.as_str(), outline.unclosed), ("json a", None));
        assert_eq!(Outline::of("a\n\n~~~\nb\n").unclosed, Some(3));
        assert_eq!(Outline::of("a\n\n<!-- b\n").unclosed, Some(3));
        assert_eq!(Outline::of("```").unclosed, Some(0));
    }

    #[test]
    fn the_head_of_an_item_is_its_first_paragraph() {
        let text = "- a\n  b\n  - c\n- d\n\n  e\n- f\n  <!-- g -->\n-     h\n";
        let outline = Outline::of(text);
        let heads: Vec<&str> = outline.items.iter().map(|item| text[item.head.clone()].trim_end()).collect();
        assert_eq!(heads, ["- a\n  b", "- d", "- f", "-"]);
    }

    #[test]
    fn towers_of_containers_are_flattened_in_place() {
        let tower = format!("{}x\n## A\n", "> ".repeat(CONTAINERS_PER_LINE_MAX + 1));
        assert_eq!(level(&tower).len(), tower.len());
        assert_eq!(headings(&tower), [(2, "A")]);
        assert!(matches!(level("> > a\n- - - -\n"), Cow::Borrowed(_)));
    }
}
