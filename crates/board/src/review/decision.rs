//! What is decided: which commit merges into which, what stands in the way, and the buttons.

use crate::markup::{Markup, render};
use askama::Template;
use regatta_engine::core::machine::Column;
use regatta_engine::{ReviewView, TaskView};

/// The decision on a task, as a page shows it that was opened at a certain commit.
#[derive(Debug)]
pub struct Decision<'a> {
    /// The task.
    pub task: &'a TaskView,
    /// What would be merged now.
    pub review: &'a ReviewView,
    /// The commit that the page shows.
    pub shown: &'a str,
}

#[derive(Template)]
#[template(path = "review_decision.html")]
struct Fragment<'a> {
    decision: &'a Decision<'a>,
}

/// What is left when the work was given up while a page was open.
#[derive(Template)]
#[template(
    source = "<div class=\"decide\" id=\"decide\"><p class=\"mid\">The work was given up. It is kept as a salvage.</p><a class=\"btn big\" href=\"/tasks/{{ task.id }}\">Open the task</a></div>",
    ext = "html"
)]
struct Gone<'a> {
    task: &'a TaskView,
}

/// Renders the decision on a task that has no diff any more.
pub fn gone(task: &TaskView) -> Markup {
    render(&Gone { task })
}

/// Renders the decision alone, for a page that is open.
pub fn render_decision(decision: &Decision<'_>) -> Markup {
    render(&Fragment { decision })
}

impl Decision<'_> {
    /// Tells whether another diff is up for approval than the one that the page shows.
    pub(crate) fn is_replaced(&self) -> bool {
        self.review.head.as_str() != self.shown
    }

    /// Says what happened to the branch after its diff was put up; nothing if it stands still.
    pub(crate) fn moved(&self) -> Option<String> {
        if !self.review.has_moved() {
            return None;
        }
        Some(match (&self.review.branch_head, self.review.uncommitted.len()) {
            (Some(head), _) if *head != self.review.head => format!("Its branch is at {} now.", head.short()),
            (None, _) => "Its branch is gone.".to_owned(),
            (_, 1) => format!("{} is changed in its worktree and not committed.", self.review.uncommitted[0]),
            (_, count) => format!("{count} files are changed in its worktree and not committed."),
        })
    }

    pub(crate) fn shown_short(&self) -> &str {
        self.shown.get(..10).unwrap_or(self.shown)
    }

    pub(crate) fn is_ready(&self) -> bool {
        self.review.is_ready
    }

    pub(crate) fn can_approve(&self) -> bool {
        self.is_ready() && !self.is_replaced() && !self.review.has_moved()
    }

    /// What the diff lacks to be whole, one sentence each.
    pub(crate) fn lacks(&self) -> Vec<String> {
        let mut all = Vec::new();
        if let Some(lacks) = &self.task.lacks {
            if let count @ 1.. = lacks.open_criteria.len() {
                all.push(match count {
                    1 => format!("1 criterion is open: {}", lacks.open_criteria[0]),
                    _ => format!("{count} criteria are open"),
                });
            }
            for (names, says) in [(&lacks.failed_checks, "failed"), (&lacks.missing_checks, "has not run")] {
                all.extend(names.iter().map(|name| format!("{name} {says}")));
            }
        }
        all
    }

    pub(crate) fn obeyed(&self) -> String {
        self.task.diff.as_ref().map_or_else(String::new, |diff| diff.obeyed_files.join(", "))
    }

    /// Says why nothing can be decided now.
    pub(crate) fn waits(&self) -> String {
        match (self.task.column, &self.task.merge_commit) {
            (Column::Verified, Some(commit)) => {
                let by = self.task.approver.as_deref().unwrap_or("somebody");
                format!("Merged as {} by {by}.", commit.get(..10).unwrap_or(commit))
            }
            (Column::InProgress, _) => {
                let who = self.task.agent_id.as_deref().unwrap_or(&self.task.owner);
                format!("{who} works on it. This is what is committed so far; nothing can be decided yet.")
            }
            _ => match self.task.phase {
                "checking" => "The checks run; then you can decide.".to_owned(),
                "merging" => "It is being merged.".to_owned(),
                _ => "The engine is still at work on it.".to_owned(),
            },
        }
    }
}
