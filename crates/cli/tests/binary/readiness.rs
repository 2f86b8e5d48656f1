//! What an agent still needs, the variables that the config gives it, and what is kept on disk.

use crate::support::{PROGRAM, Transcript, add, with_shell};
use regatta_testkit::binary::TestProject;
use serde_json::Value;

#[test]
fn what_an_agent_lacks_is_said_by_the_list_and_the_doctor() {
    let project = TestProject::new(
        PROGRAM,
        "[agents.script]\nkind = \"scripted\"\nscript = \"missing.toml\"\n\
         [agents.program]\nkind = \"command\"\ncommand = \"no-such-program-of-ours\"\nenv = [\"NOT_SET_ANYWHERE\"]\n\
         [agents.well]\nkind = \"command\"\ncommand = \"true\"\nenv = { A = \"b\" }\n",
    );
    let mut typed = Transcript::new(&project);
    typed.run(&["agent", "list"]);
    typed.check("agents_not_ready");
    let agents = project.json(&["agent", "list"]);
    let of = |id: &str| {
        let agent = agents.as_array().expect("agents are a list").iter().find(|agent| agent["id"] == id);
        agent.expect("the agent is listed")["missing"].clone()
    };
    assert_eq!(of("well"), Value::Array(Vec::new()));
    assert_eq!(
        of("program"),
        serde_json::json!([
            "program `no-such-program-of-ours` is not on PATH",
            "variable NOT_SET_ANYWHERE is not set"
        ])
    );
    let findings = project.json(&["doctor"]);
    let kinds: Vec<&Value> =
        findings.as_array().expect("findings are a list").iter().map(|found| &found["kind"]).collect();
    assert_eq!(kinds, ["agent_not_ready", "agent_not_ready"], "{findings}");
    assert_eq!(project.run(&["doctor"]).code, Some(0), "advice is no failure");
}

#[test]
fn variables_come_from_the_config_a_file_and_a_command() {
    let project = with_shell("echo \"$A/$KEPT/$ASKED\" | tee work.txt", "");
    let config = project.path().join(".regatta/config.toml");
    let text = std::fs::read_to_string(&config).expect("there is a config");
    let env = "env = { A = \"plain\", KEPT = { file = \"kept.txt\" }, ASKED = { command = \"echo a-secret-of-ours | tr a-z A-Z\" } }";
    let text = text.replace("kind = \"command\"\n", &format!("kind = \"command\"\n{env}\n"));
    project.repo.write(".regatta/config.toml", &text);
    add(&project, "a task");

    let refused = project.run(&["task", "assign", "1", "--agent", "shell"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("no value for the variable KEPT"), "{refused:?}");
    project.repo.write("kept.txt", "kept-in-a-file\n");
    project.run(&["task", "assign", "1", "--agent", "shell"]);
    assert_eq!(project.repo.git(&["show", "task/1:work.txt"]), "plain/kept-in-a-file/A-SECRET-OF-OURS");
    let transcript = project.run(&["task", "log", "1", "--raw"]).stdout;
    assert!(transcript.contains("plain/[KEPT]/[ASKED]"), "{transcript}");
    assert!(!transcript.contains("SECRET-OF-OURS"), "a secret is not written down");
}

#[test]
fn what_finished_work_left_can_be_removed_and_nothing_else() {
    let project = with_shell("echo done > work.txt", "");
    for task in ["1", "2"] {
        add(&project, "a task");
        project.run(&["task", "assign", task, "--agent", "shell"]);
    }
    project.run(&["task", "reject", "1", "--reason", "again"]);
    project.run(&["task", "approve", "1"]);
    let home = project.home().join("homes/task-1-shell");
    std::fs::create_dir_all(&home).expect("a home can be made");
    std::fs::write(home.join("state"), "x".repeat(5000)).expect("it can be written");
    let young = project.json(&["state", "prune", "--older-than", "1d"]);
    assert_eq!(young["bytes"], 0, "{young}");
    let count = |pruned: &Value, kind: &str| {
        let removed =
            pruned["removed"].as_array().expect("a list").iter().find(|weight| weight["kind"] == kind);
        removed.expect("every kind is reported")["count"].clone()
    };
    let looked = project.json(&["state", "prune", "--older-than", "1ms", "--dry-run"]);
    assert_eq!((count(&looked, "transcripts"), count(&looked, "homes")), (2.into(), 1.into()), "{looked}");
    assert!(project.session_transcript(1, 1).exists() && home.exists(), "nothing is removed yet");
    let gone = project.json(&["state", "prune", "--older-than", "1ms"]);
    assert_eq!((count(&gone, "transcripts"), count(&gone, "homes")), (2.into(), 1.into()), "{gone}");
    assert!(gone["bytes"].as_u64() > Some(5000), "{gone}");
    assert!(!project.session_transcript(1, 1).exists() && !home.exists());
    assert!(project.session_transcript(2, 1).exists(), "task 2 is not finished");
    assert_eq!(project.repo.git(&["for-each-ref", "--format=%(refname)", "refs/regatta/review/1"]), "");
    assert_ne!(project.repo.git(&["for-each-ref", "--format=%(refname)", "refs/regatta/review/2"]), "");
    assert_eq!(project.run(&["doctor"]).code, Some(0));
    assert_eq!(project.run(&["task", "diff", "1"]).code, Some(0), "what was merged is still shown");

    let disk = project.json(&["doctor", "--disk"]);
    let kinds: Vec<&Value> = disk.as_array().expect("a list").iter().map(|weight| &weight["kind"]).collect();
    assert_eq!(kinds, ["log", "transcripts", "homes", "cache", "reviews", "salvages"]);
    let mut typed = Transcript::new(&project);
    typed.run(&["state", "prune", "--older-than", "1ms"]);
    typed.run(&["state", "prune", "--older-than", "soon"]);
    typed.check("state_prune");
}

#[test]
fn salvages_are_never_removed() {
    let project = with_shell("echo half > work.txt; exit 3", "");
    add(&project, "a task");
    project.run(&["task", "assign", "1", "--agent", "shell"]);
    project.run(&["task", "cancel", "1"]);
    project.run(&["task", "delete", "1"]);
    let before = project.repo.git(&["for-each-ref", "refs/regatta/salvage"]);
    assert!(!before.is_empty());
    project.json(&["state", "prune", "--older-than", "1ms"]);
    assert_eq!(project.repo.git(&["for-each-ref", "refs/regatta/salvage"]), before);
}
