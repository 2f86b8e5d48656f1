//! The `command` kind through the public interface, with `sh` as the agent.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use std::time::Duration;

use regatta_agents::{
    FailureClass, Limits, Outcome, Output, Program, ResultIs, Start, StartError, StopReason,
};
use serde_json::json;
use support::{Place, failure, is_alive, read_pid, run, text_of, until, within, words};

#[tokio::test]
async fn the_prompt_goes_in_and_the_result_comes_out() {
    let place = Place::new();
    let script = r#"cat; echo; echo warning >&2; echo '{"turns": 2, "summary": "done", "extra": [1]}'"#;
    let (outputs, ended) = run(place.shell(script)).await;
    assert_eq!(ended.outcome, Outcome::Finished);
    assert_eq!((ended.turns, ended.summary.as_deref()), (2, Some("done")));
    assert_eq!(ended.result, Some(json!({"turns": 2, "summary": "done", "extra": [1]})));
    let text = text_of(&outputs);
    assert!(text.starts_with("do it\n{"), "{text}");
    assert!(outputs.contains(&Output::Error("warning\n".to_owned())), "{outputs:?}");
    assert_eq!(ended.output_bytes, text.len() as u64 + 8);
    let transcript = place.transcript();
    assert_eq!(transcript.first().map(String::as_str), Some("prompt: do it"));
    assert_eq!(transcript.last().map(String::as_str), Some("note: finished"));
    assert!(transcript.contains(&"err: warning\n".to_owned()), "{transcript:?}");
}

#[tokio::test]
async fn a_result_is_not_needed() {
    let place = Place::new();
    let (_, ended) = run(place.shell("echo hello")).await;
    assert_eq!((ended.outcome, ended.turns, ended.result), (Outcome::Finished, 1, None));
}

#[tokio::test]
async fn the_environment_is_an_allow_list() {
    let place = Place::new();
    let mut start = place.shell("env");
    start.environment.push(("GIVEN".to_owned(), "yes".to_owned()));
    start.environment.push(("REGATTA_SESSION".to_owned(), "forged".to_owned()));
    let marker = format!("REGATTA_SESSION={}", start.session);
    let (outputs, _) = run(start).await;
    let text = text_of(&outputs);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.contains(&"GIVEN=yes") && lines.contains(&marker.as_str()), "{text}");
    assert!(lines.iter().any(|line| line.starts_with("PATH=")), "{text}");
    // Cargo sets this for the test itself.
    assert!(std::env::var_os("CARGO_MANIFEST_DIR").is_some());
    assert!(!text.contains("CARGO_MANIFEST_DIR") && !text.contains("forged"), "{text}");
}

#[tokio::test]
async fn exits_and_signals_are_crashes() {
    let place = Place::new();
    let crash = failure(run(place.shell("echo before; echo oops >&2; exit 3")).await.1);
    assert_eq!((crash.class, crash.exit, crash.signal), (FailureClass::Crash, Some(3), None));
    assert_eq!(crash.message, "exited with code 3");
    assert!(crash.tail.contains("before\n") && crash.tail.contains("oops\n"), "{}", crash.tail);
    let killed = failure(run(place.shell("kill -9 $$")).await.1);
    assert_eq!((killed.class, killed.exit, killed.signal), (FailureClass::Crash, None, Some(9)));
}

