//! Whether a request comes from where it may: Host and Origin.
//!
//! A page of another site can make a browser send requests here, and with DNS rebinding under any host name. So the host must
//! be one of ours, and what names an origin must name the one it is sent to.

use crate::public_url::PublicUrl;
use http::HeaderMap;
use http::header::{self, HeaderName};
use http::request::Parts;
use regatta_engine::core::{Code, Problem};

const FETCH_SITE: HeaderName = HeaderName::from_static("sec-fetch-site");
const FETCH_MODE: HeaderName = HeaderName::from_static("sec-fetch-mode");

/// The names under which the server answers.
#[derive(Debug, Clone)]
pub(crate) struct Hosts {
    names: Vec<String>,
    /// The last of the names, if a proxy shows the server to others.
    public: Option<String>,
}

/// Where a request comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum From {
    /// This machine.
    Loopback,
    /// Anywhere, through the proxy.
    Public,
}

impl Hosts {
    /// The project's own name, and those of loopback where that one does not resolve.
    pub(crate) fn new(own: &str, port: u16, public: Option<&PublicUrl>) -> Self {
        let names = [own, "localhost", "127.0.0.1", "[::1]"];
        let public = public.map(|url| url.authority().to_owned());
        let names = names.iter().map(|name| format!("{name}:{port}")).chain(public.clone());
        Hosts { names: names.collect(), public }
    }

    /// Tells where a request to this host, one of ours, comes from.
    fn from(&self, host: &str) -> From {
        if self.public.as_deref() == Some(host) { From::Public } else { From::Loopback }
    }

    /// Tells whether a request that was let in came through the proxy.
    pub(crate) fn is_public(&self, headers: &HeaderMap) -> bool {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        host.and_then(|host| self.find(host)).is_some_and(|host| self.from(host) == From::Public)
    }

    /// Returns all of them.
    pub(crate) fn names(&self) -> &[String] {
        &self.names
    }

    fn find(&self, host: &str) -> Option<&str> {
        self.names.iter().map(String::as_str).find(|name| name.eq_ignore_ascii_case(host))
    }
}

/// Refuses a request that names another host, or comes from another origin.
pub(crate) fn check(hosts: &Hosts, parts: &Parts) -> Result<From, Problem> {
    let host = find_host(hosts, parts)?;
    let from = hosts.from(host);
    let scheme = if from == From::Public { "https://" } else { "http://" };
    for origin in parts.headers.get_all(header::ORIGIN) {
        let is_ours = origin.to_str().is_ok_and(|origin| {
            origin.strip_prefix(scheme).is_some_and(|origin| origin.eq_ignore_ascii_case(host))
        });
        if !is_ours {
            return Err(refused("it comes from a page of another site (`Origin`)"));
        }
    }
    let is = |name: &HeaderName, values: &[&str]| {
        parts
            .headers
            .get(name)
            .and_then(|value| value.to_str().ok())
            .is_some_and(|value| values.contains(&value))
    };
    // A link from elsewhere may be followed; a page of elsewhere may not read, embed or post.
    let is_followed = parts.method == "GET" && is(&FETCH_MODE, &["navigate"]);
    if is(&FETCH_SITE, &["cross-site", "same-site"]) && !is_followed {
        return Err(refused("it comes from a page of another site (`Sec-Fetch-Site`)"));
    }
    Ok(from)
}

/// Tells whether a browser follows a link from elsewhere: it then sends no strict cookie.
pub(crate) fn is_from_elsewhere(parts: &Parts) -> bool {
    let site = parts.headers.get(&FETCH_SITE).and_then(|value| value.to_str().ok());
    matches!(site, Some("cross-site" | "same-site"))
}

