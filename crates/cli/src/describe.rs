//! Events in a person's words.

use crate::describe_run::{describe_run, name_of, style_of_run};
use crate::screen::{CYAN, DIM, GREEN, RED, YELLOW, clean};
use crate::verb::cost::render_cost;
use anstyle::Style;
use regatta_engine::Entry;
use regatta_engine::core::{
    AgentId, AnyEvent, CheckoutNote, Code, Collision, Event, Evidence, Filed, Forecast, MovedRef, Origin,
    Worked, document, message, session,
};

/// Says what happened, in one line without colour.
pub(crate) fn describe(any_event: &AnyEvent) -> String {
    describe_about(any_event, None)
}

/// Says what happened in one line; `item` is what the node of a run worked on, where that is known.
pub(crate) fn describe_about(any_event: &AnyEvent, item: Option<&str>) -> String {
    let text = match any_event {
        AnyEvent::Task(event) => describe_task(event),
        AnyEvent::Document(event) => describe_document(event),
        AnyEvent::Run(event) => describe_run(event, item),
        AnyEvent::Session(event) => describe_session(event),
        AnyEvent::Message(event) => describe_message(event),
    };
    // A reason or an error may have several lines; an event has one.
    clean(&text).trim_end().replace('\n', " ")
}

/// Names the task or the run it happened to, as `#12` or `r3`; what happened to a document names the document itself.
pub(crate) fn subject(any_event: &AnyEvent) -> String {
    let run = || any_event.find_run().map_or_else(String::new, name_of);
    any_event.find_task().map_or_else(run, |task| format!("#{task}"))
}

fn describe_document(event: &document::Event) -> String {
    match event {
        document::Event::EpicAdded { epic_id, title, .. } => format!("epic {epic_id} added: {title}"),
        document::Event::EpicChanged { epic_id, title, .. } => format!("epic {epic_id} changed: {title}"),
        document::Event::PrdAdded { slug, title, .. } => format!("PRD {slug} added: {title}"),
        document::Event::PrdChanged { slug, title, .. } => format!("PRD {slug} changed: {title}"),
    }
}

fn describe_session(event: &session::Event) -> String {
    match event {
        session::Event::SessionOpened { subject, .. } => format!("session {} opened", subject.number),
        session::Event::SessionAsked { subject, question, what, .. } => {
            format!(
                "asks for permission: {what} (regatta agent answer {} allow)",
                subject.name_question(*question)
            )
        }
        session::Event::SessionAnswered { what, answer, by, .. } => {
            let said = if *answer == session::Grant::Allowed { "allowed" } else { "denied" };
            format!("{said} by {by}: {what}")
        }
        session::Event::SessionParked { class, until, attempt, .. } => {
            format!("parked until {until}: {class} (try {attempt})")
        }
        session::Event::SessionClosed { subject, usage, .. } => {
            let tokens = usage.input_tokens.saturating_add(usage.output_tokens);
            let cost =
                usage.cost_micros.map_or_else(String::new, |micros| format!(", {}", render_cost(micros, 0)));
            let used = if tokens == 0 { String::new() } else { format!(": {tokens} tokens{cost}") };
            format!("session {} closed{used}", subject.number)
        }
    }
}

fn describe_message(event: &message::Event) -> String {
    match event {
        message::Event::MessageSent { message_id, letter } => {
            let said = letter.subject.as_deref().or_else(|| letter.body.lines().next()).unwrap_or_default();
            format!("message {message_id} from {} to {}: {said}", letter.from, letter.to)
        }
        message::Event::MessageRead { message_id, by, .. } => format!("message {message_id} read by {by}"),
    }
}

