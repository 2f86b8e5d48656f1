//! Responses of OpenAI, whole and as a stream.

use serde_json::{Value, json};

use super::answer::Answer;
use super::conversation::{Conversation, Speaker, list, text, text_of};
use super::reply::{Event, Reply};
use super::tool::{Arguments, Call, Tool};

/// Reads a request.
pub(crate) fn read(body: &Value) -> Conversation {
    let mut conversation = Conversation {
        model: text(body, "model").to_owned(),
        is_stream: body["stream"] == true,
        system: format!("{}\n", text(body, "instructions")),
        tools: list(body, "tools").iter().flat_map(read_tools).collect(),
        ..Conversation::default()
    };
    if let Some(said) = body["input"].as_str() {
        conversation.push(Speaker::User, said.to_owned());
    }
    for item in list(body, "input") {
        read_item(item, &mut conversation);
    }
    conversation
}

fn read_item(item: &Value, conversation: &mut Conversation) {
    let kind = text(item, "type");
    if kind.ends_with("_output") {
        conversation.push(Speaker::Tool, text_of(&item["output"]));
    } else if kind.ends_with("_call") {
        conversation.push(Speaker::Model, String::new());
    } else if kind == "message" || kind.is_empty() {
        let said = text_of(&item["content"]);
        match text(item, "role") {
            "system" | "developer" => conversation.instruct(&said),
            "assistant" => conversation.push(Speaker::Model, said),
            _ => conversation.push(Speaker::User, said),
        }
    }
}

/// Reads a tool, or the tools of a group.
fn read_tools(tool: &Value) -> Vec<Tool> {
    let read = |tool: &Value, namespace: Option<&str>| Tool {
        name: text(tool, "name").to_owned(),
        schema: tool["parameters"].clone(),
        is_free_text: tool["type"] == "custom",
        namespace: namespace.map(str::to_owned),
    };
    match text(tool, "type") {
        "function" | "custom" => vec![read(tool, None)],
        "namespace" => {
            list(tool, "tools").iter().map(|inner| read(inner, Some(text(tool, "name")))).collect()
        }
        _ => Vec::new(),
    }
}

/// Renders an answer.
pub(crate) fn render(answer: &Answer, is_stream: bool, seconds: i64) -> Reply {
    let items = items(answer);
    let response = json!({
        "id": format!("resp_{}", answer.key), "object": "response", "created_at": seconds, "status": "completed",
        "model": answer.model, "output": items, "usage": usage(answer), "error": null, "incomplete_details": null,
    });
    if !is_stream {
        return Reply::document(&response, answer.end);
    }
    let mut begun = response.clone();
    begun["status"] = json!("in_progress");
    begun["output"] = json!([]);
    begun["usage"] = Value::Null;
    let mut events = Events::default();
    events.push("response.created", json!({"response": begun}));
    for (index, item) in items.iter().enumerate() {
        push_item(&mut events, index, item);
    }
    events.push("response.completed", json!({"response": response}));
    Reply::events(&events.list, answer.end)
}

/// The events so far, each with its number.
#[derive(Default)]
struct Events {
    list: Vec<Event>,
}

impl Events {
    fn push(&mut self, name: &'static str, mut data: Value) {
        data["type"] = json!(name);
        data["sequence_number"] = json!(self.list.len());
        self.list.push(Event::named(name, &data));
    }
}

fn push_item(events: &mut Events, index: usize, item: &Value) {
    let mut blank = item.clone();
    let parts = match text(item, "type") {
        "message" => "content",
        "reasoning" => "summary",
        _ => "status",
    };
    blank[parts] = if parts == "status" { json!("in_progress") } else { json!([]) };
    events.push("response.output_item.added", json!({"output_index": index, "item": blank}));
    let id = &item["id"];
    match parts {
        "content" => {
            let place = json!({"item_id": id, "output_index": index, "content_index": 0});
            let names =
                ["response.content_part.added", "response.output_text.delta", "response.output_text.done"];
            push_text(events, names, &place, &item["content"][0]);
        }
        "summary" => {
            let place = json!({"item_id": id, "output_index": index, "summary_index": 0});
            let names = [
                "response.reasoning_summary_part.added",
                "response.reasoning_summary_text.delta",
                "response.reasoning_summary_text.done",
            ];
            push_text(events, names, &place, &item["summary"][0]);
        }
        _ => {}
    }
    events.push("response.output_item.done", json!({"output_index": index, "item": item}));
}

