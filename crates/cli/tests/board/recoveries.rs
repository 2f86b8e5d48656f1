//! The buttons of error panels, each pressed by a person: what they ask first, what they send, and where that leads.
//!
//! That every request of every error is one that the server reads is tested without a browser.

use crate::support::{World, command};
use regatta_testkit::wait::until;
use serde_json::json;

/// Two tasks that write the same file differ in it; a later session first takes in what was merged.
const SAME_FILE: &str = r#"cat > /dev/null
[ "$REGATTA_SESSION_NUMBER" = 1 ] || git -c user.name=a -c user.email=a@b merge -q -X ours main
echo "by $REGATTA_TASK_ID as $REGATTA_AGENT" > shared.txt"#;

/// Notes what an editor is asked to open.
const EDITOR: &str =
    "[board]\neditor = ['sh', '-c', 'printf %s \"$1\" > \"$HOME/opened\"', 'sh', '{path}']\n";

#[test]
fn a_conflict_is_opened_in_the_editor_sent_back_handed_over_and_given_up() {
    let config = [EDITOR, &command("worker", SAME_FILE), &command("other", SAME_FILE)].concat();
    let Some(world) = World::of(&config, |_| {}) else { return };
    for title in ["First", "Second", "Third", "Fourth"] {
        world.add_and_work(title);
    }
    world.project.json(&["task", "approve", "1"]);
    for task in ["2", "3", "4"] {
        world.project.run(&["task", "approve", task]);
    }
    let page = &world.browser;
    let opened =
        || std::fs::read_to_string(world.project.repo.outside().join("home/opened")).unwrap_or_default();
    world.open("/tasks/2");
    page.click(".error [data-open='shared.txt']");
    until("the file is opened", || opened().ends_with("worktrees/task-2/shared.txt"));
    page.click(".error [data-action=open]");
    until("the worktree is opened", || opened().ends_with("worktrees/task-2"));
    page.click(".error [data-action=sendBack]");
    page.until_gone(".error");
    until("its agent resolved it", || world.task("2")["phase"] == "ready");
    assert_eq!(world.task("2")["agentId"], "worker");
    // With one other agent there is nothing to choose.
    world.open("/tasks/3");
    page.click(".error [data-action=otherAgent]");
    page.until_gone(".error");
    until("the other one resolved it", || world.task("3")["phase"] == "ready");
    assert_eq!(world.task("3")["agentId"], "other");
    world.open("/tasks/4");
    page.click(".error [data-action=cancel]");
    until("it is given up", || world.task("4")["column"] == "backlog");
    page.until_text("Work kept as a salvage");
    world.open("/tasks/3/review");
    page.click("#more summary");
    page.click("#more [data-request]");
    until("it is opened from the review", || opened().ends_with("worktrees/task-3"));
    page.click("#approve");
    page.click("#do-it");
    until("it is merged", || world.task("3")["column"] == "verified");
    assert_eq!(world.project.repo.git(&["show", "main:shared.txt"]), "by 3 as other");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn failed_checks_run_again_and_go_back_to_the_agent_with_their_output() {
    let worker = r#"prompt="$HOME/prompt-$REGATTA_TASK_ID-$REGATTA_SESSION_NUMBER.txt"; cat > "$prompt.part"; mv "$prompt.part" "$prompt"
echo "in session $REGATTA_SESSION_NUMBER" > work.txt"#;
    let checks =
        "[checks]\ntest = ['sh', '-c', 'if grep 1 work.txt; then echo \"it is the first\"; exit 1; fi']\n";
    let Some(world) = World::of(&[checks, &command("worker", worker)].concat(), |_| {}) else { return };
    world.add_and_work("Say hello");
    let page = &world.browser;
    world.open("/tasks/1");
    page.until_shown(".error[data-code=CHECKS_FAILED]");
    assert!(page.text(".error").contains("it is the first"), "{}", page.text(".error"));
    let runs =
        || world.project.json(&["events", "--task", "1"]).to_string().matches("\"checks:ran\"").count();
    page.click(".error [data-action=submit]");
    until("the checks ran again", || runs() == 2 && world.task("1")["phase"] == "ready");
    page.click(".error [data-action=review]");
    page.until_shown("#decide .lack");
    page.back();
    page.click(".error [data-action=sendBack]");
    let prompt = world.prompt(1, 2);
    assert!(prompt.contains("it is the first"), "{prompt}");
    page.until_gone(".error");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

/// Speaks the Agent Client Protocol; its first session costs more than it may.
const SPENDER: &str = r#"
say() { printf '%s\n' "$1"; }
update() { say "{\"jsonrpc\":\"2.0\",\"method\":\"session/update\",\"params\":{\"sessionId\":\"s\",\"update\":$1}}"; }
read -r initialize
say '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}'
read -r new_session
say '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"s"}}'
read -r prompt
[ "$REGATTA_SESSION_NUMBER" = 1 ] && cost=1.5 || cost=0.1
update "{\"sessionUpdate\":\"usage_update\",\"used\":10,\"size\":200,\"cost\":{\"amount\":$cost,\"currency\":\"USD\"}}"
[ "$REGATTA_SESSION_NUMBER" = 1 ] && while [ -d "$HOME" ] && [ ! -e "$HOME/go" ]; do sleep 0.1; done
echo done > work.txt
update '{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"{\"summary\":\"done\"}"}}'
say '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'
cat > /dev/null
"#;

#[test]
fn a_budget_that_is_used_up_is_raised_and_the_work_continues() {
    let config = format!(
        "[agents.spender]\nkind = \"acp\"\ncommand = ['sh', '-c', '''{SPENDER}''']\n[budget.task]\ncost = 1.0\n"
    );
    let Some(world) = World::of(&config, |_| {}) else { return };
    world.project.json(&["task", "add", "Say hello"]);
    world.project.run(&["task", "assign", "1", "--agent", "spender"]);
    let page = &world.browser;
    world.open("/tasks/1");
    page.until_shown(".error[data-code=BUDGET_EXCEEDED]");
    // The session was ended by what it might cost; the next one does not begin, and says which budget is used up.
    page.click(".error [data-action=retry]");
    page.click(".error [data-action=raise]");
    page.until_gone(".error");
    until("it is up for review", || world.task("1")["phase"] == "ready");
    let config =
        std::fs::read_to_string(world.project.path().join(".regatta/config.toml")).expect("it is there");
    assert!(config.contains("cost = 2"), "{config}");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

const WORKFLOW: &str = "name = \"ask\"\nstart = \"question\"\nstate = \"state.schema.json\"\n\n[nodes.question]\nkind = \"approval\"\n\
                        question = \"'Continue?'\"\n\n[nodes.done]\nkind = \"end\"\n\n[[edges]]\nid = \"on\"\nfrom = \"question\"\nto = \"done\"\n";

#[test]
fn a_run_is_answered_forked_and_stopped_by_its_page() {
    let world = World::of(&command("worker", "true"), |project| {
        project.repo.write(".regatta/workflows/ask/workflow.toml", WORKFLOW);
        project.repo.write(".regatta/workflows/ask/state.schema.json", "{\"type\":\"object\"}");
    });
    let Some(world) = world else { return };
    let run = |id: &str| world.project.json(&["run", "show", id]);
    world.project.run(&["run", "ask", "--no-wait"]);
    let page = &world.browser;
    world.open("/runs");
    page.click("#runs li a");
    page.fill("#answer textarea", "Yes, please");
    page.click("#answer [type=submit]");
    until("it is over", || run("1")["status"] == "completed");
    page.until_gone("#question");
    page.click("#run-head .btn.extra");
    page.click("#do-it");
    page.until("the new run is shown", "location.pathname === '/runs/2'");
    page.until_shown("#question");
    page.click("#run-head .btn.danger");
    page.fill("dialog textarea", "Not needed");
    page.click("#do-it");
    until("it is stopped", || run("2")["status"] == "failed");
    page.until_shown(".error[data-code=RUN_STOPPED]");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

/// A browser's notifications, noted in place of shown; the page is in the background.
const NOTED: &str = "window.__noted = [];
    window.Notification = class { constructor(title, { body }) { window.__noted.push(`${title}: ${body}`); }
        static permission = 'granted'; static requestPermission = async () => 'granted'; };
    Object.defineProperty(document, 'hidden', { get: () => window.__isAway === true });";

#[test]
fn what_comes_to_wait_is_counted_in_the_tab_and_notified() {
    let Some(world) = World::new() else { return };
    let page = &world.browser;
    page.devtools("Page.addScriptToEvaluateOnNewDocument", json!({ "source": NOTED }));
    world.open("/inbox");
    page.click("[data-do=notify]");
    page.until_text("You are notified here");
    page.run("window.__isAway = true");
    world.add_and_work("Say hello");
    page.until("the tab counts it", "document.title.startsWith('(1) ')");
    let noted = page.run("return window.__noted.join()");
    assert_eq!(noted, "Regatta · project: 1 thing waits for you");
    let icon = page.run("return document.querySelector('link[rel=icon]').getAttribute('href')");
    assert!(icon.as_str().is_some_and(|icon| icon.ends_with("icon-dot.svg")), "{icon}");
    assert_eq!(page.complaints(), Vec::<String>::new());
}
