//! Who may see the project: a browser by its cookie, a program by its token.

use crate::keys::{Keys, is_same};
use http::header;
use http::request::Parts;
use http::{HeaderMap, Method};
use regatta_engine::core::{Code, Problem};

/// How a request shows that it may.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Access {
    /// A browser that was opened with a one-time code.
    Cookie,
    /// A program.
    Token,
    /// A person's own agent, which uses the service at `/mcp` and nothing else.
    McpToken,
}

/// Finds out whether a request may see the project.
pub(crate) fn find(keys: &Keys, parts: &Parts) -> Result<Access, Problem> {
    if let Some(token) = find_token(&parts.headers) {
        return if is_same(token, &keys.token()) {
            Ok(Access::Token)
        } else if is_same(token, &keys.mcp_token()) {
            Ok(Access::McpToken)
        } else {
            Err(unauthorized("its token is not this project's"))
        };
    }
    let cookie = find_cookie(&parts.headers, &keys.cookie_name());
    match cookie {
        None => Err(unauthorized("it has neither a cookie nor a token")),
        Some(cookie) if !is_same(cookie, &keys.cookie()) => {
            Err(unauthorized("its cookie is not this project's"))
        }
        Some(_) if is_change(&parts.method) && !parts.headers.contains_key(header::ORIGIN) => {
            Err(crate::guard::refused(
                "a browser says from which page a change comes (`Origin`), and this does not",
            ))
        }
        Some(_) => Ok(Access::Cookie),
    }
}

/// Returns the cookie that a browser gets for a code; one from a public address is only ever sent over TLS.
pub(crate) fn set_cookie(keys: &Keys, is_public: bool) -> String {
    let secure = if is_public { "; Secure" } else { "" };
    let (name, value) = (keys.cookie_name(), keys.cookie());
    format!("{name}={value}; Path=/; HttpOnly; SameSite=Strict; Max-Age=31536000{secure}")
}

/// Tells whether a method changes something.
pub(crate) fn is_change(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD)
}

/// The error of a request that may not, with the way in.
pub(crate) fn unauthorized(why: &str) -> Problem {
    let next = "in a browser, open the address that `regatta url` prints; in a program, send `Authorization: Bearer` with what \
                `regatta token` prints";
    Problem::new(Code::Unauthorized, "the request was refused", why, next)
}

/// Returns the token that a request shows.
pub(crate) fn find_token(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().unwrap_or_default();
    let (scheme, token) = value.split_once(' ').unwrap_or_default();
    Some(if scheme.eq_ignore_ascii_case("bearer") { token.trim() } else { "" })
}

fn find_cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let lists = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs = lists.flat_map(|list| list.split(';')).filter_map(|pair| pair.trim().split_once('='));
    pairs.find(|(found, _)| *found == name).map(|(_, value)| value)
}
