//! Errors and rate limits, in the words and headers of the services.
//!
//! Programs read status, type, code and headers to decide whether and when to try again, so these are as the services
//! send them. The texts are ours.

use jiff::{SignedDuration, Timestamp};
use serde_json::{Value, json};

use super::reply::Reply;
use super::script::{Limited, Part, RateLimit};

/// Why a request is refused.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Refusal {
    /// The HTTP status.
    pub(crate) status: u16,
    /// What is said.
    pub(crate) message: String,
    retry_after: Option<u64>,
    limit: Option<RateLimit>,
}

/// Whose words an error is put in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Service {
    /// Messages.
    Anthropic,
    /// Chat Completions and Responses.
    OpenAi,
    /// generateContent.
    Gemini,
}

impl Refusal {
    /// Returns the refusal that a part of a script asks for.
    pub(crate) fn of(part: &Part) -> Option<Self> {
        let limit = part.rate_limit;
        let status = part.error.or(limit.map(|_| 429))?;
        let message = part.message.clone().unwrap_or_else(|| match limit {
            Some(RateLimit { seconds, .. }) => {
                format!("stub: the rate limit is reached. Please try again in {seconds}s.")
            }
            None => format!("stub error {status}"),
        });
        Some(Refusal {
            status,
            message,
            retry_after: part.retry_after.or(limit.map(|limit| limit.seconds)),
            limit,
        })
    }

    /// Returns the refusal of a prompt whose script is wrong.
    pub(crate) fn unreadable(error: &serde_json::Error) -> Self {
        Refusal {
            status: 400,
            message: format!("stub: the script cannot be read: {error}"),
            retry_after: None,
            limit: None,
        }
    }

    /// Renders it as a service would answer.
    pub(crate) fn render(&self, service: Service, now: Timestamp) -> Reply {
        let (body, mut headers) = match service {
            Service::Anthropic => self.anthropic(now),
            Service::OpenAi => self.openai(now),
            Service::Gemini => self.gemini(),
        };
        // Google tells the delay in the body alone.
        if let Some(seconds) = self.retry_after.filter(|_| service != Service::Gemini) {
            headers.push(("retry-after", seconds.to_string()));
        }
        Reply::json(self.status, &body).with(headers)
    }

    fn anthropic(&self, now: Timestamp) -> (Value, Headers) {
        let kind = match self.status {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            500 => "api_error",
            529 => "overloaded_error",
            _ => "invalid_request_error",
        };
        let body = json!({"type": "error", "error": {"type": kind, "message": self.message}});
        let mut headers = vec![("request-id", "req_stub".to_owned())];
        let Some(RateLimit { seconds, of }) = self.limit else { return (body, headers) };
        let reset = later(now, seconds);
        match of {
            Limited::Requests => headers.extend([
                ("anthropic-ratelimit-requests-limit", "50".to_owned()),
                ("anthropic-ratelimit-requests-remaining", "0".to_owned()),
                ("anthropic-ratelimit-requests-reset", reset.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()),
            ]),
            Limited::Usage => headers.extend([
                ("anthropic-ratelimit-unified-status", "rejected".to_owned()),
                ("anthropic-ratelimit-unified-representative-claim", "five_hour".to_owned()),
                ("anthropic-ratelimit-unified-reset", reset.as_second().to_string()),
            ]),
        }
        (body, headers)
    }

    fn openai(&self, now: Timestamp) -> (Value, Headers) {
        let Some(RateLimit { seconds, of }) = self.limit else {
            let kind = if self.status < 500 { "invalid_request_error" } else { "server_error" };
            return (self.openai_body(kind, Value::Null), Vec::new());
        };
        if of == Limited::Usage {
            let mut body = self.openai_body("usage_limit_reached", Value::Null);
            body["error"]["plan_type"] = json!("plus");
            body["error"]["resets_at"] = json!(later(now, seconds).as_second());
            body["error"]["resets_in_seconds"] = json!(seconds);
            return (body, Vec::new());
        }
        let headers = vec![
            ("x-ratelimit-limit-requests", "500".to_owned()),
            ("x-ratelimit-remaining-requests", "0".to_owned()),
            ("x-ratelimit-reset-requests", format!("{seconds}s")),
        ];
        (self.openai_body("requests", json!("rate_limit_exceeded")), headers)
    }

