//! `regatta mcp` inside of sessions and outside of them, and what an agent may do on the command line.

use crate::support::{Transcript, add, add_and_assign, count_events, field, read_when_written, with_shell};
use regatta_testkit::binary::TestProject;
use serde_json::Value;

/// Hands a result in by tool, tries to approve by tool and on the command line, and looks at its own task.
const AGENT: &str = r#"
cat > /dev/null
echo work > work.txt
printf '%s\n' \
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"sh","version":"1"}}}' \
  '{"jsonrpc":"2.0","method":"notifications/initialized"}' \
  '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"submit_result","arguments":{"result":{"summary":"handed in"}}}}' \
  '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"approve_task","arguments":{}}}' \
  | eval "$REGATTA_MCP_COMMAND" > answers.jsonl 2> errors.txt
set -- $REGATTA_MCP_COMMAND
"$1" --json task approve 1 > /dev/null 2> approve.json; echo "$?" >> approve.json
"$1" --json task criteria 2 --check 1 > /dev/null 2> other.json
"$1" --json task show 1 > shown.json
"$1" task progress 1 --did 'looked' --next 'write' > /dev/null
"$1" messages send --to person:tester 'I am done' > /dev/null
echo '{"summary": "printed"}'
"#;

fn worked(project: &TestProject, file: &str) -> String {
    let path = project.path().join(".regatta/worktrees/task-1").join(file);
    std::fs::read_to_string(path).expect("the agent has written it")
}

#[test]
fn an_agent_reaches_its_tools_and_nothing_that_is_for_people() {
    let project = with_shell(AGENT, "");
    add_and_assign(&project, "Do it", "shell");
    assert_eq!(field(&project, "1", "summary"), "handed in");
    let answers = worked(&project, "answers.jsonl");
    let answers: Vec<Value> = answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(answers.len(), 3, "nothing but protocol is printed: {answers:?}");
    let find = |id: u64| answers.iter().find(|answer| answer["id"] == id).unwrap();
    assert_eq!(find(2)["result"]["isError"], false);
    assert_eq!(find(3)["result"]["structuredContent"]["error"]["code"], "FORBIDDEN");
    assert_eq!(worked(&project, "errors.txt"), "");
    let approve = worked(&project, "approve.json");
    assert!(approve.contains(r#""code":"FORBIDDEN""#) && approve.ends_with("1\n"), "{approve}");
    assert!(worked(&project, "other.json").contains(r#""code":"FORBIDDEN""#));
    assert!(worked(&project, "shown.json").contains(r#""title": "Do it""#));
    assert_eq!(field(&project, "1", "progressEntries"), 1);
    let messages = project.json(&["messages", "--to", "me"]);
    assert_eq!((&messages[0]["from"], &messages[0]["body"]), (&"agent:shell".into(), &"I am done".into()));
    let events = project.json(&["events"]);
    let refused = events.as_array().unwrap().iter().filter(|event| event["type"] == "agent:refused");
    let what: Vec<&Value> = refused.map(|event| &event["what"]).collect();
    let commands = ["the command regatta task approve", "the command regatta task criteria"];
    assert_eq!(what, [&["the tool approve_task"], &commands[..]].concat());
}

/// What cannot be read is answered, and the conversation continues.
const BABBLER: &str = r#"
cat > /dev/null
echo work > work.txt
deep=$(printf '[%.0s' $(seq 300))
large=$(head -c 9000000 /dev/zero | tr '\0' x)
{ printf '%s\n' \
  '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"sh","version":"1"}}}' \
  '{"jsonrpc":"2.0","method":"notifications/initialized"}' \
  '{"jsonrpc":' \
  '{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"read_task","arguments":"none"}}'
  printf '{"jsonrpc":"2.0","id":4,"method":"tools/call","params":%s\n' "$deep"
  printf '{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"%s"}}\n' "$large"
  printf '%s\n' '{"jsonrpc":"2.0","id":6,"method":"tools/call","params":{"name":"read_task"}}'
} | eval "$REGATTA_MCP_COMMAND" > answers.jsonl 2> errors.txt
"#;

#[test]
fn what_a_client_says_wrong_is_answered_in_plain_words() {
    let project = with_shell(BABBLER, "");
    add_and_assign(&project, "Do it", "shell");
    let answers = worked(&project, "answers.jsonl");
    let answers: Vec<Value> = answers.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let find = |id: Value| answers.iter().find(|answer| answer["id"] == id).cloned().unwrap_or_default();
    let error = |id: Value| find(id)["error"].clone();
    assert_eq!(error(Value::Null)["code"], -32700, "{answers:?}");
    assert_eq!(
        (error(3.into())["code"].clone(), error(4.into())["code"].clone()),
        ((-32602).into(), (-32600).into())
    );
    let large = error(5.into());
    assert!(large["message"].as_str().unwrap().starts_with("the message is too large"), "{large}");
    assert_eq!(find(6.into())["result"]["isError"], false, "the conversation continues: {answers:?}");
}

#[test]
fn without_a_session_there_are_no_tools() {
    let project = TestProject::without_init(crate::support::PROGRAM);
    let mut transcript = Transcript::new(&project);
    transcript.run(&["mcp"]);
    transcript.run(&["mcp", "--session", "nowhere"]);
    transcript.run(&["--json", "mcp", "--session", "."]);
    let inside = project.run_with("REGATTA_SESSION", "p0-task-1-1.a", &["task", "cancel", "1"]);
    transcript.write("task cancel 1", &inside);
    transcript.check("mcp_without_a_session");
}

#[test]
fn a_session_that_is_over_has_no_tools() {
    let project = with_shell("cat > /dev/null; echo \"$REGATTA_SESSION_FOLDER\" > folder.txt", "");
    add_and_assign(&project, "Do it", "shell");
    let folder = read_when_written(&project.path().join(".regatta/worktrees/task-1/folder.txt"));
    let folder = folder.trim_end();
    assert!(folder.contains("/.git/regatta/private/"), "{folder}");
    assert_eq!(project.refusal(&["mcp", "--session", folder])["code"], "SESSION_ENDED");
}

#[test]
fn messages_are_sent_shown_and_read() {
    let project = with_shell("true", "[roles]\ncoder = \"shell\"\n");
    add(&project, "Do it");
    let mut transcript = Transcript::new(&project);
    transcript.run(&["messages"]);
    transcript.run(&["messages", "send", "--to", "shell", "hello"]);
    let about =
        ["messages", "send", "--to", "#1", "--task", "1", "--subject", "Dates", "mind the\nleap years"];
    transcript.run(&about);
    transcript.run(&["messages", "send", "--to", "coder", "--kind", "QUESTION", "ready?"]);
    transcript.run(&["messages", "send", "--to", "nobody", "hello"]);
    transcript.run(&["messages", "send", "--to", "role:codr", "hello"]);
    transcript.run(&["messages", "read", "1"]);
    transcript.run(&["messages", "--unread"]);
    transcript.run(&["messages", "--task", "1"]);
    transcript.run(&["--json", "messages", "--to", "task:1"]);
    transcript.run(&["events", "--from", "5"]);
    transcript.check("messages");
}

#[test]
fn a_message_with_an_id_is_sent_once() {
    let project = with_shell("true", "");
    let id = "0190aaaa-0000-7000-8000-000000000001";
    let send = ["messages", "send", "--to", "shell", "hello", "--command-id", id];
    let first = project.json(&send);
    let count = count_events(&project);
    assert_eq!(project.json(&send), first);
    assert_eq!(count_events(&project), count);
}
