//! The whole tree of a session is found and ended, whatever its processes do to get away.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use std::process::{Command, Stdio};
use std::time::Duration;

use regatta_agents::{
    FailureClass, MARKER, Outcome, StartError, StopReason, end_leftovers, find_leftovers, run_to_end,
};
use support::{Place, failure, is_alive, read_pid, session_id, until, within, words};

/// Ignores SIGTERM in a session of its own, and loses its parent.
const RUNAWAY: &str = r#"
    (setsid sh -c 'trap "" TERM; echo $$; while :; do sleep 1000; done' &)
    exec sleep 1000
"#;

#[tokio::test]
async fn a_runaway_is_dead_after_a_stop() {
    let place = Place::new();
    let mut session = regatta_agents::start(place.shell(RUNAWAY)).await.unwrap();
    let pid = read_pid(&mut session).await;
    let id = session.id().clone();
    until("the runaway is an orphan", || {
        let members = find_leftovers(id.as_str());
        members.iter().any(|member| member.pid == pid)
            && !members.iter().any(|member| member.pid == parent(pid))
    })
    .await;
    session.stopper().stop(StopReason::Cancelled);
    assert_eq!(within(session.wait()).await.outcome, Outcome::Stopped(StopReason::Cancelled));
    assert!(!is_alive(pid));
}

#[tokio::test]
async fn a_runaway_is_dead_after_silence() {
    let place = Place::new();
    let mut start = place.shell(RUNAWAY);
    start.limits.silence = Duration::from_secs(2);
    let mut session = regatta_agents::start(start).await.unwrap();
    let pid = read_pid(&mut session).await;
    assert_eq!(failure(within(session.wait()).await).class, FailureClass::Silence);
    assert!(!is_alive(pid));
}

#[tokio::test]
async fn a_child_without_the_marker_is_found_by_its_parent() {
    let place = Place::new();
    let script = "env -i setsid sh -c 'echo $$; exec /bin/sleep 1000' & wait";
    let mut session = regatta_agents::start(place.shell(script)).await.unwrap();
    let pid = read_pid(&mut session).await;
    assert!(is_alive(pid));
    session.stopper().stop(StopReason::Paused);
    within(session.wait()).await;
    assert!(!is_alive(pid));
}

#[tokio::test]
async fn a_stopped_process_is_ended() {
    let place = Place::new();
    let mut session = regatta_agents::start(place.shell("echo $$; kill -STOP $$")).await.unwrap();
    let pid = read_pid(&mut session).await;
    session.stopper().stop(StopReason::Cancelled);
    within(session.wait()).await;
    assert!(!is_alive(pid));
}

#[tokio::test]
async fn leftovers_of_another_engine_are_found_and_ended() {
    let session = session_id("leftover");
    let mut child = Command::new("setsid")
        .args(["sh", "-c", "trap '' TERM; while :; do sleep 1000; done"])
        .env(MARKER, session.as_str())
        .stdin(Stdio::null())
        .spawn()
        .unwrap();
    let is_listed = || find_leftovers("leftover-").iter().any(|found| found.session == session);
    until("the process is listed", is_listed).await;
    assert!(!find_leftovers("other-").iter().any(|found| found.session == session));
    let ended = within(end_leftovers(&session, Duration::from_millis(100))).await.unwrap();
    assert!(ended >= 1);
    assert!(!is_alive(child.id()) && !is_listed());
    child.wait().unwrap();
    assert_eq!(within(end_leftovers(&session, Duration::ZERO)).await, Ok(0));
}

#[tokio::test]
async fn a_run_reports_its_end() {
    let place = Place::new();
    let sh = |script: &str| words(&["sh", "-c", script]);
    let given = [("GIVEN".to_owned(), "yes".to_owned())];
    let run = async |script: &str, limit: Duration| {
        let command = sh(script);
        within(run_to_end(&command, &place.folder(), &given, None, limit, 100)).await.unwrap()
    };
    let minute = Duration::from_secs(60);
    let failed = run("pwd >/dev/null; echo $GIVEN; echo bad >&2; exit 4", minute).await;
    assert_eq!((failed.exit, failed.signal, failed.timed_out), (Some(4), None, false));
    assert!(failed.tail.contains("yes\n") && failed.tail.contains("bad\n"), "{}", failed.tail);
    assert_eq!(run("kill -15 $$", minute).await.signal, Some(15));
    assert!(run("yes | head -c 100000", minute).await.tail.len() <= 100);
    let late = run("sleep 1000 & echo $!; wait", Duration::from_secs(1)).await;
    assert!(late.timed_out);
    assert!(!is_alive(late.tail.trim().parse().unwrap()));
    let missing = run_to_end(&words(&["no-such-program"]), &place.folder(), &[], None, minute, 100).await;
    assert!(matches!(missing, Err(StartError::ProgramNotFound { .. })));
}

#[tokio::test]
async fn a_dropped_run_is_killed() {
    let place = Place::new();
    let session = session_id("dropped");
    let environment = [(MARKER.to_owned(), session.to_string())];
    let command = words(&["sh", "-c", "sleep 1000 & sleep 1000"]);
    let folder = place.folder();
    let run = run_to_end(&command, &folder, &environment, None, Duration::MAX, 100);
    let is_listed = || find_leftovers(session.as_str()).iter().any(|found| found.session == session);
    tokio::select! {
        ended = run => panic!("ended by itself: {ended:?}"),
        () = until("the processes are listed", is_listed) => {}
    }
    until("the processes are dead", || !is_listed()).await;
}

fn parent(pid: u32) -> u32 {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
    stat.rsplit(')').next().unwrap().split_ascii_whitespace().nth(1).unwrap().parse().unwrap()
}
