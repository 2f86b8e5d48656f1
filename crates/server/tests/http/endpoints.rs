//! Every address of the API through a real socket, and its answers beside the examples that the schemas are made from.
//!
//! The examples are in `examples/objects.json`, those of what is sent in `examples/bodies.json`. When an object has a new
//! field, or a route a new body, run this test with `UPDATE_EXPECT=1`: it writes what the server was really sent and answered.

use crate::client::{Response, Served};
use regatta_server::type_of;
use regatta_testkit::wait::until;
use serde_json::{Map, Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// How many examples of an object are kept; each has a field or a type that those before lack.
const EXAMPLES_MAX: usize = 24;

const CONFIG: &str = r#"
[sandbox]
mode = "off"

[board]
editor = ["true", "{path}"]

[checks]
there = "test -e task-1.txt"

[agents.worker]
kind = "scripted"
script = ".regatta/scripts/worker.toml"

[agents.thinker]
kind = "scripted"
script = ".regatta/scripts/thinker.toml"

[agents.breaker]
kind = "scripted"
script = ".regatta/scripts/breaker.toml"

[limits]
retries = 0

[agents.asker]
kind = "acp"
permissions = "ask"
command = ['sh', '-c', '''ASKER''']
"#;

const THINKER: &str = "[[session]]\nstep = [{ say = \"hm\" }, { result = { summary = \"a thought\" } }]\n";

/// Breaks off once.
const BREAKER: &str = "[[session]]\nstep = [{ fault = \"crash\" }]\n\n\
                       [[session]]\nstep = [{ result = { summary = \"it was nothing\" } }]\n";

/// Asks for permission to write outside its worktree, and then ends.
const ASKER: &str = r#"
say() { printf '%s\n' "$1"; }
read -r initialize
say '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}'
read -r new_session
say '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"asker"}}'
read -r prompt
say '{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"asker","toolCall":{"toolCallId":"call","kind":"edit","title":"Write","locations":[{"path":"/etc/motd"}]},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}'
read -r answer
echo done > answer.txt
say '{"jsonrpc":"2.0","method":"session/update","params":{"sessionId":"asker","update":{"sessionUpdate":"agent_message_chunk","content":{"type":"text","text":"{\"summary\":\"it was answered\"}"}}}}'
say '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'
cat > /dev/null
"#;

const WORKFLOW: &str = r#"
name = "ask"
start = "question"
nodes.question = { kind = "approval", question = "'Is it good?'" }
nodes.think = { kind = "agent", role = "thinker" }
nodes.done = { kind = "end" }
edges = [
    { id = "answered", from = "question", to = "think" },
    { id = "thought", from = "think", to = "done" },
]

[signals.note]
title = "Note"
input = "note.json"
send = { to = "thinker", kind = "NOTED", body = "$signal.text" }
"#;

const FILES: [(&str, &str); 7] = [
    (".regatta/scripts/breaker.toml", BREAKER),
    (".regatta/scripts/thinker.toml", THINKER),
    (".regatta/workflows/ask/workflow.toml", WORKFLOW),
    (".regatta/workflows/ask/state.schema.json", "{\"type\": \"object\", \"properties\": {}}"),
    (".regatta/workflows/ask/note.json", "{\"type\": \"object\", \"required\": [\"text\"]}"),
    (".regatta/workflows/ask/roles/thinker.md", "Think.\n"),
    (".regatta/workflows/ask/roles/thinker.output.json", "{}"),
];

/// Every call, with what it is in the description of the API.
struct Calls<'a> {
    served: &'a Served,
    document: Value,
    called: RefCell<BTreeSet<String>>,
    /// Real objects, by the name of their schema.
    objects: RefCell<BTreeMap<String, Vec<Value>>>,
    /// Bodies that were accepted, by the name of their operation.
    bodies: RefCell<BTreeMap<String, Vec<Value>>>,
    mistakes: RefCell<Vec<String>>,
}

