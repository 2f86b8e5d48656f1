//! Runs: the list, and the page of one with its steps, the edge that each took and why.

mod state;

use crate::ball::Tone;
use crate::markup::{Markup, escape, render};
use crate::parts;
use crate::recovery;
use crate::shell::Shell;
use crate::words::{self, Clock};
use askama::Template;
use regatta_engine::SessionLog;
use regatta_engine::core::run::Status;
use regatta_engine::messages::MessageView;
use regatta_engine::runs::{RunView, StepView, TriedView};
use serde_json::Value;
use state::{actions, line, state};

/// How many of the newest steps are shown; the rest are on the pages before.
pub const STEPS_MAX: usize = 200;

/// The longest value that is shown of the state or of what an edge saw.
const VALUE_CHARACTERS_MAX: usize = 300;

/// How many of the newest messages are shown.
const MESSAGES_MAX: usize = 30;

/// How many of the runs that it started are shown.
const CHILDREN_MAX: usize = 100;

/// What the page of a run shows.
pub struct About {
    /// The run.
    pub run: RunView,
    /// Its newest steps, oldest first.
    pub steps: Vec<StepView>,
    /// How many steps there are before them.
    pub steps_before: usize,
    /// The sessions of the run and of its children.
    pub sessions: Vec<SessionLog>,
    /// The messages of the run and for its roles, oldest first.
    pub messages: Vec<MessageView>,
    /// Its tasks.
    pub tasks: Vec<TaskLine>,
    /// The runs that it has started, the oldest first.
    pub children: Vec<RunView>,
    /// The time.
    pub clock: Clock,
}

/// A task of a run.
#[derive(Debug, Clone)]
pub struct TaskLine {
    /// The key of its item.
    pub key: String,
    /// Its number.
    pub id: u32,
    /// Its title.
    pub title: String,
    /// How its chip looks.
    pub class: &'static str,
    /// How many lines its diff adds and removes, if it has one.
    pub lines: Option<(u64, u64)>,
}

#[derive(Template)]
#[template(path = "runs.html")]
struct List<'a> {
    shell: &'a Shell,
    rows: Markup,
}

/// Renders the page of the list.
pub fn list(shell: &Shell, runs: &[RunView], next: Option<u32>, clock: &Clock) -> Markup {
    render(&List { shell, rows: rows(runs, next, clock) })
}

#[derive(Template)]
#[template(path = "runs_rows.html")]
struct Rows<'a> {
    runs: Vec<Row<'a>>,
    next: Option<u32>,
}

struct Row<'a> {
    run: &'a RunView,
    title: String,
    line: Markup,
    steps: String,
    age: Markup,
}

/// Renders the rows of the list alone.
pub fn rows(runs: &[RunView], next: Option<u32>, clock: &Clock) -> Markup {
    render(&Rows { runs: runs.iter().map(|run| row(run, clock)).collect(), next })
}

fn row<'a>(run: &'a RunView, clock: &Clock) -> Row<'a> {
    Row {
        run,
        title: title(run),
        line: line(run, clock),
        steps: words::count(run.step, "step"),
        age: parts::age(clock, run.updated_at),
    }
}

#[derive(Template)]
#[template(path = "run.html")]
struct Page<'a> {
    shell: &'a Shell,
    run: &'a RunView,
    title: String,
    head: Markup,
    body: Markup,
    side: Markup,
}

/// Renders the page of a run.
pub fn page(shell: &Shell, about: &About) -> Markup {
    let (head, body, side) = (head(about), body(about), side(about));
    render(&Page { shell, run: &about.run, title: title(&about.run), head, body, side })
}

/// Renders a piece of the page, by its name.
pub fn piece(about: &About, name: &str) -> Option<Markup> {
    Some(match name {
        "head" => head(about),
        "body" => body(about),
        "side" => side(about),
        _ => return None,
    })
}

/// Names a run by what it was started for.
pub fn title(run: &RunView) -> String {
    let text = |value: &Value| value.as_str().map(str::to_owned);
    let found = ["title", "task", "goal", "name"].iter().find_map(|key| run.input.get(key).and_then(text));
    let found = found.or_else(|| run.parent_item.clone());
    found.map_or_else(|| run.workflow.clone(), |title| words::one_line(&title, 120))
}

#[derive(Template)]
#[template(path = "run_head.html")]
struct Head<'a> {
    run: &'a RunView,
    title: String,
    state: Markup,
    actions: Vec<(String, &'static str, &'static str, Markup)>,
}

fn head(about: &About) -> Markup {
    let run = &about.run;
    let (tone, icon, _) = state(run, &about.clock);
    let (class, word) = match (tone, run.status) {
        (Tone::You, _) => ("acc", "Waits for you"),
        (Tone::Stop, _) => ("bad", "Stands still"),
        (Tone::Clock, _) => ("warn", "Continues by itself"),
        (_, Status::Completed) => ("ok", "Completed"),
        (_, Status::Failed) => ("bad", "Failed"),
        (Tone::Live, _) => ("line", "Running"),
        _ => ("line", "Waits"),
    };
    let mark = if tone == Tone::Live {
        "<span class=\"live\"></span>".to_owned()
    } else {
        parts::small(icon).into_string()
    };
    let state = Markup::new(format!(
        "<span class=\"chip {class} only-desk\" data-status=\"{}\">{mark}{word}</span>",
        run.status
    ));
    render(&Head { run, title: title(run), state, actions: actions(run) })
}

