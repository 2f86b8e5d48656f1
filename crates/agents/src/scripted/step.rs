//! Reads one step of a script: exactly one action, with what belongs to it.

use std::time::Duration;

use serde_json::{Map, Number, Value as Json};
use toml::de::{DeTable, DeValue};

use super::fault::FaultKind;
use super::parse::{Faults, Fields, Value, find_nearest};
use super::script::{Mishap, Step};
use super::template::Template;

const ACTIONS: &[&str] =
    &["say", "write", "append", "replace", "remove", "commit", "delay", "fault", "run", "exit", "result"];

const KEYS: &[&str] = &[
    "say", "write", "append", "replace", "remove", "commit", "delay", "fault", "run", "exit", "result",
    "bytes",
];

const MISHAPS: &[&str] = &["crash", "hang", "rate_limit", "network", "refused", "invalid_output", "flood"];

/// What a flood prints when nothing is said: more than any buffer on the way holds.
const FLOOD_BYTES_DEFAULT: u64 = 10_000_000;

/// Reads a step.
pub(super) fn read_step(value: &Value<'_>, faults: &mut Faults<'_>) -> Option<Step> {
    let table = faults.table("step", value)?;
    let mut fields = Fields::read(table, value.span(), KEYS, faults);
    let bytes = fields.take("bytes");
    let mut actions: Vec<&'static str> = ACTIONS.to_vec();
    actions.retain(|action| fields.names().any(|name| name == *action));
    let [action] = actions[..] else {
        if !actions.is_empty() {
            faults.add(fields.span(), FaultKind::SeveralActions { actions });
        } else if table.len() == usize::from(bytes.is_some()) {
            // With an unknown key in it, the step most likely has a mistyped action, which is reported already.
            faults.add(fields.span(), FaultKind::NoAction { known: ACTIONS });
        }
        return None;
    };
    let argument = fields.take(action)?;
    let step = read_action(action, argument, faults);
    match bytes {
        None => step,
        Some(bytes) => read_flood(step?, bytes, faults),
    }
}

fn read_action(action: &'static str, value: &Value<'_>, faults: &mut Faults<'_>) -> Option<Step> {
    match action {
        "say" => faults.template(action, value).map(Step::Say),
        "remove" => faults.template(action, value).map(Step::Remove),
        "commit" => read_message(value, faults).map(Step::Commit),
        "write" => {
            let [path, text] = read_templates(action, value, &["path", "text"], faults)?;
            Some(Step::Write { path, text })
        }
        "append" => {
            let [path, text] = read_templates(action, value, &["path", "text"], faults)?;
            Some(Step::Append { path, text })
        }
        "replace" => {
            let [path, from, to] = read_templates(action, value, &["path", "from", "to"], faults)?;
            Some(Step::Replace { path, from, to })
        }
        "delay" => read_delay(value, faults).map(Step::Delay),
        "fault" => read_mishap(value, faults).map(Step::Mishap),
        "run" => read_command(value, faults).map(Step::Run),
        "exit" => {
            let code = faults.integer("exit", value, 0..=255, "an exit code from 0 to 255")?;
            i32::try_from(code).ok().map(Step::Exit)
        }
        _ => {
            let table = faults.table("result", value)?;
            Some(Step::Result(read_object(table, faults)))
        }
    }
}

fn read_templates<const N: usize>(
    action: &'static str,
    value: &Value<'_>,
    keys: &'static [&'static str; N],
    faults: &mut Faults<'_>,
) -> Option<[Template; N]> {
    let table = faults.table(action, value)?;
    let mut fields = Fields::read(table, value.span(), keys, faults);
    let templates = keys.map(|key| fields.take_template(key, faults));
    let found: Option<Vec<Template>> = templates.into_iter().collect();
    found?.try_into().ok()
}

fn read_message(value: &Value<'_>, faults: &mut Faults<'_>) -> Option<Template> {
    if faults.string("commit", value)?.trim().is_empty() {
        let expected = "a message";
        faults.add(value.span(), FaultKind::NotAllowed { key: "commit", expected, found: String::new() });
        return None;
    }
    faults.template("commit", value)
}

