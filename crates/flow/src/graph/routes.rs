//! Draws the lines of a layout: through the rows, up beside them, and around a box.

use std::fmt::Write;

use super::layers::Direction;
use super::layout::{
    CORNER, Frame, LABEL_ASIDE, LINE_HEIGHT, LOOP_REACH, Line, PORT_SPACING, Plan, RAIL, START_ROOM, TIP,
    whole,
};
use super::rows::Rows;
use super::turns::{Side, Turn};

/// From the top of a label's line to its baseline.
const BASELINE: i32 = 12;

/// A step aside of so little is drawn as a straight line.
const STRAIGHT: i32 = 4;

/// One end of a line at the top or at the bottom of a box.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum End {
    Bundle(usize),
    Start,
}

/// What the lines are drawn from.
pub(super) struct Routes<'r> {
    plan: &'r Plan<'r>,
    rows: &'r Rows,
    boxes: &'r [Frame],
}

impl<'r> Routes<'r> {
    pub(super) fn new(plan: &'r Plan<'r>, rows: &'r Rows, boxes: &'r [Frame]) -> Routes<'r> {
        Routes { plan, rows, boxes }
    }

    /// Draws one bundle.
    pub(super) fn line(&self, index: usize) -> Line {
        let bundle = &self.plan.layers.bundles[index];
        let turn = self.plan.turns.iter().position(|turn| turn.bundle == index);
        let (path, label, label_is_left) = match (bundle.direction, turn) {
            (Direction::Back, Some(turn)) => self.turn(turn),
            (Direction::Same, _) => self.own_loop(index),
            _ => self.chain(index),
        };
        Line { is_aside: bundle.is_aside, arcs: bundle.arcs.clone(), path, label, label_is_left }
    }

    /// Returns where the mark of the start stands, and how far down its line goes.
    pub(super) fn start(&self) -> Option<(i32, i32, i32)> {
        let node = self.plan.outline.start?;
        let top = self.boxes[node].y;
        let rails = whole(self.plan.turns_above(self.plan.row_of(node)).count() as f64 * RAIL);
        Some((self.top_port(node, End::Start), top - whole(START_ROOM) + 6 - rails, top - whole(TIP)))
    }

    fn chain(&self, index: usize) -> (String, (i32, i32), bool) {
        let bundle = &self.plan.layers.bundles[index];
        let chain = &self.rows.chains[index];
        let from = self.boxes[bundle.from];
        let mut at = (self.bottom_port(bundle.from, End::Bundle(index)), from.y + from.height);
        let mut path = format!("M{} {}", at.0, at.1);
        for item in &chain[1..chain.len() - 1] {
            let item = &self.rows.items[*item];
            let (top, height) = self.plan.tops[item.row];
            curve(&mut path, at, (whole(item.x), whole(top)));
            at = (whole(item.x), whole(top + height));
            let _ = write!(path, " V{}", at.1);
        }
        curve(
            &mut path,
            at,
            (self.top_port(bundle.to, End::Bundle(index)), self.boxes[bundle.to].y - whole(TIP)),
        );
        let label = &self.rows.items[chain[1]];
        let (top, height) = self.plan.tops[label.row];
        (path, (whole(label.x + LABEL_ASIDE), whole(top + (height - label.height) / 2.0) + BASELINE), false)
    }

    fn own_loop(&self, index: usize) -> (String, (i32, i32), bool) {
        let bundle = &self.plan.layers.bundles[index];
        let frame = self.boxes[bundle.from];
        let (x, y) = (frame.x + frame.width, self.slot(bundle.from, Side::Right, index, true));
        let out = x + whole(LOOP_REACH) + 4;
        let path = format!("M{x} {} C{out} {} {out} {} {} {}", y - 7, y - 11, y + 11, x + whole(TIP), y + 7);
        let top = y - whole(bundle.arcs.len() as f64 * LINE_HEIGHT / 2.0);
        (path, (x + whole(LOOP_REACH), top + BASELINE), false)
    }

    fn turn(&self, place: usize) -> (String, (i32, i32), bool) {
        let turn = &self.plan.turns[place];
        let (column, outwards) =
            (whole(self.plan.columns[place]), if turn.side == Side::Right { 1 } else { -1 });
        let corner = whole(CORNER);
        let (mut path, leave) = self.leave(turn, outwards);
        let enter = self.enter(turn, outwards);
        let _ = write!(
            path,
            " H{} Q{column} {leave} {column} {} V{} Q{column} {} {} {}{}",
            column - outwards * corner,
            leave - corner,
            enter.0 + corner,
            enter.0,
            column - outwards * corner,
            enter.0,
            enter.1
        );
        let (top, height) = self.plan.tops[self.plan.label_row(turn)];
        let middle = whole(top + (height - self.plan.label_height(turn.bundle)) / 2.0);
        (path, (column + outwards * whole(LABEL_ASIDE), middle + BASELINE), turn.side == Side::Left)
    }

    /// Begins a turn, and returns the height at which it goes aside.
    fn leave(&self, turn: &Turn, outwards: i32) -> (String, i32) {
        let node = self.plan.layers.bundles[turn.bundle].from;
        let frame = self.boxes[node];
        if turn.leaves_at_side {
            let y = self.slot(node, turn.side, turn.bundle, false);
            let x = if turn.side == Side::Right { frame.x + frame.width } else { frame.x };
            return (format!("M{x} {y}"), y);
        }
        let row = self.plan.row_of(node);
        let rank =
            self.plan.turns_below(row).position(|other| other.bundle == turn.bundle).unwrap_or_default();
        let (top, height) = self.plan.tops[row];
        let y = whole(top + height + RAIL * (rank as f64 + 1.0));
        let x = self.bottom_port(node, End::Bundle(turn.bundle));
        (format!("M{x} {} V{} Q{x} {y} {} {y}", frame.y + frame.height, y - 6, x + outwards * 6), y)
    }

    /// Returns the height at which a turn comes back, and the rest of its path.
    fn enter(&self, turn: &Turn, outwards: i32) -> (i32, String) {
        let node = self.plan.layers.bundles[turn.bundle].to;
        let frame = self.boxes[node];
        if turn.enters_at_side {
            let y = self.slot(node, turn.side, turn.bundle, true);
            let x = if turn.side == Side::Right { frame.x + frame.width } else { frame.x };
            return (y, format!(" H{}", x + outwards * whole(TIP)));
        }
        let row = self.plan.row_of(node);
        let rank =
            self.plan.turns_above(row).position(|other| other.bundle == turn.bundle).unwrap_or_default();
        let y = whole(self.plan.tops[row].0 - RAIL * (rank as f64 + 1.0) - 4.0);
        let x = self.top_port(node, End::Bundle(turn.bundle));
        (y, format!(" H{} Q{x} {y} {x} {} V{}", x + outwards * 6, y + 6, frame.y - whole(TIP)))
    }

    /// Returns the height of a slot at the side of a box.
    fn slot(&self, node: usize, side: Side, bundle: usize, enters: bool) -> i32 {
        let total: f64 = self.plan.slots_of(node, side).map(|slot| slot.height).sum();
        let before =
            self.plan.slots_of(node, side).take_while(|slot| (slot.bundle, slot.enters) != (bundle, enters));
        let before: f64 = before.map(|slot| slot.height).sum();
        let own = self.plan.slots_of(node, side).find(|slot| (slot.bundle, slot.enters) == (bundle, enters));
        let frame = self.boxes[node];
        let middle = f64::from(frame.y) + f64::from(frame.height) / 2.0;
        whole(middle - total / 2.0 + before + own.map_or(0.0, |slot| slot.height / 2.0))
    }

    fn bottom_port(&self, node: usize, end: End) -> i32 {
        let chains = self.plan.layers.bundles.iter().enumerate().filter(|(_, bundle)| bundle.from == node);
        let chains = chains
            .filter(|(_, bundle)| bundle.direction == Direction::On)
            .map(|(index, _)| (self.rows.items[self.rows.chains[index][1]].x, End::Bundle(index)));
        let turns =
            self.plan.turns.iter().zip(&self.plan.columns).filter(|(turn, _)| {
                !turn.leaves_at_side && self.plan.layers.bundles[turn.bundle].from == node
            });
        let turns = turns.map(|(turn, column)| (*column, End::Bundle(turn.bundle)));
        self.port(node, chains.chain(turns).collect(), end)
    }

    fn top_port(&self, node: usize, end: End) -> i32 {
        let chains = self.plan.layers.bundles.iter().enumerate().filter(|(_, bundle)| bundle.to == node);
        let chains = chains.filter(|(_, bundle)| bundle.direction == Direction::On).map(|(index, _)| {
            let chain = &self.rows.chains[index];
            (self.rows.items[chain[chain.len() - 2]].x, End::Bundle(index))
        });
        let turns = self
            .plan
            .turns
            .iter()
            .zip(&self.plan.columns)
            .filter(|(turn, _)| !turn.enters_at_side && self.plan.layers.bundles[turn.bundle].to == node);
        let turns = turns.map(|(turn, column)| (*column, End::Bundle(turn.bundle)));
        let start = (self.plan.outline.start == Some(node)).then_some((self.rows.items[node].x, End::Start));
        self.port(node, chains.chain(turns).chain(start).collect(), end)
    }

    /// Spreads the ends at one edge of a box in the order of where they lead, and returns the place of one.
    fn port(&self, node: usize, mut ends: Vec<(f64, End)>, end: End) -> i32 {
        ends.sort_by(|a, b| a.0.total_cmp(&b.0));
        let rank = ends.iter().position(|(_, other)| *other == end).unwrap_or_default();
        let inner = f64::from(self.boxes[node].width) - 2.0 * CORNER;
        let spacing = PORT_SPACING.min(inner / ends.len().max(1) as f64);
        whole(self.rows.items[node].x + (rank as f64 - (ends.len() as f64 - 1.0) / 2.0) * spacing)
    }
}

fn curve(path: &mut String, from: (i32, i32), to: (i32, i32)) {
    if (from.0 - to.0).abs() <= STRAIGHT {
        let _ = write!(path, " L{} {}", to.0, to.1);
    } else {
        let middle = (from.1 + to.1) / 2;
        let _ = write!(path, " C{} {middle} {} {middle} {} {}", from.0, to.0, to.0, to.1);
    }
}
