//! What is beside the diff: criteria with claim and evidence, checks, what was asked before, the task's own log, plan and output.

use super::lines::render_part;
use crate::markdown;
use crate::markup::Markup;
use crate::words::{self, Clock};
use regatta_engine::core::{Evidence, Part};
use regatta_engine::{CriterionView, RejectionView, TaskView};

/// The panel.
#[derive(Debug)]
pub struct Panel<'a> {
    /// The task.
    pub task: &'a TaskView,
    /// Who said what when the work was sent back.
    pub rejections: &'a [RejectionView],
    /// The progress log of the task file, in Markdown.
    pub log: &'a str,
    /// What the task says to its dependents.
    pub output: &'a str,
    /// The time and the reader's zone.
    pub clock: &'a Clock,
}

impl Panel<'_> {
    pub(crate) fn tally(&self) -> String {
        let ticked = self.task.criteria.iter().filter(|criterion| criterion.checked).count();
        format!("{ticked} ticked, {} verified", self.verified())
    }

    pub(crate) fn verified(&self) -> usize {
        self.task.criteria.iter().filter(|criterion| criterion.verified).count()
    }

    /// Says what stands behind a tick: the engine's finding, a reviewer's, or only the claim.
    pub(crate) fn evidence(&self, criterion: &CriterionView) -> String {
        let agent = self.task.agent_id.as_deref().unwrap_or("the author");
        match (&criterion.check, criterion.verified, criterion.checked) {
            (Some(check), true, _) => format!("Verified: {check} passed"),
            (None, true, _) => "Verified".to_owned(),
            (_, false, false) => "Open".to_owned(),
            (Some(check), false, true) => format!("Ticked by {agent}. {check} has not passed at this commit"),
            (None, false, true) => match criterion.met {
                Some(true) => format!("Ticked by {agent}. A reviewer found it met; no check covers it"),
                Some(false) => format!("Ticked by {agent}. A reviewer found it not met"),
                None => format!("Ticked by {agent}. No check covers it"),
            },
        }
    }

    pub(crate) fn head(&self) -> &str {
        self.task.diff.as_ref().map_or("", |diff| diff.head.short())
    }

    pub(crate) fn took(&self, check: &Evidence) -> String {
        words::took(check.milliseconds)
    }

    pub(crate) fn log_html(&self) -> Markup {
        markdown::render(self.log)
    }

    pub(crate) fn plan_html(&self) -> Markup {
        render_part(&self.task.description, Part::Plan, self.rejections)
    }

    pub(crate) fn output_html(&self) -> Markup {
        render_part(self.output, Part::Output, self.rejections)
    }

    pub(crate) fn summary_html(&self) -> Markup {
        self.task.summary.as_deref().map(markdown::render).unwrap_or_default()
    }

    pub(crate) fn when(&self, rejection: &RejectionView) -> String {
        self.clock.time(rejection.at)
    }

    pub(crate) fn comment_count(&self, rejection: &RejectionView) -> String {
        words::count(rejection.comments.len() as u64, "comment")
    }

    pub(crate) fn spent(&self) -> Option<String> {
        self.task
            .spent
            .as_ref()
            .filter(|spent| spent.cost_micros > 0)
            .map(|spent| words::money(spent.cost_micros))
    }
}
