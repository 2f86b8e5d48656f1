//! The signals of `workflow.toml`: what people, programs and agents can tell a run.

use std::sync::Arc;

use toml::de::{DeTable, DeValue};

use crate::expression::Part;
use crate::fault::{Fault, Position};
use crate::load::Loading;
use crate::load::head::{read_name, read_target};
use crate::load::nodes::read_set;
use crate::load::section::{Section, Text, entries_of, text_of};
use crate::load::sends;
use crate::variables::Local;
use crate::workflow::Signal;

/// The keys of a signal.
const KEYS: &[&str] = &["title", "input", "when", "set", "send", "to", "roles"];

impl Loading<'_> {
    /// Reads the signals in the order of the file. One whose schema cannot be read is left out.
    pub(super) fn read_signals(&self, prefix: &str, section: &Section<'_>) -> Vec<Signal> {
        let Some((table, _)) = section.table("signals") else { return Vec::new() };
        let mut signals = Vec::new();
        for (key, value) in entries_of(table) {
            let at = section.reader.position(key.literal.clone());
            match value.get_ref() {
                DeValue::Table(table) => signals.extend(self.read_signal(prefix, section, (&key, at), table)),
                _ => {
                    let at = section.reader.position(value.span());
                    let message = format!("signal `{}` must be a table", key.value);
                    section.reader.add(Fault::error("wrong-type", &at, message));
                }
            }
        }
        signals
    }

    fn read_signal<'t>(
        &self,
        prefix: &str,
        around: &Section<'t>,
        (key, at): (&Text<'_>, Position),
        table: &'t DeTable<'t>,
    ) -> Option<Signal> {
        let name = read_name(around.reader, key);
        let part = Part::Signal(key.value.to_owned());
        let section = Section::new(around.reader, table, part.to_string(), part, at.clone(), KEYS);
        let section = section.with_local(Local::Signal);
        let title = section.text("title").map(|text| text.value.to_owned()).unwrap_or_default();
        let input = section.needed_text("input").and_then(|file| {
            let at = section.reader.position(file.literal);
            let source = self.needed_file(&format!("{prefix}{}", file.value), &at)?;
            self.compile_schema(&source)
        });
        let when = section.expression("when");
        let set = read_set(&section, "set");
        let send = sends::read(&section);
        let to = section.text("to").and_then(|text| read_target(section.reader, &text));
        let roles = section.list("roles", "a list of the names of roles", text_of).unwrap_or_default();
        let roles = roles.iter().filter_map(|text| read_name(section.reader, text)).collect();
        Some(Signal { name: name?.name, title, input: Arc::new(input?), when, set, send, to, roles, at })
    }
}
