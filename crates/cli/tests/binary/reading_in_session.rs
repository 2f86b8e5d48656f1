//! An agent can read from inside its sandbox whatever its prompt names, by the same command and by MCP.

use crate::support::{PROGRAM, field};
use regatta_testkit::binary::TestProject;
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Types every command that the prompt names, as it names it, and calls the tools.
const READER: &str = r#"
if [ "$REGATTA_TASK_ID" = 1 ]; then echo first > first.txt; exit 0; fi
cat > prompt.txt
touch errors.txt
sed -n 's/.*`\(regatta [a-z]* [^`]*\)`$/\1/p' prompt.txt > commands.txt
while read -r command; do $command >> read.txt 2>> errors.txt || echo "failed: $command" >> errors.txt; done < commands.txt
regatta --json prd show user-auth > prd.json 2>> errors.txt
regatta --json epic show 1 > epic.json 2>> errors.txt
regatta --json task output 1 > output.json 2>> errors.txt
regatta --json task archive 2 --show > archive.json 2>> errors.txt
printf '%s\n' \
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"sh","version":"1"}}}' \
  '{"jsonrpc":"2.0","method":"notifications/initialized"}' \
  '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"read_prd","arguments":{}}}' \
  '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read_epic","arguments":{}}}' \
  '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":{"name":"read_inputs","arguments":{}}}' \
  '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"read_archive","arguments":{}}}' \
  '{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"append_progress","arguments":{"did":"- read","issues":"- the ink is faint","next":"write"}}}' \
  | eval "$REGATTA_MCP_COMMAND" > answers.jsonl 2>> errors.txt
regatta --json prd show nothing > /dev/null 2> missing.json
regatta --json task list > list.json 2> list.err
regatta --json task archive 2 > /dev/null 2> move.json
echo done > work.txt
"#;

const PRD: &str = "# User auth\n\nTokens expire after *15* minutes.\n";

fn has_sandbox() -> bool {
    let words = ["--ro-bind", "/", "/", "--proc", "/proc", "--unshare-pid", "true"];
    std::process::Command::new("bwrap").args(words).output().is_ok_and(|output| output.status.success())
}

/// Makes a project whose second task has a PRD, an epic, an upstream output and an archive.
fn with_documents(mode: &str) -> TestProject {
    let config = format!(
        "[sandbox]\nmode = \"{mode}\"\n[agents.reader]\nkind = \"command\"\ncommand = ['sh', '-c', '''{READER}''']\n"
    );
    let project = TestProject::new(PROGRAM, &config);
    project.repo.write("user-auth.md", PRD);
    project.json(&["prd", "add", "user-auth.md"]);
    project.json(&["epic", "add", "Login", "--prd", "user-auth"]);
    project.json(&["task", "add", "First"]);
    project.json(&["task", "add", "Second", "--epic", "1", "--depends", "1"]);
    let first = project.path().join(".regatta/task-states/task-1-state.md");
    let text = std::fs::read_to_string(&first).expect("the task has a file");
    let said = "### Summary\nThere is a grammar.\n\n### Notes\nSee grammar.md.";
    std::fs::write(&first, text.replace("(To be completed)", said)).expect("the file can be written");
    project.json(&["task", "output", "1"]);
    for number in 1..=8 {
        project.json(&["task", "progress", "2", "--did", &format!("did-{number}"), "--next", "more"]);
    }
    project.json(&["task", "archive", "2"]);
    project.repo.commit("all of it");
    project.json(&["task", "assign", "1", "--agent", "reader"]);
    project.json(&["task", "approve", "1"]);
    project
}

fn find_databases(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).expect("a folder").flatten() {
        let path = entry.path();
        if path.is_dir() && !path.is_symlink() {
            found.extend(find_databases(&path));
        } else if entry.file_name().to_string_lossy().contains(".db") {
            found.push(path);
        }
    }
    found
}

fn check(mode: &str) {
    let project = with_documents(mode);
    let said = project.run(&["task", "assign", "2", "--agent", "reader"]);
    assert_eq!(field(&project, "2", "column"), "waiting_approval", "{said:?}");
    let worktree = project.path().join(".regatta/worktrees/task-2");
    let read = |name: &str| std::fs::read_to_string(worktree.join(name)).unwrap_or_default();
    let json = |name: &str| {
        serde_json::from_str::<Value>(&read(name)).unwrap_or_else(|_| panic!("{name}: {}", read(name)))
    };
    assert_eq!(read("errors.txt"), "", "{}", read("prompt.txt"));
    let commands = "regatta prd show user-auth\nregatta epic show 1\nregatta task output 1\nregatta task archive 2 --show\n";
    assert_eq!(read("commands.txt"), commands, "{}", read("prompt.txt"));
    for words in [PRD, "epic 1 Login", "#2 Second (in_progress)", "See grammar.md.", "did-3"] {
        assert!(read("read.txt").contains(words), "{words}: {}", read("read.txt"));
    }
    assert_eq!(json("prd.json")["text"], PRD);
    assert_eq!(json("epic.json")["tasks"][0]["title"], "Second");
    assert_eq!(json("output.json")["summary"], "There is a grammar.");
    assert!(json("archive.json")["text"].as_str().is_some_and(|text| text.contains("did-1")));
    let answers = read("answers.jsonl");
    let answer = |id: u64| {
        let parsed = answers.lines().map(|line| serde_json::from_str::<Value>(line).expect("a line of JSON"));
        let found = parsed.into_iter().find(|answer| answer["id"] == id).expect("an answer");
        found["result"]["structuredContent"].clone()
    };
    assert_eq!(answer(2), json("prd.json"));
    assert_eq!(answer(3)["title"], "Login");
    assert!(answer(4)["inputs"][0]["output"].as_str().is_some_and(|text| text.contains("See grammar.md.")));
    assert_eq!(answer(5), json("archive.json"));
    assert_eq!(json("missing.json")["error"]["code"], "PRD_NOT_FOUND");
    assert_eq!(json("move.json")["error"]["code"], "FORBIDDEN", "an agent archives nothing");
    if mode == "required" {
        assert_eq!(json("list.err")["error"]["code"], "PROJECT_NOT_FOUND", "{}", read("list.err"));
    } else {
        assert_eq!(json("list.json").as_array().map(Vec::len), Some(2));
    }
    let text =
        std::fs::read_to_string(project.path().join(".regatta/task-states/task-2-state.md")).expect("a file");
    assert!(text.contains("- the ink is faint"), "{text}");
    assert_eq!(find_databases(&worktree), Vec::<PathBuf>::new(), "no database is left in the worktree");
}

#[test]
fn without_a_sandbox() {
    check("off");
}

#[test]
fn in_a_sandbox() {
    if has_sandbox() {
        check("required");
    }
}
