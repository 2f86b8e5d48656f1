//! Writes the labelled lines at the head of the context, `**Epic:** …` and `**PRD:** …`, in an existing file.

use std::ops::Range;

use crate::error::EditError;
use crate::label::{self, Labelled};
use crate::line;
use crate::new_file::{NewEpic, NewPrd, render_epic, render_prd};
use crate::outline::Outline;
use crate::section::Section;
use crate::task_file::TaskFile;

const EPIC: &str = "Epic";
const PRD: &str = "PRD";

impl TaskFile {
    /// Names another epic; with none, the line goes.
    pub fn with_epic(&self, epic: Option<&NewEpic>) -> Result<TaskFile, EditError> {
        self.with_context_line(EPIC, epic.map(render_epic), None)
    }

    /// Names another requirements document; with none, the line goes.
    pub fn with_prd(&self, prd: Option<&NewPrd>) -> Result<TaskFile, EditError> {
        self.with_context_line(PRD, prd.map(render_prd), Some(EPIC))
    }

    /// Writes a labelled line in place of the one with that label, else after the line labelled `after`, else before all
    /// others.
    fn with_context_line(
        &self,
        label: &str,
        wanted: Option<String>,
        after: Option<&str>,
    ) -> Result<TaskFile, EditError> {
        let found = self.find_context_line(label);
        if found.as_ref().map(|range| self.text[range.clone()].trim_end()) == wanted.as_deref() {
            return Ok(self.clone());
        }
        let file = match (found, &wanted) {
            (Some(range), Some(wanted)) => {
                let words = self.text[range.clone()].trim_end().len();
                self.splice(range.start..range.start + words, wanted)
            }
            (Some(range), None) => self.splice(range, ""),
            (None, Some(wanted)) => self.insert_context_line(wanted, after),
            (None, None) => return Ok(self.clone()),
        };
        let now = file.find_context_line(label);
        let is_right = now.map(|range| file.text[range].trim_end().to_owned()) == wanted;
        self.confirm(file, is_right, "the context")
    }

    fn insert_context_line(&self, wanted: &str, after: Option<&str>) -> TaskFile {
        let ending = self.ending();
        if let Some(range) = after.and_then(|label| self.find_context_line(label)) {
            let is_ended = self.text[range.clone()].ends_with(['\n', '\r']);
            let text = if is_ended { format!("{wanted}{ending}") } else { format!("{ending}{wanted}") };
            return self.splice(range.end..range.end, &text);
        }
        match self.list_context_lines().first() {
            Some(first) => {
                let start = line::line_start(&self.text, first.value.start);
                self.splice(start..start, &format!("{wanted}{ending}"))
            }
            None => self.prepend_to_section(Section::Context, wanted),
        }
    }

    /// Returns the line with a label, its line ending included.
    fn find_context_line(&self, label: &str) -> Option<Range<usize>> {
        let lines = self.list_context_lines();
        let found = lines.iter().find(|found| found.label.eq_ignore_ascii_case(label))?;
        let at = found.value.start;
        Some(line::line_start(&self.text, at)..line::line_end(&self.text, at.min(self.text.len())))
    }

    /// Lists the labelled lines between the heading of the context and its first part.
    fn list_context_lines(&self) -> Vec<Labelled<'_>> {
        let Some(span) = self.parts.find_section(Section::Context) else { return Vec::new() };
        let starts = self.parts.subsections.iter().map(|found| found.range.start);
        let first = starts.filter(|start| span.body.contains(start)).min();
        let head = span.body.start..first.unwrap_or(span.body.end);
        label::find(&self.text, head, &Outline::of(&self.text), &[])
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};

    fn head_of(file: &TaskFile) -> &str {
        let text = file.text();
        let start = text.find("## 1.").unwrap();
        &text[start..text.find("### Req").unwrap()]
    }

    #[expect(clippy::needless_pass_by_value, reason = "an expectation is written where it is checked")]
    fn check(context: &str, edit: impl Fn(&TaskFile) -> TaskFile, expected: Expect) {
        let file =
            TaskFile::parse(format!("# Task #1: A\n\n## 1. Context\n\n{context}### Requirements\nx\n"));
        expected.assert_eq(head_of(&edit(&file)));
    }

    fn epic(id: u32) -> NewEpic {
        NewEpic { id, title: format!("Epic {id}"), link: Some(format!("/api/epics/{id}")) }
    }

    fn prd() -> NewPrd {
        NewPrd { title: "Auth".into(), link: Some("/api/prds/auth".into()) }
    }

    #[test]
    fn a_line_is_replaced_added_and_removed() {
        let both = |file: &TaskFile| file.with_epic(Some(&epic(2))).unwrap().with_prd(Some(&prd())).unwrap();
        check(
            "**Epic:** Epic 1 (#1)\n**Repository:** shop\n\n",
            both,
            expect![[r"
                ## 1. Context

                **Epic:** Epic 2 (#2) [details](/api/epics/2)
                **PRD:** [Auth](/api/prds/auth)
                **Repository:** shop

            "]],
        );
        check(
            "**Repository:** shop\n\nSome words.\n\n",
            both,
            expect![[r"
                ## 1. Context

                **Epic:** Epic 2 (#2) [details](/api/epics/2)
                **PRD:** [Auth](/api/prds/auth)
                **Repository:** shop

                Some words.

            "]],
        );
        check(
            "",
            both,
            expect![[r"
                ## 1. Context

                **Epic:** Epic 2 (#2) [details](/api/epics/2)
                **PRD:** [Auth](/api/prds/auth)

            "]],
        );
        check(
            "**Epic:** Epic 1 (#1)\n**PRD:** [Auth](/api/prds/auth)\n\n",
            |file| file.with_epic(None).unwrap().with_prd(None).unwrap(),
            expect![[r"
                ## 1. Context


            "]],
        );
    }

    #[test]
    fn what_says_so_already_stays_as_it_is_written() {
        let file = TaskFile::parse(
            "## 1. Context\r\n**Epic:** Epic 2 (#2) [details](/api/epics/2)  \r\n".to_owned(),
        );
        assert_eq!(file.with_epic(Some(&epic(2))).unwrap().text(), file.text());
        let other = file.with_epic(Some(&epic(3))).unwrap();
        assert!(other.text().contains("(#3) [details](/api/epics/3)  \r\n"), "{:?}", other.text());
        let with_prd = file.with_prd(Some(&prd())).unwrap();
        assert!(
            with_prd.text().ends_with("  \r\n**PRD:** [Auth](/api/prds/auth)\r\n"),
            "{:?}",
            with_prd.text()
        );
    }
}