#[derive(Template)]
#[template(path = "run_body.html")]
struct Body<'a> {
    run: &'a RunView,
    line: Markup,
    error: Markup,
    steps: Vec<Step<'a>>,
    before: usize,
    tasks: &'a [TaskLine],
    children: Vec<Row<'a>>,
    more_children: usize,
    /// The keys of the items whose runs are not started.
    to_come: Vec<&'a str>,
    topics: String,
}

/// A step with the edge it took.
struct Step<'a> {
    view: &'a StepView,
    time: Markup,
    says: Markup,
    took: String,
    tried: Vec<Edge>,
}

/// An edge that was tried, and what it saw.
struct Edge {
    name: String,
    icon: Markup,
    word: &'static str,
    class: &'static str,
    saw: Vec<(String, String)>,
}

fn body(about: &About) -> Markup {
    let run = &about.run;
    let error = match &run.recovery {
        Some(recovery) => {
            Markup::new(format!("<div class=\"errpage\">{}</div>", recovery::panel(recovery, None)))
        }
        None => Markup::default(),
    };
    let mut before = run.created_at;
    let mut steps: Vec<Step<'_>> = Vec::new();
    for (number, view) in about.steps.iter().enumerate() {
        let is_first = number == 0 && about.steps_before > 0;
        let took = if is_first { String::new() } else { took(view.at.duration_since(before)) };
        before = view.at;
        let time = parts::time(&about.clock, view.at);
        steps.push(Step {
            time,
            says: says(view),
            took,
            tried: view.tried.iter().map(|tried| edge(view, tried)).collect(),
            view,
        });
    }
    steps.reverse();
    render(&Body {
        run,
        line: line(run, &about.clock),
        error,
        steps,
        before: about.steps_before,
        tasks: &about.tasks,
        more_children: about.children.len().saturating_sub(CHILDREN_MAX),
        children: about.children.iter().take(CHILDREN_MAX).map(|child| row(child, &about.clock)).collect(),
        to_come: run.children.iter().filter(|child| child.run.is_none()).map(|child| &*child.key).collect(),
        topics: topics(about),
    })
}

/// Names what the events are about that change what is shown.
fn topics(about: &About) -> String {
    let children = about.children.iter().map(|child| format!("run:{}", child.id));
    let tasks = about.tasks.iter().map(|task| format!("task:{}", task.id));
    let all: Vec<String> =
        [format!("run:{}", about.run.id)].into_iter().chain(children).chain(tasks).collect();
    all.join(" ")
}

fn took(span: jiff::SignedDuration) -> String {
    u64::try_from(span.as_millis()).map(words::took).unwrap_or_default()
}

/// Says what a step did and where it led.
fn says(step: &StepView) -> Markup {
    let item = step
        .item
        .as_ref()
        .map_or_else(String::new, |item| format!(" <span class=\"dim\">on {}</span>", escape(item)));
    let task = step.task_id.map_or_else(String::new, |task| {
        format!(" <span class=\"dim\">for</span> <a class=\"link\" href=\"/tasks/{task}\">#{task}</a>")
    });
    let back = if step.sent_back { " <span class=\"chip warn\">sent back</span>" } else { "" };
    let came = step.outcome.filter(|_| !step.sent_back).map_or_else(String::new, |outcome| {
        format!(" <span class=\"chip warn\">{}</span>", escape(&say_outcome(outcome.as_str())))
    });
    let used = if step.exhausted { " <span class=\"chip warn\">used up</span>" } else { "" };
    Markup::new(format!(
        "<b>{}</b>{item} <span class=\"dim\">took</span> <code>{}</code>{used} <span class=\"dim\">to</span> <b>{}</b>{task}{back}{came}",
        escape(&step.node),
        escape(&step.edge),
        escape(&step.to),
    ))
}

/// Says what came of a step in place of a result.
fn say_outcome(outcome: &str) -> String {
    match outcome {
        "failed" => "the agent gave up".to_owned(),
        "conflict" => "does not merge".to_owned(),
        "unchanged" => "no change".to_owned(),
        other => other.to_owned(),
    }
}

fn edge(step: &StepView, tried: &TriedView) -> Edge {
    let is_taken = tried.edge == step.edge && tried.held;
    let (icon, word, class) = match (is_taken, tried.held) {
        (true, _) => (parts::drawn("check", "i s acc"), "taken", "chip acc"),
        (false, true) => (parts::drawn("flag", "i s warn"), "true, used up", "chip warn"),
        (false, false) => (parts::drawn("x", "i s dim"), "not true", "chip"),
    };
    let saw = tried.saw.iter().map(|(path, value)| (path.clone(), show(value))).collect();
    Edge { name: tried.edge.clone(), icon, word, class, saw }
}

