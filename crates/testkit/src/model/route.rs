//! Which wire format a path belongs to, and what is answered.

use std::time::Duration;

use hyper::Method;
use jiff::Timestamp;
use serde_json::{Value, json};

use super::answer::{Answer, Outcome, Plan, Refusals, plan};
use super::refusal::Service;
use super::reply::Reply;
use super::{chat, gemini, messages, responses};

/// The tokens that any text is said to have.
const TOKENS: u64 = 1_000;

/// What a path asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Route {
    Chat,
    Responses,
    Messages,
    Gemini { model: String, is_stream: bool },
    CountTokens,
    Models,
    Alive,
    Unknown,
}

/// What happens to a request: a reply after a while, or none ever.
#[derive(Debug)]
pub(crate) enum Treatment {
    /// Wait, then reply.
    Reply(Duration, Reply),
    /// Never reply.
    Hang,
}

/// Decides what happens to a request.
pub(crate) fn treat(
    method: &Method,
    path: &str,
    body: &Value,
    refusals: &mut Refusals,
    now: Timestamp,
) -> Treatment {
    let seconds = now.as_second();
    let mut answered = |conversation, service, render: &dyn Fn(&Answer) -> Reply| {
        let Plan { delay, outcome } = plan(&conversation, refusals);
        match outcome {
            Outcome::Answer(answer) => Treatment::Reply(delay, render(&answer)),
            Outcome::Refuse(refusal) => Treatment::Reply(delay, refusal.render(service, now)),
            Outcome::Hang => Treatment::Hang,
        }
    };
    match find_route(method, path) {
        Route::Chat => {
            let asked = chat::read(body);
            let is_stream = asked.is_stream;
            answered(asked, Service::OpenAi, &|answer| chat::render(answer, is_stream, seconds))
        }
        Route::Responses => {
            let asked = responses::read(body);
            let is_stream = asked.is_stream;
            answered(asked, Service::OpenAi, &|answer| responses::render(answer, is_stream, seconds))
        }
        Route::Messages => {
            let asked = messages::read(body);
            let is_stream = asked.is_stream;
            answered(asked, Service::Anthropic, &|answer| messages::render(answer, is_stream))
        }
        Route::Gemini { model, is_stream } => {
            let asked = gemini::read(body, &model, is_stream);
            let filled = if asked.tools.is_empty() { gemini::fill_schema(body) } else { None };
            answered(asked, Service::Gemini, &|answer| match &filled {
                Some(text) => gemini::render(&Answer { text: text.clone(), ..answer.clone() }, is_stream),
                None => gemini::render(answer, is_stream),
            })
        }
        route => Treatment::Reply(Duration::ZERO, plain(&route)),
    }
}

/// Returns the reply to what is not asked of the model.
fn plain(route: &Route) -> Reply {
    match route {
        Route::CountTokens => Reply::json(200, &json!({"input_tokens": TOKENS, "totalTokens": TOKENS})),
        Route::Models => {
            let named = json!({
                "id": "stub-model", "object": "model", "type": "model", "display_name": "stub", "created": 1,
                "owned_by": "stub",
            });
            let methods = json!(["generateContent"]);
            let gemini = json!({"name": "models/stub-model", "supportedGenerationMethods": methods});
            let list = json!({"object": "list", "data": [named], "has_more": false, "models": [gemini]});
            Reply::json(200, &list)
        }
        Route::Alive => Reply::json(200, &json!({})),
        _ => Reply::json(404, &json!({"error": {"message": "stub: no such path"}})),
    }
}

fn find_route(method: &Method, path: &str) -> Route {
    if *method == Method::HEAD {
        return Route::Alive;
    }
    if *method == Method::GET {
        return if path.ends_with("/models") { Route::Models } else { Route::Unknown };
    }
    if let Some((model, call)) = path.rsplit_once("/models/").and_then(|(_, rest)| rest.split_once(':')) {
        let model = model.to_owned();
        return match call {
            "generateContent" => Route::Gemini { model, is_stream: false },
            "streamGenerateContent" => Route::Gemini { model, is_stream: true },
            "countTokens" => Route::CountTokens,
            _ => Route::Unknown,
        };
    }
    let ends: [(&str, Route); 4] = [
        ("/chat/completions", Route::Chat),
        ("/responses", Route::Responses),
        ("/messages", Route::Messages),
        ("/messages/count_tokens", Route::CountTokens),
    ];
    ends.into_iter().find(|(end, _)| path.ends_with(end)).map_or(Route::Unknown, |(_, route)| route)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_lead_to_their_format() {
        let post = |path: &str| find_route(&Method::POST, path);
        assert_eq!(post("/v1/chat/completions"), Route::Chat);
        assert_eq!(post("/v1/responses"), Route::Responses);
        assert_eq!(post("/v1/messages"), Route::Messages);
        assert_eq!(post("/v1/messages/count_tokens"), Route::CountTokens);
        let gemini = |is_stream| Route::Gemini { model: "m-1".to_owned(), is_stream };
        assert_eq!(post("/v1beta/models/m-1:generateContent"), gemini(false));
        assert_eq!(post("/v1beta/models/m-1:streamGenerateContent"), gemini(true));
        assert_eq!(find_route(&Method::GET, "/v1/models"), Route::Models);
        assert_eq!(find_route(&Method::HEAD, "/"), Route::Alive);
        assert_eq!(post("/elsewhere"), Route::Unknown);
    }
}
