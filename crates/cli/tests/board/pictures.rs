//! Every view, light and dark, wide and narrow: nothing complains and nothing scrolls sideways.
//!
//! `cargo xtask screenshots` keeps the pictures in `docs/screenshots`.

use crate::support::World;
use regatta_testkit::browser::Look;
use std::path::PathBuf;

/// Where the pictures go; without it none are kept.
const PLACE: &str = "REGATTA_SCREENSHOTS";

/// Each task is played by its number: the fifth stays at work, the sixth breaks off, the others finish.
const AGENT: &str = r#"
cat > /dev/null
mkdir -p src
case "$REGATTA_TASK_ID" in
  1) printf '/// Names the keys that are asked for most.\npub fn hot_keys(store: &Store) -> Vec<Key> {\n    store.keys().take(10).collect()\n}\n' > src/admin.rs ;;
  2) printf '# Larder\n\nKeep metadata beside the body.\n' > NOTES.md ;;
  5) echo "Reading src/freshness.rs"; while [ -d "$HOME" ] && [ ! -e "$HOME/go" ]; do sleep 0.1; done ;;
  6) printf 'half\n' > src/zstd.rs; echo "error: linker not found" >&2; exit 1 ;;
  *) printf '/// How long a response stays fresh, counted from the time it was stored.\npub fn lifetime(headers: &Headers, stored_at: Time) -> Option<Duration> {\n    let cc = CacheControl::parse(headers);\n    cc.s_maxage.or(cc.max_age).or_else(|| expires_in(headers, stored_at))\n}\n\n// A date in the future is a wrong clock, not a longer life.\nfn expires_in(headers: &Headers, stored_at: Time) -> Option<Duration> {\n    let date = header_date(headers, DATE).unwrap_or(stored_at).min(stored_at);\n    Some(header_date(headers, EXPIRES)?.saturating_since(date))\n}\n' > src/freshness.rs ;;
esac
"#;

const BASE: &str = "/// How long a response stays fresh.\npub fn lifetime(headers: &Headers) -> Option<Duration> {\n    let cc = CacheControl::parse(headers);\n    cc.max_age.or_else(|| expires_in(headers, Time::now()))\n}\n\nfn expires_in(headers: &Headers, now: Time) -> Option<Duration> {\n    let date = header_date(headers, DATE).unwrap_or(now);\n    Some(Duration::from_secs((header_date(headers, EXPIRES)? - date) as u64))\n}\n";

const TITLES: [&str; 9] = [
    "List the hot keys on the admin port",
    "Keep metadata beside the body",
    "Compute freshness once, at store time",
    "Vary on the request headers that were named",
    "Collapse concurrent requests for one key",
    "Compress stored bodies with zstd",
    "Serve stale while revalidating",
    "Purge by surrogate key",
    "Explain in the guide how freshness is computed",
];

fn config() -> String {
    let agent =
        |id: &str| format!("[agents.{id}]\nkind = \"command\"\ncommand = ['sh', '-c', '''{AGENT}''']\n");
    let agents: String = ["claude", "codex", "gemini", "opencode"].map(agent).concat();
    format!("{agents}[checks]\nbuild = [\"true\"]\ntest = [\"true\"]\n")
}

/// A project in the middle of its work.
fn world() -> Option<World> {
    let world = World::of(&config(), |project| {
        project.repo.write("src/freshness.rs", BASE);
        project.repo.commit("freshness");
    })?;
    let run = |words: &[&str]| world.project.run(words);
    for (title, number) in TITLES.iter().zip(1..) {
        let priority = ["high", "medium", "low"][number % 3];
        let criteria = [
            "--criterion",
            "Freshness is computed when a response is stored",
            "--criterion",
            "The tests pass",
        ];
        let mut words = vec!["task", "add", title, "--priority", priority];
        words.extend(criteria);
        if number == 7 {
            words.extend(["--depends", "3"]);
        }
        world.project.json(&words);
    }
    for (task, agent) in [("1", "opencode"), ("2", "codex"), ("3", "claude"), ("4", "gemini"), ("6", "codex")]
    {
        run(&["task", "assign", task, "--agent", agent]);
    }
    for task in ["1", "2"] {
        run(&["task", "approve", task, "--anyway"]);
    }
    run(&["task", "criteria", "3", "--check", "1", "--check", "2"]);
    run(&["task", "criteria", "4", "--check", "1"]);
    run(&["task", "assign", "5", "--agent", "claude", "--no-wait"]);
    run(&["task", "assign", "8", "--agent", "claude", "--no-wait"]);
    Some(world)
}

#[test]
fn every_view_is_calm_in_every_look() {
    let Some(world) = world() else { return };
    let page = &world.browser;
    let place = std::env::var_os(PLACE).map(PathBuf::from);
    let views = [
        ("board", "/", "#card-8"),
        ("inbox", "/inbox", "#task-6"),
        ("review", "/tasks/3/review", "[data-path='src/freshness.rs'] tr"),
        ("task", "/tasks/5", "#log li"),
        ("error", "/tasks/6", ".error[data-code]"),
        ("runs", "/runs", "#nav"),
    ];
    for (name, path, shown) in views {
        for (look, suffix) in [
            (Look::DESKTOP, "light"),
            (Look::DESKTOP.dark(), "dark"),
            (Look::PHONE, "phone"),
            (Look::PHONE.dark(), "phone-dark"),
        ] {
            page.look(look);
            world.open(path);
            page.until(&format!("{path} is there"), &format!("document.querySelector({shown:?}) !== null"));
            let sideways = page.run("return document.documentElement.scrollWidth - innerWidth");
            assert!(sideways.as_f64().unwrap_or(0.0) <= 0.0, "{name}-{suffix} scrolls sideways: {sideways}");
            if let Some(place) = &place {
                page.screenshot(&place.join(format!("{name}-{suffix}.png")));
            }
        }
        assert_eq!(page.complaints(), Vec::<String>::new(), "{name}");
    }
    world.project.repo.write("../home/go", "");
}
