//! The folders that the tests load.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use regatta_flow::{Folder, Workflow};
use serde_json::Value;

/// A workflow with one agent, to be changed by a case.
pub(crate) const SMALL: &str = r#"name = "small"
start = "work"

[nodes.work]
kind = "agent"
role = "worker"
input = { goal = "input.goal" }

[nodes.done]
kind = "end"

[[edges]]
id = "finish"
from = "work"
to = "done"
"#;

/// The state of the small workflow.
pub(crate) const SMALL_STATE: &str = r#"{
  "type": "object",
  "properties": {
    "count": { "type": "integer", "default": 0 },
    "items": { "type": "array", "items": { "type": "string" }, "default": [] }
  }
}
"#;

/// Returns the folder of the small workflow.
pub(crate) fn small() -> BTreeMap<String, String> {
    let files = [
        ("workflow.toml", SMALL),
        ("state.schema.json", SMALL_STATE),
        ("roles/worker.md", "Do {{ goal }}.\n"),
        ("roles/worker.output.json", "{ \"type\": \"object\" }\n"),
    ];
    files.into_iter().map(|(name, text)| (name.to_owned(), text.to_owned())).collect()
}

/// Loads a workflow of our own making.
pub(crate) fn load(toml: &str, state: &Value) -> Workflow {
    let mut files = small();
    files.insert("workflow.toml".to_owned(), toml.to_owned());
    files.insert("state.schema.json".to_owned(), state.to_string());
    Workflow::load(&Folder::new(files)).expect("the workflow of the test loads")
}

/// Returns the folder of a workflow that is shipped.
pub(crate) fn shipped(name: &str) -> Folder {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows").join(name);
    let mut files = BTreeMap::new();
    let mut pending = vec![root.clone()];
    while let Some(folder) = pending.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                pending.push(path);
            } else {
                let name = path.strip_prefix(&root).unwrap().to_str().unwrap().replace('\\', "/");
                files.insert(name, fs::read_to_string(path).unwrap());
            }
        }
    }
    Folder::new(files)
}

/// Loads `speckit`.
pub(crate) fn speckit() -> Workflow {
    Workflow::load(&shipped("speckit")).expect("speckit loads")
}
