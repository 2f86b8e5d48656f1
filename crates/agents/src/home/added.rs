//! Adds what a session needs to the settings in its home.

use std::io;
use std::path::Path;

use serde_json::{Map, Value};

use super::fields::parse_json;
use super::inside::Inside;

/// Adds fields to a file of settings in a home; what was copied of the user's stays, unless a field has the same name.
pub(crate) fn add_settings(home: &Path, path: &str, fields: &Value) -> io::Result<()> {
    let inside = Inside::open(home)?;
    let copied = inside.read(path).and_then(|text| parse_json(&text));
    let mut settings = copied.and_then(|value| value.as_object().cloned()).unwrap_or_else(Map::new);
    settings
        .extend(fields.as_object().into_iter().flatten().map(|(name, value)| (name.clone(), value.clone())));
    inside.write(path, &format!("{:#}\n", Value::Object(settings)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_was_copied_stays() {
        let home = tempfile::tempdir().unwrap();
        let read = || -> Value {
            let text = std::fs::read_to_string(home.path().join(".agent/settings.json")).unwrap();
            serde_json::from_str(&text).unwrap()
        };
        add_settings(home.path(), ".agent/settings.json", &json!({"servers": {"one": 1}})).unwrap();
        assert_eq!(read(), json!({"servers": {"one": 1}}));
        std::fs::write(home.path().join(".agent/settings.json"), "// mine\n{\"model\": \"m\"}").unwrap();
        add_settings(home.path(), ".agent/settings.json", &json!({"servers": {"two": 2}})).unwrap();
        assert_eq!(read(), json!({"model": "m", "servers": {"two": 2}}));
    }
}
