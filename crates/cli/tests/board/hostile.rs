//! Titles, descriptions, criteria, file names, diffs and output that want to be a script.

use crate::support::{World, command};
use regatta_testkit::binary::TestProject;
use regatta_testkit::browser::Browser;
use regatta_testkit::wait::until;
use serde_json::{Value, json};

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

/// What a run shows of hostile texts: its title, question, state, edge, messages and signals, and the schema of a signal.
const WORKFLOW: &str = r#"
name = "evil"
start = "look"
nodes.look = { kind = "agent", role = "looker", writes = false }
nodes.question = { kind = "approval", question = "input.ask" }
nodes.done = { kind = "end" }
edges = [
    { id = "looked", from = "look", to = "question", when = "$contains(input.title, '_')", send = { to = "looker", kind = "TOLD", subject = "input.title", body = "input.ask" } },
    { id = "answered", from = "question", to = "done" },
]

[signals.extend]
title = 'TITLE'
input = "extend.json"
"#;

/// Prints what it finds beside the project, writes it into files with names like it, and says so at the end of each.
const WORKER: &str = r#"
cat > /dev/null
cat "$HOME/payloads.txt"
if [ -n "$REGATTA_ROLE" ]; then echo "the end of the role"; echo '{"summary": "It was looked at"}'; exit; fi
cp "$HOME/payloads.txt" notes.md
cp "$HOME/payloads.txt" page.html
printf 'one\ntwo\n' > plain.txt
for file in notes.md page.html; do echo "the end of $file" >> $file; done
echo "the end of the first" > '"><img src=x onerror=__xss=1>.txt'
echo "the end of the second" > '<svg onload=__xss=1>.md'
echo "the end of the log"
"#;

/// Tells everything that the page says about itself: what ran, where it is, what it asked for, where it leads.
const FINDINGS: &str = "const outside = (name) => !name.startsWith(location.origin);
    return {
        ran: typeof window.__xss,
        base: document.baseURI.startsWith(location.origin),
        elsewhere: performance.getEntriesByType('resource').map((entry) => entry.name).filter(outside),
        links: [...document.querySelectorAll('main a[href]')].map((link) => link.protocol).filter((name) => !/^https?:$/.test(name)),
        openers: [...document.querySelectorAll('a[href]')].filter((link) => outside(link.href) && !link.relList.contains('noopener')).length,
        scripts: [...document.scripts].map((script) => script.src).filter(outside),
        foreign: document.querySelectorAll('iframe, object, embed, base, meta[http-equiv], main style, main link, main form[action*=elsewhere], main img, video, audio').length,
        handlers: [...document.querySelectorAll('main *')].filter((one) => [...one.attributes].some((attribute) => attribute.name.startsWith('on'))).length,
        reports: window.__reports ?? [],
    }";

/// Returns all text of the elements with a selector, whether it is in view or not.
fn texts(page: &Browser, selector: &str) -> String {
    let script = format!(
        "return [...document.querySelectorAll({})].map((one) => one.textContent).join('\\n')",
        json!(selector)
    );
    page.run(&script).as_str().unwrap_or_default().to_owned()
}

/// Asserts that each payload is there to be read: a text that was left out proves nothing. Control characters are named there.
fn assert_shown(page: &Browser, selector: &str, payloads: &[String]) {
    let shown = texts(page, selector);
    let plain = payloads.iter().filter(|payload| !payload.chars().any(char::is_control));
    let missing: Vec<&String> = plain.filter(|payload| !shown.contains(*payload)).collect();
    assert!(
        missing.is_empty(),
        "{selector} of {} lacks {} payloads: {missing:?}",
        page.address(),
        missing.len()
    );
}

fn write_workflow(project: &TestProject, payloads: &[String]) {
    let (title, hint) = (&payloads[0], &payloads[8]);
    let extend = json!({ "type": "object", "properties": {
        title: { "type": "string", "title": payloads[5], "description": hint }, "pick": { "enum": [payloads[24], hint] },
    } });
    let state = json!({ "type": "object", "properties": { title: { "default": payloads } } });
    for (file, text) in [
        ("workflow.toml", WORKFLOW.replace("TITLE", title)),
        ("state.schema.json", state.to_string()),
        ("extend.json", extend.to_string()),
        ("roles/looker.md", "Look.\n".to_owned()),
        ("roles/looker.output.json", "{}".to_owned()),
    ] {
        project.repo.write(&format!(".regatta/workflows/evil/{file}"), &text);
    }
}

/// Starts a run until it asks; returns the address of its session.
fn begin_run(world: &World, shapes: &[String]) -> String {
    let input = json!({ "title": shapes[1], "ask": shapes.join("\n") }).to_string();
    world.project.run(&["run", "evil", "--no-board", "--input", &input, "--no-wait"]);
    until("the run asks", || world.project.json(&["run", "show", "1"])["question"].is_string());
    let page = &world.browser;
    world.open("/runs/1");
    page.until_shown("#run-side a[href^='/sessions/']");
    let address =
        page.run("return document.querySelector(\"#run-side a[href^='/sessions/']\").getAttribute('href')");
    address.as_str().expect("an address is text").to_owned()
}

/// Tells what a page is to say about itself.
fn clean() -> Value {
    json!({
        "ran": "undefined", "base": true, "elsewhere": [], "links": [], "openers": 0, "scripts": [], "foreign": 0,
        "handlers": 0, "reports": [],
    })
}

