//! One request on its way to a handler, read as far as all handlers need it.

use crate::answer::Body;
use crate::answer::{self, Answer, invalid};
use crate::app::App;
use crate::body;
use crate::query::{Query, read};
use crate::route::Route;
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, HeaderName, Method, Response};
use hyper::body::Incoming;
use regatta_engine::core::Problem;
use regatta_engine::orders::Caller;
use regatta_engine::{Journal, Project, Unchanged, Versioned, find_version};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeMap;
use std::str::FromStr;
use std::sync::Arc;
use uuid::Uuid;

/// The ID of a change: sent twice, it is carried out once and answered the same.
const KEY: HeaderName = HeaderName::from_static("idempotency-key");

/// The longest such ID.
const KEY_BYTES_MAX: usize = 255;

/// A request.
pub(crate) struct Call {
    pub(crate) app: Arc<App>,
    pub(crate) query: Query,
    pub(crate) headers: HeaderMap,
    /// What follows the `?`, for a route that reads it itself.
    pub(crate) text: String,
    /// Whether only the head of the answer is wanted.
    pub(crate) is_head: bool,
    path: BTreeMap<String, String>,
    body: Bytes,
    command_id: Option<Uuid>,
}

/// The body of a change that needs nothing more.
#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct NoFields {}

/// Reads a request, has it handled, and makes the response.
pub(crate) async fn run(
    app: Arc<App>,
    route: Arc<Route>,
    path: BTreeMap<String, String>,
    parts: Parts,
    body: Incoming,
) -> Result<Response<Body>, Problem> {
    let text = parts.uri.query().unwrap_or_default();
    let query = if route.is_lenient { Query::default() } else { Query::parse(text, &route.parameters)? };
    let (text, is_head) = (text.to_owned(), parts.method == Method::HEAD);
    let is_change = crate::access::is_change(&parts.method);
    let (mut bytes, mut command_id) = (Bytes::new(), None);
    if is_change {
        bytes = body::read(&parts, body, route.media, &app.limits).await?;
        command_id = find_key(&parts.headers)?;
    }
    let asked = parts.headers.clone();
    let call = Call { app, query, headers: parts.headers, text, is_head, path, body: bytes, command_id };
    let answer: Answer = (route.run)(call).await?;
    Ok(answer.into_response(!is_change, &asked))
}

impl Call {
    /// Makes a call that comes from within, without headers.
    pub(crate) fn inside(app: &Arc<App>, path: BTreeMap<String, String>, query: Query, body: Bytes) -> Self {
        let (app, headers) = (Arc::clone(app), HeaderMap::new());
        let text = String::new();
        Call { app, query, headers, text, is_head: false, path, body, command_id: None }
    }

    /// Returns the body as it was sent.
    pub(crate) fn bytes(&self) -> Bytes {
        self.body.clone()
    }

    pub(crate) fn project(&self) -> &Project {
        &self.app.project
    }

    /// Returns the number of the last event.
    pub(crate) async fn position(&self) -> Result<u64, Problem> {
        Ok(Journal::at_end(self.project()).await?.position())
    }

    /// Answers with an object and its version.
    pub(crate) async fn show(&self, of: &Versioned, view: impl Serialize) -> Result<Answer, Problem> {
        Ok(Answer::json(view).version(find_version(self.project(), of).await?))
    }

    /// Reads a part of the path.
    pub(crate) fn path<T: FromStr>(&self, name: &str) -> Result<T, Problem>
    where
        T::Err: ToString,
    {
        let text = self.path.get(name).map_or("", String::as_str);
        read(name, text)
    }

    /// Reads the body as JSON.
    pub(crate) fn body<T: DeserializeOwned>(&self) -> Result<T, Problem> {
        body::parse(&self.body)
    }

    /// Refuses a body with fields, for a change that reads none.
    pub(crate) fn no_body(&self) -> Result<(), Problem> {
        self.body::<NoFields>().map(drop)
    }

    /// Returns who gives the command, and under which ID.
    pub(crate) fn caller(&self) -> Caller {
        Caller { command_id: self.command_id, ..Caller::new(self.app.actor.clone()) }
    }

    /// Returns who gives a command about an object; it is refused if the object is none of the versions of `If-Match`.
    ///
    /// The command itself decides that. It is also looked at here, so that nothing is done first; but not where the
    /// change may be a repetition of one that went through.
    pub(crate) async fn caller_about(&self, of: Versioned) -> Result<Caller, Problem> {
        let Some(versions) = answer::asked_versions(&self.headers) else { return Ok(self.caller()) };
        let unchanged = Unchanged { of, versions };
        if self.command_id.is_none() {
            unchanged.check(find_version(self.project(), &unchanged.of).await?)?;
        }
        Ok(Caller { unchanged: Some(unchanged), ..self.caller() })
    }

    /// Reads the body as text.
    pub(crate) fn text(&self) -> Result<&str, Problem> {
        str::from_utf8(&self.body).map_err(|_| invalid("body", "is not UTF-8"))
    }
}

/// A key that is no UUID becomes one, because that is what the log keeps.
fn find_key(headers: &HeaderMap) -> Result<Option<Uuid>, Problem> {
    let mut keys = headers.get_all(&KEY).iter();
    let Some(key) = keys.next() else { return Ok(None) };
    let text = key.to_str().unwrap_or_default().trim().trim_matches('"');
    if text.is_empty() || text.len() > KEY_BYTES_MAX || keys.next().is_some() {
        return Err(invalid(
            KEY.as_str(),
            format!("must be one text of 1 to {KEY_BYTES_MAX} ASCII characters"),
        ));
    }
    Ok(Some(text.parse().unwrap_or_else(|_| derive_id(text))))
}

fn derive_id(text: &str) -> Uuid {
    let digest = crate::keys::digest_of(text);
    let number = u128::from_str_radix(&digest[..32], 16).expect("a digest is hexadecimal");
    uuid::Builder::from_custom_bytes(number.to_be_bytes()).into_uuid()
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn find(keys: &[&str]) -> Result<Option<Uuid>, Problem> {
        let mut headers = HeaderMap::new();
        for key in keys {
            headers.append(&KEY, HeaderValue::from_str(key).unwrap());
        }
        find_key(&headers)
    }

    #[test]
    fn a_key_is_a_uuid_or_becomes_one() {
        let uuid = "0198c0de-0000-7000-8000-000000000001";
        assert_eq!(find(&[]), Ok(None));
        assert_eq!(find(&[uuid]), Ok(Some(uuid.parse().unwrap())));
        let other = find(&["order 7"]).unwrap();
        assert!(
            other.is_some()
                && other == find(&["\"order 7\""]).unwrap()
                && other != find(&["order 8"]).unwrap()
        );
        for wrong in [&[""][..], &[&"x".repeat(256)], &["a", "b"]] {
            assert!(find(wrong).is_err(), "{wrong:?}");
        }
    }
}
