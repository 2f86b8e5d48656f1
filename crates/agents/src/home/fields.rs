//! Picks the known fields of a file, whatever its format. Pure: text in, text out.

use serde_json::{Map, Value};

use super::description::{Format, Given};

/// Larger files are no settings and no logins.
pub(super) const FILE_BYTES_MAX: usize = 256 * 1024;

/// Returns what is copied of a file; nothing when it cannot be read or holds nothing known.
pub(super) fn pick(given: &Given, text: &str) -> Option<String> {
    match given.format {
        Format::Text => Some(text.to_owned()),
        Format::Variables => pick_lines(text, '=', given.fields),
        Format::Yaml => pick_lines(text, ':', given.fields),
        Format::Json => {
            let value = pick_value(&parse_json(text)?, given.fields)?;
            Some(render_json(&value, text))
        }
        Format::Toml => {
            let value: toml::Value = toml::from_str(text).ok()?;
            let value = pick_value(&serde_json::to_value(value).ok()?, given.fields)?;
            toml::to_string(&value).ok()
        }
    }
}

/// Reads JSON that may have comments and trailing commas.
pub(super) fn parse_json(text: &str) -> Option<Value> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    serde_json::from_str(text).ok().or_else(|| serde_json::from_str(&without_comments(text)).ok())
}

/// Writes JSON in the style of the text that it replaces: on one line or on several.
pub(super) fn render_json(value: &Value, like: &str) -> String {
    let text = if like.trim_end().contains('\n') { format!("{value:#}") } else { value.to_string() };
    if like.ends_with('\n') { text + "\n" } else { text }
}

/// Returns the fields that a list of patterns names.
pub(super) fn pick_value(value: &Value, patterns: &[&str]) -> Option<Value> {
    let mut found = Map::new();
    for pattern in patterns {
        let names: Vec<&str> = pattern.split('/').collect();
        copy(value, &names, &mut found);
    }
    (!found.is_empty()).then_some(Value::Object(found))
}

fn copy(from: &Value, names: &[&str], into: &mut Map<String, Value>) {
    let (Some(fields), Some((first, rest))) = (from.as_object(), names.split_first()) else { return };
    for (name, value) in fields.iter().filter(|(name, _)| matches(first, name)) {
        if rest.is_empty() {
            into.insert(name.clone(), value.clone());
            continue;
        }
        let mut below = match into.get(name) {
            Some(Value::Object(below)) => below.clone(),
            _ => Map::new(),
        };
        copy(value, rest, &mut below);
        if !below.is_empty() {
            into.insert(name.clone(), Value::Object(below));
        }
    }
}

/// Tells whether a name fits a pattern in which `*` stands for any characters.
pub(super) fn matches(pattern: &str, name: &str) -> bool {
    let Some((first, rest)) = pattern.split_once('*') else { return pattern == name };
    let Some(mut left) = name.strip_prefix(first) else { return false };
    let pieces: Vec<&str> = rest.split('*').collect();
    let (last, middle) = pieces.split_last().map_or(("", &[][..]), |(last, middle)| (*last, middle));
    for piece in middle {
        let Some(at) = left.find(piece) else { return false };
        left = &left[at + piece.len()..];
    }
    left.ends_with(last)
}

/// Keeps the lines that give a value to a known name; in YAML only those at the top, with the value on the same line.
fn pick_lines(text: &str, sign: char, patterns: &[&str]) -> Option<String> {
    let is_known = |line: &&str| {
        let (name, value) = line.split_once(sign).unwrap_or(("", ""));
        let name = if sign == '=' { name.trim_start_matches("export ").trim() } else { name };
        let is_block =
            matches!(value.trim(), "" | "|" | ">" | "|-" | ">-") || value.contains(['{', '[', '&', '*']);
        patterns.iter().any(|pattern| matches(pattern, name)) && (sign == '=' || !is_block)
    };
    let kept: String = text.lines().filter(is_known).map(|line| format!("{line}\n")).collect();
    (!kept.is_empty()).then_some(kept)
}

