//! `Send`: who may write to whom, and how much.
//!
//! A person may write to any party that exists. An agent may write to agents, roles and people, and of the
//! tasks to its own and to those next to it in the plan: the ones it depends on, and the ones that depend on
//! it.

use super::inbox::UNREAD_MAX;
use super::{Address, Event, Inbox, Message, MessageCount, Party};
use crate::command::Faults;
use crate::{AgentId, FieldFault, MessageId, Plan, Refusal, RunId, TaskId, find_nearest};
use serde::Serialize;
use serde_json::{Map, Value};
use std::collections::BTreeSet;

const KIND_CHARACTERS_MAX: usize = 64;
const SUBJECT_CHARACTERS_MAX: usize = 200;
/// Longer texts belong in a file or in the chain output.
const BODY_CHARACTERS_MAX: usize = 20_000;
/// As JSON text.
const DATA_BYTES_MAX: usize = 64 * 1024;

/// A message that is to be sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Draft {
    from: Party,
    to: Party,
    kind: String,
    subject: Option<String>,
    body: String,
    data: Map<String, Value>,
    about: About,
    /// The run whose role it is for.
    #[serde(skip_serializing_if = "Option::is_none")]
    to_run: Option<RunId>,
    reply_to: Option<MessageId>,
}

/// What a message belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct About {
    task: Option<TaskId>,
    run: Option<RunId>,
    item: Option<String>,
}

/// Everybody whom a message can be for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Directory {
    /// The agents of the config.
    pub agents: BTreeSet<AgentId>,
    /// The roles of the config, and of the run that the message is part of.
    pub roles: BTreeSet<String>,
    /// The people, if the project lists them.
    pub members: Vec<String>,
}

/// Everything that the decision to send may depend on.
#[derive(Debug, Clone, Copy)]
pub struct Situation<'a> {
    /// Which numbers are taken.
    pub post: MessageCount,
    /// The inbox that it goes to.
    pub inbox: &'a Inbox,
    /// Whom it can be for.
    pub directory: &'a Directory,
    /// Which tasks there are, and which depends on which.
    pub plan: &'a Plan,
    /// The runs of unread messages that have ended; asked for only when the inbox is full.
    pub ended: &'a BTreeSet<RunId>,
    /// Whether an agent sends it.
    pub is_by_agent: bool,
}

impl Draft {
    /// Checks and makes a message.
    pub fn new(
        from: Party,
        to: Party,
        kind: &str,
        subject: Option<String>,
        body: String,
    ) -> Result<Self, Vec<FieldFault>> {
        let mut faults = Faults::default();
        faults.length("kind", kind, 1, KIND_CHARACTERS_MAX);
        faults.require(
            "kind",
            !kind.chars().any(char::is_control),
            "must be one line without control characters",
        );
        if let Some(subject) = &subject {
            faults.length("subject", subject, 1, SUBJECT_CHARACTERS_MAX);
            let is_plain = !subject.chars().any(char::is_control);
            faults.require("subject", is_plain, "must be one line without control characters");
        }
        faults.length("body", &body, 1, BODY_CHARACTERS_MAX);
        let (kind, data, about) = (kind.to_owned(), Map::new(), About::default());
        faults.or(Draft { from, to, kind, subject, body, data, about, to_run: None, reply_to: None })
    }

    /// Adds what it says to a program.
    pub fn with_data(self, data: Map<String, Value>) -> Result<Self, Vec<FieldFault>> {
        let bytes = serde_json::to_string(&data).map_or(usize::MAX, |text| text.len());
        let mut faults = Faults::default();
        let problem = format!("must have at most {DATA_BYTES_MAX} bytes as JSON, not {bytes}");
        faults.require("data", bytes <= DATA_BYTES_MAX, &problem);
        faults.or(Draft { data, ..self })
    }

    /// Says which task, run and item it is about.
    #[must_use]
    pub fn about(self, task: Option<TaskId>, run: Option<RunId>, item: Option<String>) -> Self {
        Draft { about: About { task, run, item }, ..self }
    }

    /// Says which message it answers.
    #[must_use]
    pub fn replying_to(self, message: Option<MessageId>) -> Self {
        Draft { reply_to: message, ..self }
    }

    /// Says which run's role it is for; nothing changes for any other party.
    #[must_use]
    pub fn for_role_of(self, run: Option<RunId>) -> Self {
        let to_run = run.filter(|_| matches!(self.to, Party::Role(_)));
        Draft { to_run, ..self }
    }

    /// Returns whom it is for.
    pub fn to(&self) -> &Party {
        &self.to
    }

