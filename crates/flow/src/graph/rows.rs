//! Rows of a drawing: nodes on every other row, labels on the rows between, in an order with few crossings.
//!
//! All text and all boxes stand in rows, side by side, and only lines run between the rows. That is why nothing can
//! overlap: a line leaves its row only where no text is.

use super::layers::{Direction, Layers};
use super::spread::{Wish, spread};

/// Rounds of sorting and of moving: more change nothing for graphs that a person can read.
const ROUNDS: usize = 64;

/// Between two neighbours of a row.
const NEIGHBOUR_GAP: f64 = 26.0;

/// How much each end of a join that is no box adds to its pull: lines want to be straight more than boxes central.
const STRAIGHTNESS: f64 = 6.0;

/// What stands at one place of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    Node(usize),
    /// The labels of a bundle, to the right of its line.
    Label(usize),
    /// A line that passes through.
    Pass,
}

/// One thing in a row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Item {
    pub(super) what: What,
    pub(super) row: usize,
    pub(super) x: f64,
    /// How far it reaches from `x` to each side.
    pub(super) left: f64,
    pub(super) right: f64,
    pub(super) height: f64,
}

/// All rows of a drawing.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Rows {
    pub(super) items: Vec<Item>,
    /// The items of each row, from left to right.
    pub(super) rows: Vec<Vec<usize>>,
    /// For each bundle that leads on: the items it goes through, from its node to its node.
    pub(super) chains: Vec<Vec<usize>>,
}

impl Rows {
    /// Makes the rows. The item of a node has the node's index; sizes are filled in later.
    pub(super) fn new(layers: &Layers) -> Rows {
        let row_count = layers.layer_of.iter().max().map_or(1, |layer| 2 * layer + 1);
        let mut rows = Rows { items: Vec::new(), rows: vec![Vec::new(); row_count], chains: Vec::new() };
        for (node, layer) in layers.layer_of.iter().enumerate() {
            rows.add(What::Node(node), 2 * layer);
        }
        for (index, bundle) in layers.bundles.iter().enumerate() {
            let mut chain = Vec::new();
            if bundle.direction == Direction::On {
                let (from, to) = (2 * layers.layer_of[bundle.from], 2 * layers.layer_of[bundle.to]);
                chain.push(bundle.from);
                chain.push(rows.add(What::Label(index), from + 1));
                chain.extend((from + 2..to).map(|row| rows.add(What::Pass, row)));
                chain.push(bundle.to);
            }
            rows.chains.push(chain);
        }
        rows.sort();
        rows
    }

    fn add(&mut self, what: What, row: usize) -> usize {
        let item = self.items.len();
        self.items.push(Item { what, row, x: 0.0, left: 6.0, right: 6.0, height: 0.0 });
        self.rows[row].push(item);
        item
    }

    /// Whether a node is the outermost of its row, on the right or on the left.
    pub(super) fn is_outermost(&self, node: usize, on_right: bool) -> bool {
        let row = &self.rows[self.items[node].row];
        let is_node = |item: &&usize| matches!(self.items[**item].what, What::Node(_));
        let outermost = if on_right { row.iter().rev().find(is_node) } else { row.iter().find(is_node) };
        outermost == Some(&node)
    }

    fn neighbours(&self) -> Vec<Vec<usize>> {
        let mut neighbours = vec![Vec::new(); self.items.len()];
        for pair in self.chains.iter().flat_map(|chain| chain.windows(2)) {
            neighbours[pair[0]].push(pair[1]);
            neighbours[pair[1]].push(pair[0]);
        }
        neighbours
    }

    /// Sorts each row by the mean place of what its items are joined to, and keeps the best order seen.
    fn sort(&mut self) {
        let neighbours = self.neighbours();
        let mut best = (self.crossings(), self.rows.clone());
        for round in 0..ROUNDS {
            let downwards = round % 2 == 0;
            let count = self.rows.len();
            for step in 0..count {
                let row = if downwards { step } else { count - 1 - step };
                self.sort_row(row, downwards, &neighbours);
            }
            let crossings = self.crossings();
            if crossings < best.0 {
                best = (crossings, self.rows.clone());
            }
        }
        self.rows = best.1;
    }

    fn sort_row(&mut self, row: usize, downwards: bool, neighbours: &[Vec<usize>]) {
        let places = self.places();
        let mean = |item: usize| {
            let own = self.items[item].row;
            let joined = neighbours[item].iter().filter(|other| (self.items[**other].row < own) == downwards);
            let (sum, count) =
                joined.fold((0.0, 0.0), |(sum, count), other| (sum + places[*other], count + 1.0));
            if count > 0.0 { sum / count } else { places[item] }
        };
        let mut keyed: Vec<(f64, usize)> = self.rows[row].iter().map(|item| (mean(*item), *item)).collect();
        keyed.sort_by(|a, b| a.0.total_cmp(&b.0));
        self.rows[row] = keyed.into_iter().map(|(_, item)| item).collect();
    }

    /// The place of each item within its row, as a share of the row.
    fn places(&self) -> Vec<f64> {
        let mut places = vec![0.0; self.items.len()];
        for row in &self.rows {
            for (index, item) in row.iter().enumerate() {
                places[*item] = (index as f64 + 0.5) / row.len() as f64;
            }
        }
        places
    }

    fn crossings(&self) -> usize {
        let places = self.places();
        let pairs: Vec<&[usize]> = self.chains.iter().flat_map(|chain| chain.windows(2)).collect();
        let crosses = |a: &[usize], b: &[usize]| {
            self.items[a[0]].row == self.items[b[0]].row
                && (places[a[0]] - places[b[0]]) * (places[a[1]] - places[b[1]]) < 0.0
        };
        let crossings =
            |(index, a): (usize, &&[usize])| pairs[..index].iter().filter(|b| crosses(a, b)).count();
        pairs.iter().enumerate().map(crossings).sum()
    }

    /// Places the items of all rows, once their sizes are known.
    pub(super) fn place(&mut self) {
        let neighbours = self.neighbours();
        for round in 0..ROUNDS {
            let count = self.rows.len();
            for step in 0..count {
                let row = if round % 2 == 0 { step } else { count - 1 - step };
                self.place_row(row, &neighbours);
            }
        }
    }

    fn place_row(&mut self, row: usize, neighbours: &[Vec<usize>]) {
        let wish = |item: &usize| {
            let own = &self.items[*item];
            let pull = |other: &usize| {
                let ends = [own, &self.items[*other]];
                1.0 + STRAIGHTNESS
                    * ends.iter().filter(|end| !matches!(end.what, What::Node(_))).count() as f64
            };
            let weight: f64 = neighbours[*item].iter().map(pull).sum();
            let sum: f64 = neighbours[*item].iter().map(|other| self.items[*other].x * pull(other)).sum();
            let place = if weight > 0.0 { sum / weight } else { own.x };
            Wish { left: own.left, right: own.right, place, weight: weight.max(1.0) }
        };
        let wishes: Vec<Wish> = self.rows[row].iter().map(wish).collect();
        let places = spread(&wishes, NEIGHBOUR_GAP);
        for (item, place) in self.rows[row].clone().into_iter().zip(places) {
            self.items[item].x = place;
        }
    }
}
