//! What a person sees of a session while it happens: its text, what it is doing, what it used, its uncommitted work.

use crate::run_support::{gated, open, until_begun as until_step};
use crate::support::{PROGRAM, Transcript, add, check, field, until_in, with_shell};
use regatta_testkit::binary::TestProject;
use regatta_testkit::terminal::AtTerminal;
use regatta_testkit::wait::until;

/// Speaks, edits, uses tokens, then works until it may continue.
const SLOW: &str = r#"
[[session]]
step = [
    { say = "I read the \u001b[31mtask\u001b[0m first." },
    { write = { path = "notes.txt", text = "one\ntwo\n" } },
    { usage = { input = 12000, output = 345, cost_micros = 250000 } },
    { run = ["sh", "-c", "touch \"$REGATTA_PROJECT/.regatta/began\"; until test -e \"$REGATTA_PROJECT/.regatta/go\"; do sleep 0.02; done"] },
    { replace = { path = "notes.txt", from = "two", to = "zwei" } },
    { say = "All done." },
]
"#;

fn slow() -> TestProject {
    let config = "[agents.slow]\nkind = \"scripted\"\nscript = \".regatta/scripts/slow.toml\"\n";
    let project = TestProject::new(PROGRAM, config);
    project.repo.write(".regatta/scripts/slow.toml", SLOW);
    project
}

fn until_begun(project: &TestProject) {
    until("the session works", || project.path().join(".regatta/began").exists());
    until("the session is in the log", || field(project, "1", "phase") == "running");
}

/// Hides the days and the times of day.
fn hide_times(text: &str) -> String {
    let mut shown = String::new();
    for line in text.lines() {
        let is_time = |part: &str| part.len() == 8 && part.bytes().filter(|byte| *byte == b':').count() == 2;
        let is_day = |part: &str| part.len() == 10 && part.bytes().filter(|byte| *byte == b'-').count() == 2;
        let words = line.split(' ').map(|word| match word {
            time if is_time(time) => "HH:MM:SS",
            day if is_day(day) => "YYYY-MM-DD",
            other => other,
        });
        let line = words.collect::<Vec<_>>().join(" ");
        shown.push_str(
            line.strip_prefix("HH:MM:SS").map_or(line.clone(), |rest| format!("        {rest}")).as_str(),
        );
        shown.push('\n');
    }
    shown
}

#[test]
fn a_session_is_followed_from_another_terminal_and_ends_with_it() {
    let project = slow();
    add(&project, "a task");
    let assign = project.start(&["task", "assign", "1", "--agent", "slow"]);
    until_begun(&project);
    let mut reader = AtTerminal::start(&project, &["task", "log", "1", "-f"]);
    reader.until_shown("I read the task first.");
    reader.until_shown("notes.txt");
    reader.until_shown("two");

    let shown = project.json(&["task", "show", "1"]);
    let activity = &shown["activity"];
    assert_eq!((&activity["file"], &activity["tokens"]), (&"notes.txt".into(), &12_345.into()), "{activity}");
    assert_eq!(activity["costMicros"], 250_000);
    assert!(activity["lastSignAt"].is_string(), "{activity}");
    let text = project.run(&["task", "show", "1"]).stdout;
    assert!(text.contains("12,345 tokens, $0.25") && text.contains("last sign"), "{text}");

    let cost = project.json(&["cost"]);
    assert_eq!(
        (&cost["total"]["running"], &cost["total"]["inputTokens"]),
        (&1.into(), &12_000.into()),
        "{cost}"
    );
    let by_task = project.json(&["cost", "--by", "task"]);
    assert_eq!(by_task["lines"][0]["outputTokens"], 345, "{by_task}");

    let diff = project.json(&["task", "diff", "1"]);
    assert_eq!(diff["uncommitted"][0], "notes.txt");
    let patch = diff["uncommittedDiff"]["patch"].as_str().expect("the work is shown");
    assert!(patch.contains("+one\n+two\n"), "{patch}");
    assert!(project.run(&["task", "diff", "1"]).stdout.contains("not committed yet"));

    project.repo.write(".regatta/go", "");
    reader.until_shown("zwei");
    reader.until_shown("finished after");
    assert_eq!(reader.wait(), Some(0));
    assert_eq!(assign.wait().code, Some(0));
    let cost = project.json(&["cost"]);
    assert_eq!((&cost["total"]["running"], &cost["total"]["sessions"]), (&0.into(), &1.into()), "{cost}");
}