impl<'a> Calls<'a> {
    fn new(served: &'a Served) -> Self {
        let document = served.get("/api/openapi.json").json();
        let (called, objects, bodies, mistakes) = Default::default();
        Calls { served, document, called, objects, bodies, mistakes }
    }

    fn get(&self, path: &str) -> Value {
        self.call("GET", path, &[], None)
    }

    fn post(&self, path: &str, body: Value) -> Value {
        self.call("POST", path, &[], Some(&body))
    }

    /// Makes a call that has to succeed, and compares its answer with the description.
    fn call(&self, method: &str, path: &str, headers: &[(&str, &str)], body: Option<&Value>) -> Value {
        let answer = self.served.call(method, path, headers, body);
        if let Some(body) = body {
            self.note_body(method, path, body);
        }
        self.see(method, path, &answer)
    }

    /// Sends Markdown.
    fn write(&self, method: &str, path: &str, text: &str) {
        let answer = self.served.send_text(method, path, "text/markdown", "*", text);
        self.note_body(method, path, &text.into());
        self.see(method, path, &answer);
    }

    fn note_body(&self, method: &str, path: &str, body: &Value) {
        let operation = self.find(method, path);
        if operation["requestBody"].is_object() {
            let name = operation["operationId"].as_str().expect("it has a name").to_owned();
            self.bodies.borrow_mut().entry(name).or_default().push(body.clone());
        }
    }

    fn see(&self, method: &str, path: &str, answer: &Response) -> Value {
        assert!((200..300).contains(&answer.status), "{method} {path}: {answer:?}");
        let operation = self.find(method, path);
        self.called.borrow_mut().insert(operation["operationId"].as_str().expect("it has a name").to_owned());
        let described = &operation["responses"][answer.status.to_string()];
        assert!(described.is_object(), "{method} {path}: {} is not described", answer.status);
        let Some(schema) = described["content"].get("application/json").map(|content| &content["schema"])
        else {
            return Value::Null;
        };
        let value = answer.json();
        let (name, objects) = match schema["$ref"].as_str() {
            Some(name) => (name, vec![value.clone()]),
            None => match schema["properties"]["items"]["items"]["$ref"].as_str() {
                Some(name) => (name, value["items"].as_array().expect("a page has items").clone()),
                None => return value,
            },
        };
        let name = name.rsplit('/').next().unwrap_or_default();
        for object in objects {
            let schema = &self.document["components"]["schemas"][name];
            find_mistakes(schema, &object, name, &mut self.mistakes.borrow_mut());
            self.objects.borrow_mut().entry(name.to_owned()).or_default().push(object);
        }
        value
    }

    /// Finds the operation of a request in the description.
    fn find(&self, method: &str, path: &str) -> &Value {
        let path = path.split('?').next().unwrap_or_default();
        let parts: Vec<&str> = path.split('/').collect();
        let paths = self.document["paths"].as_object().expect("there are paths");
        let fits = |known: &str| {
            let known: Vec<&str> = known.split('/').collect();
            known.len() == parts.len() && known.iter().zip(&parts).all(|(k, p)| k == p || k.starts_with('{'))
        };
        let mut found: Vec<&String> = paths.keys().filter(|known| fits(known)).collect();
        // The one that names it comes before the one with a place for it.
        found.sort_by_key(|known| known.matches('{').count());
        let found = found.first().unwrap_or_else(|| panic!("{path} is not described"));
        &paths[*found][method.to_lowercase()]
    }

    /// Writes the real objects as examples, if that is asked for; otherwise says what the examples lack.
    fn finish(self) {
        let paths = self.document["paths"].as_object().expect("there are paths");
        let operations =
            paths.values().flat_map(|methods| methods.as_object().into_iter().flat_map(Map::values));
        let names: BTreeSet<String> = operations
            .map(|operation| operation["operationId"].as_str().unwrap_or_default().to_owned())
            .collect();
        let mut called = self.called.into_inner();
        // Its events come as long as one listens: see `streams`.
        called.insert("followAll".to_owned());
        assert_eq!(names.difference(&called).collect::<Vec<_>>(), Vec::<&String>::new(), "were never called");
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            let objects = self.objects.into_inner().into_iter();
            update("objects.json", objects.map(|(name, objects)| (name, choose(objects).into())));
            let bodies = self.bodies.into_inner().into_iter();
            update("bodies.json", bodies.map(|(name, bodies)| (name, choose(bodies).swap_remove(0))));
            return;
        }
        let mut mistakes = self.mistakes.into_inner();
        mistakes.sort();
        mistakes.dedup();
        assert!(mistakes.is_empty(), "run this test with UPDATE_EXPECT=1:\n{}", mistakes.join("\n"));
    }
}

