//! What an agent leaves in its worktree, and without a sandbox in the git folder, runs nothing and leads nowhere.

use crate::support::{Attack, Walls, walls};
use regatta_testkit::repo::{git_in, write_program};
use regatta_testkit::wait::until;

/// Plants a program wherever git might run one. `$1` is the program.
const PLANT: &str = r#"
    common="$REGATTA_PROJECT/.git"
    for key in core.fsmonitor core.hooksPath core.pager core.editor core.sshCommand diff.external gpg.program \
               filter.evil.clean filter.evil.smudge filter.evil.process merge.evil.driver diff.evil.textconv \
               alias.status core.alternateRefsCommand; do
        git config --file "$common/config" $key "$PROGRAM"
    done
    git config --file "$common/config" filter.evil.required true
    mkdir -p "$common/hooks" "$common/info"
    for hook in pre-commit post-commit post-checkout post-merge reference-transaction post-index-change; do
        cp "$PROGRAM" "$common/hooks/$hook"
    done
    echo "* filter=evil diff=evil merge=evil" > "$common/info/attributes"
    echo "* filter=evil diff=evil merge=evil" > .gitattributes
    mkdir -p .git-fake; rm -f .git; printf "gitdir: %s\n" "$PWD/.git-fake" > .git
    echo work > work.txt
    true
"#;

fn attack(walls: Walls, script: &str) -> (Attack, std::path::PathBuf) {
    let script = format!("PROGRAM=\"$REGATTA_PROJECT/../program\"\n{script}");
    let attack = Attack::new(walls, &script, "");
    let canary = attack.outside().join("canary");
    write_program(&attack.outside().join("program"), &format!("echo \"$0 $*\" >> '{}'", canary.display()));
    (attack, canary)
}

#[test]
fn nothing_planted_runs_from_the_session_to_the_merge() {
    for walls in walls() {
        let (attack, canary) = attack(walls, PLANT);
        let said = attack.run();
        let task = attack.task();
        assert_eq!(task["column"], "waiting_approval", "{walls:?} {said:?}");
        for verb in [&["task", "show", "1"][..], &["task", "diff", "1"], &["doctor"]] {
            let ran = attack.project.run(verb);
            assert_eq!(ran.code, Some(0), "{verb:?} {ran:?}");
        }
        let approve = ["task", "approve", "1", "--anyway"];
        let column = match walls {
            // Nothing but `.gitattributes` came through, and a filter that no config defines is none.
            Walls::Sandbox => {
                assert_eq!(attack.project.json(&approve)["column"], "verified");
                "verified"
            }
            // The filter is in the repository's config: the checkout cannot follow without it, and it does not run.
            Walls::None => {
                let error = attack.project.refusal(&approve);
                assert_eq!(error["code"], "CHECKOUT_IN_THE_WAY", "{error}");
                assert_eq!(error["details"]["checkouts"][0]["reason"], "filter", "{error}");
                "waiting_approval"
            }
        };
        let ran = std::fs::read_to_string(&canary).unwrap_or_default();
        assert_eq!(ran, "", "{walls:?}");
        assert_eq!(attack.task()["column"], column, "{walls:?}");
    }
}

#[test]
fn nothing_planted_runs_when_the_work_is_cancelled() {
    for walls in walls() {
        let (attack, canary) = attack(walls, &format!("{PLANT}\nexit 3"));
        assert_eq!(attack.run().code, Some(1));
        let cancelled = attack.project.run(&["task", "cancel", "1"]);
        assert_eq!(cancelled.code, Some(0), "{cancelled:?}");
        let salvages = attack.task()["salvages"].clone();
        assert_eq!(salvages.as_array().map(Vec::len), Some(1), "{salvages}");
        let ran = std::fs::read_to_string(&canary).unwrap_or_default();
        assert_eq!(ran, "", "{walls:?}");
    }
}

#[test]
fn a_symlink_to_a_secret_is_committed_as_a_link() {
    for walls in walls() {
        let script = "ln -s \"$REGATTA_PROJECT/../secret\" link; rm README.md; ln -s \"$REGATTA_PROJECT/../secret\" README.md";
        let attack = Attack::new(walls, script, "");
        std::fs::write(attack.outside().join("secret"), "canary-secret\n").expect("a secret");
        let said = attack.run();
        assert_eq!(attack.task()["column"], "waiting_approval", "{said:?}");
        let head = attack.task()["diff"]["head"].as_str().expect("a head").to_owned();
        let tree = attack.project.repo.git(&["ls-tree", &head, "link", "README.md"]);
        assert!(tree.lines().all(|line| line.starts_with("120000 ")) && tree.lines().count() == 2, "{tree}");
        let diff = attack.project.run(&["task", "diff", "1"]);
        assert!(!diff.stdout.contains("canary-secret"), "{}", diff.stdout);
        attack.assert_unharmed();
    }
}

