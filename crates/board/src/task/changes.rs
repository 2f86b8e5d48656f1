//! The changes of a task, file by file: enough to see what is there; the review has the rest.

use crate::diff::Patch;
use crate::markup::{Markup, escape};
use crate::parts;
use crate::review::render_glance;
use crate::words;
use regatta_engine::{DiffView, FileView};

/// Longer patches are read in the review.
const LINES_MAX: usize = 400;

/// Renders the files of a diff, each with its patch behind it.
pub fn changes(diff: &DiffView) -> Markup {
    let head = format!(
        "<div class=\"filebar row\"><span>{} <span class=\"ok\">+{}</span> <span class=\"bad\">−{}</span></span><span class=\"dim cut grow\"><code>{}</code> from <code>{}</code></span><a class=\"btn\" href=\"/tasks/{}/review\">{}Review</a></div>",
        words::count(diff.files_changed as u64, "file"),
        diff.lines_added,
        diff.lines_removed,
        escape(diff.head.get(..7).unwrap_or(&diff.head)),
        escape(diff.base.get(..7).unwrap_or(&diff.base)),
        diff.task_id,
        parts::small("eye"),
    );
    let committed = files(&diff.files, diff.patch.as_deref().unwrap_or_default());
    let uncommitted = match &diff.uncommitted_diff {
        Some(work) => format!(
            "<h2>Not committed yet</h2>{}",
            files(&work.files, work.patch.as_deref().unwrap_or_default())
        ),
        None => String::new(),
    };
    Markup::new(format!("<div class=\"scroll changetab\" id=\"middle\">{head}{committed}{uncommitted}</div>"))
}

fn files(files: &[FileView], patch: &str) -> String {
    let patch = Patch::parse(patch);
    let row = |file: &FileView| {
        let lines = patch.files.iter().find(|lines| lines.path == file.path);
        let body = lines.map(|lines| render_glance(lines, LINES_MAX).into_string()).unwrap_or_default();
        let counts = if file.is_binary {
            "<span class=\"dim\">binary</span>".to_owned()
        } else {
            format!(
                "<span class=\"ok\">+{}</span> <span class=\"bad\">−{}</span>",
                file.lines_added, file.lines_removed
            )
        };
        format!(
            "<details class=\"opens changed\"><summary><span class=\"grow row\">{}<code class=\"cut\">{}</code> <span class=\"dim\">{}</span></span><span class=\"took\">{counts}{}</span></summary><div class=\"mini\">{body}</div></details>",
            parts::small("edit"),
            escape(&file.path),
            escape(&file.status),
            parts::small("right"),
        )
    };
    files.iter().map(row).collect()
}
