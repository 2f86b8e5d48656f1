//! A run and its children with everything around them that their expressions can read: the tasks on the board, sessions,
//! what git says, messages, and a clock that the test sets. What the engine does between two answers of an agent is done
//! at once. After each event every file of the outermost run is evaluated, and has to fit its schema.
//!
//! Nothing here is stored or started. For a run without children there is `stage`, which is simpler.

use super::stage::{RUN, order};
use crate::message::{self, Party};
use crate::run::{
    ChildEnd, Command, Conflict, Event, Inputs, Item, Known, Order, Parent, Phase, Run, Situation, begin,
    decide, effects, find_board_items, first_facts, post, task_of,
};
use crate::session::{Ending, Event as SessionEvent, Subject, Usage};
use crate::testing::{agent, commit, id, user};
use crate::{
    AnyEvent, Effect, Event as TaskEvent, Fact, Failure, MessageId, Refusal, RunId, TaskId, Worked,
    WorkedAction, WorkedCommit, WorkedFile,
};
use jiff::Timestamp;
use regatta_flow::{Content, StateFile, Workflow};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

/// More effects than this follow one another only if they never end.
const EFFECTS_MAX: usize = 1_000;

/// A run with its children.
pub(super) struct Family {
    pub(super) workflow: Arc<Workflow>,
    pub(super) runs: BTreeMap<RunId, Run>,
    pub(super) at: Timestamp,
    /// The branch that each task was to have.
    pub(super) branches: BTreeMap<TaskId, Option<String>>,
    /// What the work on each began from.
    pub(super) bases: BTreeMap<TaskId, Option<String>>,
    /// The tasks that were dropped.
    pub(super) dropped: Vec<TaskId>,
    /// All messages, such as `engine -> pm PLAN_ERRORS: …`.
    pub(super) said: Vec<String>,
    known: Known,
    seq: u64,
    next_message: MessageId,
    next_commit: u32,
    sessions: u32,
    /// The roles that have an open session.
    open: BTreeSet<(RunId, String)>,
    /// What nobody has read, and for whom it is.
    unread: Vec<(MessageId, RunId, Party)>,
    /// What each role had in its last prompt.
    handed: BTreeMap<(RunId, String), Vec<MessageId>>,
    asked: VecDeque<Effect>,
    /// As of which change each file was looked at.
    checked: Vec<u64>,
}

impl Family {
    /// Begins the outermost run.
    pub(super) fn begin(workflow: &Arc<Workflow>, input: Value, at: &str) -> Family {
        let at: Timestamp = at.parse().unwrap();
        let mut family = Family {
            workflow: Arc::clone(workflow),
            runs: BTreeMap::new(),
            at,
            branches: BTreeMap::new(),
            bases: BTreeMap::new(),
            dropped: Vec::new(),
            said: Vec::new(),
            known: Known::new(Arc::clone(workflow), RUN),
            seq: 0,
            next_message: MessageId::FIRST,
            next_commit: 1,
            sessions: 0,
            open: BTreeSet::new(),
            unread: Vec::new(),
            handed: BTreeMap::new(),
            asked: VecDeque::new(),
            checked: Vec::new(),
        };
        family.start(RUN, workflow, order(workflow, input));
        family.settle();
        family
    }

    /// Sets the clock.
    pub(super) fn at(&mut self, at: &str) {
        self.at = at.parse().unwrap();
    }

    /// Returns the newest run of an item.
    pub(super) fn child(&self, key: &str) -> RunId {
        let is_for = |run: &&Run| run.parent.as_ref().is_some_and(|parent| parent.item == key);
        self.runs.values().rev().find(is_for).unwrap_or_else(|| panic!("there is no child `{key}`")).id
    }

    /// Tells a run something, and does what it asks for.
    pub(super) fn tell(&mut self, run: RunId, command: &Command) -> Result<Vec<Event>, Refusal> {
        let events = self.decide(run, command)?;
        self.settle();
        Ok(events)
    }

