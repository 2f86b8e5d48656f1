//! Text that is HTML already, and the escaping that makes it so.

use askama::filters::HtmlSafe;
use std::fmt;

/// A piece of HTML that templates write as it is.
///
/// Only this crate makes one: from a template, or from text that `escape` went over.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Markup(String);

impl Markup {
    pub(crate) fn new(html: String) -> Self {
        Markup(html)
    }

    /// Returns the HTML.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the HTML.
    pub fn into_string(self) -> String {
        self.0
    }

    /// Tells whether there is nothing in it.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

impl fmt::Display for Markup {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.0)
    }
}

impl HtmlSafe for Markup {}

/// Renders a template. A template is checked when the binary is built, and writing to a string cannot fail.
pub(crate) fn render(template: &impl askama::Template) -> Markup {
    Markup(template.render().expect("a string can be written to"))
}

/// Escapes a text for HTML, between tags and inside quoted attributes.
pub fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            _ => escaped.push(character),
        }
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_could_end_a_tag_or_an_attribute_is_escaped() {
        assert_eq!(escape("<a b='c' d=\"e\">&x"), "&lt;a b=&#39;c&#39; d=&quot;e&quot;&gt;&amp;x");
    }
}
