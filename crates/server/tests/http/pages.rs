//! The pages as a browser gets them.

use crate::client::Served;

fn cookie(served: &Served) -> String {
    let opened = served.plain("GET", &format!("/open?code={}", code(served)), &[], None);
    let set = opened.headers.get("set-cookie").expect("a code gives a cookie");
    set.split(';').next().unwrap_or_default().to_owned()
}

fn code(served: &Served) -> String {
    let url = served.keys.issue_url(served.port).expect("a code can be issued");
    url.rsplit('=').next().unwrap_or_default().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_project_without_tasks_says_the_next_step() {
    let served = Served::start().await;
    let cookie = cookie(&served);
    let page = served.plain("GET", "/", &[("cookie", &cookie)], None);
    assert_eq!(page.status, 200, "{page:?}");
    assert!(page.body.contains("id=\"start\"") && page.body.contains("First task"), "{}", page.body);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn hostile_text_stays_text_on_every_page() {
    let served = Served::start().await;
    let cookie = cookie(&served);
    let evil = "<img src=x onerror=alert(1)>\"'&";
    served.post("/api/tasks", &serde_json::json!({ "title": evil, "criteria": [evil], "description": evil }));
    for path in
        ["/", "/?q=%3Cscript%3E", "/fragments/cards?ids=1", "/fragments/find?q=img", "/inbox", "/runs"]
    {
        let page = served.plain("GET", path, &[("cookie", &cookie)], None);
        assert_eq!(page.status, 200, "{path}: {page:?}");
        assert!(!page.body.contains("<img") && !page.body.contains("<script>"), "{path}: {}", page.body);
        assert!(!page.body.contains(" style=") && !page.body.contains(" onclick"), "{path}");
    }
    let card = served.plain("GET", "/fragments/cards?ids=1", &[("cookie", &cookie)], None);
    assert!(card.body.len() < 4 * 1024, "a changed card has {} bytes", card.body.len());
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn the_filter_decides_which_cards_there_are() {
    let served = Served::start().await;
    let cookie = cookie(&served);
    for title in ["Bake bread", "Boil water"] {
        served.post("/api/tasks", &serde_json::json!({ "title": title, "priority": "high" }));
    }
    let count = |path: &str| {
        let page = served.plain("GET", path, &[("cookie", &cookie)], None);
        page.body.matches("<li id=\"card-").count()
    };
    assert_eq!(count("/"), 2);
    assert_eq!(count("/?q=bread"), 1);
    assert_eq!(count("/?q=priority:high+b"), 2);
    assert_eq!(count("/?q=%232"), 1);
    assert_eq!(count("/?q=agent:nobody"), 0);
    assert_eq!(count("/fragments/cards?ids=1,2&q=water"), 1);
    assert_eq!(count("/fragments/column?column=backlog&limit=1"), 1);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn assets_are_kept_for_good_and_need_no_cookie() {
    let served = Served::start().await;
    let cookie = cookie(&served);
    let page = served.plain("GET", "/inbox", &[("cookie", &cookie)], None);
    let style = page.body.split('"').find(|part| part.ends_with("/board.css")).expect("a style is named");
    let found = served.plain("GET", style, &[], None);
    assert_eq!((found.status, found.headers["content-type"].as_str()), (200, "text/css; charset=utf-8"));
    assert!(found.headers["cache-control"].contains("immutable"), "{found:?}");
    let packed = served.plain("GET", style, &[("accept-encoding", "gzip, deflate, br")], None);
    assert_eq!((packed.status, packed.headers["content-encoding"].as_str()), (200, "gzip"));
    assert_eq!(packed.headers["vary"], "accept-encoding");
    let length = |of: &crate::client::Response| of.headers["content-length"].parse::<usize>().unwrap();
    assert!(length(&packed) * 2 < length(&found), "{packed:?}");
    assert!(!found.headers.contains_key("content-encoding"));
    assert_eq!(served.plain("GET", "/assets/x/js/nothing.js", &[], None).status, 404);
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn an_error_is_a_page_for_a_browser() {
    let served = Served::start().await;
    let cookie = cookie(&served);
    let page = served.plain("GET", "/tasks/99", &[("cookie", &cookie)], None);
    assert_eq!(page.status, 404);
    assert!(page.body.contains("TASK_NOT_FOUND") && page.body.contains("<nav"), "{}", page.body);
    let page = served.plain("GET", "/nothing", &[("cookie", &cookie), ("accept", "text/html")], None);
    assert!(
        page.status == 404 && page.body.contains("ROUTE_NOT_FOUND") && page.body.contains("<nav"),
        "{page:?}"
    );
    served.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn every_error_code_has_a_page_that_is_read_without_a_network() {
    let served = Served::start().await;
    let cookie = cookie(&served);
    for code in regatta_engine::core::Code::ALL {
        let page = served.plain("GET", &format!("/errors/{code}"), &[("cookie", &cookie)], None);
        assert_eq!(page.status, 200, "{code}: {page:?}");
        assert!(page.body.contains(&format!("<h1>{code}</h1>")), "{code}: {}", page.body);
        assert!(page.body.contains("<h2>What to do</h2>"), "{code}: {}", page.body);
    }
    assert_eq!(served.plain("GET", "/errors/NO_SUCH", &[("cookie", &cookie)], None).status, 404);
    served.stop().await;
}
