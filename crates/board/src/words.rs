//! How times, ages, money, tokens and counts are said.

use jiff::tz::TimeZone;
use jiff::{SignedDuration, Timestamp};
use regatta_engine::core::TaskId;

/// The current time, and where the reader is.
#[derive(Debug, Clone)]
pub struct Clock {
    /// The current time.
    pub now: Timestamp,
    /// The reader's time zone.
    pub zone: TimeZone,
}

impl Clock {
    /// Says when something was or will be: `14:05` today, `Mon 14:05` within a week, else the date.
    pub fn time(&self, at: Timestamp) -> String {
        let (at, now) = (at.to_zoned(self.zone.clone()), self.now.to_zoned(self.zone.clone()));
        let days = (at.date() - now.date()).get_days().abs();
        match days {
            0 => at.strftime("%H:%M").to_string(),
            1..=6 => at.strftime("%a %H:%M").to_string(),
            _ if at.year() == now.year() => at.strftime("%-d %b").to_string(),
            _ => at.strftime("%-d %b %Y").to_string(),
        }
    }

    /// Says how long ago something was.
    pub fn age(&self, at: Timestamp) -> String {
        span(self.now.duration_since(at))
    }
}

/// Says a span of time in its largest unit. The browser says it with the same words, in `clock.js`.
pub fn span(span: SignedDuration) -> String {
    let seconds = span.as_secs().max(0);
    match seconds {
        0..60 => "now".to_owned(),
        60..3_600 => format!("{} min", seconds / 60),
        3_600..86_400 => format!("{} h", seconds / 3_600),
        _ => format!("{} d", seconds / 86_400),
    }
}

/// Says how long something took, from milliseconds.
pub fn took(milliseconds: u64) -> String {
    match milliseconds {
        0..1_000 => format!("{milliseconds} ms"),
        1_000..10_000 => format!("{}.{} s", milliseconds / 1_000, milliseconds % 1_000 / 100),
        10_000..60_000 => format!("{} s", milliseconds / 1_000),
        _ => span(SignedDuration::from_millis(i64::try_from(milliseconds).unwrap_or(i64::MAX))),
    }
}

/// Says an amount of money, from millionths of a dollar.
pub fn money(micros: u64) -> String {
    match micros {
        0 => "$0.00".to_owned(),
        1..10_000 => "<$0.01".to_owned(),
        _ => format!("${}.{:02}", micros / 1_000_000, micros % 1_000_000 / 10_000),
    }
}

/// Says a number of tokens: `148k`.
pub fn tokens(count: u64) -> String {
    match count {
        0..1_000 => count.to_string(),
        1_000..1_000_000 => format!("{}k", count / 1_000),
        _ => format!("{}.{}M", count / 1_000_000, count % 1_000_000 / 100_000),
    }
}

/// Says how many there are of a thing: `1 file`, `3 files`.
pub fn count(number: u64, thing: &str) -> String {
    match (number, thing.strip_suffix("ch")) {
        (1, _) => format!("1 {thing}"),
        (_, Some(stem)) => format!("{number} {stem}ches"),
        _ => format!("{number} {thing}s"),
    }
}

/// Says a place in the queue.
pub fn place(number: u32) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    match number {
        1 => "Next in the queue".to_owned(),
        _ => format!("{number}{ending} in the queue"),
    }
}

/// Names tasks: `#38`, `#38 and #40`, or `3 tasks`.
pub fn tasks(ids: &[TaskId]) -> String {
    match ids {
        [one] => format!("#{one}"),
        [one, other] => format!("#{one} and #{other}"),
        _ => count(ids.len() as u64, "task"),
    }
}

/// Returns the two letters of an agent.
pub fn letters(name: &str) -> String {
    match name.to_lowercase().as_str() {
        "codex" => "cx".to_owned(),
        "opencode" => "oc".to_owned(),
        other => {
            let mut parts = other.split(|character: char| !character.is_alphanumeric());
            let parts: Vec<&str> = parts.by_ref().filter(|part| !part.is_empty()).collect();
            match parts.as_slice() {
                [] => "?".to_owned(),
                [one] => one.chars().take(2).collect(),
                [one, .., last] => one.chars().take(1).chain(last.chars().take(1)).collect(),
            }
        }
    }
}

/// Returns the beginning of a commit's name.
pub fn short(commit: &str) -> &str {
    commit.get(..7).unwrap_or(commit)
}

/// Cuts a text to one line of at most this many characters.
pub fn one_line(text: &str, characters_max: usize) -> String {
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    if text.chars().count() <= characters_max {
        return text;
    }
    text.chars().take(characters_max.saturating_sub(1)).chain(['…']).collect()
}

/// Begins a sentence with a capital letter.
pub fn sentence(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock() -> Clock {
        Clock { now: "2026-03-05T13:42:10Z".parse().unwrap(), zone: TimeZone::UTC }
    }

    #[test]
    fn a_time_says_no_more_than_is_needed() {
        let say = |at: &str| clock().time(at.parse().unwrap());
        assert_eq!(say("2026-03-05T14:05:00Z"), "14:05");
        assert_eq!(say("2026-03-02T09:30:00Z"), "Mon 09:30");
        assert_eq!(say("2026-01-12T09:30:00Z"), "12 Jan");
        assert_eq!(say("2025-12-31T09:30:00Z"), "31 Dec 2025");
    }

    #[test]
    fn an_age_has_one_unit() {
        let say = |at: &str| clock().age(at.parse().unwrap());
        assert_eq!(say("2026-03-05T13:42:00Z"), "now");
        assert_eq!(say("2026-03-05T13:06:00Z"), "36 min");
        assert_eq!(say("2026-03-05T11:40:00Z"), "2 h");
        assert_eq!(say("2026-03-01T11:40:00Z"), "4 d");
        assert_eq!(say("2026-03-05T14:00:00Z"), "now", "a clock that differs makes no negative age");
    }

    #[test]
    fn amounts_are_short() {
        assert_eq!([0, 4_000, 840_000, 17_040_000].map(money), ["$0.00", "<$0.01", "$0.84", "$17.04"]);
        assert_eq!([12, 148_900, 2_340_000].map(tokens), ["12", "148k", "2.3M"]);
        assert_eq!([12, 8_120, 43_000, 120_000].map(took), ["12 ms", "8.1 s", "43 s", "2 min"]);
        assert_eq!([count(1, "file"), count(2, "branch")], ["1 file", "2 branches"]);
        assert_eq!(
            [1, 2, 3, 4, 11, 22].map(place)[1..],
            [
                "2nd in the queue",
                "3rd in the queue",
                "4th in the queue",
                "11th in the queue",
                "22nd in the queue"
            ]
        );
    }

    #[test]
    fn an_agent_has_two_letters() {
        let names = ["claude", "codex", "gemini", "opencode", "my-agent", "x", "日本語", "--"];
        assert_eq!(names.map(letters), ["cl", "cx", "ge", "oc", "ma", "x", "日本", "?"]);
    }
}
