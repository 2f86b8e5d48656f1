//! Whatever an agent starts is dead when its session has ended.

use crate::support::{Attack, PROGRAM, Walls, count_processes, has_sandbox, walls};
use regatta_testkit::wait::until;

/// A text for command lines that no other test uses.
fn marker(name: &str) -> String {
    format!("hostile-{name}-{}", std::process::id())
}

#[test]
fn a_burst_of_processes_is_ended() {
    for walls in walls() {
        let marker = marker("burst");
        let script = format!(
            "i=0; while [ $i -lt 300 ]; do sh -c \"sleep 1000; : {marker}\" & i=$((i+1)); done; echo work > work.txt"
        );
        let attack = Attack::new(walls, &script, "grace = \"500ms\"");
        let said = attack.run();
        assert_eq!(attack.task()["column"], "waiting_approval", "{said:?}");
        assert_eq!(count_processes(&marker), 0);
        attack.assert_unharmed();
    }
}

/// Starts a process that has left its group, its terminal session, its parent and its environment.
fn hide(marker: &str) -> String {
    let hidden = format!("trap \"\" TERM HUP INT; while :; do sleep 1000; : {marker}; done");
    format!("(env -i setsid sh -c {hidden:?} </dev/null >/dev/null 2>&1 &)")
}

#[test]
fn a_child_that_hides_does_not_outlive_its_session() {
    for walls in walls() {
        let marker = marker("hidden");
        let script = format!("{}; echo work > work.txt", hide(&marker));
        let attack = Attack::new(walls, &script, "grace = \"200ms\"");
        let said = attack.run();
        assert_eq!(attack.task()["column"], "waiting_approval", "{said:?}");
        assert_eq!(count_processes(&marker), 0, "{walls:?}");
        attack.assert_unharmed();
    }
}

#[test]
fn a_child_that_hides_is_found_by_the_next_engine() {
    let marker = marker("left");
    let script = format!("{}; touch ready; sleep 1000; : {marker}", hide(&marker));
    let attack = Attack::new(Walls::None, &script, "grace = \"100ms\"");
    let running = attack.project.start(&["task", "assign", "1", "--agent", "hostile"]);
    let worktree = attack.project.path().join(".regatta/worktrees/task-1");
    until("the agent has started it", || worktree.join("ready").exists() && count_processes(&marker) > 1);
    running.kill();
    assert!(count_processes(&marker) > 0, "nobody has ended it yet");
    let cancelled = attack.project.run(&["task", "cancel", "1"]);
    assert_eq!(cancelled.code, Some(0), "{cancelled:?}");
    assert_eq!(count_processes(&marker), 0);
    attack.assert_unharmed();
}

#[test]
fn the_status_of_a_program_is_its_own() {
    for (script, class) in [("echo x > x.txt; exit 7", "crash"), ("kill -SEGV $$", "crash")] {
        let attack = Attack::new(Walls::None, script, "");
        assert_eq!(attack.run().code, Some(1));
        assert_eq!(attack.error(), ("AGENT_SESSION_FAILED".to_owned(), class.to_owned()));
        let why = attack.task()["error"]["message"].as_str().expect("a message").to_owned();
        let expected = if script.contains("exit") { "code 7" } else { "signal 11" };
        assert!(why.contains(expected), "{why}");
    }
}

#[test]
fn an_agent_with_a_clean_environment_is_still_an_agent() {
    let forged = "REGATTA_SESSION=p0-check-1.x";
    for how in ["env -i", &format!("env -i {forged}"), "setsid env -i"] {
        let script = format!(
            "(({how} HOME=\"$HOME\" PATH=\"$PATH\" {PROGRAM} -C \"$REGATTA_PROJECT\" task add sneaky; echo $? > code) &); \
             until [ -s code ]; do sleep 0.02; done; echo work > work.txt"
        );
        let attack = Attack::new(Walls::None, &script, "");
        let said = attack.run();
        assert_eq!(
            attack.project.json(&["task", "list"]).as_array().expect("a list").len(),
            1,
            "{how}: {said:?}"
        );
        assert_eq!(attack.events("agent:refused").len(), 1, "{how}: it is in the log");
        attack.assert_unharmed();
    }
}

#[test]
fn one_that_does_not_listen_and_does_not_end() {
    for walls in walls() {
        let marker = marker("deaf");
        let script = format!("trap \"\" TERM INT HUP; while :; do sleep 0.01; : {marker}; done");
        let attack = Attack::new(walls, &script, "wall = \"700ms\", grace = \"100ms\"");
        let said = attack.run();
        assert_eq!(said.code, Some(1), "{said:?}");
        assert_eq!(attack.error(), ("AGENT_SESSION_FAILED".to_owned(), "timeout".to_owned()));
        assert!(attack.kinds().contains(&"agent:session:failed".to_owned()));
        assert_eq!(count_processes(&marker), 0);
        attack.assert_unharmed();
    }
}

#[test]
fn one_that_says_nothing() {
    for walls in walls() {
        let attack = Attack::new(walls, "exec sleep 1000", "silence = \"500ms\", grace = \"100ms\"");
        assert_eq!(attack.run().code, Some(1));
        assert_eq!(attack.error(), ("AGENT_SESSION_FAILED".to_owned(), "silence".to_owned()));
        attack.assert_unharmed();
    }
}

#[test]
fn one_that_kills_all_it_can_reach() {
    if !has_sandbox() {
        return;
    }
    let attack =
        Attack::new(Walls::Sandbox, "echo half > half.txt; kill -9 $PPID; kill -9 -1; kill -9 1 $$", "");
    let said = attack.run();
    assert_eq!(said.signal, None, "the engine lives: {said:?}");
    assert_eq!(attack.error(), ("AGENT_SESSION_FAILED".to_owned(), "crash".to_owned()));
    attack.assert_unharmed();
}

#[test]
fn a_killed_engine_takes_its_sandbox_along_and_no_commit_is_lost() {
    if !has_sandbox() {
        return;
    }
    let marker = marker("orphan");
    let script = format!(
        "git config user.name Agent; git config user.email agent@example.com; echo kept > kept.txt; git add kept.txt; \
         git commit -qm kept; touch ready; trap \"\" TERM; while :; do sleep 0.05; : {marker}; done"
    );
    let attack = Attack::new(Walls::Sandbox, &script, "grace = \"100ms\"");
    let running = attack.project.start(&["task", "assign", "1", "--agent", "hostile"]);
    let worktree = attack.project.path().join(".regatta/worktrees/task-1");
    until("the agent has committed", || worktree.join("ready").exists());
    assert!(count_processes(&marker) > 0);
    running.kill();
    until("nothing of it is left", || count_processes(&marker) == 0);
    let file = attack.project.path().join(".regatta/task-states/task-1-state.md");
    assert!(file.is_symlink() && file.exists(), "the task file is where the agent had it");
    let cancelled = attack.project.run(&["task", "cancel", "1"]);
    assert_eq!(cancelled.code, Some(0), "{cancelled:?}");
    let salvage = attack.task()["salvages"][0]["ref"].as_str().expect("a salvage").to_owned();
    let subjects = attack.project.repo.git(&["log", "--format=%s", &format!("main..{salvage}")]);
    assert!(subjects.lines().any(|subject| subject == "kept"), "{subjects}");
    assert!(!file.is_symlink() && file.exists(), "the task file is back in its place");
    attack.assert_unharmed();
}
