//! Says what kind of failure an error text means: the one table for what agents and providers have in common.
//!
//! Pure: the time comes with the zone of the machine, in which agents tell a time of day. It is asked about texts that
//! are known to be errors, never about what an agent says in general. What a text says about rate limits comes before
//! its HTTP status, because some providers answer 400 or 403 to both.

use jiff::{SignedDuration, Timestamp, Zoned};

use crate::failure::FailureClass;
use crate::report::find_result;
use crate::reset_clock::parse_clock;
use crate::text::cut_length;

/// Longest message that is kept of an error text.
const MESSAGE_BYTES_MAX: usize = 600;

/// How much of a text is searched: an error of a provider is short, or its beginning says what it is.
const SEARCHED_BYTES_MAX: usize = 16 * 1024;

/// How far before a number a word must stand to make it an HTTP status.
const STATUS_WORD_BYTES: usize = 24;

/// Longest time until a reset that is believed: providers count in hours and weeks.
const RESET_MAX: SignedDuration = SignedDuration::from_hours(24 * 40);

/// Texts, in small letters, and the class they mean; the first that is found counts.
const RATE_LIMIT_TEXTS: [&str; 13] = [
    "rate limit",
    "rate_limit",
    "ratelimit",
    "rate-limit",
    "too many requests",
    "usage limit",
    "hit your limit",
    "quota exceeded",
    "daily quota",
    "exceeded your quota",
    "exceeded your current quota",
    "resource_exhausted",
    "resource has been exhausted",
];

const OTHER_TEXTS: [(&str, FailureClass); 42] = [
    ("credit balance is too low", FailureClass::Refused),
    ("overloaded", FailureClass::Network),
    ("experiencing high demand", FailureClass::Network),
    ("temporary errors", FailureClass::Network),
    ("connection refused", FailureClass::Network),
    ("connection reset", FailureClass::Network),
    ("connection closed", FailureClass::Network),
    ("connection error", FailureClass::Network),
    ("error sending request", FailureClass::Network),
    ("stream disconnected", FailureClass::Network),
    ("stream closed", FailureClass::Network),
    ("stream ended without a finish reason", FailureClass::Network),
    ("unable to connect", FailureClass::Network),
    ("cannot connect", FailureClass::Network),
    ("could not connect", FailureClass::Network),
    ("failed to lookup address", FailureClass::Network),
    ("name or service not known", FailureClass::Network),
    ("temporary failure in name resolution", FailureClass::Network),
    ("network error", FailureClass::Network),
    ("network is unreachable", FailureClass::Network),
    ("fetch failed", FailureClass::Network),
    ("error: terminated", FailureClass::Network),
    ("socket hang up", FailureClass::Network),
    ("request timed out", FailureClass::Network),
    ("econnrefused", FailureClass::Network),
    ("econnreset", FailureClass::Network),
    ("enotfound", FailureClass::Network),
    ("etimedout", FailureClass::Network),
    ("eai_again", FailureClass::Network),
    ("service unavailable", FailureClass::Network),
    ("bad gateway", FailureClass::Network),
    ("gateway timeout", FailureClass::Network),
    ("internal server error", FailureClass::Network),
    ("server error", FailureClass::Network),
    ("unauthorized", FailureClass::Refused),
    ("forbidden", FailureClass::Refused),
    ("invalid api key", FailureClass::Refused),
    ("invalid x-api-key", FailureClass::Refused),
    ("authentication", FailureClass::Refused),
    ("not logged in", FailureClass::Refused),
    ("please run /login", FailureClass::Refused),
    ("bad request", FailureClass::Refused),
];

/// What an error text means.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Verdict {
    pub(crate) class: FailureClass,
    /// What the provider says, in its own words.
    pub(crate) message: String,
    /// When to come back, if that is said.
    pub(crate) until: Option<Timestamp>,
}

impl Verdict {
    /// Makes a verdict of a class.
    pub(crate) fn new(class: FailureClass, text: &str) -> Verdict {
        Verdict { class, message: Verdict::readable(text), until: None }
    }

