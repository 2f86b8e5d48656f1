//! The workflow `cycle` through the binary: its flags, its iterations, and what a person says to it meanwhile and afterwards.

use crate::run_support::{status, steps, subjects};
use crate::support::{PROGRAM, is_alive, read_when_written};
use regatta_testkit::binary::TestProject;
use regatta_testkit::wait::until;
use serde_json::{Value, json};

/// Plays what the test wrote for the node; `$visit` counts how often, and `ask` calls a tool.
const AGENT: &str = r#"
here="$REGATTA_PROJECT/.regatta/play"
echo >> "$here/visits-$REGATTA_NODE"
visit=$(wc -l < "$here/visits-$REGATTA_NODE")
cat > "$here/told-$REGATTA_NODE-$visit"
ask() {
  printf '%s\n' \
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"sh","version":"1"}}}' \
    '{"jsonrpc":"2.0","method":"notifications/initialized"}' \
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"$1\",\"arguments\":{}}}" \
    | eval "$REGATTA_MCP_COMMAND"
}
. "$here/$REGATTA_NODE"
"#;

const CONFIG: &str = r#"
[project]
default_branch = "main"
approval = "auto"
max_concurrent_agents = 4

[agents.shell]
kind = "command"
instances = 4
command = ['sh', '-c', '''AGENT''']

[roles]
ra = "shell"
ep = "shell"
cd = "shell"
vas = "shell"

[checks]
test = "test -e work.txt"
"#;

pub(crate) const REQUIREMENTS: &str =
    r#"echo '{"specification": "Say hello.", "edge_cases": ["Nobody is there"]}'"#;
const EXPLORATION: &str =
    r#"echo '{"architecture_summary": "One file", "integration_points": [], "identified_risks": []}'"#;
const PLAN: &str = r#"echo '{"tasks": [{"id": "TASK-001", "description": "Say hello", "effort": "small"}], "total_estimated_effort": "an hour", "critical_path": ["TASK-001"]}'"#;
pub(crate) const CODE: &str = r#"
echo "visit $visit" >> work.txt
echo '{"summary": "It says hello", "completed_tasks": ["TASK-001"]}'
"#;
pub(crate) const PASSES: &str =
    r#"echo '{"pass_rate": 100, "coverage": 90, "failed_tests": [], "total_tests": 4, "issues_found": []}'"#;
pub(crate) const FAILS: &str = r#"echo '{"pass_rate": 75, "coverage": 90, "failed_tests": ["hello"], "total_tests": 4, "issues_found": []}'"#;

/// Says that the developer is there, and waits until the test opens the gate.
pub(crate) const GATE: &str = r#"
touch "$here/at-code-$visit"
while [ ! -e "$here/open-$visit" ]; do sleep 0.05; done
"#;

/// Makes a project in which every role does its work at once.
pub(crate) fn project() -> TestProject {
    let project = TestProject::new(PROGRAM, &CONFIG.replace("AGENT", AGENT));
    for (node, script) in
        [("ra", REQUIREMENTS), ("explore", EXPLORATION), ("plan", PLAN), ("code", CODE), ("validate", PASSES)]
    {
        play(&project, node, script);
    }
    project
}

/// Says what a node plays from now on.
pub(crate) fn play(project: &TestProject, node: &str, script: &str) {
    project.repo.write(&format!(".regatta/play/{node}"), script);
}

pub(crate) fn until_at_code(project: &TestProject, visit: u32) {
    let path = project.path().join(format!(".regatta/play/at-code-{visit}"));
    until("the developer works", || path.exists());
}

pub(crate) fn open(project: &TestProject, visit: u32) {
    project.repo.write(&format!(".regatta/play/open-{visit}"), "");
}

/// Returns the prompt that a node got.
fn told(project: &TestProject, node: &str, visit: u32) -> String {
    let path = project.path().join(format!(".regatta/play/told-{node}-{visit}"));
    std::fs::read_to_string(path).expect("the role was told something")
}

