//! The values of facts, as expressions see them.

use super::member::{ChildState, Member, RoleState};
use super::{Known, find_within};
use crate::RunId;
use crate::run::{Hold, Run, Situation, Status};
use jiff::Timestamp;
use regatta_flow::{FactName, NodeKind, Variables, Workflow};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Returns the facts about a run that does not exist yet.
pub fn first_facts(workflow: &Workflow, run: Option<RunId>, at: Timestamp) -> Variables {
    let mut variables = Variables::default();
    for fact in &workflow.facts {
        variables.set(*fact, Arc::new(first_fact(workflow, *fact, run, at)));
    }
    variables
}

pub(in crate::run) fn first_fact(
    workflow: &Workflow,
    fact: FactName,
    run: Option<RunId>,
    at: Timestamp,
) -> Value {
    match fact {
        FactName::Run => {
            let mut fields = Map::new();
            if let Some(run) = run {
                fields.insert("id".to_owned(), run.number().into());
                fields.insert("createdAt".to_owned(), time(at).into());
                fields.insert("updatedAt".to_owned(), time(at).into());
            }
            fields.insert("status".to_owned(), Status::Created.to_string().into());
            fields.insert("steps".to_owned(), 0.into());
            fields.insert("sessions".to_owned(), 0.into());
            fields.into()
        }
        FactName::Roles => roles_value(workflow, &|_| None),
        FactName::Work => json!({}),
        FactName::Children | FactName::Messages | FactName::Steps => json!([]),
    }
}

/// Writes a time so that two of them compare as texts.
pub(in crate::run) fn time(at: Timestamp) -> String {
    format!("{at:.3}")
}

impl Known {
    /// Returns facts of a run of the family.
    pub fn variables(&mut self, run: RunId, facts: &BTreeSet<FactName>) -> Variables {
        let mut variables = Variables::default();
        for fact in facts {
            if let Some(value) = self.fact(run, *fact) {
                variables.set(*fact, value);
            }
        }
        variables
    }

    /// Returns the facts that the steps of a run read.
    pub fn facts_of_steps(&mut self, run: RunId) -> Variables {
        let facts = self.workflow_of(run).map(|workflow| workflow.facts.clone()).unwrap_or_default();
        self.variables(run, &facts)
    }

    fn fact(&mut self, run: RunId, fact: FactName) -> Option<Arc<Value>> {
        let member = self.members.get(&run)?;
        let changed = member.stamps.facts.get(&fact).copied().unwrap_or_default();
        if let Some((made_at, value)) = member.made.get(&fact)
            && *made_at >= changed
        {
            return Some(Arc::clone(value));
        }
        let value = match fact {
            FactName::Run => Arc::new(run_value(member)),
            FactName::Roles => {
                let workflow = find_within(&self.definition, &member.run.within);
                Arc::new(roles_value(workflow, &|name| member.roles.get(name)))
            }
            FactName::Children => self.make_children(run)?,
            FactName::Work => self.make_work(run)?,
            FactName::Messages => Arc::new(member.letters.entries.iter().cloned().collect()),
            FactName::Steps => Arc::new(member.log.entries.iter().cloned().collect()),
        };
        let counter = self.counter;
        self.members.get_mut(&run)?.made.insert(fact, (counter, Arc::clone(&value)));
        Some(value)
    }

    /// Makes again only what changed of the work.
    fn make_work(&mut self, run: RunId) -> Option<Arc<Value>> {
        let member = self.members.get_mut(&run)?;
        let mut made =
            member.made.remove(&FactName::Work).map_or_else(|| Arc::new(json!({})), |(_, made)| made);
        let fields = Arc::make_mut(&mut made).as_object_mut()?;
        for key in std::mem::take(&mut member.stale_work) {
            let work = member.work.get(&key).and_then(|task| self.tasks.get(task));
            if let Some(work) = work {
                fields.insert(key, work.value());
            }
        }
        Some(made)
    }

    /// Makes again only the children that changed.
    fn make_children(&mut self, run: RunId) -> Option<Arc<Value>> {
        let member = self.members.get_mut(&run)?;
        let made = member.made.remove(&FactName::Children).map(|(_, made)| made);
        let mut made = made.unwrap_or_else(|| Arc::new(json!([])));
        let count = member.children.len();
        for place in 0..count {
            let child = self.members.get(&run)?.children.get(place)?;
            let changed = match child.run {
                Some(run) => self.members.get(&run).map_or(0, |member| member.changed),
                None => 0,
            };
            let is_made = child.made_at > 0 && child.made_at >= changed;
            if is_made && made.get(place).is_some() {
                continue;
            }
            let value = self.make_child(run, place)?;
            let counter = self.counter;
            self.members.get_mut(&run)?.children.get_mut(place)?.made_at = counter;
            let items = Arc::make_mut(&mut made).as_array_mut()?;
            match items.get_mut(place) {
                Some(item) => *item = value,
                None => items.push(value),
            }
        }
        Some(made)
    }

