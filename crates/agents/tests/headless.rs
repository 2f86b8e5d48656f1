//! Headless agents through the public interface, played by a shell that prints what the real ones do.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use std::os::unix::fs::PermissionsExt;

use regatta_agents::{
    FailureClass, HeadlessKind, Outcome, Output, Program, ResultFrom, Start, StartError, StopReason,
    ToolServer,
};
use serde_json::json;
use support::{Place, failure, is_alive, run, text_of, within, words};

fn headless(name: &str) -> HeadlessKind {
    HeadlessKind::find(name).unwrap()
}

/// Makes a program of a shell script, which gets the arguments and the prompt of the session.
fn agent(place: &Place, kind: HeadlessKind, script: &str) -> Start {
    let path = place.root().join("agent");
    std::fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).unwrap();
    // Through a shell, because a file that was just written may not be executable yet while others fork.
    place.start(Program::Headless { kind, command: words(&["sh", path.to_str().unwrap()]) })
}

const CLAUDE_BEGIN: &str = r#"echo '{"type":"system","subtype":"init","session_id":"s-1"}'"#;
const CLAUDE_END: &str = r#"echo '{"type":"result","subtype":"success","is_error":false,"num_turns":2,"result":"all good {\"summary\":\"did it\"}"}'"#;

#[tokio::test]
async fn prompt_arguments_and_files_reach_the_program() {
    let place = Place::new();
    let script = format!(
        "cat >prompt; printf '%s\\n' \"$@\" >arguments; cat \"{}/claude-mcp.json\" >settings\n{CLAUDE_BEGIN}\n{CLAUDE_END}",
        place.root().display()
    );
    let mut start = agent(&place, headless("claude"), &script);
    start.prompt = "a secret plan".to_owned();
    start.tools = Some(ToolServer { name: "regatta".to_owned(), command: words(&["regatta", "mcp"]) });
    let (outputs, ended) = run(start).await;
    assert_eq!(ended.outcome, Outcome::Finished);
    assert_eq!((ended.turns, ended.agent_session.as_deref()), (2, Some("s-1")));
    assert_eq!(ended.result, Some(json!({ "summary": "did it" })));
    assert_eq!((ended.result_from, ended.summary.as_deref()), (Some(ResultFrom::Message), Some("did it")));
    assert_eq!(text_of(&outputs), "all good {\"summary\":\"did it\"}");
    let read = |name: &str| std::fs::read_to_string(place.folder().join(name)).unwrap();
    assert_eq!(read("prompt"), "a secret plan");
    assert!(
        read("arguments").starts_with("-p\n") && !read("arguments").contains("plan"),
        "{}",
        read("arguments")
    );
    assert!(read("settings").contains("\"regatta\""));
    assert!(place.transcript().iter().any(|line| line.starts_with("out: {\"type\":\"system\"")));
}

#[tokio::test]
async fn the_result_file_comes_before_the_last_message() {
    let place = Place::new();
    let script =
        format!("echo '{{\"from\":\"file\"}}' >\"$REGATTA_RESULT_FILE\"\n{CLAUDE_BEGIN}\n{CLAUDE_END}");
    let (_, ended) = run(agent(&place, headless("claude"), &script)).await;
    assert_eq!((ended.result, ended.result_from), (Some(json!({ "from": "file" })), Some(ResultFrom::File)));

    // What an earlier session left there does not count for the next one.
    let script = format!("{CLAUDE_BEGIN}\n{CLAUDE_END}");
    let (_, ended) = run(agent(&place, headless("claude"), &script)).await;
    assert_eq!(ended.result_from, Some(ResultFrom::Message));

    let script = format!("ln -s /etc/passwd \"$REGATTA_RESULT_FILE\"\n{CLAUDE_BEGIN}\n{CLAUDE_END}");
    let (_, ended) = run(agent(&place, headless("claude"), &script)).await;
    assert_eq!(ended.result_from, Some(ResultFrom::Message));
    assert!(matches!(&ended.result_faults[..], [fault] if fault.contains("cannot be read")), "{ended:?}");
    assert!(place.transcript().iter().any(|line| line.starts_with("note: the result file")));
}

#[tokio::test]
async fn any_program_may_use_the_result_file() {
    let place = Place::new();
    let script = r#"echo '{"printed":1}'; echo '{"summary":"of the file"}' >"$REGATTA_RESULT_FILE""#;
    let (_, ended) = run(place.shell(script)).await;
    assert_eq!((ended.result_from, ended.summary.as_deref()), (Some(ResultFrom::File), Some("of the file")));
}

#[tokio::test]
async fn an_exit_with_0_is_no_success() {
    let place = Place::new();
    let error = r#"echo '{"type":"message","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"Ran into this error: Rate limit exceeded: slow down, retry-after: 60."}]}}'; echo '{"type":"complete"}'"#;
    let failed = failure(run(agent(&place, headless("goose"), error)).await.1);
    assert_eq!(failed.class, FailureClass::RateLimit);
    assert!(failed.until.is_some());
    let cut = failure(run(agent(&place, headless("claude"), CLAUDE_BEGIN)).await.1);
    assert_eq!(cut.class, FailureClass::Crash);
    assert_eq!(cut.message, "the program ended without reporting that it is done");
}

