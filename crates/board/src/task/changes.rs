//! The changes of a task, file by file: enough to see what is there; the review has the rest.

use crate::markup::{Markup, escape};
use crate::parts;
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
    let patches = split(patch);
    let row = |(number, file): (usize, &FileView)| {
        let body = patches.get(number).map_or_else(String::new, |patch| lines(patch));
        let counts = if file.is_binary {
            "<span class=\"dim\">binary</span>".to_owned()
        } else {
            format!(
                "<span class=\"ok\">+{}</span> <span class=\"bad\">−{}</span>",
                file.lines_added, file.lines_removed
            )
        };
        format!(
            "<details class=\"opens changed\"><summary><span class=\"grow row\">{}<code class=\"cut\">{}</code> <span class=\"dim\">{}</span></span><span class=\"took\">{counts}{}</span></summary><div class=\"open\">{body}</div></details>",
            parts::small("edit"),
            escape(&file.path),
            escape(&file.status),
            parts::small("right"),
        )
    };
    files.iter().enumerate().map(|(number, file)| row((number, file))).collect()
}

/// Splits a patch into those of its files: a line of a file's content never begins so.
fn split(patch: &str) -> Vec<&str> {
    const HEAD: &str = "diff --git ";
    let mut begins: Vec<usize> = patch.match_indices(HEAD).map(|(at, _)| at).collect();
    begins.retain(|at| *at == 0 || patch.as_bytes()[at - 1] == b'\n');
    let ends = begins.iter().skip(1).copied().chain([patch.len()]);
    begins.iter().zip(ends).map(|(begin, end)| &patch[*begin..end]).collect()
}

fn lines(patch: &str) -> String {
    let body = patch.lines().skip_while(|line| !line.starts_with("@@"));
    let mut rows = String::new();
    for (count, line) in body.enumerate() {
        if count == LINES_MAX {
            rows.push_str(
                "<tr class=\"gap\"><td class=\"s\">⋯</td><td class=\"c\">more in the review</td></tr>",
            );
            break;
        }
        let (class, mark, text) = match line.as_bytes().first() {
            Some(b'+') => (" class=\"a\"", "+", &line[1..]),
            Some(b'-') => (" class=\"d\"", "−", &line[1..]),
            Some(b'@') => (" class=\"gap\"", "", line),
            Some(b' ') => ("", "", &line[1..]),
            _ => ("", "", line),
        };
        rows.push_str(&format!(
            "<tr{class}><td class=\"s\">{mark}</td><td class=\"c\">{}</td></tr>",
            escape(text)
        ));
    }
    if rows.is_empty() {
        return "<p class=\"dim\">No lines to show.</p>".to_owned();
    }
    format!(
        "<div class=\"mini\"><table class=\"diff tiny\"><colgroup><col class=\"s\"><col></colgroup>{rows}</table></div>"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_lines_with_marks_and_never_html() {
        let patch =
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-<b>\n+<script>\n+diff --git in a line\n";
        assert_eq!(split(&format!("{patch}{patch}")).len(), 2);
        let html = lines(patch);
        assert!(html.contains("&lt;script&gt;") && !html.contains("<script"), "{html}");
        assert_eq!(html.matches("<tr").count(), 4);
    }
}
