//! The prompt that an agent gets at the start of a session.

use crate::commands::messages::MessageView;
use crate::core::message::NOTE;
use crate::core::{Resume, Settings, Task, render_comments};
use std::fmt::Write;
use std::path::Path;

/// A prompt ends with so many messages to a role at most.
const LETTERS_MAX: usize = 32;

/// With so many bytes: more would crowd out what the agent is asked to do.
const LETTERS_BYTES_MAX: usize = 64 * 1024;

/// Renders the prompt of one session.
pub(crate) fn render(
    task: &Task,
    file: &Path,
    session: u32,
    resume: Option<&Resume>,
    share: Share,
) -> String {
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
    text.push_str(&resume.map_or_else(String::new, |resume| render_resume(task, resume)));
    let _ = write!(
        text,
        "\n## How to work\n\n\
         This is session {session}. You are in a git worktree of your own, on the branch `{}`. Change files only \
         below the current folder. Commit as you go if you like: what you leave uncommitted is committed for you when \
         you end. When no session follows, the whole change is submitted for review. Do not push, switch \
         branches or merge into another branch.\n",
        task.branch_name()
    );
    text.push_str(&render_protocol(task, file, share));
    text
}

/// What came before this session, if it continues the work of another.
fn render_resume(task: &Task, resume: &Resume) -> String {
    let mut text = String::new();
    if let Some(reason) = &resume.reason {
        let _ = write!(text, "\n## Your last change was rejected\n\nReason: {reason}\n");
    }
    if let Some(broke_off) = &resume.broke_off {
        let _ = write!(
            text,
            "\n## The last session broke off\n\n{broke_off}\n\nWhat it did is still here: look at `git status` and \
             `git log` before you continue.\n"
        );
    }
    if resume.follows {
        text.push_str(
            "\n## Earlier sessions\n\nThe session before this one ended well. Its commits are on your branch (`git log`), and \
             its notes are in the progress log.\n",
        );
    }
    if let Some(feedback) = &resume.feedback {
        let _ = write!(text, "\n{}\n", feedback.trim_end());
    }
    if let Some(note) = task.review_note.as_ref().filter(|note| !note.comments.is_empty()) {
        let _ = write!(
            text,
            "\n## Comments of the reviewer\n\nAnswer each of them by your work. Line numbers are those of the rejected \
             change. End with a JSON object that says in a sentence or two what became of each; the reviewer reads it below \
             the comment. If you have the tool submit_result, submit the same object.\n\n    \
             {{\"summary\": \"…\", \"answers\": [{{\"comment\": 1, \"text\": \"…\"}}]}}\n\n{}",
            render_comments(&note.comments)
        );
    }
    text
}

/// Where to read more about the epic and PRD of the task; an agent needs no HTTP for it.
fn render_documents(task: &Task) -> String {
    let mut text = String::new();
    if let Some(prd) = &task.prd {
        let _ = writeln!(text, "- The requirements document it was made for: `regatta prd show {prd}`");
    }
    if let Some(epic) = task.epic {
        let _ = writeln!(text, "- The epic it belongs to, with its other tasks: `regatta epic show {epic}`");
    }
    for input in &task.memory.inputs {
        let from = input.task_id;
        let stale = if input.stale { " (changed since this task used it)" } else { "" };
        let _ =
            writeln!(text, "- What task #{from} wrote for you, in full{stale}: `regatta task output {from}`");
    }
    if task.memory.archived.is_some() {
        let id = task.id;
        let _ =
            writeln!(text, "- Sessions that are no longer in the file: `regatta task archive {id} --show`");
    }
    if text.is_empty() {
        return text;
    }
    let tools = "The tools read_prd, read_epic, read_inputs and read_archive return the same.";
    format!("\n## What you can read\n\n{text}\n{tools}\n")
}

/// The instructions for a role that may read but not write.
pub(crate) fn render_reading(file: &Path) -> String {
    format!(
        "\n## What you may do\n\n\
         The file {} says what was done on this task before. You may read it, and everything in the worktree, and run what \
         can be run. Change no file: the worktree is read-only for you, and what you change all the same is not merged.\n",
        file.display()
    )
}

