//! What a run is given: a requirements document, a JSON document, and single values, one on top of the other.

use crate::arguments::Place;
use crate::verb::text_file::TextFile;
use clap::Args;
use regatta_engine::core::document::find_title;
use regatta_engine::core::{FieldFault, PrdSlug, Problem};
use regatta_engine::{Project, documents, orders};
use serde_json::{Map, Value, json};
use std::path::PathBuf;

/// What a document is called that has no heading and no file.
const UNTITLED: &str = "Requirements";

/// How the schema of a workflow says that a field is not there.
const MISSING: &str = " is a required property";

/// The options that make up the input of a run.
#[derive(Args)]
pub(super) struct Input {
    /// Requirements document: a file, `-` for stdin, or the slug of a PRD.
    #[arg(long, value_name = "FILE|-|SLUG")]
    prd: Option<String>,
    /// Title of the document [default: its first heading or the file name].
    #[arg(long)]
    title: Option<String>,
    /// Input of the run: a JSON object, or `@FILE` to read it from a file.
    #[arg(long, value_name = "JSON|@FILE", value_parser = parse_given)]
    input: Option<Given>,
    /// Set one field of the input; the value is read as JSON if possible, else as text.
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_pair)]
    set: Vec<(String, Value)>,
    /// What the flags of the workflow say.
    #[arg(skip)]
    fields: Map<String, Value>,
}

/// A JSON object, or where it is.
#[derive(Debug, Clone)]
pub(super) enum Given {
    Here(Map<String, Value>),
    In(TextFile),
}

impl Input {
    /// Tells whether nothing is given.
    pub(super) fn is_empty(&self) -> bool {
        let is_without_flags = self.set.is_empty() && self.fields.is_empty();
        self.prd.is_none() && self.title.is_none() && self.input.is_none() && is_without_flags
    }

    /// Adds the fields that flags of the workflow give, and the title that stands without a flag.
    pub(super) fn add(&mut self, fields: Map<String, Value>, title: Option<String>) {
        self.fields = fields;
        self.title = title.or(self.title.take());
    }

    /// Says by which options a run is given what its workflow misses.
    pub(super) fn advise(problem: Problem) -> Problem {
        let fields = problem.details.get("fields").and_then(Value::as_array).into_iter().flatten();
        let faults =
            fields.filter(|fault| fault["field"] == "input").filter_map(|fault| fault["problem"].as_str());
        let missing: Vec<&str> = faults.filter_map(|fault| fault.strip_suffix(MISSING)).collect();
        let next = match missing.as_slice() {
            [] => return problem,
            missing if missing.contains(&"\"prd\"") => {
                "give the document with `--prd FILE`; its heading is the title; nothing was done"
            }
            ["\"title\""] => "give the title after the name of the workflow; nothing was done",
            _ => "give what is missing with its flag (`--KEY VALUE`) or `--input JSON`; nothing was done",
        };
        Problem { next: next.to_owned(), ..problem }
    }

    /// Reads the input, and the PRD that it was taken from, if it was one.
    pub(super) async fn read(
        &self,
        place: &Place,
        project: &Project,
    ) -> Result<(Value, Option<PrdSlug>), Problem> {
        let mut fields = self.read_document(place)?;
        let mut found = None;
        if let Some(prd) = &self.prd {
            let (text, title, slug) = self.read_prd(place, project, prd).await?;
            refuse_if_blank(&text)?;
            fields.insert("prd".to_owned(), text.into());
            fields.insert("title".to_owned(), title.into());
            found = slug;
        } else if let Some(title) = &self.title {
            fields.insert("title".to_owned(), title.clone().into());
        }
        fields.extend(self.fields.clone());
        for (key, value) in &self.set {
            set(&mut fields, key, value.clone())?;
        }
        Ok((Value::Object(fields), found))
    }

    fn read_document(&self, place: &Place) -> Result<Map<String, Value>, Problem> {
        self.input.as_ref().map_or_else(|| Ok(Map::new()), |given| read_given(place, given))
    }