fn describe_task(event: &Event) -> String {
    match event {
        Event::TaskCreated { title, .. } => format!("created: {title}"),
        Event::TaskDependenciesSet { dependencies, .. } if dependencies.is_empty() => {
            "depends on nothing".to_owned()
        }
        Event::TaskDependenciesSet { dependencies, .. } => {
            let names: Vec<String> = dependencies.iter().map(|id| format!("#{id}")).collect();
            format!("depends on {}", names.join(", "))
        }
        Event::TaskEdited { title, description, priority, filed, .. } => {
            let title = title.as_ref().map(|title| format!("title: {title}"));
            let description = description.as_ref().map(|_| "description".to_owned());
            let priority = priority.map(|priority| format!("priority: {priority:?}").to_lowercase());
            let filed = filed.as_ref().map(describe_filed);
            let parts: Vec<String> = [title, description, priority, filed].into_iter().flatten().collect();
            let parts = if parts.is_empty() { "criteria".to_owned() } else { parts.join(", ") };
            format!("edited: {parts}")
        }
        Event::TaskQueued { agent_id, code: Code::AgentAlreadyRunning, working, limit, .. } => {
            let whom = if agent_id.is_any() { "every agent".to_owned() } else { agent_id.to_string() };
            format!("queued: {whom} is busy ({working} of {limit} running)")
        }
        Event::TaskQueued { agent_id, working, limit, .. } => {
            format!("queued for {agent_id}: {working} of {limit} agents are running")
        }
        Event::TaskDequeued { .. } => "removed from the queue".to_owned(),
        Event::TaskAssignFailed { error, .. } => format!("not assigned yet: {}", error.message),
        Event::TaskAssigned { agent_id, owner, from, .. } => {
            let from =
                from.as_ref().map_or_else(String::new, |from| format!(", to continue from {}", from.short()));
            format!("assigned to {}{from}", who(agent_id.as_ref(), owner.as_deref()))
        }
        Event::TaskReassigned { agent_id, owner, .. } => {
            format!("given to {}", who(agent_id.as_ref(), owner.as_deref()))
        }
        Event::TaskHidden { .. } => "hidden from the list".to_owned(),
        Event::TaskUnhidden { .. } => "back in the list".to_owned(),
        Event::TaskDeleted { .. } => "deleted".to_owned(),
        Event::TaskSubmitted { files_changed, lines_added, lines_removed, .. } => {
            let files = if *files_changed == 1 { "file" } else { "files" };
            format!("submitted: {files_changed} {files}, +{lines_added} -{lines_removed}")
        }
        Event::WorktreeCreated { path, .. } => format!("worktree created: {path}"),
        Event::AgentAssigned { agent_id, session, .. } => format!("{agent_id} works (session {session})"),
        Event::TaskCompleted { files_changed, lines_added, lines_removed, open, session_limit, .. } => {
            let files = if *files_changed == 1 { "file" } else { "files" };
            let open = describe_open(open, *session_limit);
            format!("completed: {files_changed} {files}, +{lines_added} -{lines_removed}{open}")
        }
        Event::ApprovalRequested { .. } => "approval requested".to_owned(),
        Event::AgentPaused { agent_id, .. } => format!("{agent_id} paused"),
        Event::ApprovalApproved { approver, .. } => format!("approved by {approver}"),
        Event::WorktreeMerged { target, commit, checkout, checkouts, .. } => {
            format!("merged into {target} as {}{}", commit.short(), describe_checkouts(checkout, checkouts))
        }
        Event::TaskApproved { .. } => "verified".to_owned(),
        Event::ApprovalRejected { reason, .. } => format!("rejected: {reason}"),
        Event::TaskRejected { rejection_count, .. } => {
            format!("back in progress (rejection {rejection_count})")
        }
        Event::AgentResumed { agent_id, session, .. } => {
            format!("{agent_id} works again (session {session})")
        }
        Event::AgentParked { class, until, attempt, .. } => {
            format!("parked until {until}: {class} (try {attempt})")
        }
        Event::AgentWoken { agent_id, .. } => format!("{agent_id} continues"),
        Event::AgentContinued { agent_id, session, open, .. } => {
            let criteria = if *open == 1 { "criterion" } else { "criteria" };
            format!("{agent_id} continues with session {session}: {open} {criteria} open")
        }
        Event::AgentStopping { agent_id, .. } => format!("stopping {}", what_is_stopped(agent_id.as_ref())),
        Event::AgentStopped { agent_id, .. } => format!("{} stopped", what_is_stopped(agent_id.as_ref())),
        Event::AgentRefused { agent_id, what, .. } => format!("{agent_id} was denied {what}"),
        Event::AgentRefsMoved { agent_id, refs, more, .. } => describe_moved_refs(agent_id, refs, *more),
        Event::CollisionsForecast { forecast, .. } => describe_forecast(forecast),
        Event::TaskWorked { worked, .. } => describe_worked(worked),
        Event::WorktreeSalvaged { salvage, agent_id: Some(agent), .. } => {
            format!("{agent} changed files though its role may not; kept as {}, not merged", salvage.name)
        }
        Event::WorktreeSalvaged { salvage, .. } => format!("unmerged work kept as {}", salvage.name),
        Event::CriteriaJudged { findings, .. } => {
            let met = findings.results.iter().filter(|found| found.met).count();
            format!("{} found {met} of {} criteria met", findings.agent_id, findings.results.len())
        }
        Event::CommentsAnswered { answers, .. } => match answers.answers.len() {
            1 => format!("{} answered a comment", answers.agent_id),
            count => format!("{} answered {count} comments", answers.agent_id),
        },
        Event::WorktreeRemoved { .. } => "worktree removed".to_owned(),
        Event::TaskReleased { run_id, error: Some(error), .. } => {
            format!("left by run {run_id}: {}: {}", error.code, error.message)
        }
        Event::TaskImported { source, .. } => {
            format!("imported from {}{}", source.folder, if source.done { ", where it was done" } else { "" })
        }
        Event::TaskTakenUp { run_id, .. } => format!("run {run_id} continues with it"),
        Event::TaskReleased { run_id, error: None, .. } => format!("run {run_id} has finished with it"),
        Event::TaskCancelled { reason: Some(reason), .. } => format!("cancelled: {reason}"),
        Event::TaskCancelled { reason: None, .. } => "cancelled".to_owned(),
        Event::ChecksRan { results, .. } => {
            let show = |evidence: &Evidence| {
                format!("{} {}", evidence.name, if evidence.passed { "passed" } else { "failed" })
            };
            format!("checks: {}", results.iter().map(show).collect::<Vec<_>>().join(", "))
        }
        Event::FileChanged { origin: Origin::Engine, .. } => "task file: a new version".to_owned(),
        Event::FileChanged { origin: Origin::Edit, .. } => "task file: edited".to_owned(),
        Event::FileWritten { .. } => "task file written".to_owned(),
        Event::FileConflicted { section, .. } => {
            format!("task file: both sides changed {section}; both are kept")
        }
        Event::FileArchived { first, last, .. } => format!("sessions {first} to {last} archived"),
        Event::CriterionChecked { index, text, .. } => format!("criterion {} ticked: {text}", index + 1),
        Event::CriterionUnchecked { index, text, .. } => format!("criterion {} unticked: {text}", index + 1),
        Event::CriteriaSet { criteria, .. } => format!("criteria changed: {} now", criteria.len()),
        Event::ProgressLogged { entry, .. } => format!("progress: {}", first_item(&entry.did)),
        Event::OutputWritten { summary, .. } => format!("output written: {summary}"),
        Event::OutputRemoved { .. } => "output removed".to_owned(),
        Event::RequirementsEdited { .. } => "requirements edited".to_owned(),
        Event::InputsEmbedded { inputs, .. } => {
            let stale = inputs.iter().filter(|input| input.stale).count();
            let note = if stale > 0 { format!(", {stale} stale") } else { String::new() };
            format!("inputs from {} tasks{note}", inputs.len())
        }
        Event::FileWriteFailed { error, .. }
        | Event::FileCorrupt { error, .. }
        | Event::ChecksRunFailed { error, .. }
        | Event::WorktreeCreateFailed { error, .. }
        | Event::AgentStartFailed { error, .. }
        | Event::AgentSessionFailed { error, .. }
        | Event::TaskCompleteFailed { error, .. }
        | Event::ApprovalRequestFailed { error, .. }
        | Event::AgentPauseFailed { error, .. }
        | Event::ApprovalApproveFailed { error, .. }
        | Event::WorktreeMergeFailed { error, .. }
        | Event::AgentResumeFailed { error, .. }
        | Event::AgentStopFailed { error, .. }
        | Event::WorktreeRemoveFailed { error, .. } => format!("{}: {}", error.code, error.message),
    }
}