/// The session protocol and the rules, with the task's file and where the last session left off.
pub(crate) fn render_protocol(task: &Task, file: &Path, share: Share) -> String {
    let documents = render_documents(task);
    let mut text = format!(
        "{documents}\n## Your memory\n\n\
         The file {} remembers this task between sessions. You may edit it; nothing you write there is lost.\n\n\
         ## Session protocol\n\n\
         ### Phase 1: Orientation\n\
         1. Read the file completely.\n\
         2. Run `git status` to check the state.\n\
         3. Review the acceptance criteria and find the unchecked ones.\n\n\
         ### Phase 2: Implementation\n\
         4. {}\n\
         5. Read the relevant source files first.\n\
         6. Implement directly (don't just suggest).\n\
         7. Write tests to verify that it works.\n\n\
         ### Phase 3: Handoff\n\
         8. Check off completed criteria with `[x]`. The project's checks run after your session.\n\
         9. Append to the progress log: what you did, any issues, next steps.\n\
         10. If all criteria are checked, write the chain output: what later tasks must know.\n\n\
         If you have the tools of `regatta` (read_task, tick_criterion, append_progress …), they do the same as edits of the file.\n\n\
         ## Rules\n\n\
         DO NOT suggest changes. IMPLEMENT them.\n\
         DO NOT add features beyond the acceptance criteria.\n\
         DO NOT create abstractions for single-use code.\n\
         DO NOT assume file contents: read first.\n\n\
         DO check off criteria only after testing.\n\
         DO update the progress log before ending the session.\n\
         DO keep solutions simple and direct.\n",
        file.display(),
        share.pick()
    );
    if let Some(last) = &task.memory.last {
        let _ = write!(text, "\nThe last entry of the log says what comes next: {}\n", last.next.trim());
    }
    text
}

/// What people and other agents wrote to the agent of the task; it comes last, because it is the newest.
pub(crate) fn render_notes(notes: &[MessageView]) -> String {
    if notes.is_empty() {
        return String::new();
    }
    let mut text = "\n## Messages for you\n\nWritten to you since the last session. What a person says here comes before what \
         is said above, except for the rules.\n"
        .to_owned();
    notes.iter().for_each(|note| text.push_str(&render_message(note)));
    text
}

fn render_message(note: &MessageView) -> String {
    let kind = if note.kind == NOTE { String::new() } else { format!(" ({})", note.kind) };
    let about = note.subject.as_ref().map_or_else(String::new, |subject| format!(", {subject}"));
    let mut text = format!("\nFrom {}{kind} at {:.0}{about}:\n\n", note.from, note.sent_at);
    let data = match note.data.is_empty() {
        true => String::new(),
        false => serde_json::to_string_pretty(&note.data).unwrap_or_default(),
    };
    // Quoted, so that a message cannot pass for a heading of the prompt.
    for line in note.body.trim().lines().chain(data.lines()) {
        let _ = writeln!(text, "> {line}");
    }
    text
}

/// Counts how many messages a prompt ends with, the oldest; the rest wait. There is room for one of any length.
pub(crate) fn count_fitting(messages: &[MessageView]) -> usize {
    let mut bytes = 0;
    let mut fits = |message: &MessageView| {
        bytes += render_message(message).len();
        bytes <= LETTERS_BYTES_MAX
    };
    let count = messages.iter().take(LETTERS_MAX).take_while(|message| fits(message)).count();
    count.max(messages.len().min(1))
}

/// How much of a task a session has to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Share {
    /// One criterion; another session follows for the next.
    One,
    /// All that is open, because no session follows.
    Rest,
    /// What the run asks for.
    OfRun,
}

impl Share {
    /// Says how much of a task its next session has to do.
    pub(crate) fn of(task: &Task, settings: &Settings) -> Self {
        let is_last = task.row.sessions + 1 >= settings.sessions;
        if is_last { Share::Rest } else { Share::One }
    }

    fn pick(self) -> &'static str {
        match self {
            Share::One => {
                "Pick ONE unchecked criterion to work on. When it holds, end the session: the next criterion has a session \
                 of its own."
            }
            Share::Rest => {
                "Pick ONE unchecked criterion to work on, then the next: no session follows this one, and the work is \
                 then reviewed."
            }
            Share::OfRun => {
                "Pick ONE unchecked criterion at a time, until the work that you were asked for is done."
            }
        }
    }
}
