//! What a file has to hold: the text of a value, or why there is none.

use crate::core::run::ShownFault;
use crate::core::{Code, Failure, Problem, RunId};
use regatta_files::run_file::{self, Layout, RenderError};
use regatta_flow::{Content, SchemaFault, StateFile, Template};
use serde_json::Value;

/// What a file has to hold.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Wanted {
    /// There is no file, or none yet.
    Nothing,
    /// A document.
    Document {
        text: String,
        /// Whether edits of it are compared with its text.
        is_place: bool,
    },
    /// The items of a list.
    Items(Vec<Value>),
}

/// Why a file has no text.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Fault {
    code: Code,
    why: String,
}

impl Fault {
    fn failed(why: impl std::fmt::Display) -> Fault {
        Fault { code: Code::FileValueFailed, why: why.to_string() }
    }

    /// Explains it for a file of a run.
    pub(super) fn explain(&self, run: RunId, name: &str) -> Failure {
        Failure::from(Problem::new(
            self.code,
            format!("file `{name}` of run {run} was not written"),
            self.why.clone(),
            format!(
                "fix the file in the workflow, then `regatta run fork {run} --with WORKFLOW` continues with it; the \
                 run itself continues as it is"
            ),
        ))
    }
}

/// Makes the content of a file of its value.
pub(super) fn make(file: &StateFile, value: Result<Option<Value>, ShownFault>) -> Result<Wanted, Fault> {
    let value = match value.map_err(|fault| Fault::failed(fault.0))? {
        None | Some(Value::Null) => return Ok(Wanted::Nothing),
        Some(value) => value,
    };
    let document = |text: String, is_place| Wanted::Document { text, is_place };
    match &file.content {
        Content::Place { body, .. } => {
            let body = body.as_ref().map(|body| body.name.as_str());
            render(&value, body).map(|text| document(text, true))
        }
        Content::Append { .. } => match value {
            Value::Array(items) => Ok(Wanted::Items(items)),
            _ => Err(Fault::failed("the place holds no list")),
        },
        Content::Value { schema, body, template, .. } => {
            if let Some(Err(faults)) = schema.as_ref().map(|schema| schema.check(&value)) {
                let told: Vec<String> = faults.iter().map(SchemaFault::to_string).collect();
                return Err(Fault { code: Code::FileInvalid, why: told.join("; ") });
            }
            let text = match template {
                Some(template) => render_template(template, &value)?,
                None => render(&value, body.as_ref().map(|body| body.name.as_str()))?,
            };
            Ok(document(text, false))
        }
    }
}

fn render(value: &Value, body: Option<&str>) -> Result<String, Fault> {
    let layout = body.map_or(Layout::Json, |body| Layout::FrontMatter { body });
    run_file::render(value, layout).map_err(|error: RenderError| Fault::failed(error))
}

fn render_template(template: &Template, value: &Value) -> Result<String, Fault> {
    let mut text = template.render(value).map_err(|fault| Fault::failed(tell(&fault)))?;
    // The renderer takes the last line end away.
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
    match text.len() > run_file::TEXT_BYTES_MAX {
        true => Err(Fault::failed(RenderError::TooLarge)),
        false => Ok(text),
    }
}

fn tell(fault: &dyn std::error::Error) -> String {
    let mut told = fault.to_string();
    let mut source = fault.source();
    while let Some(cause) = source {
        told = format!("{told}: {cause}");
        source = cause.source();
    }
    told
}

/// Renders items of a list, each by itself.
pub(super) fn render_items(file: &StateFile, items: &[Value]) -> Result<Vec<String>, Fault> {
    let template = match &file.content {
        Content::Append { template, .. } => template.as_ref(),
        Content::Place { .. } | Content::Value { .. } => None,
    };
    let render = |item: &Value| match template {
        Some(template) => render_template(template, item),
        None => run_file::render_line(item).map_err(Fault::failed),
    };
    items.iter().map(render).collect()
}