/// Writes examples; those of what was not seen this time stay.
fn update(name: &str, seen: impl Iterator<Item = (String, Value)>) {
    let path = format!("{}/examples/{name}", env!("CARGO_MANIFEST_DIR"));
    let old = std::fs::read_to_string(&path).expect("the examples can be read");
    let mut examples: BTreeMap<String, Value> = serde_json::from_str(&old).expect("they are JSON");
    examples.extend(seen);
    let text = serde_json::to_string_pretty(&examples).expect("they are plain data");
    std::fs::write(path, format!("{text}\n")).expect("the examples can be written");
}

/// Says where a value is not as its schema has it, and which of its fields the schema does not know.
fn find_mistakes(schema: &Value, value: &Value, at: &str, mistakes: &mut Vec<String>) {
    let types: Vec<&str> = match &schema["type"] {
        Value::String(name) => vec![name],
        Value::Array(names) => names.iter().filter_map(Value::as_str).collect(),
        _ => return,
    };
    if !(types.contains(&type_of(value)) || types.contains(&"number") && value.is_number()) {
        mistakes.push(format!("{at}: {} is none of {types:?}", type_of(value)));
    }
    for name in schema["required"].as_array().into_iter().flatten().filter_map(Value::as_str) {
        if value.is_object() && value.get(name).is_none() {
            mistakes.push(format!("{at}.{name} is not always there"));
        }
    }
    for (name, value) in value.as_object().into_iter().flatten() {
        match schema["properties"].get(name) {
            Some(property) => find_mistakes(property, value, &format!("{at}.{name}"), mistakes),
            None if schema["additionalProperties"] == true => {}
            None if schema.get("properties").is_some() => mistakes.push(format!("{at}.{name} is new")),
            None => {}
        }
    }
    for item in value.as_array().into_iter().flatten() {
        find_mistakes(&schema["items"], item, &format!("{at}[]"), mistakes);
    }
}

/// Chooses objects that differ in their shape, the richest first.
fn choose(mut objects: Vec<Value>) -> Vec<Value> {
    objects.sort_by_key(|object| std::cmp::Reverse(shape_of(object).len()));
    let mut shapes: BTreeSet<String> = BTreeSet::new();
    let mut chosen: Vec<Value> = Vec::new();
    let mut keys: Option<BTreeSet<String>> = None;
    for object in objects {
        let shape = shape_of(&object);
        let own: BTreeSet<String> =
            object.as_object().into_iter().flat_map(|object| object.keys().cloned()).collect();
        let lacks = keys.as_ref().is_some_and(|keys| !keys.is_subset(&own));
        if chosen.len() < EXAMPLES_MAX && (lacks || !shape.is_subset(&shapes)) {
            keys = Some(keys.map_or(own.clone(), |keys| keys.intersection(&own).cloned().collect()));
            shapes.extend(shape);
            chosen.push(settle(object));
        }
    }
    chosen
}

/// Returns every path in a value with the type that is there.
fn shape_of(value: &Value) -> BTreeSet<String> {
    fn add(value: &Value, at: &str, shape: &mut BTreeSet<String>) {
        shape.insert(format!("{at}:{}", type_of(value)));
        for (name, value) in value.as_object().into_iter().flatten() {
            add(value, &format!("{at}.{name}"), shape);
        }
        value.as_array().into_iter().flatten().for_each(|item| add(item, &format!("{at}[]"), shape));
    }
    let mut shape = BTreeSet::new();
    add(value, "", &mut shape);
    shape
}

