//! Behind a proxy: another host and origin, a cookie for TLS alone, and no figures for strangers.

use crate::client::Served;
use regatta_server::Limits;
use serde_json::json;

const HOST: &str = "regatta.example.com";
const ORIGIN: &str = "https://regatta.example.com";

fn ask(served: &Served, method: &str, path: &str, headers: &[(&str, &str)]) -> crate::client::Response {
    let mut text = format!("{method} {path} HTTP/1.1\r\nhost: {HOST}\r\nconnection: close\r\n");
    for (name, value) in headers {
        text.push_str(&format!("{name}: {value}\r\n"));
    }
    served.send(&format!("{text}\r\n"))
}

#[tokio::test(flavor = "multi_thread")]
async fn a_public_address_has_its_own_rules() {
    let served = Served::start_behind(Limits::default(), Some(ORIGIN.parse().unwrap())).await;
    let public = served.keys.find_public().unwrap();
    let url = served.keys.issue_public_url(&public).unwrap();
    let path = url.strip_prefix(ORIGIN).unwrap();
    let opened = ask(&served, "GET", path, &[]);
    let cookie = &opened.headers["set-cookie"];
    assert!(cookie.contains("; Secure") && cookie.contains("HttpOnly"), "{cookie}");
    let cookie = ("cookie", cookie.split(';').next().unwrap());
    assert_eq!(ask(&served, "GET", "/api/tasks", &[cookie]).status, 200);
    let add =
        |origin: &str| {
            let body = json!({ "title": "one" }).to_string();
            served.send(&format!(
            "POST /api/tasks HTTP/1.1\r\nhost: {HOST}\r\n{}: {}\r\norigin: {origin}\r\nconnection: close\r\n\
             content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
            cookie.0, cookie.1, body.len()
        ))
        };
    for origin in ["http://regatta.example.com", "https://evil.test", "null"] {
        assert_eq!(add(origin).code(), "ORIGIN_REFUSED", "{origin}");
    }
    assert_eq!(add(ORIGIN).status, 201);
    for path in ["/healthz", "/metrics", "/api/tasks", "/streams/log"] {
        assert_eq!(ask(&served, "GET", path, &[]).status, 401, "{path}");
    }
    for path in ["/healthz", "/metrics"] {
        assert_eq!(served.plain("GET", path, &[], None).status, 200, "{path} on loopback");
        assert_eq!(ask(&served, "GET", path, &[cookie]).status, 200, "{path}");
    }
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn without_a_public_address_nobody_else_is_served() {
    let served = Served::start().await;
    assert!(served.keys.find_public().is_none());
    let token = format!("Bearer {}", served.keys.token());
    let refused = ask(&served, "GET", "/api/tasks", &[("authorization", &token)]);
    assert_eq!((refused.status, refused.code().as_str()), (403, "ORIGIN_REFUSED"));
    served.stop().await;
}
