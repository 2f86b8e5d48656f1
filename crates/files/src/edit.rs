//! Edits: each returns a new file in which only the bytes of one part differ.
//!
//! An edit finds its place in the text, writes there in the line ending of the file, and parses the result
//! again. If that does not show the intended change (say, because an unclosed fence swallows it), the edit is
//! refused: better no change than one that nobody can see.

use std::ops::Range;

use serde_json::Value;

use crate::chain_input::{self, NewChainInput};
use crate::chain_output::is_placeholder;
use crate::contain::contain;
use crate::criterion::{self, NewCriterion};
use crate::error::EditError;
use crate::fault::FaultKind;
use crate::line;
use crate::metadata::render_value;
use crate::parse::SubsectionKind;
use crate::section::Section;
use crate::session::{self, NewSession};
use crate::task_file::TaskFile;

/// What stands in the chain output until there is one.
pub(crate) const OUTPUT_PLACEHOLDER: &str = "(To be completed)";

/// The level of headings that may stand inside a section.
const SECTION_INNER_LEVEL: usize = 3;

/// The level of headings that may stand inside a sub-section.
const SUBSECTION_INNER_LEVEL: usize = 4;

/// Ends a list for good, and shows nowhere.
const LIST_END: &str = "<!-- -->";

/// How a new block is set off from what stands before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    /// On the next line.
    Line,
    /// After a blank line.
    BlankLine,
}

impl TaskFile {
    /// Gives a metadata key a value; the other keys stay as they are written.
    pub fn with_metadata(&self, key: &str, value: &Value) -> Result<TaskFile, EditError> {
        let rendered = render_value(value);
        let file = match &self.parts.metadata {
            Ok(metadata) => {
                let json = &self.text[metadata.content.clone()];
                if metadata.raw(json, key).is_some() && metadata.map.get(key) == Some(value) {
                    return Ok(self.clone());
                }
                let splice = metadata.set(json, key, &rendered, self.ending());
                let start = metadata.content.start;
                self.splice(start + splice.range.start..start + splice.range.end, &splice.with)
            }
            Err(fault) if fault.what == FaultKind::MissingMetadata => {
                let block = format!("```json\n{{\n  {}: {rendered}\n}}\n```", Value::from(key));
                match self.parts.find_section(Section::Metadata) {
                    Some(span) => self.place(span.body.start..span.body.start, Gap::Line, &block),
                    None => self.with_section(Section::Metadata, &block, Gap::Line),
                }
            }
            Err(fault) => return Err(EditError::Metadata(fault.clone())),
        };
        let is_right = file.metadata().is_ok_and(|map| map.get(key) == Some(value));
        self.confirm(file, is_right, "metadata")
    }

    /// Writes another title after the number of the task; a file without a title stays as it is.
    pub fn with_title(&self, title: &str) -> Result<TaskFile, EditError> {
        let (Some(found), Some(words)) = (self.title(), self.parts.title_words.clone()) else {
            return Ok(self.clone());
        };
        let title = line::on_one_line(title);
        if found.plain() == title {
            return Ok(self.clone());
        }
        let number = found.id.map_or_else(String::new, |id| format!("Task #{id}: "));
        let file = self.splice(words, &format!("{number}{}", session::protect_closing_marks(&title)));
        let is_right = file.title().is_some_and(|found| found.plain() == title);
        self.confirm(file, is_right, "the title")
    }

    /// Ticks or unticks a criterion; indexes count from 0.
    pub fn with_criterion(&self, index: usize, checked: bool) -> Result<TaskFile, EditError> {
        let found = self.criterion_at(index)?;
        if found.checked == checked {
            return Ok(self.clone());
        }
        Ok(self.splice(found.mark..found.mark + 1, if checked { "x" } else { " " }))
    }

    /// Rewords a criterion; its box, its check and what is nested in it stay.
    pub fn with_criterion_text(&self, index: usize, text: &str) -> Result<TaskFile, EditError> {
        let found = self.criterion_at(index)?;
        let new = NewCriterion { text: text.to_owned(), checked: found.checked, check: found.check.clone() };
        let words = &self.text[found.words.clone()];
        let end = found.words.start + words.trim_end().len();
        let file = self.splice(found.words.start..end, format!(" {}", new.render_words()).trim_end());
        let is_right = file.criteria().len() == self.criteria().len();
        self.confirm(file, is_right, "a criterion")
    }

