//! Drawings of a workflow at one level: Mermaid, DOT and SVG.
//!
//! All three show the same [`outline`]: nodes, edges with their caps, and, dashed, the routes that are taken when a
//! cap is reached or a person sends work back. Only the SVG is laid out here: [`layers`] finds how far each node is
//! from the start, [`rows`] orders and spreads them, [`turns`] leads loops back at the sides, [`layout`] measures and
//! [`routes`] draws the lines. Nothing here judges a workflow; one with faults is drawn as far as it goes.

mod dot;
mod layers;
mod layout;
mod links;
mod mermaid;
mod outline;
mod routes;
mod rows;
mod spread;
mod svg;
mod turns;

pub(crate) use links::{Graph, Link, LinkKind, levels};

use crate::workflow::Workflow;
use outline::Outline;

/// Renders a level of a workflow as a Mermaid flowchart.
pub fn render_mermaid(workflow: &Workflow, level: u32) -> String {
    mermaid::render(&Outline::new(workflow, level))
}

/// Renders a level of a workflow in DOT.
pub fn render_dot(workflow: &Workflow, level: u32) -> String {
    dot::render(&Outline::new(workflow, level))
}

/// Renders a level of a workflow as a standalone SVG document.
pub fn render_svg(workflow: &Workflow, level: u32) -> String {
    svg::render(&Outline::new(workflow, level))
}
