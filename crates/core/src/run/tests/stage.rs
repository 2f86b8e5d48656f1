//! A run with everything around it that its expressions can read: sessions, tasks, what git says, messages, and a clock
//! that the test sets. After each event every file of the run is evaluated, and has to fit its schema.
//!
//! Nothing here is stored or started. What a test says happens at the time that it set last.

use crate::message::Party;
use crate::run::{
    Command, Conflict, EditContent, EditMark, Event, FoundEdit, Inputs, Known, MemberReport, Order, Phase,
    Run, begin, decide, effects, find_board_items, first_facts, post, task_of,
};
use crate::session::{Ending, Event as SessionEvent, Subject, Usage};
use crate::testing::{agent, commit, id, user};
use crate::{
    AnyEvent, Effect, Event as TaskEvent, Fact, Failure, MessageId, Refusal, RunId, TaskId, Worked,
    WorkedAction, WorkedFile,
};
use jiff::Timestamp;
use regatta_flow::{Content, NodeName, Workflow};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The number of the run.
pub(super) const RUN: RunId = RunId::FIRST;

/// A run on its stage.
pub(super) struct Stage {
    pub(super) workflow: Arc<Workflow>,
    pub(super) run: Run,
    pub(super) at: Timestamp,
    known: Known,
    seq: u64,
    next_message: MessageId,
    next_task: u32,
    sessions: u32,
    /// The roles that have an open session.
    open: BTreeSet<String>,
}

impl Stage {
    /// Begins a run.
    pub(super) fn begin(workflow: &Arc<Workflow>, input: Value, at: &str) -> Stage {
        let at: Timestamp = at.parse().unwrap();
        let order = order(workflow, input);
        let variables = first_facts(workflow, Some(RUN), at);
        let inputs = Inputs { workflow, variables: &variables, seen: 0, now_millis: at.as_millisecond() };
        Stage::of(workflow, begin(inputs, RUN, order).unwrap(), at)
    }

    /// Begins with the events that made a run.
    pub(super) fn of(workflow: &Arc<Workflow>, events: Vec<Event>, at: Timestamp) -> Stage {
        let first = Fact { at, actor: user(), event: events[0].clone() };
        let run = Run::evolve(None, &first).expect("the first event creates a run");
        let mut stage = Stage {
            workflow: Arc::clone(workflow),
            run,
            at,
            known: Known::new(Arc::clone(workflow), RUN),
            seq: 0,
            next_message: MessageId::FIRST,
            next_task: 1,
            sessions: 0,
            open: BTreeSet::new(),
        };
        stage.fold(first.event);
        for event in events.into_iter().skip(1) {
            stage.evolve(event);
        }
        stage.check_files();
        stage
    }

    /// Sets the clock.
    pub(super) fn at(&mut self, at: &str) {
        self.at = at.parse().unwrap();
    }

    /// Tells the run something.
    pub(super) fn tell(&mut self, command: &Command) -> Result<Vec<Event>, Refusal> {
        let variables = self.known.facts_of_steps(RUN);
        let now_millis = self.at.as_millisecond();
        let inputs =
            Inputs { workflow: &self.workflow, variables: &variables, seen: self.known.seen(), now_millis };
        let mut events = decide(inputs, &self.run, command)?;
        let (caller, family) = (Party::Person("me".to_owned()), [(RUN, &*self.workflow)]);
        let sent = post(&self.run, &family, &caller, self.next_message, &mut events);
        let mut asked = Vec::new();
        for event in &events {
            asked.extend(self.evolve(event.clone()));
        }
        for message in sent {
            self.next_message = message.message().next();
            self.fold(message);
        }
        self.check_files();
        if asked.iter().any(|effect| matches!(effect, Effect::PublishItems { .. })) {
            self.publish();
        }
        Ok(events)
    }

    fn evolve(&mut self, event: Event) -> Vec<Effect> {
        let was_asked = self.run.is_asked();
        let fact = Fact { at: self.at, actor: user(), event: event.clone() };
        self.run = Run::try_evolve(Some(self.run.clone()), &fact)
            .unwrap_or_else(|| panic!("`{}` is not carried", event.kind()));
        self.fold(event.clone());
        effects(was_asked, &self.run, &event)
    }

    fn fold(&mut self, event: impl Into<AnyEvent>) {
        self.seq += 1;
        self.known.fold(self.seq, Fact { at: self.at, actor: user(), event: event.into() });
    }

