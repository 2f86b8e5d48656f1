//! Takes in the events of a family, one after the other.

use super::facts::time;
use super::member::{ChildState, Member, RoleState, RoleStatus, Visit};
use super::told::{tell_start, tell_step};
use super::{KEPT_MAX, Known, find_within};
use crate::message::{self, Party};
use crate::run::{Event, MemberCame, Phase, Run, Status};
use crate::session::{self, Ending};
use crate::{AnyEvent, Fact, Failure, RunId, TaskId};
use jiff::Timestamp;
use regatta_flow::{FactName, PathStep, Sheet, Workflow};
use serde_json::{Map, Value, json};
use std::sync::Arc;

impl Known {
    /// Takes in an event of the log; those of others change nothing.
    pub fn fold(&mut self, seq: u64, fact: Fact<AnyEvent>) {
        self.seen = seq;
        let Fact { at, actor, event } = fact;
        match event {
            AnyEvent::Run(event) => self.fold_run(&Fact { at, actor, event }),
            AnyEvent::Task(event) => self.fold_task(&Fact { at, actor, event }),
            AnyEvent::Session(event) => self.fold_session(at, &event),
            AnyEvent::Message(event) => self.fold_message(at, &event),
            AnyEvent::Document(_) => {}
        }
    }

    fn fold_run(&mut self, fact: &Fact<Event>) {
        let Some(id) = fact.event.find_run() else { return };
        if let Event::RunCreated { plan, .. } = &fact.event {
            let parent = plan.parent.as_ref().map(|parent| parent.run_id);
            let is_of_family =
                id == self.root || parent.is_some_and(|parent| self.members.contains_key(&parent));
            if is_of_family {
                self.begin(id, fact);
            }
            return;
        }
        let Some(member) = self.members.get_mut(&id) else { return };
        let step = member.run.step;
        let was_publishing = matches!(member.run.phase(), Some(Phase::Publishing { .. }));
        let is_asking = matches!(member.run.phase(), Some(Phase::Asking { .. }));
        match &fact.event {
            Event::RunStepped { node, choice, next, .. } => {
                let told =
                    tell_step(find_within(&self.definition, &member.run.within), fact.at, node, choice, next);
                self.note_step(id, told);
            }
            Event::RunPublished { tasks, .. } => {
                let tasks: Vec<(String, TaskId)> =
                    tasks.iter().map(|(key, task)| (key.clone(), *task)).collect();
                tasks.into_iter().for_each(|(key, task)| self.see_task(id, key, task));
            }
            _ => {}
        }
        let Some(member) = self.members.get_mut(&id) else { return };
        note_role_of(member, fact);
        member.run.evolve_in_place(fact);
        self.note_fields(id, &fact.event, is_asking);
        // With its items on the board, a run does what the step before led to.
        self.note_place(id, fact.at, if was_publishing { 0 } else { step });
        self.note_times(id, fact.at);
        self.touch(id, &[FactName::Run, FactName::Roles]);
    }

    /// Begins to know a run.
    fn begin(&mut self, id: RunId, fact: &Fact<Event>) {
        let Event::RunCreated { plan, .. } = &fact.event else { return };
        let Some(run) = Run::evolve(None, fact) else { return };
        let key = plan.parent.as_ref().map(|parent| parent.item.clone());
        let mut member = Member::new(run, key.clone());
        if id == self.root
            && let Some(from) = self.inherited.take()
        {
            member.inherit(*from);
        }
        if let Some(import) = &plan.imported {
            member.imported_end = import.ended_at;
            for message in &import.messages {
                member.letters.push(message.clone(), KEPT_MAX, |_| true);
            }
        }
        // The one that it works on for the run above stays on the board of that run.
        let is_above = |task: &TaskId| plan.parent.as_ref().is_some_and(|parent| parent.task == Some(*task));
        let own = plan.tasks.iter().filter(|(_, task)| !is_above(task));
        let tasks: Vec<(String, TaskId)> = own.map(|(key, task)| (key.clone(), *task)).collect();
        self.members.insert(id, member);
        tasks.into_iter().for_each(|(key, task)| self.see_task(id, key, task));
        if let (Some(parent), Some(key)) = (&plan.parent, &key) {
            self.start_child(parent.run_id, key, id, &plan.input);
        }
        let told = tell_start(find_within(&self.definition, &plan.within), fact.at, &plan.next);
        self.note_step(id, told);
        self.note_place(id, fact.at, 0);
        self.note_times(id, fact.at);
        self.touch(id, &FactName::ALL);
    }