    /// Makes the verdict about an error of which nothing else is known.
    pub(crate) fn crash(text: &str) -> Verdict {
        Verdict::new(FailureClass::Crash, text)
    }

    /// Returns the message that a person should read: that inside of a JSON text, else the beginning of the text.
    pub(crate) fn readable(text: &str) -> String {
        let text = text.trim();
        let searched = &text[..cut_length(text, SEARCHED_BYTES_MAX)];
        let inner = find_result(searched, true).and_then(|value| {
            let message = value.pointer("/error/message").or_else(|| value.get("message"))?;
            message.as_str().map(str::to_owned)
        });
        let message = inner.as_deref().unwrap_or(text);
        message[..cut_length(message, MESSAGE_BYTES_MAX)].to_owned()
    }
}

/// Returns what an error text means; nothing if it says nothing that is known.
pub(crate) fn classify(text: &str, now: &Zoned) -> Option<Verdict> {
    let searched = &text[..cut_length(text, SEARCHED_BYTES_MAX)];
    // That it is an error is known, so a number at its beginning is a status.
    let small = format!("error: {}", searched.trim_start().to_ascii_lowercase());
    let class = if RATE_LIMIT_TEXTS.iter().any(|known| small.contains(known)) {
        FailureClass::RateLimit
    } else {
        let by_text = || OTHER_TEXTS.iter().find(|(known, _)| small.contains(known)).map(|(_, class)| *class);
        find_status(&small).and_then(class_of_status).or_else(by_text)?
    };
    let until = if class == FailureClass::RateLimit { find_reset(&small, now) } else { None };
    Some(Verdict { until, ..Verdict::new(class, text) })
}

/// Returns the class that an HTTP status means.
pub(crate) fn class_of_status(status: u16) -> Option<FailureClass> {
    match status {
        429 => Some(FailureClass::RateLimit),
        408 | 500..=599 => Some(FailureClass::Network),
        400..=499 => Some(FailureClass::Refused),
        _ => None,
    }
}

/// Returns the time that a text in small letters gives for a reset.
pub(crate) fn find_reset(text: &str, zoned: &Zoned) -> Option<Timestamp> {
    let now = zoned.timestamp();
    let after_word =
        ["retry-after", "retry after", "retrydelay", "retry in", "again in", "reset in", "resets in"]
            .into_iter()
            .find_map(|word| text.find(word).map(|at| &text[at + word.len()..]));
    if let Some(span) = after_word.and_then(parse_span) {
        return now.checked_add(span).ok();
    }
    let moment = ["reset at", "resets at", "again at", "until"]
        .into_iter()
        .find_map(|word| text.find(word).and_then(|at| parse_when(&text[at + word.len()..], zoned)))
        // "… limit reached|1749924000": seconds since 1970 after a bar.
        .or_else(|| text.split('|').nth(1).and_then(parse_moment));
    moment.filter(|moment| moment.duration_since(now).abs() <= RESET_MAX)
}

/// Returns the first HTTP status of an error text in small letters: a number that follows a word for one.
fn find_status(text: &str) -> Option<u16> {
    let bytes = text.as_bytes();
    let mut position = 0;
    while let Some(offset) = bytes[position..].iter().position(u8::is_ascii_digit) {
        let start = position + offset;
        let length = bytes[start..].iter().take_while(|byte| byte.is_ascii_digit()).count();
        position = start + length;
        let is_apart =
            |byte: Option<&u8>| byte.is_none_or(|byte| !byte.is_ascii_alphanumeric() && *byte != b'.');
        let before = start.checked_sub(1).map(|before| &bytes[before]);
        if length == 3 && is_apart(before) && is_apart(bytes.get(position)) && is_after_word(text, start) {
            let status = text[start..position].parse().ok();
            if let Some(status) = status.filter(|status| (400..600).contains(status)) {
                return Some(status);
            }
        }
    }
    None
}