    /// Puts the items of the run on the board, and starts them.
    fn publish(&mut self) {
        let inputs_of = |known: &mut Known| known.facts_of_steps(RUN);
        let variables = inputs_of(&mut self.known);
        let now_millis = self.at.as_millisecond();
        let inputs = Inputs { workflow: &self.workflow, variables: &variables, seen: 0, now_millis };
        let mut tasks = BTreeMap::new();
        for item in find_board_items(inputs, &self.run).unwrap() {
            if self.run.tasks.contains_key(&item.key) {
                continue;
            }
            let task_id = id(self.next_task);
            self.next_task += 1;
            let create = task_of(&item, BTreeSet::new()).unwrap();
            self.fold(TaskEvent::TaskCreated {
                task_id,
                title: create.title.clone(),
                description: item.description.clone(),
                criteria: Vec::new(),
                dependencies: BTreeSet::new(),
                priority: crate::Priority::Medium,
                epic_id: None,
                prd: None,
                branch: None,
                base: None,
            });
            self.assign(task_id);
            tasks.insert(item.key, task_id);
        }
        let step = self.run.step;
        self.tell(&Command::Published { step, tasks }).unwrap();
    }

    fn assign(&mut self, task_id: TaskId) {
        self.fold(TaskEvent::TaskAssigned {
            task_id,
            agent_id: Some(agent("alpha")),
            priority: crate::Priority::Medium,
            branch: format!("task/{task_id}"),
            target: "main".to_owned(),
            base: commit(0),
            path: format!("worktrees/task-{task_id}"),
            attempt: 1,
            working: 1,
            limit: 2,
            run_id: Some(RUN),
            from: None,
            owner: None,
        });
    }

    /// Opens a session of a role.
    pub(super) fn open(&mut self, role: &str) {
        self.sessions += 1;
        self.open.insert(role.to_owned());
        let subject = self.subject(role);
        self.fold(SessionEvent::SessionOpened { subject, reserved: Default::default(), resumes: None });
        self.check_files();
    }