/// Replaces what is different each time.
fn settle(value: Value) -> Value {
    match value {
        Value::Array(items) => Value::Array(items.into_iter().map(settle).collect()),
        Value::Object(fields) => {
            let is_span = |name: &str| name.to_lowercase().ends_with("milliseconds") || name == "pid";
            Value::Object(
                fields
                    .into_iter()
                    .map(|(name, value)| {
                        let value =
                            if is_span(&name) && value.is_u64() { json!(1200) } else { settle(value) };
                        (name, value)
                    })
                    .collect(),
            )
        }
        Value::String(text) => Value::String(settle_text(&text)),
        other => other,
    }
}

fn settle_text(text: &str) -> String {
    let is_time = text.len() >= 20 && text.as_bytes()[10] == b'T' && text.ends_with('Z');
    let is_hash = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_id = text.len() == 36 && text.bytes().filter(|byte| *byte == b'-').count() == 4;
    if is_time {
        "2026-03-01T09:30:00Z".to_owned()
    } else if is_hash {
        "4b825dc642cb6eb9a060e54bf8d69288fbee4904"[..40].to_owned()
    } else if is_id {
        "0198c0de-0000-7000-8000-000000000001".to_owned()
    } else {
        settle_paths(text)
    }
}

/// Replaces the folder of the test, which is `.tmpXXXXXX/project` in the folder for temporary files.
fn settle_paths(text: &str) -> String {
    let begin = format!("{}/.tmp", std::env::temp_dir().display());
    let mut parts = text.split(&begin);
    let first = parts.next().unwrap_or_default().to_owned();
    parts.fold(first, |text, part| {
        let rest = part.split_once("/project").map_or(part, |(_, rest)| rest);
        text + "/srv/shop" + rest
    })
}

/// Returns a value as it stands in an address.
fn word(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), |text| text.replace('/', "%2F"))
}

/// One test and not many: it says which address was never called.
#[tokio::test(flavor = "multi_thread")]
async fn every_address_answers_as_it_is_described() {
    let served = Served::start_in(&CONFIG.replace("ASKER", ASKER), &FILES).await;
    let calls = Calls::new(&served);
    for path in ["/api/openapi.json", "/healthz", "/api/machine", "/api/machine?format=svg", "/api/agents"] {
        calls.get(path);
    }
    documents(&calls);
    a_task(&calls, &served);
    other_tasks(&calls);
    runs(&calls, &served);
    questions(&calls);
    rest(&calls, &served);
    calls.finish();
    served.stop().await;
}

fn documents(calls: &Calls<'_>) {
    calls.post("/api/prds", json!({ "slug": "shop", "title": "Shop", "text": "# Shop\n" }));
    calls.call("PATCH", "/api/prds/shop", &[], Some(&json!({ "title": "The shop" })));
    calls
        .post("/api/epics", json!({ "title": "Till", "prd": "shop", "description": "What is at the till." }));
    calls.post("/api/epics", json!({ "title": "Nothing yet" }));
    calls.call("PATCH", "/api/epics/1", &[], Some(&json!({ "title": "Tills" })));
    let task = json!({ "title": "one", "criteria": ["it works"], "epicId": 1, "description": "The first." });
    calls.post("/api/tasks", task);
    for path in ["/api/prds", "/api/prds/shop", "/api/epics", "/api/epics/1"] {
        calls.get(path);
    }
}

