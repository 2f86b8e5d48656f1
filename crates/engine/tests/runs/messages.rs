//! Messages between the roles of a family of runs: in the next prompt of the reader, and read by the step that follows.

use crate::support::{World, caller};
use regatta_engine::Journal;
use regatta_engine::core::RunId;
use regatta_engine::core::message::{Draft, Party};
use regatta_engine::core::run::{Run, Status};
use regatta_engine::messages::{self, Filter, MessageView};
use regatta_engine::runs::{self, NewRun};
use serde_json::{Value, json};

/// Keeps the prompt of each step, and answers what the project has for the role.
const CONFIG: &str = r#"
[project]
default_branch = "main"
approval = "auto"

[agents.anyone]
kind = "command"
instances = 4
command = ["sh", "-c", """
cat > "$REGATTA_PROJECT/.regatta/prompt-$REGATTA_RUN_ID-$REGATTA_STEP.md"
. "$REGATTA_PROJECT/.regatta/answer-$REGATTA_ROLE"
"""]

[roles]
worker = "anyone"
judge = "anyone"
boss = "anyone"

[sandbox]
mode = "off"
"#;

const STATE: &str = r#"{
  "type": "object",
  "properties": { "visits": { "type": "integer", "default": 0 }, "told": { "default": null } }
}"#;

/// A worker and a judge who sends the work back once.
const PAIR: &str = r#"
name = "pair"
start = "work"

[nodes.work]
kind = "agent"
role = "worker"
set = { visits = "visits + 1" }

[nodes.judge]
kind = "agent"
role = "judge"

[nodes.done]
kind = "end"

[[edges]]
id = "ready"
from = "work"
to = "judge"
send = { to = "judge", kind = "READY", subject = "'Visit ' & visits", body = "output.said", data = "{'visit': visits}" }

[[edges]]
id = "back"
from = "judge"
to = "work"
when = "visits < 2"
maxIterations = 2
send = { to = "worker", kind = "BACK", body = "'## Not\nyet'" }

[[edges]]
id = "good"
from = "judge"
to = "done"
set = { told = "$messages.{'from': from, 'to': to, 'kind': kind, 'read': read, 'key': key}" }
"#;

/// A run above whose boss works once all groups have ended.
const ABOVE: &str = r#"
name = "above"
start = "groups"

[nodes.groups]
kind = "map"
workflow = "group"
items = "input.items"
key = "key"

[nodes.check]
kind = "agent"
role = "boss"

[nodes.done]
kind = "end"

[[edges]]
id = "all"
from = "groups"
to = "check"

[[edges]]
id = "checked"
from = "check"
to = "done"
set = { told = "$messages.{'from': from, 'kind': kind, 'read': read, 'key': key}" }
"#;

const GROUP: &str = r#"
name = "group"
start = "work"

[nodes.work]
kind = "agent"
role = "worker"

[nodes.done]
kind = "end"

[[edges]]
id = "worked"
from = "work"
to = "done"
send = { to = "boss", kind = "DONE", body = "input.key" }
"#;

pub(crate) async fn world(name: &str, texts: &[(&str, &str)], roles: &[&str]) -> World {
    let world = World::new("auto", &[], "", "").await.with_config(CONFIG).await;
    for (folder, text) in texts {
        let at = |file: &str| format!(".regatta/workflows/{name}/{folder}{file}");
        world.repo.write(&at("workflow.toml"), text);
        world.repo.write(&at("state.schema.json"), STATE);
        for role in roles.iter().filter(|role| text.contains(&format!("role = \"{role}\""))) {
            world.repo.write(&at(&format!("roles/{role}.md")), "Do it.");
            world.repo.write(&at(&format!("roles/{role}.output.json")), "{}");
        }
    }
    for role in roles {
        answer(&world, role, "echo '{\"said\": \"It works\"}'");
    }
    world
}

/// Says how a role answers, in the shell.
pub(crate) fn answer(world: &World, role: &str, script: &str) {
    world.repo.write(&format!(".regatta/answer-{role}"), script);
}

pub(crate) async fn begin(world: &World, name: &str, input: Value) -> RunId {
    let workflow = runs::find_workflow(Some(&world.project), name).unwrap();
    world.create(NewRun { workflow, prd: None, level: None, input, board: false, recording: None }).await
}

pub(crate) async fn rest(world: &World, run: RunId) -> Run {
    let found = world.rest(run).await;
    assert_eq!(found.status(), Status::Completed, "{found:?}");
    found
}

/// Returns what stands at the end of a prompt under the heading of messages.
pub(crate) fn told(world: &World, run: u32, step: u64) -> String {
    let path = world.repo.path().join(format!(".regatta/prompt-{run}-{step}.md"));
    let text = std::fs::read_to_string(path).unwrap();
    text.split_once("## Messages for you").map(|(_, told)| told.to_owned()).unwrap_or_default()
}

async fn all(world: &World) -> Vec<MessageView> {
    messages::list(&world.project).await.unwrap()
}

/// Returns the kinds of events from a first one on, joined for those of one append.
async fn appends(world: &World) -> Vec<String> {
    let mut journal = Journal::after(&world.project, 0);
    let mut found: Vec<(String, String)> = Vec::new();
    for entry in journal.read().await.unwrap() {
        let event = entry.to_json();
        let (kind, at) = (event["type"].as_str().unwrap(), event["at"].to_string());
        if !["run:stepped", "message:sent", "message:read"].contains(&kind) {
            continue;
        }
        match found.last_mut().filter(|(last, _)| *last == at) {
            Some((_, kinds)) => kinds.push_str(&format!(" {kind}")),
            None => found.push((at, kind.to_owned())),
        }
    }
    found.into_iter().map(|(_, kinds)| kinds).collect()
}

