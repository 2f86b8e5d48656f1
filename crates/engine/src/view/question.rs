//! The questions of agents as people and programs see them.

use crate::core::session::Asked;
use serde::Serialize;

/// A question as it is shown.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the contract")]
pub struct QuestionView {
    pub id: String,
    pub agent_id: String,
    pub task_id: Option<u32>,
    pub run_id: Option<u32>,
    pub what: String,
    pub paths: Vec<String>,
}

impl QuestionView {
    /// Shows a question that has this name.
    pub fn of(id: String, asked: Asked) -> Self {
        QuestionView {
            id,
            agent_id: asked.subject.agent_id.to_string(),
            task_id: asked.subject.task_id.map(|task| task.number()),
            run_id: asked.subject.run_id.map(|run| run.number()),
            what: asked.what,
            paths: asked.paths,
        }
    }
}
