//! A task and a run to try the pages on.

use crate::words::Clock;
use jiff::tz::TimeZone;
use regatta_engine::core::machine::Column;
use regatta_engine::core::run::Status;
use regatta_engine::core::{AgentState, Code, EpicId, Failure, Priority, RunId, TaskId, WaitsFor};
use regatta_engine::runs::RunView;
use regatta_engine::{TaskRow, TaskView};
use std::borrow::Cow;
use std::collections::BTreeMap;

pub(crate) fn clock() -> Clock {
    Clock { now: "2026-03-05T13:42:10Z".parse().unwrap(), zone: TimeZone::UTC }
}

pub(crate) fn failure(code: Code, message: &str) -> Failure {
    Failure {
        code,
        message: message.to_owned(),
        hint: "try again".to_owned(),
        details: serde_json::Map::new(),
    }
}

/// A task in the backlog that nobody has assigned.
pub(crate) fn task() -> TaskView {
    let at = "2026-03-05T13:06:00Z".parse().unwrap();
    TaskView {
        id: TaskId::new(38).unwrap(),
        title: "Compute freshness once".to_owned(),
        description: String::new(),
        column: Column::Backlog,
        phase: "waiting",
        priority: Priority::Medium,
        epic_id: None,
        prd: None,
        agent_id: None,
        agent_state: AgentState::Idle,
        dependencies: Vec::new(),
        blocked_by: Vec::new(),
        run_id: None,
        criteria: Vec::new(),
        rejection_count: 0,
        rejections: Vec::new(),
        notes: Vec::new(),
        recovery: None,
        sessions: 0,
        queue_position: None,
        queued: None,
        branch: None,
        target: None,
        worktree: None,
        worktree_state: None,
        diff: None,
        lacks: None,
        turn_count: None,
        summary: None,
        checks: Vec::new(),
        approver: None,
        merge_commit: None,
        salvages: Vec::new(),
        state_file: String::new(),
        state_file_size: None,
        sandbox: None,
        warnings: Vec::new(),
        collisions: Vec::new(),
        more_collisions: 0,
        progress_entries: 0,
        inputs: Vec::new(),
        parked: None,
        spent: None,
        activity: None,
        role: None,
        question: None,
        error: None,
        source: None,
        hidden: false,
        owner: "nobody".to_owned(),
        next: String::new(),
        waits_for: WaitsFor::Nobody,
        until: None,
        deadline: None,
        overdue: false,
        created_at: at,
        updated_at: at,
    }
}

/// A row of the list, with the fields that differ from those of a task that waits in the backlog.
pub(crate) fn row(fields: serde_json::Value) -> TaskRow {
    let text = |name: &str| fields[name].as_str().map(str::to_owned);
    let number = |name: &str| fields[name].as_u64().and_then(|number| u32::try_from(number).ok());
    let column = text("column").unwrap_or_else(|| "backlog".to_owned());
    let column =
        Column::ALL.into_iter().find(|known| known.as_str() == column).expect("a column has that name");
    let priority = serde_json::from_value(fields["priority"].clone()).unwrap_or_default();
    let id = TaskId::new(number("id").unwrap_or(7)).expect("a number is at least 1");
    let mut row =
        TaskRow::new(id, text("title").unwrap_or_else(|| "Bake bread".to_owned()), column, priority);
    row.phase = text("phase").map_or(row.phase, Cow::Owned);
    row.owner = text("owner").map_or(row.owner, Cow::Owned);
    row.since = fields["since"].as_i64().unwrap_or(1_000);
    row.agent_id = text("agentId");
    row.epic_id = number("epicId").map(|number| EpicId::new(number).expect("a number is at least 1"));
    row.hidden = fields["hidden"].as_bool().unwrap_or_default();
    row
}

/// A run in the middle of its work.
pub(crate) fn run() -> RunView {
    let at = "2026-03-05T13:06:00Z".parse().unwrap();
    RunView {
        id: RunId::new(7).unwrap(),
        workflow: "speckit".to_owned(),
        level: 7,
        status: Status::Running,
        phase: "performing",
        node: "coder".to_owned(),
        item: Some("T001".to_owned()),
        step: 3,
        parked: None,
        question: None,
        tasks: [("T001".to_owned(), TaskId::new(38).unwrap()), ("T002".to_owned(), TaskId::new(39).unwrap())]
            .into(),
        collisions: BTreeMap::new(),
        children: Vec::new(),
        files: Vec::new(),
        members: Vec::new(),
        pausing: false,
        error: None,
        recovery: None,
        owner: "engine",
        next: String::new(),
        waits_for: WaitsFor::Agent,
        until: None,
        deadline: None,
        overdue: false,
        state: serde_json::json!({}),
        input: serde_json::json!({}),
        signals: Vec::new(),
        taken: BTreeMap::new(),
        parent: None,
        parent_item: None,
        forked_from: None,
        restarted: Vec::new(),
        created_at: at,
        updated_at: at,
    }
}
