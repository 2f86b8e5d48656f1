//! What happened to a task, a line for each transition, in the words of the board.

use crate::ball;
use crate::words;
use jiff::Timestamp;
use regatta_engine::Entry;
use regatta_engine::core::{AgentId, AnyEvent, Event};

/// More lines than this are history for the log; the first and the newest are shown.
const LINES_MAX: usize = 60;

/// One line of the timeline.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Moment {
    /// The name of its icon.
    pub icon: &'static str,
    /// Nothing, `ok`, `warn` or `bad`.
    pub tone: &'static str,
    /// What happened.
    pub text: String,
    /// When.
    pub at: Timestamp,
}

/// Returns the transitions of a task, oldest first.
pub fn of(entries: &[Entry]) -> Vec<Moment> {
    let mut moments: Vec<Moment> = entries.iter().filter_map(moment).collect();
    if moments.len() > LINES_MAX {
        moments.drain(1..moments.len() - LINES_MAX + 1);
    }
    moments
}

fn moment(entry: &Entry) -> Option<Moment> {
    let AnyEvent::Task(event) = &entry.event else { return None };
    let actor = who(&entry.actor.to_string());
    let (icon, tone, text) = line(event, &actor)?;
    Some(Moment { icon, tone, text: words::one_line(&text, 160), at: entry.at })
}

fn line(event: &Event, actor: &str) -> Option<(&'static str, &'static str, String)> {
    let named = |agent: Option<&AgentId>| agent.map_or_else(|| "a person".to_owned(), ToString::to_string);
    Some(match event {
        Event::TaskCreated { .. } => ("plus", "", format!("Added by {actor}")),
        Event::TaskQueued { agent_id, .. } => ("queue", "", format!("Queued for {agent_id}")),
        Event::TaskDequeued { .. } => ("queue", "", format!("Taken out of the queue by {actor}")),
        Event::TaskAssignFailed { error, .. } => ("alert", "bad", format!("Not started: {}", error.message)),
        Event::TaskAssigned { agent_id, .. } => {
            ("play", "", format!("Assigned to {} by {actor}", named(agent_id.as_ref())))
        }
        Event::TaskReassigned { agent_id, .. } => {
            ("play", "", format!("Given to {} by {actor}", named(agent_id.as_ref())))
        }
        Event::WorktreeCreated { .. } => ("fork", "", "Branch and worktree made".to_owned()),
        Event::WorktreeCreateFailed { error, .. } => {
            ("alert", "bad", format!("No worktree: {}", error.message))
        }
        Event::AgentAssigned { session, .. } => ("term", "", format!("Session {session} started")),
        Event::AgentStartFailed { error, .. } => {
            ("alert", "bad", format!("Agent not started: {}", error.message))
        }
        Event::AgentSessionFailed { session, error, .. } => {
            ("x", "bad", format!("Session {session} broke off: {}", ball::cause(error)))
        }
        Event::AgentParked { session, class, .. } => {
            ("clock", "warn", format!("Session {session} broke off ({class}), continues by itself"))
        }
        Event::AgentWoken { .. } => ("retry", "", format!("Continued by {actor}")),
        Event::AgentContinued { session, open, .. } => (
            "term",
            "",
            format!(
                "Session {session} started, {} open",
                words::count(u64::from(*open), "criterion").replace("criterions", "criteria")
            ),
        ),
        Event::AgentResumed { session, .. } => {
            ("term", "", format!("Session {session} started with the feedback"))
        }
        Event::AgentResumeFailed { error, .. } => ("alert", "bad", format!("Not resumed: {}", error.message)),
        Event::CommentsAnswered { answers, .. } => {
            let count = words::count(answers.answers.len() as u64, "comment");
            ("comment", "", format!("{} answered {count}", answers.agent_id))
        }
        Event::TaskCompleted { lines_added, lines_removed, .. } => {
            ("eye", "", format!("Put up for review, +{lines_added} −{lines_removed}"))
        }
        Event::TaskSubmitted { lines_added, lines_removed, .. } => {
            ("eye", "", format!("Submitted again, +{lines_added} −{lines_removed}"))
        }
        Event::TaskCompleteFailed { error, .. } => ("alert", "bad", format!("Not put up: {}", error.message)),
        Event::ChecksRan { results, .. } => {
            let failed: Vec<&str> =
                results.iter().filter(|check| !check.passed).map(|check| check.name.as_str()).collect();
            if failed.is_empty() {
                ("check", "ok", format!("{} passed", words::count(results.len() as u64, "check")))
            } else {
                ("x", "bad", format!("Checks failed: {}", failed.join(", ")))
            }
        }
        Event::ChecksRunFailed { error, .. } => {
            ("alert", "bad", format!("Checks did not run: {}", error.message))
        }
        Event::ApprovalApproved { approver, .. } => ("check", "", format!("Approved by {approver}")),
        Event::WorktreeMerged { target, commit, .. } => {
            ("merge", "ok", format!("Merged into {target} as {}", commit.short()))
        }
        Event::WorktreeMergeFailed { .. } => ("conflict", "bad", "Merge refused".to_owned()),
        Event::ApprovalApproveFailed { error, .. } => {
            ("alert", "bad", format!("Not approved: {}", error.message))
        }
        Event::ApprovalRejected { reason, .. } => ("back", "warn", format!("Sent back by {actor}: {reason}")),
        Event::WorktreeSalvaged { .. } => ("folder", "", "Work kept as a salvage".to_owned()),
        Event::WorktreeRemoveFailed { error, .. } => {
            ("alert", "bad", format!("Worktree not removed: {}", error.message))
        }
        Event::AgentRefused { what, .. } => ("alert", "warn", format!("Refused to the agent: {what}")),
        Event::AgentStopFailed { error, .. } => {
            ("alert", "bad", format!("Agent not stopped: {}", error.message))
        }
        Event::TaskImported { source, .. } => {
            let what = if source.done { "Imported, done there" } else { "Imported" };
            ("created", "", format!("{what}, from {}", source.folder))
        }
        Event::TaskTakenUp { .. } => ("runs", "", "Taken up again by its run".to_owned()),
        Event::TaskReleased { .. } => ("runs", "warn", "Released by its run".to_owned()),
        Event::TaskCancelled { reason, .. } => {
            let reason = reason.as_ref().map_or_else(String::new, |reason| format!(": {reason}"));
            ("x", "", format!("Cancelled{reason}"))
        }
        _ => return None,
    })
}

/// Names who acted, without the kind: `user:me` is `me`.
fn who(actor: &str) -> String {
    actor.split_once(':').map_or(actor, |(_, name)| name).to_owned()
}
