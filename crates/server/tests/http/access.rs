//! Who gets in, and from where.

use crate::client::Served;
use serde_json::json;

#[tokio::test(flavor = "multi_thread")]
async fn a_token_opens_the_api_and_nothing_else_does() {
    let served = Served::start().await;
    assert_eq!(served.get("/api/tasks").status, 200);
    for headers in [
        &[][..],
        &[("authorization", "Bearer wrong")],
        &[("authorization", "Basic dGVzdA==")],
        &[("cookie", "regatta=1")],
    ] {
        for path in ["/api/tasks", "/api/tasks/1", "/api/nothing"] {
            let refused = served.plain("GET", path, headers, None);
            assert_eq!(
                (refused.status, refused.code().as_str()),
                (401, "UNAUTHORIZED"),
                "{headers:?} {path}"
            );
            assert!(refused.headers["www-authenticate"].starts_with("Bearer"), "{refused:?}");
            assert!(refused.body.contains("regatta url") && refused.body.contains("regatta token"));
        }
    }
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_code_becomes_a_cookie_once() {
    let served = Served::start().await;
    let url = served.keys.issue_url(served.port).unwrap();
    let path = &url[url.find("/open").unwrap()..];
    let opened = served.plain("GET", path, &[], None);
    assert_eq!(opened.status, 200, "a redirect would lose the strict cookie: {opened:?}");
    assert!(opened.body.contains("http-equiv=\"refresh\" content=\"0; url=/\""), "{opened:?}");
    let cookie = &opened.headers["set-cookie"];
    assert!(
        cookie.contains("HttpOnly") && cookie.contains("SameSite=Strict") && !cookie.contains("Domain"),
        "{cookie}"
    );
    let cookie = ("cookie", cookie.split(';').next().unwrap());
    let home = served.plain("GET", "/", &[cookie], None);
    assert_eq!(home.status, 200);
    assert!(home.body.contains("<main id=\"main\""), "{home:?}");
    assert_eq!(served.plain("GET", "/api/tasks", &[cookie], None).status, 200);
    let again = served.plain("GET", path, &[], None);
    assert_eq!(again.status, 401);
    assert!(again.body.contains("regatta url") && !again.headers.contains_key("set-cookie"), "{again:?}");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cookie_changes_something_only_from_our_own_page() {
    let served = Served::start().await;
    let url = served.keys.issue_url(served.port).unwrap();
    let opened = served.plain("GET", &url[url.find("/open").unwrap()..], &[], None);
    let cookie = ("cookie", opened.headers["set-cookie"].split(';').next().unwrap());
    let own = format!("http://localhost:{}", served.port);
    let add = |headers: &[(&str, &str)]| {
        served.plain("POST", "/api/tasks", headers, Some(&json!({ "title": "one" })))
    };
    assert_eq!(add(&[cookie]).code(), "ORIGIN_REFUSED", "it says from nowhere");
    for origin in ["null", "http://evil.test", "http://localhost:1"] {
        let refused = add(&[cookie, ("origin", origin)]);
        assert_eq!((refused.status, refused.code().as_str()), (403, "ORIGIN_REFUSED"), "{origin}");
    }
    assert_eq!(served.get("/api/tasks").json()["items"], json!([]), "nothing was added");
    assert_eq!(add(&[cookie, ("origin", &own)]).status, 201);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_page_that_is_opened_from_elsewhere_goes_to_itself() {
    let served = Served::start().await;
    let from_elsewhere = [("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")];
    let page = served.plain("GET", "/", &from_elsewhere, None);
    assert_eq!(page.status, 200);
    assert!(page.body.contains("http-equiv=\"refresh\" content=\"0; url=/\""), "{page:?}");
    let closed = served.plain("GET", "/", &[("sec-fetch-site", "same-origin")], None);
    assert_eq!(closed.status, 401, "it does not go round in circles");
    assert!(closed.body.contains("regatta url"));
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_foreign_host_is_refused_before_anything_else() {
    let served = Served::start().await;
    let token = served.keys.token();
    let get = |hosts: &str| {
        served.send(&format!(
            "GET /healthz HTTP/1.1\r\n{hosts}authorization: Bearer {token}\r\nconnection: close\r\n\r\n"
        ))
    };
    let port = served.port;
    assert_eq!(get(&format!("host: {}:{port}\r\n", served.keys.host())).status, 200);
    for hosts in [
        "host: evil.test\r\n".to_owned(),
        format!("host: evil.test:{port}\r\n"),
        "host: localhost\r\n".to_owned(),
        format!("host: localhost:{port}\r\nhost: localhost:{port}\r\n"),
    ] {
        let refused = get(&hosts);
        assert_eq!((refused.status, refused.code().as_str()), (403, "ORIGIN_REFUSED"), "{hosts:?}");
    }
    assert!((400..500).contains(&get("").status), "a request without a host");
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_answer_has_the_headers_that_protect_it() {
    let served = Served::start().await;
    for path in ["/", "/healthz", "/api/tasks", "/api/nothing", "/open"] {
        let answer = served.get(path);
        let policy = &answer.headers["content-security-policy"];
        assert!(policy.contains("default-src 'none'") && !policy.contains("unsafe"), "{path}: {policy}");
        for name in ["x-content-type-options", "referrer-policy", "x-frame-options", "cache-control"] {
            assert!(answer.headers.contains_key(name), "{path} lacks {name}");
        }
    }
    let health = served.plain("GET", "/healthz", &[], None);
    assert_eq!(
        (health.status, health.json()["status"].as_str()),
        (200, Some("ok")),
        "it needs no token: {health:?}"
    );
    assert!(health.json()["lease"]["pid"].is_number() && health.json()["seq"].is_number());
    served.stop().await;
}
