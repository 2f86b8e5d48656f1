//! The machine as an XState configuration.

use super::{Column, TRANSITIONS};
use serde_json::{Map, Value, json};

/// Renders the table as the JSON that XState's `createMachine` takes.
pub fn render_xstate() -> Value {
    let states: Map<String, Value> =
        Column::ALL.into_iter().map(|column| (column.as_str().to_owned(), state(column))).collect();
    json!({ "id": "taskWorkflow", "initial": Column::Backlog.as_str(), "states": states })
}

fn state(column: Column) -> Value {
    if column.is_final() {
        return json!({ "type": "final" });
    }
    let mut on = Map::new();
    for row in TRANSITIONS.iter().filter(|row| row.from == column) {
        let guards: Vec<&str> = row.guards.iter().map(|guard| guard.name).collect();
        let actions: Vec<&str> = row.actions.iter().map(|action| action.as_str()).collect();
        let guard = if let [only] = guards[..] {
            json!(only)
        } else {
            json!({ "type": "and", "params": { "guards": guards } })
        };
        on.insert(
            row.command.as_str().to_owned(),
            json!({ "target": row.to.as_str(), "guard": guard, "actions": actions }),
        );
    }
    json!({ "on": on })
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;

    #[test]
    fn the_drawing_is_the_recorded_one() {
        expect_file!["../../tests/drawings/machine.json"].assert_eq(&format!("{:#}\n", render_xstate()));
    }
}