/// Plants programs in every git folder that a person's `git status` would look into. `$PROGRAM` is the program.
const PLANT_INSIDE: &str = r##"
    make() { git init -q "$1"; git -C "$1" -c user.name=a -c user.email=a@example.com commit -q --allow-empty -m one; }
    make clone; git -C clone config core.fsmonitor "$PROGRAM"
    hook=clone/.git/hooks/post-index-change; printf "#!/bin/sh\n%s\n" "$PROGRAM" > $hook; chmod +x $hook
    make odd; mv odd/.git odd/store; echo "gitdir: store" > odd/.git; git -C odd config core.fsmonitor "$PROGRAM"
    own="$(git rev-parse --absolute-git-dir)"; mkdir -p "$own/modules"
    make sub; mv sub/.git "$own/modules/sub"; echo "gitdir: $own/modules/sub" > sub/.git
    git -C sub config core.worktree "$PWD/sub"; git -C sub config core.fsmonitor "$PROGRAM"
    git add clone odd sub 2>/dev/null
    printf "[core]\n\tfsmonitor = %s\n" "$PROGRAM" > settings
    cp settings "$own/config.worktree"; rm -f "$own/config.worktree"; mv settings "$own/config.worktree"; rm -f settings
    echo work > work.txt
    true
"##;

#[test]
fn nothing_planted_runs_when_a_person_says_git_status() {
    for walls in walls() {
        let (attack, canary) = attack(walls, PLANT_INSIDE);
        attack.project.repo.git(&["config", "extensions.worktreeConfig", "true"]);
        let said = attack.run();
        // What ran inside while it was planted is nobody's harm.
        let _ = std::fs::remove_file(&canary);
        let worktree = attack.project.path().join(".regatta/worktrees/task-1");
        assert!(worktree.join("work.txt").exists(), "{walls:?} {said:?}");
        for folder in ["", "clone", "odd", "sub"] {
            git_in(&worktree.join(folder), &["status"]);
        }
        assert!(!canary.exists(), "{walls:?}");
        let refused = attack.events("agent:refused");
        let what = refused.iter().map(|event| event["what"].to_string()).collect::<String>();
        for file in
            ["clone/.git/config (core.fsmonitor)", "clone/.git/hooks/post-index-change", "modules/sub/config"]
        {
            assert!(what.contains(file), "{walls:?}: {file} in {what}");
        }
        assert!(said.stderr.contains("was denied git settings that run programs"), "{}", said.stderr);
    }
}

#[test]
fn what_a_killed_engine_left_planted_is_removed_and_reported_by_the_next() {
    // One next engine is for the same task, and one is for another.
    for (walls, next) in walls().into_iter().flat_map(|walls| [(walls, "cancel"), (walls, "assign")]) {
        let (attack, canary) = attack(walls, &format!("{PLANT_INSIDE}\ntouch ready; exec sleep 1000"));
        attack.project.repo.git(&["config", "extensions.worktreeConfig", "true"]);
        attack.project.json(&["task", "add", "another task"]);
        let running = attack.project.start(&["task", "assign", "1", "--agent", "hostile"]);
        let worktree = attack.project.path().join(".regatta/worktrees/task-1");
        until("the agent has planted it", || worktree.join("ready").exists());
        running.kill();
        assert_eq!(attack.events("agent:refused").len(), 0, "{walls:?}: nobody has looked yet");
        let said = match next {
            "cancel" => attack.project.run(&["task", "cancel", "1"]),
            _ => attack.project.run(&["task", "assign", "2", "--agent", "idle"]),
        };
        let _ = std::fs::remove_file(&canary);
        // A cancelled task has no worktree any more.
        for folder in ["", "clone", "odd", "sub"].iter().filter(|_| next == "assign") {
            git_in(&worktree.join(folder), &["status"]);
        }
        assert!(!canary.exists(), "{walls:?} {next}: {said:?}");
        let refused = attack.events("agent:refused");
        assert_eq!(refused.len(), 1, "{walls:?} {next}: {said:?}");
        assert_eq!(
            (&refused[0]["taskId"], &refused[0]["agentId"], &refused[0]["session"]),
            (&1.into(), &"hostile".into(), &1.into()),
        );
        let what = refused[0]["what"].to_string();
        assert!(what.contains("git settings that run programs, which were removed: "), "{what}");
        assert!(what.contains("clone/.git/config (core.fsmonitor)"), "{what}");
    }
}

#[test]
fn hooks_among_the_files_need_a_person() {
    let script = "mkdir -p .githooks; echo true > .githooks/post-checkout";
    let attack = Attack::new(Walls::None, script, "");
    attack.project.repo.git(&["config", "core.hooksPath", ".githooks"]);
    attack.run();
    let diff = attack.project.json(&["task", "diff", "1"]);
    assert_eq!(diff["obeyedFiles"], serde_json::json!([".githooks/post-checkout"]), "{diff}");
}
