//! What reviewers said who sent a task back, as one object per rejection.

use crate::core::{AgentId, Comment, CommentAnswers, CommitId, Event, Fact, TaskId};
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
    /// What the agent said to them, the latest to each.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub answers: Vec<AnswerView>,
    /// The agent that continues, if another was chosen.
    pub agent_id: Option<AgentId>,
    /// Where the rejected diff starts; lines of the old side are counted there.
    pub base: Option<CommitId>,
    /// Where the rejected diff ends; lines of the new side are counted there.
    pub head: Option<CommitId>,
}

/// What an agent said to a comment.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields are those of the contract")]
pub struct AnswerView {
    /// The number of the comment, from 1.
    pub comment: u32,
    pub at: Timestamp,
    pub agent_id: AgentId,
    pub session: u32,
    pub text: String,
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
                    answers: Vec::new(),
                    agent_id,
                    base,
                    head,
                });
            }
            Event::CommentsAnswered { answers, .. } => {
                if let Some(last) = rejections.last_mut() {
                    last.take(at, answers);
                }
            }
            _ => {}
        }
    }
    let surplus = rejections.len().saturating_sub(REJECTIONS_MAX);
    Ok(rejections.split_off(surplus))
}

impl RejectionView {
    /// Returns what was said to the comment of a number, from 1.
    pub fn find_answer(&self, comment: u32) -> Option<&AnswerView> {
        self.answers.iter().find(|answer| answer.comment == comment)
    }

    fn take(&mut self, at: Timestamp, given: CommentAnswers) {
        let CommentAnswers { agent_id, session, answers } = given;
        for answer in answers {
            self.answers.retain(|known| known.comment != answer.comment);
            let (comment, text, agent_id) = (answer.comment, answer.text, agent_id.clone());
            self.answers.push(AnswerView { comment, at, agent_id, session, text });
        }
    }
}
