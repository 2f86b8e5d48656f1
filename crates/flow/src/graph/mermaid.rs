//! A workflow as a Mermaid flowchart, which code hosts draw inside Markdown.
//!
//! Nodes are numbered, because words such as `end` mean something to Mermaid.

use std::fmt::Write;

use super::outline::{Look, Outline};

/// Renders an outline.
pub(super) fn render(outline: &Outline) -> String {
    let mut text = String::from("flowchart TD\n");
    for (index, node) in outline.nodes.iter().enumerate() {
        let (name, detail) = (quote(&node.name), quote(&node.detail));
        let (open, close) = match node.look {
            Look::Work => ("[", "]"),
            Look::Person => ("{{", "}}"),
            Look::Completed | Look::Failed => ("([", "])"),
        };
        let _ = writeln!(text, "    n{index}{open}\"{name}<br/><small>{detail}</small>\"{close}");
    }
    if let Some(start) = outline.start {
        let _ = writeln!(text, "    start(( )) --> n{start}");
    }
    for arc in &outline.arcs {
        let line = if arc.is_aside { "-.->" } else { "-->" };
        let _ = writeln!(text, "    n{} {line}|\"{}\"| n{}", arc.from, quote(&arc.label), arc.to);
    }
    text
}

/// Writes a text so that it can stand between quotes.
fn quote(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('"', "&quot;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('#', "&#35;")
}