fn is_after_word(text: &str, end: usize) -> bool {
    let start = (end.saturating_sub(STATUS_WORD_BYTES)..=end).find(|start| text.is_char_boundary(*start));
    let before = &text[start.unwrap_or(end)..end];
    ["status", "code", "error", "http", "(", "rejected"].iter().any(|word| before.contains(word))
}

/// Reads a span such as `: 30`, ` 1h 20m`, `:"34.5s"` or ` 2 days 3 hours`; a bare number is seconds.
fn parse_span(text: &str) -> Option<SignedDuration> {
    let mut rest = text.trim_start_matches(|one: char| " :=\"'(~".contains(one));
    let mut seconds = 0.0;
    let mut is_found = false;
    while let Some((number, after)) = split_number(rest) {
        let after = after.trim_start();
        let letters = after.bytes().take_while(u8::is_ascii_alphabetic).count();
        let Some(unit) = seconds_of_unit(&after[..letters]) else {
            if !is_found {
                seconds = number;
                is_found = true;
            }
            break;
        };
        seconds += number * unit;
        is_found = true;
        rest = after[letters..].trim_start_matches([' ', ',']);
    }
    let span = SignedDuration::try_from_secs_f64(seconds).ok()?;
    (is_found && span <= RESET_MAX).then_some(span)
}

fn split_number(text: &str) -> Option<(f64, &str)> {
    let length = text.bytes().take_while(|byte| byte.is_ascii_digit() || *byte == b'.').count();
    let number = text[..length].trim_end_matches('.').parse().ok()?;
    Some((number, &text[length..]))
}

fn seconds_of_unit(unit: &str) -> Option<f64> {
    match unit {
        "ms" | "milliseconds" => Some(0.001),
        "s" | "sec" | "secs" | "second" | "seconds" => Some(1.0),
        "m" | "min" | "mins" | "minute" | "minutes" => Some(60.0),
        "h" | "hr" | "hrs" | "hour" | "hours" => Some(3600.0),
        "d" | "day" | "days" => Some(86_400.0),
        _ => None,
    }
}

/// Reads a moment, or a time of day where the machine is.
fn parse_when(text: &str, now: &Zoned) -> Option<Timestamp> {
    parse_moment(text).or_else(|| parse_clock(text, now))
}

/// Reads a moment: RFC 3339, or seconds (or milliseconds) since 1970.
fn parse_moment(text: &str) -> Option<Timestamp> {
    let text = text.trim_start_matches(|one: char| " :=\"'(".contains(one));
    let end =
        text.find(|one: char| !one.is_ascii_alphanumeric() && !"-:.+".contains(one)).unwrap_or(text.len());
    let word = text[..end].trim_end_matches('.');
    if let Ok(number) = word.parse::<i64>() {
        return moment_of_number(number);
    }
    word.to_ascii_uppercase().parse().ok()
}

