//! One sample of every event of runs and their workflows.

use super::{commit, failure, id};
use crate::run::{
    Begin, ChildEnd, Choice, Counts, EditMark, Event, Fork, Import, ImportNote, ImportedFile, Item, Mail,
    MemberCame, Next, Outcome, Parent, RecordingMode,
};
use crate::{Code, RunId};
use jiff::Timestamp;
use regatta_flow::{Assigned, EdgeId, NodeName, OutcomeKind, PathStep, ResolvedPath, Seen, Tried};
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
            messages: serde_json::from_value(json!([5, 6])).unwrap(),
            next: Next::Land {
                node: node.clone(),
                edge: EdgeId::parse("next-task").unwrap(),
                item: "T001".into(),
                task_id,
            },
            outcome: Some(Box::new(outcome())),
            seen: Some(40),
        },
        Event::RunMemberEnded {
            run_id,
            step: 2,
            node: node.clone(),
            came: MemberCame::Returned { output: json!({ "passed": true }), head: Some(commit(1)) },
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
        Event::RunLanded {
            run_id,
            step: 2,
            task_id,
            set: Vec::new(),
            messages: Mail::default(),
            next: perform(),
            seen: None,
        },
        Event::RunSentBack {
            run_id,
            step: 2,
            task_id,
            feedback: "Slow".into(),
            fail: Some("T001".into()),
            drop: Some("T001".into()),
            set: vec![patch(Assigned::Value(Value::Null))],
            messages: Mail::default(),
            next: perform(),
            seen: None,
        },
        Event::RunSignalled {
            run_id,
            step: 2,
            signal: "extend".into(),
            input: json!({ "text": "More" }),
            from: crate::message::Party::Person("local".into()),
            set: vec![patch(Assigned::Value(json!("More")))],
            messages: serde_json::from_value(json!([7])).unwrap(),
            restarted: vec!["T001".into()],
            next: Some(perform()),
            seen: Some(40),
        },
        Event::RunEdited {
            run_id,
            step: 2,
            mark: edit_mark(),
            set: vec![patch(Assigned::Value(json!("More")))],
        },
        Event::RunEditKept {
            run_id,
            step: 2,
            mark: edit_mark(),
            kept: "plan.json.edit-40".into(),
            error: failure(Code::EditConflict),
        },
        Event::RunHeld { run_id, step: 2, error: error.clone() },
        Event::RunPutOff { run_id, step: 2 },
        Event::RunPaused { run_id },
        Event::RunResumed { run_id },
        Event::RunParentPaused { run_id },
        Event::RunParentResumed { run_id },
        Event::RunStopping { run_id, reason: Some("Enough".into()) },
        Event::RunCompleted { run_id, result: json!({ "ok": true }) },
        Event::RunFailed {
            run_id,
            error,
            output: Some(json!(null)),
            outcome: Some(Box::new(outcome())),
            seen: None,
        },
    ]
}

fn edit_mark() -> EditMark {
    EditMark { file: "plan".into(), path: "plan.json".into(), written: 40, digest: "0f".into() }
}

fn outcome() -> Outcome {
    let details = json!({ "edge": "next-task" });
    Outcome { on: OutcomeKind::Rejected, details, feedback: Some("Slow".into()), item: Some("T001".into()) }
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
        restarted: vec!["T003".into()],
        step: 3,
        next: Next::Map {
            node: NodeName::parse("all").unwrap(),
            workflow: "part".into(),
            items: vec![item],
            max_parallel: 2,
            publishes: true,
        },
        passes: true,
        item: Some("T002".into()),
        takes_up: true,
        parent: Some(Parent { run_id: RunId::FIRST, item: "b".into(), task: Some(id(7)) }),
        is_parent_paused: true,
        forked: Some(Fork { run_id: RunId::FIRST, step: 3 }),
        imported: Some(Box::new(import())),
        files: BTreeMap::from([("plan".to_owned(), "cycles/1.progress/plan.json".to_owned())]),
    }
}

fn import() -> Import {
    let file = ImportedFile { path: "plan.json".into(), digest: "00".into() };
    let note = ImportNote {
        folder: "/cycle".into(),
        files: vec![file],
        left_out: vec!["tasks: it is no list".into()],
    };
    let messages = vec![json!({ "from": "user", "to": "ra", "body": "More", "read": true })];
    let at = |second| Timestamp::from_second(second).ok();
    Import { note, created_at: at(1), ended_at: at(2), messages }
}

fn choice() -> Choice {
    Choice {
        edge: EdgeId::parse("coder-retry").unwrap(),
        scope: "T001".into(),
        exhausted: Some(1),
        fail: Some("T001".into()),
        drop: Some("T002".into()),
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
