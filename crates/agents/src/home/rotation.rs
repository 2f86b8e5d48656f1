//! Which of two versions of a login is newer, and what one takes over from the other. Pure.
//!
//! What comes from a session was written by an agent, so nothing of it is believed beyond the fields of a login: text or
//! number as before, of a plausible length, with a stamp that is newer and not far in the future.

use jiff::Timestamp;
use serde_json::{Map, Value};

use super::description::Rotation;

/// The longest token that is believed; those of today have up to a few thousand characters.
const TOKEN_CHARACTERS_MAX: usize = 16 * 1024;

/// A login that claims to be valid for longer would never be replaced again.
const VALID_DAYS_MAX: i64 = 400;

/// Returns `old` with the fields of the logins that are newer in `new`; nothing when none is.
pub(super) fn take_newer(rotation: &Rotation, old: &Value, new: &Value, now: Timestamp) -> Option<Value> {
    let mut taken = old.clone();
    let mut is_changed = false;
    for name in record_names(rotation, old) {
        let (Some(record), Some(from)) = (find_mut(&mut taken, name.as_deref()), find(new, name.as_deref()))
        else {
            continue;
        };
        if is_newer(rotation, record, from, now) {
            is_changed |= replace(rotation, record, from);
        }
    }
    is_changed.then_some(taken)
}

/// Tells whether a file holds a login that rotates.
pub(super) fn rotates(rotation: &Rotation, value: &Value) -> bool {
    let has_stamp = |name: &Option<String>| {
        find(value, name.as_deref()).is_some_and(|record| stamp(record.get(rotation.stamp)).is_some())
    };
    record_names(rotation, value).iter().any(has_stamp)
}

/// Returns the names of the records in a file; nothing as a name is the file itself.
fn record_names(rotation: &Rotation, value: &Value) -> Vec<Option<String>> {
    match rotation.record {
        "" => vec![None],
        "*" => value.as_object().map(|all| all.keys().cloned().map(Some).collect()).unwrap_or_default(),
        name => vec![Some(name.to_owned())],
    }
}

fn find<'a>(value: &'a Value, name: Option<&str>) -> Option<&'a Map<String, Value>> {
    name.map_or(Some(value), |name| value.get(name))?.as_object()
}

fn find_mut<'a>(value: &'a mut Value, name: Option<&str>) -> Option<&'a mut Map<String, Value>> {
    match name {
        Some(name) => value.get_mut(name)?.as_object_mut(),
        None => value.as_object_mut(),
    }
}

fn is_newer(rotation: &Rotation, old: &Map<String, Value>, new: &Map<String, Value>, now: Timestamp) -> bool {
    let (Some(before), Some(after)) = (stamp(old.get(rotation.stamp)), stamp(new.get(rotation.stamp))) else {
        return false;
    };
    let limit = now.as_millisecond().saturating_add(VALID_DAYS_MAX * 24 * 3_600_000);
    let is_same = |path: &&str| look(old, path) == look(new, path);
    after > before && after <= limit && rotation.same.iter().all(is_same)
}

/// Reads seconds, milliseconds or a time as text; in milliseconds.
fn stamp(value: Option<&Value>) -> Option<i64> {
    /// Milliseconds since 1970 passed this in 1973; seconds reach it in the year 5138.
    const MILLISECONDS_MIN: i64 = 100_000_000_000;
    match value? {
        Value::String(text) => text.parse::<Timestamp>().ok().map(Timestamp::as_millisecond),
        Value::Number(number) => {
            #[allow(clippy::cast_possible_truncation, reason = "a time with a fraction is as good without")]
            let number = number.as_i64().or_else(|| number.as_f64().map(|number| number as i64))?;
            Some(if number < MILLISECONDS_MIN { number.saturating_mul(1000) } else { number })
        }
        _ => None,
    }
}

fn look<'a>(record: &'a Map<String, Value>, path: &str) -> Option<&'a Value> {
    let (first, rest) = path.split_once('/').map_or((path, None), |(first, rest)| (first, Some(rest)));
    let value = record.get(first)?;
    rest.map_or(Some(value), |rest| look(value.as_object()?, rest))
}

fn replace(rotation: &Rotation, old: &mut Map<String, Value>, new: &Map<String, Value>) -> bool {
    // All or nothing: half of a login is worth less than an old one.
    let known: Vec<(&str, &Value)> =
        rotation.fields.iter().filter_map(|path| Some((*path, look(new, path)?))).collect();
    let fits = |(path, value): &(&str, &Value)| look(old, path).is_none_or(|before| is_alike(before, value));
    if !known.iter().all(fits) || !known.iter().any(|(path, _)| look(old, path).is_some()) {
        return false;
    }
    for (path, value) in known {
        // A field that was not there before is not added: it is not ours to say what belongs into the user's file.
        if let Some(place) = look_mut(old, path) {
            *place = value.clone();
        }
    }
    true
}