/// What opens over a page: the dialog of a signal, and what the palette finds.
fn look_at_dialogs(world: &World) {
    let page = &world.browser;
    world.open("/runs/1");
    page.click("button[data-signal=extend]");
    page.until_shown("#signal textarea");
    assert_eq!(page.run(FINDINGS), clean(), "the dialog of a signal");
    page.press(&["Escape"]);
    page.until_gone("#signal");
    page.press(&["Control+k"]);
    page.fill("#palette input", "<script>");
    page.until_shown("#palette mark");
    assert_eq!(page.run(FINDINGS), clean(), "the palette");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

/// Before any script of a page: reports of the content policy are collected.
const COLLECT: &str = "window.__reports = []; addEventListener('securitypolicyviolation', \
                       (event) => window.__reports.push(`${event.violatedDirective} ${event.blockedURI}`))";

#[test]
fn nothing_hostile_runs() {
    let payloads = payloads();
    assert!(payloads.len() >= 200, "{}", payloads.len());
    let all = payloads.join("\n") + "\n";
    let config = command("worker", WORKER) + "[roles]\nlooker = \"worker\"\n";
    let world = World::of(&config, |project| {
        std::fs::write(project.repo.outside().join("home/payloads.txt"), &all).expect("it can be written");
        write_workflow(project, &payloads);
    });
    let Some(world) = world else { return };
    let shapes: Vec<String> = payloads.iter().step_by(SCRIPTS.len()).cloned().collect();
    let page = &world.browser;
    page.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": COLLECT }));
    let session = begin_run(&world, &shapes);
    let mut tasks = Vec::new();
    for part in payloads.chunks(40) {
        let short =
            |text: &str| text.chars().filter(|letter| !letter.is_control()).take(190).collect::<String>();
        let description = part.join("\n\n") + "\n\nthe end of the description";
        let arguments =
            ["task", "add", &short(&part[0]), "--description", &description, "--criterion", &short(&part[1])];
        tasks.push(world.project.json(&arguments)["id"].to_string());
    }
    world.project.run(&["task", "assign", "1", "--agent", "worker"]);
    // What a reviewer quotes and what an agent is told are shown in later attempts.
    let note = format!("{}\n{}", payloads[0], payloads[11]);
    world.project.json(&["messages", "send", "--to", "task:1", &note]);
    let comment = format!("page.html:1-3: {}", payloads[5]);
    world.project.run(&["task", "reject", "1", "--reason", &payloads[7], "--comment", &comment]);
    let titles: Vec<String> = payloads.iter().step_by(40).cloned().collect();
    let names = ["\"><img src=x onerror=__xss=1>.txt", "<svg onload=__xss=1>.md"].map(str::to_owned);
    // Each view, with what is shown when all of it is there.
    let end = |path: &str| {
        format!("[...document.querySelectorAll('td.c')].some((cell) => cell.innerText.includes('{path}'))")
    };
    let diff =
        ["the end of notes.md", "the end of page.html", "the end of the first", "the end of the second"]
            .map(end)
            .join(" && ");
    let log = "document.getElementById('log').innerText.includes('the end of the log')";
    let described = "document.getElementById('file').innerText.includes('the end of the description')";
    let views = [
        ("/", "document.querySelectorAll('li[data-task]').length >= 6"),
        ("/inbox", "document.querySelector('.ask')"),
        ("/runs", "document.getElementById('runs')"),
        ("/runs/1", "document.querySelector('#question') && document.querySelector('.steplog li')"),
        (session.as_str(), "document.getElementById('log').innerText.includes('the end of the role')"),
        ("/tasks/1", log),
        ("/tasks/1?tab=file", described),
        ("/tasks/1?tab=messages", "document.querySelector('.mail li')"),
        (
            "/tasks/1?tab=changes",
            "[...document.querySelectorAll('#middle td.c')].some((cell) => cell.textContent.includes('the end of page.html'))",
        ),
        ("/tasks/1/review", diff.as_str()),
        ("/tasks/1/review?split", diff.as_str()),
        ("/?q=%22%3E%3Cscript%3E__xss%3D1%3C/script%3E", "document.getElementById('filter').value"),
        (
            "/errors/%3Cscript%3E__xss%3D1%3C%2Fscript%3E",
            "document.querySelector('main').innerText.includes('not found')",
        ),
    ];
    let files = tasks[1..].iter().map(|task| format!("/tasks/{task}?tab=file"));
    let files = files.map(|path| (path, described.to_owned()));
    let views = views.map(|(path, shown)| (path.to_owned(), shown.to_owned())).into_iter().chain(files);
    for (path, shown) in views {
        world.open(&path);
        // Files of a diff are fetched when they come into view.
        page.until(
            &format!("all of {path} is there"),
            &format!("(document.querySelector('[data-later]')?.scrollIntoView(), {shown}) ? true : false"),
        );
        let findings = page.run(FINDINGS);
        assert_eq!(findings, clean(), "{path}");
        match path.as_str() {
            "/tasks/1" => assert_shown(page, "#log", &payloads),
            "/tasks/1?tab=changes" => assert_shown(page, "#middle td.c", &payloads),
            "/tasks/1/review" | "/tasks/1/review?split" => {
                for file in ["notes.md", "page.html"] {
                    assert_shown(page, &format!("[data-path='{file}'] td.c"), &payloads);
                }
                assert_shown(page, "#diffs .path", &names);
            }
            "/" => assert_shown(page, "#board h3 a", &titles),
            "/runs/1" => assert_shown(page, "#question-text", &shapes),
            path if path == session => assert_shown(page, "#log", &payloads),
            _ => {}
        }
        let complaints = page.complaints();
        let is_expected = |complaint: &String| path.starts_with("/errors/") && complaint.contains("404");
        assert!(complaints.iter().all(is_expected), "{path}: {complaints:?}");
    }
    look_at_dialogs(&world);
}