    fn openai_body(&self, kind: &str, code: Value) -> Value {
        json!({"error": {"message": self.message, "type": kind, "param": null, "code": code}})
    }

    fn gemini(&self) -> (Value, Headers) {
        let status = match self.status {
            400 => "INVALID_ARGUMENT",
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            503 => "UNAVAILABLE",
            _ => "INTERNAL",
        };
        let mut error = json!({"code": self.status, "message": self.message, "status": status});
        if let Some(RateLimit { seconds, of }) = self.limit {
            let period = if of == Limited::Usage { "Day" } else { "Minute" };
            let quota = format!("GenerateRequestsPer{period}PerProjectPerModel");
            error["details"] = json!([
                {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaId": quota}]},
                {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": format!("{seconds}s")},
            ]);
        }
        (json!({ "error": error }), Vec::new())
    }
}

type Headers = Vec<(&'static str, String)>;

fn later(now: Timestamp, seconds: u64) -> Timestamp {
    let span = SignedDuration::from_secs(i64::try_from(seconds).unwrap_or(i64::MAX));
    now.checked_add(span).unwrap_or(Timestamp::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn render(part: Value, service: Service) -> (u16, String, Vec<(String, String)>) {
        let part: Part = serde_json::from_value(part).unwrap();
        let reply =
            Refusal::of(&part).unwrap().render(service, Timestamp::from_second(1_700_000_000).unwrap());
        let headers = reply.headers.iter().map(|(name, value)| ((*name).to_owned(), value.clone())).collect();
        (reply.status, reply.text(), headers)
    }

    fn has(headers: &[(String, String)], name: &str, value: &str) -> bool {
        headers.iter().any(|(key, is)| key == name && is == value)
    }

    #[test]
    fn a_plain_error_is_in_the_words_of_the_service() {
        let (status, body, _) = render(json!({"error": 400}), Service::Anthropic);
        assert_eq!(status, 400);
        assert_eq!(
            body,
            r#"{"type":"error","error":{"type":"invalid_request_error","message":"stub error 400"}}"#
        );
        let (_, body, _) = render(json!({"error": 503, "message": "away"}), Service::Gemini);
        assert_eq!(body, r#"{"error":{"code":503,"message":"away","status":"UNAVAILABLE"}}"#);
        let (_, body, headers) = render(json!({"error": 500, "retry_after": 3}), Service::OpenAi);
        assert!(body.contains("server_error"), "{body}");
        assert!(has(&headers, "retry-after", "3"));
    }

    #[test]
    fn a_rate_limit_says_when_it_is_over() {
        let limit = json!({"rate_limit": {"seconds": 30}});
        let (status, body, headers) = render(limit.clone(), Service::Anthropic);
        assert_eq!(status, 429);
        assert!(body.contains("rate_limit_error"), "{body}");
        assert!(has(&headers, "retry-after", "30"));
        assert!(has(&headers, "anthropic-ratelimit-requests-reset", "2023-11-14T22:13:50Z"), "{headers:?}");
        let (_, body, headers) = render(limit.clone(), Service::OpenAi);
        assert!(body.contains("rate_limit_exceeded") && body.contains("try again in 30s"), "{body}");
        assert!(has(&headers, "x-ratelimit-reset-requests", "30s"));
        let (_, body, headers) = render(limit, Service::Gemini);
        assert!(body.contains(r#""retryDelay":"30s""#), "{body}");
        assert!(headers.is_empty());
    }

    #[test]
    fn a_used_up_subscription_says_so() {
        let limit = json!({"rate_limit": {"seconds": 60, "of": "usage"}});
        let (_, body, _) = render(limit.clone(), Service::OpenAi);
        assert!(body.contains("usage_limit_reached") && body.contains("1700000060"), "{body}");
        let (_, _, headers) = render(limit, Service::Anthropic);
        assert!(has(&headers, "anthropic-ratelimit-unified-reset", "1700000060"));
    }
}