    /// Reads the document, with what it is called and its slug if it is a PRD. A file comes before a PRD of the same name.
    async fn read_prd(
        &self,
        place: &Place,
        project: &Project,
        prd: &str,
    ) -> Result<(String, String, Option<PrdSlug>), Problem> {
        let is_file = prd == "-" || place.folder()?.join(prd).is_file();
        if !is_file && let Ok(slug) = prd.parse::<PrdSlug>() {
            let found = documents::get_prd(project, &slug).await?;
            return Ok((found.text, self.title.clone().unwrap_or(found.title), Some(slug)));
        }
        let file: TextFile = prd.parse().unwrap_or_else(|never| match never {});
        let text = file.read(place)?;
        let stem = file.stem();
        let found = self.title.as_deref().or_else(|| find_title(&text)).or(stem.as_deref());
        let title = found.unwrap_or(UNTITLED).to_owned();
        Ok((text, title, None))
    }
}

/// Reads a JSON object that was given.
pub(super) fn read_given(place: &Place, given: &Given) -> Result<Map<String, Value>, Problem> {
    match given {
        Given::Here(fields) => Ok(fields.clone()),
        Given::In(file) => parse_object(&file.read(place)?).map_err(|problem| bad("input", problem)),
    }
}

/// A document of nothing but white space asks for nothing, and an agent would make something up.
fn refuse_if_blank(text: &str) -> Result<(), Problem> {
    match text.trim().is_empty() {
        true => Err(bad("prd", "is blank: it has nothing to work from".to_owned())),
        false => Ok(()),
    }
}

/// Reads what follows `--input`. What is wrong with it is wrong usage; what is in a file is not.
pub(super) fn parse_given(text: &str) -> Result<Given, String> {
    match text.strip_prefix('@') {
        Some("-") => Ok(Given::In(TextFile::Standard)),
        Some(path) => Ok(Given::In(TextFile::File(PathBuf::from(path)))),
        None => parse_object(text).map(Given::Here),
    }
}

fn parse_object(text: &str) -> Result<Map<String, Value>, String> {
    match regatta_expr::read_json(text) {
        Ok(Value::Object(fields)) => Ok(fields),
        Ok(_) => Err("must be a JSON object".to_owned()),
        Err(error) => Err(format!("must be a JSON object: {error}")),
    }
}

pub(crate) fn parse_pair(text: &str) -> Result<(String, Value), String> {
    let (key, value) = text.split_once('=').ok_or("must be KEY=VALUE")?;
    Ok((key.to_owned(), read_value(value)))
}

fn read_value(text: &str) -> Value {
    regatta_expr::read_json(text).unwrap_or_else(|_| Value::from(text))
}

/// Sets a field, or one within it: `limits.days` is the field `days` of `limits`.
fn set(fields: &mut Map<String, Value>, key: &str, value: Value) -> Result<(), Problem> {
    let (name, rest) = match key.split_once('.') {
        Some((name, rest)) => (name, Some(rest)),
        None => (key, None),
    };
    if name.is_empty() {
        return Err(bad("set", format!("`{key}` names no field")));
    }
    let Some(rest) = rest else {
        fields.insert(name.to_owned(), value);
        return Ok(());
    };
    match fields.entry(name).or_insert_with(|| json!({})) {
        Value::Object(inner) => set(inner, rest, value),
        _ => Err(bad("set", format!("`{name}` is not an object, so it has no field `{rest}`"))),
    }
}

fn bad(field: &'static str, problem: String) -> Problem {
    orders::invalid(vec![FieldFault { field, problem }]).explain()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_says_something() {
        for blank in ["", " ", "\n\t\r\n", "\u{a0}\n"] {
            let problem = refuse_if_blank(blank).unwrap_err();
            assert_eq!(problem.details["fields"][0]["field"], "prd", "{problem:?}");
        }
        assert!(refuse_if_blank("\n# It\n").is_ok());
    }

    #[test]
    fn a_field_is_set_where_its_key_says() {
        let mut fields = Map::new();
        for (key, value) in [("a", "1"), ("b.c", "text"), ("b.d", "[true]"), ("a", "\"1\"")] {
            set(&mut fields, key, read_value(value)).unwrap();
        }
        assert_eq!(Value::Object(fields.clone()), json!({ "a": "1", "b": { "c": "text", "d": [true] } }));
        for bad in ["", ".a", "a.b", "b..c"] {
            assert!(set(&mut fields, bad, json!(1)).is_err(), "{bad}");
        }
    }
}