    /// A child that has no board works on the task of the run above that has its key.
    fn start_child(&mut self, parent: RunId, key: &str, id: RunId, input: &Value) {
        if let Some(child) = self.members.get_mut(&parent).and_then(|above| above.find_child(key)) {
            child.run = Some(id);
            child.waiting = None;
            child.input = Arc::new(input.clone());
            child.made_at = 0;
        }
        let seen = self.above(id).into_iter().find_map(|run| self.members.get(&run)?.work.get(key).copied());
        if let Some(task) = seen
            && let Some(member) = self.members.get_mut(&id)
        {
            member.work.insert(key.to_owned(), task);
            member.stale_work.insert(key.to_owned());
        }
    }

    /// A task is on the board of a run; its children that have the key see it too.
    fn see_task(&mut self, run: RunId, key: String, task: TaskId) {
        self.tasks.entry(task).or_default();
        self.owners.insert(task, run);
        let mut seeing = vec![run];
        let below = |member: &&Member| member.parent == Some(run) && member.key.as_deref() == Some(&*key);
        seeing.extend(self.members.values().filter(below).map(|member| member.run.id));
        for id in seeing {
            if let Some(member) = self.members.get_mut(&id) {
                member.work.insert(key.clone(), task);
                member.stale_work.insert(key.clone());
            }
            self.touch(id, &[FactName::Work]);
        }
    }

    fn note_step(&mut self, id: RunId, told: Map<String, Value>) {
        let mut below: Option<String> = None;
        for run in [id].into_iter().chain(self.above(id)) {
            self.counter += 1;
            let counter = self.counter;
            let Some(member) = self.members.get_mut(&run) else { continue };
            member.steps += 1;
            let mut entry = Map::new();
            entry.insert("n".to_owned(), member.steps.into());
            if let Some(key) = &below {
                entry.insert("key".to_owned(), key.clone().into());
            }
            entry.extend(told.clone());
            member.log.push(entry.into(), KEPT_MAX, |_| true);
            member.stamps.facts.insert(FactName::Steps, counter);
            member.stamps.facts.insert(FactName::Run, counter);
            below = member.key.clone();
        }
    }

    /// Raises the counters of the fields that an event set; of what names no field, those of all.
    fn note_fields(&mut self, id: RunId, event: &Event, is_asking: bool) {
        self.counter += 1;
        let counter = self.counter;
        let Some(member) = self.members.get_mut(&id) else { return };
        let (set, speaks) = match event {
            Event::RunStepped { set, .. } => (set.as_slice(), is_asking),
            Event::RunLanded { set, .. } | Event::RunSentBack { set, .. } => (set.as_slice(), true),
            Event::RunSignalled { set, .. } | Event::RunEdited { set, .. } => (set.as_slice(), false),
            Event::RunOutputRefused { .. }
            | Event::RunMemberEnded { .. }
            | Event::RunAgentRefused { .. }
            | Event::RunPublished { .. }
            | Event::RunChildrenStarted { .. }
            | Event::RunChildEnded { .. }
            | Event::RunEditKept { .. }
            | Event::RunHeld { .. }
            | Event::RunPutOff { .. }
            | Event::RunPaused { .. }
            | Event::RunResumed { .. }
            | Event::RunParentPaused { .. }
            | Event::RunParentResumed { .. }
            | Event::RunStopping { .. }
            | Event::RunCompleted { .. }
            | Event::RunFailed { .. } => (&[][..], false),
            #[allow(unreachable_patterns, reason = "what a later event changes is not known here")]
            _ => {
                member.stamps.any_field = counter;
                return;
            }
        };
        for patch in set {
            match patch.place.steps().first() {
                Some(PathStep::Key(field)) => drop(member.stamps.fields.insert(field.to_string(), counter)),
                _ => member.stamps.any_field = counter,
            }
        }
        if speaks {
            member.stamps.fields.insert("feedback".to_owned(), counter);
        }
    }

