//! The `scripted` kind through the public interface.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use std::path::Path;
use std::process::Command;
use std::time::Duration;

use regatta_agents::{
    Asker, FailureClass, Kind, Outcome, Output, PermissionAnswer, Permissions, Script, ScriptError,
    StopReason, Usage,
};
use serde_json::json;
use support::{Place, failure, is_alive, read_pid, run, text_of, until, within};

const WORK: &str = r#"
    [[session]]
    turns = 3
      [[session.step]]
      say = "Reading ${title}"
      [[session.step]]
      write = { path = "sub/greeting.txt", text = "hello ${title}\n" }
      [[session.step]]
      append = { path = "log.txt", text = "one\n" }
      [[session.step]]
      append = { path = "log.txt", text = "two\n" }
      [[session.step]]
      replace = { path = "old.txt", from = "old", to = "new" }
      [[session.step]]
      remove = "gone.txt"
      [[session.step]]
      commit = "greet ${title}"
      [[session.step]]
      result = { summary = "greeted ${title}", list = ["$$"] }
    [[session]]
      [[session.step]]
      say = "second"
"#;

fn git(place: &Place, arguments: &[&str]) -> String {
    git_in(&place.folder(), arguments)
}

fn git_in(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new("git")
        .args(["-c", "user.name=test", "-c", "user.email=test@regatta.invalid"])
        .args(arguments)
        .current_dir(folder)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

fn repository() -> Place {
    let place = Place::new();
    git(&place, &["init", "--quiet"]);
    std::fs::write(place.folder().join("old.txt"), "old text\n").unwrap();
    std::fs::write(place.folder().join("gone.txt"), "x").unwrap();
    git(&place, &["add", "--all"]);
    git(&place, &["commit", "--quiet", "--message", "first"]);
    place
}

fn step(step: &str) -> String {
    format!("[[session]]\n[[session.step]]\nsay = \"before\"\n[[session.step]]\n{step}\n")
}

#[tokio::test]
async fn a_script_edits_commits_and_reports_and_can_be_played_again() {
    let place = repository();
    // This hook runs even with --no-verify.
    let hook = place.folder().join(".git/hooks/prepare-commit-msg");
    std::fs::create_dir_all(hook.parent().unwrap()).unwrap();
    std::fs::write(&hook, "#!/bin/sh\nexit 1\n").unwrap();
    std::fs::set_permissions(&hook, std::os::unix::fs::PermissionsExt::from_mode(0o755)).unwrap();

    let (outputs, ended) = run(place.script(WORK)).await;
    assert_eq!(ended.outcome, Outcome::Finished);
    assert_eq!((ended.turns, ended.summary.as_deref()), (3, Some("greeted world")));
    assert_eq!(ended.result, Some(json!({"summary": "greeted world", "list": ["$"]})));
    let edited = |path: &str| Output::Edited { path: path.to_owned(), change: None };
    let without_change = |output: &Output| match output {
        Output::Edited { path, .. } => edited(path),
        other => other.clone(),
    };
    assert_eq!(
        outputs.iter().map(without_change).collect::<Vec<_>>(),
        [
            Output::Text("Reading world\n".to_owned()),
            edited("sub/greeting.txt"),
            edited("log.txt"),
            edited("log.txt"),
            edited("old.txt"),
            edited("gone.txt"),
            Output::Committed { message: "greet world".to_owned() },
        ]
    );

    let (outputs, ended) = run(place.script(WORK)).await;
    assert_eq!(ended.outcome, Outcome::Finished);
    assert!(!outputs.iter().any(|output| matches!(output, Output::Committed { .. })), "{outputs:?}");
    let read = |path: &str| std::fs::read_to_string(place.folder().join(path)).unwrap();
    assert_eq!(read("sub/greeting.txt"), "hello world\n");
    assert_eq!(read("log.txt"), "one\ntwo\n");
    assert_eq!(read("old.txt"), "new text\n");
    assert!(!place.folder().join("gone.txt").exists());
    let log = git(&place, &["log", "--format=%an <%ae> %s"]);
    assert_eq!(
        log,
        "Regatta scripted agent <agent@regatta.invalid> greet world\ntest <test@regatta.invalid> first\n"
    );
    assert_eq!(git(&place, &["status", "--porcelain"]), "");
    assert!(place.transcript().contains(&"note: there is nothing to commit".to_owned()));
}

#[tokio::test]
async fn the_identity_of_the_session_is_used() {
    let place = repository();
    let mut start = place.script(WORK);
    start.environment.push(("GIT_AUTHOR_NAME".to_owned(), "agent-1".to_owned()));
    run(start).await;
    assert_eq!(git(&place, &["log", "-1", "--format=%an"]), "agent-1\n");
}

#[tokio::test]
async fn the_number_picks_the_part() {
    let place = Place::new();
    for number in [2, 3] {
        let mut start = place.script(WORK);
        start.number = number;
        let (outputs, ended) = run(start).await;
        assert_eq!((text_of(&outputs).as_str(), ended.turns), ("second\n", 1));
    }
}

#[tokio::test]
async fn a_commit_outside_of_a_repository_fails_and_touches_none_above() {
    let place = Place::new();
    git_in(place.root(), &["init", "--quiet"]);
    let text = "[[session]]\n[[session.step]]\nwrite = { path = \"a\", text = \"b\" }\n[[session.step]]\ncommit = \"c\"\n";
    let crash = failure(run(place.script(text)).await.1);
    assert_eq!((crash.class, crash.exit), (FailureClass::Crash, Some(128)));
    assert!(crash.tail.contains("not a git repository"), "{}", crash.tail);
    assert!(!place.root().join(".git/index").exists());
}

#[tokio::test]
async fn each_fault_has_its_class() {
    let place = Place::new();
    let classes = [
        ("fault = \"crash\"", FailureClass::Crash, Some(1)),
        ("fault = \"rate_limit\"", FailureClass::RateLimit, None),
        ("fault = \"network\"", FailureClass::Network, None),
        ("fault = \"refused\"", FailureClass::Refused, None),
        ("fault = \"invalid_output\"", FailureClass::InvalidOutput, None),
        ("exit = 9", FailureClass::Crash, Some(9)),
        ("say = \"${unknown}\"", FailureClass::InvalidOutput, None),
        ("result = { a = \"${unknown}\" }", FailureClass::InvalidOutput, None),
        ("result = { status = \"refused\" }", FailureClass::Refused, None),
        ("run = [\"false\"]", FailureClass::Crash, Some(1)),
        ("run = [\"no-such-program\"]", FailureClass::Crash, None),
        ("replace = { path = \"missing\", from = \"a\", to = \"b\" }", FailureClass::Crash, None),
    ];
    for (text, class, exit) in classes {
        let failure = failure(run(place.script(&step(text))).await.1);
        assert_eq!((failure.class, failure.exit), (class, exit), "{text}: {failure}");
        assert!(failure.tail.starts_with("before\n"), "{text}: {}", failure.tail);
    }
}

#[tokio::test]
async fn exit_ends_the_play() {
    let place = Place::new();
    let text = step("exit = 0") + "[[session.step]]\nsay = \"after\"\n";
    let (outputs, ended) = run(place.script(&text)).await;
    assert_eq!((ended.outcome, text_of(&outputs).as_str()), (Outcome::Finished, "before\n"));
}

#[tokio::test]
async fn a_flood_is_counted_and_the_play_goes_on() {
    let place = Place::new();
    let text = step("fault = \"flood\"\nbytes = 3000001") + "[[session.step]]\nexit = 0\n";
    let (_, ended) = run(place.script(&text)).await;
    assert_eq!((ended.outcome, ended.output_bytes), (Outcome::Finished, 3_000_001 + 7));
}

#[tokio::test]
async fn a_hang_ends_by_a_stop_or_a_limit() {
    let place = Place::new();
    let hang = step("fault = \"hang\"");
    let mut session = regatta_agents::start(place.script(&hang)).await.unwrap();
    assert_eq!(session.pid(), None);
    within(session.next()).await.unwrap();
    session.stopper().stop(StopReason::Shutdown);
    assert_eq!(within(session.wait()).await.outcome, Outcome::Stopped(StopReason::Shutdown));

    let mut start = place.script(&hang);
    start.limits.wall = Duration::from_millis(100);
    assert_eq!(failure(run(start).await.1).class, FailureClass::Timeout);
    let mut start = place.script(&step("delay = \"10m\""));
    start.limits.silence = Duration::from_millis(100);
    assert_eq!(failure(run(start).await.1).class, FailureClass::Silence);
}

#[tokio::test]
async fn a_program_of_a_script_is_part_of_the_session() {
    let place = Place::new();
    let text = r#"
        [[session]]
        [[session.step]]
        run = ["sh", "-c", "echo $$$$; echo $REGATTA_SESSION >marker; sleep 1000 & wait"]
    "#;
    let mut session = regatta_agents::start(place.script(text)).await.unwrap();
    let pid = read_pid(&mut session).await;
    assert!(is_alive(pid));
    let marker = format!("{}\n", session.id());
    let file = place.folder().join("marker");
    until("the marker is written", || std::fs::read_to_string(&file).is_ok_and(|text| text == marker)).await;
    session.stopper().stop(StopReason::Cancelled);
    assert_eq!(within(session.wait()).await.outcome, Outcome::Stopped(StopReason::Cancelled));
    assert!(!is_alive(pid));
}

#[tokio::test]
async fn paths_that_lead_out_are_refused() {
    let place = Place::new();
    std::os::unix::fs::symlink("..", place.folder().join("up")).unwrap();
    for path in ["../x", "/tmp/x", "up/x", ".git/config", "${dots}/x"] {
        let mut start = place.script(&step(&format!("write = {{ path = \"{path}\", text = \"\" }}")));
        start.variables.insert("dots".to_owned(), "..".to_owned());
        let refused = failure(run(start).await.1);
        assert_eq!(refused.class, FailureClass::InvalidOutput, "{path}");
        assert!(refused.message.contains("is refused"), "{}", refused.message);
    }
    assert!(!place.root().join("x").exists() && !place.folder().join(".git").exists());
}

#[test]
fn a_script_is_loaded_from_a_file() {
    let place = Place::new();
    let path = place.root().join("script.toml");
    assert!(matches!(Script::load(&path), Err(ScriptError::Unreadable { .. })));
    std::fs::write(&path, "[[session]]\nturn = 1\n").unwrap();
    let error = Script::load(&path).unwrap_err().to_string();
    assert!(
        error.ends_with("script.toml: line 2, column 1: unknown key `turn`; did you mean `turns`?"),
        "{error}"
    );
    std::fs::write(&path, WORK).unwrap();
    assert_eq!(Script::load(&path).unwrap(), Script::parse(WORK).unwrap());
    std::fs::write(&path, "#".repeat(2_000_000)).unwrap();
    assert!(matches!(Script::load(&path), Err(ScriptError::TooLarge { .. })));
}

#[test]
fn a_scripted_agent_says_what_it_is() {
    assert_eq!(Kind::Scripted.says(), "scripted (plays a script, no model)");
    assert_eq!(serde_json::to_string(&Kind::Scripted).unwrap(), format!("\"{}\"", Kind::Scripted));
}

#[tokio::test]
async fn a_script_uses_tokens_until_a_limit_is_passed() {
    let place = Place::new();
    let text = "[[session]]\nagent_session = \"again\"\nstep = [\n\
        { usage = { input = 100, output = 20, cost_micros = 7 } },\n\
        { usage = { input = 100, cached = 50 } },\n\
        { say = \"resumed: ${resumed}\" },\n]\n";
    let mut start = place.script(text);
    start.resume = Some("again".to_owned());
    let (outputs, ended) = run(start).await;
    let used = Usage { input_tokens: 200, cached_tokens: 50, output_tokens: 20, cost_micros: Some(7) };
    assert_eq!((ended.usage, ended.agent_session.as_deref()), (used, Some("again")));
    assert!(outputs.contains(&Output::Used(used)), "{outputs:?}");
    assert_eq!(text_of(&outputs), "resumed: again\n");

    let mut start = place.script(text);
    start.limits.tokens_max = Some(150);
    let (outputs, ended) = run(start).await;
    assert_eq!(text_of(&outputs), "");
    assert_eq!(failure(ended).class, FailureClass::Budget);
}

#[tokio::test]
async fn a_script_asks_for_leave_and_goes_on() {
    let place = Place::new();
    let text = step("ask = \"look outside\"") + "[[session.step]]\nsay = \"after\"\n";
    let asked = |answer, by: &str| Output::PermissionAsked {
        what: "look outside".to_owned(),
        answer,
        by: by.to_owned(),
    };
    let (outputs, ended) = run(place.script(&text)).await;
    assert_eq!((ended.outcome, text_of(&outputs).as_str()), (Outcome::Finished, "before\nafter\n"));
    assert!(outputs.contains(&asked(PermissionAnswer::Denied, "policy")), "{outputs:?}");

    let (asker, mut questions) = Asker::pair();
    let mut start = place.script(&text);
    start.permissions = Permissions::Ask;
    start.asker = Some(asker);
    let running = tokio::spawn(run(start));
    within(questions.next()).await.unwrap().answer(PermissionAnswer::Allowed, "user");
    let (outputs, _) = within(running).await.unwrap();
    assert!(outputs.contains(&asked(PermissionAnswer::Allowed, "user")), "{outputs:?}");
}

#[tokio::test]
async fn a_rate_limit_may_say_when_it_is_over() {
    let place = Place::new();
    let (outputs, ended) = run(place.script(&step("fault = \"rate_limit\"\nreset = \"90s\""))).await;
    let limited = failure(ended);
    assert_eq!(limited.class, FailureClass::RateLimit);
    let until = limited.until.unwrap();
    assert!(
        outputs
            .iter()
            .any(|output| matches!(output, Output::RateLimited { until: Some(told), .. } if *told == until))
    );
}