    /// Returns whose inbox it goes to.
    pub fn address(&self) -> Address {
        Address { party: self.to.clone(), run: self.to_run }
    }
}

/// Says what happens when a message is sent, or why it may not be.
pub fn send(situation: &Situation<'_>, draft: &Draft) -> Result<Event, Refusal> {
    find_recipient(situation, draft)?;
    if situation.is_by_agent {
        check_reach(situation.plan, draft)?;
    }
    let fault = |field, problem| Refusal::Invalid { faults: vec![FieldFault { field, problem }] };
    if let Some(task) = draft.about.task.filter(|task| !situation.plan.contains(*task)) {
        return Err(Refusal::TaskNotFound { task });
    }
    if let Some(reply_to) = draft.reply_to.filter(|message| !situation.post.contains(*message)) {
        return Err(fault("replyTo", format!("must name a message; there is no message {reply_to}")));
    }
    if situation.inbox.count_waiting(situation.ended) >= UNREAD_MAX {
        let problem = format!("has {UNREAD_MAX} messages that nobody read; one must be read first");
        return Err(fault("to", problem));
    }
    let Draft { from, to, kind, subject, body, data, about, to_run, reply_to } = draft.clone();
    let About { task: task_id, run: run_id, item } = about;
    let letter = Message { from, to, kind, subject, body, data, task_id, run_id, to_run, item, reply_to };
    Ok(Event::MessageSent { message_id: situation.post.next_id(), letter: Box::new(letter) })
}

fn find_recipient(situation: &Situation<'_>, draft: &Draft) -> Result<(), Refusal> {
    let Directory { agents, roles, members } = situation.directory;
    let stranger = |what: &str, name: &str, known: Vec<&str>| {
        let guess = find_nearest(name, known.iter().copied());
        let guess = guess.map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
        let problem = format!("must name {what} of the project, and `{name}` is none{guess}");
        Refusal::Invalid { faults: vec![FieldFault { field: "to", problem }] }
    };
    match &draft.to {
        Party::Agent(agent) if !agents.contains(agent) => {
            Err(Refusal::AgentNotFound { agent: agent.clone(), known: agents.iter().cloned().collect() })
        }
        Party::Task(task) if !situation.plan.contains(*task) => Err(Refusal::TaskNotFound { task: *task }),
        Party::Role(role) if !roles.contains(role) => {
            Err(stranger("a role", role, roles.iter().map(String::as_str).collect()))
        }
        Party::Engine => Err(stranger("a party", "engine", Vec::new())),
        Party::Person(name) if !members.is_empty() && !members.contains(name) => {
            Err(stranger("a member", name, members.iter().map(String::as_str).collect()))
        }
        _ => Ok(()),
    }
}

