//! `regatta run show`, and how the other verbs show a run.

use super::flags;
use crate::arguments::Place;
use crate::columns::{self, Fields};
use crate::describe_run::{list_seen, shorten};
use crate::exit::Exit;
use crate::screen::{BOLD, CYAN, DIM, GREEN, RED, YELLOW, clean};
use crate::verb::follow::problem_of;
use anstyle::Style;
use clap::Args;
use regatta_engine::Project;
use regatta_engine::core::run::Status;
use regatta_engine::core::{Failure, Problem, RunId};
use regatta_engine::runs::{RunView, StepView, close_recording, show_run};
use regatta_flow::Seen;
use serde_json::{Value, json};
use std::fmt::Write;

/// The longest value of the state that is shown whole; `--json` has the rest.
const VALUE_CHARACTERS_MAX: usize = 90;

/// Show one run.
#[derive(Args)]
pub(crate) struct Show {
    /// Run number.
    #[arg(value_name = "ID")]
    run: RunId,
    /// List its steps too, with what each edge that was tried saw.
    #[arg(long)]
    steps: bool,
}

impl Show {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let (view, steps) = show_run(&project, self.run).await?;
        let mut value = serde_json::to_value(&view).unwrap_or_default();
        if self.steps {
            value["steps"] = json!(steps);
        }
        place.screen.data(&value, |_| {
            let mut text = format!("{}{}{}", render(&view), render_error(&view), render_state(&view));
            if self.steps {
                text.push_str(&render_steps(&steps));
            }
            text
        });
        Ok(Exit::Done)
    }
}

/// Prints a run as an order left it; a run that failed or is held by an error ends with that error.
pub(super) async fn print_rested(place: &Place, project: &Project, run: RunId) -> Result<Exit, Problem> {
    let closed = close_recording(project, run).await;
    let (view, _) = show_run(project, run).await?;
    let waiting = find_waiting(project, &view).await?;
    place.screen.data(&view, |view| {
        let rendered: Vec<String> = [view].into_iter().chain(&waiting).map(render).collect();
        rendered.concat()
    });
    match [view].into_iter().chain(waiting).find_map(|run| Some((run.id, run.error?))) {
        Some((run, error)) => Err(problem_of(error).with("runId", run.number())),
        None => closed.map(|()| Exit::Done).map_err(|error| error.explain()),
    }
}

/// Returns the runs below that a run waits for and that wait for a person themselves.
async fn find_waiting(project: &Project, run: &RunView) -> Result<Vec<RunView>, Problem> {
    let mut waiting = Vec::new();
    for child in run.children.iter().filter(|child| !child.ended).filter_map(|child| child.run) {
        let (view, _) = show_run(project, child).await?;
        let below = Box::pin(find_waiting(project, &view)).await?;
        waiting.extend(Some(view).filter(|view| view.status == Status::Paused));
        waiting.extend(below);
    }
    Ok(waiting)
}

/// Prints a run whose end was asked for; that it ended is no error.
pub(super) async fn print_brief(place: &Place, project: &Project, run: RunId) -> Result<Exit, Problem> {
    let (view, _) = show_run(project, run).await?;
    place.screen.data(&view, |view| format!("{}{}", render(view), render_error(view)));
    Ok(Exit::Done)
}

