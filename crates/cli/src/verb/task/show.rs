//! `regatta task show`.

use super::task_id;
use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{BOLD, CYAN, DIM, RED, clean};
use crate::session_text::grouped;
use crate::state_words::{describe_park, word_of};
use crate::verb::cost::{render_cost, render_time};
use clap::Args;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use regatta_engine::core::session::Spent;
use regatta_engine::core::{Evidence, Lacks, Problem, TaskId, WaitsFor};
use regatta_engine::{
    ActivityView, CriterionView, FileSize, Project, SectionSize, TaskView, memory, show_task,
    show_task_with_file,
};
use std::fmt::Write;

/// Show one task.
#[derive(Args)]
pub(crate) struct Show {
    /// Task number.
    #[arg(value_name = "ID", value_parser = task_id)]
    task: TaskId,
}

impl Show {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        look_at_file(&project, self.task).await?;
        let view = show_task_with_file(&project, self.task).await.map_err(|error| error.explain())?;
        place.screen.data(&view, |view| render(view, &show_file(view)));
        Ok(Exit::Done)
    }
}

/// Takes in what was written in the task's file. A disk that refuses is said with the task.
async fn look_at_file(project: &Project, task: TaskId) -> Result<(), Problem> {
    memory::look(project, task).await.map_err(|error| error.explain())
}

/// Prints a task as another verb left it, without its file.
pub(crate) async fn print(place: &Place, project: &Project, task: TaskId) -> Result<Exit, Problem> {
    let view = show_task(project, task).await.map_err(|error| error.explain())?;
    place.screen.data(&view, |view| render(view, &[]));
    Ok(Exit::Done)
}

fn render(task: &TaskView, file: &[(&str, String)]) -> String {
    let mut text = format!("{CYAN}#{}{CYAN:#} {BOLD}{}{BOLD:#}\n", task.id, clean(&task.title));
    let mut field = |name: &str, value: String| {
        let _ = writeln!(text, "  {DIM}{name:<10}{DIM:#} {}", clean(&value).replace('\n', "\n             "));
    };
    field("column", format!("{} ({})", task.column, word_of(task.phase)));
    field("priority", format!("{:?}", task.priority).to_lowercase());
    if let Some(epic) = task.epic_id {
        field("epic", epic.to_string());
    }
    if let Some(prd) = &task.prd {
        field("PRD", prd.to_string());
    }
    if let Some(agent) = &task.agent_id {
        field("agent", format!("{agent} ({})", format!("{:?}", task.agent_state).to_lowercase()));
    } else if task.phase == "by_hand" {
        field("owner", task.owner.clone());
    }
    if let (Some(queued), Some(place)) = (&task.queued, task.queue_position) {
        field("queued", format!("number {place}, for {} ({})", queued.agent_id, queued.code));
    }
    if !task.dependencies.is_empty() {
        let names: Vec<String> = task.dependencies.iter().map(|id| format!("#{id}")).collect();
        field("depends on", names.join(", "));
    }
    if let Some(worktree) = &task.worktree {
        field("worktree", worktree.clone());
    }
    if let Some(diff) = &task.diff {
        let head = &diff.head.short();
        let files = if diff.files_changed == 1 { "file" } else { "files" };
        field(
            "diff",
            format!(
                "{} {files}, +{} -{} at {head}",
                diff.files_changed, diff.lines_added, diff.lines_removed
            ),
        );
    }
    for sentence in task.lacks.iter().flat_map(Lacks::sentences) {
        field("not whole", sentence);
    }
    if let Some(summary) = &task.summary {
        field("summary", summary.clone());
    }
    if task.rejection_count > 0 {
        let times = if task.rejection_count == 1 {
            "once".to_owned()
        } else {
            format!("{} times", task.rejection_count)
        };
        field("rejected", times);
    }
    if let Some(commit) = &task.merge_commit {
        let approver = task.approver.as_deref().unwrap_or("nobody");
        field("merged", format!("{} (approved by {approver})", &commit[..10]));
    }
    for salvage in &task.salvages {
        field("salvage", salvage.name.clone());
    }
    if !task.description.is_empty() {
        field("details", task.description.clone());
    }
    for criterion in &task.criteria {
        field("criterion", show_criterion(criterion));
    }
    for evidence in &task.checks {
        field("check", show_evidence(evidence));
    }
    for (name, value) in file {
        field(name, value.clone());
    }
    for warning in &task.warnings {
        field("warning", warning.clone());
    }
    for (name, value) in task.activity.iter().flat_map(|activity| show_activity(activity, Timestamp::now())) {
        field(name, value);
    }
    if let Some(spent) = &task.spent {
        field("used", show_spent(spent));
    }
    if let Some(park) = &task.parked {
        let has_engine = task.waits_for != WaitsFor::You;
        let why = describe_park(park, has_engine, Timestamp::now(), &TimeZone::system());
        field("parked", format!("{why} (try {})", park.attempt));
    }
    if let Some(deadline) = task.deadline {
        let mark = if task.overdue { " (overdue)" } else { "" };
        field("deadline", format!("{deadline}{mark}"));
    }
    field("next", format!("{}: {}", task.owner, task.next));
    if let Some(error) = &task.error {
        let _ = writeln!(text, "  {RED}error[{}]{RED:#}: {}", error.code, clean(&error.message).trim_end());
        let _ = writeln!(text, "  next: {}", clean(&error.hint));
    }
    text
}

