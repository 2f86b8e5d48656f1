//! What reviewers said who sent a task back, as one object per rejection.

use crate::core::{AgentId, Comment, CommitId, Event, Fact, TaskId};
use crate::error::Error;
use crate::log::{self, NO_SNAPSHOT};
use crate::project::Project;
use jiff::Timestamp;
use serde::Serialize;

/// Older ones are in the log; a task that was sent back more often has other problems.
const REJECTIONS_MAX: usize = 20;

/// One rejection of a task's work.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the contract")]
pub struct RejectionView {
    /// How often the work was sent back, with this one.
    pub number: u32,
    pub at: Timestamp,
    pub by: String,
    pub reason: String,
    pub feedback: Option<String>,
    pub comments: Vec<Comment>,
    /// The agent that continues, if another was chosen.
    pub agent_id: Option<AgentId>,
    /// Where the rejected diff starts; lines of the old side are counted there.
    pub base: Option<CommitId>,
    /// Where the rejected diff ends; lines of the new side are counted there.
    pub head: Option<CommitId>,
}

/// Returns the last rejections of a task, the oldest first.
pub async fn list_rejections(project: &Project, task: TaskId) -> Result<Vec<RejectionView>, Error> {
    let loaded = project.store().load(&log::task_stream(task), NO_SNAPSHOT).await?;
    let mut rejections = Vec::new();
    let mut diff = None;
    for recorded in &loaded.tail {
        let Fact { at, actor, event }: Fact<Event> = log::fact_of(recorded)?;
        match event {
            Event::TaskCompleted { base, head, .. } | Event::TaskSubmitted { base, head, .. } => {
                diff = Some((base, head));
            }
            Event::TaskRejected { reason, feedback, rejection_count, agent_id, comments, .. } => {
                let (base, head) = diff.clone().unzip();
                rejections.push(RejectionView {
                    number: rejection_count,
                    at,
                    by: actor.to_string(),
                    reason,
                    feedback,
                    comments,
                    agent_id,
                    base,
                    head,
                });
            }
            _ => {}
        }
    }
    let surplus = rejections.len().saturating_sub(REJECTIONS_MAX);
    Ok(rejections.split_off(surplus))
}
