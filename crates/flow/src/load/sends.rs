//! The messages of `workflow.toml`: `send` of an edge, a route or a signal, one table or a list of them.

use toml::de::DeTable;

use crate::fault::Position;
use crate::load::head::read_name;
use crate::load::section::Section;
use crate::workflow::Send;

/// The keys of a message.
const KEYS: &[&str] = &["to", "kind", "from", "subject", "body", "data", "when"];

/// Reads the messages of a section. One without a recipient or a kind is left out.
pub(crate) fn read(section: &Section<'_>) -> Vec<Send> {
    let tables = if section.is_list("send") {
        section.tables("send")
    } else {
        section.table("send").into_iter().collect()
    };
    tables.into_iter().filter_map(|(table, at)| read_send(section, table, at)).collect()
}

fn read_send<'t>(around: &Section<'t>, table: &'t DeTable<'t>, at: Position) -> Option<Send> {
    let title = format!("a message of {}", around.part());
    let send = Section::new(around.reader, table, title, around.part().clone(), at, KEYS);
    let to = send.needed_text("to").and_then(|text| read_name(send.reader, &text));
    let kind = send.needed_text("kind").and_then(|text| read_name(send.reader, &text));
    let from = send.text("from").and_then(|text| read_name(send.reader, &text));
    let [subject, body, data, when] = ["subject", "body", "data", "when"].map(|key| send.expression(key));
    let at = send.header().clone();
    Some(Send { to: to?, kind: kind?, from, subject, body, data, when, at })
}