#[tokio::test]
async fn a_result_can_say_that_it_failed() {
    let place = Place::new();
    let (_, ended) = run(place.shell(r#"echo '{"status":"blocked","error":"no key","turns":4}'"#)).await;
    assert_eq!((ended.turns, ended.result.is_some()), (4, true));
    let refused = failure(ended);
    assert_eq!((refused.class, refused.message.as_str()), (FailureClass::Refused, "no key"));
}

#[tokio::test]
async fn a_tail_is_bounded() {
    let place = Place::new();
    let crash = failure(run(place.shell("yes line | head -c 1000000; exit 1")).await.1);
    assert!(crash.tail.len() <= 4096 && crash.tail.starts_with("line\n"), "{}", crash.tail);
}

#[tokio::test]
async fn a_large_prompt_that_nobody_reads_does_no_harm() {
    let place = Place::new();
    let scripts = ["echo hi", "exec 0<&-; echo hi", "head -c 10 >/dev/null; echo hi"];
    for script in scripts {
        let mut start = place.shell(script);
        start.prompt = "x".repeat(5_000_000);
        let (outputs, ended) = run(start).await;
        assert_eq!(ended.outcome, Outcome::Finished, "{script}");
        assert_eq!(text_of(&outputs), "hi\n", "{script}");
    }
}

#[tokio::test]
async fn binary_output_does_no_harm() {
    let place = Place::new();
    let (outputs, ended) = run(place.shell(r"printf 'a\377\000b'; printf '\303'; printf '\244'")).await;
    assert_eq!((ended.outcome, ended.output_bytes), (Outcome::Finished, 6));
    assert_eq!(text_of(&outputs), "a\u{fffd}\0bä");
}

#[tokio::test]
async fn too_long_is_a_timeout() {
    let place = Place::new();
    let mut start = place.shell("while :; do echo x; sleep 0.01; done");
    start.limits.wall = Duration::from_millis(200);
    let timeout = failure(run(start).await.1);
    assert_eq!((timeout.class, timeout.message.as_str()), (FailureClass::Timeout, "ran longer than 200ms"));
    assert_eq!(place.transcript().last().unwrap(), "note: failed: timeout: ran longer than 200ms");
}

#[tokio::test]
async fn too_quiet_is_silence() {
    let place = Place::new();
    let mut start = place.shell("echo x; sleep 1000");
    start.limits.silence = Duration::from_millis(500);
    let (outputs, ended) = run(start).await;
    assert_eq!(text_of(&outputs), "x\n");
    let silence = failure(ended);
    assert_eq!(
        (silence.class, silence.message.as_str()),
        (FailureClass::Silence, "printed nothing for 500ms")
    );
}

#[tokio::test]
async fn output_keeps_silence_away() {
    let place = Place::new();
    let mut start = place.shell("for i in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15; do echo $i; sleep 0.1; done");
    start.limits.silence = Duration::from_secs(1);
    assert_eq!(run(start).await.1.outcome, Outcome::Finished);
}

#[tokio::test]
async fn a_stop_is_no_failure_and_the_first_reason_counts() {
    let place = Place::new();
    let mut session = regatta_agents::start(place.shell("echo $$; sleep 1000")).await.unwrap();
    let pid = read_pid(&mut session).await;
    assert_eq!(session.pid(), Some(pid));
    let stopper = session.stopper();
    stopper.stop(StopReason::Cancelled);
    stopper.clone().stop(StopReason::Shutdown);
    let ended = within(session.wait()).await;
    assert_eq!(ended.outcome, Outcome::Stopped(StopReason::Cancelled));
    assert!(!is_alive(pid));
    stopper.stop(StopReason::Paused);
}

#[tokio::test]
async fn what_runs_on_after_the_end_is_ended() {
    let place = Place::new();
    let mut session = regatta_agents::start(place.shell("sleep 1000 & echo $!")).await.unwrap();
    let pid = read_pid(&mut session).await;
    assert_eq!(within(session.wait()).await.outcome, Outcome::Finished);
    assert!(!is_alive(pid));
}

#[tokio::test]
async fn a_dropped_session_is_ended_too() {
    let place = Place::new();
    let mut session = regatta_agents::start(place.shell("echo $$; exec sleep 1000")).await.unwrap();
    let pid = read_pid(&mut session).await;
    assert!(is_alive(pid));
    drop(session);
    until("the process is dead", || !is_alive(pid)).await;
}

#[tokio::test]
async fn what_cannot_start_is_said() {
    let place = Place::new();
    let command = |argv: &[&str]| place.start(Program::Command(words(argv)));
    let file = place.folder().join("plain");
    std::fs::write(&file, "text").unwrap();
    let mut missing_folder = command(&["true"]);
    missing_folder.folder = place.root().join("missing");
    let mut blocked_transcript = command(&["true"]);
    blocked_transcript.transcript = file.join("transcript");
    let mut bad_environment = command(&["true"]);
    bad_environment.environment.push(("A=B".to_owned(), String::new()));

    let error = async |start| regatta_agents::start(start).await.expect_err("must not start");
    assert!(matches!(error(command(&[])).await, StartError::EmptyCommand));
    assert!(matches!(error(command(&["no-such-program"])).await, StartError::ProgramNotFound { .. }));
    assert!(matches!(error(command(&["./plain"])).await, StartError::ProgramNotExecutable { .. }));
    assert!(matches!(error(missing_folder).await, StartError::FolderMissing { .. }));
    assert!(matches!(error(blocked_transcript).await, StartError::Transcript { .. }));
    assert!(matches!(error(bad_environment).await, StartError::BadEnvironment { .. }));
}

#[tokio::test]
async fn a_second_try_is_appended_to_the_transcript() {
    let place = Place::new();
    run(place.shell("echo one")).await;
    let mut start = place.shell("echo two");
    start.limits = Limits::default();
    run(start).await;
    let transcript = place.transcript();
    assert_eq!(transcript.iter().filter(|line| *line == "prompt: do it").count(), 2);
    assert!(transcript.contains(&"note: started again after an interruption".to_owned()), "{transcript:?}");
}

#[tokio::test]
async fn an_answer_says_nothing_about_the_session() {
    let place = Place::new();
    let start = place.shell(r#"echo '{"status":"blocked","turns":4}'"#);
    let (_, ended) = run(Start { result_is: ResultIs::Answer, ..start }).await;
    assert_eq!((&ended.outcome, ended.turns), (&Outcome::Finished, 1));
    assert_eq!(ended.result, Some(serde_json::json!({ "status": "blocked", "turns": 4 })));
}
