//! What a step says to roles: the messages of an edge, a route or a signal.

use serde_json::{Map, Value};

use crate::step::evaluate::holds;
use crate::step::{Look, StepFault, evaluate_text};
use crate::trial::Trial;
use crate::workflow::{Send, Workflow};

/// The longest subject, in characters; a longer one is cut.
const SUBJECT_CHARACTERS_MAX: usize = 200;

/// The longest text, in characters; a longer one is cut, because what an agent says may be of any length.
const BODY_CHARACTERS_MAX: usize = 20_000;

/// The most data, in bytes as JSON text. It is not cut: a program could not read the rest.
const DATA_BYTES_MAX: usize = 64 * 1024;

/// A message that a workflow sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Said {
    /// The role that it is for.
    pub to: String,
    /// The role that it is from, if the workflow says.
    pub from: Option<String>,
    /// What it is, in a word.
    pub kind: String,
    /// What it is about, in one line.
    pub subject: Option<String>,
    /// What it says; may be empty.
    pub body: String,
    /// What it says to a program.
    pub data: Map<String, Value>,
}

/// Evaluates messages, and keeps them in the trial until they are taken from it.
///
/// This comes before the `set` beside them, because they see what that sees.
pub fn say(workflow: &Workflow, sends: &[Send], trial: &mut Trial<'_>) -> Result<(), StepFault> {
    if sends.is_empty() {
        return Ok(());
    }
    let look = trial.look(workflow);
    let said: Vec<Option<Said>> = sends.iter().map(|send| evaluate(&look, send)).collect::<Result<_, _>>()?;
    trial.note_said(said.into_iter().flatten());
    Ok(())
}

fn evaluate(look: &Look<'_>, send: &Send) -> Result<Option<Said>, StepFault> {
    if !holds(look, send.when.as_ref())? {
        return Ok(None);
    }
    let text = |expression| evaluate_text(look, expression);
    let subject = send.subject.as_ref().map(text).transpose()?.flatten();
    let body = send.body.as_ref().map(text).transpose()?.flatten().unwrap_or_default();
    Ok(Some(Said {
        to: send.to.name.clone(),
        from: send.from.as_ref().map(|from| from.name.clone()),
        kind: send.kind.name.clone(),
        subject: subject
            .map(|subject| cut(&one_line(&subject), SUBJECT_CHARACTERS_MAX))
            .filter(|line| !line.is_empty()),
        body: cut(&body, BODY_CHARACTERS_MAX),
        data: evaluate_data(look, send)?,
    }))
}

fn evaluate_data(look: &Look<'_>, send: &Send) -> Result<Map<String, Value>, StepFault> {
    let Some(expression) = &send.data else { return Ok(Map::new()) };
    match look.evaluate(expression)? {
        None | Some(Value::Null) => Ok(Map::new()),
        Some(Value::Object(data)) => {
            let value = Value::Object(data);
            if value.to_string().len() > DATA_BYTES_MAX {
                return Err(StepFault::unusable(expression, "an object of at most 64 KiB", &value));
            }
            let Value::Object(data) = value else { return Ok(Map::new()) };
            Ok(data)
        }
        Some(other) => Err(StepFault::unusable(expression, "an object", &other)),
    }
}

fn one_line(text: &str) -> String {
    let plain: String = text.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    plain.trim().to_owned()
}

fn cut(text: &str, characters_max: usize) -> String {
    match text.char_indices().nth(characters_max - 1) {
        Some((at, last)) if at + last.len_utf8() < text.len() => format!("{}…", &text[..at]),
        _ => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_cut_at_a_character() {
        assert_eq!(
            (cut("äöü", 3).as_str(), cut("äöüß", 3).as_str(), cut("", 3).as_str()),
            ("äöü", "äö…", "")
        );
        assert_eq!(one_line(" a\nb\t"), "a b");
    }
}
