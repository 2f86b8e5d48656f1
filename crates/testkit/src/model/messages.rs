//! Messages of Anthropic, whole and as a stream.

use serde_json::{Value, json};

use super::answer::Answer;
use super::conversation::{Conversation, Speaker, list, text, text_of};
use super::reply::{Event, Reply};
use super::script::Script;
use super::tool::Tool;

/// Reads a request.
pub(crate) fn read(body: &Value) -> Conversation {
    let mut conversation = Conversation {
        model: text(body, "model").to_owned(),
        is_stream: body["stream"] == true,
        system: text_of(&body["system"]),
        tools: list(body, "tools").iter().filter_map(read_tool).collect(),
        ..Conversation::default()
    };
    for message in list(body, "messages") {
        let said = text_of(&message["content"]);
        match text(message, "role") {
            "assistant" => conversation.push(Speaker::Model, said),
            "system" => conversation.instruct(&said),
            _ => {
                let is_result = |block: &Value| block["type"] == "tool_result";
                if list(message, "content").iter().any(is_result) {
                    conversation.push(Speaker::Tool, String::new());
                }
                // A reminder of the program beside a result is no new turn; a prompt is.
                if !list(message, "content").iter().any(is_result) || Script::find(&said).is_some() {
                    conversation.push(Speaker::User, said);
                }
            }
        }
    }
    conversation
}

/// Reads a tool; those that the service runs itself have no schema and cannot be called here.
fn read_tool(tool: &Value) -> Option<Tool> {
    let schema = tool.get("input_schema")?.clone();
    Some(Tool { name: text(tool, "name").to_owned(), schema, is_free_text: false, namespace: None })
}

/// Renders an answer.
pub(crate) fn render(answer: &Answer, is_stream: bool) -> Reply {
    let blocks = blocks(answer);
    let stop = if answer.calls.is_empty() { "end_turn" } else { "tool_use" };
    let message = json!({
        "id": format!("msg_{}", answer.key), "type": "message", "role": "assistant", "model": answer.model,
        "content": blocks, "stop_reason": stop, "stop_sequence": null, "usage": usage(answer),
    });
    if !is_stream {
        return Reply::document(&message, answer.end);
    }
    let mut begun = message;
    begun["content"] = json!([]);
    begun["stop_reason"] = Value::Null;
    begun["usage"]["output_tokens"] = json!(1);
    let mut events = Vec::new();
    push(&mut events, "message_start", json!({"message": begun}));
    push(&mut events, "ping", json!({}));
    for (index, block) in blocks.iter().enumerate() {
        push_block(&mut events, index, block);
    }
    let delta = json!({"stop_reason": stop, "stop_sequence": null});
    let usage = json!({"output_tokens": answer.usage.output});
    push(&mut events, "message_delta", json!({"delta": delta, "usage": usage}));
    push(&mut events, "message_stop", json!({}));
    Reply::events(&events, answer.end)
}

fn push(events: &mut Vec<Event>, name: &'static str, mut data: Value) {
    data["type"] = json!(name);
    events.push(Event::named(name, &data));
}

fn push_block(events: &mut Vec<Event>, index: usize, block: &Value) {
    let mut blank = block.clone();
    let mut deltas = Vec::new();
    match text(block, "type") {
        "thinking" => {
            blank["thinking"] = json!("");
            blank["signature"] = json!("");
            let piece = |piece| json!({"type": "thinking_delta", "thinking": piece});
            deltas.extend(Answer::pieces(text(block, "thinking")).map(piece));
            deltas.push(json!({"type": "signature_delta", "signature": block["signature"]}));
        }
        "tool_use" => {
            blank["input"] = json!({});
            let input = block["input"].to_string();
            deltas.push(json!({"type": "input_json_delta", "partial_json": input}));
        }
        _ => {
            blank["text"] = json!("");
            let piece = |piece| json!({"type": "text_delta", "text": piece});
            deltas.extend(Answer::pieces(text(block, "text")).map(piece));
        }
    }
    push(events, "content_block_start", json!({"index": index, "content_block": blank}));
    for delta in deltas {
        push(events, "content_block_delta", json!({"index": index, "delta": delta}));
    }
    push(events, "content_block_stop", json!({"index": index}));
}

fn blocks(answer: &Answer) -> Vec<Value> {
    let mut blocks = Vec::new();
    if !answer.thinking.is_empty() {
        blocks.push(json!({"type": "thinking", "thinking": answer.thinking, "signature": "c3R1Yg=="}));
    }
    if !answer.text.is_empty() {
        blocks.push(json!({"type": "text", "text": answer.text}));
    }
    blocks.extend(answer.calls.iter().enumerate().map(|(index, call)| {
        let id = format!("toolu_{}_{index}", answer.key);
        json!({"type": "tool_use", "id": id, "name": call.name, "input": call.arguments.to_value()})
    }));
    blocks
}

fn usage(answer: &Answer) -> Value {
    let usage = answer.usage;
    json!({
        "input_tokens": usage.input,
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": usage.cached,
        "output_tokens": usage.output,
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

    fn request() -> Value {
        let steps =
            json!([{"write": {"path": "a.txt", "content": "hi"}}, [{"think": "hm so"}, {"say": "all done"}]]);
        json!({
            "model": "m", "stream": true,
            "system": [{"type": "text", "text": "Primary working directory: /p\n"}],
            "messages": [{"role": "user", "content": [{"type": "text", "text": prompt("Go.", &steps)}]}],
            "tools": [
                {"name": "Write", "input_schema": {"properties": {"file_path": {}, "content": {}}}},
                {"name": "web_search", "type": "web_search_1"},
            ],
        })
    }

    #[test]
    fn a_call_comes_as_a_block_of_its_own() {
        let text = render(&answer(&request()), true).text();
        assert!(text.starts_with("event: message_start\ndata: {\"message\":{\"id\":\"msg_"), "{text}");
        assert!(text.contains(r#""content_block":{"type":"tool_use","id":"toolu_"#), "{text}");
        assert!(
            text.contains(r#""partial_json":"{\"file_path\":\"/p/a.txt\",\"content\":\"hi\"}""#),
            "{text}"
        );
        assert!(text.contains(r#""stop_reason":"tool_use""#), "{text}");
    }

    #[test]
    fn after_the_result_comes_the_next_step_even_with_a_reminder_beside_it() {
        let mut body = request();
        let used = json!({"type": "tool_use", "id": "t", "name": "Write", "input": {}});
        let result = json!({"type": "tool_result", "tool_use_id": "t", "content": "ok"});
        let reminder = json!({"type": "text", "text": "Remember."});
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(json!({"role": "assistant", "content": [used]}));
        messages.push(json!({"role": "user", "content": [result, reminder]}));
        let answer = answer(&body);
        assert_eq!((answer.thinking.as_str(), answer.text.as_str()), ("hm so", "all done"));
        let text = render(&answer, true).text();
        assert!(text.contains(r#""delta":{"type":"thinking_delta","thinking":"hm "}"#), "{text}");
        assert!(text.contains(r#""delta":{"type":"text_delta","text":"done"}"#), "{text}");
        assert!(text.ends_with("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"), "{text}");
        let whole: Value = serde_json::from_str(&render(&answer, false).text()).unwrap();
        assert_eq!(whole["content"][1]["text"], "all done");
        assert_eq!(whole["usage"]["input_tokens"], 1000);
    }
}
