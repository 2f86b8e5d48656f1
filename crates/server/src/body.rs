//! Reading the body of a change: of limited size and time, of a type that is known, and JSON behind the guards that agents'
//! JSON has.

use crate::answer::invalid;
use crate::limits::Limits;
use bytes::Bytes;
use http::header;
use http::request::Parts;
use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::{Body as _, Incoming};
use regatta_engine::core::{Code, Problem};
use serde::de::DeserializeOwned;
use serde_json::Value;

/// The type that bodies have. What a form of another site can send is not among them.
pub(crate) const JSON: &str = "application/json";

/// The type of a task's file.
pub(crate) const MARKDOWN: &str = "text/markdown";

/// Reads a body of this type whole.
pub(crate) async fn read(
    parts: &Parts,
    body: Incoming,
    media: &str,
    limits: &Limits,
) -> Result<Bytes, Problem> {
    let max = limits.body_bytes_max;
    // Said before it is read, so that a client that asks first need not send it.
    if body.size_hint().lower() > u64::try_from(max).unwrap_or(u64::MAX) {
        return Err(too_large(max));
    }
    let collected = tokio::time::timeout(limits.body_time, Limited::new(body, max).collect());
    let bytes = match collected.await {
        Ok(Ok(collected)) => collected.to_bytes(),
        Ok(Err(error)) if error.is::<LengthLimitError>() => return Err(too_large(max)),
        Ok(Err(error)) => return Err(invalid("body", format!("could not be read: {error}"))),
        Err(_) => {
            return Err(invalid("body", format!("did not arrive within {} s", limits.body_time.as_secs())));
        }
    };
    let named = parts.headers.get(header::CONTENT_TYPE);
    if bytes.is_empty() && named.is_none() {
        return Ok(bytes);
    }
    let named = named.and_then(|value| value.to_str().ok()).unwrap_or_default();
    let essence = named.split(';').next().unwrap_or_default().trim().to_ascii_lowercase();
    if essence == media { Ok(bytes) } else { Err(unsupported(named, media)) }
}

/// Reads a JSON object; nothing at all is an object without fields.
pub(crate) fn parse<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, Problem> {
    let value = if bytes.is_empty() {
        Ok(Value::Object(serde_json::Map::new()))
    } else {
        regatta_engine::parse_guarded(bytes)
    };
    let value = value.map_err(|error| invalid("body", format!("is no JSON: {error}")))?;
    if !value.is_object() {
        return Err(invalid("body", "must be a JSON object"));
    }
    T::deserialize(&value).map_err(|error| {
        let text = error.to_string();
        let field = find_field::<T>(&value, &text).unwrap_or_else(|| "body".to_owned());
        invalid(&field, format!("is wrong: {text}"))
    })
}

/// Finds the field that an error is about: one that is missing or unknown is named, and of the others it is the one without
/// which the error is gone.
fn find_field<T: DeserializeOwned>(value: &Value, error: &str) -> Option<String> {
    if error.starts_with("missing field") || error.starts_with("unknown field") {
        return error.split('`').nth(1).map(str::to_owned);
    }
    let names = value.as_object()?.keys();
    let is_meant = |name: &&String| {
        let mut rest = value.clone();
        rest.as_object_mut().map(|fields| fields.remove(*name));
        T::deserialize(&rest).err().is_none_or(|other| other.to_string() != error)
    };
    names.into_iter().find(is_meant).cloned()
}

fn too_large(max: usize) -> Problem {
    let why = format!("its body has more than {max} bytes");
    Problem::new(Code::BodyTooLarge, "the request was refused", why, "send less; nothing was done")
        .with("bytesMax", max)
}

fn unsupported(named: &str, media: &str) -> Problem {
    let why = format!("its body is `{named}`, and {media} is read here");
    let next = format!("send it with `Content-Type: {media}`");
    Problem::new(Code::MediaTypeUnsupported, "the request was refused", why, next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde::Deserialize;

    #[derive(Debug, Deserialize)]
    #[serde(deny_unknown_fields)]
    #[expect(dead_code, reason = "only errors are looked at")]
    struct Body {
        title: String,
        #[serde(default)]
        numbers: Vec<u32>,
        #[serde(default)]
        inner: Option<Box<Body>>,
    }

    #[test]
    fn the_field_that_is_wrong_is_named() {
        for (text, field) in [
            ("{}", "title"),
            (r#"{"title": 1}"#, "title"),
            (r#"{"title": "x", "colour": 1}"#, "colour"),
            (r#"{"title": "x", "numbers": [4294967296]}"#, "numbers"),
            (r#"{"title": "x", "inner": {"title": "y", "numbers": "`title`"}}"#, "inner"),
            ("[]", "body"),
            ("{", "body"),
        ] {
            let problem = parse::<Body>(text.as_bytes()).unwrap_err();
            assert_eq!(problem.details["fields"][0]["field"], field, "{text}: {problem:?}");
        }
        assert!(parse::<Body>(br#"{"title": "x"}"#).is_ok());
    }
}
