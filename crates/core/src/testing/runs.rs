//! One sample of every event of runs and their workflows.

use super::{commit, failure, id};
use crate::run::{Begin, ChildEnd, Choice, Counts, Event, Fork, Item, Next, Parent, RecordingMode};
use crate::{Code, RunId};
use regatta_flow::{Assigned, EdgeId, NodeName, PathStep, ResolvedPath, Seen, Tried};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// One of each kind of event, in the order of [`Event::KINDS`].
pub(crate) fn run_samples() -> Vec<Event> {
    let run_id = RunId::new(4).unwrap();
    let error = failure(Code::Internal);
    let task_id = id(7);
    let node: NodeName = NodeName::parse("coder").unwrap();
    let perform = || Next::Perform { node: node.clone(), item: Some("T001".to_owned()) };
    let files = BTreeMap::from([("workflow.toml".to_owned(), "name = \"speckit\"\n".to_owned())]);
    vec![
        Event::WorkflowKept { digest: "00".into(), name: "speckit".into(), files },
        Event::RunCreated { run_id, plan: Box::new(begin()) },
        Event::RunPublished { run_id, step: 2, tasks: BTreeMap::from([("T001".into(), task_id)]) },
        Event::RunStepped {
            run_id,
            step: 2,
            node: node.clone(),
            output: json!({ "passed": false, "weight": 0.1 }),
            head: Some(commit(1)),
            set: vec![patch(Assigned::Output(ResolvedPath::default())), patch(Assigned::Value(json!(1)))],
            choice: choice(),
            next: Next::Land {
                node: node.clone(),
                edge: EdgeId::parse("next-task").unwrap(),
                item: "T001".into(),
                task_id,
            },
        },
        Event::RunOutputRefused { run_id, step: 2, faults: vec!["`code` is missing".into()], asks: 1 },
        Event::RunAgentRefused {
            run_id,
            step: 2,
            agent_id: super::agent("alpha"),
            what: "the tool approve_task".into(),
        },
        Event::RunChildrenStarted {
            run_id,
            step: 2,
            children: BTreeMap::from([("a".into(), run_id.next())]),
        },
        Event::RunChildEnded { run_id, step: 2, item: "a".into(), child: ChildEnd::Skipped },
        Event::RunLanded { run_id, step: 2, task_id, set: Vec::new(), next: perform() },
        Event::RunSentBack {
            run_id,
            step: 2,
            task_id,
            feedback: "Slow".into(),
            fail: Some("T001".into()),
            set: vec![patch(Assigned::Value(Value::Null))],
            next: perform(),
        },
        Event::RunHeld { run_id, step: 2, error: error.clone() },
        Event::RunPutOff { run_id, step: 2 },
        Event::RunPaused { run_id },
        Event::RunResumed { run_id },
        Event::RunParentPaused { run_id },
        Event::RunParentResumed { run_id },
        Event::RunStopping { run_id, reason: Some("Enough".into()) },
        Event::RunCompleted { run_id, result: json!({ "ok": true }) },
        Event::RunFailed { run_id, error, output: Some(json!(null)) },
    ]
}

fn begin() -> Begin {
    let item = Item { key: "a".into(), depends: vec!["b".into()], input: json!({ "key": "a" }) };
    let counts = Counts::from([("coder-retry".to_owned(), BTreeMap::from([("T001".to_owned(), 2)]))]);
    Begin {
        workflow: "part".into(),
        digest: "00".into(),
        within: vec!["part".into()],
        level: 7,
        board: true,
        board_below: true,
        recording: Some(RecordingMode::Record("/tape".into())),
        prd: "user-auth".parse().ok(),
        input: json!({ "prd": "Text" }),
        state: json!({ "tasks": [] }),
        feedback: json!({ "text": "Yes" }),
        taken: counts.clone(),
        visits: counts,
        tasks: BTreeMap::from([("T001".into(), id(7))]),
        heads: BTreeMap::from([("T002".into(), commit(1))]),
        anew: vec!["T003".into()],
        step: 3,
        next: Next::Map {
            node: NodeName::parse("all").unwrap(),
            workflow: "part".into(),
            items: vec![item],
            max_parallel: 2,
        },
        item: Some("T002".into()),
        takes_up: true,
        parent: Some(Parent { run_id: RunId::FIRST, item: "b".into() }),
        is_parent_paused: true,
        forked: Some(Fork { run_id: RunId::FIRST, step: 3 }),
    }
}

fn choice() -> Choice {
    Choice {
        edge: EdgeId::parse("coder-retry").unwrap(),
        scope: "T001".into(),
        exhausted: Some(1),
        fail: Some("T001".into()),
        tried: vec![Tried {
            edge: EdgeId::parse("coder-retry").unwrap(),
            held: true,
            saw: vec![Seen("output.passed".into(), json!(false))],
        }],
    }
}

fn patch(assigned: Assigned) -> regatta_flow::Patch {
    let place = ResolvedPath(vec![PathStep::Key("tasks".into()), PathStep::Index(0)]);
    regatta_flow::Patch { place, assigned }
}