#[tokio::test]
async fn a_prompt_ends_with_what_is_unread_and_the_step_reads_it() {
    let world = world("pair", &[("", PAIR)], &["worker", "judge"]).await;
    let run = begin(&world, "pair", json!({})).await;
    let found = rest(&world, run).await;
    assert_eq!(told(&world, 1, 1), "", "nobody has said anything yet");
    let first = told(&world, 1, 2);
    assert!(
        first.contains("From role:worker (READY) at ") && first.contains(", Visit 1:\n\n> It works\n"),
        "{first}"
    );
    assert!(first.contains("> {\n>   \"visit\": 1\n> }\n"), "{first}");
    assert!(told(&world, 1, 3).contains("\n> ## Not\n> yet\n"), "what is quoted is no heading");
    let second = told(&world, 1, 4);
    assert!(second.contains("Visit 2") && !second.contains("Visit 1"), "each is told once: {second}");
    assert_eq!(
        appends(&world).await,
        [
            "run:stepped message:sent",
            "run:stepped message:sent message:read",
            "run:stepped message:sent message:read",
            "run:stepped message:read",
        ]
    );
    let said = |from: &str, to: &str, kind: &str, read| json!({ "from": from, "to": to, "kind": kind, "read": read });
    let expected = [
        said("worker", "judge", "READY", true),
        said("judge", "worker", "BACK", true),
        // The step that read it is not in the log yet.
        said("worker", "judge", "READY", false),
    ];
    assert_eq!(found.sheet.state()["told"], json!(expected));
    let differs: Vec<_> = runs::replay(&world.project, run, None).await.unwrap();
    assert!(differs.iter().all(|step| step.differs.is_none()), "{differs:?}");
}

#[tokio::test]
async fn a_role_that_is_asked_again_gets_the_same_messages() {
    let world = world("pair", &[("", PAIR)], &["worker", "judge"]).await;
    let schema = r#"{ "type": "object", "required": ["good"] }"#;
    world.repo.write(".regatta/workflows/pair/roles/judge.output.json", schema);
    let count = r#"
test -e "$REGATTA_PROJECT/.regatta/asked" && echo '{"good": true}' || echo '{}'
cp "$REGATTA_PROJECT/.regatta/prompt-1-2.md" "$REGATTA_PROJECT/.regatta/first-prompt.md" 2> /dev/null
touch "$REGATTA_PROJECT/.regatta/asked"
"#;
    answer(&world, "judge", count);
    let run = begin(&world, "pair", json!({})).await;
    rest(&world, run).await;
    let again = told(&world, 1, 2);
    assert!(again.contains("Visit 1"), "{again}");
    let refused = appends(&world).await;
    assert_eq!(
        refused[1], "run:stepped message:sent message:read",
        "it is read once, by the step: {refused:?}"
    );
}

#[tokio::test]
async fn a_child_speaks_to_a_role_of_the_run_above() {
    let world = world("above", &[("", ABOVE), ("children/group/", GROUP)], &["worker", "boss"]).await;
    let run = begin(&world, "above", json!({ "items": [{ "key": "a" }, { "key": "b" }] })).await;
    let found = rest(&world, run).await;
    let prompt = told(&world, 1, 2);
    assert!(prompt.contains("\n> a\n") && prompt.contains("\n> b\n"), "{prompt}");
    let views = all(&world).await;
    assert_eq!(views.len(), 2);
    for view in &views {
        assert!(view.run_id != Some(run) && view.to_run == Some(run) && view.read, "{view:?}");
    }
    let mut keys: Vec<&str> = found.sheet.state()["told"]
        .as_array()
        .unwrap()
        .iter()
        .map(|message| message["key"].as_str().unwrap())
        .map(|key| if key == "a" { "a" } else { "b" })
        .collect();
    keys.sort_unstable();
    assert_eq!(keys, ["a", "b"]);
    let filter = Filter { run: Some(run), role: Some("boss".to_owned()), ..Filter::default() };
    assert_eq!(messages::list_some(&world.project, &filter).await.unwrap().len(), 2);
    let unread = Filter { unread: true, ..filter };
    assert!(messages::list_some(&world.project, &unread).await.unwrap().is_empty());
}

#[tokio::test]
async fn a_person_writes_to_a_role_of_one_run() {
    let world = world("pair", &[("", PAIR)], &["worker", "judge"]).await;
    let (first, second) = (begin(&world, "pair", json!({})).await, begin(&world, "pair", json!({})).await);
    let draft = |to: &str| {
        let (from, to) = (Party::Person("local".to_owned()), Party::Role(to.to_owned()));
        Draft::new(from, to, "note", None, "Mind the leap years".to_owned()).unwrap()
    };
    let (to_judge, roles) = messages::in_run(&world.project, draft("judge"), second).await.unwrap();
    messages::send(&world.project, &caller(), to_judge, roles).await.unwrap();
    let (to_nobody, roles) = messages::in_run(&world.project, draft("jugde"), second).await.unwrap();
    let refused = messages::send(&world.project, &caller(), to_nobody, roles).await.unwrap_err().explain();
    assert!(refused.why[0].contains("did you mean `judge`?"), "{refused:?}");
    rest(&world, first).await;
    rest(&world, second).await;
    assert!(!told(&world, 1, 2).contains("leap years"));
    let prompt = told(&world, 2, 2);
    assert!(prompt.contains("From person:local at ") && prompt.contains("leap years"), "{prompt}");
    assert!(prompt.find("leap years") < prompt.find("Visit 1"), "oldest first: {prompt}");
}