fn find_host<'a>(hosts: &'a Hosts, parts: &Parts) -> Result<&'a str, Problem> {
    let mut named = parts.headers.get_all(header::HOST).iter();
    let (Some(host), None) = (named.next(), named.next()) else {
        return Err(refused("it does not name exactly one host (`Host`)"));
    };
    let found = host.to_str().ok().and_then(|host| hosts.find(host));
    let found = found.ok_or_else(|| refused("it names a host that is not this server's (`Host`)"))?;
    // A request line may name a host too, and then it counts.
    match parts.uri.authority() {
        Some(authority) if hosts.find(authority.as_str()) != Some(found) => {
            Err(refused("its first line names another host"))
        }
        _ => Ok(found),
    }
}

/// The error of a request that comes from elsewhere.
pub(crate) fn refused(why: &str) -> Problem {
    let next = "open the address that `regatta url` prints; programs send `Host: localhost:PORT` and a token";
    Problem::new(Code::OriginRefused, "the request was refused", why, next)
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::Request;

    fn judge(method: &str, uri: &str, headers: &[(&str, &str)]) -> bool {
        let mut request = Request::builder().method(method).uri(uri);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let (parts, ()) = request.body(()).unwrap().into_parts();
        let public = "https://regatta.example.com".parse().unwrap();
        check(&Hosts::new("shop-1.localhost", 4780, Some(&public)), &parts).is_ok()
    }

    #[test]
    fn a_host_is_ours_with_our_port_and_named_once() {
        for host in [
            "shop-1.localhost:4780",
            "SHOP-1.localhost:4780",
            "localhost:4780",
            "127.0.0.1:4780",
            "[::1]:4780",
        ] {
            assert!(judge("GET", "/", &[("host", host)]), "{host}");
        }
        for host in
            ["", "localhost", "localhost:4781", "evil.test:4780", "localhost:4780.evil.test", "0.0.0.0:4780"]
        {
            assert!(!judge("GET", "/", &[("host", host)]), "{host}");
        }
        assert!(!judge("GET", "/", &[]), "it is missing");
        assert!(
            !judge("GET", "/", &[("host", "localhost:4780"), ("host", "localhost:4780")]),
            "it is doubled"
        );
        assert!(judge("GET", "http://localhost:4780/", &[("host", "localhost:4780")]));
        assert!(!judge("GET", "http://evil.test/", &[("host", "localhost:4780")]), "the line names another");
    }

    #[test]
    fn an_origin_is_that_of_the_host() {
        let host = ("host", "localhost:4780");
        assert!(judge("POST", "/", &[host, ("origin", "http://localhost:4780")]));
        for origin in [
            "null",
            "http://evil.test",
            "http://localhost:4781",
            "https://localhost:4780",
            "http://127.0.0.1:4780",
        ] {
            assert!(!judge("POST", "/", &[host, ("origin", origin)]), "{origin}");
            assert!(!judge("GET", "/", &[host, ("origin", origin)]), "{origin}");
        }
    }

    #[test]
    fn the_proxy_has_a_host_and_an_origin_of_its_own() {
        let host = ("host", "regatta.example.com");
        assert!(judge("GET", "/", &[host]));
        assert!(judge("POST", "/", &[host, ("origin", "https://regatta.example.com")]));
        for origin in
            ["http://regatta.example.com", "https://regatta.example.com:4780", "http://localhost:4780"]
        {
            assert!(!judge("POST", "/", &[host, ("origin", origin)]), "{origin}");
        }
        assert!(!judge(
            "POST",
            "/",
            &[("host", "localhost:4780"), ("origin", "https://regatta.example.com")]
        ));
        assert!(!judge("GET", "/", &[("host", "regatta.example.com:4780")]));
    }

    #[test]
    fn a_link_from_elsewhere_may_be_followed_and_nothing_else() {
        let host = ("host", "localhost:4780");
        let (cross, navigate) = (("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate"));
        assert!(judge("GET", "/", &[host, cross, navigate]));
        assert!(!judge("GET", "/", &[host, cross, ("sec-fetch-mode", "no-cors")]));
        assert!(!judge("POST", "/", &[host, cross, navigate]), "a form");
        assert!(judge("GET", "/", &[host, ("sec-fetch-site", "same-origin")]));
    }
}
