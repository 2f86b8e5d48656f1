//! The nodes of `workflow.toml`.

use toml::de::{DeTable, DeValue};

use crate::expression::{Expression, Part};
use crate::fault::{Fault, Position};
use crate::gaps::Gaps;
use crate::load::head::{read_name, read_targets};
use crate::load::section::{Section, entries_of, list_names, text_of};
use crate::name::NodeName;
use crate::nearest::find_nearest;
use crate::workflow::{Assignment, EndStatus, Named, Node, NodeKind};

/// Each kind with its keys.
const KINDS: &[(&str, &[&str])] = &[
    ("agent", &["kind", "title", "role", "prompt", "input", "task", "writes", "findings", "set"]),
    ("map", &["kind", "title", "workflow", "items", "key", "depends", "max_parallel", "set"]),
    ("approval", &["kind", "title", "question", "set"]),
    ("check", &["kind", "title", "checks", "task", "set"]),
    ("parallel", &["kind", "title", "nodes", "set"]),
    ("pass", &["kind", "title", "set"]),
    ("end", &["kind", "title", "status", "reason", "result"]),
];

/// Reads the nodes. One of which only the name is known is there too, and is among the gaps.
pub(crate) fn read(section: &Section<'_>, gaps: &mut Gaps) -> Vec<Node> {
    let Some((table, _)) = section.table("nodes") else {
        section.missing("nodes", "add a table `[nodes.<name>]` for each node".to_owned());
        gaps.has_lost_edges = true;
        return Vec::new();
    };
    let faults = section.reader.faults;
    let mut nodes = Vec::new();
    for (key, value) in entries_of(table) {
        let at = section.reader.position(key.literal.clone());
        let name = read_name(section.reader, &key).and_then(|name| NodeName::parse(&name.name).ok());
        let before = faults.count_hard();
        let Body { title, kind, set } = match value.get_ref() {
            DeValue::Table(table) => read_node(section, key.value, table, at.clone()),
            _ => {
                let message = format!("node `{}` must be a table", key.value);
                section.reader.add(Fault::error(
                    "wrong-type",
                    &section.reader.position(value.span()),
                    message,
                ));
                Body::default()
            }
        };
        if faults.count_hard() > before {
            gaps.nodes.insert(key.value.to_owned());
        }
        let kind = kind.unwrap_or_else(|| {
            gaps.kinds.insert(key.value.to_owned());
            unknown_kind(key.value, &at)
        });
        nodes.extend(name.map(|name| Node { name, title, kind, set, at }));
    }
    nodes
}

/// Stands for a kind that cannot be read: of all kinds this one asks least of what is around it.
fn unknown_kind(name: &str, at: &Position) -> NodeKind {
    NodeKind::Approval { question: Expression::unknown(Part::Node(name.to_owned()), at.clone()) }
}

/// What a node performs, if that could be read, and what it sets.
#[derive(Default)]
struct Body {
    title: String,
    /// Nothing if it cannot be read.
    kind: Option<NodeKind>,
    set: Vec<Assignment>,
}

fn read_node<'t>(section: &Section<'t>, name: &str, table: &'t DeTable<'t>, at: Position) -> Body {
    let part = Part::Node(name.to_owned());
    let title = format!("node `{name}`");
    let open = |title: String, known: &[&str]| {
        Section::new(section.reader, table, title, part.clone(), at.clone(), known)
    };
    let all: Vec<&str> = entries_of(table).iter().map(|(key, _)| key.value).collect();
    let any = open(title.clone(), &all);
    let unknown = || Body { kind: None, set: read_set(&any, "set"), ..Body::default() };
    let Some(word) = any.needed_text("kind") else { return unknown() };
    let Some((kind, known)) = KINDS.iter().find(|(kind, _)| *kind == word.value) else {
        let kinds: Vec<&str> = KINDS.iter().map(|(kind, _)| *kind).collect();
        let message = format!("there is no kind of node called `{}`", word.value);
        let fault = Fault::error("unknown-kind", &section.reader.position(word.literal), message);
        let nearest = find_nearest(word.value, kinds.iter().copied());
        let hint = || format!("the kinds are {}", list_names(&kinds));
        section.reader.add(
            nearest.map_or_else(|| fault.clone().with_hint(hint()), |_| fault.clone().with_nearest(nearest)),
        );
        return unknown();
    };
    let node = open(format!("{kind} {title}"), known);
    let set = read_set(&node, "set");
    let title = node.text("title").map(|text| text.value.to_owned()).unwrap_or_default();
    let kind = match *kind {
        "agent" => read_agent(&node),
        "map" => read_map(&node),
        "approval" => Some(NodeKind::Approval { question: node.needed_expression("question") }),
        "check" => Some(read_check(&node)),
        "parallel" => read_parallel(&node),
        "pass" => Some(NodeKind::Pass),
        _ => Some(read_end(&node)),
    };
    Body { title, kind, set }
}

