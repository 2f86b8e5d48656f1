//! `regatta task show`.

use crate::arguments::Place;
use crate::columns::Fields;
use crate::exit::Exit;
use crate::screen::{BOLD, CYAN, RED, clean};
use crate::session_text::grouped;
use crate::state_words::{describe_park, word_of};
use crate::verb::cost::{render_cost, render_time};
use clap::Args;
use jiff::Timestamp;
use jiff::tz::TimeZone;
use regatta_engine::core::session::Spent;
use regatta_engine::core::{Evidence, Lacks, Problem, TaskId, TaskSource, WaitsFor};
use regatta_engine::notes::NoteView;
use regatta_engine::{
    ActivityView, CriterionView, FileSize, Project, SectionSize, TaskView, edits, show_task,
    show_task_with_file,
};
use std::fmt::Write;

/// Show one task.
#[derive(Args)]
pub(crate) struct Show {
    /// Task number.
    #[arg(value_name = "ID")]
    task: TaskId,
}

impl Show {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        look_at_file(&project, self.task).await?;
        let view = show_task_with_file(&project, self.task).await?;
        place.screen.data(&view, |view| render(view, &show_file(view)));
        Ok(Exit::Done)
    }
}

/// Takes in what was written in the task's file. A disk that refuses is said with the task.
async fn look_at_file(project: &Project, task: TaskId) -> Result<(), Problem> {
    edits::look(project, task).await.map_err(|error| error.explain())
}

/// Prints a task as another verb left it, without its file.
pub(crate) async fn print(place: &Place, project: &Project, task: TaskId) -> Result<Exit, Problem> {
    let view = show_task(project, task).await?;
    place.screen.data(&view, |view| render(view, &[]));
    Ok(Exit::Done)
}

fn render(task: &TaskView, file: &[(&str, String)]) -> String {
    let heading = format!("{CYAN}#{}{CYAN:#} {BOLD}{}{BOLD:#}\n", task.id, clean(&task.title));
    let mut fields = Fields::below(heading);
    add_standing(&mut fields, task);
    add_work(&mut fields, task);
    fields.each("details", Some(&task.description).filter(|text| !text.is_empty()));
    fields.each("criterion", task.criteria.iter().map(show_criterion));
    fields.each("check", task.checks.iter().map(show_evidence));
    for (name, value) in file {
        fields.add(name, value);
    }
    fields.each("warning", &task.warnings);
    fields.each("collision", task.collisions.iter().map(|collision| &collision.summary));
    if task.more_collisions > 0 {
        fields.add("collision", format!("and {} more", task.more_collisions));
    }
    fields.each("note", task.notes.iter().filter(|note| !note.delivered).map(show_note));
    for (name, value) in task.activity.iter().flat_map(|activity| show_activity(activity, Timestamp::now())) {
        fields.add(name, value);
    }
    fields.each("used", task.spent.as_ref().map(show_spent));
    if let Some(park) = &task.parked {
        let has_engine = task.waits_for != WaitsFor::You;
        let why = describe_park(park, has_engine, Timestamp::now(), &TimeZone::system());
        fields.add("parked", format!("{why} (try {})", park.attempt));
    }
    if let Some(deadline) = task.deadline {
        fields.add("deadline", format!("{deadline}{}", if task.overdue { " (overdue)" } else { "" }));
    }
    fields.add("next", format!("{}: {}", task.owner, task.next));
    let mut text = fields.text;
    if let Some(error) = &task.error {
        let _ = writeln!(text, "  {RED}error[{}]{RED:#}: {}", error.code, clean(&error.message).trim_end());
        let _ = writeln!(text, "  next: {}", clean(&error.hint));
    }
    text
}

/// Says where the task is on the board, and whose it is.
fn add_standing(fields: &mut Fields, task: &TaskView) {
    fields.add("column", format!("{} ({})", task.column, word_of(task.phase)));
    fields.add("priority", format!("{:?}", task.priority).to_lowercase());
    fields.each("imported", task.source.as_deref().map(show_source));
    fields.each("epic", task.epic_id);
    fields.each("PRD", &task.prd);
    if let Some(agent) = &task.agent_id {
        fields.add("agent", format!("{agent} ({})", format!("{:?}", task.agent_state).to_lowercase()));
    } else if task.phase == "by_hand" {
        fields.add("owner", &task.owner);
    }
    if let (Some(queued), Some(place)) = (&task.queued, task.queue_position) {
        fields.add("queued", format!("number {place}, for {} ({})", queued.agent_id, queued.code));
    }
    if !task.dependencies.is_empty() {
        let names: Vec<String> = task.dependencies.iter().map(|id| format!("#{id}")).collect();
        fields.add("depends on", names.join(", "));
    }
}

/// Says which files it was made of, and what they said of it.
fn show_source(source: &TaskSource) -> String {
    let mut text = format!("{} of {}", clean(&source.item), clean(&source.folder));
    if let Some(status) = &source.status {
        let _ = write!(text, ", {} there", clean(status));
    }
    if let Some(kept) = &source.kept {
        let _ = write!(text, "; the original is {}", clean(kept));
    }
    text
}

/// Says what was made of it so far.
fn add_work(fields: &mut Fields, task: &TaskView) {
    fields.each("worktree", &task.worktree);
    if let Some(diff) = &task.diff {
        let files = if diff.files_changed == 1 { "file" } else { "files" };
        let lines = format!("+{} -{}", diff.lines_added, diff.lines_removed);
        fields.add("diff", format!("{} {files}, {lines} at {}", diff.files_changed, diff.head.short()));
    }
    fields.each("not whole", task.lacks.iter().flat_map(Lacks::sentences));
    fields.each("summary", &task.summary);
    match task.rejection_count {
        0 => {}
        1 => fields.add("rejected", "once"),
        count => fields.add("rejected", format!("{count} times")),
    }
    if let Some(commit) = &task.merge_commit {
        let approver = task.approver.as_deref().unwrap_or("nobody");
        fields.add("merged", format!("{} (approved by {approver})", &commit[..10]));
    }
    fields.each("salvage", task.salvages.iter().map(|salvage| &salvage.name));
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

/// Shows a note that no session has had yet, in one line.
fn show_note(note: &NoteView) -> String {
    let text = note.text.split_whitespace().collect::<Vec<_>>().join(" ");
    format!("{} (from {}, not delivered yet)", clean(&text), note.from)
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
