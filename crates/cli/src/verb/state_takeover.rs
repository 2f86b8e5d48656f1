//! `regatta state import` of the files of another tool: what was found, and what became of it.

use crate::arguments::Place;
use crate::columns::table;
use crate::exit::Exit;
use crate::screen::{BOLD, DIM, GREEN, YELLOW, clean};
use regatta_engine::core::Problem;
use regatta_engine::{
    Applied, AppliedItem, Found, Oddity, Project, RunFound, TakeoverKind, TaskFound, apply_takeover,
    become_of, look_takeover,
};
use serde::Serialize;
use serde_json::{Map, Value};
use std::fmt::Write;
use std::path::Path;

/// More lines than this are for `--json`.
const LINES_MAX: usize = 200;

/// What a dry run prints, and an import on top of it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    dry_run: bool,
    #[serde(flatten)]
    found: Found,
    #[serde(skip_serializing_if = "Option::is_none")]
    applied: Option<Applied>,
}

pub(super) async fn import(
    place: &Place,
    path: &Path,
    kind: Option<TakeoverKind>,
    is_applied: bool,
    input: Map<String, Value>,
) -> Result<Exit, Problem> {
    let project = place.open().await?;
    let found = look_takeover(&project, &place.resolve(path), kind)?;
    let applied = if is_applied { Some(apply(&project, &found, &input).await?) } else { None };
    let is_whole = applied.as_ref().is_none_or(|applied| applied.problems.is_empty());
    let shown = Shown { dry_run: !is_applied, found, applied };
    place.screen.data(&shown, |shown| match &shown.applied {
        Some(applied) => render_applied(applied, &shown.found),
        None => render_found(&shown.found, path),
    });
    Ok(if is_whole { Exit::Done } else { Exit::Failed })
}

async fn apply(project: &Project, found: &Found, input: &Map<String, Value>) -> Result<Applied, Problem> {
    let caller = crate::caller::caller(None);
    Ok(apply_takeover(project, &caller, found, input).await?)
}

fn render_found(found: &Found, path: &Path) -> String {
    let mut text = format!("{BOLD}{}{BOLD:#} {DIM}({}){DIM:#}\n", clean(&found.folder), found.kind);
    text.push_str(&render_counts(found));
    render_documents(&mut text, found);
    if !found.tasks.is_empty() {
        let rows = found.tasks.iter().take(LINES_MAX).map(task_row);
        let header = ["TASK", "THERE", "HERE", "DEPENDS ON", "CRITERIA", "SESSIONS", "OUTPUT", "TITLE"];
        let _ = write!(text, "\n{}", table(header, rows));
        render_more(&mut text, found.tasks.len());
    }
    if !found.runs.is_empty() {
        let header = ["RUN", "THERE", "HERE", "ITERATIONS", "FILES", "MESSAGES", "TITLE"];
        let _ = write!(text, "\n{}", table(header, found.runs.iter().take(LINES_MAX).map(run_row)));
        render_more(&mut text, found.runs.len());
        for run in found.runs.iter().filter(|run| !run.missing.is_empty()) {
            let wanted: Vec<String> = run.missing.iter().map(|name| format!("--set {name}=…")).collect();
            let _ = writeln!(
                text,
                "{YELLOW}missing{YELLOW:#}: {} is incomplete, because its files do not contain everything: add {}",
                clean(&run.item),
                wanted.join(" ")
            );
        }
    }
    render_oddities(&mut text, found);
    let _ = writeln!(
        text,
        "\nNothing was changed. To import: {BOLD}regatta state import {} --apply{BOLD:#}",
        clean(&path.display().to_string())
    );
    text
}

fn render_counts(found: &Found) -> String {
    let counts = found.counts;
    let parts = [
        (counts.tasks, "task", "tasks"),
        (counts.done, "of them done", "of them done"),
        (counts.epics, "epic", "epics"),
        (counts.prds, "PRD", "PRDs"),
        (counts.runs, "run", "runs"),
        (counts.sessions, "session", "sessions"),
        (counts.outputs, "output", "outputs"),
        (counts.messages, "message", "messages"),
        (counts.files, "file", "files"),
        (counts.oddities, "oddity", "oddities"),
    ];
    let shown = parts.iter().filter(|(count, ..)| *count > 0);
    let shown: Vec<String> =
        shown.map(|(count, one, many)| format!("{count} {}", if *count == 1 { one } else { many })).collect();
    if shown.is_empty() { "nothing was found\n".to_owned() } else { format!("{}\n", shown.join(", ")) }
}

fn render_documents(text: &mut String, found: &Found) {
    if found.prds.is_empty() && found.epics.is_empty() {
        return;
    }
    let prds = found.prds.iter().map(|prd| ["PRD".to_owned(), clean(&prd.slug), clean(&prd.title)]);
    let epics = found.epics.iter().map(|epic| ["epic".to_owned(), clean(&epic.item), clean(&epic.title)]);
    let _ = write!(text, "\n{}", table(["WHAT", "THERE", "TITLE"], prds.chain(epics).take(LINES_MAX)));
    render_more(text, found.prds.len() + found.epics.len());
}