fn read_command(value: &Value<'_>, faults: &mut Faults<'_>) -> Option<Vec<Template>> {
    let words = faults.list("run", value);
    if words.is_empty() && value.get_ref().is_array() {
        let expected = "a program and its arguments";
        faults.add(value.span(), FaultKind::NotAllowed { key: "run", expected, found: "[]".to_owned() });
        return None;
    }
    let command: Option<Vec<Template>> = words.iter().map(|word| faults.template("run", word)).collect();
    command.filter(|command| !command.is_empty())
}

fn read_delay(value: &Value<'_>, faults: &mut Faults<'_>) -> Option<Duration> {
    let text = faults.string("delay", value)?;
    let duration = parse_duration(text);
    if duration.is_none() {
        let expected = "a time such as 200ms, 5s or 2m";
        faults.add(value.span(), FaultKind::NotAllowed { key: "delay", expected, found: text.to_owned() });
    }
    duration
}

fn parse_duration(text: &str) -> Option<Duration> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let number: u64 = number.parse().ok()?;
    match unit {
        "ms" => Some(Duration::from_millis(number)),
        "s" => Some(Duration::from_secs(number)),
        "m" => number.checked_mul(60).map(Duration::from_secs),
        _ => None,
    }
}

fn read_mishap(value: &Value<'_>, faults: &mut Faults<'_>) -> Option<Mishap> {
    let name = faults.string("fault", value)?;
    let mishap = match name {
        "crash" => Mishap::Crash,
        "hang" => Mishap::Hang,
        "rate_limit" => Mishap::RateLimit,
        "network" => Mishap::Network,
        "refused" => Mishap::Refused,
        "invalid_output" => Mishap::InvalidOutput,
        "flood" => Mishap::Flood { bytes: FLOOD_BYTES_DEFAULT },
        _ => {
            let nearest = find_nearest(name, MISHAPS);
            let kind = FaultKind::UnknownMishap { name: name.to_owned(), nearest, known: MISHAPS };
            faults.add(value.span(), kind);
            return None;
        }
    };
    Some(mishap)
}

fn read_flood(step: Step, bytes: &Value<'_>, faults: &mut Faults<'_>) -> Option<Step> {
    if !matches!(step, Step::Mishap(Mishap::Flood { .. })) {
        faults.add(bytes.span(), FaultKind::BytesWithoutFlood);
        return None;
    }
    let bytes = faults.integer("bytes", bytes, 0..=i64::MAX, "0 or more")?;
    Some(Step::Mishap(Mishap::Flood { bytes: bytes.unsigned_abs() }))
}

/// Turns a table into JSON, in the order of the text; its strings are checked as templates.
fn read_object(table: &DeTable<'_>, faults: &mut Faults<'_>) -> Json {
    let mut entries: Vec<_> = table.iter().collect();
    entries.sort_by_key(|(key, _)| key.span().start);
    let read = |(key, value): (&toml::Spanned<std::borrow::Cow<'_, str>>, &Value<'_>)| {
        (key.get_ref().to_string(), read_json(value, faults))
    };
    Json::Object(entries.into_iter().map(read).collect::<Map<String, Json>>())
}

fn read_json(value: &Value<'_>, faults: &mut Faults<'_>) -> Json {
    match value.get_ref() {
        DeValue::String(text) => {
            faults.template("result", value);
            Json::String(text.to_string())
        }
        DeValue::Integer(integer) => i64::from_str_radix(integer.as_str(), integer.radix()).map_or_else(
            |_| faults.wrong_type("result", value, "an integer of 64 bits").unwrap_or_default(),
            Json::from,
        ),
        DeValue::Float(float) => {
            let number = float.as_str().parse().ok().and_then(Number::from_f64);
            match number {
                Some(number) => Json::Number(number),
                None => faults.wrong_type("result", value, "a number that JSON has").unwrap_or_default(),
            }
        }
        DeValue::Boolean(flag) => Json::Bool(*flag),
        DeValue::Datetime(moment) => Json::String(moment.to_string()),
        DeValue::Array(elements) => elements.iter().map(|element| read_json(element, faults)).collect(),
        DeValue::Table(table) => read_object(table, faults),
    }
}
