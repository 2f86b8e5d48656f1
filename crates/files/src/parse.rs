//! From the outline of a text to the parts of a task file.
//!
//! Never fails: what is not understood is listed as a fault or as unknown, and the text keeps it. Of two
//! sections with the same title the first counts.

use std::collections::HashSet;
use std::ops::Range;

use crate::archived_summary::ArchivedSummary;
use crate::chain_input::{self, ChainInput};
use crate::chain_output;
use crate::criterion::{self, Criterion};
use crate::fault::{Fault, FaultKind, Unknown, UnknownKind};
use crate::line::{self, LineIndex};
use crate::merge::CONFLICTS_TITLE;
use crate::metadata::{self, KNOWN_KEYS, Metadata};
use crate::outline::{Heading, Outline};
use crate::section::{self, Section, SectionSpan};
use crate::session::{self, LogHeading, SessionEntry};
use crate::task_file::Title;

/// A fault shows this much of the offending line; the rest is in the file.
const FAULT_TEXT_BYTES_MAX: usize = 200;

/// Everything that was found in a text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Parts {
    pub(crate) title: Option<Title>,
    /// The words of the first heading, without its marks.
    pub(crate) title_words: Option<Range<usize>>,
    pub(crate) sections: Vec<SectionSpan>,
    pub(crate) subsections: Vec<Subsection>,
    pub(crate) metadata: Result<Metadata, Fault>,
    /// The text under `### Requirements`, without blank lines around it.
    pub(crate) requirements: Option<Range<usize>>,
    pub(crate) criteria: Vec<Criterion>,
    /// Where the items under `### Acceptance Criteria` stand, with or without a box.
    pub(crate) criterion_items: Vec<Range<usize>>,
    pub(crate) chain_inputs: Vec<ChainInput>,
    pub(crate) sessions: Vec<SessionEntry>,
    pub(crate) archived: Option<ArchivedSummary>,
    pub(crate) chain_output: Option<Range<usize>>,
    pub(crate) summary: Option<Range<usize>>,
    pub(crate) unknown: Vec<Unknown>,
    pub(crate) faults: Vec<Fault>,
    /// The line of a fence or comment that nothing closes.
    pub(crate) unclosed_line: Option<usize>,
}

/// A part of a section with a heading of the third level.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Subsection {
    pub(crate) section: Option<Section>,
    pub(crate) kind: SubsectionKind,
    pub(crate) title: String,
    pub(crate) range: Range<usize>,
    pub(crate) body: Range<usize>,
}

/// What a sub-section is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum SubsectionKind {
    Requirements,
    Criteria,
    ChainInput,
    Session,
    Archived,
    Other,
}

/// Finds the parts of a text.
pub(crate) fn parse(text: &str) -> Parts {
    let outline = Outline::of(text);
    let mut reader = Reader {
        text,
        outline: &outline,
        lines: LineIndex::of(text),
        parts: Parts {
            title: None,
            title_words: None,
            sections: Vec::new(),
            subsections: Vec::new(),
            metadata: Err(Fault {
                line: 1,
                column: 1,
                what: FaultKind::MissingMetadata,
                text: String::new(),
            }),
            requirements: None,
            criteria: Vec::new(),
            criterion_items: Vec::new(),
            chain_inputs: Vec::new(),
            sessions: Vec::new(),
            archived: None,
            chain_output: None,
            summary: None,
            unknown: Vec::new(),
            faults: Vec::new(),
            unclosed_line: None,
        },
    };
    reader.read_sections();
    reader.read_title();
    reader.read_metadata();
    reader.read_subsections();
    reader.read_criteria();
    reader.read_chain_output();
    reader.read_leftovers();
    let mut parts = reader.parts;
    parts.faults.sort_by_key(|fault| (fault.line, fault.column));
    parts.unknown.sort_by_key(|unknown| unknown.line);
    parts
}

impl Parts {
    /// Finds a section that the format knows.
    pub(crate) fn find_section(&self, section: Section) -> Option<&SectionSpan> {
        self.sections.iter().find(|span| span.section == Some(section))
    }