    /// Adds a criterion after the last one.
    pub fn append_criterion(&self, criterion: &NewCriterion) -> Result<TaskFile, EditError> {
        let file =
            match (self.parts.criterion_items.last(), self.parts.find_subsection(SubsectionKind::Criteria)) {
                (Some(last), _) => {
                    let item = &self.text[last.clone()];
                    let block = criterion.render(&criterion::next_bullet(item));
                    let is_ended = item.ends_with(['\n', '\r']);
                    let (before, after) = if is_ended { ("", self.ending()) } else { (self.ending(), "") };
                    self.splice(last.end..last.end, &format!("{before}{block}{after}"))
                }
                (None, Some(found)) => {
                    let content = line::trim_blank_lines(&self.text, found.body.clone());
                    let gap = if content.is_empty() { Gap::Line } else { Gap::BlankLine };
                    self.place(self.end_of(&found.body), gap, &criterion.render("- "))
                }
                (None, None) => {
                    let block = format!("### Acceptance Criteria\n{}", criterion.render("- "));
                    self.append_to_section(Section::Context, &block)
                }
            };
        let is_right = file.criteria().len() == self.criteria().len() + 1;
        self.confirm(file, is_right, "a criterion")
    }

    /// Brings the criteria in line with a list: those that say so already stay as they are, the others go, and what is
    /// missing is added after the last one.
    pub fn with_criteria(&self, criteria: &[NewCriterion]) -> Result<TaskFile, EditError> {
        let is_wanted = |text: &str| criteria.iter().any(|wanted| wanted.text == text);
        let mut file = self.clone();
        for (index, found) in self.criteria().iter().enumerate().rev() {
            if !is_wanted(&found.text)
                && let Some(item) = self.parts.criterion_items.get(index)
            {
                file = file.splice(item.clone(), "");
            }
        }
        for wanted in criteria {
            if !file.criteria().iter().any(|found| found.text == wanted.text) {
                file = file.append_criterion(wanted)?;
            }
        }
        let is_right = file.criteria().len() == criteria.len()
            && file.criteria().iter().all(|found| is_wanted(&found.text));
        self.confirm(file, is_right, "the criteria")
    }

    /// Replaces the text under `### Requirements`. Headings in it are deepened, so that they stay inside.
    pub fn with_requirements(&self, text: &str) -> Result<TaskFile, EditError> {
        let block = contain(&line::with_endings(text, "\n"), SUBSECTION_INNER_LEVEL);
        let file = match (&self.parts.requirements, self.parts.find_subsection(SubsectionKind::Criteria)) {
            (Some(range), _) => self.place(range.clone(), Gap::Line, &block),
            (None, Some(criteria)) => {
                let at = criteria.range.start;
                self.place(at..at, Gap::BlankLine, &format!("### Requirements\n{block}"))
            }
            (None, None) => self.append_to_section(Section::Context, &format!("### Requirements\n{block}")),
        };
        let is_right = file.requirements().map(|found| line::with_endings(found, "\n")) == Some(block);
        self.confirm(file, is_right, "the requirements")
    }

    /// Adds a session at the end of the progress log, in place of its placeholder if there is one.
    pub fn with_session(&self, session: &NewSession) -> Result<TaskFile, EditError> {
        let file = self.append_to_section(Section::ProgressLog, &session::render(session));
        let is_right = file.sessions().len() == self.sessions().len() + 1
            && file.sessions().last().is_some_and(|last| last.number == session.number);
        self.confirm(file, is_right, "a session")
    }

    /// Rewrites the last session of the progress log.
    pub fn with_last_session(&self, session: &NewSession) -> Result<TaskFile, EditError> {
        let Some(last) = self.sessions().last() else { return self.with_session(session) };
        let end = last.range.start + last.text.trim_end().len();
        let file = self.place(last.range.start..end, Gap::Line, &session::render(session));
        let is_right = file.sessions().len() == self.sessions().len()
            && file.sessions().last().is_some_and(|last| last.number == session.number);
        self.confirm(file, is_right, "a session")
    }

    /// Brings the chain inputs in line with a list: entries that already say so stay as they are.
    ///
    /// An entry for a task that is not in the list goes, unless somebody wrote something of their own below it.
    pub fn with_chain_inputs(&self, inputs: &[NewChainInput]) -> Result<TaskFile, EditError> {
        let mut file = self.clone();
        let is_gone =
            |task: Option<u32>| task.is_some_and(|task| inputs.iter().all(|input| input.task != task));
        for entry in self.chain_inputs().iter().rev().filter(|entry| is_gone(entry.task)) {
            if line::is_blank(&self.text[entry.written.end..entry.range.end]) {
                file = file.splice(entry.range.clone(), "");
            }
        }
        for input in inputs {
            file = file.with_chain_input(input)?;
        }
        Ok(file)
    }

