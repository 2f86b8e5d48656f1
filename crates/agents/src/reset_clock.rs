//! Reads a time of day such as `3:45 PM`, as an agent tells when a limit is over: in the zone of the machine, with a date
//! only when it is not today.
//!
//! Pure. The forms are those that Codex prints (`3:45 PM`, `Nov 16th, 2026 3:45 PM`); the text is in small letters, as
//! all texts are that are searched for a reset. What has another form is not guessed at.

use jiff::civil::{Date, Time};
use jiff::{SignedDuration, Timestamp, ToSpan, Zoned};

const MONTHS: [&str; 12] =
    ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];

/// A time is given to the minute, and the limit is over by the end of it; an earlier attempt would be refused again.
const CUT: SignedDuration = SignedDuration::from_mins(1);

/// A time that has just passed is still the one that is meant, and not tomorrow's.
const JUST_PASSED: SignedDuration = SignedDuration::from_mins(5);

/// Returns the moment of a time of day at the beginning of a text: the next there is, unless a date is given.
pub(crate) fn parse_clock(text: &str, now: &Zoned) -> Option<Timestamp> {
    let text = text.trim_start_matches([' ', ':']);
    let (date, text) = match split_date(text) {
        Some((date, rest)) => (Some(date), rest),
        None => (None, text),
    };
    let time = parse_time(text)?;
    let begin = |date: Date| date.to_datetime(time).to_zoned(now.time_zone().clone()).ok();
    let on = |date: Date| begin(date)?.checked_add(CUT).ok();
    let moment = match date {
        Some(date) => on(date)?,
        None => {
            let today = on(now.date())?;
            if today.duration_since(now) >= -JUST_PASSED {
                today
            } else {
                on(now.date().checked_add(1.day()).ok()?)?
            }
        }
    };
    Some(moment.timestamp())
}

/// Reads `nov 16th, 2026`.
fn split_date(text: &str) -> Option<(Date, &str)> {
    let month = MONTHS.iter().position(|month| text.starts_with(month))?;
    let (day, rest) = split_number(text[3..].trim_start())?;
    let rest = ["st", "nd", "rd", "th"].iter().find_map(|suffix| rest.strip_prefix(suffix)).unwrap_or(rest);
    let (year, rest) = split_number(rest.trim_start_matches([',', ' ']))?;
    let (year, month) = (i16::try_from(year).ok()?, i8::try_from(month + 1).ok()?);
    let date = Date::new(year, month, i8::try_from(day).ok()?).ok()?;
    Some((date, rest.trim_start()))
}

/// Reads `3:45 pm`.
fn parse_time(text: &str) -> Option<Time> {
    let (hour, rest) = split_number(text)?;
    let (minute, rest) = split_number(rest.strip_prefix(':')?)?;
    let half = rest.trim_start().get(..2)?;
    let hour = match (half, hour) {
        ("am", 1..=11) | ("pm", 12) => hour,
        ("pm", 1..=11) => hour + 12,
        ("am", 12) => 0,
        _ => return None,
    };
    Time::new(i8::try_from(hour).ok()?, i8::try_from(minute).ok()?, 0, 0).ok()
}

fn split_number(text: &str) -> Option<(u16, &str)> {
    let length = text.bytes().take_while(u8::is_ascii_digit).count();
    Some((text[..length].parse().ok()?, &text[length..]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::tz::TimeZone;

    fn read(text: &str, now: &str) -> Option<String> {
        let zone = TimeZone::posix("CET-1CEST,M3.5.0,M10.5.0/3").unwrap();
        let now = now.parse::<Timestamp>().unwrap().to_zoned(zone);
        parse_clock(text, &now).map(|moment| moment.to_string())
    }

    #[test]
    fn a_time_of_day_is_the_next_one_where_the_machine_is() {
        for (text, now, moment) in [
            (" 3:45 pm.", "2026-11-15T12:00:00Z", "2026-11-15T14:46:00Z"),
            (" 12:00 am", "2026-11-15T12:00:00Z", "2026-11-15T23:01:00Z"),
            (" 12:30 pm", "2026-11-15T12:00:00Z", "2026-11-16T11:31:00Z"),
            (" 1:00 am.", "2026-12-31T22:59:59Z", "2027-01-01T00:01:00Z"),
            (" 12:58 pm", "2026-11-15T12:00:30Z", "2026-11-15T11:59:00Z"),
            (" 9:05 am", "2026-10-24T12:00:00Z", "2026-10-25T08:06:00Z"),
            (" nov 16th, 2026 3:45 pm.", "2026-11-15T12:00:00Z", "2026-11-16T14:46:00Z"),
            (" dec 1st, 2026 12:05 am", "2026-11-15T12:00:00Z", "2026-11-30T23:06:00Z"),
        ] {
            assert_eq!(read(text, now).as_deref(), Some(moment), "{text} at {now}");
        }
    }

    #[test]
    fn anything_else_is_not_guessed_at() {
        for text in [
            "",
            " soon",
            " 3 pm",
            " 15:45",
            " 13:45 pm",
            " 0:45 am",
            " 3:75 pm",
            " 3:45 xm",
            " 3:45",
            " 3:45 é",
            " nov 3:45 pm",
            " nov 31st, 2026 3:45 pm",
            " 99999999999:45 pm",
            " nov 16th, 99999 3:45 pm",
        ] {
            assert_eq!(read(text, "2026-11-15T12:00:00Z"), None, "{text}");
        }
    }
}