    /// Finds the first sub-section of a kind.
    pub(crate) fn find_subsection(&self, kind: SubsectionKind) -> Option<&Subsection> {
        self.subsections.iter().find(|found| found.kind == kind)
    }
}

/// What has been met, so that the first counts.
#[derive(Default)]
struct Seen {
    kinds: HashSet<SubsectionKind>,
    /// The numbers of sessions.
    numbers: HashSet<u32>,
}

struct Reader<'a> {
    text: &'a str,
    outline: &'a Outline,
    lines: LineIndex,
    parts: Parts,
}

impl Reader<'_> {
    fn fault(&self, at: usize, what: FaultKind) -> Fault {
        let line = self.lines.line(at);
        let text = self.text[self.lines.start(line)..line::line_end(self.text, at)].trim();
        Fault { line, column: self.lines.column(at), what, text: shorten(text).to_owned() }
    }

    fn note_fault(&mut self, at: usize, what: FaultKind) {
        let fault = self.fault(at, what);
        self.parts.faults.push(fault);
    }

    fn note_unknown(&mut self, at: usize, what: UnknownKind, text: &str) {
        self.parts.unknown.push(Unknown { what, line: self.lines.line(at), text: shorten(text).to_owned() });
    }

    fn read_sections(&mut self) {
        let headings: Vec<&Heading> =
            self.outline.headings.iter().filter(|heading| heading.level == 2).collect();
        let mut seen = HashSet::new();
        for (index, heading) in headings.iter().enumerate() {
            let end = headings.get(index + 1).map_or(self.text.len(), |next| next.range.start);
            self.read_section(heading, end, &mut seen);
        }
        for section in Section::ALL.into_iter().filter(|section| section.is_required()) {
            if !seen.contains(&section) {
                self.note_fault(self.text.len(), FaultKind::MissingSection(section));
            }
        }
    }

    fn read_section(&mut self, heading: &Heading, end: usize, seen: &mut HashSet<Section>) {
        let (number, title) = section::parse_heading(&self.text[heading.text.clone()]);
        let found = Section::find(title);
        let is_repeated = found.is_some_and(|section| !seen.insert(section));
        let at = heading.range.start;
        match found {
            Some(section) if is_repeated => self.note_fault(at, FaultKind::DuplicateSection(section)),
            Some(section) if number.is_some_and(|number| number != section.number()) => {
                self.note_fault(at, FaultKind::WrongNumber(section));
            }
            None if title.eq_ignore_ascii_case(CONFLICTS_TITLE) => {
                self.note_fault(at, FaultKind::UnresolvedConflicts);
            }
            _ => {}
        }
        let section = found.filter(|_| !is_repeated);
        if section.is_none() {
            self.note_unknown(at, UnknownKind::Section, &self.text[heading.text.clone()]);
        }
        self.parts.sections.push(SectionSpan {
            section,
            number,
            title: title.to_owned(),
            range: at..end,
            bytes: end - at,
            line: self.lines.line(at),
            body: heading.range.end..end,
        });
    }

    fn read_title(&mut self) {
        let end = self.parts.sections.first().map_or(self.text.len(), |span| span.range.start);
        let mut headings = self.outline.headings.iter().filter(|heading| heading.level == 1).peekable();
        match headings.next_if(|heading| heading.range.start < end) {
            Some(heading) => {
                self.parts.title = Some(parse_title(&self.text[heading.text.clone()]));
                self.parts.title_words = Some(heading.text.clone());
            }
            None => self.note_fault(0, FaultKind::MissingTitle),
        }
        for heading in headings {
            self.note_unknown(heading.range.start, UnknownKind::Heading, &self.text[heading.text.clone()]);
        }
    }

    fn read_metadata(&mut self) {
        let Some(span) = self.parts.find_section(Section::Metadata) else { return };
        let (body, heading) = (span.body.clone(), span.range.start);
        let is_json =
            |info: &str| info.split_whitespace().next().is_none_or(|word| word.eq_ignore_ascii_case("json"));
        let mut fences = self.outline.fences.iter().filter(|fence| body.contains(&fence.range.start));
        self.parts.metadata = match fences.find(|fence| is_json(&fence.info)) {
            None => Err(self.fault(heading, FaultKind::MissingMetadata)),
            Some(fence) => {
                let start = fence.content.start;
                metadata::parse(&self.text[fence.content.clone()], fence.content.clone())
                    .map_err(|(what, at)| self.fault(start + at, what))
            }
        };
        match &self.parts.metadata {
            Err(fault) => {
                let fault = fault.clone();
                self.parts.faults.push(fault);
            }
            Ok(metadata) => {
                let keys: Vec<(String, usize)> = metadata
                    .members
                    .iter()
                    .map(|member| (member.key.clone(), metadata.content.start + member.range.start))
                    .collect();
                self.note_keys(&keys);
            }
        }
    }

    fn note_keys(&mut self, keys: &[(String, usize)]) {
        let mut seen = HashSet::new();
        for (key, at) in keys {
            if !KNOWN_KEYS.contains(&key.as_str()) {
                self.note_unknown(*at, UnknownKind::MetadataKey, key);
            }
            if !seen.insert(key) {
                self.note_fault(*at, FaultKind::DuplicateKey);
            }
        }
    }

    fn read_subsections(&mut self) {
        // A later heading of the first level ends nothing: more often than not it is a pasted shell comment.
        let headings: Vec<&Heading> =
            self.outline.headings.iter().filter(|heading| matches!(heading.level, 2 | 3)).collect();
        let mut spans = self.parts.sections.clone().into_iter();
        let mut section = None;
        let mut seen = Seen::default();
        for (index, heading) in headings.iter().enumerate() {
            if heading.level == 2 {
                section = spans.next().and_then(|span| span.section);
                continue;
            }
            let end = headings.get(index + 1).map_or(self.text.len(), |next| next.range.start);
            let kind = self.read_subsection(section, heading, end, &mut seen);
            self.parts.subsections.push(Subsection {
                section,
                kind,
                title: self.text[heading.text.clone()].to_owned(),
                range: heading.range.start..end,
                body: heading.range.end..end,
            });
        }
    }

    fn read_subsection(
        &mut self,
        section: Option<Section>,
        heading: &Heading,
        end: usize,
        seen: &mut Seen,
    ) -> SubsectionKind {
        let kind = match section {
            Some(Section::Context) => self.read_part_of_context(heading, end, seen),
            Some(Section::ChainInputs) => self.read_chain_input(heading, end),
            Some(Section::ProgressLog) => self.read_part_of_log(heading, end, seen),
            Some(Section::Metadata | Section::ChainOutput) | None => SubsectionKind::Other,
        };
        let is_free = matches!(section, Some(Section::ChainOutput))
            || (section.is_none() && !self.parts.sections.is_empty());
        if kind == SubsectionKind::Other && !is_free {
            self.note_unknown(heading.range.start, UnknownKind::Heading, &self.text[heading.text.clone()]);
        }
        kind
    }

    fn read_part_of_context(&mut self, heading: &Heading, end: usize, seen: &mut Seen) -> SubsectionKind {
        let title = line::on_one_line(&self.text[heading.text.clone()]);
        let kind = if title.eq_ignore_ascii_case("Requirements") {
            SubsectionKind::Requirements
        } else if title.eq_ignore_ascii_case("Acceptance Criteria") {
            SubsectionKind::Criteria
        } else {
            return SubsectionKind::Other;
        };
        if !seen.kinds.insert(kind) {
            self.note_fault(heading.range.start, FaultKind::DuplicateSubsection);
            return SubsectionKind::Other;
        }
        if kind == SubsectionKind::Requirements {
            self.parts.requirements = Some(line::trim_blank_lines(self.text, heading.range.end..end));
        }
        kind
    }

    fn read_chain_input(&mut self, heading: &Heading, end: usize) -> SubsectionKind {
        let at = heading.range.start;
        let Some((task, title)) = chain_input::parse_heading(&self.text[heading.text.clone()]) else {
            return SubsectionKind::Other;
        };
        if task.is_none() {
            self.note_fault(at, FaultKind::ChainInputWithoutTask);
        }
        let line = self.lines.line(at);
        let body = heading.range.end..end;
        self.parts.chain_inputs.push(chain_input::parse_entry(self.text, at..end, body, (task, title), line));
        SubsectionKind::ChainInput
    }

    fn read_part_of_log(&mut self, heading: &Heading, end: usize, seen: &mut Seen) -> SubsectionKind {
        let (at, body) = (heading.range.start, heading.range.end..end);
        match session::parse_heading(&self.text[heading.text.clone()]) {
            LogHeading::Session { number, at: time } => {
                if !seen.numbers.insert(number) {
                    self.note_fault(at, FaultKind::DuplicateSession(number));
                }
                let line = self.lines.line(at);
                let entry =
                    session::parse_entry(self.text, self.outline, at..end, body, (number, time), line);
                self.parts.sessions.push(entry);
                SubsectionKind::Session
            }
            LogHeading::Archived { first, last } if self.parts.archived.is_none() => {
                self.parts.archived =
                    Some(ArchivedSummary::parse(self.text, self.outline, at..end, body, (first, last)));
                SubsectionKind::Archived
            }
            LogHeading::Archived { .. } => {
                self.note_fault(at, FaultKind::DuplicateSubsection);
                SubsectionKind::Other
            }
            LogHeading::ArchivedWithoutSessions => {
                self.note_fault(at, FaultKind::ArchivedSummaryWithoutSessions);
                SubsectionKind::Other
            }
            LogHeading::SessionWithoutNumber => {
                self.note_fault(at, FaultKind::SessionWithoutNumber);
                SubsectionKind::Other
            }
            LogHeading::Other => SubsectionKind::Other,
        }
    }

    fn read_criteria(&mut self) {
        let Some(found) = self.parts.find_subsection(SubsectionKind::Criteria) else { return };
        let body = found.body.clone();
        let first = self.outline.items.partition_point(|item| item.range.start < body.start);
        for item in self.outline.items[first..].iter().take_while(|item| item.range.start < body.end) {
            let start = line::line_start(self.text, item.range.start);
            let content = self.text[item.range.start..item.range.end.min(body.end)].trim_end();
            let range = start..line::line_end(self.text, item.range.start + content.len());
            let line = self.lines.line(start);
            match criterion::parse(self.text, item, range.clone(), line) {
                Some(criterion) => self.parts.criteria.push(criterion),
                None => {
                    let text = self.text[item.head.clone()].trim();
                    self.note_unknown(start, UnknownKind::ItemWithoutBox, text);
                }
            }
            self.parts.criterion_items.push(range);
        }
    }

    fn read_chain_output(&mut self) {
        let Some(span) = self.parts.find_section(Section::ChainOutput) else { return };
        self.parts.chain_output = chain_output::find(self.text, self.outline, span.body.clone());
        if let Some(output) = self.parts.chain_output.clone() {
            self.parts.summary = chain_output::find_summary(self.text, self.outline, output);
        }
    }

    fn read_leftovers(&mut self) {
        for at in &self.outline.underlined {
            let text = self.text[*at..line::line_end(self.text, *at)].trim();
            self.note_unknown(*at, UnknownKind::UnderlinedHeading, text);
        }
        if let Some(at) = self.outline.unclosed {
            self.parts.unclosed_line = Some(self.lines.line(at));
            self.note_fault(at, FaultKind::Unclosed);
        }
    }
}

/// Reads `Task #12: Title`; another heading is a title without a number.
fn parse_title(text: &str) -> Title {
    let numbered = || {
        let head = text.get(.."Task".len())?;
        let rest = text["Task".len()..].trim_start().trim_start_matches('#');
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let id = rest[..digits].parse().ok()?;
        let title = rest[digits..]
            .strip_prefix(':')
            .or_else(|| rest[digits..].strip_prefix([' ', '\t']))
            .unwrap_or("");
        let is_whole = rest.len() == digits || !title.is_empty() || rest[digits..].trim() == ":";
        (head.eq_ignore_ascii_case("Task") && is_whole)
            .then(|| Title { id: Some(id), text: title.trim().into() })
    };
    numbered().unwrap_or_else(|| Title { id: None, text: text.to_owned() })
}

fn shorten(text: &str) -> &str {
    let mut end = text.len().min(FAULT_TEXT_BYTES_MAX);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}
