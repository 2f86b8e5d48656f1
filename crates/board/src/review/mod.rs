//! The page on which a person reads a diff and decides: files, evidence, decision.
//!
//! The page arrives with its tree, its panel and the first files; the others are fetched when they come into view. Comments are
//! drafts of the browser until they are sent with a rejection. Start reading at [`page`].

mod decision;
mod file;
mod glance;
mod lines;
mod panel;
mod talk;
mod tree;

pub use decision::{Decision, gone, render_decision};
pub use file::{FilePiece, render_file, render_head, render_lines};
pub use glance::render_glance;
pub use panel::Panel;
pub use talk::Placed;
pub use tree::Tree;

use crate::act::attributes;
use crate::diff::Patch;
use crate::markup::{Markup, escape, render};
use crate::shell::Shell;
use askama::Template;
use regatta_engine::{RejectionView, ReviewView, TaskView};
use serde_json::json;

/// What the page is made of.
#[derive(Debug)]
pub struct Page<'a> {
    /// What is around it.
    pub shell: &'a Shell,
    /// The task.
    pub task: &'a TaskView,
    /// What is reviewed.
    pub review: &'a ReviewView,
    /// Its patch.
    pub patch: &'a Patch,
    /// The list of its files.
    pub tree: Tree,
    /// The files: the first whole, the others by their heads.
    pub files: Vec<Markup>,
    /// What is beside them.
    pub panel: Panel<'a>,
    /// What is decided.
    pub decision: &'a Decision<'a>,
    /// Whether the versions stand side by side.
    pub is_split: bool,
    /// Whether the config names an editor.
    pub has_editor: bool,
    /// Whether only what is new to the reader is shown.
    pub is_new_only: bool,
    /// Where the task stands among those that need the reader: its place, how many there are, the one before and the next.
    pub others: Others,
}

/// The reviews that wait for a person.
#[derive(Debug, Clone, Copy, Default)]
pub struct Others {
    /// The place of this one, from 1.
    pub place: Option<usize>,
    /// How many there are.
    pub count: usize,
    /// The one before.
    pub previous: Option<regatta_engine::core::TaskId>,
    /// The next one.
    pub next: Option<regatta_engine::core::TaskId>,
}

#[derive(Template)]
#[template(path = "review.html")]
struct Whole<'a> {
    shell: &'a Shell,
    page: &'a Page<'a>,
}

/// A page for a task that has no diff.
#[derive(Template)]
#[template(path = "review_none.html")]
struct Nothing<'a> {
    shell: &'a Shell,
    task: &'a TaskView,
}

impl Page<'_> {
    pub(crate) fn attempt(&self) -> u32 {
        self.task.rejection_count + 1
    }

    /// Returns the attributes of the button that opens the worktree.
    pub(crate) fn opening(&self) -> Markup {
        let path = format!("/api/tasks/{}/open", self.task.id);
        attributes(&json!({ "path": path, "said": "The worktree opens in your editor" }))
    }

    pub(crate) fn added(&self) -> usize {
        self.patch.files.iter().map(|file| file.counts().0).sum()
    }

    pub(crate) fn removed(&self) -> usize {
        self.patch.files.iter().map(|file| file.counts().1).sum()
    }

    /// Shows the comments on files that the diff does not touch any more, with the lines that they quote.
    pub(crate) fn elsewhere(&self, rejection: &RejectionView) -> Markup {
        let is_shown = |path: &str| self.patch.files.iter().any(|file| file.path == path);
        let mut out = String::new();
        for (comment, number) in rejection.comments.iter().zip(1..) {
            let Some(path) = comment.path.as_deref().filter(|path| !is_shown(path)) else { continue };
            out.push_str(&format!("<p class=\"dim cut\"><code>{}</code></p>", escape(path)));
            talk::render_talk(&mut out, &Placed::loose(rejection, (comment, number)), true);
        }
        Markup::new(out)
    }

    pub(crate) fn obeyed(&self) -> &[String] {
        self.task.diff.as_ref().map_or(&[], |diff| &diff.obeyed_files)
    }

    pub(crate) fn state(&self) -> &'static str {
        match self.task.column {
            regatta_engine::core::machine::Column::Backlog => "Backlog",
            regatta_engine::core::machine::Column::InProgress => "In progress",
            regatta_engine::core::machine::Column::WaitingApproval => "Waiting approval",
            regatta_engine::core::machine::Column::Verified => "Verified",
        }
    }
}

/// Renders the page.
pub fn page(page: &Page<'_>) -> Markup {
    render(&Whole { shell: page.shell, page })
}

/// Renders the page of a task that has nothing to review.
pub fn nothing(shell: &Shell, task: &TaskView) -> Markup {
    render(&Nothing { shell, task })
}