/// One task from the backlog to its merge.
fn a_task(calls: &Calls<'_>, served: &Served) {
    calls.call("PATCH", "/api/tasks/1", &[], Some(&json!({ "priority": "high" })));
    calls.post("/api/tasks/1/criteria", json!({ "check": [1] }));
    calls.post("/api/tasks/1/progress", json!({ "did": "half", "next": "the rest" }));
    calls.post("/api/tasks/1/output", json!({ "text": "### Summary\n\nuse the till\n" }));
    let file = served.get("/api/tasks/1/file");
    calls.see("GET", "/api/tasks/1/file", &file);
    calls.write("PUT", "/api/tasks/1/file", &file.body);
    calls.write("POST", "/api/task-files/check", &file.body);
    calls.write("POST", "/api/task-files/check", "no task file\n");
    calls.post("/api/tasks/1/archive", json!({}));
    calls.post("/api/tasks/1/notes", json!({ "text": "Keep it small." }));
    calls.get("/api/tasks/1/notes");
    // It is not delivered yet.
    calls.get("/api/tasks/1");
    calls.post("/api/tasks/1/assign?wait=60", json!({ "agentId": "worker" }));
    until("the task waits for approval", || calls.get("/api/tasks/1")["column"] == "waiting_approval");
    calls.post("/api/tasks/1/viewed", json!({ "path": "task-1.txt", "viewed": true }));
    calls.post("/api/tasks/1/open", json!({ "path": "task-1.txt" }));
    let session = word(&calls.get("/api/tasks/1/sessions")["items"][0]["session"]);
    for path in [
        "diff",
        "diff?stat",
        "diff/files",
        "checks",
        "criteria",
        "archive",
        "chain-output",
        "salvages",
        "notes",
        "viewed",
    ] {
        calls.get(&format!("/api/tasks/1/{path}"));
    }
    calls.get(&format!("/api/sessions/{session}"));
    let output = format!("/api/sessions/{session}/output");
    calls.get(&output);
    calls.get("/api/inbox");
    let comment = json!({ "path": "task-1.txt", "line": 1, "text": "Say it in English." });
    calls.post(
        "/api/tasks/1/reject?wait=60",
        json!({ "reason": "again", "feedback": "more", "comments": [comment] }),
    );
    until("the agent has done it again", || calls.get("/api/tasks/1")["waitsFor"] == "you");
    calls.post("/api/tasks/1/submit", json!({}));
    until("the checks have run", || calls.get("/api/tasks/1")["waitsFor"] == "you");
    calls.post("/api/tasks/1/approve?wait=60", json!({ "anyway": true }));
    until("it is merged", || calls.get("/api/tasks/1")["column"] == "verified");
    calls.post("/api/tasks/1/hide", json!({ "hidden": true }));
}

fn other_tasks(calls: &Calls<'_>) {
    calls.post("/api/tasks", json!({ "title": "two" }));
    calls.post("/api/tasks", json!({ "title": "three" }));
    calls.get("/api/tasks/2/chain-output");
    calls.get("/api/tasks/2/archive");
    calls.get("/api/workflows/speckit");
    calls.post("/api/tasks", json!({ "title": "four", "dependencies": [2] }));
    calls.post("/api/tasks/3/depends", json!({ "add": [2] }));
    calls.post("/api/tasks/3/depends", json!({ "remove": [2] }));
    calls.call("DELETE", "/api/tasks/4", &[], None);
    calls.post("/api/tasks/2/assign", json!({ "me": true }));
    until("the worktree is there", || !calls.get("/api/tasks/2")["worktree"].is_null());
    until("it is a person's", || calls.get("/api/tasks/2")["waitsFor"] == "you");
    let worktree = word(&calls.get("/api/tasks/2")["worktree"]).replace("%2F", "/");
    std::fs::write(format!("{worktree}/two.txt"), "two\n").expect("the worktree can be written to");
    calls.post("/api/tasks/2/complete?wait=60", json!({}));
    calls.post("/api/tasks/2/reassign", json!({ "agentId": "worker" }));
    until("the worker is done", || calls.get("/api/tasks/2")["waitsFor"] == "you");
    calls.post("/api/tasks/2/cancel?wait=60", json!({ "reason": "not now" }));
    until("it is kept", || calls.get("/api/tasks/2")["column"] == "backlog");
    calls.get("/api/tasks/2/salvages");
    calls.post("/api/tasks/2/salvage", json!({ "number": 1, "branch": "kept/two" }));
    // Queued behind the agent that asks below.
    calls.post("/api/tasks/2/assign", json!({ "agentId": "asker" }));
    until("the agent asks", || calls.get("/api/questions")["items"][0].is_object());
    calls.get("/api/inbox");
    calls.post("/api/tasks/3/assign", json!({ "agentId": "asker" }));
    calls.post("/api/tasks/3/dequeue", json!({}));
}

