//! generateContent and streamGenerateContent of Gemini.

use serde_json::{Map, Value, json};

use super::answer::Answer;
use super::conversation::{Conversation, Speaker, list, text, text_of};
use super::reply::{Event, Reply};
use super::tool::Tool;

/// Reads a request; the model and the kind of answer are named in its path.
pub(crate) fn read(body: &Value, model: &str, is_stream: bool) -> Conversation {
    let declared = list(body, "tools").iter().flat_map(|tools| list(tools, "functionDeclarations"));
    let mut conversation = Conversation {
        model: model.to_owned(),
        is_stream,
        system: text_of(&body["systemInstruction"]["parts"]),
        tools: declared.map(read_tool).collect(),
        ..Conversation::default()
    };
    for content in list(body, "contents") {
        let is_result = list(content, "parts").iter().any(|part| part.get("functionResponse").is_some());
        let speaker = match text(content, "role") {
            "model" => Speaker::Model,
            _ if is_result => Speaker::Tool,
            _ => Speaker::User,
        };
        conversation.push(speaker, text_of(&content["parts"]));
    }
    conversation
}

fn read_tool(declared: &Value) -> Tool {
    let schema = declared.get("parametersJsonSchema").or(declared.get("parameters")).cloned();
    Tool {
        name: text(declared, "name").to_owned(),
        schema: schema.unwrap_or_default(),
        is_free_text: false,
        namespace: None,
    }
}

/// Returns the answer to a request that wants JSON by a schema, as side requests do; nothing for any other.
pub(crate) fn fill_schema(body: &Value) -> Option<String> {
    let config = body.get("generationConfig")?;
    if config["responseMimeType"] != "application/json" {
        return None;
    }
    let schema = config.get("responseJsonSchema").or(config.get("responseSchema"))?;
    let properties = schema.get("properties")?.as_object()?;
    let filled: Map<String, Value> =
        properties.iter().map(|(name, schema)| (name.clone(), value_for(schema))).collect();
    Some(Value::Object(filled).to_string())
}

fn value_for(schema: &Value) -> Value {
    if let Some(first) = list(schema, "enum").first() {
        return first.clone();
    }
    match text(schema, "type").to_ascii_lowercase().as_str() {
        "boolean" => json!(false),
        "number" | "integer" => json!(0),
        "array" => json!([]),
        "object" => json!({}),
        _ => json!("stub"),
    }
}

/// Renders an answer.
pub(crate) fn render(answer: &Answer, is_stream: bool) -> Reply {
    let calls = answer
        .calls
        .iter()
        .map(|call| json!({"functionCall": {"name": call.name, "args": call.arguments.to_value()}}));
    let whole = |text: &str| (!text.is_empty()).then(|| text.to_owned());
    // The service summarises a thought in one part, also in a stream.
    let thought = whole(&answer.thinking).map(|text| json!({"text": text, "thought": true}));
    if !is_stream {
        let said = whole(&answer.text).map(|text| json!({ "text": text }));
        let parts: Vec<Value> = thought.into_iter().chain(said).chain(calls).collect();
        return Reply::document(&chunk(answer, json!(parts), true), answer.end);
    }
    let said = Answer::pieces(&answer.text).map(|piece| json!({ "text": piece }));
    let parts: Vec<Value> = thought.into_iter().chain(said).chain(calls).collect();
    let last = parts.len().saturating_sub(1);
    let mut events: Vec<Event> = parts
        .into_iter()
        .enumerate()
        .map(|(index, part)| Event::data(chunk(answer, json!([part]), index == last)))
        .collect();
    if events.is_empty() {
        events.push(Event::data(chunk(answer, json!([{"text": ""}]), true)));
    }
    Reply::events(&events, answer.end)
}

fn chunk(answer: &Answer, parts: Value, is_last: bool) -> Value {
    let mut candidate = json!({"content": {"role": "model", "parts": parts}, "index": 0});
    if is_last {
        candidate["finishReason"] = json!("STOP");
    }
    let usage = answer.usage;
    let mut chunk =
        json!({"candidates": [candidate], "modelVersion": answer.model, "responseId": answer.key});
    if is_last {
        chunk["usageMetadata"] = json!({
            "promptTokenCount": usage.input,
            "candidatesTokenCount": usage.output - usage.reasoning.min(usage.output),
            "thoughtsTokenCount": usage.reasoning,
            "cachedContentTokenCount": usage.cached,
            "totalTokenCount": usage.input + usage.output,
        });
    }
    chunk
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::answer::{Outcome, Refusals, plan};
    use crate::model::script::prompt;

    fn answer(body: &Value) -> Answer {
        match plan(&read(body, "m", true), &mut Refusals::new()).outcome {
            Outcome::Answer(answer) => answer,
            other => panic!("not an answer: {other:?}"),
        }
    }

    fn request() -> Value {
        let steps = json!([{"write": {"path": "a", "content": "b"}}, [{"think": "hm"}, {"say": "all done"}]]);
        let schema = json!({"properties": {"file_path": {}, "content": {}}});
        json!({
            "systemInstruction": {"parts": [{"text": "Workspace Directories:\n  - /p\n"}]},
            "contents": [{"role": "user", "parts": [{"text": prompt("Go.", &steps)}]}],
            "tools": [{"functionDeclarations": [{"name": "write_file", "parametersJsonSchema": schema}]}],
        })
    }

    #[test]
    fn a_call_is_one_event_with_the_end_in_it() {
        let text = render(&answer(&request()), true).text();
        let event: Value = serde_json::from_str(text.trim().strip_prefix("data: ").unwrap()).unwrap();
        let candidate = &event["candidates"][0];
        let call = &candidate["content"]["parts"][0]["functionCall"];
        assert_eq!(call, &json!({"name": "write_file", "args": {"file_path": "/p/a", "content": "b"}}));
        assert_eq!(candidate["finishReason"], "STOP");
        assert_eq!(event["usageMetadata"]["promptTokenCount"], 1000);
    }

    #[test]
    fn after_the_result_comes_the_next_step_in_pieces() {
        let mut body = request();
        let contents = body["contents"].as_array_mut().unwrap();
        contents.push(json!({"role": "model", "parts": [{"functionCall": {"name": "write_file"}}]}));
        contents.push(json!({"role": "user", "parts": [{"functionResponse": {"name": "write_file"}}]}));
        let answer = answer(&body);
        let text = render(&answer, true).text();
        assert_eq!(text.matches("data: ").count(), 3, "{text}");
        assert_eq!(text.matches("finishReason").count(), 1, "{text}");
        let whole: Value = serde_json::from_str(&render(&answer, false).text()).unwrap();
        let parts = &whole["candidates"][0]["content"]["parts"];
        assert_eq!(parts, &json!([{"text": "hm", "thought": true}, {"text": "all done"}]));
    }

    #[test]
    fn a_side_request_gets_what_its_schema_wants() {
        let properties =
            json!({"who": {"enum": ["user", "model"]}, "is": {"type": "BOOLEAN"}, "why": {"type": "string"}});
        let config =
            json!({"responseMimeType": "application/json", "responseSchema": {"properties": properties}});
        let filled = fill_schema(&json!({"generationConfig": config}));
        assert_eq!(filled.as_deref(), Some(r#"{"who":"user","is":false,"why":"stub"}"#));
        assert_eq!(fill_schema(&json!({"generationConfig": {}})), None);
    }
}
