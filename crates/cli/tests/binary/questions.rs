//! What an agent asks a person for: put to one while the session waits, answered, and recorded.

use crate::support::{PROGRAM, Transcript, add, field};
use regatta_testkit::binary::{Running, TestProject};
use regatta_testkit::wait::until;
use serde_json::{Value, json};

/// Speaks the Agent Client Protocol: asks for permission to write outside its worktree, and records the answer.
const ASKER: &str = r#"
say() { printf '%s\n' "$1"; }
read -r initialize
say '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}'
read -r new_session
say '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"asker"}}'
read -r prompt
say '{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"asker","toolCall":{"toolCallId":"call","kind":"edit","title":"Write","locations":[{"path":"/etc/motd"}]},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}'
read -r answer
case "$answer" in
    *'"optionId":"yes"'*) echo allowed > answer.txt ;;
    *'"optionId":"no"'*) echo denied > answer.txt ;;
    *) echo "$answer" > answer.txt ;;
esac
say '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"asker","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"{\"summary\":\"it was answered\"}"}}}}'
say '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'
cat > /dev/null
"#;

/// Makes a project with a task on which the agent is at work and waits for an answer; returns the question's name.
fn asked() -> (TestProject, Running, String) {
    asked_by(ASKER)
}

fn asked_by(script: &str) -> (TestProject, Running, String) {
    let config = format!(
        "[agents.asker]\nkind = \"acp\"\npermissions = \"ask\"\ncommand = ['sh', '-c', '''{script}''']\n"
    );
    let project = TestProject::new(PROGRAM, &config);
    let task = add(&project, "a task");
    let running = project.start(&["task", "assign", &task, "--agent", "asker"]);
    let mut questions = Value::Null;
    until("the agent asks", || {
        questions = project.json(&["agent", "questions"]);
        questions[0].is_object()
    });
    let question = questions[0]["id"].as_str().expect("a question has a name").to_owned();
    (project, running, question)
}

/// Returns the events of sessions that have to do with questions, as kind, question, answer and by whom.
fn events_of_questions(project: &TestProject) -> Vec<Value> {
    let events = project.json(&["events"]);
    let is_one =
        |event: &&Value| ["session:asked", "session:answered"].map(Value::from).contains(&event["type"]);
    let shown = |event: &Value| {
        json!([event["type"], event["question"], event["what"], event["answer"], event["by"], event["actor"]])
    };
    events.as_array().expect("events are a list").iter().filter(is_one).map(shown).collect()
}

/// Answers the question, and returns what the agent wrote down and what the log says about the answer.
fn answer(choice: &str) -> (String, Vec<Value>) {
    let (project, running, question) = asked();
    let answered = project.run(&["agent", "answer", &question, choice]);
    assert_eq!(answered.code, Some(0), "{answered:?}");
    let assigned = running.wait();
    assert_eq!(assigned.code, Some(0), "{assigned:?}");
    let shown = project.json(&["task", "show", "1"]);
    assert_eq!(
        (&shown["column"], &shown["summary"]),
        (&"waiting_approval".into(), &"it was answered".into())
    );
    let head = shown["diff"]["head"].as_str().expect("a head").to_owned();
    let text = project.repo.git(&["show", &format!("{head}:answer.txt")]);
    (text, events_of_questions(&project))
}

#[test]
fn what_is_allowed_or_denied_reaches_the_agent_and_the_log() {
    let (what, by) = ("Write (/etc/motd)", "tester");
    for (choice, word) in [("allow", "allowed"), ("deny", "denied")] {
        let (text, events) = answer(choice);
        assert_eq!(text, word);
        let expected = [
            json!(["session:asked", 1, what, null, null, "engine"]),
            json!(["session:answered", 1, what, word, by, by]),
        ];
        assert_eq!(events, expected, "{choice}");
    }
}

#[test]
fn while_an_agent_waits_for_an_answer_everybody_is_told() {
    let (project, running, question) = asked();
    let mut transcript = Transcript::new(&project);
    transcript.run(&["agent", "questions"]);
    transcript.run(&["task", "list"]);
    let shown = project.json(&["task", "show", "1"]);
    assert_eq!((&shown["phase"], &shown["owner"]), (&"asking".into(), &"you".into()), "{shown}");
    assert_eq!(
        shown["next"],
        format!("regatta agent answer {question} allow (or deny); it asks for: Write (/etc/motd)")
    );
    let by_agent = project.run_with("REGATTA_AGENT", "asker", &["agent", "answer", &question, "allow"]);
    transcript.write("agent answer <question> allow   (as the agent)", &by_agent);
    assert_eq!(by_agent.code, Some(1), "an agent does not answer itself");
    transcript.run(&["agent", "answer", &question, "deny"]);
    let assigned = running.wait();
    transcript.write("task assign 1 --agent asker   (begun before)", &assigned);
    transcript.run(&["agent", "answer", &question, "allow"]);
    transcript.run(&["agent", "questions"]);
    transcript.check("agent_questions");
    assert_eq!(field(&project, "1", "phase"), "ready");
}

#[test]
fn a_question_ends_with_its_task() {
    let (project, running, question) = asked();
    let cancelled = project.run(&["task", "cancel", "1", "--reason", "not now"]);
    assert_eq!(cancelled.code, Some(0), "{cancelled:?}");
    running.wait();
    assert_eq!(field(&project, "1", "column"), "backlog");
    assert_eq!(project.json(&["agent", "questions"]), json!([]));
    let error = project.refusal(&["agent", "answer", &question, "allow"]);
    assert_eq!(error["code"], "QUESTION_NOT_FOUND", "{error}");
}

#[test]
fn without_a_sandbox_a_person_is_asked_about_a_command() {
    let edit = r#""kind":"edit","title":"Write","locations":[{"path":"/etc/motd"}]"#;
    let command = r#""kind":"execute","title":"Run","rawInput":{"command":"make"}"#;
    assert!(ASKER.contains(edit));
    let (project, running, question) = asked_by(&ASKER.replace(edit, command));
    project.run(&["agent", "answer", &question, "deny"]);
    running.wait();
    assert_eq!(events_of_questions(&project)[0], json!(["session:asked", 1, "Run", null, null, "engine"]));
}
