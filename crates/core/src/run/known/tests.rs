//! What is known of a family, event by event.

use super::Known;
use crate::run::{Begin, ChildEnd, Choice, Event, Item, Mail, Next, Parent};
use crate::session::{Ending, Event as SessionEvent, Subject, Usage};
use crate::testing::{agent, commit, id};
use crate::{
    Actor, AnyEvent, Event as TaskEvent, Fact, Priority, RunId, Worked, WorkedAction, WorkedCommit,
    WorkedFile,
};
use jiff::Timestamp;
use regatta_flow::{Assigned, EdgeId, FactName, Folder, NodeName, Patch, PathStep, ResolvedPath, Workflow};
use serde_json::{Value, json};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

const ABOVE: &str = r#"
name = "above"
start = "all"
[view]
shown = "$children.view.about"
[nodes.all]
kind = "map"
workflow = "below"
items = "input"
key = "key"
set = { note = "$shown" }
[nodes.done]
kind = "end"
[[edges]]
id = "every"
title = "All are done"
from = "all"
to = "done"
[files.note]
path = "note.json"
place = "note"
[files.list]
path = "list.json"
value = "{'all': $children.{'k': key, 's': run.status}}"
"#;

const BELOW: &str = r#"
name = "below"
start = "work"
[view]
about = "input.key & ' ' & $run.status"
[nodes.work]
kind = "agent"
role = "worker"
[nodes.done]
kind = "end"
[[edges]]
id = "worked"
from = "work"
to = "done"
"#;

const STATE: &str =
    r#"{ "type": "object", "properties": { "note": { "default": null }, "list": { "default": [] } } }"#;

fn definition() -> Arc<Workflow> {
    let files = [
        ("workflow.toml", ABOVE),
        ("state.schema.json", STATE),
        ("children/below/workflow.toml", BELOW),
        ("children/below/state.schema.json", STATE),
        ("children/below/roles/worker.md", "Work."),
        ("children/below/roles/worker.output.json", "{}"),
    ];
    let folder: Folder = files.map(|(name, text)| (name.to_owned(), text.to_owned())).into_iter().collect();
    Arc::new(Workflow::load(&folder).unwrap())
}

/// A family that gets one event a second.
struct Told {
    known: Known,
    seq: u64,
}

impl Told {
    fn new() -> Told {
        Told { known: Known::new(definition(), run(1)), seq: 0 }
    }

    fn tell(&mut self, event: impl Into<AnyEvent>) {
        self.seq += 1;
        let at = Timestamp::from_second(i64::try_from(self.seq).unwrap()).unwrap();
        self.known.fold(self.seq, Fact { at, actor: Actor::Engine, event: event.into() });
    }

    fn fact(&mut self, of: u32, fact: FactName) -> Value {
        let variables = self.known.variables(run(of), &BTreeSet::from([fact]));
        variables.find(fact.as_str()).map(|value| (**value).clone()).unwrap_or_default()
    }

    /// A run above with the items `a` and `b`, of which `a` is started and works on task 7.
    fn begun() -> Told {
        let mut told = Told::new();
        told.tell(TaskEvent::TaskCreated {
            task_id: id(7),
            title: "A".into(),
            description: String::new(),
            criteria: Vec::new(),
            dependencies: BTreeSet::new(),
            priority: Priority::High,
            epic_id: None,
            prd: None,
            branch: None,
            base: None,
        });
        let items =
            ["a", "b"].map(|key| Item { key: key.into(), depends: Vec::new(), input: json!({ "key": key }) });
        let next = Next::Map {
            node: node("all"),
            workflow: "below".into(),
            items: items.into(),
            max_parallel: 2,
            publishes: false,
        };
        told.tell(created(1, next, None));
        told.tell(Event::RunPublished {
            run_id: run(1),
            step: 1,
            tasks: BTreeMap::from([("a".into(), id(7))]),
        });
        let perform = Next::Perform { node: node("work"), item: None };
        told.tell(created(2, perform, Some("a")));
        told.tell(Event::RunChildrenStarted {
            run_id: run(1),
            step: 1,
            children: BTreeMap::from([("a".into(), run(2))]),
        });
        told
    }
}

fn run(number: u32) -> RunId {
    RunId::new(number).unwrap()
}

fn node(name: &str) -> NodeName {
    NodeName::parse(name).unwrap()
}

