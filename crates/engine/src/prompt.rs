//! What an agent is told at the start of a session.

use crate::core::{Resume, Task};
use std::fmt::Write;
use std::path::Path;

/// Renders the prompt of one session.
pub(crate) fn render(task: &Task, file: &Path, session: u32, resume: Option<&Resume>) -> String {
    let mut text = format!("# Task #{}: {}\n", task.id, task.title);
    if !task.description.is_empty() {
        let _ = write!(text, "\n{}\n", task.description.trim_end());
    }
    if !task.criteria.is_empty() {
        text.push_str("\n## It is done when\n\n");
        for criterion in &task.criteria {
            let mark = if criterion.checked { "x" } else { " " };
            let _ = writeln!(text, "- [{mark}] {}", criterion.text);
        }
    }
    text.push_str(&render_documents(task));
    text.push_str(&resume.map_or_else(String::new, render_resume));
    let _ = write!(
        text,
        "\n## How to work\n\n\
         This is session {session}. You are in a git worktree of your own, on the branch `task/{}`. Change files only \
         below the current folder. Commit as you go if you like: what you leave uncommitted is committed for you when \
         you end, and the whole change is then put up for review. Do not push, switch branches or merge into another branch.\n",
        task.id
    );
    text.push_str(&render_protocol(task, file));
    text
}

/// What came before this session, if it goes on with the work of another.
fn render_resume(resume: &Resume) -> String {
    let mut text = String::new();
    if let Some(reason) = &resume.reason {
        let _ = write!(text, "\n## Your last change was rejected\n\nReason: {reason}\n");
    }
    if let Some(broke_off) = &resume.broke_off {
        let _ = write!(
            text,
            "\n## The last session broke off\n\n{broke_off}\n\nWhat it did is still here: look at `git status` and \
             `git log` before you go on.\n"
        );
    }
    if let Some(feedback) = &resume.feedback {
        let _ = write!(text, "\n{}\n", feedback.trim_end());
    }
    text
}

/// Where to read more of what the task is part of; an agent need not speak HTTP for it.
fn render_documents(task: &Task) -> String {
    let mut text = String::new();
    if let Some(prd) = &task.prd {
        let _ = writeln!(text, "- The requirements document it was made for: `regatta prd show {prd}`");
    }
    if let Some(epic) = task.epic {
        let _ = writeln!(text, "- The epic it belongs to, with its other tasks: `regatta epic show {epic}`");
    }
    if text.is_empty() { text } else { format!("\n## What it is part of\n\n{text}") }
}

/// The session protocol and the rules, with the task's file and where the last session left off.
pub(crate) fn render_protocol(task: &Task, file: &Path) -> String {
    let mut text = format!(
        "\n## Your memory\n\n\
         The file {} remembers this task between sessions. You may edit it; nothing you write there is lost.\n\n\
         1. Read it whole, look at `git status`, and find the criteria that are not ticked.\n\
         2. Take one of them. Read the code it is about before you change it, then change it, with tests.\n\
         3. Tick a criterion (`- [x]`) only after you have seen that it holds. The project's checks are run after you.\n\
         4. Before you end, append an entry to the progress log: what you did, what stood in the way, what comes next.\n\
         5. When all criteria are ticked, write the chain output: what later tasks must know.\n\n\
         If you have the tools of `regatta` (read_task, tick_criterion, append_progress …), they do the same as edits of the file.\n\n\
         Change things rather than proposing changes. Do what the criteria ask and no more. Keep it simple.\n",
        file.display()
    );
    if let Some(last) = &task.memory.last {
        let _ = write!(text, "\nThe last entry of the log says what comes next: {}\n", last.next.trim());
    }
    text
}
