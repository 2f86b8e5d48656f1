//! Places boxes, labels and lines of an outline on a plane.
//!
//! Rows from top to bottom ([`rows`](super::rows)), what leads back in columns beside them
//! ([`turns`](super::turns)). All numbers are whole in the end, so that a drawing is the same on every machine.

use super::layers::{Direction, Layers, find_layers};
use super::outline::Outline;
use super::routes::Routes;
use super::rows::{Rows, What};
use super::turns::{Side, Slot, Turn, find_slots, find_turns};

pub(super) const LINE_HEIGHT: f64 = 16.0;
/// A generous width of a character, since fonts differ.
const NAME_CHARACTER: f64 = 8.4;
const LABEL_CHARACTER: f64 = 6.8;
const BOX_WIDTH_MIN: f64 = 120.0;
const BOX_HEIGHT_MIN: f64 = 50.0;
const MARGIN: f64 = 24.0;
pub(super) const START_ROOM: f64 = 30.0;
const GAP: f64 = 30.0;
pub(super) const RAIL: f64 = 9.0;
pub(super) const PORT_SPACING: f64 = 18.0;
const COLUMN_GAP: f64 = 26.0;
/// From a line to its label.
pub(super) const LABEL_ASIDE: f64 = 7.0;
/// How far a loop onto the box itself swings out.
pub(super) const LOOP_REACH: f64 = 30.0;
pub(super) const CORNER: f64 = 10.0;
/// The tip of an arrow ends a little before the box.
pub(super) const TIP: f64 = 2.0;

/// A drawing's measures.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Layout {
    pub(super) width: i32,
    pub(super) height: i32,
    /// Of each node of the outline.
    pub(super) boxes: Vec<Frame>,
    pub(super) lines: Vec<Line>,
    /// Where the mark of the start is, and where the line from it ends.
    pub(super) start: Option<(i32, i32, i32)>,
}

/// A rectangle.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Frame {
    pub(super) x: i32,
    pub(super) y: i32,
    pub(super) width: i32,
    pub(super) height: i32,
}

/// A drawn bundle.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Line {
    pub(super) is_aside: bool,
    /// Indexes into the arcs of the outline.
    pub(super) arcs: Vec<usize>,
    /// The line as an SVG path.
    pub(super) path: String,
    /// Where the labels begin (or end, if they stand to the left), and the baseline of the first.
    pub(super) label: (i32, i32),
    pub(super) label_is_left: bool,
}

/// Lays an outline out.
pub(super) fn lay_out(outline: &Outline) -> Layout {
    let layers = find_layers(outline);
    let mut rows = Rows::new(&layers);
    let turns = find_turns(&layers, &rows);
    let label_height = |bundle: usize| layers.bundles[bundle].arcs.len() as f64 * LINE_HEIGHT;
    let slots = find_slots(&layers, &turns, label_height);
    let mut plan = Plan {
        outline,
        layers: &layers,
        turns: &turns,
        slots: &slots,
        tops: Vec::new(),
        columns: Vec::new(),
        left: 0.0,
        right: 0.0,
    };
    plan.measure(&mut rows);
    rows.place();
    plan.stack(&rows);
    plan.find_columns(&rows);
    plan.finish(rows)
}

/// What the steps of a layout hand on.
pub(super) struct Plan<'p> {
    pub(super) outline: &'p Outline,
    pub(super) layers: &'p Layers,
    pub(super) turns: &'p [Turn],
    pub(super) slots: &'p [Slot],
    /// The top of each row and its height.
    pub(super) tops: Vec<(f64, f64)>,
    /// The place of each turn's column.
    pub(super) columns: Vec<f64>,
    /// How far everything reaches.
    pub(super) left: f64,
    pub(super) right: f64,
}