fn created(number: u32, next: Next, item: Option<&str>) -> Event {
    let plan = Begin {
        workflow: if item.is_some() { "below" } else { "above" }.into(),
        digest: "00".into(),
        within: item.map(|_| "below".to_owned()).into_iter().collect(),
        level: 1,
        board: false,
        board_below: false,
        recording: None,
        prd: None,
        input: json!({ "key": item }),
        state: json!({ "note": null, "list": [] }),
        feedback: Value::Null,
        taken: BTreeMap::new(),
        visits: BTreeMap::new(),
        tasks: BTreeMap::new(),
        heads: BTreeMap::new(),
        restarted: Vec::new(),
        step: 1,
        next,
        passes: false,
        item: None,
        takes_up: false,
        parent: item.map(|item| Parent { run_id: run(1), item: item.into(), task: None }),
        is_parent_paused: false,
        forked: None,
        imported: None,
        files: BTreeMap::new(),
    };
    Event::RunCreated { run_id: run(number), plan: Box::new(plan) }
}

fn stepped(number: u32, from: &str, edge: &str, set: Vec<Patch>) -> Event {
    Event::RunStepped {
        run_id: run(number),
        step: 1,
        node: node(from),
        output: json!({ "summary": "It works" }),
        head: None,
        set,
        choice: Choice {
            edge: EdgeId::parse(edge).unwrap(),
            scope: String::new(),
            exhausted: None,
            fail: None,
            drop: None,
            tried: Vec::new(),
        },
        messages: Mail::default(),
        next: Next::End { node: node("done") },
        outcome: None,
        seen: None,
    }
}

fn subject(number: u32) -> Subject {
    Subject {
        session: "s".into(),
        agent_id: agent("alpha"),
        task_id: Some(id(7)),
        run_id: Some(run(number)),
        above: vec![run(1)],
        role: Some("worker".into()),
        number: 1,
        day: jiff::civil::date(1970, 1, 1),
    }
}

#[test]
fn children_are_listed_with_what_they_show_also_those_that_wait() {
    let mut told = Told::begun();
    let children = told.fact(1, FactName::Children);
    assert_eq!(children[0]["view"], json!({ "about": "a running" }));
    assert_eq!(
        (&children[0]["run"]["id"], &children[0]["roles"]["worker"]["status"]),
        (&json!(2), &json!("waiting"))
    );
    assert_eq!(children[1]["view"], json!({ "about": "b created" }));
    assert_eq!(children[1]["run"], json!({ "status": "created", "steps": 0, "sessions": 0 }));
    told.tell(stepped(2, "work", "worked", Vec::new()));
    told.tell(Event::RunCompleted { run_id: run(2), result: Value::Null });
    told.tell(Event::RunChildEnded { run_id: run(1), step: 1, item: "a".into(), child: ChildEnd::Skipped });
    let children = told.fact(1, FactName::Children);
    assert_eq!(children[0]["view"], json!({ "about": "a completed" }));
    assert_eq!(children[0]["run"]["endedAt"], "1970-01-01T00:00:07.000Z");
    assert_eq!(children[0]["roles"]["worker"]["said"], "It works");
    let steps = told.fact(1, FactName::Steps);
    assert_eq!(
        steps,
        json!([
            { "n": 1, "at": "1970-01-01T00:00:02.000Z", "to": "all", "items": 2 },
            { "n": 2, "key": "a", "at": "1970-01-01T00:00:04.000Z", "to": "work", "role": "worker" },
            { "n": 3, "key": "a", "at": "1970-01-01T00:00:06.000Z", "from": "work", "edge": "worked", "to": "done" },
        ]),
        "how each run began, and its steps"
    );
    assert_eq!(told.fact(2, FactName::Steps)[1]["key"], Value::Null, "its own step has no key");
    assert_eq!(told.fact(1, FactName::Run)["steps"], 3);
}

#[test]
fn a_role_waits_runs_and_ends() {
    let mut told = Told::begun();
    let status = |told: &mut Told| {
        let role = told.fact(2, FactName::Roles)["worker"].clone();
        format!("{} {}", role["status"].as_str().unwrap(), role["visits"])
    };
    assert_eq!(status(&mut told), "waiting 0");
    told.tell(SessionEvent::SessionOpened {
        subject: subject(2),
        reserved: Default::default(),
        resumes: None,
    });
    assert_eq!(status(&mut told), "running 1");
    let closed = |ending| SessionEvent::SessionClosed {
        subject: subject(2),
        ending,
        class: None,
        usage: Usage { input_tokens: 10, output_tokens: 5, milliseconds: 2_000, ..Usage::default() },
        turns: 1,
        agent_session: None,
        agent_session_gone: false,
    };
    told.tell(closed(Ending::Failed));
    assert_eq!(status(&mut told), "failed 1");
    told.tell(SessionEvent::SessionOpened {
        subject: subject(2),
        reserved: Default::default(),
        resumes: None,
    });
    assert_eq!(status(&mut told), "running 1", "it is asked again within the same visit");
    told.tell(closed(Ending::Finished));
    told.tell(stepped(2, "work", "worked", Vec::new()));
    assert_eq!(status(&mut told), "completed 1");
    assert_eq!(told.fact(1, FactName::Run)["sessions"], 2);
    assert_eq!(told.fact(1, FactName::Work)["a"]["cost"], json!({ "tokens": 30, "usd": null, "seconds": 4 }));
}

