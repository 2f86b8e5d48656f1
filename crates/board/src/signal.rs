//! The dialog in which a person gives a run a signal: a field for each property of the signal's schema.
//!
//! The schema is data of a workflow. What it does not say in a form that a field has is asked for as JSON, and whether a value
//! fits is for the engine to say.

use crate::markup::{Markup, escape, render};
use crate::words;
use askama::Template;
use regatta_engine::core::RunId;
use regatta_engine::runs::SignalView;
use serde_json::Value;

/// The longest text that fits into a field of one line.
const LINE_CHARACTERS_MAX: u64 = 200;

/// The longest text that a field takes if its schema does not say.
const TEXT_CHARACTERS_MAX: u64 = 20_000;

#[derive(Template)]
#[template(path = "signal.html")]
struct Dialog<'a> {
    run: RunId,
    signal: &'a SignalView,
    title: String,
    fields: Vec<Field<'a>>,
}

/// One property of the input.
struct Field<'a> {
    name: &'a str,
    label: String,
    hint: &'a str,
    is_required: bool,
    kind: Kind,
}

/// How a value is written; `run.js` reads the same words in `data-kind`.
#[derive(Debug, PartialEq, Eq)]
enum Kind {
    Line { max: u64 },
    Text { max: u64 },
    Number { min: Option<String>, max: Option<String>, step: &'static str },
    Choice { options: Vec<String> },
    YesNo,
    Lines,
    Json,
}

impl Kind {
    fn of(schema: &Value) -> Self {
        let options = schema["enum"].as_array().into_iter().flatten().map(Value::as_str);
        let options: Option<Vec<String>> = options.map(|option| option.map(str::to_owned)).collect();
        let bound = |name: &str| schema[name].as_number().map(ToString::to_string);
        match (schema["type"].as_str(), options) {
            (Some("string") | None, Some(options)) if !options.is_empty() => Kind::Choice { options },
            (Some("string"), _) => match schema["maxLength"].as_u64() {
                Some(max) if max <= LINE_CHARACTERS_MAX => Kind::Line { max },
                max => Kind::Text { max: max.unwrap_or(TEXT_CHARACTERS_MAX) },
            },
            (Some("integer"), _) => Kind::Number { min: bound("minimum"), max: bound("maximum"), step: "1" },
            (Some("number"), _) => Kind::Number { min: bound("minimum"), max: bound("maximum"), step: "any" },
            (Some("boolean"), _) => Kind::YesNo,
            (Some("array"), _) if schema["items"]["type"] == "string" => Kind::Lines,
            _ => Kind::Json,
        }
    }

    fn word(&self) -> &'static str {
        match self {
            Kind::Line { .. } | Kind::Text { .. } | Kind::Choice { .. } => "text",
            Kind::Number { .. } => "number",
            Kind::YesNo => "boolean",
            Kind::Lines => "lines",
            Kind::Json => "json",
        }
    }
}

impl Field<'_> {
    /// Returns what every kind of field has.
    fn attributes(&self, number: &usize) -> Markup {
        let (name, kind) = (escape(self.name), self.kind.word());
        let required = if self.is_required { " required" } else { "" };
        let hint = match self.hint {
            "" => String::new(),
            _ => format!(" aria-describedby=\"signal-hint-{number}\""),
        };
        Markup::new(format!("id=\"signal-{number}\" name=\"{name}\" data-kind=\"{kind}\"{required}{hint}"))
    }
}

/// Lists the fields of an input: its properties, and what it requires without saying more.
fn fields(schema: &Value) -> Vec<Field<'_>> {
    let required: Vec<&str> =
        schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let properties = schema["properties"].as_object();
    let known = properties.into_iter().flatten().map(|(name, property)| (name.as_str(), property));
    let is_known = |name: &str| properties.is_some_and(|properties| properties.contains_key(name));
    let bare = required.iter().filter(|name| !is_known(name)).map(|name| (*name, &Value::Null));
    let field = |(name, property): (_, &'_ Value)| Field {
        name,
        label: label_of(name),
        hint: "",
        is_required: required.contains(&name),
        kind: Kind::of(property),
    };
    let mut fields: Vec<Field<'_>> = known.chain(bare).map(field).collect();
    for field in &mut fields {
        let property = &schema["properties"][field.name];
        if let Some(title) = property["title"].as_str() {
            field.label = words::one_line(title, 80);
        }
        field.hint = property["description"].as_str().unwrap_or_default();
    }
    fields
}

fn label_of(name: &str) -> String {
    words::sentence(&words::one_line(&name.replace('_', " "), 80))
}

/// Names a signal for people.
pub fn title(signal: &SignalView) -> String {
    match signal.title.as_str() {
        "" => label_of(&signal.name),
        title => words::one_line(title, 80),
    }
}

/// Renders the dialog.
pub fn dialog(run: RunId, signal: &SignalView) -> Markup {
    render(&Dialog { run, signal, title: title(signal), fields: fields(&signal.input) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn signal(input: Value) -> SignalView {
        SignalView { name: "extend".to_owned(), title: "Add \"work\"".to_owned(), input, to: None }
    }

    #[test]
    fn each_property_has_a_field_that_fits_its_type() {
        let kinds = [
            (json!({ "type": "string" }), Kind::Text { max: 20_000 }),
            (json!({ "type": "string", "maxLength": 80 }), Kind::Line { max: 80 }),
            (json!({ "enum": ["a", "b"] }), Kind::Choice { options: vec!["a".to_owned(), "b".to_owned()] }),
            (json!({ "enum": ["a", 1] }), Kind::Json),
            (
                json!({ "type": "integer", "minimum": 1 }),
                Kind::Number { min: Some("1".to_owned()), max: None, step: "1" },
            ),
            (json!({ "type": "boolean" }), Kind::YesNo),
            (json!({ "type": "array", "items": { "type": "string" } }), Kind::Lines),
            (json!({ "type": "array" }), Kind::Json),
            (json!({ "type": ["string", "null"] }), Kind::Json),
            (json!(true), Kind::Json),
        ];
        for (schema, kind) in kinds {
            assert_eq!(Kind::of(&schema), kind, "{schema}");
        }
    }

    #[test]
    fn what_is_required_without_a_property_is_asked_for_as_well() {
        let schema =
            json!({ "required": ["text"], "properties": { "max_iterations": { "type": "integer" } } });
        let fields = fields(&schema);
        let found: Vec<_> = fields.iter().map(|field| (field.label.as_str(), field.is_required)).collect();
        assert_eq!(found, [("Max iterations", false), ("Text", true)]);
    }

    #[test]
    fn a_schema_is_text() {
        let hostile = "\"><script>x</script>";
        let input = json!({ "properties": { hostile: { "title": hostile, "description": hostile, "enum": [hostile] } } });
        let html = dialog(RunId::new(7).unwrap(), &signal(input)).into_string();
        assert!(!html.contains("<script>") && !html.contains("\">x"), "{html}");
        assert!(html.contains("run 7") && html.contains("data-kind=\"text\""), "{html}");
    }
}
