//! A task to try the pages on.

use crate::words::Clock;
use jiff::tz::TimeZone;
use regatta_engine::TaskView;
use regatta_engine::core::machine::Column;
use regatta_engine::core::{AgentState, Code, Failure, Priority, TaskId, WaitsFor};

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
        progress_entries: 0,
        inputs: Vec::new(),
        parked: None,
        spent: None,
        activity: None,
        question: None,
        error: None,
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

/// A row of the list, as it is stored.
pub(crate) fn row(fields: serde_json::Value) -> regatta_engine::TaskRow {
    let mut row = serde_json::json!({
        "id": 7, "title": "Bake bread", "column": "backlog", "phase": "waiting", "priority": "medium",
        "owner": "you", "since": 1_000,
    });
    for (name, value) in fields.as_object().into_iter().flatten() {
        row[name] = value.clone();
    }
    serde_json::from_value(row).expect("a row can be read")
}
