//! The machine as a drawing.
//!
//! The four states stand in a row; a transition to the next state is a straight arrow, and any other is an arc
//! below the row, deeper the further it reaches, so that no two lines run over each other.

use super::{Column, TRANSITIONS, Transition};
use std::fmt::Write;

const BOX_WIDTH: i32 = 150;
const BOX_HEIGHT: i32 = 48;
const GAP: i32 = 110;
const MARGIN: i32 = 30;
const TOP: i32 = 40;
const ARC_DEPTH: i32 = 62;
const ARC_SPACING: i32 = 18;

/// Renders the table as a standalone SVG document.
pub fn render_svg() -> String {
    let width = 2 * MARGIN + 4 * BOX_WIDTH + 3 * GAP;
    let height = TOP + BOX_HEIGHT + 3 * ARC_DEPTH + MARGIN;
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" \
         height=\"{height}\" role=\"img\" aria-label=\"The task machine\" font-family=\"system-ui, sans-serif\">\n"
    );
    svg.push_str(
        "<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path d=\"M0 0 8 4 0 8z\" fill=\"#475569\"/></marker></defs>\n\
         <rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>\n",
    );
    let mut arcs = 0;
    for row in TRANSITIONS {
        if position(row.to) == position(row.from) + 1 {
            straight(&mut svg, row);
        } else {
            arc(&mut svg, row, arcs);
            arcs += 1;
        }
    }
    for column in Column::ALL {
        state(&mut svg, column);
    }
    svg.push_str("</svg>\n");
    svg
}

fn position(column: Column) -> i32 {
    match column {
        Column::Backlog => 0,
        Column::InProgress => 1,
        Column::WaitingApproval => 2,
        Column::Verified => 3,
    }
}

fn left(column: Column) -> i32 {
    MARGIN + position(column) * (BOX_WIDTH + GAP)
}

fn state(svg: &mut String, column: Column) {
    let (x, middle) = (left(column), left(column) + BOX_WIDTH / 2);
    let stroke = if column.is_final() { 4 } else { 2 };
    let _ = writeln!(
        svg,
        "<rect x=\"{x}\" y=\"{TOP}\" width=\"{BOX_WIDTH}\" height=\"{BOX_HEIGHT}\" rx=\"10\" fill=\"#eff6ff\" \
         stroke=\"#1d4ed8\" stroke-width=\"{stroke}\"/>\n<text x=\"{middle}\" y=\"{}\" text-anchor=\"middle\" \
         font-size=\"15\" fill=\"#0f172a\">{column}</text>",
        TOP + BOX_HEIGHT / 2 + 5
    );
}

fn straight(svg: &mut String, row: &Transition) {
    let (from, to) = (left(row.from) + BOX_WIDTH, left(row.to));
    let y = TOP + BOX_HEIGHT / 2;
    line(svg, &format!("M{from} {y} H{}", to - 2));
    label(svg, (from + to) / 2, y - 8, row);
}

fn arc(svg: &mut String, row: &Transition, index: i32) {
    // Side by side, a deeper arc starting further right and ending further left: it encloses the others.
    let aside = ARC_SPACING * (index - 1);
    let from = left(row.from) + BOX_WIDTH / 2 + aside;
    let to = left(row.to) + BOX_WIDTH / 2 - aside;
    let bottom = TOP + BOX_HEIGHT;
    let y = bottom + ARC_DEPTH * (index + 1);
    line(
        svg,
        &format!(
            "M{from} {bottom} V{} Q{from} {y} {} {y} H{} Q{to} {y} {to} {} V{}",
            y - 12,
            from - 12,
            to + 12,
            y - 12,
            bottom + 2
        ),
    );
    label(svg, (from + to) / 2, y - 7, row);
}

fn line(svg: &mut String, path: &str) {
    let _ = writeln!(
        svg,
        "<path d=\"{path}\" fill=\"none\" stroke=\"#475569\" stroke-width=\"1.5\" marker-end=\"url(#tip)\"/>"
    );
}

fn label(svg: &mut String, x: i32, y: i32, row: &Transition) {
    let _ = writeln!(
        svg,
        "<text x=\"{x}\" y=\"{y}\" text-anchor=\"middle\" font-size=\"13\" fill=\"#334155\">{}</text>",
        row.command
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;

    #[test]
    fn the_drawing_is_the_recorded_one() {
        expect_file!["../../tests/drawings/machine.svg"].assert_eq(&render_svg());
    }

    #[test]
    fn every_state_and_transition_is_drawn() {
        let svg = render_svg();
        for column in Column::ALL {
            assert_eq!(svg.matches(&format!(">{column}</text>")).count(), 1, "{column}");
        }
        for row in TRANSITIONS {
            let wanted = TRANSITIONS.iter().filter(|other| other.command == row.command).count();
            assert_eq!(svg.matches(&format!(">{}</text>", row.command)).count(), wanted, "{}", row.command);
        }
        assert_eq!(svg.matches("marker-end").count(), TRANSITIONS.len());
    }

    #[test]
    fn it_is_well_formed() {
        let mut open: Vec<String> = Vec::new();
        for part in render_svg().split('<').skip(1) {
            let (tag, text) = part.split_once('>').expect("a tag is closed");
            assert!(!text.contains(['>', '&']), "{text}");
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            if let Some(name) = tag.strip_prefix('/') {
                assert_eq!(open.pop().as_deref(), Some(name));
            } else if !tag.ends_with('/') {
                open.push(tag.split_whitespace().next().unwrap_or_default().to_owned());
            }
        }
        assert!(open.is_empty(), "{open:?}");
    }
}