    /// Learns what a run does at a node that it has come to.
    fn note_place(&mut self, id: RunId, at: Timestamp, step_before: u64) {
        let definition = Arc::clone(&self.definition);
        let Some(member) = self.members.get_mut(&id) else { return };
        let workflow = find_within(&definition, &member.run.within);
        if member.run.step == step_before {
            return;
        }
        member.visiting = Vec::new();
        match member.run.phase() {
            Some(Phase::Performing { .. } | Phase::Parallel { .. } | Phase::Publishing { .. }) => {
                let visits = find_visits(workflow, member.run.node.as_str(), at);
                for Visit { role, .. } in &visits {
                    let known = member.roles.entry(role.clone()).or_default();
                    let (visits, said) = (known.visits, known.said.take());
                    *known = RoleState { status: RoleStatus::Waiting, visits, said, ..RoleState::default() };
                }
                member.visiting = visits;
            }
            Some(Phase::Mapping(mapping)) => {
                let child = workflow.children.get(&mapping.workflow);
                let items: Vec<_> = mapping.children().iter().map(|child| child.item.clone()).collect();
                let name = mapping.workflow.clone();
                for item in items {
                    wait_for(member, child, &name, &item.key, &item.input);
                }
            }
            _ => {}
        }
    }

    fn note_times(&mut self, id: RunId, at: Timestamp) {
        if let Some(member) = self.members.get_mut(&id) {
            if member.started_at.is_none() && member.run.status() != Status::Created {
                member.started_at = Some(at);
            }
            member.ended_at = match member.run.is_over() {
                true => member.ended_at.or(member.imported_end.take()).or(Some(at)),
                false => None,
            };
        }
        self.note_update(id, at);
    }

    /// Something happened to a run, which is a change of those above it too.
    fn note_update(&mut self, id: RunId, at: Timestamp) {
        for run in [id].into_iter().chain(self.above(id)) {
            self.counter += 1;
            let counter = self.counter;
            if let Some(member) = self.members.get_mut(&run) {
                member.updated_at = member.updated_at.max(at);
                member.stamps.facts.insert(FactName::Run, counter);
                member.changed = counter;
            }
        }
    }

    fn fold_task(&mut self, fact: &Fact) {
        let task = fact.event.task();
        // It is created before the run takes it up, in the same append.
        self.tasks.entry(task).or_default().fold(fact);
        self.touch_task(task);
    }

    fn touch_task(&mut self, task: TaskId) {
        let Some(owner) = self.owners.get(&task).copied() else { return };
        let sees = |member: &&Member| {
            member.run.id == owner
                || (member.parent == Some(owner) && member.work.values().any(|seen| *seen == task))
        };
        let seeing: Vec<RunId> = self.members.values().filter(sees).map(|member| member.run.id).collect();
        for run in seeing {
            if let Some(member) = self.members.get_mut(&run) {
                let keys = member.work.iter().filter(|(_, seen)| **seen == task).map(|(key, _)| key.clone());
                let keys: Vec<String> = keys.collect();
                member.stale_work.extend(keys);
            }
            self.touch(run, &[FactName::Work]);
        }
    }

