//! Chat Completions of OpenAI, whole and as a stream.

use serde_json::{Value, json};

use super::answer::Answer;
use super::conversation::{Conversation, Speaker, list, text, text_of};
use super::reply::{Event, Reply};
use super::tool::Tool;

/// Reads a request.
pub(crate) fn read(body: &Value) -> Conversation {
    let mut conversation = Conversation {
        model: text(body, "model").to_owned(),
        is_stream: body["stream"] == true,
        tools: list(body, "tools").iter().filter_map(read_tool).collect(),
        ..Conversation::default()
    };
    for message in list(body, "messages") {
        let said = text_of(&message["content"]);
        match text(message, "role") {
            "system" | "developer" => conversation.instruct(&said),
            "assistant" => conversation.push(Speaker::Model, said),
            "tool" => conversation.push(Speaker::Tool, said),
            _ => conversation.push(Speaker::User, said),
        }
    }
    conversation
}

fn read_tool(tool: &Value) -> Option<Tool> {
    let function = tool.get("function")?;
    Some(Tool {
        name: text(function, "name").to_owned(),
        schema: function["parameters"].clone(),
        is_free_text: false,
        namespace: None,
    })
}

/// Renders an answer.
pub(crate) fn render(answer: &Answer, is_stream: bool, seconds: i64) -> Reply {
    let base = json!({"id": format!("chatcmpl-{}", answer.key), "created": seconds, "model": answer.model});
    if is_stream { stream(answer, &base) } else { whole(answer, &base) }
}

fn whole(answer: &Answer, base: &Value) -> Reply {
    let mut message = json!({"role": "assistant", "content": answer.text});
    if !answer.thinking.is_empty() {
        message["reasoning_content"] = json!(answer.thinking);
    }
    if !answer.calls.is_empty() {
        message["tool_calls"] = calls(answer).collect();
    }
    let choice = json!({"index": 0, "message": message, "finish_reason": finish(answer)});
    let more = json!({"object": "chat.completion", "choices": [choice], "usage": usage(answer)});
    Reply::document(&merge(base, &more), answer.end)
}

fn stream(answer: &Answer, base: &Value) -> Reply {
    let chunk = |choices: Value| merge(base, &json!({"object": "chat.completion.chunk", "choices": choices}));
    let delta =
        |delta: Value| Event::data(chunk(json!([{"index": 0, "delta": delta, "finish_reason": null}])));
    let mut events = vec![delta(json!({"role": "assistant", "content": ""}))];
    events.extend(Answer::pieces(&answer.thinking).map(|piece| delta(json!({"reasoning_content": piece}))));
    events.extend(Answer::pieces(&answer.text).map(|piece| delta(json!({"content": piece}))));
    for (index, mut call) in calls(answer).enumerate() {
        call["index"] = json!(index);
        events.push(delta(json!({"tool_calls": [call]})));
    }
    let last = json!([{"index": 0, "delta": {}, "finish_reason": finish(answer)}]);
    events.push(Event::data(chunk(last)));
    events.push(Event::data(merge(&chunk(json!([])), &json!({"usage": usage(answer)}))));
    events.push(Event::data("[DONE]"));
    Reply::events(&events, answer.end)
}

fn calls(answer: &Answer) -> impl Iterator<Item = Value> {
    answer.calls.iter().enumerate().map(|(index, call)| {
        let function = json!({"name": call.name, "arguments": call.arguments.to_text()});
        json!({"id": format!("call_{}_{index}", answer.key), "type": "function", "function": function})
    })
}

fn finish(answer: &Answer) -> &'static str {
    if answer.calls.is_empty() { "stop" } else { "tool_calls" }
}

fn usage(answer: &Answer) -> Value {
    let usage = answer.usage;
    json!({
        "prompt_tokens": usage.input,
        "completion_tokens": usage.output,
        "total_tokens": usage.input + usage.output,
        "prompt_tokens_details": {"cached_tokens": usage.cached},
        "completion_tokens_details": {"reasoning_tokens": usage.reasoning},
    })
}

fn merge(base: &Value, more: &Value) -> Value {
    let fields = |value: &Value| value.as_object().cloned().unwrap_or_default();
    fields(base).into_iter().chain(fields(more)).collect()
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
        let steps = json!([[{"say": "First."}, {"shell": "ls"}], {"say": "all done", "usage": {"input": 7}}]);
        let function = json!({"name": "developer__shell", "parameters": {"properties": {"command": {}}}});
        json!({
            "model": "m",
            "messages": [
                {"role": "system", "content": "You help."},
                {"role": "user", "content": prompt("Go.", &steps)},
            ],
            "tools": [{"type": "function", "function": function}],
        })
    }

    #[test]
    fn text_and_call_are_one_answer() {
        let answer = answer(&request());
        let whole: Value = serde_json::from_str(&render(&answer, false, 0).text()).unwrap();
        let message = &whole["choices"][0]["message"];
        assert_eq!(message["content"], "First.");
        assert_eq!(message["tool_calls"][0]["function"]["name"], "developer__shell");
        assert_eq!(message["tool_calls"][0]["function"]["arguments"], r#"{"command":"ls"}"#);
        assert_eq!(whole["choices"][0]["finish_reason"], "tool_calls");
        let text = render(&answer, true, 0).text();
        assert!(text.contains(r#""tool_calls":[{"id":"call_"#) && text.contains(r#""index":0}]"#), "{text}");
    }

    #[test]
    fn a_stream_ends_with_usage_and_done() {
        let mut body = request();
        let messages = body["messages"].as_array_mut().unwrap();
        messages.push(json!({"role": "assistant", "content": "First.", "tool_calls": []}));
        messages.push(json!({"role": "tool", "tool_call_id": "x", "content": "a.txt"}));
        let answer = answer(&body);
        assert_eq!(answer.text, "all done");
        let text = render(&answer, true, 0).text();
        assert!(text.contains(r#""delta":{"content":"done"}"#), "{text}");
        assert!(
            text.contains(r#""choices":[],"usage":{"prompt_tokens":7,"completion_tokens":50,"#),
            "{text}"
        );
        assert!(text.ends_with("data: [DONE]\n\n"), "{text}");
    }
}
