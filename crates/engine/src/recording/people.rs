//! What people did in a recorded run: how they answered, and what they decided about its tasks.
//!
//! It is read from the log when a recording is written, and repeated where a replay comes to the same place. What
//! people did elsewhere, such as finishing by hand a task that the run had given up, is not on a recording.

use crate::commands::orders::Caller;
use crate::commands::run_orders::{answer, get_run};
use crate::core;
use crate::core::run::{Event, Phase, Run};
use crate::core::{Code, Fact, ReviewNote, TaskId};
use crate::error::Error;
use crate::log;
use crate::log::NO_SNAPSHOT;
use crate::project::Project;
use crate::recording::head::{RecordedRun, RecordingHead};
use crate::recording::signals;
use crate::runs::path::find_path;
use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a person answered in a recorded run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedAnswer {
    /// The step.
    pub step: u64,
    /// The node.
    pub node: String,
    /// Whether it was a yes.
    pub approved: bool,
    /// What was said.
    pub text: String,
}

/// What was decided about a task of a recorded run, by a person or a policy.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RecordedDecision {
    /// The step that put it up.
    pub step: u64,
    /// Whether it was merged.
    pub approved: bool,
    /// What was said when it was sent back.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub reason: String,
}

impl RecordedRun {
    /// Tells whether a person ended it.
    pub(crate) fn is_stopped(&self) -> bool {
        self.error.as_deref() == Some(Code::RunStopped.as_str())
    }
}

impl RecordingHead {
    /// Repeats what people did at the place where a replay waits, in the run itself or in one below it;
    /// returns false when they did nothing there.
    pub async fn act(&self, project: &Project, caller: &Caller, run: &Run) -> Result<bool, Error> {
        let family = find_open(project, run).await?;
        for run in [run].into_iter().chain(&family) {
            if signals::give_due(project, run).await? {
                return Ok(true);
            }
        }
        for run in family.iter().filter(|run| !run.is_held()) {
            if let Some(RecordedAnswer { approved, text, .. }) = self.find_answer(project, run).await? {
                return answer(project, caller, (run.id, run.step), approved, text).await.map(|()| true);
            }
        }
        Ok(false)
    }

    async fn find_answer(&self, project: &Project, run: &Run) -> Result<Option<RecordedAnswer>, Error> {
        if !matches!(run.phase(), Some(Phase::Asking { .. })) {
            return Ok(None);
        }
        let is_here = |answer: &&RecordedAnswer| answer.step == run.step && answer.node == run.node.as_str();
        let found = self.find_run(&find_path(project, run).await?);
        Ok(found.and_then(|found| found.answers.iter().find(is_here)).cloned())
    }
}

/// Returns a run and those below it that have not ended, each before its children.
async fn find_open(project: &Project, run: &Run) -> Result<Vec<Run>, Error> {
    let mut found = vec![run.clone()];
    let mut looked_at = 0;
    while let Some(children) = found.get(looked_at).map(Run::children_under_way) {
        for child in children {
            found.push(get_run(project, child).await?);
        }
        looked_at += 1;
    }
    found.retain(|run| !run.is_over());
    Ok(found)
}

/// Finds the answers that a run got; an answer that does not fit the state is the one the run failed with.
pub(crate) fn find_answers(facts: &[Fact<Event>]) -> Vec<RecordedAnswer> {
    let mut run: Option<Run> = None;
    let mut answers = Vec::new();
    for fact in facts {
        let said = match &fact.event {
            Event::RunStepped { output, .. } | Event::RunFailed { output: Some(output), .. } => Some(output),
            _ => None,
        };
        let asked = run.as_ref().filter(|run| matches!(run.phase(), Some(Phase::Asking { .. })));
        answers.extend(asked.zip(said).map(|(run, said)| answer_of(run, said)));
        run = Run::evolve(run, fact);
    }
    answers
}

fn answer_of(asked: &Run, said: &Value) -> RecordedAnswer {
    RecordedAnswer {
        step: asked.step,
        node: asked.node.to_string(),
        approved: said["approved"].as_bool().unwrap_or_default(),
        text: said["text"].as_str().unwrap_or_default().to_owned(),
    }
}

/// Finds what was decided about the tasks of a run.
pub(crate) async fn find_decisions(
    project: &Project,
    facts: &[Fact<Event>],
) -> Result<Vec<RecordedDecision>, Error> {
    let mut run: Option<Run> = None;
    let mut decisions = Vec::new();
    for fact in facts {
        let landing = run.as_ref().and_then(|run| match run.phase() {
            Some(Phase::Landing { task, .. }) => Some((run.step, *task)),
            _ => None,
        });
        match (&fact.event, landing) {
            (Event::RunLanded { step, .. }, _) => decisions.push(merged(*step)),
            (Event::RunSentBack { step, feedback, .. }, _) => decisions.push(sent_back(*step, feedback)),
            (Event::RunStepped { step, outcome: Some(outcome), .. }, Some(_)) => {
                let feedback = outcome.feedback.as_ref();
                decisions.extend(feedback.map(|feedback| sent_back(*step, feedback)));
            }
            // The run could not continue from the decision, and so does not record it; the task does.
            (Event::RunFailed { error, .. }, Some((step, task))) if error.code != Code::RunStopped => {
                decisions.extend(find_last_decision(project, task, step, fact.at).await?);
            }
            _ => {}
        }
        run = Run::evolve(run, fact);
    }
    Ok(decisions)
}

async fn find_last_decision(
    project: &Project,
    task: TaskId,
    step: u64,
    until: Timestamp,
) -> Result<Option<RecordedDecision>, Error> {
    let loaded = project.store().load(&log::task_stream(task), NO_SNAPSHOT).await?;
    let mut last = None;
    for recorded in &loaded.tail {
        let fact: Fact<core::Event> = log::fact_of(recorded)?;
        if fact.at > until {
            break;
        }
        match fact.event {
            core::Event::TaskApproved { .. } => last = Some(merged(step)),
            core::Event::TaskRejected { reason, feedback, comments, .. } => {
                last = Some(sent_back(
                    step,
                    &ReviewNote { reason, feedback, comments, ..ReviewNote::default() }.as_text(),
                ));
            }
            _ => {}
        }
    }
    Ok(last)
}

fn merged(step: u64) -> RecordedDecision {
    RecordedDecision { step, approved: true, reason: String::new() }
}

fn sent_back(step: u64, reason: &str) -> RecordedDecision {
    RecordedDecision { step, approved: false, reason: reason.to_owned() }
}
