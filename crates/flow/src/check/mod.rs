//! The static check of a workflow: what would go wrong, found before anything runs.
//!
//! [`check`] asks every rule and returns all faults with where they stand; [`render_faults`] shows them with the lines
//! of the files. Rules of form (unknown keys, bad expressions) have passed when a workflow is loaded; [`check_folder`]
//! tells those too, and goes on with what can be read ([`crate::gaps`]). Rules look at
//! the graph of each level ([`crate::graph`]) and say at which levels they fail. Those about conditions evaluate them
//! on states that the schema allows ([`samples`]): a fault found so comes with an example.
//!
//! The check never says that a workflow is right. Where it cannot tell, it is silent.

mod binds;
mod board;
mod bounds;
mod caps;
mod choices;
mod condition;
mod expressions;
mod fields;
mod ground;
mod held;
mod levels;
mod loops;
mod names;
mod node_trial;
mod parents;
mod places;
mod reach;
mod render;
mod report;
mod scopes;
mod shape;
mod subject;
mod values;

pub use render::render_faults;

use crate::fault::{Fault, sort};
use crate::folder::Folder;
use crate::load::load_with_gaps;
use crate::workflow::Workflow;
use ground::Ground;
use report::Report;
use subject::Subject;

/// Finds all that is wrong with a folder: its faults of form, and those of what can be read of it.
pub fn check_folder(folder: &Folder) -> Vec<Fault> {
    let (workflows, mut faults) = load_with_gaps(folder);
    workflows.iter().for_each(|workflow| check_one(workflow, &mut faults));
    sort(&mut faults);
    faults.dedup();
    faults
}

/// Finds what is wrong with a workflow and its children. Warnings of the load are among them.
pub fn check(workflow: &Workflow) -> Vec<Fault> {
    let mut faults = workflow.warnings.clone();
    check_one(workflow, &mut faults);
    sort(&mut faults);
    faults.dedup();
    faults
}

fn check_one(workflow: &Workflow, faults: &mut Vec<Fault>) {
    let ground = Ground::new(workflow);
    let subject = Subject::new(workflow, &ground);
    let mut report = Report::new(workflow);
    let rules = [
        names::check,
        binds::check,
        board::check,
        levels::check,
        reach::check,
        loops::check,
        caps::check,
        fields::check,
        places::check,
        choices::check,
    ];
    rules.iter().for_each(|rule| rule(&subject, &mut report));
    faults.extend(report.finish());
    workflow.children.values().for_each(|child| check_one(child, faults));
}