/// Reads seconds or milliseconds since 1970, as far as they are a time of this century.
pub(crate) fn moment_of_number(number: i64) -> Option<Timestamp> {
    match number {
        1_000_000_000..=99_999_999_999 => Timestamp::from_second(number).ok(),
        1_000_000_000_000..=99_999_999_999_999 => Timestamp::from_millisecond(number).ok(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(texts: &[&str], expected: Expect) {
        let now: Zoned = "2026-11-15T12:00:00[UTC]".parse().unwrap();
        let show = |text: &&str| match classify(text, &now) {
            Some(Verdict { class, message, until }) => {
                let until = until.map(|until| format!(" until {until}")).unwrap_or_default();
                format!("{class}: {message}{until}\n")
            }
            None => format!("unknown: {text}\n"),
        };
        expected.assert_eq(&texts.iter().map(show).collect::<String>());
    }

    #[test]
    fn what_errors_of_agents_mean() {
        check(
            &[
                "API Error: 400 the request is wrong",
                "API Error: Request rejected (429) · slow down",
                r#"{"type":"error","error":{"type":"x","code":400,"message":"bad field"}}"#,
                r#"[API Error: {"error":{"code":503,"message":"The model is overloaded."}}]"#,
                "exceeded retry limit, last status: 429 Too Many Requests",
                "stream disconnected before completion: stream closed before response.completed",
                "[API Error: Model stream ended without a finish reason.]",
                "Ran into this error: Request failed: Bad request (400): no such model.",
                "Ran into this error: Server error: Server error (500 Internal Server Error) at http://127.0.0.1:8099/v1",
                "HTTP status 529: x",
                "error sending request for url (http://127.0.0.1:8099/v1): connection refused",
                "it happened in room number 401, and error 4290; http 42.429",
                "503 come back later",
                "terminated",
                "Your credit balance is too low to access the API",
                "Invalid API key · Please run /login",
                "something broke",
            ],
            expect![[r#"
                refused: API Error: 400 the request is wrong
                rate_limit: API Error: Request rejected (429) · slow down
                refused: bad field
                network: The model is overloaded.
                rate_limit: exceeded retry limit, last status: 429 Too Many Requests
                network: stream disconnected before completion: stream closed before response.completed
                network: [API Error: Model stream ended without a finish reason.]
                refused: Ran into this error: Request failed: Bad request (400): no such model.
                network: Ran into this error: Server error: Server error (500 Internal Server Error) at http://127.0.0.1:8099/v1
                network: HTTP status 529: x
                network: error sending request for url (http://127.0.0.1:8099/v1): connection refused
                unknown: it happened in room number 401, and error 4290; http 42.429
                network: 503 come back later
                network: terminated
                refused: Your credit balance is too low to access the API
                refused: Invalid API key · Please run /login
                unknown: something broke
            "#]],
        );
    }

    #[test]
    fn when_a_limit_is_over() {
        check(
            &[
                "Claude AI usage limit reached|1794757200",
                "rate limit exceeded, retry-after: 30",
                "You've hit your usage limit. Try again in 2 days 3 hours 5 minutes.",
                "Quota exceeded. Please retry in 12.5s.",
                r#"{"error":{"message":"RESOURCE_EXHAUSTED","retryDelay":"34s"}}"#,
                "rate limit reached, try again at 2026-11-15T13:30:00Z.",
                "Rate limit resets at 1794757200",
                "rate limit: try again at 3:05 PM",
                "rate limit: try again in 9999999999 days",
                "rate limit|1",
            ],
            expect![[r#"
                rate_limit: Claude AI usage limit reached|1794757200 until 2026-11-15T15:40:00Z
                rate_limit: rate limit exceeded, retry-after: 30 until 2026-11-15T12:00:30Z
                rate_limit: You've hit your usage limit. Try again in 2 days 3 hours 5 minutes. until 2026-11-17T15:05:00Z
                rate_limit: Quota exceeded. Please retry in 12.5s. until 2026-11-15T12:00:12.5Z
                rate_limit: RESOURCE_EXHAUSTED until 2026-11-15T12:00:34Z
                rate_limit: rate limit reached, try again at 2026-11-15T13:30:00Z. until 2026-11-15T13:30:00Z
                rate_limit: Rate limit resets at 1794757200 until 2026-11-15T15:40:00Z
                rate_limit: rate limit: try again at 3:05 PM until 2026-11-15T15:06:00Z
                rate_limit: rate limit: try again in 9999999999 days
                rate_limit: rate limit|1
            "#]],
        );
    }

    #[test]
    fn a_huge_text_is_cut() {
        let text = format!("error 500 {}", "ä".repeat(100_000));
        let now = Timestamp::UNIX_EPOCH.to_zoned(jiff::tz::TimeZone::UTC);
        let verdict = classify(&text, &now).unwrap();
        assert!(verdict.message.len() <= MESSAGE_BYTES_MAX);
        assert_eq!(verdict.class, FailureClass::Network);
        assert_eq!(classify(&"{".repeat(100_000), &now), None);
    }
}