/// Blanks comments and trailing commas outside of strings.
fn without_comments(text: &str) -> String {
    let mut clean = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    let mut is_text = false;
    while let Some(character) = characters.next() {
        match (is_text, character, characters.peek()) {
            (true, '\\', Some(_)) => {
                clean.push(character);
                clean.extend(characters.next());
                continue;
            }
            (_, '"', _) => is_text = !is_text,
            (false, '/', Some('/')) => {
                while characters.peek().is_some_and(|next| *next != '\n') {
                    characters.next();
                }
                continue;
            }
            (false, '/', Some('*')) => {
                let mut before = ' ';
                for next in characters.by_ref() {
                    if before == '*' && next == '/' {
                        break;
                    }
                    before = next;
                }
                continue;
            }
            (false, '}' | ']', _) => {
                let end = clean.trim_end().len();
                if clean[..end].ends_with(',') {
                    clean.truncate(end - 1);
                }
            }
            _ => {}
        }
        clean.push(character);
    }
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn picked(format: Format, fields: &'static [&'static str], text: &str) -> Option<String> {
        pick(&Given::settings("x", format, fields), text)
    }

    #[test]
    fn only_known_fields_are_copied() {
        let json = "{\n  // mine\n  \"model\": \"m\", \"env\": {\"ANTHROPIC_URL\": \"u\", \"AWS_KEY\": \"s\"},\n  \"hooks\": {\"x\": 1},\n}\n";
        let shown = picked(Format::Json, &["model", "env/ANTHROPIC_*", "missing/x"], json);
        assert_eq!(
            shown.unwrap(),
            "{\n  \"model\": \"m\",\n  \"env\": {\n    \"ANTHROPIC_URL\": \"u\"\n  }\n}\n"
        );
        let toml = "model = 'm'\nnotify = ['evil']\n[model_providers.a]\nname = 'a'\n[mcp_servers.x]\ncommand = 'evil'\n";
        let shown = picked(Format::Toml, &["model", "model_providers"], toml).unwrap();
        assert_eq!(shown, "model = \"m\"\n\n[model_providers.a]\nname = \"a\"\n");
        let variables = "# c\nexport GEMINI_API_KEY=k\nDATABASE_URL=secret\n";
        assert_eq!(
            picked(Format::Variables, &["GEMINI_API_KEY"], variables).unwrap(),
            "export GEMINI_API_KEY=k\n"
        );
        let yaml = "GOOSE_MODEL: m\nGOOSE_LIST: [a]\nextensions:\n  x:\n    GOOSE_IN: 1\nOTHER: s\n";
        assert_eq!(picked(Format::Yaml, &["GOOSE_*"], yaml).unwrap(), "GOOSE_MODEL: m\n");
        for broken in ["", "[", "{\"a\":", "\"text\"", "{}"] {
            assert_eq!(picked(Format::Json, &["model"], broken), None, "{broken}");
        }
    }

    #[test]
    fn comments_go_and_texts_stay() {
        let text = r#"{"a": "// no \" /* no */", /* yes , */ "b": [1, 2,], // yes
        }"#;
        assert_eq!(parse_json(text).unwrap().to_string(), r#"{"a":"// no \" /* no */","b":[1,2]}"#);
    }

    #[test]
    fn patterns_have_stars() {
        for (pattern, name, fits) in [
            ("*.sqlite*", "state_5.sqlite-wal", true),
            ("*.sqlite*", "auth.json", false),
            ("opencode.db*", "opencode.db", true),
            ("a*b*c", "axxbyyc", true),
            ("a*b*c", "acb", false),
            ("plain", "plain2", false),
        ] {
            assert_eq!(matches(pattern, name), fits, "{pattern} {name}");
        }
    }
}