    fn close(&mut self, role: &str, ending: Ending) {
        if !self.open.contains(role) {
            self.open(role);
        }
        self.open.remove(role);
        let subject = self.subject(role);
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

    fn subject(&self, role: &str) -> Subject {
        Subject {
            session: format!("s{}", self.sessions),
            agent_id: agent("alpha"),
            task_id: self.run.find_task(),
            run_id: Some(RUN),
            above: Vec::new(),
            role: Some(role.to_owned()),
            number: self.sessions,
            day: jiff::civil::date(2026, 1, 22),
        }
    }

    /// Returns the role of the current node, or of a member of it.
    fn role_of(&self, node: &str) -> Option<String> {
        Some(self.workflow.find_node(node)?.kind.role()?.name.clone())
    }

    /// The session of the task that the run works on ends with these files: `+` added, `-` deleted, else changed.
    pub(super) fn worked(&mut self, files: &[&str]) {
        let task_id = self.run.find_task().expect("the node has a task");
        let file = |path: &&str| {
            let (action, path) = match path.split_at_checked(1) {
                Some(("+", path)) => (WorkedAction::Added, path),
                Some(("-", path)) => (WorkedAction::Deleted, path),
                _ => (WorkedAction::Modified, *path),
            };
            WorkedFile { path: path.to_owned(), action, added: 1, removed: 0 }
        };
        let worked = Worked {
            session: self.sessions,
            base: commit(self.sessions),
            head: commit(self.sessions + 1),
            commits: Vec::new(),
            more_commits: 0,
            files: files.iter().map(file).collect(),
            more_files: 0,
        };
        self.fold(TaskEvent::TaskWorked { task_id, worked });
        self.check_files();
    }

    /// The current node returns something.
    pub(super) fn give(&mut self, output: Value) {
        let node = self.run.node.to_string();
        if let Some(role) = self.role_of(&node) {
            self.close(&role, Ending::Finished);
        }
        let asks = if let Some(Phase::Performing { asks, .. }) = self.run.phase() { *asks } else { 0 };
        let performed = Command::Performed { step: self.run.step, asks, output, head: None, edits: 0 };
        assert!(!self.tell(&performed).unwrap().is_empty(), "node `{node}` was not waited for");
    }

    /// A member of the current node returns something.
    pub(super) fn member(&mut self, node: &str, output: Value) {
        if let Some(role) = self.role_of(node) {
            self.close(&role, Ending::Finished);
        }
        self.report(node, Ok((output, None)));
    }

    fn report(&mut self, node: &str, came: Result<(Value, Option<crate::CommitId>), Failure>) {
        let report = MemberReport { node: NodeName::parse(node).unwrap(), asks: 0, came };
        let command = Command::MemberEnded { step: self.run.step, report };
        assert!(!self.tell(&command).unwrap().is_empty(), "member `{node}` was not waited for");
    }

    /// The current node, or a member of it, fails.
    pub(super) fn fail(&mut self, node: &str, failure: Failure) {
        if let Some(role) = self.role_of(node) {
            self.close(&role, Ending::Failed);
        }
        if self.run.node.as_str() == node {
            self.tell(&Command::NotPerformed { step: self.run.step, failure }).unwrap();
        } else {
            self.report(node, Err(failure));
        }
    }

    /// The submitted task is merged.
    pub(super) fn land(&mut self) {
        self.tell(&Command::Landed { step: self.run.step }).unwrap();
    }

    /// A person sends the submitted task back.
    pub(super) fn send_back(&mut self, feedback: &str) {
        let (step, feedback) = (self.run.step, feedback.to_owned());
        self.tell(&Command::SentBack { step, feedback }).unwrap();
    }

    /// The submitted task does not merge.
    pub(super) fn conflict(&mut self, file: &str) {
        let (files, target, head) = (vec![file.to_owned()], "main".to_owned(), Some(commit(9)));
        let conflict = Conflict { files, target, head };
        assert!(!self.tell(&Command::Conflicted { step: self.run.step, conflict }).unwrap().is_empty());
    }

    /// A person answers the question.
    pub(super) fn answer(&mut self, approved: bool, text: &str) {
        let (step, text) = (self.run.step, text.to_owned());
        self.tell(&Command::Answer { step, approved, text }).unwrap();
    }

    /// A person sends a signal.
    pub(super) fn signal(&mut self, name: &str, input: Value) -> Result<(), Refusal> {
        let from = Party::Person("me".to_owned());
        let given = crate::run::SignalGiven { name: name.to_owned(), input, from, gone: BTreeSet::new() };
        self.tell(&Command::Signal(given)).map(drop)
    }

    /// A person edits a file; each edit has a digest of its own.
    pub(super) fn edit(&mut self, name: &str, change: impl FnOnce(&mut Value)) {
        let base = self.file(name);
        let mut edited = base.clone();
        change(&mut edited);
        let (file, digest) = (name.to_owned(), edited.to_string());
        let mark = EditMark { path: file.clone(), file, written: self.seq, digest };
        let edit = FoundEdit { mark, content: EditContent::Value { base, edited } };
        let events = self.tell(&Command::Edited(edit)).unwrap();
        assert!(matches!(&*events, [Event::RunEdited { .. }]), "it was not taken in: {events:?}");
    }

    /// Returns where the run is, in a few words.
    pub(super) fn place(&self) -> String {
        format!("{} at {}", self.run.status(), self.run.node)
    }

    /// Returns what a file holds.
    pub(super) fn file(&mut self, name: &str) -> Value {
        let place =
            self.workflow.files.iter().position(|file| file.name == name).expect("there is such a file");
        let shown = self.known.evaluate_files(RUN, &[place]).remove(0);
        shown.value.unwrap().unwrap_or_default()
    }

    /// Every file can be evaluated at any time, and fits its schema.
    fn check_files(&mut self) {
        let places: Vec<usize> = (0..self.workflow.files.len()).collect();
        let shown = self.known.evaluate_files(RUN, &places);
        for (file, shown) in self.workflow.files.iter().zip(shown) {
            let value = shown.value.unwrap_or_else(|fault| panic!("file `{}`: {}", file.name, fault.0));
            if let (Content::Value { schema: Some(schema), .. }, Some(value)) = (&file.content, value) {
                let faults = schema.check(&value).err().unwrap_or_default();
                let told: Vec<String> = faults.iter().map(ToString::to_string).collect();
                assert!(told.is_empty(), "file `{}`: {}\n{value:#}", file.name, told.join("; "));
            }
        }
    }
}

/// Returns the order to begin a run on the board.
pub(super) fn order(workflow: &Workflow, input: Value) -> Order {
    Order {
        digest: workflow.digest(),
        within: Vec::new(),
        level: None,
        prd: None,
        input,
        board: true,
        recording: None,
        parent: None,
        is_parent_paused: false,
    }
}

/// Compares what a design prints with a document: fields that are named, lists item by item, and times as moments.
pub(super) fn assert_shows(found: &Value, printed: &Value, at: &str) {
    match (found, printed) {
        (Value::Object(found), Value::Object(fields)) => {
            for (name, value) in fields {
                assert_shows(found.get(name).unwrap_or(&Value::Null), value, &format!("{at}.{name}"));
            }
        }
        (Value::Array(found), Value::Array(items)) => {
            assert_eq!(found.len(), items.len(), "{at}: {}", json!(found));
            for (index, (found, item)) in found.iter().zip(items).enumerate() {
                assert_shows(found, item, &format!("{at}[{index}]"));
            }
        }
        (Value::String(found), Value::String(text)) => match (found.parse::<Timestamp>(), text.parse()) {
            (Ok(found), Ok::<Timestamp, _>(printed)) => assert_eq!(found, printed, "{at}"),
            _ => assert_eq!(found, text, "{at}"),
        },
        (Value::Number(found), Value::Number(number)) => assert_eq!(found.as_f64(), number.as_f64(), "{at}"),
        _ => assert_eq!(found, printed, "{at}"),
    }
}
