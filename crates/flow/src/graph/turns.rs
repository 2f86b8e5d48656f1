//! The sides of the boxes: where loops leave and enter, and how much room they need there.
//!
//! What leads back runs up beside the rows, in a column of its own. It leaves its box at the side if no other box is
//! in the way, and below it if one is. On each side the slots stand in the order in which their lines cross least:
//! what leaves upwards, nearest column first; then loops onto the box itself; then what comes from below.

use super::layers::{Direction, Layers};
use super::rows::Rows;

/// A side of the drawing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// A bundle that leads back.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Turn {
    pub(super) bundle: usize,
    pub(super) side: Side,
    /// Whether it leaves at the side of its box, rather than below it.
    pub(super) leaves_at_side: bool,
    /// Whether it enters at the side of its box, rather than above it.
    pub(super) enters_at_side: bool,
}

/// A place at the side of a box.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Slot {
    pub(super) node: usize,
    pub(super) side: Side,
    pub(super) bundle: usize,
    /// Whether the bundle enters here; a loop onto the box itself does both.
    pub(super) enters: bool,
    pub(super) height: f64,
}

/// Chooses the side of each bundle that leads back, from the nearest to the furthest.
pub(super) fn find_turns(layers: &Layers, rows: &Rows) -> Vec<Turn> {
    let back = layers.bundles.iter().enumerate().filter(|(_, bundle)| bundle.direction == Direction::Back);
    let mut back: Vec<_> = back.collect();
    back.sort_by_key(|(index, bundle)| (layers.layer_of[bundle.from] - layers.layer_of[bundle.to], *index));
    let turn = |(index, bundle): &(usize, &super::layers::Bundle)| {
        let on = |side: Side| {
            let outermost = |node| rows.is_outermost(node, side == Side::Right);
            Turn {
                bundle: *index,
                side,
                leaves_at_side: outermost(bundle.from),
                enters_at_side: outermost(bundle.to),
            }
        };
        let ease = |turn: &Turn| usize::from(turn.leaves_at_side) + usize::from(turn.enters_at_side);
        let (left, right) = (on(Side::Left), on(Side::Right));
        if ease(&left) > ease(&right) { left } else { right }
    };
    back.iter().map(turn).collect()
}

/// Lists the slots of all boxes; those of one side of one box follow each other from top to bottom.
pub(super) fn find_slots(layers: &Layers, turns: &[Turn], label_height: impl Fn(usize) -> f64) -> Vec<Slot> {
    const LINE: f64 = 14.0;
    let of_turn = |turn: &Turn, enters: bool| {
        let bundle = &layers.bundles[turn.bundle];
        let node = if enters { bundle.to } else { bundle.from };
        Slot { node, side: turn.side, bundle: turn.bundle, enters, height: LINE }
    };
    let leaving = turns.iter().filter(|turn| turn.leaves_at_side).map(|turn| of_turn(turn, false));
    let entering = turns.iter().rev().filter(|turn| turn.enters_at_side).map(|turn| of_turn(turn, true));
    let own = layers.bundles.iter().enumerate().filter(|(_, bundle)| bundle.direction == Direction::Same);
    let own = own.map(|(index, bundle)| Slot {
        node: bundle.from,
        side: Side::Right,
        bundle: index,
        enters: true,
        height: label_height(index).max(LINE) + 8.0,
    });
    leaving.chain(own).chain(entering).collect()
}
