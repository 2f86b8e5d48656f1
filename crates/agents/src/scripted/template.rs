//! Text with `${name}` in it. `$$` is one `$`; any other `$` stands for itself.

use std::collections::BTreeMap;

use serde_json::Value;

/// A text whose variables are known by name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Template {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Part {
    Text(String),
    Variable(String),
}

/// Why a text is not a template.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum TemplateFault {
    /// A `${` without its `}`.
    #[error("`${{` is not closed; write `$$` for a plain `$`")]
    Unclosed,
    /// A name with other characters than letters, digits, `_`, `-` and `.`, or none.
    #[error("`{name}` is not the name of a variable")]
    BadName {
        /// The name.
        name: String,
    },
}

/// Why the values could not be put in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum ExpandError {
    #[error("the variable `{name}` has no value; known are: {}", known.join(", "))]
    UnknownVariable { name: String, known: Vec<String> },
    #[error(transparent)]
    Template(#[from] TemplateFault),
}

impl Template {
    /// Reads a text.
    pub(super) fn parse(text: &str) -> Result<Template, TemplateFault> {
        let mut parts = Vec::new();
        let mut plain = String::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('$') {
            plain += before;
            if let Some(after) = after.strip_prefix('$') {
                plain.push('$');
                rest = after;
            } else if let Some(after) = after.strip_prefix('{') {
                let (name, after) = after.split_once('}').ok_or(TemplateFault::Unclosed)?;
                if !is_name(name) {
                    return Err(TemplateFault::BadName { name: name.to_owned() });
                }
                parts.push(Part::Text(std::mem::take(&mut plain)));
                parts.push(Part::Variable(name.to_owned()));
                rest = after;
            } else {
                plain.push('$');
                rest = after;
            }
        }
        parts.push(Part::Text(plain + rest));
        Ok(Template { parts })
    }

    /// Returns the text with the values put in.
    pub(super) fn expand(&self, variables: &BTreeMap<String, String>) -> Result<String, ExpandError> {
        let mut text = String::new();
        for part in &self.parts {
            match part {
                Part::Text(plain) => text += plain,
                Part::Variable(name) => {
                    text += variables.get(name).ok_or_else(|| ExpandError::UnknownVariable {
                        name: name.clone(),
                        known: variables.keys().cloned().collect(),
                    })?;
                }
            }
        }
        Ok(text)
    }
}

/// Puts the values into every string within a JSON value.
pub(super) fn expand_value(
    value: &Value,
    variables: &BTreeMap<String, String>,
) -> Result<Value, ExpandError> {
    Ok(match value {
        Value::String(text) => Value::String(Template::parse(text)?.expand(variables)?),
        Value::Array(elements) => {
            elements.iter().map(|element| expand_value(element, variables)).collect::<Result<_, _>>()?
        }
        Value::Object(fields) => {
            let expand = |(key, field): (&String, &Value)| Ok((key.clone(), expand_value(field, variables)?));
            Value::Object(fields.iter().map(expand).collect::<Result<_, ExpandError>>()?)
        }
        other => other.clone(),
    })
}

fn is_name(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn variables_are_put_in() {
        let variables = BTreeMap::from([("title".to_owned(), "${x} $$".to_owned())]);
        let expand = |text: &str| Template::parse(text).unwrap().expand(&variables);
        assert_eq!(expand("a ${title}!").unwrap(), "a ${x} $$!");
        assert_eq!(expand("$${title} $5 $").unwrap(), "${title} $5 $");
        assert_eq!(expand("").unwrap(), "");
        let unknown = expand("${other}").unwrap_err();
        assert_eq!(unknown.to_string(), "the variable `other` has no value; known are: title");
    }

    #[test]
    fn broken_variables_are_refused() {
        assert_eq!(Template::parse("${title"), Err(TemplateFault::Unclosed));
        assert_eq!(Template::parse("${}"), Err(TemplateFault::BadName { name: String::new() }));
        assert_eq!(Template::parse("${a b}"), Err(TemplateFault::BadName { name: "a b".to_owned() }));
    }
}