    fn with_chain_input(self, input: &NewChainInput) -> Result<TaskFile, EditError> {
        let block = chain_input::render(input);
        let file = match self.chain_inputs().iter().find(|entry| entry.task == Some(input.task)) {
            Some(entry) if chain_input::says(entry, input) => return Ok(self),
            Some(entry) => {
                let end = entry.written.start + self.text[entry.written.clone()].trim_end().len();
                self.place(entry.written.start..end, Gap::Line, &block)
            }
            None => self.append_to_section(Section::ChainInputs, &block),
        };
        let is_right = file.chain_inputs().iter().any(|entry| chain_input::says(entry, input));
        self.confirm(file, is_right, "a chain input")
    }

    /// Replaces the chain output; an empty text brings the placeholder back. Headings in it are deepened, so that
    /// they stay inside.
    pub fn with_chain_output(&self, text: &str) -> Result<TaskFile, EditError> {
        let mut block = contain(&line::with_endings(text, "\n"), SECTION_INNER_LEVEL);
        if block.is_empty() {
            block = OUTPUT_PLACEHOLDER.to_owned();
        }
        let file = match self.parts.find_section(Section::ChainOutput) {
            Some(span) => {
                let content = line::trim_blank_lines(&self.text, span.body.clone());
                let gap = if content.is_empty() { Gap::BlankLine } else { Gap::Line };
                self.place(content, gap, &block)
            }
            None => self.with_section(Section::ChainOutput, &block, Gap::BlankLine),
        };
        let found = file.chain_output().map(|found| line::with_endings(found, "\n"));
        let is_right = match found {
            Some(found) => found == block,
            None => is_placeholder(&block) && file.parts.find_section(Section::ChainOutput).is_some(),
        };
        self.confirm(file, is_right, "the chain output")
    }

    /// Returns the file with a range replaced, and everything else as it is.
    pub(crate) fn splice(&self, range: Range<usize>, with: &str) -> TaskFile {
        let mut text = String::with_capacity(self.text.len() + with.len());
        text.push_str(&self.text[..range.start]);
        text.push_str(with);
        text.push_str(&self.text[range.end..]);
        TaskFile::parse(text)
    }

