//! Buttons that do something through the API, without a script of their own: `request.js` reads their attribute.

use crate::markup::{Markup, escape};
use regatta_engine::recovery::{ActionView, RequestView};
use serde_json::{Value, json};

/// A button or a link that answers something.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Act {
    label: String,
    class: &'static str,
    key: Option<&'static str>,
    to: To,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum To {
    Link(String),
    /// What `request.js` sends.
    Request(Value),
}

impl Act {
    /// A link that looks like a button.
    pub fn link(label: impl Into<String>, address: impl Into<String>) -> Self {
        Act { label: label.into(), class: "btn plain", key: None, to: To::Link(address.into()) }
    }

    /// A button that sends a change; `said` is what the message says when it is done.
    pub fn post(
        label: impl Into<String>,
        path: impl Into<String>,
        body: Value,
        said: impl Into<String>,
    ) -> Self {
        let request = json!({ "path": path.into(), "body": body, "said": said.into() });
        Act { label: label.into(), class: "btn plain", key: None, to: To::Request(request) }
    }

    /// Does one of the things that can be done about an error.
    pub fn recovering(action: &ActionView, request: &RequestView) -> Self {
        let RequestView { path, body, then, .. } = request;
        let act = Act::post(action.button.as_str(), path.as_str(), body.clone(), action.consequence.as_str());
        act.with("then", json!(then))
    }

    /// Asks for a text first, which becomes a field of the body; without a field, asks only whether it is meant.
    pub fn asking(self, title: impl Into<String>, text: impl Into<String>, field: Option<&str>) -> Self {
        let label = field.map(|_| "Write why");
        let ask = json!({ "title": title.into(), "text": text.into(), "field": field, "label": label, "isRequired": true });
        self.with("ask", ask)
    }

    /// Puts the text of the field beside it into a field of the body.
    pub fn taking(self, field: &str) -> Self {
        self.with("take", field.into())
    }

    fn with(mut self, name: &str, value: Value) -> Self {
        if let To::Request(request) = &mut self.to {
            request[name] = value;
        }
        self
    }

    /// Makes it the best answer.
    pub fn best(mut self) -> Self {
        self.class = "btn best";
        self
    }

    /// Makes it one that refuses or ends something.
    pub fn danger(mut self) -> Self {
        self.class = "btn plain danger";
        self
    }

    /// Makes it one that a narrow screen leaves out.
    pub fn extra(mut self) -> Self {
        self.class = "btn plain extra";
        self
    }

    /// Shows its key.
    pub fn key(mut self, key: &'static str) -> Self {
        self.key = Some(key);
        self
    }

    /// Renders it.
    pub fn render(&self) -> Markup {
        let label = escape(&self.label);
        let key = self.key.map_or_else(String::new, |key| format!(" <kbd>{}</kbd>", escape(key)));
        let bound = self.key.map_or_else(String::new, |key| format!(" data-key=\"{}\"", escape(key)));
        let class = self.class;
        Markup::new(match &self.to {
            To::Link(address) => {
                format!("<a class=\"{class}\" href=\"{}\">{label}{key}</a>", escape(address))
            }
            To::Request(request) => format!(
                "<button class=\"{class}\" type=\"button\" {}{bound}>{label}{key}</button>",
                attributes(request)
            ),
        })
    }
}

/// Returns the attributes of a button that sends a request, as `request.js` reads it.
pub(crate) fn attributes(request: &Value) -> Markup {
    Markup::new(format!("data-decides data-request=\"{}\"", escape(&request.to_string())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_button_sends_is_escaped() {
        let act =
            Act::post("Send \"back\"", "/api/tasks/1/reject", json!({ "reason": "<b>'x'\"" }), "it's <sent>");
        let html = act.render().into_string();
        assert!(!html.contains("<b>") && !html.contains("<sent>"), "{html}");
        assert!(html.contains("{&quot;reason&quot;:&quot;&lt;b&gt;&#39;x&#39;\\&quot;&quot;}"), "{html}");
    }
}
