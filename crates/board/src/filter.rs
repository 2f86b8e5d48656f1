//! What is typed into the filter of the board: `agent:claude is:waiting epic:2 words`.

use regatta_engine::TaskRow;
use regatta_engine::core::machine::Column;
use regatta_engine::core::{Priority, TaskId};

/// A filter, read from text. Everything that is named must hold.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Filter {
    agents: Vec<String>,
    epics: Vec<String>,
    priorities: Vec<String>,
    states: Vec<String>,
    words: Vec<String>,
}

impl Filter {
    /// Reads a filter. A term that is not known counts as a word, so nothing that is typed is an error.
    pub fn parse(text: &str) -> Self {
        let mut filter = Filter::default();
        for term in text.split_whitespace() {
            let term = term.to_lowercase();
            match term.split_once(':') {
                Some(("agent", value)) if !value.is_empty() => filter.agents.push(value.to_owned()),
                Some(("epic", value)) if !value.is_empty() => {
                    filter.epics.push(value.trim_start_matches('#').to_owned());
                }
                Some(("priority", value)) if !value.is_empty() => filter.priorities.push(value.to_owned()),
                Some(("is", value)) if !value.is_empty() => filter.states.push(value.to_owned()),
                _ => filter.words.push(term),
            }
        }
        filter
    }

    /// Tells whether everything is shown.
    pub fn is_empty(&self) -> bool {
        *self == Filter::default()
    }

    /// Tells whether a task is shown; `is_open` tells whether one that it depends on is not merged yet.
    pub fn admits(&self, row: &TaskRow, is_open: impl Fn(TaskId) -> bool) -> bool {
        let wants_hidden = self.states.iter().any(|state| state == "hidden");
        if row.hidden != wants_hidden {
            return false;
        }
        let agent = row.agent_id.as_deref().or(row.waits_for.as_deref()).unwrap_or_default().to_lowercase();
        let epic = row.epic_id.map(|epic| epic.to_string()).unwrap_or_default();
        let priority = match row.priority {
            Priority::High => "high",
            Priority::Medium => "medium",
            Priority::Low => "low",
        };
        let is = |state: &String| match state.as_str() {
            "hidden" => true,
            "waiting" | "mine" => needs_you(row),
            "queued" => row.queue_position.is_some(),
            "running" => matches!(&*row.phase, "running" | "asking" | "driven"),
            "asking" => row.phase == "asking",
            "parked" | "limited" => row.parked.is_some(),
            "failed" | "stopped" => row.error.is_some() || row.phase == "halted",
            "overdue" => row.overdue,
            "blocked" => row.column == Column::Backlog && row.dependencies.iter().any(|on| is_open(*on)),
            "free" | "unassigned" => row.column == Column::Backlog && row.queue_position.is_none(),
            _ => false,
        };
        self.agents.iter().all(|wanted| agent.starts_with(wanted.as_str()))
            && self.epics.iter().all(|wanted| epic == *wanted)
            && self.priorities.iter().all(|wanted| priority.starts_with(wanted.as_str()))
            && self.states.iter().all(is)
            && self.has_words(row)
    }

    fn has_words(&self, row: &TaskRow) -> bool {
        if self.words.is_empty() {
            return true;
        }
        let title = row.title.to_lowercase();
        let number = format!("#{}", row.id);
        self.words
            .iter()
            .all(|word| title.contains(word.as_str()) || number == *word || number[1..] == **word)
    }
}

/// Tells by its row whether a task waits for a person.
pub fn needs_you(row: &TaskRow) -> bool {
    match row.column {
        Column::Backlog => row.error.is_some(),
        _ => row.owner == "you" && row.phase != "unattended",
    }
}

/// Returns where a task stands in its column, as a text that sorts.
///
/// What needs a person is first, then the oldest. The backlog follows the queue, then priority; what is merged is newest first.
pub fn rank(row: &TaskRow) -> String {
    const LATEST: i64 = 999_999_999_999;
    let since = row.since.clamp(0, LATEST);
    let number = row.id.number();
    let priority = match row.priority {
        Priority::High => 0,
        Priority::Medium => 1,
        Priority::Low => 2,
    };
    let (group, order) = match (row.column, row.queue_position) {
        (Column::Backlog, _) if needs_you(row) => (0, since),
        (Column::Backlog, Some(place)) => (1, i64::from(place)),
        (Column::Backlog, None) => (2 + priority, i64::from(number)),
        (Column::Verified, _) => (0, LATEST - since),
        _ if needs_you(row) => (0, since),
        _ => (1, since),
    };
    format!("{group}.{order:012}.{number:08}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::row;
    use serde_json::json;

    #[test]
    fn every_term_must_hold() {
        let task = row(
            json!({ "agentId": "claude", "epicId": 2, "priority": "high", "column": "in_progress", "phase": "halted" }),
        );
        let admits = |text: &str| Filter::parse(text).admits(&task, |_| true);
        for text in [
            "",
            "bread",
            "BAKE bread",
            "agent:cla",
            "epic:2",
            "priority:high is:waiting",
            "#7",
            "7",
            "is:failed",
        ] {
            assert!(admits(text), "{text}");
        }
        for text in
            ["water", "agent:codex", "epic:3", "is:queued", "#77", "is:hidden", "is:nonsense", "agent: bread"]
        {
            assert!(!admits(text), "{text}");
        }
    }

    #[test]
    fn hidden_tasks_are_shown_only_when_asked_for() {
        let task = row(json!({ "hidden": true }));
        assert!(!Filter::parse("").admits(&task, |_| true));
        assert!(Filter::parse("is:hidden bread").admits(&task, |_| true));
    }

    #[test]
    fn the_order_of_a_column() {
        let id = |id: u32, more: serde_json::Value| {
            let mut row = row(more);
            row.id = regatta_engine::core::TaskId::new(id).unwrap();
            row
        };
        let in_order = |rows: Vec<TaskRow>| {
            let ranks: Vec<String> = rows.iter().map(rank).collect();
            assert!(ranks.is_sorted(), "{ranks:?}");
        };
        let mut queued = id(3, json!({}));
        queued.queue_position = Some(1);
        in_order(vec![queued, id(9, json!({ "priority": "high" })), id(1, json!({})), id(2, json!({}))]);
        let working = |since: i64, owner: &str| json!({ "column": "in_progress", "phase": "running", "owner": owner, "since": since });
        in_order(vec![
            id(5, working(900, "you")),
            id(1, working(100, "agent x")),
            id(2, working(200, "agent x")),
        ]);
        let merged =
            |since: i64| json!({ "column": "verified", "phase": "done", "owner": "nobody", "since": since });
        in_order(vec![id(2, merged(900)), id(1, merged(100))]);
    }
}
