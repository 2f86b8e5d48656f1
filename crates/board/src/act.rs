//! Buttons that do something through the API, without a script of their own: `actions.js` reads their attributes.

use crate::markup::{Markup, escape};
use serde_json::{Map, Value};

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
    Post {
        path: String,
        body: Map<String, Value>,
        said: String,
        ask: Option<Ask>,
        take: Option<&'static str>,
    },
}

/// What is asked before it is done.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Ask {
    title: String,
    text: String,
    /// The field of the body that gets the answer; without one only a yes is asked for.
    field: Option<&'static str>,
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
        let body = if let Value::Object(fields) = body { fields } else { Map::new() };
        let to = To::Post { path: path.into(), body, said: said.into(), ask: None, take: None };
        Act { label: label.into(), class: "btn plain", key: None, to }
    }

    /// Asks for a text first, which becomes a field of the body; without a field, asks only whether it is meant.
    pub fn asking(
        mut self,
        title: impl Into<String>,
        text: impl Into<String>,
        field: Option<&'static str>,
    ) -> Self {
        if let To::Post { ask, .. } = &mut self.to {
            *ask = Some(Ask { title: title.into(), text: text.into(), field });
        }
        self
    }

    /// Puts the text of the field beside it into a field of the body.
    pub fn taking(mut self, field: &'static str) -> Self {
        if let To::Post { take, .. } = &mut self.to {
            *take = Some(field);
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
            To::Post { path, body, said, ask, take } => {
                let body = escape(&Value::Object(body.clone()).to_string());
                let asked = ask.as_ref().map_or_else(String::new, |ask| {
                    let field =
                        ask.field.map_or_else(String::new, |field| format!(" data-ask-field=\"{field}\""));
                    format!(
                        " data-ask=\"{}\" data-ask-text=\"{}\"{field}",
                        escape(&ask.title),
                        escape(&ask.text)
                    )
                });
                let take = take.map_or_else(String::new, |field| format!(" data-take=\"{field}\""));
                format!(
                    "<button class=\"{class}\" type=\"button\" data-decides data-post=\"{}\" data-body=\"{body}\" \
                     data-said=\"{}\"{asked}{take}{bound}>{label}{key}</button>",
                    escape(path),
                    escape(said)
                )
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_a_button_sends_is_escaped() {
        let act =
            Act::post("Send \"back\"", "/api/tasks/1/reject", json!({ "reason": "<b>'x'\"" }), "it's <sent>");
        let html = act.render().into_string();
        assert!(!html.contains("<b>") && !html.contains("<sent>"), "{html}");
        assert!(html.contains("{&quot;reason&quot;:&quot;&lt;b&gt;&#39;x&#39;\\&quot;&quot;}"), "{html}");
    }
}
