//! One thing that a person can do, and the request that does it.

use serde::Serialize;
use serde_json::{Value, json};

/// One way out of an error.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ActionView {
    /// What it is, in a word: `retry`, `sendBack`, `otherAgent`, `open`, `submit`, `review`, `raise`, `fork`, `stop`,
    /// `cancel`.
    pub action: &'static str,
    /// What it is, in a few words.
    pub title: String,
    /// What follows from it.
    pub consequence: String,
    /// What its button says.
    pub button: String,
    /// The same on the command line.
    pub command: String,
    /// The request of the button; without it, the command is there to be copied.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub request: Option<RequestView>,
    /// The page that shows what to do, in place of a request.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub page: Option<String>,
}

/// A request of the API.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestView {
    /// The HTTP method.
    pub method: &'static str,
    /// The path.
    pub path: String,
    /// The body, but for what is chosen.
    pub body: Value,
    /// The field of the body that one of `choices` is put into.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub choose: Option<&'static str>,
    /// What can be chosen.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<String>,
    /// What is posted next, with an empty body, when this is done.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub then: Option<String>,
}

impl ActionView {
    pub(super) fn new(
        action: &'static str,
        (title, consequence): (impl Into<String>, impl Into<String>),
        button: impl Into<String>,
        command: String,
    ) -> Self {
        ActionView {
            action,
            title: title.into(),
            consequence: consequence.into(),
            button: button.into(),
            command,
            request: None,
            page: None,
        }
    }

    /// Says what its button sends.
    pub(super) fn posts(self, path: String, body: Value) -> Self {
        let request =
            RequestView { method: "POST", path, body, choose: None, choices: Vec::new(), then: None };
        ActionView { request: Some(request), ..self }
    }

    /// Leaves one field of the body to the person.
    pub(super) fn choosing(mut self, field: &'static str, choices: Vec<String>) -> Self {
        if let Some(request) = &mut self.request {
            request.choose = Some(field);
            request.choices = choices;
        }
        self
    }

    /// Says what is posted after it.
    pub(super) fn then(mut self, path: &str) -> Self {
        if let Some(request) = &mut self.request {
            request.then = Some(path.to_owned());
        }
        self
    }

    /// Says which page its button opens.
    pub(super) fn shows(self, page: String) -> Self {
        ActionView { page: Some(page), ..self }
    }
}

/// The body of a request that needs no field.
pub(super) fn nothing() -> Value {
    json!({})
}
