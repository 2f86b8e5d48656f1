//! `regatta eval`: a JSONata expression tried out.

use super::text_file::TextFile;
use crate::arguments::Place;
use crate::describe_run::shorten;
use crate::exit::Exit;
use crate::screen::{BOLD, DIM, GREEN, Screen, clean};
use clap::Args;
use regatta_engine::core::{Code, FieldFault, Problem, RunId};
use regatta_engine::orders;
use regatta_engine::runs::{self, Scope};
use regatta_expr::{Explained, Explanation, Expression, Fault, Limits, Observation};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::time::{SystemTime, UNIX_EPOCH};

/// The largest input: far above any state, and small enough for a memory.
const INPUT_BYTES_MAX: usize = 64 * 1024 * 1024;

/// The longest value that an explanation shows whole.
const VALUE_CHARACTERS_MAX: usize = 60;

/// Variables by their names, with or without `$`.
type Bindings = Map<String, Value>;

/// Evaluate a JSONata expression as the edges of a workflow do
///
/// The input is the state of a run, a file, or nothing. Nothing is changed. With `--json` only the value is printed, or
/// nothing if it is undefined.
#[derive(Args)]
pub(crate) struct Eval {
    /// JSONata expression.
    #[arg(value_name = "EXPR", allow_hyphen_values = true)]
    expression: String,
    /// Evaluate over the state of a run, with `input`, `feedback` and the workflow's variables.
    #[arg(long, value_name = "ID", conflicts_with = "input")]
    run: Option<RunId>,
    /// Evaluate over a JSON document: a file, or `-` for stdin.
    #[arg(long, value_name = "FILE")]
    input: Option<TextFile>,
    /// Variables as a JSON object: `{"limit": 3}` sets `$limit`. They override those of the run's workflow.
    #[arg(long, value_name = "JSON", value_parser = parse_bindings)]
    bindings: Option<Bindings>,
    /// Show what was compared and what decided.
    #[arg(long)]
    explain: bool,
}

impl Eval {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let scope = self.load(place).await?;
        // What is said on the command line comes before what the workflow calls by the same name.
        let mut variables: BTreeMap<&str, &Value> =
            scope.variables.iter().map(|(name, value)| (name.as_str(), value)).collect();
        let said = self.bindings.iter().flatten();
        variables.extend(said.map(|(name, value)| (name.strip_prefix('$').unwrap_or(name), value)));
        let variables: Vec<(&str, &Value)> = variables.into_iter().collect();
        let explain = |fault: Fault| explain_fault(&self.expression, &fault);
        let expression = Expression::compile(&self.expression).map_err(explain)?;
        let limits = Limits::at(now_millis());
        let is_alone = self.run.is_none() && self.input.is_none();
        if self.explain {
            let Explained { result, explanation } = expression.explain(&scope.root, &variables, &limits);
            let value =
                result.map_err(|fault| with_explanation(place.screen, explain(fault), &explanation))?;
            print_explained(place.screen, value, &explanation);
        } else if is_alone {
            print(place.screen, expression.evaluate_alone(&variables, &limits).map_err(explain)?);
        } else {
            print(place.screen, expression.evaluate(&scope.root, &variables, &limits).map_err(explain)?);
        }
        Ok(Exit::Done)
    }

    async fn load(&self, place: &Place) -> Result<Scope, Problem> {
        if let Some(run) = self.run {
            let project = place.open().await?;
            return runs::load_scope(&project, run).await.map_err(|error| error.explain());
        }
        let root = match &self.input {
            Some(file) => parse_input(&file.read_at_most(place, INPUT_BYTES_MAX)?)?,
            None => Value::Null,
        };
        Ok(Scope { root, variables: Vec::new() })
    }
}

/// A wrong argument is wrong usage (clap reports it), and a wrong file is not.
fn parse_bindings(text: &str) -> Result<Bindings, String> {
    match read_json(text) {
        Ok(Value::Object(bindings)) => Ok(bindings),
        Ok(_) => Err("must be a JSON object, such as {\"limit\": 3}".to_owned()),
        Err(error) => Err(format!("must be a JSON object: {error}")),
    }
}

fn parse_input(text: &str) -> Result<Value, Problem> {
    read_json(text).map_err(|error| {
        let problem = format!("must be JSON: {error}");
        orders::invalid(vec![FieldFault { field: "input", problem }]).explain()
    })
}

fn read_json(text: &str) -> Result<Value, serde_json::Error> {
    regatta_expr::read_json(text.trim_start_matches('\u{feff}'))
}

fn now_millis() -> i64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    i64::try_from(since.as_millis()).unwrap_or(i64::MAX)
}