#[test]
fn work_adds_up_over_sessions_and_a_child_sees_that_of_its_key() {
    let mut told = Told::begun();
    let file = |path: &str, action, added| WorkedFile { path: path.into(), action, added, removed: 0 };
    let worked = |session: u32, files: Vec<WorkedFile>| TaskEvent::TaskWorked {
        task_id: id(7),
        worked: Worked {
            session,
            base: commit(session - 1),
            head: commit(session),
            commits: vec![WorkedCommit {
                id: commit(session),
                title: format!("{session}"),
                at: Timestamp::UNIX_EPOCH,
            }],
            more_commits: 0,
            files,
            more_files: 0,
        },
    };
    told.tell(worked(1, vec![file("a", WorkedAction::Added, 3), file("b", WorkedAction::Added, 1)]));
    told.tell(worked(2, vec![file("a", WorkedAction::Modified, 2), file("b", WorkedAction::Deleted, 0)]));
    // Once more, after a crash.
    told.tell(worked(2, vec![file("a", WorkedAction::Modified, 2), file("b", WorkedAction::Deleted, 0)]));
    let work = told.fact(1, FactName::Work);
    assert_eq!(work["a"]["files"], json!([{ "path": "a", "action": "added", "added": 5, "removed": 0 }]));
    let titles: Vec<&str> = work["a"]["commits"]
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|commit| commit["title"].as_str())
        .collect();
    assert_eq!(titles, ["1", "2"]);
    assert_eq!(work["a"]["last"]["files"].as_array().unwrap().len(), 2);
    assert_eq!(
        (&work["a"]["column"], &work["a"]["head"]),
        (&json!("backlog"), &json!(commit(2).to_string()))
    );
    assert_eq!(told.fact(2, FactName::Work), work, "by its key");
}

#[test]
fn only_what_reads_a_change_is_out_of_date() {
    let mut told = Told::begun();
    let definition = definition();
    let [note, list] = [0, 1].map(|place| &definition.files[place].reads);
    let at = |told: &Told| (told.known.changed_at(run(1), note), told.known.changed_at(run(1), list));
    let before = at(&told);
    told.tell(stepped(2, "work", "worked", Vec::new()));
    let after = at(&told);
    assert!(after.0 == before.0 && after.1 > before.1, "{before:?} {after:?}");
    let patch = Patch {
        place: ResolvedPath(vec![PathStep::Key("note".into())]),
        assigned: Assigned::Value(json!({ "text": "x" })),
    };
    told.tell(stepped(1, "all", "every", vec![patch]));
    assert!(at(&told).0 > after.0);
    let shown = told.known.evaluate_files(run(1), &[0, 1]);
    let values: Vec<Value> =
        shown.into_iter().map(|shown| shown.value.unwrap().unwrap_or_default()).collect();
    assert_eq!(values[0], json!({ "text": "x" }));
    assert_eq!(values[1]["all"][1], json!({ "k": "b", "s": "created" }));
    assert_eq!(told.known.resolve_paths(run(1)), [Ok("note.json".to_owned()), Ok("list.json".to_owned())]);
}

/// Whatever is asked for in between, the facts are those of the events alone.
#[test]
fn facts_that_are_made_step_by_step_are_those_that_are_made_at_once() {
    let mut told = Told::begun();
    told.fact(1, FactName::Children);
    told.tell(SessionEvent::SessionOpened {
        subject: subject(2),
        reserved: Default::default(),
        resumes: None,
    });
    told.fact(1, FactName::Children);
    told.tell(stepped(2, "work", "worked", Vec::new()));
    let mut at_once = Told::begun();
    at_once.tell(SessionEvent::SessionOpened {
        subject: subject(2),
        reserved: Default::default(),
        resumes: None,
    });
    at_once.tell(stepped(2, "work", "worked", Vec::new()));
    for fact in FactName::ALL {
        assert_eq!(told.fact(1, fact), at_once.fact(1, fact), "{fact}");
        assert_eq!(told.fact(2, fact), at_once.fact(2, fact), "{fact}");
    }
}