    fn make_child(&mut self, parent: RunId, place: usize) -> Option<Value> {
        let above = self.members.get(&parent)?;
        let ChildState { key, input, workflow, run, .. } = above.children.get(place)?;
        let (key, input, run) = (key.clone(), Arc::clone(input), *run);
        let mut within = above.run.within.clone();
        within.push(workflow.clone());
        let wanted = self.read_above.get(&within).cloned().unwrap_or_default();
        let (about_run, roles, view) = match run.filter(|run| self.members.contains_key(run)) {
            Some(run) => (
                self.fact(run, FactName::Run)?,
                self.fact(run, FactName::Roles)?,
                self.views_of(run, &wanted),
            ),
            None => {
                let definition = Arc::clone(&self.definition);
                let workflow = find_within(&definition, &within);
                let first = |fact| Arc::new(first_fact(workflow, fact, None, Timestamp::UNIX_EPOCH));
                (first(FactName::Run), first(FactName::Roles), self.views_of_waiting(parent, place, &wanted))
            }
        };
        Some(json!({
            "key": key, "input": &*input, "run": &*about_run, "roles": &*roles, "view": view,
        }))
    }
}

fn run_value(member: &Member) -> Value {
    let run = &member.run;
    let mut fields = Map::new();
    let mut put = |name: &str, value: Value| drop(fields.insert(name.to_owned(), value));
    put("id", run.id.number().into());
    put("status", status_of(member).to_string().into());
    if let Some(asked) = find_asked(run) {
        put("asked", asked.into());
    }
    put("node", run.node.to_string().into());
    put("createdAt", time(run.created_at).into());
    for (name, at) in [("startedAt", member.started_at), ("endedAt", member.ended_at)] {
        if let Some(at) = at {
            put(name, time(at).into());
        }
    }
    put("updatedAt", time(member.updated_at).into());
    if let Some(error) = find_error(run) {
        put("error", json!({ "code": error.code, "message": error.message }));
    }
    put("steps", member.steps.into());
    put("sessions", member.sessions.into());
    if member.log.more + member.letters.more > 0 {
        put("more", json!({ "steps": member.log.more, "messages": member.letters.more }));
    }
    fields.into()
}

fn status_of(member: &Member) -> Status {
    member.run.status()
}

/// What somebody asked of a run that is still at a step.
fn find_asked(run: &Run) -> Option<&'static str> {
    match run.hold() {
        Some(Hold::Stopping { .. }) => Some("stop"),
        Some(Hold::Paused) => Some("pause"),
        _ if run.is_parent_paused() => Some("pause"),
        _ => None,
    }
}

fn find_error(run: &Run) -> Option<&crate::Failure> {
    match &run.situation {
        Situation::Failed { error } => Some(error),
        Situation::Working(_) => match run.hold() {
            Some(Hold::Error { error }) => Some(error),
            _ => None,
        },
        Situation::Completed { .. } => None,
    }
}

/// Lists the roles of a workflow; one that never had a session is idle.
fn roles_value<'r>(workflow: &Workflow, find: &dyn Fn(&str) -> Option<&'r RoleState>) -> Value {
    let mut roles = Map::new();
    for node in &workflow.nodes {
        let NodeKind::Agent { role, .. } = &node.kind else { continue };
        if !roles.contains_key(&role.name) {
            let idle = RoleState::default();
            roles.insert(role.name.clone(), role_value(find(&role.name).unwrap_or(&idle)));
        }
    }
    roles.into()
}

fn role_value(role: &RoleState) -> Value {
    let mut fields = Map::new();
    fields.insert("status".to_owned(), role.status.as_str().into());
    fields.insert("visits".to_owned(), role.visits.into());
    for (name, at) in [("startedAt", role.started_at), ("endedAt", role.ended_at)] {
        if let Some(at) = at {
            fields.insert(name.to_owned(), time(at).into());
        }
    }
    if let Some(said) = &role.said {
        fields.insert("said".to_owned(), said.clone().into());
    }
    if let Some(error) = &role.error {
        fields.insert("error".to_owned(), error.clone());
    }
    fields.into()
}
