//! What agents and people say to each other: questions, notes, the task file, and output that is followed across a reload.

use crate::support::{World, command};
use regatta_testkit::wait::until;
use std::fs;

/// Speaks the Agent Client Protocol: asks for permission, and records the answer.
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
    *) echo denied > answer.txt ;;
esac
say '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"asker","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"{\"summary\":\"it was answered\"}"}}}}'
say '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'
cat > /dev/null
"#;

#[test]
fn a_permission_question_is_answered_in_the_inbox() {
    let config = format!(
        "[agents.asker]\nkind = \"acp\"\npermissions = \"ask\"\ncommand = ['sh', '-c', '''{ASKER}''']\n"
    );
    let Some(world) = World::of(&config, |_| {}) else { return };
    world.project.json(&["task", "add", "Say hello"]);
    world.project.run(&["task", "assign", "1", "--agent", "asker", "--no-wait"]);
    let page = &world.browser;
    world.open("/");
    page.until_shown("#card-1 .ball.you");
    page.click("#card-1 .ball .do");
    page.until_shown(".ask [data-key=A]");
    assert!(page.text(".ask").contains("/etc/motd"), "{}", page.text(".ask"));
    assert!(page.title().starts_with("(1) Inbox"), "{}", page.title());
    page.click(".ask [data-key=A]");
    page.until_gone(".ask[id^=question]");
    until("it is up for review", || world.task("1")["phase"] == "ready");
    let head = world.task("1")["diff"]["head"].as_str().expect("a head").to_owned();
    assert_eq!(world.project.repo.git(&["show", &format!("{head}:answer.txt")]), "allowed");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

/// Says something, waits until it may go on, and says something else.
const WAITER: &str = r#"prompt=$(cat); echo "Line before"
while [ -d "$HOME" ] && [ ! -e "$HOME/go" ]; do sleep 0.1; done
echo "Line after"; printf '%s' "$prompt" > "$HOME/prompt-$REGATTA_TASK_ID-$REGATTA_SESSION_NUMBER.txt"; echo done > "work-$REGATTA_TASK_ID.txt""#;

#[test]
fn a_log_is_followed_across_a_reload_and_a_note_reaches_the_next_session() {
    let Some(world) = World::of(&command("worker", WAITER), |_| {}) else { return };
    world.project.json(&["task", "add", "Say hello"]);
    world.project.run(&["task", "assign", "1", "--agent", "worker", "--no-wait"]);
    let page = &world.browser;
    world.open("/tasks/1");
    page.until_text("Line before");
    page.fill("#note textarea", "Keep it sh");
    page.reload();
    page.until_text("Line before");
    page.until("the draft is there", "document.querySelector('#note textarea').value === 'Keep it sh'");
    page.fill("#note textarea", "Keep it short");
    page.click("#note [type=submit]");
    page.until_text("The note is sent");
    world.go_on();
    page.until_text("Line after");
    until("it is up for review", || world.task("1")["phase"] == "ready");
    world.project.json(&["task", "reject", "1", "--reason", "once more"]);
    let prompt = world.prompt(1, 2);
    assert!(prompt.contains("Keep it short"), "{prompt}");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn a_file_that_is_edited_twice_at_once_loses_nothing_and_a_save_is_undone() {
    let Some(world) = World::new() else { return };
    let task = world.project.json(&["task", "add", "Say hello", "--description", "As it was."]);
    let file = task["stateFile"].as_str().expect("a task has a file").to_owned();
    let read = || fs::read_to_string(&file).expect("the file is there");
    let before = read();
    let page = &world.browser;
    world.open("/tasks/1?tab=file");
    page.click("#edit");
    page.until_shown("#editor textarea");
    page.fill("#editor textarea", &before.replace("As it was.", "As it was. By the page."));
    // An editor writes at the same time.
    fs::write(&file, before.replace("As it was.", "As it was. By the editor.")).expect("it can be written");
    page.until_shown("#elsewhere");
    page.click("#editor [type=submit]");
    page.until_shown("#both");
    let shown = page.run("return document.querySelector('#both textarea').value");
    assert!(shown.as_str().is_some_and(|text| text.contains("By the editor.")), "{shown}");
    assert!(read().contains("By the editor.") && !read().contains("By the page."), "{}", read());
    let both = before.replace("As it was.", "As it was. By both.");
    page.fill("#editor textarea[name=text]", &both);
    page.click("#editor [type=submit]");
    page.until_text("The file is saved");
    until("the file has it", || read().contains("By both."));
    page.press(&["z"]);
    page.until_text("The file is as it was before");
    until("it is undone", || read().contains("By the editor."));
    // The browser notes each refusal by itself.
    let complaints = page.complaints();
    assert!(complaints.iter().all(|complaint| complaint.contains("412")), "{complaints:?}");
}