fn print(screen: Screen, value: Option<Value>) {
    match value {
        Some(value) => screen.data(&value, show),
        None => screen.say(&format!("{DIM}undefined{DIM:#}")),
    }
}

/// A text is shown in quotes, so that `"3"` and `3` differ.
fn show(value: &Value) -> String {
    format!("{}\n", clean(&format!("{value:#}")))
}

fn print_explained(screen: Screen, value: Option<Value>, explanation: &Explanation) {
    if screen.is_json() {
        let mut explained = json!({ "explanation": explanation });
        if let Some(value) = value {
            explained["value"] = value;
        }
        screen.data(&explained, |_| String::new());
        return;
    }
    screen.say(&render_explanation(explanation));
    print(screen, value);
}

/// Tells what was compared before a failure: beside the error, or within it in JSON.
fn with_explanation(screen: Screen, problem: Problem, explanation: &Explanation) -> Problem {
    if screen.is_json() {
        return problem.with("explanation", json!(explanation));
    }
    screen.say(&render_explanation(explanation));
    problem
}

fn render_explanation(explanation: &Explanation) -> String {
    let mut lines: Vec<String> = explanation.observations.iter().map(render_observation).collect();
    if lines.is_empty() {
        lines.push(format!("{DIM}nothing was compared{DIM:#}"));
    }
    if explanation.omitted > 0 {
        lines.push(format!("{DIM}and {} more{DIM:#}", explanation.omitted));
    }
    let steps = if explanation.steps == 1 { "step" } else { "steps" };
    lines.push(format!("{DIM}{} {steps}{DIM:#}", explanation.steps));
    lines.join("\n")
}

fn render_observation(seen: &Observation) -> String {
    let (mark, style) = if seen.decided { ("decided", GREEN) } else { ("       ", DIM) };
    let shown = |value: &Option<Value>| match value {
        Some(value) => shorten(&value.to_string(), VALUE_CHARACTERS_MAX),
        None => "undefined".to_owned(),
    };
    let sides = match seen.operator {
        Some(operator) => format!(": {} {operator} {}", shown(&seen.left), shown(&seen.right)),
        None => String::new(),
    };
    let text = shorten(&seen.text.split_whitespace().collect::<Vec<_>>().join(" "), VALUE_CHARACTERS_MAX);
    let result = if seen.failed { "failed".to_owned() } else { clean(&shown(&seen.result)) };
    format!("{style}{mark}{style:#}  {BOLD}{}{BOLD:#}{} → {result}", clean(&text), clean(&sides))
}

/// Says why there is no value: the words of JSONata with its code, and the place in the expression.
fn explain_fault(expression: &str, fault: &Fault) -> Problem {
    let (code, next) = match fault.limit() {
        Some(_) => (Code::ExprLimit, "make it read or build less; the limits are the same in every workflow"),
        None => {
            (Code::ExprFailed, "fix the expression; `regatta eval --explain` shows what was compared before")
        }
    };
    let jsonata = fault.jsonata_code();
    let what = match fault {
        Fault::Syntax { .. } => "the expression cannot be read",
        Fault::Evaluation { .. } => "the expression failed",
        Fault::Limit { .. } => "the expression was stopped",
    };
    let mut problem = Problem::new(code, what, format!("{jsonata}: {fault}"), next)
        .with("jsonataCode", jsonata)
        .with("expression", shorten(expression, 1_000));
    if let Some(token) = fault.token() {
        problem = problem.with("token", token);
    }
    if let Some(at) = fault.at() {
        let start = characters_before(expression, at.start);
        problem = problem.with("position", start).with("end", characters_before(expression, at.end));
        problem = problem.with("excerpt", mark(expression, start));
    }
    problem
}

fn characters_before(text: &str, byte: usize) -> usize {
    text.char_indices().take_while(|(at, _)| *at < byte).count()
}

/// Returns the part of an expression around a place, with a mark below it.
fn mark(expression: &str, at: usize) -> String {
    /// What is shown on either side.
    const AROUND: usize = 40;
    let flat: Vec<char> = expression.chars().map(|c| if c.is_control() { ' ' } else { c }).collect();
    let begin = at.saturating_sub(AROUND);
    let end = flat.len().min(at + AROUND);
    let shown: String = flat.get(begin..end).unwrap_or_default().iter().collect();
    format!("{shown}\n{}^", " ".repeat(at - begin))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_stands_below_the_place() {
        assert_eq!(mark("ä + 'x'", 2), "ä + 'x'\n  ^");
        let long = format!("{}bad", "x".repeat(100));
        assert_eq!(mark(&long, 100), format!("{}bad\n{}^", "x".repeat(40), " ".repeat(40)));
    }
}
