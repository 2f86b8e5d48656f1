//! The levels of `workflow.toml`.

use std::collections::BTreeMap;

use toml::de::{DeTable, DeValue};

use crate::expression::Part;
use crate::fault::Fault;
use crate::load::head::read_target;
use crate::load::section::{Section, Text, entries_of, text_of};
use crate::workflow::{Level, Named, ONLY_LEVEL};

/// The keys of a level.
const KEYS: &[&str] = &["title", "start", "fields", "default"];

/// Reads the levels. A workflow without any has one, which uses everything.
pub(crate) fn read(section: &Section<'_>) -> BTreeMap<u32, Level> {
    let mut levels = BTreeMap::new();
    if let Some((table, _)) = section.table("levels") {
        for (key, value) in entries_of(table) {
            let level = read_number(section, &key).zip(value.get_ref().as_table());
            levels.extend(level.map(|(number, table)| (number, read_level(section, number, table, &key))));
            if !matches!(value.get_ref(), DeValue::Table(_)) {
                let message = format!("level {} must be a table", key.value);
                section.reader.add(Fault::error(
                    "wrong-type",
                    &section.reader.position(value.span()),
                    message,
                ));
            }
        }
    }
    if levels.is_empty() {
        let only = Level {
            number: ONLY_LEVEL,
            title: String::new(),
            start: None,
            fields: None,
            default: true,
            at: section.header().clone(),
        };
        levels.insert(ONLY_LEVEL, only);
    }
    levels
}

fn read_number(section: &Section<'_>, key: &Text<'_>) -> Option<u32> {
    let number = key.value.parse().ok().filter(|number: &u32| *number > 0 && number.to_string() == key.value);
    if number.is_none() {
        let at = section.reader.position(key.literal.clone());
        let message = format!("a level is a whole number from 1, not `{}`", key.value);
        section.reader.add(Fault::error("bad-name", &at, message));
    }
    number
}

fn read_level<'t>(section: &Section<'t>, number: u32, table: &'t DeTable<'t>, key: &Text<'_>) -> Level {
    let at = section.reader.position(key.literal.clone());
    let title = format!("level {number}");
    let level = Section::new(section.reader, table, title, Part::Workflow, at.clone(), KEYS);
    let field = |value| {
        let text = text_of(value)?;
        Some(Named { name: text.value.to_owned(), at: level.reader.position(text.literal) })
    };
    Level {
        number,
        title: level.text("title").map(|text| text.value.to_owned()).unwrap_or_default(),
        start: level.text("start").and_then(|text| read_target(level.reader, &text)),
        fields: level.list("fields", "a list of texts", field),
        default: level.boolean("default").unwrap_or_default(),
        at,
    }
}
