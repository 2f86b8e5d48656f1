//! What an agent in a sandbox can see, change and leave behind. Where bubblewrap does not work, nothing is tested.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use std::path::PathBuf;
use std::time::Duration;

use regatta_agents::{
    FailureClass, Outcome, Replacement, Sandbox, StartError, StopReason, end_leftovers, find_leftovers,
    run_to_end,
};
use support::{Place, failure, has_sandbox, is_alive, run, session_id, text_of, until, within, words};

/// The sandbox of the working folder; the test's own folder is read-only in it, although it lies in `/tmp`.
fn sandbox(place: &Place) -> Sandbox {
    Sandbox {
        writable: vec![place.folder()],
        read_only: vec![place.root().to_owned()],
        has_network: true,
        ..Sandbox::default()
    }
}

/// Runs a shell script in a sandbox and returns what it printed.
async fn shell(place: &Place, sandbox: Sandbox, script: &str) -> String {
    let mut start = place.shell(script);
    start.sandbox = Some(sandbox);
    let (outputs, ended) = run(start).await;
    assert_eq!(ended.outcome, Outcome::Finished, "{outputs:?}");
    text_of(&outputs)
}

#[tokio::test]
async fn only_what_is_named_can_be_written() {
    if !has_sandbox().await {
        return;
    }
    let place = Place::new();
    std::fs::write(place.root().join("outside"), "mine").unwrap();
    std::fs::write(place.folder().join("fixed"), "mine").unwrap();
    let sandbox =
        Sandbox { read_only: vec![place.root().to_owned(), place.folder().join("fixed")], ..sandbox(&place) };
    let script = r#"
        echo new > inside && cat inside ../outside
        for file in ../outside ../new "$HOME/.profile" /etc/regatta-test fixed; do
            (echo bad > "$file") 2>/dev/null && echo "wrote $file"
            mv -f inside "$file" 2>/dev/null && echo "replaced $file"
        done
        echo scratch > /tmp/scratch && cat /tmp/scratch
        mount -o remount,rw / 2>/dev/null && echo remounted
        umount fixed 2>/dev/null && echo unmounted
        true
    "#;
    assert_eq!(shell(&place, sandbox, script).await, "new\nminescratch\n");
    assert_eq!(std::fs::read_to_string(place.root().join("outside")).unwrap(), "mine");
    assert_eq!(std::fs::read_to_string(place.folder().join("fixed")).unwrap(), "mine");
    assert!(place.folder().join("inside").exists() && !std::path::Path::new("/tmp/scratch").exists());
    assert_eq!(place.transcript()[1], "note: in a sandbox");
}

#[tokio::test]
async fn what_is_hidden_or_replaced_is_seen_so() {
    if !has_sandbox().await {
        return;
    }
    let place = Place::new();
    let state = place.root().join("state");
    std::fs::create_dir_all(state.join("work")).unwrap();
    std::fs::create_dir_all(place.root().join("shadow")).unwrap();
    std::fs::write(state.join("log"), "secret").unwrap();
    std::fs::write(place.root().join("key"), "secret").unwrap();
    std::fs::write(place.root().join("shadow/file"), "shadow").unwrap();
    let replaced =
        |path: PathBuf, is_writable| Replacement { path, by: place.root().join("shadow"), is_writable };
    let sandbox = Sandbox {
        writable: vec![place.folder(), state.join("work")],
        hidden: vec![state.clone(), place.root().join("key")],
        replaced: vec![replaced(state.join("work/in"), true), replaced(state.join("work/fixed"), false)],
        ..sandbox(&place)
    };
    let script = r#"
        cd ..; find state key shadow; cat key state/log 2>/dev/null
        echo more > state/work/in/more; echo bad 2>/dev/null > state/work/fixed/bad; ls /run/user 2>/dev/null
        true
    "#;
    let printed = shell(&place, sandbox, script).await;
    let mut lines: Vec<&str> = printed.lines().collect();
    lines.sort_unstable();
    let expected = "key shadow shadow/file state state/work state/work/fixed state/work/fixed/file state/work/in \
                    state/work/in/file";
    assert_eq!(lines.join(" "), expected);
    let shadow = |name: &str| place.root().join("shadow").join(name).exists();
    assert!(shadow("more") && !shadow("bad") && state.join("log").exists());
}

#[tokio::test]
async fn a_closed_network_has_only_its_own_loopback() {
    let closes = matches!(
        regatta_agents::probe().await,
        regatta_agents::Sandboxing::Works { closes_network: true, .. }
    );
    if !has_sandbox().await || !closes {
        return;
    }
    let place = Place::new();
    let script = "tail -n +3 /proc/net/dev | sed 's/:.*//; s/ //g'";
    let closed = Sandbox { has_network: false, ..sandbox(&place) };
    assert_eq!(shell(&place, closed, script).await, "lo\n");
}

