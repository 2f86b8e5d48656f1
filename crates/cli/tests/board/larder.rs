//! A project in the middle of its work, with everything on its board that can wait for a person.

use crate::support::World;
use regatta_testkit::wait::until;

/// What its agents do.
const AGENT: &str = include_str!("larder.sh");

const BASE: &str = "/// How long a response stays fresh.\npub fn lifetime(headers: &Headers) -> Option<Duration> {\n    let cc = CacheControl::parse(headers);\n    cc.max_age.or_else(|| expires_in(headers, Time::now()))\n}\n\nfn expires_in(headers: &Headers, now: Time) -> Option<Duration> {\n    let date = header_date(headers, DATE).unwrap_or(now);\n    Some(Duration::from_secs((header_date(headers, EXPIRES)? - date) as u64))\n}\n";

/// Each task, with the others that it depends on.
const TASKS: [(&str, &[&str]); 11] = [
    ("List the hot keys on the admin port", &[]),
    ("Keep metadata beside the body", &[]),
    ("Compute freshness once, at store time", &[]),
    ("Vary on the request headers that were named", &[]),
    ("Collapse concurrent requests for one key", &[]),
    ("Compress stored bodies with zstd", &[]),
    ("Serve stale while revalidating", &["3"]),
    ("Purge by surrogate key", &[]),
    ("Explain in the guide how freshness is computed", &[]),
    ("Say on the admin port which config is loaded", &[]),
    ("Load test with 10,000 keys and mixed body sizes", &[]),
];

const PRD: &str = "# Larder 0.3\n\nRange requests, and a config that is reloaded.\n";

fn config() -> String {
    let agents = ["claude", "codex", "gemini", "goose", "opencode"].map(|id| {
        format!(
            "[agents.{id}]\nkind = \"acp\"\npermissions = \"ask\"\ncommand = ['sh', '-c', '''{AGENT}''']\n"
        )
    });
    let roles = "[roles]\nspec = \"goose\"\ncoder = \"goose\"\nreviewer = \"goose\"\n";
    let checks =
        "[checks]\nbuild = [\"true\"]\ntest = ['sh', '-c', 'if grep -rn TODO *.md; then exit 1; fi']\n";
    format!("[project]\nmax_concurrent_agents = 4\n{}{roles}{checks}", agents.concat())
}

/// Starts everything and brings it to the middle of its work; nothing where there is no browser.
pub(crate) fn world() -> Option<World> {
    let world = World::named("larder", &config(), |project| {
        project.repo.write("src/freshness.rs", BASE);
        project.repo.write("prd.md", PRD);
        project.repo.commit("freshness");
    })?;
    let run = |words: &[&str]| world.project.run(words);
    for ((title, depends), number) in TASKS.iter().zip(1..) {
        let priority = ["high", "medium", "low"][number % 3];
        let mut words = vec!["task", "add", title, "--priority", priority];
        words.extend(["--criterion", "Freshness is computed when a response is stored"]);
        words.extend(["--criterion", "The tests pass", "--description"]);
        words.push(
            "A response is fresh for a time that is counted from when it was stored. The clock is read once.",
        );
        words.extend(depends.iter().flat_map(|on| ["--depends", on]));
        world.project.json(&words);
    }
    let assigned = [
        ("1", "opencode"),
        ("2", "codex"),
        ("3", "claude"),
        ("4", "gemini"),
        ("6", "codex"),
        ("9", "opencode"),
    ];
    for (task, agent) in assigned {
        run(&["task", "assign", task, "--agent", agent]);
    }
    let comment = "src/freshness.rs:8: A Date in the future is a wrong clock. Take the earlier of the two.";
    let reason = "s-maxage comes before max-age in a shared cache";
    run(&["task", "reject", "3", "--reason", reason, "--comment", comment]);
    run(&["task", "criteria", "3", "--check", "1", "--check", "2"]);
    run(&["task", "criteria", "4", "--check", "1"]);
    for task in ["1", "2", "4"] {
        run(&["task", "approve", task, "--anyway"]);
    }
    for (task, agent) in [("5", "claude"), ("8", "claude"), ("10", "opencode")] {
        run(&["task", "assign", task, "--agent", agent, "--no-wait"]);
    }
    run(&["run", "speckit", "--prd", "prd.md", "--level", "5"]);
    until("everything waits", || {
        let phase = |task: &str| world.task(task)["phase"].clone();
        phase("5") == "running" && phase("10") == "asking" && phase("4") == "ready"
    });
    Some(world)
}
