//! What an agent in a sandbox can reach: its worktree, its branch, and nothing else.

use crate::support::{Attack, Walls, has_sandbox, walls};
use regatta_testkit::repo::{fingerprint, write_program};
use serde_json::Value;

#[test]
fn nothing_outside_of_the_worktree_can_be_written() {
    if !has_sandbox() {
        return;
    }
    let script = r#"
        for file in "$REGATTA_PROJECT/README.md" "$REGATTA_PROJECT/new" "$HOME/.profile" "$HOME/.ssh/config" \
                    "$REGATTA_PROJECT/.regatta/config.toml" "$REGATTA_PROJECT/.git/regatta/log.db" \
                    "$REGATTA_PROJECT/.git/config" "$REGATTA_PROJECT/.git/HEAD" "$REGATTA_PROJECT/../outside"; do
            rm -rf "$file" 2>/dev/null; (echo planted >> "$file") 2>/dev/null
        done
        mkdir -p "$REGATTA_PROJECT/.git/hooks" && echo "touch $REGATTA_PROJECT/../ran" > "$REGATTA_PROJECT/.git/hooks/post-merge"
        git -C "$REGATTA_PROJECT" update-ref refs/heads/main HEAD~1; git update-ref -d refs/heads/main
        cat "$HOME/.ssh/id" "$REGATTA_PROJECT/.git/regatta/log.db" "$REGATTA_PROJECT/.regatta/config.toml" > seen.txt 2>/dev/null
        ls "$REGATTA_PROJECT/.regatta" > listed.txt
        echo work > work.txt
    "#;
    let attack = Attack::new(Walls::Sandbox, script, "");
    let home = attack.outside().join("home");
    std::fs::create_dir(home.join(".ssh")).expect("a folder");
    std::fs::write(home.join(".ssh/id"), "canary-key").expect("a key");
    let project = &attack.project;
    let git = project.path().join(".git");
    let config = |name: &str| std::fs::read(git.join(name)).expect("a file");
    let before = (
        fingerprint(project.path()),
        config("config"),
        config("HEAD"),
        project.repo.git(&["rev-parse", "main"]),
    );
    let said = attack.run();
    assert_eq!(attack.task()["column"], "waiting_approval", "{said:?}");
    let after = (
        fingerprint(project.path()),
        config("config"),
        config("HEAD"),
        project.repo.git(&["rev-parse", "main"]),
    );
    assert_eq!(before.0, after.0, "the checkout is as it was");
    assert_eq!((before.1, before.2, before.3), (after.1, after.2, after.3), "so are settings and refs");
    assert!(!git.join("hooks/post-merge").exists() && !home.join(".profile").exists());
    assert!(!attack.outside().join("outside").exists() && !home.join(".ssh/config").exists());
    let worktree = std::path::PathBuf::from(attack.task()["worktree"].as_str().expect("a worktree"));
    assert_eq!(std::fs::read_to_string(worktree.join("seen.txt")).expect("a file"), "");
    let listed = std::fs::read_to_string(worktree.join("listed.txt")).expect("a file");
    assert_eq!(listed, "task-states\nworktrees\n");
    attack.assert_unharmed();
}