/// Says where the task's file is, what its sections cost to read, and what to do about its size.
fn show_file(task: &TaskView) -> Vec<(&'static str, String)> {
    let mut fields = Vec::new();
    fields.extend(task.sandbox.iter().map(|sandbox| ("sandbox", sandbox.clone())));
    fields.push(("file", task.state_file.clone()));
    let Some(size) = &task.state_file_size else {
        let why = "not known: the file is missing or not text; the next step recreates it";
        fields.push(("size", why.to_owned()));
        return fields;
    };
    fields.push(("size", show_size(size)));
    if size.session_count > 0 {
        fields.push(("sessions", show_sessions(size)));
    }
    fields.extend(size.advice.iter().map(|advice| ("advice", advice.clone())));
    fields
}

/// Names the size of the task; what is said of a large one stands among the advice.
fn show_sessions(size: &FileSize) -> String {
    let shown = format!("{}, a {} task", size.session_count, size.complexity.replace('_', " "));
    let is_large = size.complexity.ends_with("large");
    if is_large { shown } else { format!("{shown}: {}", size.recommendation.to_lowercase()) }
}

fn show_size(size: &FileSize) -> String {
    let section = |section: &SectionSize| {
        let title = if section.title.is_empty() { "Title" } else { &section.title };
        format!("{title} {}", section.tokens)
    };
    let sections: Vec<String> = size.sections.iter().map(section).collect();
    let bytes = match size.bytes {
        few @ ..1024 => format!("{few} bytes"),
        many => format!("{:.1} KB", many as f64 / 1024.0),
    };
    format!("{bytes}, about {} tokens: {}", size.tokens, sections.join(", "))
}

/// Says what the session is doing, what it used so far, and when it last gave a sign of life.
fn show_activity(activity: &ActivityView, now: Timestamp) -> Vec<(&'static str, String)> {
    let since = |at: Timestamp| {
        let passed = now.duration_since(at).as_millis();
        render_time(u64::try_from(passed).unwrap_or_default())
    };
    let role = activity.role.as_ref().map_or_else(String::new, |role| format!(" as {role}"));
    let mut fields = vec![(
        "session",
        format!("{} of {}{role}, for {}", activity.session, activity.agent_id, since(activity.started_at)),
    )];
    if let Some(tool) = &activity.tool {
        let about = activity.about.as_deref().unwrap_or_default();
        fields.push(("doing", format!("{tool} {about}").trim_end().to_owned()));
    }
    fields.extend(activity.file.iter().map(|file| ("last file", file.clone())));
    if let Some(tokens) = activity.tokens {
        let cost =
            activity.cost_micros.map_or_else(String::new, |micros| format!(", {}", render_cost(micros, 0)));
        fields.push(("so far", format!("{} tokens{cost}", grouped(tokens))));
    }
    fields.extend(activity.last_sign_at.map(|at| ("last sign", format!("{} ago", since(at)))));
    fields
}

fn show_spent(spent: &Spent) -> String {
    let sessions = if spent.sessions == 1 { "session" } else { "sessions" };
    let tokens = match spent.tokens() {
        0 => String::new(),
        tokens => format!("{tokens} tokens, {}, ", render_cost(spent.cost_micros, spent.unpriced)),
    };
    format!("{tokens}{} in {} {sessions}", render_time(spent.milliseconds), spent.sessions)
}

fn show_criterion(criterion: &CriterionView) -> String {
    let mark = if criterion.checked { "x" } else { " " };
    let proof = match (&criterion.check, criterion.verified) {
        (Some(check), true) => format!(" (verified by `{check}`)"),
        (Some(check), false) => format!(" (not verified by `{check}`)"),
        (None, _) => String::new(),
    };
    let found = match criterion.met {
        Some(true) => " (found met by the reviewer)",
        Some(false) => " (found NOT met by the reviewer)",
        None => "",
    };
    format!("[{mark}] {}{proof}{found}", criterion.text)
}

fn show_evidence(evidence: &Evidence) -> String {
    let seconds = std::time::Duration::from_millis(evidence.milliseconds).as_secs_f64();
    if evidence.passed {
        return format!("{} passed in {seconds:.1} s", evidence.name);
    }
    let exit =
        evidence.exit.map_or_else(|| "was ended".to_owned(), |exit| format!("failed with exit {exit}"));
    let last = evidence.tail.lines().rev().find(|line| !line.trim().is_empty());
    let last = last.map_or_else(String::new, |line| format!(": {line}"));
    format!("{} {exit} after {seconds:.1} s{last}", evidence.name)
}
