//! A workflow in DOT, for Graphviz and what reads its language.

use std::fmt::Write;

use super::outline::{Look, Outline};

/// Renders an outline.
pub(super) fn render(outline: &Outline) -> String {
    let mut text = format!("digraph {} {{\n", quote(&outline.name));
    text.push_str("    node [shape=box, style=rounded];\n");
    for node in &outline.nodes {
        let shape = match node.look {
            Look::Work => "",
            Look::Person => ", shape=hexagon",
            Look::Completed => ", peripheries=2",
            Look::Failed => ", peripheries=2, color=red",
        };
        let label = quote(&format!("{}\n{}", node.name, node.detail));
        let _ = writeln!(text, "    {} [label={label}{shape}];", quote(&node.name));
    }
    if let Some(start) = outline.start.and_then(|start| outline.nodes.get(start)) {
        // A name of a node begins with a letter, so this one is free.
        let _ = writeln!(text, "    \"0\" [shape=point];\n    \"0\" -> {};", quote(&start.name));
    }
    for arc in &outline.arcs {
        let (from, to) = (&outline.nodes[arc.from].name, &outline.nodes[arc.to].name);
        let style = if arc.is_aside { ", style=dashed" } else { "" };
        let _ = writeln!(text, "    {} -> {} [label={}{style}];", quote(from), quote(to), quote(&arc.label));
    }
    text.push_str("}\n");
    text
}

fn quote(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\"").replace('\n', "\\n"))
}
