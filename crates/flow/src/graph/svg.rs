//! A workflow as an SVG drawing that needs nothing else: no font, no script, light or dark as the reader's screen is.
//!
//! Nodes and labels carry the names of what they show (`data-node`, `data-edge`), so that a page can mark the node at
//! which a run stands.

use std::fmt::Write;

use super::layout::{Frame, LINE_HEIGHT, Layout, Line, lay_out, whole};
use super::outline::{Look, Outline, Shown};

/// The colours, light and dark. Classes are below `.workflow`, since a page may hold the drawing inline.
const STYLE: &str = "\
.workflow .ground{fill:#ffffff}
.workflow .box{fill:#eff6ff;stroke:#1d4ed8;stroke-width:2}
.workflow .person .box{fill:#fefce8;stroke:#a16207}
.workflow .completed .box{fill:#f0fdf4;stroke:#15803d;stroke-width:4}
.workflow .failed .box{fill:#fef2f2;stroke:#b91c1c;stroke-width:4}
.workflow .name{fill:#0f172a;font-size:15px}
.workflow .detail,.workflow .label{fill:#334155;font-size:12px}
.workflow .line{fill:none;stroke:#475569;stroke-width:1.5}
.workflow .aside{stroke-dasharray:5 4}
.workflow .tip,.workflow .start{fill:#475569}
@media (prefers-color-scheme:dark){
.workflow .ground{fill:#0f172a}
.workflow .box{fill:#172554;stroke:#60a5fa}
.workflow .person .box{fill:#422006;stroke:#facc15}
.workflow .completed .box{fill:#052e16;stroke:#4ade80}
.workflow .failed .box{fill:#450a0a;stroke:#f87171}
.workflow .name{fill:#f8fafc}
.workflow .detail,.workflow .label{fill:#cbd5e1}
.workflow .line{stroke:#94a3b8}
.workflow .tip,.workflow .start{fill:#94a3b8}
}
";

/// Renders an outline.
pub(super) fn render(outline: &Outline) -> String {
    let layout = lay_out(outline);
    let Layout { width, height, .. } = layout;
    let name = escape(&outline.name);
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"workflow\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" aria-label=\"The workflow {name}\" font-family=\"system-ui, sans-serif\">\n\
         <style>\n{STYLE}</style>\n\
         <defs><marker id=\"workflow-tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         markerUnits=\"userSpaceOnUse\" orient=\"auto\"><path class=\"tip\" d=\"M0 0 8 4 0 8z\"/></marker></defs>\n\
         <rect class=\"ground\" width=\"100%\" height=\"100%\"/>\n"
    );
    if let Some((x, top, bottom)) = layout.start {
        let _ = writeln!(svg, "<circle class=\"start\" cx=\"{x}\" cy=\"{top}\" r=\"5\"/>");
        path(&mut svg, &format!("M{x} {} V{bottom}", top + 5), "line");
    }
    for line in &layout.lines {
        path(&mut svg, &line.path, if line.is_aside { "line aside" } else { "line" });
    }
    for (shown, frame) in outline.nodes.iter().zip(&layout.boxes) {
        node(&mut svg, shown, *frame);
    }
    for line in &layout.lines {
        labels(&mut svg, outline, line);
    }
    svg.push_str("</svg>\n");
    svg
}

fn path(svg: &mut String, path: &str, class: &str) {
    let _ = writeln!(svg, "<path class=\"{class}\" d=\"{path}\" marker-end=\"url(#workflow-tip)\"/>");
}

fn node(svg: &mut String, shown: &Shown, frame: Frame) {
    let class = match shown.look {
        Look::Work => "node",
        Look::Person => "node person",
        Look::Completed => "node completed",
        Look::Failed => "node failed",
    };
    let Frame { x, y, width, height } = frame;
    let (middle, centre) = (x + width / 2, y + height / 2);
    let (name, detail) = (escape(&shown.name), escape(&shown.detail));
    let _ = writeln!(
        svg,
        "<g class=\"{class}\" data-node=\"{name}\"><rect class=\"box\" x=\"{x}\" y=\"{y}\" width=\"{width}\" \
         height=\"{height}\" rx=\"10\"/><text class=\"name\" x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{name}</text>\
         <text class=\"detail\" x=\"{middle}\" y=\"{}\" text-anchor=\"middle\">{detail}</text></g>",
        centre - 3,
        centre + 15
    );
}

fn labels(svg: &mut String, outline: &Outline, line: &Line) {
    let (x, mut y) = line.label;
    let anchor = if line.label_is_left { "end" } else { "start" };
    for arc in &line.arcs {
        let arc = &outline.arcs[*arc];
        let _ = writeln!(
            svg,
            "<text class=\"label\" data-edge=\"{}\" x=\"{x}\" y=\"{y}\" text-anchor=\"{anchor}\">{}</text>",
            escape(&arc.edge),
            escape(&arc.label)
        );
        y += whole(LINE_HEIGHT);
    }
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            _ => escaped.push(character),
        }
    }
    escaped
}