impl Plan<'_> {
    fn label_width(&self, bundle: usize) -> f64 {
        let characters = |arc: &usize| self.outline.arcs[*arc].label.chars().count();
        let longest = self.layers.bundles[bundle].arcs.iter().map(characters).max().unwrap_or_default();
        longest as f64 * LABEL_CHARACTER + LABEL_ASIDE
    }

    pub(super) fn label_height(&self, bundle: usize) -> f64 {
        self.layers.bundles[bundle].arcs.len() as f64 * LINE_HEIGHT
    }

    fn box_width(&self, node: usize) -> f64 {
        let shown = &self.outline.nodes[node];
        let name = shown.name.chars().count() as f64 * NAME_CHARACTER;
        let detail = shown.detail.chars().count() as f64 * LABEL_CHARACTER;
        (name.max(detail) + 2.0 * MARGIN).max(BOX_WIDTH_MIN)
    }

    pub(super) fn slots_of(&self, node: usize, side: Side) -> impl Iterator<Item = &Slot> {
        self.slots.iter().filter(move |slot| slot.node == node && slot.side == side)
    }

    fn measure(&self, rows: &mut Rows) {
        for item in &mut rows.items {
            match item.what {
                What::Node(node) => {
                    let own = self.slots_of(node, Side::Right).filter(|slot| self.is_loop(slot.bundle));
                    let reach =
                        own.map(|slot| LOOP_REACH + self.label_width(slot.bundle)).fold(0.0, f64::max);
                    let sides = [Side::Left, Side::Right]
                        .map(|side| self.slots_of(node, side).map(|slot| slot.height).sum());
                    item.left = self.box_width(node) / 2.0;
                    item.right = item.left + reach;
                    item.height = sides
                        .into_iter()
                        .fold(BOX_HEIGHT_MIN, |most, side: f64| most.max(side + 2.0 * CORNER));
                }
                What::Label(bundle) => {
                    item.right = self.label_width(bundle);
                    item.height = self.label_height(bundle);
                }
                What::Pass => {}
            }
        }
    }

    fn is_loop(&self, bundle: usize) -> bool {
        self.layers.bundles[bundle].direction == Direction::Same
    }

    /// Finds the tops of the rows. A turn's labels need room in the row of labels above the box it leaves.
    fn stack(&mut self, rows: &Rows) {
        let mut top = MARGIN + START_ROOM;
        for (index, row) in rows.rows.iter().enumerate() {
            let beside = self.turns.iter().filter(|turn| self.label_row(turn) == index);
            let beside = beside.map(|turn| self.label_height(turn.bundle));
            let height = row.iter().map(|item| rows.items[*item].height).chain(beside).fold(0.0, f64::max);
            top += self.turns_above(index).count() as f64 * RAIL;
            self.tops.push((top, height));
            top += height + GAP + self.turns_below(index).count() as f64 * RAIL;
        }
    }

    pub(super) fn label_row(&self, turn: &Turn) -> usize {
        2 * self.layers.layer_of[self.layers.bundles[turn.bundle].from] - 1
    }

    /// Lists the turns that enter a box of this row from above.
    pub(super) fn turns_above(&self, row: usize) -> impl Iterator<Item = &Turn> {
        let enters = move |turn: &&Turn| self.row_of(self.layers.bundles[turn.bundle].to) == row;
        self.turns.iter().filter(|turn| !turn.enters_at_side).filter(enters)
    }

    /// Lists the turns that leave a box of this row from below.
    pub(super) fn turns_below(&self, row: usize) -> impl Iterator<Item = &Turn> {
        let leaves = move |turn: &&Turn| self.row_of(self.layers.bundles[turn.bundle].from) == row;
        self.turns.iter().filter(|turn| !turn.leaves_at_side).filter(leaves)
    }

    pub(super) fn row_of(&self, node: usize) -> usize {
        2 * self.layers.layer_of[node]
    }

    /// Puts each turn's column beside everything in the rows it passes, and beside the columns before it.
    fn find_columns(&mut self, rows: &Rows) {
        let mut reach: Vec<(f64, f64)> = rows
            .rows
            .iter()
            .map(|row| {
                let items = || row.iter().map(|item| &rows.items[*item]);
                (
                    items().map(|item| item.x - item.left).fold(f64::MAX, f64::min),
                    items().map(|item| item.x + item.right).fold(f64::MIN, f64::max),
                )
            })
            .collect();
        for turn in self.turns {
            let bundle = &self.layers.bundles[turn.bundle];
            let passed = &mut reach[self.row_of(bundle.to)..=self.row_of(bundle.from)];
            let width = self.label_width(turn.bundle);
            let column = match turn.side {
                Side::Left => {
                    let column = passed.iter().map(|row| row.0).fold(f64::MAX, f64::min) - COLUMN_GAP;
                    passed.iter_mut().for_each(|row| row.0 = column - width);
                    column
                }
                Side::Right => {
                    let column = passed.iter().map(|row| row.1).fold(f64::MIN, f64::max) + COLUMN_GAP;
                    passed.iter_mut().for_each(|row| row.1 = column + width);
                    column
                }
            };
            self.columns.push(column);
        }
        if !rows.items.is_empty() {
            self.left = reach.iter().map(|row| row.0).fold(f64::MAX, f64::min);
            self.right = reach.iter().map(|row| row.1).fold(f64::MIN, f64::max);
        }
    }

    /// Moves everything to the right of the margin, and draws the lines.
    fn finish(mut self, mut rows: Rows) -> Layout {
        let shift = MARGIN - self.left;
        rows.items.iter_mut().for_each(|item| item.x = (item.x + shift).round());
        self.columns.iter_mut().for_each(|column| *column = (*column + shift).round());
        let last_row = self.tops.len() - 1;
        let bottom =
            self.tops[last_row].0 + self.tops[last_row].1 + self.turns_below(last_row).count() as f64 * RAIL;
        let frame = |node: usize| {
            let item = &rows.items[node];
            let (top, height) = self.tops[item.row];
            let y = top + (height - item.height) / 2.0;
            Frame {
                x: whole(item.x - item.left),
                y: whole(y),
                width: whole(2.0 * item.left),
                height: whole(item.height),
            }
        };
        let boxes: Vec<Frame> = (0..self.outline.nodes.len()).map(frame).collect();
        let routes = Routes::new(&self, &rows, &boxes);
        let lines = (0..self.layers.bundles.len()).map(|bundle| routes.line(bundle)).collect();
        let start = routes.start();
        Layout {
            width: whole(self.right + shift + MARGIN),
            height: whole(bottom + MARGIN),
            boxes,
            lines,
            start,
        }
    }
}

pub(super) fn whole(number: f64) -> i32 {
    number.round() as i32
}
