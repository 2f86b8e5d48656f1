//! `regatta workflow check`.

use super::find::{find_workflow, open_if_any};
use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{BOLD, DIM, GREEN, RED, YELLOW, clean};
use clap::Args;
use regatta_engine::Project;
use regatta_engine::core::{Code, Problem};
use regatta_engine::runs::{Listed, list_workflows, show_fault, show_origin};
use regatta_flow::{Fault, Workflow, check_folder, render_faults};
use serde_json::Value;

/// Report all errors in a workflow before it runs
///
/// Exits with 1 if the workflow cannot run, or if a run would fail at some step; exits with 0 if there are only warnings.
#[derive(Args)]
pub(crate) struct Check {
    /// Workflow name or folder [default: all that can be run here].
    #[arg(value_name = "NAME|FOLDER")]
    workflow: Option<String>,
}

struct Checked {
    listed: Listed,
    faults: Vec<Fault>,
}

impl Check {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = open_if_any(place).await?;
        let listed = match &self.workflow {
            Some(name) => vec![find_workflow(place, project.as_ref(), name)?],
            None => list_workflows(project.as_ref())?,
        };
        let checked: Vec<Checked> = listed.into_iter().map(check_one).collect();
        let faults: Vec<Value> = checked.iter().flat_map(to_json).collect();
        place
            .screen
            .data(&faults, |_| checked.iter().map(|checked| render(checked, project.as_ref())).collect());
        refuse(&checked, faults)
    }
}

fn check_one(listed: Listed) -> Checked {
    let faults = check_folder(&listed.folder);
    Checked { listed, faults }
}

fn to_json(checked: &Checked) -> Vec<Value> {
    checked.faults.iter().map(|fault| show_fault(&checked.listed, fault)).collect()
}

fn refuse(checked: &[Checked], faults: Vec<Value>) -> Result<Exit, Problem> {
    let bad: Vec<&Checked> =
        checked.iter().filter(|checked| checked.faults.iter().any(Fault::is_error)).collect();
    // As `regatta run` has it: what cannot be loaded is refused, and the rest runs.
    let (loaded, refused): (Vec<&Checked>, Vec<&Checked>) =
        bad.into_iter().partition(|checked| Workflow::load(&checked.listed.folder).is_ok());
    let mut why: Vec<String> = Vec::new();
    why.extend(tell(&refused, "a run is refused"));
    why.extend(tell(&loaded, "a run is not refused, and fails if it reaches one"));
    let what = match (refused.is_empty(), loaded.is_empty()) {
        (true, true) => return Ok(Exit::Done),
        (false, _) => format!("the workflow {} cannot be used", names(&refused)),
        (true, false) => format!("the workflow {} has errors", names(&loaded)),
    };
    let next = "fix the errors shown above, then check again";
    let problem = Problem { why, ..Problem::new(Code::WorkflowInvalid, what, "", next) };
    Err(problem.with("faults", faults))
}

/// Says how many errors workflows have, and what that means for a run.
fn tell(checked: &[&Checked], means: &str) -> Option<String> {
    let errors = checked.iter().flat_map(|checked| &checked.faults).filter(|fault| fault.is_error());
    match errors.count() {
        0 => None,
        1 => Some(format!("1 error in {}: {means}", names(checked))),
        count => Some(format!("{count} errors in {}: {means}", names(checked))),
    }
}

fn names(checked: &[&Checked]) -> String {
    let names: Vec<String> = checked.iter().map(|checked| format!("`{}`", checked.listed.name)).collect();
    names.join(", ")
}

fn render(checked: &Checked, project: Option<&Project>) -> String {
    let Checked { listed, faults } = checked;
    let origin = show_origin(&listed.origin, project);
    let heading = format!("{BOLD}{}{BOLD:#} {DIM}({}){DIM:#}", listed.name, clean(&origin));
    if faults.is_empty() {
        return format!("{heading}: {GREEN}no errors{GREEN:#}\n");
    }
    format!("{heading}\n\n{}\n", colour(&clean(&render_faults(faults, &listed.folder))))
}

/// Colours the word that each fault begins with.
fn colour(text: &str) -> String {
    let line = |line: &str| match (line.strip_prefix("error["), line.strip_prefix("warning[")) {
        (Some(rest), _) => format!("{RED}error{RED:#}[{rest}"),
        (_, Some(rest)) => format!("{YELLOW}warning{YELLOW:#}[{rest}"),
        _ => line.to_owned(),
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