fn check_reach(plan: &Plan, draft: &Draft) -> Result<(), Refusal> {
    let Party::Task(to) = draft.to else { return Ok(()) };
    let is_near = draft.about.task.is_some_and(|own| {
        own == to || plan.dependents(own).contains(&to) || plan.dependents(to).contains(&own)
    });
    if is_near {
        return Ok(());
    }
    let why = "an agent writes to its own task, to those that it depends on, and to those that depend on it"
        .to_owned();
    Err(Refusal::Forbidden { what: format!("no message was sent to task #{to}"), why })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{check_messages, render_refusal};
    use expect_test::expect;

    #[test]
    fn messages_are_numbered_and_read_once() {
        check_messages(
            "person:me to agent:alpha hello; agent:alpha to person:me done; read agent:alpha 1; read agent:alpha 1 2",
            expect![[r#"
                > person:me to agent:alpha hello
                message:sent 1, unread 1
                > agent:alpha to person:me done
                message:sent 2, unread 1
                > read agent:alpha 1
                message:read 1
                > read agent:alpha 1 2
                nothing
            "#]],
        );
    }

    #[test]
    fn a_message_is_for_somebody_that_there_is() {
        check_messages(
            "person:me to agent:alpa x; person:me to role:codr x; person:me to task:9 x; person:me to person:guest x; \
             person:me to role:coder x reply 7",
            expect![[r#"
                > person:me to agent:alpa x
                error[AGENT_NOT_FOUND]: there is no agent `alpa`
                  why:  the config has no `[agents.alpa]` entry
                  next: did you mean `alpha`? choose one of: alpha; or add `[agents.alpa]` to .regatta/config.toml
                > person:me to role:codr x
                error[VALIDATION_ERROR]: the command is invalid
                  why:  `to` must name a role of the project, and `codr` is none; did you mean `coder`?
                  next: correct the fields named above and try again; nothing was done
                > person:me to task:9 x
                error[TASK_NOT_FOUND]: there is no task #9
                  why:  no task with that number was created in this project
                  next: see the tasks with `regatta task list`
                > person:me to person:guest x
                error[VALIDATION_ERROR]: the command is invalid
                  why:  `to` must name a member of the project, and `guest` is none
                  next: correct the fields named above and try again; nothing was done
                > person:me to role:coder x reply 7
                error[VALIDATION_ERROR]: the command is invalid
                  why:  `replyTo` must name a message; there is no message 7
                  next: correct the fields named above and try again; nothing was done
            "#]],
        );
    }

    #[test]
    fn an_agent_reaches_the_tasks_next_to_its_own() {
        check_messages(
            "agent:alpha to task:2 own about 2; agent:alpha to task:1 up about 2; agent:alpha to task:3 down about 2; \
             agent:alpha to task:4 far about 2; agent:alpha to task:1 none; person:me to task:4 any",
            expect![[r#"
                > agent:alpha to task:2 own about 2
                message:sent 1, unread 1
                > agent:alpha to task:1 up about 2
                message:sent 2, unread 1
                > agent:alpha to task:3 down about 2
                message:sent 3, unread 1
                > agent:alpha to task:4 far about 2
                error[FORBIDDEN]: no message was sent to task #4
                  why:  an agent writes to its own task, to those that it depends on, and to those that depend on it
                  next: continue without it, or tell a person what you need with `regatta messages send`
                > agent:alpha to task:1 none
                error[FORBIDDEN]: no message was sent to task #1
                  why:  an agent writes to its own task, to those that it depends on, and to those that depend on it
                  next: continue without it, or tell a person what you need with `regatta messages send`
                > person:me to task:4 any
                message:sent 4, unread 1
            "#]],
        );
    }

    #[test]
    fn all_bad_fields_are_named_at_once() {
        let to: Party = "role:coder".parse().unwrap();
        let from: Party = "person:me".parse().unwrap();
        let new = |kind: &str, subject: Option<&str>, body: String| {
            let draft = Draft::new(from.clone(), to.clone(), kind, subject.map(str::to_owned), body);
            draft.map_err(|faults| faults.into_iter().map(|fault| fault.field).collect::<Vec<_>>())
        };
        assert!(new("note", Some("s"), "é".repeat(BODY_CHARACTERS_MAX)).is_ok());
        assert_eq!(new("", Some("a\nb"), String::new()), Err(vec!["kind", "subject", "body"]));
        let draft = new("note", None, "x".to_owned()).unwrap();
        let data = |bytes: usize| Map::from_iter([("a".to_owned(), Value::from("x".repeat(bytes)))]);
        assert!(draft.clone().with_data(data(DATA_BYTES_MAX - 8)).is_ok());
        assert_eq!(draft.with_data(data(DATA_BYTES_MAX)).unwrap_err()[0].field, "data");
    }

    #[test]
    fn an_inbox_that_nobody_reads_is_full_in_the_end() {
        let draft = Draft::new(
            "person:me".parse().unwrap(),
            "agent:alpha".parse().unwrap(),
            "note",
            None,
            "x".into(),
        );
        let draft = draft.unwrap().about(None, Some(RunId::FIRST), None);
        let directory =
            Directory { agents: BTreeSet::from(["alpha".parse().unwrap()]), ..Directory::default() };
        let (mut post, mut inbox, plan) = (MessageCount::default(), Inbox::default(), Plan::default());
        let try_to_send = |post, inbox: &Inbox, ended: &BTreeSet<RunId>| {
            let situation =
                Situation { post, inbox, directory: &directory, plan: &plan, ended, is_by_agent: false };
            send(&situation, &draft)
        };
        for _ in 0..UNREAD_MAX {
            let fact = crate::testing::message_fact(try_to_send(post, &inbox, &BTreeSet::new()).unwrap());
            post = post.evolve(&fact);
            inbox = inbox.evolve(&fact);
        }
        let refusal = try_to_send(post, &inbox, &BTreeSet::new()).unwrap_err();
        assert!(render_refusal(&refusal).contains("`to` has 500 messages that nobody read"));
        assert_eq!(
            (inbox.count_unread(), inbox.runs_of_unread()),
            (UNREAD_MAX, BTreeSet::from([RunId::FIRST]))
        );
        // Nobody will read those of a run that has ended.
        try_to_send(post, &inbox, &BTreeSet::from([RunId::FIRST])).unwrap();
    }
}
