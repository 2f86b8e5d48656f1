//! The static check of a workflow: mistakes that can be found before anything runs.
//!
//! [`check`] runs every rule and returns all faults with their positions; [`render_faults`] shows them with the lines of
//! the files. A loaded workflow has no syntax errors (unknown keys, bad expressions); [`check_folder`] reports those too
//! and checks whatever can be read ([`crate::gaps`]). Rules look at the graph of each level ([`crate::graph`]) and report
//! the levels at which they fail. Conditions are judged on sample values ([`node_trial`]), so a fault has an example.
//!
//! A workflow without faults is not proved to be right. Where the check cannot be sure, it is silent.

mod binds;
mod board;
mod bounds;
mod caps;
mod choices;
mod condition;
mod expressions;
mod fact_shapes;
mod fields;
mod ground;
mod held;
mod levels;
mod loops;
mod members;
mod names;
mod node_trial;
mod outcomes;
mod parents;
mod places;
mod reach;
mod render;
mod report;
mod scopes;
mod shape;
mod shown;
mod subject;
mod talk;
mod values;

pub(crate) use expressions::{Usage, all_expressions, of_place as expressions_of_place, step_expressions};
pub use render::render_faults;

use crate::fault::{Fault, sort};
use crate::folder::Folder;
use crate::load::load_with_gaps;
use crate::workflow::Workflow;
use ground::Ground;
use report::Report;
use subject::Subject;

/// Finds the syntax errors of a folder, and the faults of whatever can be read.
pub fn check_folder(folder: &Folder) -> Vec<Fault> {
    let (workflows, mut faults) = load_with_gaps(folder);
    workflows.iter().for_each(|workflow| check_one(workflow, &[], &mut faults));
    sort(&mut faults);
    faults.dedup();
    faults
}

/// Finds the faults of a workflow and its children, with the warnings of the load.
pub fn check(workflow: &Workflow) -> Vec<Fault> {
    let mut faults = workflow.warnings.clone();
    check_one(workflow, &[], &mut faults);
    sort(&mut faults);
    faults.dedup();
    faults
}

/// Checks a workflow below those that run it, the outermost first.
fn check_one<'w>(workflow: &'w Workflow, above: &[&'w Workflow], faults: &mut Vec<Fault>) {
    let ground = Ground::new(workflow);
    let subject = Subject::new(workflow, above, &ground);
    let mut report = Report::new(workflow);
    let rules = [
        names::check,
        binds::check,
        board::check,
        outcomes::check,
        members::check,
        levels::check,
        reach::check,
        loops::check,
        caps::check,
        fields::check,
        places::check,
        choices::check,
        talk::check,
        shown::check,
    ];
    rules.iter().for_each(|rule| rule(&subject, &mut report));
    shown::check_unread(workflow, above.last().copied(), &mut report);
    faults.extend(report.finish());
    let above: Vec<&Workflow> = above.iter().copied().chain([workflow]).collect();
    workflow.children.values().for_each(|child| check_one(child, &above, faults));
}
