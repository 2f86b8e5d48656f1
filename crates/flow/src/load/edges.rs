//! The edges of `workflow.toml`, with their routes.

use std::collections::BTreeSet;

use toml::de::DeTable;

use crate::expression::Part;
use crate::fault::{Fault, Position};
use crate::gaps::Gaps;
use crate::load::head::{read_name, read_target, read_targets};
use crate::load::nodes::read_set;
use crate::load::section::{Section, count_of, list_names, text_of};
use crate::load::sends;
use crate::name::EdgeId;
use crate::nearest::find_nearest;
use crate::outcome::OutcomeKind;
use crate::variables::Local;
use crate::workflow::{Edge, Named, On, Route, Target};

/// The keys of an edge.
const KEYS: &[&str] = &[
    "id",
    "title",
    "from",
    "to",
    "on",
    "when",
    "maxIterations",
    "scope",
    "exhausted",
    "rejected",
    "set",
    "send",
    "submit",
    "fail",
    "drop",
    "overrides",
    "levels",
];

/// The keys of a way out of a cap.
const EXHAUSTED_KEYS: &[&str] = &["to", "when", "set", "send", "fail", "drop"];

/// The keys of the way of a task that was sent back; there is nothing to choose.
const REJECTED_KEYS: &[&str] = &["to", "set", "send", "fail", "drop"];

/// Reads the edges. What could not be read of them is among the gaps.
pub(crate) fn read(section: &Section<'_>, gaps: &mut Gaps) -> Vec<Edge> {
    let faults = section.reader.faults;
    let before = faults.count_hard();
    let tables = section.tables("edges");
    gaps.has_lost_edges |= faults.count_hard() > before;
    let mut edges = Vec::new();
    for (table, at) in tables {
        let before = faults.count_hard();
        match read_edge(section, table, at) {
            None => gaps.has_lost_edges = true,
            Some(edge) => {
                if faults.count_hard() > before {
                    gaps.edges.insert(edge.id.to_string());
                }
                edges.push(edge);
            }
        }
    }
    let mut seen = BTreeSet::new();
    for edge in edges.iter().filter(|edge| !seen.insert(edge.id.clone())) {
        let message = format!("another edge is called `{}`", edge.id);
        section.reader.add(Fault::error("duplicate-id", &edge.at, message).with_hint("give it a unique id"));
    }
    edges
}

fn read_edge<'t>(section: &Section<'t>, table: &'t DeTable<'t>, at: Position) -> Option<Edge> {
    let id = table.get("id").and_then(|value| value.get_ref().as_str()).unwrap_or_default();
    let title = if id.is_empty() { "the edge".to_owned() } else { format!("edge `{id}`") };
    let edge = Section::new(section.reader, table, title, Part::Edge(id.to_owned()), at, KEYS);
    let id = edge.needed_text("id").and_then(|text| read_name(edge.reader, &text));
    let edge_title = edge.text("title").map(|text| text.value.to_owned()).unwrap_or_default();
    let from = read_from(&edge);
    let to = read_node(&edge, "to");
    let on = read_on(&edge);
    let edge = if on == Ok(None) { edge } else { edge.with_local(Local::Outcome) };
    let [when, scope, submit, fail, drop] =
        ["when", "scope", "submit", "fail", "drop"].map(|key| edge.expression(key));
    let max_iterations = edge.count("maxIterations");
    let exhausted = read_exhausted(&edge);
    let rejected = edge.table("rejected").map(|(table, at)| read_route(&edge, table, at, REJECTED_KEYS));
    let set = read_set(&edge, "set");
    let send = sends::read(&edge);
    let overrides = read_overrides(&edge);
    let level = |value| Some((count_of(toml::Spanned::get_ref(value))?, edge.reader.position(value.span())));
    let levels = edge.list("levels", "a list of whole numbers from 1", level);
    let Named { name, at } = id?;
    Some(Edge {
        id: EdgeId::parse(&name).ok()?,
        title: edge_title,
        from: from?,
        to: to?,
        on: on.ok()?,
        when,
        max_iterations,
        scope,
        exhausted,
        rejected: rejected.flatten(),
        set,
        send,
        submit,
        fail,
        drop,
        overrides,
        levels,
        at,
    })
}

fn read_node(edge: &Section<'_>, key: &str) -> Option<Target> {
    edge.needed_text(key).and_then(|text| read_target(edge.reader, &text))
}

/// Reads the outcome that an edge is for. It is an error if it cannot be read: nobody can say what the edge is for then.
fn read_on(edge: &Section<'_>) -> Result<Option<On>, ()> {
    if !edge.has("on") {
        return Ok(None);
    }
    let text = edge.text("on").ok_or(())?;
    let at = edge.reader.position(text.literal.clone());
    if let Some(outcome) = OutcomeKind::find(text.value) {
        return Ok(Some(On { outcome, at }));
    }
    let words = OutcomeKind::ALL.map(OutcomeKind::as_str);
    let fault = Fault::error("unknown-outcome", &at, format!("there is no outcome called `{}`", text.value));
    edge.reader.add(match find_nearest(text.value, words) {
        Some(nearest) => fault.with_hint(format!("did you mean `{nearest}`?")),
        None => fault.with_hint(format!("the outcomes are {}", list_names(&words))),
    });
    Err(())
}

/// Reads the nodes that an edge leaves: one, or a list.
fn read_from(edge: &Section<'_>) -> Option<Vec<Target>> {
    if !edge.is_list("from") {
        return Some(vec![read_node(edge, "from")?]);
    }
    read_targets(edge, "from", "the name of a node, or a list of names")
}

fn read_exhausted(edge: &Section<'_>) -> Vec<Route> {
    let tables = edge.tables("exhausted").into_iter();
    tables.filter_map(|(table, at)| read_route(edge, table, at, EXHAUSTED_KEYS)).collect()
}

fn read_route<'t>(edge: &Section<'t>, table: &'t DeTable<'t>, at: Position, keys: &[&str]) -> Option<Route> {
    let Part::Edge(id) = edge.part() else { return None };
    let title = format!("a route of edge `{id}`");
    let route = Section::new(edge.reader, table, title, edge.part().clone(), at, keys);
    let to = read_node(&route, "to");
    let when = if keys.contains(&"when") { route.expression("when") } else { None };
    let set = read_set(&route, "set");
    let send = sends::read(&route);
    let [fail, drop] = ["fail", "drop"].map(|key| route.expression(key));
    Some(Route { to: to?, when, set, send, fail, drop, at: route.header().clone() })
}

fn read_overrides(edge: &Section<'_>) -> Vec<(EdgeId, Position)> {
    let names = edge.list("overrides", "a list of the ids of edges", text_of).unwrap_or_default();
    let read = |text| {
        let Named { name, at } = read_name(edge.reader, &text)?;
        Some((EdgeId::parse(&name).ok()?, at))
    };
    names.into_iter().filter_map(read).collect()
}
