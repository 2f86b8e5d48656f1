//! The lines of a file that are only looked at: no marks, no comments, no colours.

use super::file::{FilePiece, begin_table, unified_row};
use crate::diff::{File, Highlighted, align};
use crate::markup::{Markup, escape};
use std::fmt::Write;

/// Renders the first lines that changed in a file; the rest is read in the review.
pub fn render_glance(file: &File, lines_max: usize) -> Markup {
    let none = Highlighted::default();
    let piece = FilePiece {
        number: 0,
        file,
        old: &none,
        new: &none,
        line_count: None,
        seen: &[],
        talk: &[],
        is_split: false,
    };
    let mut out = String::new();
    for note in file.notes() {
        let _ = write!(out, "<p class=\"fact\">{}</p>", escape(&note));
    }
    let mut left = lines_max;
    for hunk in &file.hunks {
        if left == 0 {
            out.push_str("<p class=\"fact dim\">More in the review.</p>");
            break;
        }
        if left < lines_max {
            out.push_str("<div class=\"fold\" aria-hidden=\"true\">⋯</div>");
        }
        let words = align(hunk).words;
        let shown = hunk.lines.len().min(left);
        begin_table(&mut out, false, shown);
        for (line, words) in hunk.lines.iter().zip(&words).take(shown) {
            unified_row(&mut out, &piece, line, words, false);
        }
        out.push_str("</table></div>");
        left -= shown;
    }
    if out.is_empty() {
        out.push_str("<p class=\"fact dim\">No lines to show.</p>");
    }
    Markup::new(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::Patch;

    #[test]
    fn lines_stand_with_their_numbers_and_never_as_html() {
        let patch = Patch::parse(
            "diff --git a/x b/x\n--- a/x\n+++ b/x\n@@ -1 +1,2 @@\n-<b>\n+<script>\n+diff --git in a line\n@@ -9 +10 @@\n-a\n+b\n",
        );
        let html = render_glance(&patch.files[0], 400).into_string();
        assert!(html.contains("&lt;script&gt;") && !html.contains("<script"), "{html}");
        assert_eq!((html.matches("<tr").count(), html.matches("class=\"fold\"").count()), (5, 1));
        let cut = render_glance(&patch.files[0], 2).into_string();
        assert_eq!((cut.matches("<tr").count(), cut.contains("More in the review")), (2, true));
    }
}
