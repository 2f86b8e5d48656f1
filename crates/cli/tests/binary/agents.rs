//! `regatta agent detect` and `regatta agent try`, with programs that only look like agents.

use crate::support::{PROGRAM, Transcript, count_events};
use regatta_testkit::binary::TestProject;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// What Regatta and the programs of these tests run.
const TOOLS: [&str; 3] = ["git", "sh", "cat"];

/// Gives a project a PATH with the tools, and with the given programs: a name and what its shell script does.
fn install(project: &mut TestProject, programs: &[(&str, &str)]) -> PathBuf {
    let folder = project.repo.outside().join("programs");
    std::fs::create_dir(&folder).expect("a folder");
    for tool in TOOLS {
        std::os::unix::fs::symlink(find(tool), folder.join(tool)).expect("a symlink");
    }
    for (name, script) in programs {
        let path = folder.join(name);
        std::fs::write(&path, format!("#!{}\n{script}\n", find("sh").display())).expect("a program");
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o755)).expect("a mode");
    }
    project.set("PATH", folder.to_str().expect("a path"));
    folder
}

fn find(tool: &str) -> PathBuf {
    let path = std::env::var_os("PATH").expect("a PATH");
    std::env::split_paths(&path).map(|folder| folder.join(tool)).find(|place| place.exists()).expect(tool)
}

fn config_of(project: &TestProject) -> String {
    std::fs::read_to_string(project.path().join(".regatta/config.toml")).expect("a config")
}

#[test]
fn installed_agents_are_found_with_their_versions_and_added_once() {
    let mut project = TestProject::new(PROGRAM, "[agents.goose]\nkind = \"goose\"\n");
    let broken = "echo cannot start >&2; exit 1";
    install(
        &mut project,
        &[
            ("claude", "echo '2.1.7 (Claude Code)'"),
            ("codex", "[ \"$1\" = --version ] && echo codex-cli 0.142.0"),
            ("goose", "echo ' 1.10.3'"),
            ("gemini", broken),
            ("codex-acp", "printf '\\033[2J0.9.1\\n'"),
        ],
    );
    let before = config_of(&project);
    let mut transcript = Transcript::new(&project);
    transcript.run(&["agent", "detect", "--dry-run"]);
    assert_eq!(config_of(&project), before, "it was only shown");
    transcript.run(&["agent", "detect"]);
    let added = config_of(&project);
    let added = added.strip_prefix(&before).expect("what was there stays as it is").to_owned();
    transcript.note(&format!("the config now ends with:\n{added}"));
    transcript.run(&["agent", "detect"]);
    assert_eq!(config_of(&project), format!("{before}{added}"), "nothing is added twice");
    transcript.run(&["agent", "list"]);
    transcript.check("agent_detect");
    let found = project.json(&["agent", "detect"]);
    let claude = &found[0];
    assert_eq!((&claude["id"], &claude["version"]), (&"claude".into(), &"2.1.7".into()), "{found}");
    assert_eq!((&claude["kind"], &claude["isKnown"]), (&"claude".into(), &true.into()), "{found}");
}

#[test]
fn a_machine_without_agents_is_told_so() {
    let mut project = TestProject::new(PROGRAM, "");
    install(&mut project, &[]);
    let before = config_of(&project);
    let mut transcript = Transcript::new(&project);
    transcript.run(&["agent", "detect"]);
    transcript.run(&["--json", "agent", "detect"]);
    transcript.check("agent_detect_none");
    assert_eq!(config_of(&project), before);
}

/// Three agents to try: one does what it is asked for, one breaks off, and one has no program.
fn to_try() -> TestProject {
    let mut project = TestProject::new(
        PROGRAM,
        "[agents.greeter]\nkind = \"command\"\ncommand = \"greeter\"\n\
         [agents.breaker]\nkind = \"command\"\ncommand = \"breaker\"\n\
         [agents.gone]\nkind = \"command\"\ncommand = \"gone\"\n",
    );
    let greeter = "cat > /dev/null; echo hello > hello.txt; echo '{\"summary\": \"hello.txt says hello\"}'";
    let breaker = "echo half > half.txt; echo 'no key was given' >&2; exit 3";
    install(&mut project, &[("greeter", greeter), ("breaker", breaker)]);
    project
}

fn scratch(project: &TestProject, name: &str) -> String {
    project.repo.outside().join(name).display().to_string()
}

#[test]
fn an_agent_is_tried_in_a_repository_of_its_own() {
    let project = to_try();
    let (before, head) = (count_events(&project), project.repo.git(&["rev-parse", "HEAD"]));
    let folder = scratch(&project, "scratch");
    let mut transcript = Transcript::new(&project);
    let tried = transcript.run(&["agent", "try", "greeter", "--dir", &folder]);
    transcript.check("agent_try");
    assert_eq!(tried.code, Some(0));
    let worktree = Path::new(&folder).join(".regatta/worktrees/task-1");
    assert_eq!(std::fs::read_to_string(worktree.join("hello.txt")).expect("its work"), "hello\n");
    let transcript = Path::new(&folder).join(".git/regatta/sessions/task-1-session-1.jsonl");
    let told = std::fs::read_to_string(transcript).expect("a transcript");
    assert!(told.contains("Make a file `hello.txt`"), "{told}");
    assert_eq!(count_events(&project), before, "the project's own log is as it was");
    assert_eq!(project.repo.git(&["rev-parse", "HEAD"]), head);
}

#[test]
fn a_trial_without_a_folder_says_where_it_was() {
    let mut project = to_try();
    let temporary = project.repo.outside().join("temporary");
    std::fs::create_dir(&temporary).expect("a folder");
    project.set("TMPDIR", temporary.to_str().expect("a path"));
    let tried = project.run(&["--json", "agent", "try", "greeter"]);
    assert_eq!(tried.code, Some(0), "{tried:?}");
    let shown: serde_json::Value = serde_json::from_str(&tried.stdout).expect("one JSON document");
    assert_eq!((&shown["column"], &shown["diff"]["filesChanged"]), (&"waiting_approval".into(), &1.into()));
    let made: Vec<_> = std::fs::read_dir(&temporary).expect("a folder").flatten().collect();
    let names: Vec<_> = made.iter().map(|entry| entry.file_name().into_string().expect("a name")).collect();
    assert!(matches!(&names[..], [name] if name.starts_with("regatta-try-")), "{names:?}");
}

#[test]
fn a_trial_that_fails_says_why() {
    let project = to_try();
    let mut transcript = Transcript::new(&project);
    let failed = transcript.run(&["agent", "try", "breaker", "--dir", &scratch(&project, "broken")]);
    assert_eq!(failed.code, Some(1));
    transcript.run(&["agent", "try", "gone", "--dir", &scratch(&project, "gone")]);
    transcript.run(&["agent", "try", "greter", "--dir", &scratch(&project, "unknown")]);
    transcript.run(&["agent", "try", "greeter", "--dir", project.path().to_str().expect("a path")]);
    transcript.check("agent_try_fails");
    let error = project.refusal(&["agent", "try", "nobody"]);
    assert_eq!(error["code"], "AGENT_NOT_FOUND", "{error}");
    assert!(
        !Path::new(&scratch(&project, "unknown")).exists(),
        "nothing is made for an agent that is not there"
    );
}