fn read_agent(node: &Section<'_>) -> Option<NodeKind> {
    let role = node.needed_text("role").and_then(|text| read_name(node.reader, &text));
    let prompt = node.text("prompt").and_then(|text| read_name(node.reader, &text));
    let input = read_inputs(node);
    let task = node.expression("task");
    let writes = node.boolean("writes").unwrap_or(true);
    let findings = node.expression("findings");
    Some(NodeKind::Agent { role: role?, prompt, input, task, writes, findings })
}

fn read_inputs(node: &Section<'_>) -> Vec<(Named, Expression)> {
    let Some((table, _)) = node.table("input") else { return Vec::new() };
    let mut inputs = Vec::new();
    for (key, value) in entries_of(table) {
        let name = read_name(node.reader, &key);
        let value = node.expression_of(key.value, value);
        inputs.extend(name.map(|name| (name, value)));
    }
    inputs
}

fn read_map(node: &Section<'_>) -> Option<NodeKind> {
    let workflow = node.needed_text("workflow").and_then(|text| read_name(node.reader, &text));
    let items = node.needed_expression("items");
    let key = node.needed_expression("key");
    let depends = node.expression("depends");
    let max_parallel = node.limit("max_parallel");
    Some(NodeKind::Map { workflow: workflow?, items, key, depends, max_parallel })
}

fn read_check(node: &Section<'_>) -> NodeKind {
    let named = |value| {
        let text = text_of(value)?;
        Some(Named { name: text.value.to_owned(), at: node.reader.position(text.literal) })
    };
    NodeKind::Check { names: node.list("checks", "a list of texts", named), task: node.expression("task") }
}

fn read_parallel(node: &Section<'_>) -> Option<NodeKind> {
    if !node.has("nodes") {
        node.missing("nodes", "add `nodes = […]` with the names of agent and check nodes".to_owned());
    }
    let nodes = read_targets(node, "nodes", "a list of the names of nodes")?;
    Some(NodeKind::Parallel { nodes })
}

fn read_end(node: &Section<'_>) -> NodeKind {
    let status = match node.text("status") {
        None => EndStatus::Completed,
        Some(text) if text.value == "completed" => EndStatus::Completed,
        Some(text) if text.value == "failed" => EndStatus::Failed,
        Some(text) => {
            let message = format!("an end is not `{}`", text.value);
            let fault = Fault::error("bad-status", &node.reader.position(text.literal), message);
            node.reader.add(fault.with_hint("`status` is `completed` or `failed`"));
            EndStatus::Failed
        }
    };
    NodeKind::End { status, reason: node.expression("reason"), result: node.expression("result") }
}

/// Reads the assignments of a `set`.
pub(crate) fn read_set(section: &Section<'_>, key: &str) -> Vec<Assignment> {
    let Some((table, _)) = section.table(key) else { return Vec::new() };
    let mut set = Vec::new();
    for (key, value) in entries_of(table) {
        let at = section.reader.position(key.literal.clone());
        let place = section.reader.place(&key, section.part());
        let value = section.expression_of(key.value, value);
        set.push(Assignment { place, value, at });
    }
    set
}