fn describe_filed(filed: &Filed) -> String {
    let epic = filed.epic_id.map_or_else(|| "none".to_owned(), |epic| epic.to_string());
    let prd = filed.prd.as_ref().map_or_else(|| "none".to_owned(), ToString::to_string);
    format!("epic: {epic}, PRD: {prd}")
}

/// Names the agent or the person who has a task.
fn who(agent: Option<&AgentId>, owner: Option<&str>) -> String {
    agent.map_or_else(|| owner.unwrap_or("nobody").to_owned(), ToString::to_string)
}

/// Without an agent there may still be a set-up to stop.
fn what_is_stopped(agent: Option<&AgentId>) -> String {
    agent.map_or_else(|| "the work".to_owned(), ToString::to_string)
}

/// Names the criteria that a completed task leaves open, and says why no session follows.
fn describe_open(open: &[String], session_limit: Option<u32>) -> String {
    let why = session_limit.map_or_else(String::new, |limit| format!(" after {limit} sessions in a row"));
    match open {
        [] => String::new(),
        [one] => format!("; not ticked{why}: {one}"),
        many => format!("; {} criteria are not ticked{why}: {}", many.len(), many.join("; ")),
    }
}

/// Returns the first line of what was done, without its bullet; the task's file has the rest.
fn first_item(did: &str) -> &str {
    did.lines().next().unwrap_or_default().trim_start_matches(['-', '*', '+', ' '])
}

