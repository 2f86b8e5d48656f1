//! What an agent is told at the start of a session.

use crate::core::{Resume, Task};
use std::fmt::Write;

/// Renders the prompt of one session.
pub(crate) fn render(task: &Task, session: u32, resume: Option<&Resume>) -> String {
    let mut text = format!("# Task #{}: {}\n", task.id, task.title);
    if !task.description.is_empty() {
        let _ = write!(text, "\n{}\n", task.description.trim_end());
    }
    if !task.criteria.is_empty() {
        text.push_str("\n## It is done when\n\n");
        for criterion in &task.criteria {
            let _ = writeln!(text, "- {}", criterion.text);
        }
    }
    if let Some(resume) = resume {
        let _ = write!(text, "\n## Your last change was rejected\n\nReason: {}\n", resume.reason);
        if let Some(feedback) = &resume.feedback {
            let _ = write!(text, "\n{}\n", feedback.trim_end());
        }
    }
    let _ = write!(
        text,
        "\n## How to work\n\n\
         This is session {session}. You are in a git worktree of your own, on the branch `task/{}`. Change files only \
         below the current folder. Commit as you go if you like: what you leave uncommitted is committed for you when \
         you end, and the whole change is then put up for review. Do not push, switch branches or merge into another branch.\n",
        task.id
    );
    text
}
