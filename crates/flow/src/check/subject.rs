//! What the rules look at: a workflow, the graph of each of its levels, and what its conditions say of samples.

use super::ground::Ground;
use super::node_trial::{NodeTrial, try_node};
use crate::graph::{Graph, Link, LinkKind, levels};
use crate::workflow::Workflow;

/// A workflow under check.
pub(super) struct Subject<'w> {
    pub(super) workflow: &'w Workflow,
    /// The workflows that run it, the outermost first.
    pub(super) above: Vec<&'w Workflow>,
    pub(super) levels: Vec<LevelView<'w>>,
}

/// A workflow at one level.
pub(super) struct LevelView<'w> {
    pub(super) level: u32,
    pub(super) graph: Graph<'w>,
    /// Whether a run of the level can come to each node.
    pub(super) is_reached: Vec<bool>,
    /// What the edges of each reached node say of samples.
    pub(super) trials: Vec<Option<NodeTrial<'w>>>,
}

impl<'w> Subject<'w> {
    /// Looks at a workflow.
    pub(super) fn new(workflow: &'w Workflow, above: &[&'w Workflow], ground: &Ground<'w>) -> Subject<'w> {
        let view = |level: u32| {
            let graph = Graph::new(workflow, level);
            let is_reached = graph.reachable();
            let trial = |node: usize| is_reached[node].then(|| try_node(ground, workflow, level, node));
            let trials = (0..workflow.nodes.len()).map(trial).collect();
            LevelView { level, graph, is_reached, trials }
        };
        let levels = levels(workflow).into_iter().map(view).collect();
        Subject { workflow, above: above.to_vec(), levels }
    }
}

impl<'w> LevelView<'w> {
    /// Lists the links that a run of the level may take: the others are never tried, or hold on no sample.
    pub(super) fn live_links(&self) -> Vec<Link<'w>> {
        self.graph
            .links
            .iter()
            .filter(|link| self.is_reached[link.from] && !self.is_dead(link))
            .copied()
            .collect()
    }

    fn is_dead(&self, link: &Link<'_>) -> bool {
        let Some(trial) = &self.trials[link.from] else { return false };
        let Some(edge) = trial.edges.iter().position(|edge| edge.id == link.edge.id) else { return false };
        let is_never_tried = trial.edges[..edge].iter().any(|before| before.when.is_none());
        let is_dead_route = match link.kind {
            LinkKind::Exhausted(route) => {
                let routes = &link.edge.exhausted;
                let place = routes.iter().position(|other| std::ptr::eq(other, route)).unwrap_or_default();
                routes[..place].iter().any(|before| before.when.is_none())
                    || trial.routes_never_hold[edge][place]
            }
            LinkKind::Edge | LinkKind::Rejected(_) => false,
        };
        is_never_tried || trial.never_holds[edge] || is_dead_route
    }
}