fn describe_checkouts(first: &CheckoutNote, all: &[CheckoutNote]) -> String {
    match first {
        CheckoutNote::NotThere => String::new(),
        CheckoutNote::FastForwarded { .. } if all.len() > 1 => {
            format!("; {} checkouts were fast-forwarded", all.len())
        }
        CheckoutNote::FastForwarded { .. } => "; your checkout was fast-forwarded".to_owned(),
        CheckoutNote::LeftAlone { why, .. } => format!("; your checkout was left alone: {why}"),
    }
}

/// Says what happened, with the task or the run before it.
pub(crate) fn progress_line(entry: &Entry, item: Option<&str>) -> String {
    let style = style_of(&entry.event);
    let text = describe_about(&entry.event, item);
    format!("{CYAN}{:<4}{CYAN:#} {style}{text}{style:#}", subject(&entry.event))
}

/// Says what happened, with the number, the time and the name of the event before it.
pub(crate) fn log_line(entry: &Entry) -> String {
    let style = style_of(&entry.event);
    let kind = entry.event.kind();
    format!(
        "{DIM}{:>5}  {:.3}{DIM:#}  {CYAN}{:<4}{CYAN:#} {style}{kind:<24}{style:#} {}",
        entry.seq,
        entry.at,
        subject(&entry.event),
        describe(&entry.event)
    )
}

fn describe_moved_refs(agent: &AgentId, refs: &[MovedRef], more: u32) -> String {
    let one = |moved: &MovedRef| match &moved.to {
        Some(to) => format!("{} from {} to {}", moved.name, moved.from.short(), to.short()),
        None => format!("{} was deleted at {}", moved.name, moved.from.short()),
    };
    let shown = refs.iter().map(one).collect::<Vec<_>>().join(", ");
    let rest = if more > 0 { format!(", and {more} more") } else { String::new() };
    format!("refs moved while {agent} worked without a sandbox: {shown}{rest}")
}

fn describe_worked(worked: &Worked) -> String {
    let count = |listed: usize, more: u32, word: &str| {
        let all = listed as u64 + u64::from(more);
        if all == 1 { format!("1 {word}") } else { format!("{all} {word}s") }
    };
    let commits = count(worked.commits.len(), worked.more_commits, "commit");
    let files = count(worked.files.len(), worked.more_files, "file");
    format!("session {} added {commits} in {files}", worked.session)
}

fn describe_forecast(forecast: &Forecast) -> String {
    let one = |collision: &Collision| format!("{}: {}", collision.summary(), collision.list_files());
    let shown = forecast.collisions.iter().map(one).collect::<Vec<_>>().join("; ");
    match (forecast.is_empty(), forecast.more_collisions) {
        (true, _) => "collides with nothing any more".to_owned(),
        (false, 0) => shown,
        (false, more) => format!("{shown}; and {more} more"),
    }
}

fn style_of(any_event: &AnyEvent) -> Style {
    let event = match any_event {
        AnyEvent::Task(event) => event,
        AnyEvent::Run(event) => return style_of_run(event),
        AnyEvent::Document(_) | AnyEvent::Message(_) | AnyEvent::Session(_) => return Style::new(),
    };
    match event {
        event if event.kind().ends_with(":failed") => RED,
        Event::TaskApproved { .. } | Event::WorktreeMerged { .. } => GREEN,
        Event::ApprovalRequested { .. }
        | Event::ApprovalRejected { .. }
        | Event::AgentParked { .. }
        | Event::TaskQueued { .. }
        | Event::TaskDequeued { .. }
        | Event::AgentRefused { .. }
        | Event::AgentRefsMoved { .. } => YELLOW,
        Event::CollisionsForecast { forecast, .. } if !forecast.is_empty() => YELLOW,
        _ => Style::new(),
    }
}