fn questions(calls: &Calls<'_>) {
    let question = word(&calls.get("/api/questions")["items"][0]["id"]);
    calls.post(&format!("/api/questions/{question}/answer"), json!({ "answer": "deny" }));
    until("the session ends", || calls.get("/api/tasks/2")["waitsFor"] == "you");
}

fn runs(calls: &Calls<'_>, served: &Served) {
    calls.post("/api/runs", json!({ "workflow": "ask", "board": false }));
    until("it asks", || calls.get("/api/runs/1")["waitsFor"] == "you");
    calls.get("/api/inbox");
    calls.post("/api/runs/1/pause", json!({}));
    calls.post("/api/runs/1/resume", json!({}));
    calls.post("/api/runs/1/answer?wait=60", json!({ "text": "yes" }));
    until("it is over", || calls.get("/api/runs/1")["status"] == "completed");
    calls.post("/api/runs/1/fork", json!({ "at": 1 }));
    until("it asks again", || calls.get("/api/runs/2")["waitsFor"] == "you");
    calls.post("/api/runs/2/signal", json!({ "signal": "note", "input": { "text": "Look twice" } }));
    assert_eq!(calls.get("/api/messages?run=2&role=thinker")["items"][0]["body"], "Look twice");
    calls.post("/api/runs/2/stop?wait=60", json!({ "reason": "enough" }));
    until("it is stopped", || calls.get("/api/runs/2")["status"] == "failed");
    for path in [
        "/api/runs",
        "/api/runs/1/steps",
        "/api/runs/1/steps/2",
        "/api/runs/1/sessions",
        "/api/runs/1/replay",
    ] {
        calls.get(path);
    }
    let refused = served.post("/api/runs/1/pause", &json!({}));
    assert_eq!((refused.status, refused.code().as_str()), (409, "RUN_INVALID_TRANSITION"));
    for path in
        ["/api/workflows", "/api/workflows/ask", "/api/workflows/speckit/check", "/api/workflows/ask/graph"]
    {
        calls.get(path);
    }
    let faults =
        calls.post("/api/workflows/check", json!({ "files": { "workflow.toml": "name = \"x\"\n" } }));
    assert!(faults["items"][0].is_object(), "{faults}");
}

fn rest(calls: &Calls<'_>, served: &Served) {
    // A task whose session broke off can be resumed.
    calls.post("/api/tasks", json!({ "title": "five" }));
    calls.post("/api/tasks/5/assign", json!({ "agentId": "breaker" }));
    until("the session breaks off", || calls.get("/api/tasks/5")["error"].is_object());
    calls.post("/api/tasks/5/resume?wait=60", json!({ "feedback": "go on" }));
    let sent =
        calls.post("/api/messages", json!({ "to": "task:3", "body": "hello", "subject": "Hi", "taskId": 3 }));
    let path = format!("/api/messages/{}", word(&sent["messageId"]));
    calls.get(&path);
    calls.post(&format!("{path}/read"), json!({}));
    for path in
        ["/api/messages", "/api/tasks?all", "/api/cost", "/api/cost?by=task", "/api/doctor", "/api/questions"]
    {
        calls.get(path);
    }
    calls.post("/api/limits", json!({ "scope": "task", "measure": "cost", "limit": 4.5 }));
    calls.post("/api/agents/detect", json!({}));
    served.repo.git(&["branch", "task/1"]);
    let found = calls.get("/api/doctor")["items"][0].clone();
    assert_eq!((&found["kind"], &found["canFix"]), (&json!("orphan_branch"), &json!(true)), "{found}");
    assert_eq!(calls.post("/api/doctor/fix", json!({}))["items"][0]["fixed"], true, "beside the engine");
    assert_eq!(served.repo.git(&["branch", "--list", "task/1"]), "");
    let json = [("accept", "application/json")];
    calls.call("GET", "/api/events?after=0&limit=1000", &json, None);
}
