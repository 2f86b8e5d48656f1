//! The top of `workflow.toml`: name, title, start, the names for places, and the board.

use toml::de::DeValue;

use crate::expression::Part;
use crate::fault::Fault;
use crate::load::section::{Reader, Section, Text, entries_of, text_of};
use crate::name::{NAME_CHARACTERS_MAX, NodeName, is_name};
use crate::workflow::{Bind, Board, Named, Target};

/// The keys of a workflow.
pub(crate) const KEYS: &[&str] = &[
    "name", "title", "start", "input", "state", "folder", "bind", "view", "board", "nodes", "edges",
    "signals", "levels", "files",
];

/// The keys of a board.
const BOARD_KEYS: &[&str] =
    &["items", "key", "title", "description", "criteria", "priority", "depends", "branch", "base"];

/// What stands at the top.
pub(crate) struct Head {
    /// May be missing, and then the workflow does not load.
    pub(crate) name: String,
    pub(crate) title: String,
    pub(crate) start: Option<Target>,
}

impl Head {
    pub(crate) fn read(section: &Section<'_>) -> Head {
        let name = section.needed_text("name").and_then(|text| read_name(section.reader, &text));
        let title = section.text("title").map(|text| text.value.to_owned()).unwrap_or_default();
        let start = section.needed_text("start").and_then(|text| read_target(section.reader, &text));
        Head { name: name.map(|name| name.name).unwrap_or_default(), title, start }
    }
}

/// Returns the names under `[bind]`, also those whose places are at fault.
pub(crate) fn bind_names(section: &Section<'_>) -> Vec<String> {
    let table = section.entries().into_iter().find(|(key, _)| key.value == "bind");
    let Some(DeValue::Table(table)) = table.map(|(_, value)| value.get_ref()) else { return Vec::new() };
    entries_of(table).into_iter().map(|(key, _)| key.value.to_owned()).collect()
}

pub(crate) fn read_bind(section: &Section<'_>) -> Vec<Bind> {
    let Some((table, _)) = section.table("bind") else { return Vec::new() };
    let mut binds = Vec::new();
    for (key, value) in entries_of(table) {
        let part = Part::Bind(key.value.to_owned());
        check_variable(section.reader, &key);
        match text_of(value) {
            Some(text) => {
                let at = section.reader.position(text.literal.clone());
                let place = section.reader.place(&text, &part);
                if place.is_known() {
                    binds.push(Bind { name: key.value.to_owned(), place, at });
                }
            }
            None => section.not_an_expression(key.value, value),
        }
    }
    binds
}

pub(crate) fn check_variable(reader: Reader<'_>, key: &Text<'_>) {
    let is_variable = key.value.starts_with(|c: char| c.is_ascii_alphabetic())
        && key.value.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    // What JSONata knows itself is not asked for from outside.
    let is_free = regatta_expr::Expression::compile(&format!("${}", key.value))
        .is_ok_and(|expression| expression.reads().variables.iter().any(|name| name == key.value));
    if !is_variable || !is_free {
        let message = format!("`{}` cannot be the name of a variable", key.value);
        let fault = Fault::error("bad-name", &reader.position(key.literal.clone()), message);
        let hint = "use letters, digits and `_`, starting with a letter; it must not be a JSONata function";
        reader.add(fault.with_hint(hint));
    }
}

pub(crate) fn read_board(section: &Section<'_>) -> Option<Board> {
    let (table, at) = section.table("board")?;
    let board =
        Section::new(section.reader, table, "the board".to_owned(), Part::Board, at.clone(), BOARD_KEYS);
    let items = board.needed_expression("items");
    let key = board.needed_expression("key");
    let [title, description, criteria, priority, depends, branch, base] =
        ["title", "description", "criteria", "priority", "depends", "branch", "base"]
            .map(|key| board.expression(key));
    Some(Board { items, key, title, description, criteria, priority, depends, branch, base, at })
}

/// Reads a name of any kind.
pub(crate) fn read_name(reader: Reader<'_>, text: &Text<'_>) -> Option<Named> {
    let at = reader.position(text.literal.clone());
    if is_name(text.value) {
        return Some(Named { name: text.value.to_owned(), at });
    }
    let fault = Fault::error("bad-name", &at, format!("`{}` is not a valid name", text.value));
    let hint = format!(
        "use letters, digits, `_` and `-`, starting with a letter, at most {NAME_CHARACTERS_MAX} characters"
    );
    reader.add(fault.with_hint(hint));
    None
}

/// Reads a list of names of nodes, at least one and none twice.
pub(crate) fn read_targets(section: &Section<'_>, key: &str, wanted: &str) -> Option<Vec<Target>> {
    let names = section.list(key, wanted, text_of)?;
    let mut nodes: Vec<Target> = Vec::new();
    for text in names {
        let node = read_target(section.reader, &text)?;
        if nodes.iter().any(|other| other.name == node.name) {
            let message = format!("`{}` is named twice", node.name);
            section.reader.add(Fault::error("duplicate-name", &node.at, message).with_hint("remove one"));
        } else {
            nodes.push(node);
        }
    }
    if nodes.is_empty() {
        section.missing(key, format!("add `{key} = …`"));
    }
    Some(nodes).filter(|nodes| !nodes.is_empty())
}

/// Reads the name of a node that something leads to.
pub(crate) fn read_target(reader: Reader<'_>, text: &Text<'_>) -> Option<Target> {
    let Named { name, at } = read_name(reader, text)?;
    Some(Target { name: NodeName::parse(&name).ok()?, at })
}
