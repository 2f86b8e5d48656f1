//! A text whose lines can be commented: the plan, the chain output.

use super::talk::{Placed, render_talk};
use crate::diff::render_code;
use crate::markup::Markup;
use regatta_engine::RejectionView;
use regatta_engine::core::Part;
use std::fmt::Write;

/// More is read in the task file.
const LINES_MAX: usize = 2_000;

/// Renders a text with numbers, if there is one, and the comments of earlier attempts below it.
pub(super) fn render_part(text: &str, part: Part, rejections: &[RejectionView]) -> Markup {
    let mut out = String::new();
    if !text.is_empty() {
        render_text(&mut out, text, part);
    }
    for rejection in rejections {
        for (comment, number) in
            rejection.comments.iter().zip(1..).filter(|(comment, _)| comment.part == Some(part))
        {
            render_talk(&mut out, &Placed::loose(rejection, (comment, number)), true);
        }
    }
    Markup::new(out)
}

fn render_text(out: &mut String, text: &str, part: Part) {
    let _ = write!(
        out,
        "<table class=\"diff one\" data-part=\"{}\"><colgroup><col class=\"n\"><col></colgroup>",
        part.as_str()
    );
    for (line, number) in text.lines().take(LINES_MAX).zip(1..) {
        let _ = write!(
            out,
            "<tr data-new=\"{number}\"><td class=\"n\" data-side=\"new\">{number}</td><td class=\"c\">"
        );
        render_code(out, line, &[], &[]);
        out.push_str("</td></tr>");
    }
    out.push_str("</table>");
}