#[test]
fn a_session_as_text_as_items_and_as_it_is() {
    let project = slow();
    project.repo.write(".regatta/go", "");
    add(&project, "a task");
    project.run(&["task", "assign", "1", "--agent", "slow"]);
    let text = hide_times(&project.run(&["task", "log", "1"]).stdout);
    check(&project, "session_log", &text);
    let items = project.json(&["task", "log", "1"]);
    let kinds: Vec<&str> =
        items.as_array().expect("items are a list").iter().filter_map(|item| item["kind"].as_str()).collect();
    assert_eq!(kinds, ["prompted", "said", "edited", "used", "edited", "said", "ended"]);
    assert_eq!((&items[2]["session"], &items[2]["taskId"]), (&1.into(), &1.into()));
    let raw = project.run(&["task", "log", "1", "--raw"]).stdout;
    assert_eq!(
        raw,
        std::fs::read_to_string(project.session_transcript(1, 1)).expect("there is a transcript")
    );
    let prompted = project.run(&["task", "log", "1", "--prompt"]).stdout;
    assert!(prompted.len() > 2 * text.len(), "{prompted}");
}

#[test]
fn the_sessions_of_a_runs_roles_are_followed_from_another_terminal() {
    let project = gated();
    let run = project.start(&["run", "speckit", "--prd", "plan.md", "--level", "5"]);
    until_step(&project, 1);
    let mut reader = AtTerminal::start(&project, &["run", "log", "1", "-f"]);
    reader.until_shown("spec (planner)");
    reader.until_shown("coder (worker)");
    (1..=20).for_each(|step| open(&project, step));
    reader.until_shown("reviewer (judge)");
    assert_eq!(reader.wait(), Some(0), "it ends when the run waits for a person or has ended");
    assert_eq!(run.wait().code, Some(0));
    let items = project.json(&["run", "log", "1"]);
    let items = items.as_array().expect("items are a list");
    let ends = items.iter().filter(|item| item["kind"] == "ended").count();
    assert!(ends >= 3, "one for the spec writer, the coder and the reviewer: {items:?}");
    let spec = items.iter().filter(|item| item["role"] == "spec" && item["taskId"].is_null());
    let kinds: Vec<&str> = spec.filter_map(|item| item["kind"].as_str()).collect();
    assert!(kinds.contains(&"prompted") && kinds.contains(&"ended"), "a role without a task too: {items:?}");
    let raw = project.run(&["run", "log", "1", "--raw"]).stdout;
    assert!(raw.lines().all(|line| line.starts_with('{')) && raw.contains("\"stream\":\"prompt\""), "{raw}");
    assert_eq!(project.refusal(&["run", "log", "7"])["code"], "RUN_NOT_FOUND");
}

#[test]
fn a_task_without_sessions_says_so() {
    let project = with_shell("true", "");
    add(&project, "a task");
    let mut typed = Transcript::new(&project);
    typed.run(&["task", "log", "1"]);
    typed.run(&["task", "log", "1", "--follow"]);
    typed.run(&["--json", "task", "log", "1"]);
    typed.run(&["task", "log", "1", "--session", "3"]);
    typed.run(&["task", "log", "2"]);
    typed.check("session_log_of_none");
}

/// Sessions of one task follow each other, and who follows them sees both.
#[test]
fn following_continues_with_the_next_session() {
    let script = "until test -e \"$REGATTA_PROJECT/.regatta/go-$REGATTA_SESSION_NUMBER\"; do sleep 0.02; done; \
        echo \"this is $REGATTA_SESSION_NUMBER\"; echo \"$REGATTA_SESSION_NUMBER\" > work.txt; \
        test $REGATTA_SESSION_NUMBER = 2 || exit 3";
    let project = with_shell(script, "[limits]\nretries = 1\nretry_pause = \"100ms\"\n");
    add(&project, "a task");
    let assign = project.start(&["task", "assign", "1", "--agent", "shell"]);
    until("the first session runs", || field(&project, "1", "phase") == "running");
    let reader = project.start(&["task", "log", "1", "-f"]);
    project.repo.write(".regatta/go-1", "");
    project.repo.write(".regatta/go-2", "");
    let outcome = reader.wait();
    assert_eq!(outcome.code, Some(0), "{outcome:?}");
    let (first, second) = (outcome.stdout.find("this is 1"), outcome.stdout.find("this is 2"));
    assert!(first.is_some() && first < second, "{}", outcome.stdout);
    assert_eq!(assign.wait().code, Some(0));
}