#[tokio::test]
async fn an_error_before_the_stream_begins_is_explained() {
    let place = Place::new();
    let script = "echo 'Error: thread/resume failed: no rollout found for thread id x' >&2; exit 1";
    let mut start = agent(&place, headless("codex"), script);
    start.resume = Some("x".to_owned());
    let (_, ended) = run(start).await;
    assert_eq!(ended.agent_session, None);
    let failed = failure(ended);
    assert_eq!((failed.class, failed.exit), (FailureClass::Crash, Some(1)));
    let printed = "echo 'error: Failed to collect extensions'; exit 1";
    let explained = failure(run(agent(&place, headless("goose"), printed)).await.1);
    assert_eq!(explained.message, "exited with code 1: error: Failed to collect extensions");
    assert!(failed.message.contains("no rollout found") && failed.tail.contains("no rollout"), "{failed:?}");
}

#[tokio::test]
async fn a_limit_that_is_passed_ends_the_whole_tree() {
    let place = Place::new();
    let script = format!(
        "{CLAUDE_BEGIN}\nsleep 1000 & echo $! >child\n{}\nwait",
        r#"echo '{"type":"assistant","parent_tool_use_id":null,"message":{"id":"m","content":[],"usage":{"input_tokens":900,"output_tokens":200}}}'"#
    );
    let mut start = agent(&place, headless("claude"), &script);
    start.limits.tokens_max = Some(1000);
    let (outputs, ended) = run(start).await;
    assert!(outputs.iter().any(|output| matches!(output, Output::Used(usage) if usage.tokens() == 1100)));
    assert_eq!(ended.usage.tokens(), 1100);
    let failed = failure(ended);
    assert_eq!(
        (failed.class, failed.message.as_str()),
        (FailureClass::Budget, "used 1100 tokens, and may use 1000")
    );
    let child = std::fs::read_to_string(place.folder().join("child")).unwrap().trim().parse().unwrap();
    assert!(!is_alive(child));

    let mut start = agent(&place, headless("claude"), &script);
    start.limits.turns_max = Some(0);
    assert_eq!(failure(run(start).await.1).message, "took more than 0 turns");
}

#[tokio::test]
async fn a_stop_is_a_stop_whatever_the_stream_said() {
    let place = Place::new();
    let script = format!("{CLAUDE_BEGIN}\n{CLAUDE_END}\nsleep 1000");
    let mut session = regatta_agents::start(agent(&place, headless("claude"), &script)).await.unwrap();
    while !matches!(within(session.next()).await, Some(Output::Text(_))) {}
    session.stopper().stop(StopReason::Paused);
    let ended = within(session.wait()).await;
    assert_eq!(ended.outcome, Outcome::Stopped(StopReason::Paused));
    assert_eq!(ended.agent_session.as_deref(), Some("s-1"));
}

#[tokio::test]
async fn secrets_are_named_and_not_shown() {
    let place = Place::new();
    let script = r#"
        printf '{"type":"message","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"the key is %s"}]}}\n' "${API_KEY%????}"
        printf '{"type":"message","message":{"id":"m","role":"assistant","content":[{"type":"text","text":"%s, yes {\\"k\\":\\"%s\\"}"}]}}\n' "${API_KEY#??????}" "$PLAIN"
        printf '%s' "$API_KEY" >&2
        printf '%s\n' "$API_KEY"
        echo '{"type":"complete"}'; exit 3
    "#;
    let mut start = agent(&place, headless("goose"), script);
    start.environment.push(("API_KEY".to_owned(), "sk-3141592".to_owned()));
    start.environment.push(("PLAIN".to_owned(), "marked-as-secret".to_owned()));
    start.secrets.push("PLAIN".to_owned());
    let (outputs, ended) = run(start).await;
    assert!(text_of(&outputs).starts_with("the key is [API_KEY], yes {\"k\":\"[PLAIN]\"}"), "{outputs:?}");
    assert_eq!(ended.result, Some(json!({ "k": "[PLAIN]" })));
    let everything = format!("{outputs:?} {ended:?} {:?}", place.transcript());
    assert!(!everything.contains("sk-3141592") && !everything.contains("marked-as-secret"), "{everything}");
    assert!(failure(ended).tail.contains("[API_KEY]"));
}

#[tokio::test]
async fn a_line_that_is_too_long_is_said() {
    let place = Place::new();
    let script = format!("{CLAUDE_BEGIN}\nhead -c 20000000 /dev/zero | tr '\\0' x; echo\n{CLAUDE_END}");
    let (outputs, ended) = run(agent(&place, headless("claude"), &script)).await;
    assert_eq!(ended.outcome, Outcome::Finished);
    assert!(outputs.contains(&Output::Skipped { bytes: 20_000_000 }), "{outputs:?}");
    assert!(ended.output_bytes > 20_000_000);
}

#[tokio::test]
async fn what_cannot_start_is_said() {
    let place = Place::new();
    let empty = place.start(Program::Headless { kind: headless("codex"), command: Vec::new() });
    assert!(matches!(regatta_agents::start(empty).await, Err(StartError::EmptyCommand)));
    let mut blocked = agent(&place, headless("opencode"), "true");
    std::os::unix::fs::symlink("elsewhere", place.root().join("opencode.json")).unwrap();
    blocked.model = Some("m".to_owned());
    assert!(matches!(regatta_agents::start(blocked).await, Err(StartError::PrivateFile { .. })));
    assert!(!place.root().join("elsewhere").exists());
}
