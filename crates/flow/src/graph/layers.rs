//! Layers of a graph: which arcs lead on, which lead back, and how far each node is from the start.
//!
//! Arcs between the same two nodes become one [`Bundle`], drawn as one line with several labels. Nodes stand on the
//! layer of their longest path from the start; an arc that closes a loop does not count.

use super::outline::Outline;

/// Arcs of one look between the same two nodes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Bundle {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) is_aside: bool,
    /// Indexes into the arcs of the outline.
    pub(super) arcs: Vec<usize>,
    pub(super) direction: Direction,
}

/// Where a bundle leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Direction {
    /// To a later layer.
    On,
    /// To an earlier layer, closing a loop.
    Back,
    /// To the node itself.
    Same,
}

/// The bundles of an outline, and the layer of each node.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Layers {
    pub(super) bundles: Vec<Bundle>,
    pub(super) layer_of: Vec<usize>,
}

/// Finds the bundles and the layers.
pub(super) fn find_layers(outline: &Outline) -> Layers {
    let mut bundles = bundle(outline);
    mark_loops(outline, &mut bundles);
    let layer_of = longest_ways(outline.nodes.len(), &bundles);
    Layers { bundles, layer_of }
}

fn bundle(outline: &Outline) -> Vec<Bundle> {
    let mut bundles: Vec<Bundle> = Vec::new();
    for (index, arc) in outline.arcs.iter().enumerate() {
        let same = |bundle: &&mut Bundle| {
            (bundle.from, bundle.to, bundle.is_aside) == (arc.from, arc.to, arc.is_aside)
        };
        match bundles.iter_mut().find(same) {
            Some(bundle) => bundle.arcs.push(index),
            None => bundles.push(Bundle {
                from: arc.from,
                to: arc.to,
                is_aside: arc.is_aside,
                arcs: vec![index],
                direction: if arc.from == arc.to { Direction::Same } else { Direction::On },
            }),
        }
    }
    bundles
}

/// Walks from the start, depth first, and marks the bundles that lead to a node the walk is still within.
fn mark_loops(outline: &Outline, bundles: &mut [Bundle]) {
    let mut is_done = vec![false; outline.nodes.len()];
    let mut is_within = vec![false; outline.nodes.len()];
    let others = (0..outline.nodes.len()).filter(|node| Some(*node) != outline.start);
    for root in outline.start.into_iter().chain(others) {
        let mut path = vec![(root, 0)];
        while let Some((node, next)) = path.last_mut() {
            let node = *node;
            if *next == 0 {
                if is_done[node] {
                    path.pop();
                    continue;
                }
                is_within[node] = true;
            }
            let leaving = (*next..bundles.len()).find(|index| bundles[*index].from == node);
            match leaving {
                Some(index) => {
                    *next = index + 1;
                    let to = bundles[index].to;
                    if bundles[index].direction != Direction::Same && is_within[to] {
                        bundles[index].direction = Direction::Back;
                    } else if !is_within[to] && !is_done[to] {
                        path.push((to, 0));
                    }
                }
                None => {
                    is_within[node] = false;
                    is_done[node] = true;
                    path.pop();
                }
            }
        }
    }
}

fn longest_ways(nodes: usize, bundles: &[Bundle]) -> Vec<usize> {
    let mut layer_of = vec![0; nodes];
    // Without the loops no path has more steps than there are nodes.
    for _ in 0..nodes {
        for bundle in bundles.iter().filter(|bundle| bundle.direction == Direction::On) {
            layer_of[bundle.to] = layer_of[bundle.to].max(layer_of[bundle.from] + 1);
        }
    }
    layer_of
}

#[cfg(test)]
mod tests {
    use super::super::outline::{Arc, Look, Shown};
    use super::*;

    fn outline(nodes: usize, start: usize, arcs: &[(usize, usize)]) -> Outline {
        let node = Shown { name: String::new(), detail: String::new(), look: Look::Work };
        let arc = |(from, to): &(usize, usize)| Arc {
            from: *from,
            to: *to,
            edge: String::new(),
            label: String::new(),
            is_aside: false,
        };
        Outline {
            name: String::new(),
            start: Some(start),
            nodes: vec![node; nodes],
            arcs: arcs.iter().map(arc).collect(),
        }
    }

    #[test]
    fn a_node_stands_on_the_layer_of_its_longest_way() {
        let layers = find_layers(&outline(4, 1, &[(1, 0), (0, 2), (1, 2), (2, 3), (3, 1), (2, 2)]));
        assert_eq!(layers.layer_of, [1, 0, 2, 3]);
        let directions: Vec<Direction> = layers.bundles.iter().map(|bundle| bundle.direction).collect();
        assert_eq!(
            directions,
            [Direction::On, Direction::On, Direction::On, Direction::On, Direction::Back, Direction::Same]
        );
    }

    #[test]
    fn every_way_back_leads_to_an_earlier_layer() {
        let all: Vec<(usize, usize)> = (0..6).flat_map(|from| (0..6).map(move |to| (from, to))).collect();
        let layers = find_layers(&outline(6, 2, &all));
        for bundle in layers.bundles.iter().filter(|bundle| bundle.direction == Direction::Back) {
            assert!(layers.layer_of[bundle.from] > layers.layer_of[bundle.to], "{bundle:?}");
        }
    }

    #[test]
    fn arcs_between_the_same_nodes_are_one_bundle() {
        let layers = find_layers(&outline(2, 0, &[(0, 1), (1, 0), (0, 1)]));
        assert_eq!(layers.bundles[0].arcs, [0, 2]);
    }
}