pub(crate) fn state(project: &TestProject) -> Value {
    project.json(&["run", "show", "1"])["state"].clone()
}

fn merges(project: &TestProject) -> Vec<String> {
    subjects(project).into_iter().filter(|subject| subject.starts_with("Merge")).collect()
}

#[test]
fn from_a_title_to_the_merge() {
    let project = project();
    play(&project, "validate", &format!("if [ $visit = 1 ]; then {FAILS}; else {PASSES}; fi"));
    let words =
        ["run", "cycle", "Say hello", "--description", "Say hello to everybody", "--max-iterations", "5"];
    let ran = project.run(&words);
    assert_eq!(ran.code, Some(0), "{ran:?}");
    let shown = project.json(&["run", "show", "1"]);
    assert_eq!(
        shown["input"],
        json!({ "title": "Say hello", "description": "Say hello to everybody", "max_iterations": 5 })
    );
    let iteration = ["begun", "analysed", "planned", "coded", "validated", "aggregated"];
    let edges: Vec<String> =
        steps(&project, 1).iter().filter_map(|step| step.split(' ').nth(1).map(str::to_owned)).collect();
    assert_eq!(edges, [&iteration[..], &["next-iteration"], &iteration, &["clean"]].concat());
    let state = &shown["state"];
    assert_eq!(state["iterations"][0]["issues_found"], json!(["failing test: hello"]));
    assert_eq!(state["iterations"][1]["resolved"], true);
    for part in ["requirements", "exploration", "plan", "test_results"] {
        assert_eq!(state[part]["version"], "1.1.0", "{part}");
    }
    // What was changed is what git says, though the developer said nothing of it.
    let changes: Vec<String> = state["changes"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|change| format!("{} {} {}", change["iteration"], change["action"], change["file"]))
        .collect();
    assert_eq!(changes, [r#"1 "create" "work.txt""#, r#"2 "modify" "work.txt""#]);
    assert!(told(&project, "code", 2).contains("failing test: hello"), "{}", told(&project, "code", 2));
    assert!(told(&project, "ra", 2).contains("\n- failing test: hello\n"), "{}", told(&project, "ra", 2));
    let prompt = told(&project, "validate", 2);
    assert!(
        prompt.contains("\n- modify work.txt: It says hello\n"),
        "also a single change is listed: {prompt}"
    );
    let log = project.run(&["run", "log", "1"]).stdout;
    assert_eq!(
        log.matches("Say hello.").count(),
        2,
        "also what the analyst returned beside the planner: {log}"
    );
    assert_eq!(merges(&project), ["Merge task #1: Say hello"]);
    assert_eq!(project.run(&["doctor"]).code, Some(0));
}

#[test]
fn every_property_of_the_input_is_a_flag() {
    let project = project();
    let outside = project.repo.outside().to_owned();
    let (root, outside) = (project.path().display().to_string(), outside.display().to_string());
    let usage = |words: &[&str]| {
        let outcome = project.run(words);
        assert_eq!(outcome.code, Some(2), "{words:?}: {outcome:?}");
        outcome.stderr
    };
    let mistyped = usage(&["run", "cycle", "Say hello", "--max-iteration", "5"]);
    assert!(mistyped.contains("'--max-iterations'"), "{mistyped}");
    usage(&["run", "cycle", "Say hello", "Say goodbye"]);
    usage(&["run", "cycle", "Say hello", "--title", "Say goodbye"]);
    let wrong = project.refusal(&["run", "cycle", "Say hello", "--max-iterations", "many"]);
    assert!(wrong["message"].is_string() && wrong.to_string().contains("max_iterations"), "{wrong}");
    let untitled = project.run(&["run", "cycle", "--max-iterations", "5"]);
    assert!(untitled.stderr.contains("give the title after the name of the workflow"), "{untitled:?}");
    assert_eq!(project.json(&["run", "list"]), json!([]));

    // Any order, with options of every verb and of `run` in between.
    let words = ["-C", &outside, "run", "cycle", "--max-iterations", "2", "Say hello", "--no-wait", "--json"];
    let begun = project.run(&[&words[..], &["-C", &root, "--cycle-id", "hello"]].concat());
    let begun: Value = serde_json::from_str(&begun.stdout).unwrap_or_else(|_| panic!("{begun:?}"));
    assert_eq!(begun["input"], json!({ "title": "Say hello", "max_iterations": 2, "cycle_id": "hello" }));
    let help = project.run(&["run", "cycle", "Say hello", "--help"]);
    assert_eq!(help.code, Some(0));
    assert!(
        help.stdout.contains("--cycle-id <TEXT>") && help.stdout.contains("whatever is open"),
        "{help:?}"
    );
    let shown = project.run(&["workflow", "show", "cycle"]).stdout;
    assert!(
        shown.contains("--title TEXT  --description TEXT  --max-iterations N  --cycle-id TEXT"),
        "{shown}"
    );
    // The same for signals.
    let extended = project.run(&["run", "signal", "1", "extend", "--text", "More", "--json"]);
    let extended: Value = serde_json::from_str(&extended.stdout).unwrap_or_else(|_| panic!("{extended:?}"));
    assert_eq!(extended["state"]["pending"], json!(["More"]));
}

#[test]
fn it_is_extended_while_it_runs_and_after_its_end() {
    let project = project();
    play(&project, "code", &format!("[ $visit = 1 ] && {{ {GATE} }}\n{CODE}"));
    let running = project.start(&["run", "cycle", "Say hello"]);
    until_at_code(&project, 1);
    let extended = project.json(&["run", "signal", "1", "extend", "--text", "Also say goodbye"]);
    assert_eq!((&extended["status"], &extended["node"]), (&json!("running"), &json!("code")));
    open(&project, 1);
    let ended = running.wait();
    assert_eq!(ended.code, Some(0), "{ended:?}");
    let second = state(&project)["iterations"][1].clone();
    assert_eq!((&second["extension"], &second["resolved"]), (&json!("Also say goodbye"), &json!(true)));
    let prompt = told(&project, "ra", 2);
    assert!(prompt.contains("Say hello\n\n--- ITERATION 2 ---\nAlso say goodbye"), "{prompt}");
    assert!(prompt.contains("(requirement_update)"), "the message is in the prompt: {prompt}");
    assert_eq!(merges(&project).len(), 1, "it was merged once, with both");

    let words = ["run", "signal", "1", "extend", "--text", "And sleep", "--feedback", "Add sleeping"];
    let continued = project.json(&words);
    assert_eq!(continued["status"], "completed", "{continued}");
    let state = &continued["state"];
    assert_eq!(
        (&state["history"], &state["requirements"]["version"]),
        (&json!(["Also say goodbye", "And sleep"]), &json!("1.2.0"))
    );
    let prompt = told(&project, "ra", 3);
    assert!(
        prompt.contains("--- ITERATION 3 ---\nAnd sleep") && prompt.contains("> Add sleeping"),
        "{prompt}"
    );
    assert_eq!(merges(&project), ["Merge task #2: Say hello (I3)", "Merge task #1: Say hello"]);
    assert_eq!(project.run(&["doctor"]).code, Some(0));
}

#[test]
fn a_limit_that_is_reached_is_raised() {
    let project = project();
    play(&project, "validate", FAILS);
    let ended = project.run(&["run", "cycle", "Say hello", "--max-iterations", "1"]);
    assert_eq!(ended.code, Some(1), "{ended:?}");
    let reason = "the limit of 1 iterations is reached; open: failing test: hello";
    assert!(ended.stderr.contains(reason), "{ended:?}");
    assert_eq!(
        project.refusal(&["run", "signal", "1", "raise", "--max-iterations", "1"])["code"],
        "SIGNAL_REFUSED"
    );
    assert_eq!(merges(&project), Vec::<String>::new());
    play(&project, "validate", PASSES);
    let raised = project.json(&["run", "signal", "1", "raise", "--max-iterations", "2"]);
    assert_eq!((&raised["status"], &raised["state"]["current_iteration"]), (&json!("completed"), &json!(2)));
    assert_eq!(merges(&project), ["Merge task #1: Say hello"], "the work on the task was continued");
}

#[test]
fn a_pause_is_seen_by_the_agent_and_lets_the_step_end() {
    let project = project();
    let looks = r#"
touch "$here/at-code-$visit"
if [ $visit = 1 ]; then
  for look in $(seq 500); do ask check_signals > "$here/signals"; grep -q paused "$here/signals" && break; sleep 0.05; done
fi
"#;
    play(&project, "code", &format!("{looks}{CODE}"));
    let running = project.start(&["run", "cycle", "Say hello"]);
    until_at_code(&project, 1);
    project.json(&["run", "pause", "1"]);
    let rested = running.wait();
    assert_eq!(rested.code, Some(0), "{rested:?}");
    let seen = std::fs::read_to_string(project.path().join(".regatta/play/signals")).expect("it has looked");
    assert!(seen.contains("the run was paused"), "{seen}");
    let shown = project.json(&["run", "show", "1"]);
    assert_eq!((&shown["status"], &shown["node"]), (&json!("paused"), &json!("validate")), "{shown}");
    assert_eq!(shown["state"]["plan"]["tasks"][0]["status"], "completed", "the step has ended");
    assert!(!project.path().join(".regatta/play/visits-validate").exists(), "the next one has not begun");
    assert_eq!(project.json(&["run", "resume", "1"])["status"], "completed");
    assert_eq!(merges(&project), ["Merge task #1: Say hello"]);
}

#[test]
fn a_stop_ends_the_tree_of_processes_and_the_cycle_can_be_extended() {
    let project = project();
    let hangs = r#"
if [ $visit = 1 ]; then
  echo half > half.txt
  sleep 1000 &
  echo $! > "$here/pid"
  touch "$here/at-code-$visit"
  wait
fi
"#;
    play(&project, "code", &format!("{hangs}{CODE}"));
    let running = project.start(&["run", "cycle", "Say hello"]);
    until_at_code(&project, 1);
    let pid = read_when_written(&project.path().join(".regatta/play/pid"));
    let stopped = project.json(&["run", "stop", "1", "--reason", "not like this"]);
    assert_eq!(stopped["status"], "failed", "{stopped}");
    assert_eq!(running.wait().code, Some(1));
    assert!(!is_alive(pid.trim()), "the program of the agent's program has ended too");
    let continued = project.json(&["run", "signal", "1", "extend", "--text", "Do it another way"]);
    assert_eq!(continued["status"], "completed", "{continued}");
    assert_eq!(continued["state"]["current_iteration"], 2);
    assert_eq!(merges(&project), ["Merge task #1: Say hello"], "on the same task");
    assert_eq!(project.run(&["doctor"]).code, Some(0));
}

#[test]
fn decisions_and_blockers_are_raised_by_roles_and_answered_by_a_person() {
    let project = project();
    let asks = r#"echo '{"specification": "Say hello.", "edge_cases": [], "decisions": [{"description": "In which language?", "options": ["Latin", "Greek"]}]}'"#;
    let once = |first: &str, later: &str| format!("if [ $visit = 1 ]; then {first}; else {later}; fi");
    play(&project, "ra", &once(asks, REQUIREMENTS));
    let blocked = r#"echo '{"summary": "It says hello", "completed_tasks": [], "blocked_tasks": ["TASK-001"], "blockers": ["No dictionary"]}'"#;
    let first = format!("{GATE}\necho hello > work.txt; {blocked}");
    play(&project, "code", &format!("if [ $visit = 1 ]; then {first}; else {CODE} fi"));
    let running = project.start(&["run", "cycle", "Say hello"]);
    until_at_code(&project, 1);
    assert_eq!(
        project.refusal(&["run", "signal", "1", "decide", "--id", "D9", "--option", "Greek"])["code"],
        "SIGNAL_REFUSED"
    );
    let decided = project.json(&["run", "signal", "1", "decide", "--id", "D1", "--option", "Greek"]);
    assert_eq!(decided["state"]["decisions"][0]["status"], "made");
    open(&project, 1);
    let asked = running.wait();
    assert_eq!(asked.code, Some(0), "{asked:?}");
    let shown = project.json(&["run", "show", "1"]);
    assert_eq!(
        (&shown["question"], &shown["waitsFor"]),
        (&json!("The cycle needs you: B1: No dictionary"), &json!("you"))
    );
    assert_eq!(shown["state"]["plan"]["tasks"][0]["status"], "blocked");
    let answered = project.json(&["run", "answer", "1", "There is one in the library"]);
    assert_eq!(answered["status"], "completed", "{answered}");
    let state = &answered["state"];
    assert_eq!(state["current_iteration"], 2, "what was answered is worked in");
    assert_eq!(
        (&state["decisions"][0]["status"], &state["decisions"][0]["chosen_option"]),
        (&json!("implemented"), &json!("Greek"))
    );
    assert_eq!(
        (&state["blockers"][0]["status"], &state["blockers"][0]["resolution"]),
        (&json!("resolved"), &json!("There is one in the library"))
    );
    let prompt = told(&project, "code", 2);
    assert!(prompt.contains("- D1: In which language?: Greek"), "{prompt}");
    assert!(prompt.contains("> There is one in the library"), "{prompt}");
    assert_eq!(status(&project, 1), "completed");
}

#[test]
fn the_demo_plays_a_cycle() {
    let project = TestProject::without_init(PROGRAM);
    let folder = project.repo.outside().join("slug");
    let place = folder.to_str().expect("the folder's name is text");
    let played = project.run(&["demo", "--workflow", "cycle", "--yes", "--dir", place]);
    assert_eq!(played.code, Some(0), "{played:?}");
    assert!(played.stdout.contains("done: 3 iterations, 2 merges"), "{played:?}");
    assert!(
        played.stdout.contains("  .regatta/cycles/slug.progress/coordination/timeline.md\n"),
        "{played:?}"
    );
    let shown = project.json(&["-C", place, "run", "show", "1"]);
    let open = |number: usize| shown["state"]["iterations"][number]["issues_found"].clone();
    assert_eq!(open(0), json!(["failing test: tests/spaces.sh", "failing check: test"]));
    assert_eq!((open(1), open(2)), (json!([]), json!([])));
    assert_eq!(shown["state"]["requirements"]["version"], "1.2.0");
    let slug =
        std::process::Command::new("sh").args(["slug.sh", "What's new?"]).current_dir(&folder).output();
    assert_eq!(slug.expect("the script can be run").stdout, b"what-s-new\n");
}

#[test]
fn the_demo_leaves_a_cycle_to_be_played() {
    let project = TestProject::without_init(PROGRAM);
    let folder = project.repo.outside().join("slug");
    let place = folder.to_str().expect("the folder's name is text");
    let made = project.json(&["demo", "--workflow", "cycle", "--no-run", "--dir", place]);
    assert_eq!(made["next"], r#"regatta run cycle "Turn titles into addresses""#);
    let begun = project.json(&["-C", place, "run", "cycle", "Turn titles into addresses", "--no-wait"]);
    assert_eq!((&begun["workflow"], &begun["status"]), (&json!("cycle"), &json!("created")), "{begun}");
}
