//! Reads one step of a script: exactly one action, with what belongs to it.

use std::time::Duration;

use serde_json::{Map, Number, Value as Json};
use toml::de::{DeTable, DeValue};

use super::fault::FaultKind;
use super::parse::{Faults, Fields, Value, find_nearest};
use super::script::{Mishap, Step};
use super::template::Template;
use crate::usage::Usage;

const ACTIONS: &[&str] = &[
    "say", "write", "append", "replace", "remove", "commit", "delay", "fault", "run", "exit", "result",
    "usage", "ask",
];

const KEYS: &[&str] = &[
    "say", "write", "append", "replace", "remove", "commit", "delay", "fault", "run", "exit", "result",
    "usage", "ask", "bytes", "reset",
];

const USAGE_KEYS: &[&str] = &["input", "cached", "output", "cost_micros"];

const MISHAPS: &[&str] = &["crash", "hang", "rate_limit", "network", "refused", "invalid_output", "flood"];

/// What a flood prints when nothing is said: more than any buffer on the way holds.
const FLOOD_BYTES_DEFAULT: u64 = 10_000_000;

/// Reads a step.
pub(super) fn read_step(value: &Value<'_>, faults: &mut Faults<'_>) -> Option<Step> {
    let table = faults.table("step", value)?;
    let mut fields = Fields::read(table, value.span(), KEYS, faults);
    let (bytes, reset) = (fields.take("bytes"), fields.take("reset"));
    let mut actions: Vec<&'static str> = ACTIONS.to_vec();
    actions.retain(|action| fields.names().any(|name| name == *action));
    let [action] = actions[..] else {
        if !actions.is_empty() {
            faults.add(fields.span(), FaultKind::SeveralActions { actions });
        } else if table.len() == usize::from(bytes.is_some()) + usize::from(reset.is_some()) {
            // With an unknown key in it, the step most likely has a mistyped action, which is reported already.
            faults.add(fields.span(), FaultKind::NoAction { known: ACTIONS });
        }
        return None;
    };
    let argument = fields.take(action)?;
    let step = read_action(action, argument, faults);
    match (bytes, reset) {
        (None, None) => step,
        (Some(bytes), None) => read_flood(step?, bytes, faults),
        (_, Some(reset)) => read_reset(step?, reset, faults),
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
        "delay" => read_span("delay", value, faults).map(Step::Delay),
        "usage" => read_usage(value, faults).map(Step::Use),
        "ask" => faults.template(action, value).map(Step::Ask),
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

fn read_span(key: &'static str, value: &Value<'_>, faults: &mut Faults<'_>) -> Option<Duration> {
    let text = faults.string(key, value)?;
    let duration = parse_duration(text);
    if duration.is_none() {
        let expected = "a time such as 200ms, 5s or 2m";
        faults.add(value.span(), FaultKind::NotAllowed { key, expected, found: text.to_owned() });
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
        "rate_limit" => Mishap::RateLimit { reset: None },
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

fn read_reset(step: Step, reset: &Value<'_>, faults: &mut Faults<'_>) -> Option<Step> {
    if !matches!(step, Step::Mishap(Mishap::RateLimit { .. })) {
        faults.add(reset.span(), FaultKind::ResetWithoutLimit);
        return None;
    }
    let reset = read_span("reset", reset, faults)?;
    Some(Step::Mishap(Mishap::RateLimit { reset: Some(reset) }))
}

fn read_usage(value: &Value<'_>, faults: &mut Faults<'_>) -> Option<Usage> {
    let table = faults.table("usage", value)?;
    let mut fields = Fields::read(table, value.span(), USAGE_KEYS, faults);
    let mut read = |key| {
        let count = fields.take(key).map(|count| faults.integer(key, count, 0..=i64::MAX, "0 or more"));
        // A bad one is reported, and then left out.
        count.flatten().map(i64::unsigned_abs)
    };
    Some(Usage {
        input_tokens: read("input").unwrap_or_default(),
        cached_tokens: read("cached").unwrap_or_default(),
        output_tokens: read("output").unwrap_or_default(),
        cost_micros: read("cost_micros"),
    })
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
