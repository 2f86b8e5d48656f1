//! Events, effects and actors as the text of a row, without what the row says beside it.
//!
//! A log is mostly what agents returned; what stands around that in every row is kept short. A row that says more, as
//! an older version wrote it, is read all the same.

use crate::core::Actor;
use regatta_store::StreamName;
use std::borrow::Cow;

/// The fields with which a JSON object begins, as far as its row tells them: names with the quotes around values.
pub(crate) struct Head<'r> {
    fields: [Option<Field<'r>>; 2],
}

/// A field as JSON writes it: the name and what opens the value, the value, and what closes it.
type Field<'r> = (&'static str, &'r str, &'static str);

impl<'r> Head<'r> {
    /// Returns what an event of a kind begins with in a row of these streams.
    pub(crate) fn of_event(kind: &'r str, streams: &'r [StreamName]) -> Self {
        let run = streams.first().and_then(|stream| stream.as_str().strip_prefix("run/"));
        Head { fields: [Some(("\"type\":\"", kind, "\"")), run.map(|run| ("\"runId\":", run, ""))] }
    }

    /// Returns what an effect of a kind begins with.
    pub(crate) fn of_effect(kind: &'r str) -> Self {
        Head { fields: [Some(("\"effect\":\"", kind, "\"")), None] }
    }

    /// Takes the fields off a text.
    pub(crate) fn take_off(&self, mut text: String) -> String {
        let mut end = 1;
        for (open, value, close) in self.fields.iter().flatten() {
            let rest = text[end..].strip_prefix(open).and_then(|rest| rest.strip_prefix(value));
            let length = open.len() + value.len() + close.len();
            match rest.and_then(|rest| rest.strip_prefix(close)).and_then(|rest| rest.bytes().next()) {
                Some(b',') => end += length + 1,
                Some(b'}') => end += length,
                _ => break,
            }
        }
        text.replace_range(1..end, "");
        text
    }

    /// Puts the fields back, but for those that the text has.
    pub(crate) fn put_before<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(rest) = text.strip_prefix('{') else { return Cow::Borrowed(text) };
        let mut whole = String::new();
        for (open, value, close) in self.fields.iter().flatten() {
            // An older row may have the name with another value behind it.
            let name = open.split_inclusive(':').next().unwrap_or(open);
            if rest.starts_with(name) {
                break;
            }
            whole.push(if whole.is_empty() { '{' } else { ',' });
            for part in [open, value, close] {
                whole.push_str(part);
            }
        }
        if whole.is_empty() {
            return Cow::Borrowed(text);
        }
        if !rest.starts_with('}') {
            whole.push(',');
        }
        whole.push_str(rest);
        Cow::Owned(whole)
    }
}

/// Makes a text of an actor: a word for one without a name.
pub(crate) fn write_actor(actor: &Actor) -> String {
    match actor {
        Actor::Engine => "engine".to_owned(),
        Actor::Unknown => "unknown".to_owned(),
        named => serde_json::to_string(named).expect("an actor is plain data"),
    }
}

/// Reads what [`write_actor`] made.
pub(crate) fn read_actor(text: &str) -> Result<Actor, serde_json::Error> {
    match text {
        "engine" => Ok(Actor::Engine),
        "unknown" => Ok(Actor::Unknown),
        named => serde_json::from_str(named),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_row_says_is_not_in_its_text() {
        let streams = [StreamName::parse("run/1").unwrap()];
        let head = Head::of_event("run:paused", &streams);
        for (whole, kept) in [
            (r#"{"type":"run:paused","runId":1,"step":2}"#, r#"{"step":2}"#),
            (r#"{"type":"run:paused","runId":1}"#, "{}"),
            (r#"{"type":"run:paused","runId":12}"#, r#"{"runId":12}"#),
            (r#"{"type":"run:paused2","runId":1}"#, r#"{"type":"run:paused2","runId":1}"#),
        ] {
            assert_eq!(head.take_off(whole.to_owned()), kept);
            assert_eq!(head.put_before(kept), whole);
        }
        let old = r#"{"runId":1,"step":2}"#;
        assert_eq!(head.put_before(old), r#"{"type":"run:paused","runId":1,"step":2}"#);
        assert_eq!(head.put_before("no JSON"), "no JSON");
        let effect = r#"{"effect":"stop_run","run":1}"#;
        let head = Head::of_effect("stop_run");
        assert_eq!(head.put_before(&head.take_off(effect.to_owned())), effect);
    }

    #[test]
    fn actors_come_back() {
        for actor in [Actor::Engine, Actor::Unknown, Actor::User("engine".to_owned())] {
            assert_eq!(read_actor(&write_actor(&actor)).unwrap(), actor);
        }
        assert_eq!(read_actor(r#"{"kind":"engine"}"#).unwrap(), Actor::Engine);
    }
}
