//! Roles with `writes = false`: what a reviewer changes is kept, reported, and not merged.

use crate::run_support::{CODER, change_config, scripted};
use regatta_testkit::binary::TestProject;
use serde_json::json;
use std::process::Command;

const JUDGE: &str = "kind = \"scripted\"\nscript = \".regatta/scripts/reviewer.toml\"\n";

/// Approves everything, and changes, commits and leaves what it should not.
const MEDDLER: &str = r#"
cat > told.txt
echo "words of the reviewer" > README.md
git add --all && git commit --quiet --message "by the reviewer"
echo "left" > left.txt
echo "{\"taskId\":\"$REGATTA_ITEM\",\"approved\":true,\"issues\":[],\"criteriaResults\":[{\"criterion\":\"$REGATTA_ITEM.txt is there\",\"met\":true}]}"
"#;

fn with_meddler(sandbox: &str) -> TestProject {
    let project = scripted("person", CODER);
    let command = format!("kind = \"command\"\ncommand = ['sh', '-c', '''{MEDDLER}''']\n");
    change_config(&project, JUDGE, &command);
    change_config(&project, "mode = \"off\"", &format!("mode = \"{sandbox}\""));
    project
}

/// Runs it until its first task is up for approval, and shows that only the coder's work is in it and gets merged.
fn assert_unmerged(project: &TestProject) {
    let readme = project.repo.git(&["show", "main:README.md"]);
    let ran = project.run(&["run", "speckit", "--prd", "plan.md", "--level", "5"]);
    let task = project.json(&["task", "show", "1"]);
    assert_eq!(task["column"], "waiting_approval", "{ran:?}");
    let head = task["diff"]["head"].as_str().expect("a head").to_owned();
    assert_eq!(project.repo.git(&["diff", "--name-only", "main", &head]), "T001.txt");
    assert_eq!(project.json(&["task", "approve", "1"])["column"], "verified");
    assert_eq!(project.repo.git(&["diff", "--name-only", "HEAD~1", "HEAD"]), "T001.txt");
    assert_eq!(project.repo.git(&["show", "main:README.md"]), readme);
}

#[test]
fn without_a_sandbox_what_a_reviewer_changed_is_a_salvage() {
    let project = with_meddler("off");
    assert_unmerged(&project);
    let salvaged = project.json(&["events", "--task", "1", "--type", "worktree:salvaged"]);
    let found = &salvaged[0];
    assert_eq!((&found["agentId"], &found["session"]), (&json!("judge"), &json!(3)), "{salvaged}");
    let name = found["salvage"]["ref"].as_str().expect("a ref");
    let kept = project.repo.git(&["ls-tree", "-r", "--name-only", name]);
    assert!(kept.contains("left.txt") && kept.contains("told.txt") && kept.contains("T001.txt"), "{kept}");
    assert_eq!(project.repo.git(&["show", &format!("{name}:README.md")]), "words of the reviewer");
    let told = project.repo.git(&["show", &format!("{name}:told.txt")]);
    assert!(told.contains("Change no file") && !told.contains("You may edit it"), "{told}");
    let shown = project.run(&["events", "--task", "1", "--type", "worktree:salvaged"]).stdout;
    assert!(shown.contains("judge"), "{shown}");
}

#[test]
fn in_a_sandbox_a_reviewer_cannot_write_at_all() {
    let words = ["--ro-bind", "/", "/", "--proc", "/proc", "--unshare-pid", "true"];
    if !Command::new("bwrap").args(words).output().is_ok_and(|output| output.status.success()) {
        eprintln!("not tested: bubblewrap does not work here");
        return;
    }
    let project = with_meddler("required");
    assert_unmerged(&project);
    assert_eq!(project.json(&["events", "--task", "1", "--type", "worktree:salvaged"]), json!([]));
    assert_eq!(project.json(&["task", "show", "1"])["salvages"], json!([]));
}