/// Reads and spoils whatever can be reached of the log, of transcripts, and of what lies beside them.
const AGAINST_THE_LOG: &str = r#"
    own="$REGATTA_SESSION_FOLDER"
    home="$REGATTA_PROJECT/.git/regatta"
    (find "$home" -type f ! -path "$own/*"; cat "$home"/log.db* "$home"/sessions/* 2>/dev/null) > seen.txt
    ls "$home" > listed.txt 2>&1
    ls "$home/private" | wc -l | tr -d " " > private.txt
    for file in "$home/log.db" "$home/log.db-wal" "$home/sessions/task-1-session-1.jsonl" "$home/root" "$home/private/planted"; do
        rm -rf "$file" 2>/dev/null; (echo planted > "$file") 2>/dev/null
    done
    mv "$home" "$home.away" 2>/dev/null; rm -rf "$home" 2>/dev/null; mkdir -p "$home/sessions" 2>/dev/null
    (cd "$REGATTA_PROJECT" && git worktree prune && git gc -q --prune=now) > /dev/null 2>&1
    echo work > work.txt
"#;

#[test]
fn neither_the_log_nor_a_transcript_can_be_read_or_changed() {
    if !has_sandbox() {
        return;
    }
    for format in ["files", "reftable"] {
        if format == "reftable" && !knows_reftable() {
            eprintln!("not tested: this git has no reftable");
            continue;
        }
        let attack = Attack::in_repository(format, Walls::Sandbox, AGAINST_THE_LOG);
        std::fs::create_dir_all(attack.project.home().join("sessions")).expect("a folder");
        let other = attack.project.home().join("sessions/task-9-session-1.jsonl");
        std::fs::write(&other, "canary").expect("a transcript");
        let before = attack.kinds();
        let said = attack.run();
        let task = attack.task();
        assert_eq!(task["column"], "waiting_approval", "{format}: {said:?}");
        let worktree = std::path::PathBuf::from(task["worktree"].as_str().expect("a worktree"));
        let read = |name: &str| std::fs::read_to_string(worktree.join(name)).expect("a file");
        assert_eq!(read("seen.txt"), "", "{format}");
        assert_eq!(
            (read("listed.txt").as_str(), read("private.txt").as_str()),
            ("private\n", "1\n"),
            "{format}"
        );
        assert!(attack.kinds().starts_with(&before), "{format}");
        assert_eq!(std::fs::read_to_string(&other).expect("a transcript"), "canary", "{format}");
        let own = std::fs::read_to_string(attack.project.session_transcript(1, 1)).expect("a transcript");
        assert!(own.starts_with("{") && !own.contains("planted\n"), "{format}: {own}");
        assert!(!attack.project.home().join("private/planted").exists(), "{format}");
        attack.assert_unharmed();
    }
}

fn knows_reftable() -> bool {
    let folder = tempfile::tempdir().expect("a folder");
    let mut git = std::process::Command::new("git");
    git.args(["init", "--quiet", "--ref-format=reftable", "."]).current_dir(folder.path());
    git.output().is_ok_and(|output| output.status.success())
}

#[test]
fn ordinary_git_works_in_a_sandbox() {
    if !has_sandbox() {
        return;
    }
    let script = r#"
        set -e
        git config user.name Agent; git config user.email agent@example.com
        echo one > one.txt; git add one.txt; git commit -qm one
        echo two > two.txt; git add two.txt; git stash -q; git stash pop -q; git commit -qm two
        git checkout -qb aside; echo three > three.txt; git add three.txt; git commit -qm three
        git checkout -q -; git merge -q --no-edit aside; git rebase -q main; git gc -q --prune=now; git fsck
        git log --format=%s > log.txt; echo rest > rest.txt
    "#;
    let attack = Attack::new(Walls::Sandbox, script, "");
    let said = attack.run();
    assert_eq!(attack.task()["column"], "waiting_approval", "{said:?}");
    let head = attack.task()["diff"]["head"].as_str().expect("a head").to_owned();
    let repo = &attack.project.repo;
    let subjects = repo.git(&["log", "--format=%s", "--no-merges", &format!("main..{head}")]);
    assert_eq!(subjects, "Task #1: work of session 1\nthree\ntwo\none");
    assert_eq!(repo.git(&["branch", "--list", "aside"]), "", "its other branches stay behind");
    assert_eq!(repo.git(&["stash", "list"]), "");
    let approved = attack.project.run(&["task", "approve", "1"]);
    assert_eq!(approved.code, Some(0), "{approved:?}");
    assert_eq!(repo.git(&["show", "main:three.txt"]), "three");
    repo.git(&["fsck", "--strict"]);
    attack.assert_unharmed();
}

#[test]
fn checks_run_what_the_agent_wrote_inside_as_well() {
    if !has_sandbox() {
        return;
    }
    let script = "printf \"touch ../../../planted ../../../../planted 2>/dev/null; git log -1 --format=%%s\" > check.sh";
    let attack = Attack::new(Walls::Sandbox, script, "");
    let config = attack.project.path().join(".regatta/config.toml");
    let text = std::fs::read_to_string(&config).expect("a config") + "[checks]\nown = \"sh check.sh\"\n";
    std::fs::write(&config, text).expect("a config");
    attack.project.repo.commit("a check");
    let said = attack.run();
    let task = attack.task();
    assert_eq!(task["column"], "waiting_approval", "{said:?}");
    assert_eq!(task["checks"][0]["passed"], true, "{task}");
    assert_eq!(task["checks"][0]["tail"], "Task #1: work of session 1\n");
    assert!(!attack.project.path().join("planted").exists() && !attack.outside().join("planted").exists());
    attack.assert_unharmed();
}

#[test]
fn secrets_of_the_environment_are_not_passed_on() {
    for walls in walls() {
        let mut attack = Attack::new(walls, "env > seen.txt; env; cat /proc/$PPID/environ", "");
        for name in ["CANARY_TOKEN", "AWS_SECRET_ACCESS_KEY", "GITHUB_TOKEN", "SSH_AUTH_SOCK"] {
            attack.project.set(name, "canary-secret");
        }
        attack.run();
        let task = attack.task();
        assert_eq!(task["column"], "waiting_approval");
        let worktree = std::path::PathBuf::from(task["worktree"].as_str().expect("a worktree"));
        let seen = std::fs::read_to_string(worktree.join("seen.txt")).expect("a file");
        assert!(seen.contains("REGATTA_TASK_ID=1") && !seen.contains("canary"), "{seen}");
        // Without a sandbox a program can ask the system for the environment of any process of its user.
        if walls == Walls::Sandbox {
            let transcript = attack.project.path().join(".git/regatta/sessions/task-1-session-1.jsonl");
            let transcript = std::fs::read_to_string(transcript).expect("a transcript");
            assert!(!transcript.contains("canary-secret"));
        }
        attack.assert_unharmed();
    }
}

#[test]
fn a_sandbox_that_is_required_and_missing_refuses_to_start() {
    let mut attack = Attack::new(Walls::Sandbox, "echo work > work.txt", "");
    let tools = without_bubblewrap(&attack);
    attack.project.set("PATH", tools.to_str().expect("a path"));
    let said = attack.run();
    assert_eq!(said.code, Some(1));
    assert_eq!(attack.task()["error"]["code"], "AGENT_START_FAILED", "{said:?}");
    assert!(said.stderr.contains("bubblewrap (`bwrap`) was not found on PATH"), "{}", said.stderr);
    let doctor = attack.project.run(&["doctor"]);
    assert!(doctor.stdout.contains("agents are not started"), "{doctor:?}");
    assert_eq!(doctor.code, Some(1));
}

/// Makes a folder for PATH that has what is needed, and no sandbox.
fn without_bubblewrap(attack: &Attack) -> std::path::PathBuf {
    let tools = attack.outside().join("tools");
    std::fs::create_dir(&tools).expect("a folder");
    for tool in ["git", "sh"] {
        let found = std::env::split_paths(&std::env::var_os("PATH").expect("a PATH"))
            .map(|folder| folder.join(tool))
            .find(|place| place.exists())
            .expect("the tool is there");
        std::os::unix::fs::symlink(found, tools.join(tool)).expect("a symlink");
    }
    tools
}

#[test]
fn a_sandbox_that_is_missing_is_said_with_each_assignment() {
    let mut attack = Attack::new(Walls::Sandbox, "echo work > work.txt", "");
    let config = attack.project.path().join(".regatta/config.toml");
    let text = std::fs::read_to_string(&config).expect("a config");
    std::fs::write(&config, text.replace("mode = \"required\"", "mode = \"auto\"")).expect("a config");
    attack.project.repo.commit("auto");
    let tools = without_bubblewrap(&attack);
    attack.project.set("PATH", tools.to_str().expect("a path"));
    let said = attack.run();
    assert_eq!(said.code, Some(0), "{said:?}");
    let lines: Vec<&str> = said.stderr.lines().filter(|line| line.contains("no sandbox")).collect();
    assert_eq!(
        lines,
        [
            "no sandbox: hostile can read and change whatever you can (bubblewrap (`bwrap`) was not found on PATH; `regatta doctor` helps)"
        ]
    );
    let doctor = attack.project.run(&["doctor"]);
    assert!(doctor.stdout.contains("agent `hostile`: no sandbox (bubblewrap"), "{doctor:?}");
    let reach = attack.project.json(&["doctor", "--reach"]);
    assert_eq!((&reach[0]["agent"], &reach[0]["sandbox"]), (&"hostile".into(), &Value::Null), "{reach}");
    assert_eq!(reach[0]["why"], "bubblewrap (`bwrap`) was not found on PATH");
}

#[test]
fn what_is_shut_and_what_is_open_is_said_for_each_agent() {
    if !has_sandbox() {
        return;
    }
    let attack = Attack::new(Walls::Sandbox, "true", "");
    let reach = attack.project.json(&["doctor", "--reach"]);
    let agents: Vec<&Value> = reach.as_array().expect("a list").iter().map(|reach| &reach["agent"]).collect();
    assert_eq!(agents, ["hostile", "idle"]);
    assert!(reach[0]["sandbox"].as_str().is_some_and(|name| name.starts_with("bubblewrap ")), "{reach}");
    let [why, login, writable] = ["why", "login", "writable"].map(|name| &reach[0][name]);
    assert_eq!((why, login, writable), (&Value::Null, &Value::Null, &serde_json::json!([])), "{reach}");
    let typed = attack.project.run(&["doctor", "--reach"]);
    let says = "agent `idle`: bubblewrap";
    assert!(typed.code == Some(0) && typed.stdout.contains(says), "{typed:?}");
}

#[test]
fn a_program_in_a_hidden_folder_is_seen_or_the_error_says_what_to_do() {
    if !has_sandbox() {
        return;
    }
    let attack = Attack::new(Walls::Sandbox, "true", "");
    // The test's folder lies in `/tmp`, which is hidden.
    let folder = attack.outside().join("tool");
    std::fs::create_dir_all(&folder).expect("a folder");
    std::fs::write(folder.join("library"), "echo work > work.txt\n").expect("a library");
    write_program(&folder.join("agent"), ". \"$(dirname \"$0\")/library\"");
    let config = attack.project.path().join(".regatta/config.toml");
    let entry = |program: &std::path::Path| {
        let text = format!(
            "[sandbox]\nmode = \"required\"\n[agents.hostile]\nkind = \"command\"\ncommand = [{program:?}]\n"
        );
        std::fs::write(&config, text).expect("a config");
        attack.project.repo.commit("an agent");
    };
    entry(&folder.join("agent"));
    let said = attack.run();
    assert_eq!(attack.task()["column"], "waiting_approval", "{said:?}");
    attack.project.run(&["task", "cancel", "1"]);
    // An interpreter elsewhere is not shown by itself.
    let interpreter = attack.outside().join("elsewhere/interpreter");
    std::fs::create_dir_all(attack.outside().join("elsewhere")).expect("a folder");
    std::fs::copy("/bin/sh", &interpreter).expect("an interpreter");
    std::fs::write(folder.join("agent"), format!("#!{}\ntrue\n", interpreter.display())).expect("a script");
    let said = attack.run();
    assert_eq!(said.code, Some(1), "{said:?}");
    assert!(
        said.stderr.contains(&format!("needs {}, which the sandbox hides", interpreter.display())),
        "{said:?}"
    );
    assert!(said.stderr.contains("to `[sandbox] readable` in .regatta/config.toml"), "{said:?}");
    assert_eq!(attack.events("session:opened").len(), 2, "it is not tried again");
}