    fn decide(&mut self, run: RunId, command: &Command) -> Result<Vec<Event>, Refusal> {
        let definition = Arc::clone(&self.workflow);
        let variables = self.known.facts_of_steps(run);
        let now_millis = self.at.as_millisecond();
        let workflow = workflow_of(&definition, &self.runs[&run]);
        let inputs = Inputs { workflow, variables: &variables, seen: self.known.seen(), now_millis };
        let mut events = decide(inputs, &self.runs[&run], command)?;
        let mut above: Vec<(RunId, &Workflow)> = vec![(run, workflow)];
        while let Some(parent) = above.last().and_then(|(run, _)| self.runs[run].parent.clone()) {
            above.push((parent.run_id, workflow_of(&definition, &self.runs[&parent.run_id])));
        }
        let caller = Party::Person("me".to_owned());
        let sent = post(&self.runs[&run], &above, &caller, self.next_message, &mut events);
        for event in &events {
            self.evolve(run, event.clone());
        }
        for event in sent {
            self.next_message = event.message().next();
            if let message::Event::MessageSent { message_id, letter } = &event {
                self.unread.push((*message_id, letter.to_run.unwrap_or(run), letter.to.clone()));
                let crate::message::Message { from, to, kind, body, .. } = &**letter;
                self.said.push(format!("{from} -> {to} {kind}: {body}"));
            }
            self.fold(event);
        }
        self.check_files();
        Ok(events)
    }

    fn evolve(&mut self, run: RunId, event: Event) {
        let found = self.runs.remove(&run).expect("it was begun");
        let was_asked = found.is_asked();
        let fact = Fact { at: self.at, actor: user(), event: event.clone() };
        let evolved = Run::try_evolve(Some(found), &fact)
            .unwrap_or_else(|| panic!("`{}` is not carried", event.kind()));
        self.asked.extend(effects(was_asked, &evolved, &event));
        self.runs.insert(run, evolved);
        self.fold(event);
    }

    fn start(&mut self, id: RunId, workflow: &Workflow, order: Order) {
        let variables = first_facts(workflow, Some(id), self.at);
        let now_millis = self.at.as_millisecond();
        let inputs = Inputs { workflow, variables: &variables, seen: 0, now_millis };
        let events = begin(inputs, id, order).unwrap();
        let first = Fact { at: self.at, actor: user(), event: events[0].clone() };
        let run = Run::evolve(None, &first).expect("the first event creates a run");
        self.asked.extend(effects(false, &run, &first.event));
        self.runs.insert(id, run);
        self.fold(first.event);
        for event in events.into_iter().skip(1) {
            self.evolve(id, event);
        }
        self.check_files();
    }

    fn fold(&mut self, event: impl Into<AnyEvent>) {
        self.seq += 1;
        self.known.fold(self.seq, Fact { at: self.at, actor: user(), event: event.into() });
    }

    /// Does what was asked for, as far as no agent and no person has to.
    fn settle(&mut self) {
        for _ in 0..EFFECTS_MAX {
            match self.asked.pop_front() {
                None => return,
                Some(Effect::PublishItems { run, .. }) => self.publish(run),
                Some(Effect::StartChildren { run, step }) => self.start_children(run, step),
                Some(Effect::TellParent { run, parent, .. }) => {
                    let end = match self.runs[&run].situation.clone() {
                        Situation::Completed { result } => ChildEnd::Completed { result },
                        Situation::Failed { error } => ChildEnd::Failed { error },
                        Situation::Working(_) => panic!("it has ended"),
                    };
                    self.decide(parent, &Command::ChildEnded { child: run, end }).unwrap();
                }
                Some(Effect::DropTask { task, .. }) => self.dropped.push(task),
                Some(_) => {}
            }
        }
        panic!("it does not come to rest");
    }

    fn publish(&mut self, run: RunId) {
        let definition = Arc::clone(&self.workflow);
        let variables = self.known.facts_of_steps(run);
        let now_millis = self.at.as_millisecond();
        let workflow = workflow_of(&definition, &self.runs[&run]);
        let inputs = Inputs { workflow, variables: &variables, seen: 0, now_millis };
        let mut tasks = BTreeMap::new();
        for item in find_board_items(inputs, &self.runs[&run]).unwrap() {
            if self.runs[&run].tasks.contains_key(&item.key) {
                continue;
            }
            let task_id = id(u32::try_from(self.branches.len()).unwrap() + 1);
            let create = task_of(&item, BTreeSet::new()).unwrap();
            self.branches.insert(task_id, item.branch.clone());
            self.bases.insert(task_id, item.base.clone());
            self.fold(TaskEvent::TaskCreated {
                task_id,
                title: create.title.clone(),
                description: item.description.clone(),
                criteria: create.criteria.clone(),
                dependencies: BTreeSet::new(),
                priority: create.priority,
                epic_id: None,
                prd: None,
                branch: item.branch.clone(),
                base: item.base.clone(),
            });
            tasks.insert(item.key, task_id);
        }
        let step = self.runs[&run].step;
        self.decide(run, &Command::Published { step, tasks }).unwrap();
    }