    fn fold_session(&mut self, at: Timestamp, event: &session::Event) {
        let subject = event.subject();
        if let (session::Event::SessionClosed { usage, .. }, Some(task)) = (event, subject.task_id)
            && let Some(work) = self.tasks.get_mut(&task)
        {
            work.charge(usage);
            self.touch_task(task);
        }
        let Some(id) = subject.run_id.filter(|run| self.members.contains_key(run)) else { return };
        let is_new = matches!(event, session::Event::SessionOpened { .. });
        for run in [id].into_iter().chain(self.above(id)).filter(|_| is_new).collect::<Vec<_>>() {
            if let Some(member) = self.members.get_mut(&run) {
                member.sessions += 1;
            }
        }
        if let (Some(member), Some(role)) = (self.members.get_mut(&id), &subject.role) {
            note_session(member, role, at, event);
        }
        self.note_update(id, at);
        self.touch(id, &[FactName::Run, FactName::Roles]);
    }

    fn fold_message(&mut self, at: Timestamp, event: &message::Event) {
        match event {
            message::Event::MessageSent { message_id, letter, .. } => {
                let Some(id) = letter.run_id.filter(|run| self.members.contains_key(run)) else { return };
                self.messages.insert(*message_id, id);
                let mut below = letter.item.clone();
                for run in [id].into_iter().chain(self.above(id)) {
                    let Some(member) = self.members.get_mut(&run) else { continue };
                    let entry = json!({
                        "id": message_id.number(), "key": below, "from": name_of(&letter.from), "to": name_of(&letter.to),
                        "kind": letter.kind, "subject": letter.subject, "body": letter.body, "data": letter.data,
                        "at": time(at), "read": false,
                    });
                    member.letters.push(without_null(entry), KEPT_MAX, |entry| entry["read"] == true);
                    below = member.key.clone().or(below);
                    self.touch(run, &[FactName::Messages]);
                }
                self.note_update(id, at);
            }
            message::Event::MessageRead { message_id, .. } => {
                let Some(id) = self.messages.get(message_id).copied() else { return };
                let number = Value::from(message_id.number());
                for run in [id].into_iter().chain(self.above(id)) {
                    let Some(member) = self.members.get_mut(&run) else { continue };
                    let read = member.letters.entries.iter_mut().rev().find(|entry| entry["id"] == number);
                    if let Some(Value::Object(entry)) = read {
                        entry.insert("read".to_owned(), true.into());
                    }
                    self.touch(run, &[FactName::Messages]);
                }
                self.note_update(id, at);
            }
        }
    }
}

fn name_of(party: &Party) -> String {
    match party {
        Party::Role(name) => name.clone(),
        Party::Person(_) => "user".to_owned(),
        other => other.to_string(),
    }
}

fn without_null(mut value: Value) -> Value {
    if let Value::Object(fields) = &mut value {
        fields.retain(|_, field| !field.is_null());
    }
    value
}

/// An item of a `map` node waits; one that had a run before begins again.
fn wait_for(member: &mut Member, workflow: Option<&Workflow>, name: &str, key: &str, input: &Value) {
    let mut given = input.clone();
    let waiting = workflow.map(|workflow| {
        // What does not fit is refused when the run is to begin.
        let _ = workflow.fit_input(&mut given);
        Box::new(Sheet::new(workflow.schema.initial(), given.clone(), Value::Null))
    });
    let child = ChildState {
        key: key.to_owned(),
        input: Arc::new(given),
        workflow: name.to_owned(),
        run: None,
        waiting,
        made_at: 0,
    };
    match member.places.get(key) {
        Some(place) => member.children[*place] = child,
        None => {
            member.places.insert(key.to_owned(), member.children.len());
            member.children.push(child);
        }
    }
}

/// Lists the roles that perform a node.
fn find_visits(workflow: &Workflow, node: &str, at: Timestamp) -> Vec<Visit> {
    let find = |name: &str| workflow.nodes.iter().find(|node| node.name.as_str() == name);
    let members = find(node).map(|node| node.kind.members()).unwrap_or_default();
    let nodes = members.iter().filter_map(|member| find(member.name.as_str())).chain(find(node));
    let visit = |node: &regatta_flow::Node| {
        let role = node.kind.role()?.name.clone();
        Some(Visit { node: node.name.clone(), role, since: at, has_begun: false })
    };
    nodes.filter_map(visit).collect()
}