/// What an agent prints cannot paint over the reader's terminal.
#[test]
fn control_characters_of_an_agent_are_not_obeyed() {
    let script = r#"printf 'a\033[2J\033]0;title\007b\rc\010d \342\200\256e\n'; printf 'x%.0s' $(seq 200000); echo; echo end > work.txt"#;
    let project = with_shell(script, "");
    add(&project, "a task");
    project.run(&["task", "assign", "1", "--agent", "shell"]);
    let shown = project.run(&["task", "log", "1"]).stdout;
    assert!(
        shown.chars().all(|character| character == '\n' || !character.is_control()),
        "{:?}",
        &shown[..500]
    );
    assert!(shown.contains("ab\n") && shown.contains("c\\u{8}d \\u{202e}e"), "{:?}", &shown[..500]);
}

#[test]
fn an_engine_prints_a_line_for_each_change_unless_it_is_to_be_quiet() {
    for (arguments, says) in [(&["up"][..], true), (&["up", "--quiet"][..], false)] {
        let project = with_shell("echo done > work.txt", "");
        add(&project, "a task");
        let engine = project.start(arguments);
        until("the engine runs", || !project.json(&["task", "show", "1"]).is_null());
        project.run(&["task", "assign", "1", "--agent", "shell", "--no-wait"]);
        until_in(&project, "1", "waiting_approval");
        let said = engine.kill().stderr;
        assert_eq!(said.contains("completed: 1 file, +1 -0"), says, "{said}");
        assert_eq!(said.is_empty(), !says, "{said}");
    }
}

/// What waits for the clock, for a person or in the queue, and what works, can be told apart at a glance.
#[test]
fn the_list_tells_what_works_from_what_waits() {
    let script = r#"case "$REGATTA_TASK_ID" in
        1) until test -e "$REGATTA_PROJECT/.regatta/go"; do sleep 0.02; done ;;
        2) echo "error: 429 too many requests, try again in 7200s" >&2; exit 1 ;;
        3) exit 3 ;;
    esac; echo done > work.txt"#;
    let more = "instances = 3\n[project]\nmax_concurrent_agents = 2\n";
    let project = with_shell(script, more);
    for task in ["1", "2", "3", "4"] {
        add(&project, &format!("task {task}"));
    }
    let engine = project.start(&["up"]);
    for (task, phase) in [("1", "running"), ("2", "parked"), ("3", "halted"), ("4", "queued")] {
        project.run(&["task", "assign", task, "--agent", "shell", "--no-wait"]);
        until(&format!("#{task} is {phase}"), || {
            let now = field(&project, task, "phase");
            now == phase || (phase == "queued" && now != "waiting")
        });
    }
    let list = project.run(&["task", "list"]).stdout;
    let line = |task: &str| {
        list.lines().find(|line| line.contains(&format!("task {task}"))).unwrap_or_default().to_owned()
    };
    assert!(line("1").ends_with("working"), "{list}");
    assert!(
        line("2").contains("parked: limited until ") && line("2").ends_with("resumes automatically"),
        "{list}"
    );
    assert!(line("3").ends_with("halted, needs you: AGENT_SESSION_FAILED"), "{list}");
    let shown = project.json(&["task", "show", "2"]);
    assert_eq!((&shown["waitsFor"], &shown["parked"]["class"]), (&"clock".into(), &"rate_limit".into()));
    assert_eq!(
        (&shown["until"], &field(&project, "3", "waitsFor")),
        (&shown["parked"]["until"], &"you".into())
    );
    let text = project.run(&["task", "show", "2"]).stdout;
    assert!(text.contains("in_progress (parked)") && text.contains("limited until "), "{text}");
    project.repo.write(".regatta/go", "");
    engine.kill();
    let text = project.run(&["task", "show", "2"]).stdout;
    assert!(text.contains("then needs an engine: regatta up"), "{text}");
}