fn push_text(events: &mut Events, [added, delta, done]: [&'static str; 3], place: &Value, part: &Value) {
    let with = |name: &str, value: Value| {
        let mut data = place.clone();
        data[name] = value;
        data
    };
    let mut blank = part.clone();
    blank["text"] = json!("");
    events.push(added, with("part", blank));
    for piece in Answer::pieces(text(part, "text")) {
        events.push(delta, with("delta", json!(piece)));
    }
    events.push(done, with("text", part["text"].clone()));
}

fn items(answer: &Answer) -> Vec<Value> {
    let key = &answer.key;
    let mut items = Vec::new();
    if !answer.thinking.is_empty() {
        let summary = json!([{"type": "summary_text", "text": answer.thinking}]);
        items.push(json!({"type": "reasoning", "id": format!("rs_{key}"), "summary": summary}));
    }
    if !answer.text.is_empty() {
        items.push(json!({
            "type": "message", "id": format!("msg_{key}"), "status": "completed", "role": "assistant",
            "content": [{"type": "output_text", "text": answer.text, "annotations": []}],
        }));
    }
    let calls = answer.calls.iter().enumerate();
    items.extend(calls.map(|(index, call)| call_item(call, &format!("{key}_{index}"))));
    items
}

fn call_item(call: &Call, id: &str) -> Value {
    let call_id = format!("call_{id}");
    match &call.arguments {
        Arguments::Text(input) => json!({
            "type": "custom_tool_call", "id": format!("ctc_{id}"), "status": "completed", "call_id": call_id,
            "name": call.name, "input": input,
        }),
        Arguments::Named(_) => {
            let mut item = json!({
                "type": "function_call", "id": format!("fc_{id}"), "status": "completed", "call_id": call_id,
                "name": call.name, "arguments": call.arguments.to_text(),
            });
            if let Some(namespace) = &call.namespace {
                item["namespace"] = json!(namespace);
            }
            item
        }
    }
}

fn usage(answer: &Answer) -> Value {
    let usage = answer.usage;
    json!({
        "input_tokens": usage.input,
        "input_tokens_details": {"cached_tokens": usage.cached},
        "output_tokens": usage.output,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning},
        "total_tokens": usage.input + usage.output,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::answer::{Outcome, Refusals, plan};
    use crate::model::script::prompt;

    fn answer(body: &Value) -> Answer {
        match plan(&read(body), &mut Refusals::new()).outcome {
            Outcome::Answer(answer) => answer,
            other => panic!("not an answer: {other:?}"),
        }
    }

    fn request(steps: &Value, items: &[Value]) -> Value {
        let said = json!([{"type": "input_text", "text": prompt("Go.", steps)}]);
        let about = json!({"type": "message", "role": "user", "content": [{"type": "input_text", "text": "<cwd>/p</cwd>"}]});
        let asked = json!({"type": "message", "role": "user", "content": said});
        let input = [&[about, asked], items].concat();
        let tick = json!({"type": "function", "name": "tick", "parameters": {}});
        json!({
            "model": "m", "stream": true, "instructions": "You help.",
            "input": input,
            "tools": [
                {"type": "function", "name": "exec_command", "parameters": {"properties": {"cmd": {}}}},
                {"type": "custom", "name": "apply_patch"},
                {"type": "namespace", "name": "mcp__board", "tools": [tick]},
            ],
        })
    }

    #[test]
    fn calls_are_functions_free_texts_or_of_a_group() {
        let steps = json!([[{"shell": "ls"}, {"write": {"path": "a", "content": "b\n"}}, {"tool": {"name": "tick"}}]]);
        let answer = answer(&request(&steps, &[]));
        let whole: Value = serde_json::from_str(&render(&answer, false, 0).text()).unwrap();
        let output = &whole["output"];
        assert_eq!(output[0]["type"], "function_call");
        assert_eq!(output[0]["arguments"], r#"{"cmd":"ls"}"#);
        assert_eq!(output[1]["type"], "custom_tool_call");
        assert_eq!(output[1]["input"], "*** Begin Patch\n*** Add File: a\n+b\n*** End Patch");
        assert_eq!((&output[2]["name"], &output[2]["namespace"]), (&json!("tick"), &json!("mcp__board")));
    }

    #[test]
    fn items_after_the_prompt_are_counted_as_one_answer_each() {
        let steps = json!([{"shell": "ls"}, [{"think": "hm"}, {"say": "all done"}]]);
        let items = [
            json!({"type": "reasoning", "summary": []}),
            json!({"type": "function_call", "name": "exec_command", "call_id": "c"}),
            json!({"type": "function_call_output", "call_id": "c", "output": "a"}),
        ];
        let text = render(&answer(&request(&steps, &items)), true, 0).text();
        assert!(text.starts_with("event: response.created\n"), "{text}");
        assert!(text.contains("event: response.reasoning_summary_text.delta\n"), "{text}");
        assert!(text.contains(r#""delta":"done","type":"response.output_text.delta","#), "{text}");
        assert!(text.contains("event: response.completed\n"), "{text}");
    }
}