/// A session of its own, no parent, no marker, deaf to SIGTERM: there is nothing left to find it by but the sandbox.
const RUNAWAY: &str = r#"
    (env -i setsid sh -c 'trap "" TERM; while :; do sleep 1000; done' &)
    echo ready
"#;

fn count_runaways(marker: &str) -> usize {
    let names = std::fs::read_dir("/proc").unwrap().flatten().map(|entry| entry.path());
    let holds = |path: &PathBuf| {
        std::fs::read(path.join("cmdline"))
            .is_ok_and(|line| line.windows(marker.len()).any(|window| window == marker.as_bytes()))
    };
    names.filter(holds).count()
}

#[tokio::test]
async fn nothing_outlives_the_first_process() {
    if !has_sandbox().await {
        return;
    }
    let place = Place::new();
    let marker = format!("runaway-{}", session_id("m"));
    let script = RUNAWAY.replace("1000;", &format!("1000; : {marker};"));
    shell(&place, sandbox(&place), &script).await;
    assert_eq!(count_runaways(&marker), 0);
}

#[tokio::test]
async fn a_stop_ends_everything_and_gives_its_grace() {
    if !has_sandbox().await {
        return;
    }
    let place = Place::new();
    let mut start =
        place.shell("trap 'echo saved > saved; exit 0' TERM; touch ready; while :; do sleep 0.01; done");
    start.sandbox = Some(sandbox(&place));
    start.limits.grace = Duration::from_secs(20);
    let session = regatta_agents::start(start).await.unwrap();
    let (pid, stopper) = (session.pid().unwrap(), session.stopper());
    until("the program runs", || place.folder().join("ready").exists()).await;
    stopper.stop(StopReason::Paused);
    let ended = within(session.wait()).await;
    assert_eq!(ended.outcome, Outcome::Stopped(StopReason::Paused));
    assert!(!is_alive(pid) && place.folder().join("saved").exists());
}

#[tokio::test]
async fn one_that_does_not_listen_is_killed() {
    if !has_sandbox().await {
        return;
    }
    let place = Place::new();
    let marker = format!("deaf-{}", session_id("m"));
    let script = RUNAWAY.replace("1000;", &format!("1000; : {marker};"));
    let mut start = place.shell(&format!("{script}\ntrap '' TERM; while :; do sleep 1000; done"));
    start.sandbox = Some(sandbox(&place));
    start.limits.wall = Duration::from_millis(500);
    let (_, ended) = run(start).await;
    assert_eq!(failure(ended).class, FailureClass::Timeout);
    assert_eq!(count_runaways(&marker), 0);
}

#[tokio::test]
async fn what_another_engine_left_is_found_from_outside_and_ended() {
    if !has_sandbox().await {
        return;
    }
    let place = Place::new();
    let mut start = place.shell("touch ready; exec sleep 1000");
    start.sandbox = Some(sandbox(&place));
    start.session = session_id("leftover");
    let id = start.session.clone();
    let session = regatta_agents::start(start).await.unwrap();
    until("the program runs", || place.folder().join("ready").exists()).await;
    let found = find_leftovers(id.as_str());
    assert!(found.len() >= 3, "the sandbox, its first process and the program: {found:?}");
    within(end_leftovers(&id, Duration::from_secs(5))).await.unwrap();
    assert_eq!(find_leftovers(id.as_str()), []);
    let ended = within(session.wait()).await;
    assert_eq!(failure(ended).class, FailureClass::Crash);
}

#[tokio::test]
async fn a_program_that_is_not_there_is_told_as_without_a_sandbox() {
    let place = Place::new();
    let sandbox = sandbox(&place);
    for command in [words(&["no-such-program"]), words(&["./no-such-program"])] {
        let ran =
            run_to_end(&command, &place.folder(), &[], Some(&sandbox), Duration::from_secs(5), 100).await;
        assert!(matches!(ran, Err(StartError::ProgramNotFound { .. })));
    }
}

#[tokio::test]
async fn exit_codes_and_output_come_through() {
    if !has_sandbox().await {
        return;
    }
    let place = Place::new();
    let command = words(&["sh", "-c", "pwd; exit 7"]);
    let sandbox = sandbox(&place);
    let ran = run_to_end(&command, &place.folder(), &[], Some(&sandbox), Duration::from_secs(20), 1000)
        .await
        .unwrap();
    assert_eq!((ran.exit, ran.timed_out), (Some(7), false));
    let folder = place.folder().canonicalize().unwrap();
    assert_eq!(ran.tail, format!("{}\n", folder.display()));
}
