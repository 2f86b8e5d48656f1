//! A workflow as a drawing, and what is wrong with one that somebody sends.

use crate::core::{FieldFault, Refusal};
use crate::error::Error;
use crate::runs::definitions::{DefinitionError, Listed};
use regatta_flow::{
    FILE_BYTES_MAX, FILES_MAX, Folder, Workflow, check_folder, render_dot, render_mermaid, render_svg,
};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeMap;

/// How a workflow is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs, reason = "the names are those of the formats")]
pub enum Drawing {
    Mermaid,
    Svg,
    Dot,
}

/// A workflow as a drawing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the contract")]
pub struct DrawingView {
    pub workflow: String,
    pub level: u32,
    pub format: Drawing,
    pub drawing: String,
}

/// Draws a workflow at a level, by default its own.
pub fn draw_workflow(listed: &Listed, level: Option<u32>, format: Drawing) -> Result<DrawingView, Error> {
    let faulty = |faults| DefinitionError::Faulty { name: listed.address(), faults };
    let workflow = Workflow::load(&listed.folder).map_err(faulty)?;
    let level = level.unwrap_or_else(|| workflow.default_level());
    if !workflow.levels.contains_key(&level) {
        let known: Vec<String> = workflow.levels.keys().map(u32::to_string).collect();
        return Err(wrong("level", format!("{level} is none of {}", known.join(", "))));
    }
    let drawing = match format {
        Drawing::Mermaid => render_mermaid(&workflow, level),
        Drawing::Svg => render_svg(&workflow, level),
        Drawing::Dot => render_dot(&workflow, level),
    };
    Ok(DrawingView { workflow: listed.name.clone(), level, format, drawing })
}

/// Returns what is wrong with the files of a workflow, named from its folder.
pub fn check_files(files: BTreeMap<String, String>) -> Result<Vec<Value>, Error> {
    if files.len() > FILES_MAX {
        return Err(wrong("files", format!("must be at most {FILES_MAX}")));
    }
    if let Some((name, _)) = files.iter().find(|(_, text)| text.len() > FILE_BYTES_MAX) {
        let problem = format!("`{}` has more than {FILE_BYTES_MAX} bytes", name.escape_debug());
        return Err(wrong("files", problem));
    }
    let faults = check_folder(&Folder::new(files));
    Ok(faults.iter().map(|fault| serde_json::to_value(fault).unwrap_or_default()).collect())
}

fn wrong(field: &'static str, problem: String) -> Error {
    Error::Refused(Refusal::Invalid { faults: vec![FieldFault { field, problem }] })
}
