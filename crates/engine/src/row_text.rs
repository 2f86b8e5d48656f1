//! Events, effects and actors as the text of a row, without what the row says beside it.
//!
//! A log is mostly what agents returned; what stands around that in every row is kept short. A row that says more, as
//! an older version wrote it, is read all the same.

use crate::core::Actor;
use regatta_store::StreamName;
use std::borrow::Cow;

/// The fields with which a JSON object begins, as far as its row tells them.
pub(crate) struct Head {
    fields: Vec<(&'static str, String)>,
}

impl Head {
    /// Returns what an event of a kind begins with in a row of these streams.
    pub(crate) fn of_event(kind: &str, streams: &[StreamName]) -> Self {
        let mut fields = vec![field("\"type\":", &format!("\"{kind}\""))];
        let run = streams.first().and_then(|stream| stream.as_str().strip_prefix("run/"));
        fields.extend(run.map(|run| field("\"runId\":", run)));
        Head { fields }
    }

    /// Returns what an effect of a kind begins with.
    pub(crate) fn of_effect(kind: &str) -> Self {
        Head { fields: vec![field("\"effect\":", &format!("\"{kind}\""))] }
    }

    /// Takes the fields off a text.
    pub(crate) fn take_off(&self, mut text: String) -> String {
        let mut end = 1;
        for (_, field) in &self.fields {
            match text[end..].strip_prefix(field.as_str()).and_then(|rest| rest.bytes().next()) {
                Some(b',') => end += field.len() + 1,
                Some(b'}') => end += field.len(),
                _ => break,
            }
        }
        text.replace_range(1..end, "");
        text
    }

    /// Puts the fields back, but for those that the text has.
    pub(crate) fn put_before<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let Some(rest) = text.strip_prefix('{') else { return Cow::Borrowed(text) };
        let missing = self.fields.iter().take_while(|(name, _)| !rest.starts_with(name));
        let missing: Vec<&str> = missing.map(|(_, field)| field.as_str()).collect();
        if missing.is_empty() {
            return Cow::Borrowed(text);
        }
        let comma = if rest.starts_with('}') { "" } else { "," };
        Cow::Owned(format!("{{{}{comma}{rest}", missing.join(",")))
    }
}

fn field(name: &'static str, value: &str) -> (&'static str, String) {
    (name, format!("{name}{value}"))
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