fn show(value: &Value) -> String {
    words::one_line(&value.to_string(), VALUE_CHARACTERS_MAX)
}

/// Says of a value of the state what fits on a line; the whole state is one click away.
fn sum_up(value: &Value) -> String {
    let count = |count: usize, one: &str| words::count(count as u64, one);
    match value {
        Value::Null => "–".to_owned(),
        Value::String(text) => words::one_line(text, 80),
        Value::Array(items) => count(items.len(), "item"),
        Value::Object(fields) if fields.values().all(|value| !value.is_array() && !value.is_object()) => {
            let pairs: Vec<String> =
                fields.iter().map(|(key, value)| format!("{key} {}", sum_up(value))).collect();
            words::one_line(&pairs.join(", "), 120)
        }
        Value::Object(fields) => count(fields.len(), "field"),
        other => other.to_string(),
    }
}

#[derive(Template)]
#[template(path = "run_side.html")]
struct Side<'a> {
    run: &'a RunView,
    facts: Vec<(&'static str, Markup)>,
    sessions: Vec<(&'a SessionLog, String)>,
    messages: Vec<Said<'a>>,
    /// The tasks that have a diff, with its lines.
    changes: Vec<(u32, (u64, u64))>,
    state: Vec<(String, String)>,
    whole: String,
}

/// A message in one line.
struct Said<'a> {
    view: &'a MessageView,
    from: String,
    to: String,
    text: String,
}

fn said(view: &MessageView) -> Said<'_> {
    let text = view.subject.as_ref().unwrap_or(&view.body);
    let (from, to) = (crate::task::party(&view.from), crate::task::party(&view.to));
    Said { view, from, to, text: words::one_line(text, 80) }
}

fn side(about: &About) -> Markup {
    let run = &about.run;
    let mut facts: Vec<(&'static str, Markup)> = Vec::new();
    let mut add = |name, html: String| facts.push((name, Markup::new(html)));
    add("Workflow", format!("{} <span class=\"dim\">level {}</span>", escape(&run.workflow), run.level));
    add("Node", format!("<code>{}</code>", escape(&run.node)));
    add("Step", run.step.to_string());
    add("Started", parts::time(&about.clock, run.created_at).into_string());
    add("Last sign", parts::time(&about.clock, run.updated_at).into_string());
    if let Some(parent) = run.parent {
        add("Part of", format!("<a class=\"link\" href=\"/runs/{parent}\">run {parent}</a>"));
    }
    if let Some(from) = run.forked_from {
        add("Forked from", format!("<a class=\"link\" href=\"/runs/{from}\">run {from}</a>"));
    }
    let state = run.state.as_object().into_iter().flatten().map(|(key, value)| (key.clone(), sum_up(value)));
    let sessions = about.sessions.iter().rev().take(30);
    let sessions = sessions.map(|session| (session, crate::task::session_line(session, &about.clock)));
    let whole = serde_json::to_string_pretty(&run.state).unwrap_or_default();
    render(&Side {
        run,
        facts,
        sessions: sessions.collect(),
        messages: about.messages.iter().rev().take(MESSAGES_MAX).map(said).collect(),
        changes: about.tasks.iter().filter_map(|task| Some((task.id, task.lines?))).collect(),
        state: state.collect(),
        whole: whole.chars().take(100_000).collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{clock, failure, run};
    use regatta_engine::core::Code;
    use regatta_engine::{KeptEditView, RunFileView};

    #[test]
    fn a_file_that_is_not_written_and_an_edit_that_is_kept_are_explained() {
        let mut run = run();
        let file = |name: &str, error, kept| RunFileView {
            name: name.to_owned(),
            path: format!("cycles/<b>{name}.json"),
            error,
            kept,
        };
        let kept = KeptEditView {
            path: "cycles/plan.json.edit-41".to_owned(),
            step: 4,
            error: failure(Code::EditRefused, "<i>it does not fit"),
        };
        run.files = vec![
            file("state", None, Vec::new()),
            file("plan", Some(failure(Code::FileInvalid, "it breaks its schema")), vec![kept]),
        ];
        let about = About {
            run,
            steps: Vec::new(),
            steps_before: 0,
            sessions: Vec::new(),
            messages: Vec::new(),
            tasks: Vec::new(),
            children: Vec::new(),
            clock: clock(),
        };
        let html = side(&about).into_string();
        for said in [
            "Not written since: it breaks its schema. try again",
            "/errors/FILE_INVALID",
            "An edit at step 4 is kept in <code>cycles/plan.json.edit-41</code>",
            "/errors/EDIT_REFUSED",
        ] {
            assert!(html.contains(said), "{said}: {html}");
        }
        assert!(!html.contains("<b>plan.json") && !html.contains("<i>"), "{html}");
        assert_eq!(html.matches("i-alert").count(), 1, "only the one with a problem has the sign: {html}");
    }
}