    pub(crate) fn ending(&self) -> &'static str {
        line::ending_of(&self.text)
    }

    fn criterion_at(&self, index: usize) -> Result<&criterion::Criterion, EditError> {
        let count = self.criteria().len();
        self.criteria().get(index).ok_or(EditError::NoSuchCriterion { index, count })
    }

    /// Returns the place after the last line of a range that is not blank.
    fn end_of(&self, body: &Range<usize>) -> Range<usize> {
        let end = line::trim_blank_lines(&self.text, body.clone()).end;
        end..end
    }

    /// Adds a block at the end of a section, in place of its placeholder, or together with the section.
    fn append_to_section(&self, section: Section, block: &str) -> TaskFile {
        let Some(span) = self.parts.find_section(section) else {
            return self.with_section(section, block, Gap::BlankLine);
        };
        let content = line::trim_blank_lines(&self.text, span.body.clone());
        let at = if is_placeholder(&self.text[content.clone()]) { content } else { self.end_of(&span.body) };
        self.place(at, Gap::BlankLine, block)
    }

    /// Adds a block at the beginning of a section, or together with the section.
    pub(crate) fn prepend_to_section(&self, section: Section, block: &str) -> TaskFile {
        let Some(span) = self.parts.find_section(section) else {
            return self.with_section(section, block, Gap::BlankLine);
        };
        let start = line::trim_blank_lines(&self.text, span.body.clone()).start;
        self.place(start..start, Gap::BlankLine, block)
    }

    /// Adds a section where it belongs among the others.
    fn with_section(&self, section: Section, block: &str, gap: Gap) -> TaskFile {
        let known = |span: &&crate::section::SectionSpan| span.section.is_some();
        let before = self.sections().iter().filter(known).rfind(|span| span.section < Some(section));
        let after = self.sections().iter().filter(known).find(|span| span.section > Some(section));
        let at = match (before, after) {
            (Some(span), _) => self.end_of(&span.range),
            (None, Some(span)) => span.range.start..span.range.start,
            (None, None) => self.end_of(&(0..self.text.len())),
        };
        let space = if gap == Gap::Line { "\n" } else { "\n\n" };
        self.place(at, Gap::BlankLine, &format!("## {section}{space}{block}"))
    }

    /// Puts a block in place of a range, on lines of its own.
    ///
    /// The lines around it are kept; line endings are only added where they are missing.
    fn place(&self, range: Range<usize>, gap: Gap, block: &str) -> TaskFile {
        if block.is_empty() {
            return self.splice(range, "");
        }
        let ending = self.ending();
        let range = self.to_end_of_line(range);
        let before = &self.text[..range.start];
        let after = &self.text[range.end..];
        let wanted = if gap == Gap::Line { 1 } else { 2 };
        let space = &before[before.trim_end_matches(is_space).len()..];
        let is_first = without_mark(before).len() == space.len();
        // Spaces that begin a line would indent the block, and make code of it.
        let is_indented = space.ends_with([' ', '\t']) && (is_first || count_breaks(space) > 0);
        let missing = if is_first { 0 } else { wanted_breaks(count_breaks(space), wanted) };
        let leading = missing.max(usize::from(is_indented));
        let rest = after.trim_start_matches(is_space);
        let present = count_breaks(&after[..after.len() - rest.len()]);
        let trailing = wanted_breaks(present, if rest.is_empty() { 1 } else { 2 });
        let (leading, trailing) = (ending.repeat(leading), ending.repeat(trailing));
        let write = |block: &str| {
            let block = line::with_endings(block, ending);
            self.splice(range.clone(), &format!("{leading}{block}{trailing}"))
        };
        let file = write(block);
        // An indented heading would become part of a list that the block ends with.
        if file.headings_in_last(after.len()) < self.headings_in_last(after.len()) {
            return write(&format!("{block}\n\n{LIST_END}"));
        }
        file
    }

    /// Moves a place, or stretches a range, over spaces at the end of its line.
    fn to_end_of_line(&self, range: Range<usize>) -> Range<usize> {
        let before = &self.text[..range.end];
        if without_mark(before).is_empty() || before.ends_with(['\n', '\r']) {
            return range;
        }
        let rest = &self.text[range.end..];
        let end = range.end + rest.len() - rest.trim_start_matches([' ', '\t']).len();
        if range.is_empty() { end..end } else { range.start..end }
    }

    /// Counts the headings that begin in the last bytes of the text.
    fn headings_in_last(&self, bytes: usize) -> usize {
        let start = self.text.len() - bytes;
        let sections = self.parts.sections.iter().map(|span| span.range.start);
        let subsections = self.parts.subsections.iter().map(|found| found.range.start);
        sections.chain(subsections).filter(|at| *at >= start).count()
    }

    /// Returns the edited file, or why the edit cannot be seen in it.
    pub(crate) fn confirm(
        &self,
        file: TaskFile,
        is_right: bool,
        part: &'static str,
    ) -> Result<TaskFile, EditError> {
        let keeps_sections = Section::ALL.into_iter().all(|section| {
            self.parts.find_section(section).is_none() || file.parts.find_section(section).is_some()
        });
        if is_right && keeps_sections {
            return Ok(file);
        }
        let differs = self.text.bytes().zip(file.text.bytes()).position(|(old, new)| old != new);
        let at = differs.unwrap_or_else(|| self.text.len().min(file.text.len()));
        let line = count_breaks(&file.text.as_bytes()[..at]) + 1;
        match self.parts.unclosed_line {
            Some(unclosed) if unclosed <= line => Err(EditError::Unclosed { line: unclosed }),
            _ => Err(EditError::Misread { line, part }),
        }
    }
}

/// Leaves out the mark that some editors put at the beginning of a file.
fn without_mark(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\r' | '\n')
}

fn wanted_breaks(present: usize, wanted: usize) -> usize {
    wanted.saturating_sub(present)
}

/// Counts the line endings of a text.
pub(crate) fn count_breaks(text: impl AsRef<[u8]>) -> usize {
    let bytes = text.as_ref();
    let is_break =
        |at: usize| bytes[at] == b'\n' || (bytes[at] == b'\r' && bytes.get(at + 1) != Some(&b'\n'));
    (0..bytes.len()).filter(|at| is_break(*at)).count()
}
