//! Notes to the agents that work on a task: in the next prompt, once, or when a running agent looks.

use crate::support::{add, add_and_assign, field, with_shell};
use regatta_testkit::binary::TestProject;

/// Keeps its prompt, and reads its task twice while it works if it was told to wait for a note.
const AGENT: &str = r#"
cat > "prompt-$REGATTA_SESSION_NUMBER.txt"
ask() {
  printf '%s\n' \
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"sh","version":"1"}}}' \
    '{"jsonrpc":"2.0","method":"notifications/initialized"}' \
    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":\"$1\",\"arguments\":{}}}" \
    | eval "$REGATTA_MCP_COMMAND"
}
ask read_task > read.jsonl
ask check_signals > signals.jsonl
"#;

fn worked(project: &TestProject, file: &str) -> String {
    let path = project.path().join(".regatta/worktrees/task-1").join(file);
    std::fs::read_to_string(path).expect("the agent has written it")
}

#[test]
fn a_note_is_in_the_next_prompt_once() {
    let project = with_shell(AGENT, "");
    add(&project, "Do it");
    let sent = project.json(&["task", "note", "1", "Keep the signature\n## of get"]);
    assert_eq!(
        (&sent["kind"], &sent["to"], &sent["read"]),
        (&"note".into(), &"task:1".into(), &false.into())
    );
    assert_eq!(field(&project, "1", "notes")[0]["delivered"], false);
    assert!(project.run(&["task", "show", "1"]).stdout.contains("Keep the signature ## of get"));
    project.json(&["task", "assign", "1", "--agent", "shell"]);
    let prompt = worked(&project, "prompt-1.txt");
    assert!(
        prompt.contains("## Messages for you") && prompt.contains("\n> Keep the signature\n> ## of get\n"),
        "{prompt}"
    );
    let note = &field(&project, "1", "notes")[0];
    assert_eq!((&note["delivered"], &note["text"]), (&true.into(), &"Keep the signature\n## of get".into()));
    assert!(!worked(&project, "read.jsonl").contains("notes"), "it was delivered with the prompt");
    project.json(&["task", "note", "1", "And the tests"]);
    project.json(&["task", "reject", "1", "--reason", "not yet"]);
    let prompt = worked(&project, "prompt-2.txt");
    assert!(prompt.contains("> And the tests") && !prompt.contains("Keep the signature"), "{prompt}");
    project.json(&["task", "approve", "1"]);
    assert_eq!(project.refusal(&["task", "note", "1", "Too late"])["code"], "TASK_INVALID_TRANSITION");
    assert_eq!(project.refusal(&["task", "note", "9", "Nobody"])["code"], "TASK_NOT_FOUND");
    assert_eq!(project.refusal(&["task", "note", "1", " "])["code"], "TASK_INVALID_TRANSITION");
}

/// Sends the note to its own task in the middle of the session, as a message; a person's note has the same route.
const ASKER: &str = r#"
cat > /dev/null
"$(echo "$REGATTA_MCP_COMMAND" | cut -d' ' -f1)" messages send --to task:1 --task 1 'By the way' > /dev/null
"#;

#[test]
fn a_running_agent_sees_a_note_when_it_looks() {
    let script = format!("{ASKER}{}", AGENT.replacen("cat > \"prompt-$REGATTA_SESSION_NUMBER.txt\"", "", 1));
    let project = with_shell(&script, "");
    add_and_assign(&project, "Do it", "shell");
    assert!(worked(&project, "read.jsonl").contains("By the way"));
    assert!(!worked(&project, "signals.jsonl").contains("By the way"), "it was handed over once");
    assert_eq!(field(&project, "1", "notes")[0]["delivered"], true);
}
