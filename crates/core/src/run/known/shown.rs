//! Views and files of a run, as its owner writes them: evaluated apart from the steps, and only after a change.

use super::{Known, find_within};
use crate::RunId;
use jiff::Timestamp;
use regatta_flow::{FactName, Look, Occasion, Sources, StateFile, StepFault, Workflow};
use serde_json::{Map, Value};
use std::collections::BTreeSet;
use std::sync::Arc;

use super::facts::first_fact;
use super::member::Member;

/// A file of a run, evaluated.
#[derive(Debug)]
pub struct Shown {
    /// Which of the workflow's files it is.
    pub place: usize,
    /// What it holds: nothing or null if there is none.
    pub value: Result<Option<Value>, ShownFault>,
}

/// Why a file has no value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ShownFault(pub String);

impl From<StepFault> for ShownFault {
    fn from(fault: StepFault) -> Self {
        let mut told = fault.to_string();
        let mut source = std::error::Error::source(&fault);
        while let Some(cause) = source {
            told = format!("{told}: {cause}");
            source = cause.source();
        }
        ShownFault(told)
    }
}

impl Known {
    /// Returns the counter of the last change of anything that a file of a run reads.
    pub fn changed_at(&self, run: RunId, reads: &Sources) -> u64 {
        self.members.get(&run).map_or(0, |member| changed_at(member, reads))
    }

    /// Evaluates files of a run, given by their numbers.
    pub fn evaluate_files(&mut self, run: RunId, places: &[usize]) -> Vec<Shown> {
        let definition = Arc::clone(&self.definition);
        let Some(member) = self.members.get(&run) else { return Vec::new() };
        let workflow = find_within(&definition, &member.run.within);
        let files: Vec<(usize, &StateFile)> =
            places.iter().filter_map(|place| Some((*place, workflow.files.get(*place)?))).collect();
        let facts = files.iter().flat_map(|(_, file)| &file.reads.facts).copied().collect();
        self.look(run, workflow, &facts, |look| {
            let evaluate = |(place, file): &(usize, &StateFile)| Shown {
                place: *place,
                value: file.evaluate(look).map_err(ShownFault::from),
            };
            files.iter().map(evaluate).collect()
        })
        .unwrap_or_default()
    }

    /// Returns the paths of the files of a run.
    pub fn resolve_paths(&mut self, run: RunId) -> Vec<Result<String, ShownFault>> {
        let definition = Arc::clone(&self.definition);
        let Some(member) = self.members.get(&run) else { return Vec::new() };
        let workflow = find_within(&definition, &member.run.within);
        self.look(run, workflow, &BTreeSet::from([FactName::Run]), |look| {
            let resolve =
                |file: &StateFile| file.path.resolve(look).map_err(|fault| ShownFault(fault.to_string()));
            workflow.files.iter().map(resolve).collect()
        })
        .unwrap_or_default()
    }

    /// Evaluates over a run as it is, with the views that still hold.
    fn look<T>(
        &mut self,
        run: RunId,
        workflow: &Workflow,
        facts: &BTreeSet<FactName>,
        evaluate: impl FnOnce(&Look<'_>) -> T,
    ) -> Option<T> {
        let variables = self.variables(run, facts);
        let counter = self.counter;
        let member = self.members.get_mut(&run)?;
        forget_stale(member, workflow);
        let now_millis = member.updated_at.as_millisecond();
        let views = std::mem::take(&mut member.views);
        let mut occasion = Occasion { variables, now_millis, views, ..Occasion::default() };
        let found = member.run.sheet.try_out(&mut occasion, |trial| evaluate(&trial.look(workflow)));
        for name in occasion
            .views
            .0
            .keys()
            .filter(|name| !member.views_at.contains_key(*name))
            .cloned()
            .collect::<Vec<_>>()
        {
            member.views_at.insert(name, counter);
        }
        member.views = occasion.views;
        Some(found)
    }

    /// Evaluates the views of a child that the run above reads; one that cannot be evaluated is not there.
    pub(super) fn views_of(&mut self, run: RunId, wanted: &BTreeSet<String>) -> Value {
        let definition = Arc::clone(&self.definition);
        let Some(member) = self.members.get(&run) else { return Value::Null };
        let workflow = find_within(&definition, &member.run.within);
        let facts = facts_of(workflow, wanted);
        self.look(run, workflow, &facts, |look| all_views(look, wanted)).unwrap_or_default()
    }

    /// Evaluates the views of an item that waits, as its run would begin.
    pub(super) fn views_of_waiting(
        &mut self,
        parent: RunId,
        place: usize,
        wanted: &BTreeSet<String>,
    ) -> Value {
        let definition = Arc::clone(&self.definition);
        let Some(above) = self.members.get(&parent) else { return Value::Null };
        let Some(child) = above.children.get(place) else { return Value::Null };
        let within: Vec<String> = above.run.within.iter().chain([&child.workflow]).cloned().collect();
        let workflow = find_within(&definition, &within);
        let mut variables = regatta_flow::Variables::default();
        for fact in facts_of(workflow, wanted) {
            variables.set(fact, Arc::new(first_fact(workflow, fact, None, Timestamp::UNIX_EPOCH)));
        }
        let Some(sheet) = &child.waiting else { return Value::Null };
        let mut occasion = Occasion { variables, ..Occasion::default() };
        sheet.try_out(&mut occasion, |trial| all_views(&trial.look(workflow), wanted))
    }
}

fn all_views(look: &Look<'_>, wanted: &BTreeSet<String>) -> Value {
    let mut shown = Map::new();
    for name in wanted {
        if let Ok(Some(value)) = look.view(name) {
            shown.insert(name.clone(), (*value).clone());
        }
    }
    shown.into()
}

fn facts_of(workflow: &Workflow, views: &BTreeSet<String>) -> BTreeSet<FactName> {
    let views = views.iter().filter_map(|name| workflow.find_view(name));
    views.flat_map(|view| &view.reads.facts).copied().collect()
}

fn changed_at(member: &Member, reads: &Sources) -> u64 {
    let stamps = &member.stamps;
    let of_fields = |fields: &mut dyn Iterator<Item = &u64>| fields.max().copied().unwrap_or_default();
    let fields = match reads.any_field {
        true => of_fields(&mut stamps.fields.values()),
        false => of_fields(&mut reads.fields.iter().filter_map(|name| stamps.fields.get(name))),
    };
    let of_state = if reads.any_field || !reads.fields.is_empty() { fields.max(stamps.any_field) } else { 0 };
    let facts = reads.facts.iter().filter_map(|fact| stamps.facts.get(fact)).max().copied();
    of_state.max(facts.unwrap_or_default())
}

/// Forgets the views that read something that has changed.
fn forget_stale(member: &mut Member, workflow: &Workflow) {
    let mut views = std::mem::take(&mut member.views);
    views.0.retain(|name, _| {
        let at = member.views_at.get(name).copied().unwrap_or_default();
        workflow.find_view(name).is_some_and(|view| changed_at(member, &view.reads) <= at)
    });
    member.views_at.retain(|name, _| views.0.contains_key(name));
    member.views = views;
}