    fn start_children(&mut self, run: RunId, step: u64) {
        let parent = &self.runs[&run];
        let Some(Phase::Mapping(mapping)) = parent.phase() else { return };
        if parent.step != step {
            return;
        }
        let (name, within) = (mapping.workflow.clone(), parent.within.clone());
        let items: Vec<Item> = mapping.startable().into_iter().cloned().collect();
        let definition = Arc::clone(&self.workflow);
        let workflow = &workflow_of(&definition, parent).children[&name];
        let mut children = BTreeMap::new();
        for item in items {
            let task = self.runs[&run].tasks.get(&item.key).copied();
            let child = self.runs.keys().max().expect("there is one").next();
            let mut order = order(workflow, item.input.clone());
            order.within = within.iter().chain([&name]).cloned().collect();
            order.parent = Some(Parent { run_id: run, item: item.key.clone(), task });
            self.start(child, workflow, order);
            if let Some(task) = task {
                self.assign(child, task);
            }
            children.insert(item.key, child);
        }
        self.decide(run, &Command::ChildrenStarted { step, children }).unwrap();
    }

    fn assign(&mut self, run: RunId, task_id: TaskId) {
        self.fold(TaskEvent::TaskAssigned {
            task_id,
            agent_id: Some(agent("alpha")),
            priority: crate::Priority::Medium,
            branch: self.branches[&task_id].clone().unwrap_or_else(|| format!("task/{task_id}")),
            target: "main".to_owned(),
            base: commit(0),
            path: format!("worktrees/task-{task_id}"),
            attempt: 1,
            working: 1,
            limit: 2,
            run_id: Some(run),
            from: None,
            owner: None,
        });
    }

    /// Opens a session of a role, with the messages for it in its prompt.
    pub(super) fn open(&mut self, run: RunId, role: &str) {
        self.sessions += 1;
        self.open.insert((run, role.to_owned()));
        let to = Party::Role(role.to_owned());
        let handed = self.unread.iter().filter(|(_, of, party)| *of == run && *party == to);
        self.handed.insert((run, role.to_owned()), handed.map(|(message, ..)| *message).collect());
        let subject = self.subject(run, role);
        self.fold(SessionEvent::SessionOpened { subject, reserved: Default::default(), resumes: None });
        self.check_files();
    }

    fn close(&mut self, run: RunId, role: &str, ending: Ending) {
        if !self.open.contains(&(run, role.to_owned())) {
            self.open(run, role);
        }
        self.open.remove(&(run, role.to_owned()));
        let subject = self.subject(run, role);
        self.fold(SessionEvent::SessionClosed {
            subject,
            ending,
            class: None,
            usage: Usage::default(),
            turns: 1,
            agent_session: None,
            agent_session_gone: false,
        });
        self.check_files();
    }

    fn subject(&self, run: RunId, role: &str) -> Subject {
        let found = &self.runs[&run];
        Subject {
            session: format!("s{}", self.sessions),
            agent_id: agent("alpha"),
            task_id: found.find_task(),
            run_id: Some(run),
            above: found.parent.iter().map(|parent| parent.run_id).collect(),
            role: Some(role.to_owned()),
            number: self.sessions,
            day: jiff::civil::date(2026, 1, 22),
        }
    }

    /// Returns the role of the node that a run is at.
    pub(super) fn role_of(&self, run: RunId) -> Option<String> {
        let found = &self.runs[&run];
        let node = workflow_of(&self.workflow, found).find_node(found.node.as_str())?;
        Some(node.kind.role()?.name.clone())
    }

    /// The session of the task that a run works on ends with these files, and a commit for each title.
    pub(super) fn worked(&mut self, run: RunId, files: &[&str], titles: &[&str]) {
        let task_id = self.runs[&run].find_task().expect("the node has a task");
        let file = |path: &&str| WorkedFile {
            path: (*path).to_owned(),
            action: WorkedAction::Modified,
            added: 1,
            removed: 0,
        };
        let base = commit(self.next_commit - 1);
        let mut commits = Vec::new();
        for title in titles {
            let of = WorkedCommit { id: commit(self.next_commit), title: (*title).to_owned(), at: self.at };
            commits.push(of);
            self.next_commit += 1;
        }
        let worked = Worked {
            session: self.sessions,
            base,
            head: commit(self.next_commit - 1),
            commits,
            more_commits: 0,
            files: files.iter().map(file).collect(),
            more_files: 0,
        };
        self.fold(TaskEvent::TaskWorked { task_id, worked });
        self.check_files();
    }

