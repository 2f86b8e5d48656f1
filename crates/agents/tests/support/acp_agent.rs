//! A small agent that speaks the Agent Client Protocol, for tests: `acp_agent SCENE` plays one scene.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use std::io::Write;

use serde_json::{Value, json};

struct Agent {
    input: std::io::Lines<std::io::StdinLock<'static>>,
    folder: String,
    next_id: u64,
}

fn main() {
    let scene = std::env::args().nth(1).unwrap();
    let mut agent = Agent { input: std::io::stdin().lines(), folder: String::new(), next_id: 100 };
    while let Some(message) = agent.hear() {
        let (id, parameters) = (&message["id"], &message["params"]);
        match message["method"].as_str() {
            Some("initialize") if scene == "old" => agent.answer(id, json!({ "protocolVersion": 7 })),
            Some("initialize") => {
                let capabilities = json!({ "loadSession": scene != "forgetful" });
                agent.answer(id, json!({ "protocolVersion": 1, "agentCapabilities": capabilities }));
            }
            Some("session/new") => {
                agent.folder = parameters["cwd"].as_str().unwrap().to_owned();
                let models = json!({ "currentModelId": "a", "availableModels": [] });
                agent.answer(id, json!({ "sessionId": "fake-1", "models": models }));
            }
            Some("session/load") if parameters["sessionId"] == "fake-1" => {
                agent
                    .update(json!({ "sessionUpdate": "agent_message_chunk", "content": words("old words") }));
                agent.answer(id, Value::Null);
            }
            Some("session/load") => agent.refuse(id, "Resource not found"),
            Some("session/set_model") => agent.answer(id, json!({})),
            Some("session/prompt") => agent.work(&scene, id, &parameters["prompt"][0]["text"]),
            Some("session/cancel") => {}
            _ => agent.refuse(id, "unknown method"),
        }
    }
}

fn words(text: &str) -> Value {
    json!({ "type": "text", "text": text })
}

impl Agent {
    fn work(&mut self, scene: &str, id: &Value, prompt: &Value) {
        self.say(&format!("told: {}\n", prompt.as_str().unwrap()));
        let mut usage = json!(null);
        match scene {
            "edit" => {
                self.edit("src/new.txt");
                usage = json!({ "totalTokens": 1200, "inputTokens": 200, "outputTokens": 100, "cachedReadTokens": 900 });
            }
            "outside" => {
                let outcome = self.ask(
                    json!({ "toolCallId": "call-2", "kind": "edit", "title": "Write", "locations": [{ "path": "/etc/passwd" }] }),
                );
                self.say(&format!("outcome: {outcome}"));
            }
            "files" => self.use_client(),
            "hang" => loop {
                std::thread::park();
            },
            "cancel" => {
                while self.hear().unwrap()["method"] != "session/cancel" {}
                std::fs::write(format!("{}/cancelled", self.folder), "").unwrap();
                return self.answer(id, json!({ "stopReason": "cancelled" }));
            }
            "error" => return self.refuse(id, "API Error: 429 slow down, retry-after: 30"),
            "told-error" => self.say("Ran into this error: Bad request (400): no."),
            "declines" => return self.answer(id, json!({ "stopReason": "refusal" })),
            "crash" => {
                eprintln!("Error: connection refused");
                std::process::exit(3);
            }
            "flood" => {
                let line = "x".repeat(1000);
                for _ in 0..20_000 {
                    println!("{line}");
                }
                print!("{}\n\u{7f}\n[]\n{{\"id\":77,\"result\":1}}\n", "y".repeat(9_000_000));
            }
            "spends" => {
                let cost = json!({ "amount": 2.5, "currency": "USD" });
                self.update(json!({ "sessionUpdate": "usage_update", "used": 1, "size": 2, "cost": cost }));
                while self.hear().unwrap()["method"] != "session/cancel" {}
                return;
            }
            _ => {}
        }
        self.answer(id, json!({ "stopReason": "end_turn", "usage": usage }));
    }

    fn edit(&mut self, path: &str) {
        let path = format!("{}/{path}", self.folder);
        let diff = json!([{ "type": "diff", "path": path, "oldText": null, "newText": "new\n" }]);
        let call = json!({ "toolCallId": "call-1", "title": "Write", "kind": "edit", "status": "pending", "content": diff });
        let mut update = call.clone();
        update["sessionUpdate"] = json!("tool_call");
        self.update(update);
        let entries = json!([{ "content": "write it", "priority": "high", "status": "in_progress" }]);
        self.update(json!({ "sessionUpdate": "plan", "entries": entries }));
        let outcome = self.ask(call);
        let is_allowed = outcome["optionId"] == "yes-once";
        if is_allowed {
            std::fs::create_dir_all(format!("{}/src", self.folder)).unwrap();
            std::fs::write(&path, "new\n").unwrap();
        }
        let status = if is_allowed { "completed" } else { "failed" };
        self.update(json!({ "sessionUpdate": "tool_call_update", "toolCallId": "call-1", "status": status }));
        self.say("Done. {\"summary\":\"one file\"}");
    }

    /// Asks for what was not offered.
    fn use_client(&mut self) {
        let inside = format!("{}/made.txt", self.folder);
        let written = self.call(
            "fs/write_text_file",
            json!({ "sessionId": "fake-1", "path": inside, "content": "made\n" }),
        );
        let read = self.call("fs/read_text_file", json!({ "sessionId": "fake-1", "path": inside }));
        let secret = self.call("fs/read_text_file", json!({ "sessionId": "fake-1", "path": "/etc/passwd" }));
        let terminal = self.call("terminal/create", json!({ "command": "sh" }));
        let seen = json!([
            written["result"],
            read["result"]["content"],
            secret["error"]["code"],
            terminal["error"]["code"]
        ]);
        self.say(&seen.to_string());
    }

    fn ask(&mut self, call: Value) -> Value {
        let options = json!([
            { "optionId": "yes-ever", "name": "a", "kind": "allow_always" },
            { "optionId": "yes-once", "name": "b", "kind": "allow_once" },
            { "optionId": "no", "name": "c", "kind": "reject_once" },
        ]);
        let parameters = json!({ "sessionId": "fake-1", "toolCall": call, "options": options });
        self.call("session/request_permission", parameters)["result"]["outcome"].clone()
    }

    fn call(&mut self, method: &str, parameters: Value) -> Value {
        self.next_id += 1;
        let id = self.next_id;
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": parameters }));
        self.hear().unwrap()
    }

    fn say(&mut self, text: &str) {
        self.update(json!({ "sessionUpdate": "agent_message_chunk", "content": words(text) }));
    }

    fn update(&mut self, update: Value) {
        let parameters = json!({ "sessionId": "fake-1", "update": update });
        self.send(&json!({ "jsonrpc": "2.0", "method": "session/update", "params": parameters }));
    }

    fn answer(&mut self, id: &Value, result: Value) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    }

    fn refuse(&mut self, id: &Value, message: &str) {
        self.send(&json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32603, "message": message } }));
    }

    fn send(&mut self, message: &Value) {
        println!("{message}");
        std::io::stdout().flush().unwrap();
    }

    fn hear(&mut self) -> Option<Value> {
        Some(serde_json::from_str(&self.input.next()?.unwrap()).unwrap())
    }
}
