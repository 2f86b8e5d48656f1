//! Titles, descriptions, criteria, file names, diffs and output that want to be a script.

use crate::support::World;
use std::fmt::Write;

/// What would run, or reach elsewhere, if it were not shown as text.
const SHAPES: &[&str] = &[
    "<script>JS</script>",
    "<img src=x onerror=JS>",
    "<svg onload=JS>",
    "<svg><script>JS</script></svg>",
    "\"><script>JS</script>",
    "'><img src=x onerror=JS>",
    "</title><script>JS</script>",
    "</textarea><img src=x onerror=JS>",
    "</style><script>JS</script>",
    "--><img src=x onerror=JS>",
    "\" autofocus onfocus=JS x=\"",
    "' onmouseover='JS",
    "<iframe srcdoc=\"<script>parent.JS</script>\">",
    "<iframe src=\"javascript:parent.JS\">",
    "<a href=\"javascript:JS\">open</a>",
    "[open](javascript:JS)",
    "[open](JaVaScRiPt:JS)",
    "[open](data:text/html,<script>JS</script>)",
    "![x](https://elsewhere.invalid/a.png)",
    "![x](\"onerror=\"JS)",
    "<img src=//elsewhere.invalid/a.png>",
    "<link rel=stylesheet href=https://elsewhere.invalid/a.css>",
    "<style>@import 'https://elsewhere.invalid/a.css'</style>",
    "<meta http-equiv=refresh content='0;url=https://elsewhere.invalid'>",
    "<base href=https://elsewhere.invalid/>",
    "<form action=https://elsewhere.invalid><button autofocus>",
    "<details open ontoggle=JS>",
    "<video><source onerror=JS></video>",
    "<audio src=x onerror=JS>",
    "<body onload=JS>",
    "<input autofocus onfocus=JS>",
    "<marquee onstart=JS>",
    "<object data=javascript:JS>",
    "<embed src=javascript:JS>",
    "<math><mtext><table><mglyph><style><img src=x onerror=JS>",
    "<noscript><p title=\"</noscript><img src=x onerror=JS>\">",
    "<template><script>JS</script></template>",
    "&lt;script&gt;JS&lt;/script&gt;",
    "&#60;img src=x onerror=JS&#62;",
    "${JS}{{JS}}",
    "\u{1b}]8;;javascript:JS\u{7}link\u{1b}]8;;\u{7}",
];

/// The ways to write what runs.
const SCRIPTS: &[&str] = &["window.__xss=1", "__xss=1", "self['__xss']=1", "top.__xss=1", "eval('__xss=1')"];

fn payloads() -> Vec<String> {
    let of = |shape: &&str| SCRIPTS.iter().map(|script| shape.replace("JS", script)).collect::<Vec<_>>();
    SHAPES.iter().flat_map(of).collect()
}

/// Prints what it finds beside the project, and writes it into files with names like it.
const WORKER: &str = r#"
cat > /dev/null
cat "$HOME/payloads.txt"
cp "$HOME/payloads.txt" notes.md
cp "$HOME/payloads.txt" page.html
echo x > '"><img src=x onerror=__xss=1>.txt'
echo x > '<svg onload=__xss=1>.md'
"#;

#[test]
fn nothing_hostile_runs() {
    let payloads = payloads();
    assert!(payloads.len() >= 200, "{}", payloads.len());
    let config = format!("[agents.worker]\nkind = \"command\"\ncommand = ['sh', '-c', '''{WORKER}''']\n");
    let all = payloads.join("\n\n");
    let world = World::of(&config, |project| {
        std::fs::write(project.repo.outside().join("home/payloads.txt"), &all).expect("it can be written");
    });
    let Some(world) = world else { return };
    let mut tasks = String::new();
    for part in payloads.chunks(40) {
        let title: String = part[0].chars().filter(|letter| !letter.is_control()).take(190).collect();
        let description = part.join("\n\n");
        let criterion: String = part[1].chars().filter(|letter| !letter.is_control()).take(190).collect();
        let arguments = ["task", "add", &title, "--description", &description, "--criterion", &criterion];
        let _ = write!(tasks, "{} ", world.project.json(&arguments)["id"]);
    }
    world.project.run(&["task", "assign", "1", "--agent", "worker"]);
    let page = &world.browser;
    let views =
        ["/", "/inbox", "/runs", "/tasks/1", "/tasks/1?tab=file", "/tasks/1?tab=messages", "/tasks/1/review"];
    let pages = tasks.split_whitespace().skip(1).map(|task| format!("/tasks/{task}?tab=file"));
    for view in views.into_iter().map(str::to_owned).chain(pages) {
        world.open(&view);
        page.until("the page is loaded", "document.readyState === 'complete'");
        let ran = page.run("return [typeof window.__xss, document.baseURI.startsWith(location.origin)]");
        assert_eq!(ran, serde_json::json!(["undefined", true]), "{view}");
        let elsewhere = page.run(
            "return performance.getEntriesByType('resource').map((entry) => entry.name).filter((name) => !name.startsWith(location.origin))",
        );
        assert_eq!(elsewhere, serde_json::json!([]), "{view}");
        let links = page.run(
            "return [...document.querySelectorAll('main a[href]')].map((link) => link.protocol).filter((name) => !/^https?:$/.test(name))",
        );
        assert_eq!(links, serde_json::json!([]), "{view}");
        assert_eq!(page.complaints(), Vec::<String>::new(), "{view}");
    }
}