    /// The current node of a run returns something. The step that accepts it marks as read what stood in the prompt.
    pub(super) fn give(&mut self, run: RunId, output: Value) {
        let (node, role) = (self.runs[&run].node.to_string(), self.role_of(run));
        if let Some(role) = &role {
            self.close(run, role, Ending::Finished);
        }
        let found = &self.runs[&run];
        let asks = if let Some(Phase::Performing { asks, .. }) = found.phase() { *asks } else { 0 };
        let performed = Command::Performed { step: found.step, asks, output, head: None, edits: 0 };
        let events = self.decide(run, &performed).unwrap();
        assert!(!events.is_empty(), "node `{node}` was not waited for");
        let handed = self.handed.remove(&(run, role.unwrap_or_default())).unwrap_or_default();
        for message_id in handed {
            let place = self.unread.iter().position(|(unread, ..)| *unread == message_id).expect("once");
            let (_, of, to) = self.unread.remove(place);
            let by = to.clone();
            self.fold(message::Event::MessageRead { message_id, to, by, to_run: Some(of) });
        }
        self.check_files();
        self.settle();
    }

    /// The submitted task of a run is merged.
    pub(super) fn land(&mut self, run: RunId) {
        let step = self.runs[&run].step;
        assert!(!self.tell(run, &Command::Landed { step }).unwrap().is_empty(), "nothing was submitted");
    }

    /// A person sends the submitted task back.
    pub(super) fn send_back(&mut self, run: RunId, feedback: &str) {
        let (step, feedback) = (self.runs[&run].step, feedback.to_owned());
        self.tell(run, &Command::SentBack { step, feedback }).unwrap();
    }

    /// The submitted task does not merge.
    pub(super) fn conflict(&mut self, run: RunId, file: &str) {
        let (files, target, head) = (vec![file.to_owned()], "main".to_owned(), Some(commit(9)));
        let step = self.runs[&run].step;
        let conflicted = Command::Conflicted { step, conflict: Conflict { files, target, head } };
        assert!(!self.tell(run, &conflicted).unwrap().is_empty());
    }

    /// What the run asked for could not be done.
    pub(super) fn fail(&mut self, run: RunId, failure: Failure) {
        if let (Some(Phase::Performing { .. }), Some(role)) = (self.runs[&run].phase(), self.role_of(run)) {
            self.close(run, &role, Ending::Failed);
        }
        let step = self.runs[&run].step;
        self.tell(run, &Command::NotPerformed { step, failure }).unwrap();
    }

    /// Returns where a run is, in a few words.
    pub(super) fn place(&self, run: RunId) -> String {
        format!("{} at {}", self.runs[&run].status(), self.runs[&run].node)
    }

    /// Returns why a run failed.
    pub(super) fn why(&self, run: RunId) -> String {
        match &self.runs[&run].situation {
            Situation::Failed { error } => error.message.clone(),
            _ => panic!("it has not failed"),
        }
    }

    /// Returns what a file of the outermost run holds.
    pub(super) fn file(&mut self, name: &str) -> Value {
        let place =
            self.workflow.files.iter().position(|file| file.name == name).expect("there is such a file");
        let shown = self.known.evaluate_files(RUN, &[place]).remove(0);
        shown.value.unwrap().unwrap_or_default()
    }

    /// Every file can be evaluated at any time, and fits its schema. Like the engine, it looks only at those that read
    /// something that has changed.
    fn check_files(&mut self) {
        let changed = |file: &StateFile| self.known.changed_at(RUN, &file.reads);
        let changed: Vec<u64> = self.workflow.files.iter().map(changed).collect();
        let is_dirty = |place: &usize| self.checked.get(*place) != changed.get(*place);
        let places: Vec<usize> = (0..changed.len()).filter(is_dirty).collect();
        self.checked = changed;
        let shown = self.known.evaluate_files(RUN, &places);
        for shown in shown {
            let file = &self.workflow.files[shown.place];
            let value = shown.value.unwrap_or_else(|fault| panic!("file `{}`: {}", file.name, fault.0));
            if let (Content::Value { schema: Some(schema), .. }, Some(value)) = (&file.content, value) {
                let faults = schema.check(&value).err().unwrap_or_default();
                let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
                assert!(told.is_empty(), "file `{}`: {}\n{value:#}", file.name, told.join("; "));
            }
        }
    }
}

fn workflow_of<'w>(definition: &'w Workflow, run: &Run) -> &'w Workflow {
    run.within.iter().fold(definition, |workflow, name| &workflow.children[name])
}
