//! Calls of tools that write, until they return: only then is the file changed.

use serde_json::Value;

use crate::agent_output::AgentOutput;
use crate::change::Change;

/// Calls that are remembered until they return; an agent has few open at a time.
const OPEN_MAX: usize = 64;

/// The calls of writing tools that have not come back.
#[derive(Debug, Default)]
pub(super) struct OpenEdits(Vec<OpenEdit>);

#[derive(Debug)]
struct OpenEdit {
    id: String,
    path: String,
    change: Option<Change>,
}

impl OpenEdits {
    /// Remembers a call, with the file that it changes and its whole input.
    pub(super) fn open(&mut self, id: &str, path: &str, input: &Value) {
        if self.0.len() < OPEN_MAX {
            let change = Change::of_input(input);
            self.0.push(OpenEdit { id: id.to_owned(), path: path.to_owned(), change });
        }
    }

    /// A call returned: unless it failed, its file is changed.
    pub(super) fn close(&mut self, id: &str, is_error: bool, output: &mut AgentOutput) {
        let Some(place) = self.0.iter().position(|open| open.id == id) else { return };
        let OpenEdit { path, change, .. } = self.0.swap_remove(place);
        if !is_error {
            output.edit(&path, change);
        }
    }
}