fn look_mut<'a>(record: &'a mut Map<String, Value>, path: &str) -> Option<&'a mut Value> {
    match path.split_once('/') {
        Some((first, rest)) => look_mut(record.get_mut(first)?.as_object_mut()?, rest),
        None => record.get_mut(path),
    }
}

fn is_alike(before: &Value, value: &Value) -> bool {
    match (before, value) {
        (Value::String(_), Value::String(text)) => {
            let length = text.chars().count();
            (1..=TOKEN_CHARACTERS_MAX).contains(&length) && !text.chars().any(char::is_control)
        }
        (Value::Number(_), Value::Number(_)) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    const CLAUDE: Rotation = Rotation {
        record: "claudeAiOauth",
        fields: &["accessToken", "refreshToken", "expiresAt"],
        stamp: "expiresAt",
        same: &[],
    };
    const CODEX: Rotation = Rotation {
        record: "",
        fields: &["tokens/access_token", "tokens/refresh_token", "last_refresh"],
        stamp: "last_refresh",
        same: &["tokens/account_id"],
    };
    const OPENCODE: Rotation =
        Rotation { record: "*", fields: &["access", "refresh", "expires"], stamp: "expires", same: &[] };

    fn now() -> Timestamp {
        Timestamp::from_millisecond(1_794_000_000_000).unwrap()
    }

    fn claude(token: &str, stamp: i64) -> Value {
        json!({"mcpOAuth": {"x": 1}, "claudeAiOauth": {"accessToken": token, "refreshToken": token, "expiresAt": stamp, "scopes": ["a"]}})
    }

    #[test]
    fn the_newer_login_wins_and_nothing_else_comes_along() {
        let old = claude("old", 1_794_000_000_000);
        let mut new = claude("new", 1_794_000_100_000);
        new["hooks"] = json!({"evil": 1});
        new["claudeAiOauth"]["scopes"] = json!(["everything"]);
        new["mcpOAuth"] = json!({});
        let taken = take_newer(&CLAUDE, &old, &new, now()).unwrap();
        assert_eq!(taken, claude("new", 1_794_000_100_000));
        assert_eq!(take_newer(&CLAUDE, &new, &old, now()), None, "an older one changes nothing");
        assert_eq!(take_newer(&CLAUDE, &old, &old, now()), None);
    }

    #[test]
    fn what_is_no_login_is_not_believed() {
        let old = claude("old", 1_794_000_000_000);
        let far = claude("new", 99_999_999_999_999);
        assert_eq!(take_newer(&CLAUDE, &old, &far, now()), None, "valid for ever");
        for (field, value) in [
            ("accessToken", json!("")),
            ("accessToken", json!("a\nb")),
            ("accessToken", json!({"a": 1})),
            ("accessToken", json!("x".repeat(TOKEN_CHARACTERS_MAX + 1))),
            ("refreshToken", Value::Null),
            ("expiresAt", json!("soon")),
        ] {
            let mut new = claude("new", 1_794_000_100_000);
            new["claudeAiOauth"][field] = value.clone();
            assert_eq!(take_newer(&CLAUDE, &old, &new, now()), None, "{field} {value}");
        }
        for new in [json!(null), json!([]), json!({"claudeAiOauth": 1})] {
            assert_eq!(take_newer(&CLAUDE, &old, &new, now()), None);
        }
        assert_eq!(take_newer(&CLAUDE, &json!({}), &claude("new", 1_794_000_100_000), now()), None);
    }

    #[test]
    fn one_account_does_not_replace_another() {
        let codex = |account: &str, token: &str, at: &str| {
            json!({"OPENAI_API_KEY": null, "last_refresh": at,
                   "tokens": {"access_token": token, "refresh_token": token, "account_id": account}})
        };
        let old = codex("a", "old", "2026-11-16T10:00:00Z");
        let new = codex("a", "new", "2026-11-16T11:00:00.5Z");
        assert_eq!(take_newer(&CODEX, &old, &new, now()), Some(new));
        assert_eq!(take_newer(&CODEX, &old, &codex("b", "new", "2026-11-16T11:00:00Z"), now()), None);
    }

    #[test]
    fn each_provider_is_a_login_of_its_own() {
        let old = json!({"a": {"type": "oauth", "access": "1", "refresh": "1", "expires": 1_794_000_000_000_i64},
                         "b": {"type": "api", "key": "k"}});
        let mut new = old.clone();
        new["a"]["access"] = json!("2");
        new["a"]["expires"] = json!(1_794_000_000_001_i64);
        new["b"]["key"] = json!("other");
        new["c"] = json!({"type": "oauth", "access": "3", "expires": 5});
        let taken = take_newer(&OPENCODE, &old, &new, now()).unwrap();
        assert_eq!(
            (&taken["a"]["access"], &taken["b"]["key"], taken.get("c")),
            (&json!("2"), &json!("k"), None)
        );
        assert!(rotates(&OPENCODE, &old) && !rotates(&OPENCODE, &json!({"b": {"type": "api", "key": "k"}})));
    }
}