fn task_row(task: &TaskFound) -> [String; 8] {
    let checked = task.criteria.iter().filter(|criterion| criterion.checked).count();
    [
        clean(&task.item),
        task.status.as_deref().map_or_else(|| "-".to_owned(), clean),
        if task.done { "done elsewhere" } else { "backlog" }.to_owned(),
        or_dash(clean(&name_upstream(task))),
        if task.criteria.is_empty() { "-".to_owned() } else { format!("{checked}/{}", task.criteria.len()) },
        or_dash_if(task.sessions),
        if task.has_output { "yes" } else { "-" }.to_owned(),
        clean(&task.title),
    ]
}

/// Names what a task depends on; within a feature the name of the feature is left out.
fn name_upstream(task: &TaskFound) -> String {
    let feature = task.item.rsplit_once('/').map(|(feature, _)| format!("{feature}/")).unwrap_or_default();
    let names: Vec<&str> = task.depends_on.iter().map(|on| on.strip_prefix(&feature).unwrap_or(on)).collect();
    names.join(", ")
}

fn run_row(run: &RunFound) -> [String; 7] {
    [
        clean(&run.item),
        run.status.as_deref().map_or_else(|| "-".to_owned(), clean),
        become_of(run.status.as_deref()).to_string(),
        or_dash_if(run.sessions),
        run.outputs.to_string(),
        or_dash_if(run.messages),
        clean(&run.title),
    ]
}

fn or_dash(text: String) -> String {
    if text.is_empty() { "-".to_owned() } else { text }
}

fn or_dash_if(count: usize) -> String {
    if count == 0 { "-".to_owned() } else { count.to_string() }
}

fn render_more(text: &mut String, count: usize) {
    if count > LINES_MAX {
        let _ = writeln!(text, " {DIM}and {} more; see all with --json{DIM:#}", count - LINES_MAX);
    }
}

/// Prints what is odd, one line each.
pub(super) fn render_oddity(oddity: &Oddity) -> String {
    let line = oddity.line.map_or_else(String::new, |line| format!(":{line}"));
    format!("{YELLOW}odd{YELLOW:#}  {}{line}: {}\n", clean(&oddity.file), clean(&oddity.what))
}

fn render_oddities(text: &mut String, found: &Found) {
    if found.oddities.is_empty() {
        return;
    }
    if !text.is_empty() {
        text.push('\n');
    }
    found.oddities.iter().take(LINES_MAX).for_each(|oddity| text.push_str(&render_oddity(oddity)));
    render_more(text, found.oddities.len() + found.more_oddities);
}

fn render_applied(applied: &Applied, found: &Found) -> String {
    let mut text = String::new();
    let items = |items: &[AppliedItem], word: &'static str| {
        let row = move |item: &AppliedItem| {
            let here = if item.what == "task" { format!("#{}", item.id) } else { item.id.clone() };
            let note = if item.done { "done elsewhere" } else { "" };
            [
                word.to_owned(),
                item.what.to_owned(),
                clean(&item.item),
                here,
                note.to_owned(),
                clean(&item.title),
            ]
        };
        items.iter().map(row).collect::<Vec<_>>()
    };
    let rows = [items(&applied.made, "new"), items(&applied.changed, "changed there")].concat();
    if !rows.is_empty() {
        let count = rows.len();
        let header = ["", "WHAT", "THERE", "HERE", "", "TITLE"];
        text.push_str(&table(header, rows.into_iter().take(LINES_MAX)));
        render_more(&mut text, count);
    }
    render_oddities(&mut text, found);
    for problem in &applied.problems {
        let _ = writeln!(text, "{YELLOW}not imported{YELLOW:#}: {}", clean(problem));
    }
    if !applied.changed.is_empty() {
        let _ = writeln!(
            text,
            "{YELLOW}note{YELLOW:#}: {} say something else than when they were imported; they were left as they are here",
            applied.changed.len()
        );
    }
    let done = applied.made.iter().filter(|item| item.done).count();
    if done > 0 {
        let tasks = if done == 1 { "task was" } else { "tasks were" };
        let _ = writeln!(
            text,
            "{done} {tasks} done elsewhere: what depends on them can begin. {BOLD}regatta task list --all{BOLD:#} shows them"
        );
    }
    let known = match applied.known.len() {
        0 => String::new(),
        1 => ", 1 was there before".to_owned(),
        count => format!(", {count} were there before"),
    };
    let _ = writeln!(
        text,
        "{GREEN}imported{GREEN:#} {} of {}{known}; the originals are kept in {}",
        applied.made.len(),
        clean(&applied.folder),
        clean(&applied.copies)
    );
    text
}