/// How a visit ended.
enum Ended<'a> {
    Returned(&'a Value),
    Failed(Value),
}

/// The run records the end of a visit; a visit without a session counts too.
fn note_role_of(member: &mut Member, fact: &Fact<Event>) {
    let told = |error: &Failure| Ended::Failed(json!({ "code": error.code, "message": error.message }));
    let (node, ended) = match &fact.event {
        Event::RunStepped { outcome: Some(outcome), .. } => {
            let details = |name: &str| outcome.details.get(name).cloned().unwrap_or_default();
            (None, Ended::Failed(json!({ "code": details("code"), "message": details("message") })))
        }
        Event::RunStepped { output, .. } => (None, Ended::Returned(output)),
        Event::RunMemberEnded { node, came: MemberCame::Returned { output, .. }, .. } => {
            (Some(node), Ended::Returned(output))
        }
        Event::RunMemberEnded { node, came: MemberCame::Failed { error }, .. } => (Some(node), told(error)),
        Event::RunHeld { error, .. } | Event::RunFailed { error, .. } => (None, told(error)),
        _ => return,
    };
    let mut visiting = std::mem::take(&mut member.visiting);
    for visit in visiting.iter_mut().filter(|visit| node.is_none_or(|node| visit.node == *node)) {
        end_visit(member.roles.entry(visit.role.clone()).or_default(), visit, &ended, fact.at);
    }
    // One that failed is perhaps performed again.
    visiting.retain(|visit| {
        let has_ended = node.is_none_or(|node| visit.node == *node);
        !has_ended || matches!(ended, Ended::Failed(_))
    });
    member.visiting = visiting;
}

fn end_visit(role: &mut RoleState, visit: &mut Visit, ended: &Ended<'_>, at: Timestamp) {
    if !visit.has_begun {
        role.visits += 1;
        role.started_at = Some(visit.since);
        visit.has_begun = true;
    }
    role.ended_at = Some(role.ended_at.unwrap_or(at));
    match ended {
        Ended::Returned(output) => {
            let said = output.get("summary").and_then(Value::as_str);
            role.said = said.map(str::to_owned).or(role.said.take());
            (role.status, role.error) = (RoleStatus::Completed, None);
        }
        // What failed first of several says why; the others are ended with it.
        Ended::Failed(error) => {
            role.status = RoleStatus::Failed;
            role.error.get_or_insert_with(|| error.clone());
        }
    }
}

fn note_session(member: &mut Member, name: &str, at: Timestamp, event: &session::Event) {
    let role = member.roles.entry(name.to_owned()).or_default();
    let mut is_again = false;
    match event {
        session::Event::SessionOpened { .. } => {
            let mut visits = member.visiting.iter_mut().filter(|visit| visit.role == name).peekable();
            let is_known = visits.peek().is_some();
            match visits.find(|visit| !visit.has_begun) {
                Some(visit) => visit.has_begun = true,
                // It is asked again, or run again after a crash.
                None if is_known => is_again = true,
                None => {}
            }
            if !is_again {
                role.visits += 1;
                role.started_at = Some(at);
            }
            (role.status, role.ended_at, role.error) = (RoleStatus::Running, None, None);
        }
        session::Event::SessionParked { .. } => role.status = RoleStatus::Waiting,
        session::Event::SessionClosed { ending, .. } => {
            role.ended_at = Some(at);
            role.status = match ending {
                Ending::Finished => RoleStatus::Completed,
                Ending::Stopped | Ending::Failed | Ending::Lost => RoleStatus::Failed,
            };
        }
        session::Event::SessionAsked { .. } | session::Event::SessionAnswered { .. } => {}
    }
}
