//! Flags made from a schema: each property of an input is one, `--max-iterations` for `max_iterations`.

use clap::{Arg, ArgAction, ArgMatches, Command};
use serde_json::{Map, Value};

/// Flags that every command has.
const EVERYWHERE: [&str; 4] = ["directory", "help", "json", "version"];

/// Adds the flags of a schema to a command; a property whose flag the command has already is left to `--input`.
pub(super) fn add(mut command: Command, schema: &Value) -> Command {
    for (name, property) in properties(schema) {
        let flag = flag_of(name);
        let is_taken = EVERYWHERE.contains(&flag.as_str())
            || command.get_arguments().any(|known| known.get_long() == Some(flag.as_str()));
        if !is_taken {
            command = command.arg(arg_of(name, flag, property));
        }
    }
    command
}

/// Reads the values that were given.
pub(super) fn read(schema: &Value, matches: &ArgMatches) -> Map<String, Value> {
    let mut fields = Map::new();
    for (name, property) in properties(schema) {
        let Ok(Some(values)) = matches.try_get_many::<String>(&id_of(name)) else { continue };
        let mut values = values.map(|text| value_of(text, property));
        let value = match property["type"].as_str() {
            Some("array") => Some(list_of(values)),
            _ => values.next_back(),
        };
        fields.extend(value.map(|value| (name.clone(), value)));
    }
    fields
}

/// Lists the flags of a schema, such as `--text TEXT`.
pub(crate) fn list(schema: &Value) -> Vec<String> {
    let shown = |(name, property): (&String, &Value)| match property["type"].as_str() {
        Some("boolean") => format!("--{}", flag_of(name)),
        _ => {
            let arg = arg_of(name, flag_of(name), property);
            let value = arg.get_value_names().and_then(<[_]>::first).map_or("VALUE", |value| value.as_str());
            format!("--{} {value}", flag_of(name))
        }
    };
    properties(schema).map(shown).collect()
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema["properties"].as_object().into_iter().flatten()
}

fn arg_of(name: &str, flag: String, property: &Value) -> Arg {
    let about = property["description"].as_str().or(property["title"].as_str()).unwrap_or_default();
    let arg = Arg::new(id_of(name)).long(flag).help(about.to_owned());
    match property["type"].as_str() {
        Some("boolean") => arg
            .num_args(0..=1)
            .require_equals(true)
            .default_missing_value("true")
            .value_name("BOOL")
            .value_parser(["true", "false"].map(str::to_owned)),
        Some("array") => arg.action(ArgAction::Append).value_name("VALUE").allow_hyphen_values(true),
        Some("string") => arg.value_name("TEXT").allow_hyphen_values(true),
        Some("integer" | "number") => arg.value_name("N").allow_negative_numbers(true),
        _ => arg.value_name("JSON").allow_hyphen_values(true),
    }
}

/// Flags of a schema and those of the command never have the same ID.
fn id_of(name: &str) -> String {
    format!("input:{name}")
}

fn flag_of(name: &str) -> String {
    let mut flag = String::new();
    for character in name.chars() {
        if character.is_ascii_uppercase() && !flag.is_empty() {
            flag.push('-');
        }
        flag.push(if character == '_' { '-' } else { character.to_ascii_lowercase() });
    }
    flag
}

/// A text stays one, even if it looks like a number.
fn value_of(text: &str, property: &Value) -> Value {
    match property["type"].as_str() {
        Some("string") => Value::from(text),
        Some("array") if property["items"]["type"] == "string" && !text.starts_with('[') => Value::from(text),
        _ => regatta_expr::read_json(text).unwrap_or_else(|_| Value::from(text)),
    }
}

/// A flag that is repeated adds an item; one that is a list stands for its items.
fn list_of(values: impl Iterator<Item = Value>) -> Value {
    let items = values.flat_map(|value| match value {
        Value::Array(items) => items,
        value => vec![value],
    });
    items.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn schema() -> Value {
        json!({ "properties": {
            "text": { "type": "string" },
            "max_iterations": { "type": "integer" },
            "dryRun": { "type": "boolean" },
            "files": { "type": "array", "items": { "type": "string" } },
            "limits": { "type": "object" },
            "json": { "type": "string" },
        } })
    }

    fn parse(words: &[&str]) -> Result<Value, String> {
        let command = Command::new("it").no_binary_name(true).arg(Arg::new("json").long("json"));
        let matches =
            add(command, &schema()).try_get_matches_from(words).map_err(|error| error.to_string())?;
        Ok(Value::Object(read(&schema(), &matches)))
    }

    #[test]
    fn each_property_is_a_flag() {
        let given = [
            "--text",
            "7",
            "--max-iterations=5",
            "--dry-run",
            "--files",
            "a",
            "--files",
            "b",
            "--limits",
            "{\"a\": 1}",
        ];
        let expected = json!({
            "text": "7", "max_iterations": 5, "dryRun": true, "files": ["a", "b"], "limits": { "a": 1 },
        });
        assert_eq!(parse(&given), Ok(expected));
        assert_eq!(
            parse(&["--files", "[\"a\", \"b\"]", "--dry-run=false"]),
            Ok(json!({ "dryRun": false, "files": ["a", "b"] }))
        );
        assert_eq!(
            parse(&["--text", "-x", "--max-iterations", "-1"]),
            Ok(json!({ "text": "-x", "max_iterations": -1 }))
        );
        assert_eq!(parse(&["--json", "x"]), Ok(json!({})), "the command has that flag itself");
    }

    #[test]
    fn flags_are_listed_with_what_follows_them() {
        let listed = list(&schema()).join(" ");
        assert_eq!(
            listed,
            "--text TEXT --max-iterations N --dry-run --files VALUE --limits JSON --json TEXT"
        );
    }

    #[test]
    fn a_mistyped_flag_is_answered_with_the_nearest() {
        let error = parse(&["--max-iteration", "5"]).unwrap_err();
        assert!(error.contains("'--max-iterations'"), "{error}");
    }
}