fn render(run: &RunView) -> String {
    let style = style_of(run.status);
    let mut fields = Fields::below(format!(
        "{CYAN}run {}{CYAN:#} {BOLD}{}{BOLD:#} {DIM}(level {}){DIM:#} {style}{}{style:#}\n",
        run.id, run.workflow, run.level, run.status
    ));
    let item = run.item.as_ref().map_or_else(String::new, |item| format!(" for {item}"));
    fields.add("at", format!("step {}, {}{item} ({})", run.step, run.node, run.phase));
    if let Some(parent) = run.parent {
        let item = run.parent_item.as_deref().unwrap_or_default();
        fields.add("child of", format!("run {parent}, for {item}"));
    }
    fields.each("fork of", run.forked_from.map(|fork| format!("run {fork}")));
    if !run.restarted.is_empty() {
        let items = run.restarted.join(", ");
        fields.add(
            "restarted",
            format!("{items}, from the target branch: the commit at that step is not known"),
        );
    }
    if !run.tasks.is_empty() {
        let tasks: Vec<String> = run.tasks.iter().map(|(key, task)| format!("{key} is #{task}")).collect();
        fields.add("tasks", tasks.join(", "));
    }
    for (key, collisions) in &run.collisions {
        let shown = collisions.iter().map(|collision| format!("{key} {}", collision.summary));
        fields.each("collision", shown);
    }
    for child in &run.children {
        let number = child.run.map_or_else(|| "not started".to_owned(), |run| format!("run {run}"));
        fields.add("child", format!("{}: {number}{}", child.key, if child.ended { ", ended" } else { "" }));
    }
    for file in &run.files {
        let error = file.error.as_ref().map(|error| {
            let (message, hint) = (clean(&error.message), clean(&error.hint));
            format!("\nerror[{}]: {message}\nnext: {hint}", error.code)
        });
        fields.add("file", format!("{}: {}{}", file.name, clean(&file.path), error.unwrap_or_default()));
        for kept in &file.kept {
            let Failure { code, message, hint, .. } = &kept.error;
            fields.add(
                "edit",
                format!("step {}: {code}: {}\nnext: {}", kept.step, clean(message), clean(hint)),
            );
        }
    }
    for member in &run.members {
        let item = member.item.as_ref().map_or_else(String::new, |item| format!(" for {item}"));
        fields.add("member", format!("{}{item}: {}", member.node, member.status));
    }
    if let Some(park) = &run.parked {
        fields.add("parked", format!("until {}: {} (try {})", park.until, park.class, park.attempt));
    }
    fields.each("question", &run.question);
    for signal in &run.signals {
        let title = if signal.title.is_empty() { String::new() } else { format!(": {}", signal.title) };
        let flags = flags::list(&signal.input);
        let flags = if flags.is_empty() { String::new() } else { format!(" ({})", flags.join(", ")) };
        let to = signal.to.as_ref().map_or_else(String::new, |to| format!(", continues at {to}"));
        fields.add("signal", format!("{}{title}{flags}{to}", signal.name));
    }
    if run.error.is_none() {
        if let Some(deadline) = run.deadline {
            let mark = if run.overdue { " (overdue)" } else { "" };
            fields.add("deadline", format!("{deadline}{mark}"));
        }
        fields.add("next", next_of(run));
    }
    fields.text
}

fn render_error(run: &RunView) -> String {
    let Some(error) = &run.error else { return String::new() };
    let indented = |text: &str| clean(text).trim_end().replace('\n', "\n    ");
    format!(
        "  {RED}error[{}]{RED:#}: {}\n  next: {}\n",
        error.code,
        indented(&error.message),
        indented(&error.hint)
    )
}

/// After an approval any engine continues the run; without one it waits to be resumed.
fn next_of(run: &RunView) -> String {
    match run.phase {
        "landing" => format!("{}; then regatta run --resume {}", run.next, run.id),
        _ => run.next.clone(),
    }
}

fn render_state(run: &RunView) -> String {
    let Value::Object(fields) = &run.state else { return String::new() };
    let mut text = String::new();
    for (name, value) in fields {
        let shown = shorten(&clean(&value.to_string()), VALUE_CHARACTERS_MAX);
        let _ = writeln!(text, "  {DIM}state{DIM:#}      {name}: {shown}");
    }
    text
}

fn render_steps(steps: &[StepView]) -> String {
    let row = |step: &StepView| {
        let item = clean(step.item.as_deref().unwrap_or("-"));
        let edge = format!("{}{}", step.edge, if step.exhausted { " (used up)" } else { "" });
        [step.step.to_string(), step.node.clone(), item, edge, step.to.clone(), format!("{:.3}", step.at)]
    };
    let table = columns::table(["STEP", "NODE", "ITEM", "EDGE", "TO", "AT"], steps.iter().map(row));
    let tried: Vec<String> = steps.iter().map(render_tried).collect();
    format!("\n{table}\n{}", tried.concat())
}

/// Says of each edge that was looked at whether it held, and what it saw.
fn render_tried(step: &StepView) -> String {
    let mut text = String::new();
    for (number, tried) in step.tried.iter().enumerate() {
        let name = if number == 0 { format!("step {}", step.step) } else { String::new() };
        let held = if tried.held { "holds" } else { "does not hold" };
        let saw: Vec<Seen> =
            tried.saw.iter().map(|(path, value)| Seen(path.clone(), value.clone())).collect();
        let saw = if saw.is_empty() { String::new() } else { format!(": {}", clean(&list_seen(&saw))) };
        let _ = writeln!(text, "  {DIM}{name:<10}{DIM:#} {} {held}{saw}", tried.edge);
    }
    text
}

fn style_of(status: Status) -> Style {
    match status {
        Status::Completed => GREEN,
        Status::Failed => RED,
        Status::Paused => YELLOW,
        Status::Created | Status::Running => Style::new(),
    }
}
