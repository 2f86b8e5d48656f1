//! What becomes of files that are imported: the input, the state, and what is left out.

use std::collections::BTreeMap;

use regatta_flow::{Folder, RunField, Workflow};
use serde_json::{Map, Value, json};

use crate::folders::small;

const WORKFLOW: &str = r#"name = "kept"
start = "work"
[view]
slug = "input.slug"
other = "input.slug & 'x'"
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
[files.state]
path = "{slug}.json"
value = "{'count': count}"
[files.state.import]
count = "$file.count"
note = "$file.note"
"input.goal" = "$file.goal"
"run.status" = "$file.status"
"run.createdAt" = "$file.at"
"messages[+]" = "$file.said.{'body': $}"
[files.note]
path = "{slug}/{other}/note.json"
place = "note"
[files.items]
path = "{slug}/items.log"
append = "items"
"#;

fn workflow() -> Workflow {
    let state = json!({ "type": "object", "properties": {
        "count": { "type": "integer", "default": 0 },
        "note": { "anyOf": [{ "type": "null" }, {
            "type": "object", "required": ["text"], "properties": { "text": { "type": "string" } },
        }], "default": null },
        "items": { "type": "array", "items": { "type": "string" }, "maxItems": 3, "default": [] },
    } });
    let input = json!({ "type": "object", "required": ["goal", "slug"],
        "properties": { "goal": { "type": "string" }, "slug": { "type": "string" } } });
    let mut files = small();
    files.insert("workflow.toml".to_owned(), WORKFLOW.to_owned());
    files.insert("state.schema.json".to_owned(), state.to_string());
    files.insert("input.schema.json".to_owned(), input.to_string());
    Workflow::load(&Folder::new(files)).expect("the workflow of the test loads")
}

fn views(names: &[(&str, &str)]) -> BTreeMap<String, String> {
    names.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect()
}

#[test]
fn each_file_gives_what_it_has_and_its_own_place_wins() {
    let master = json!({
        "count": 3, "note": { "text": "of the copy" }, "goal": "Win", "status": "completed",
        "at": "2026-01-22T10:00:00+08:00", "said": ["Hello", "Bye"],
    });
    let files = vec![(2, json!(["a", "b"])), (1, json!({ "text": "of the file" })), (0, master)];
    let given = json!({ "goal": "Win more" });
    let Value::Object(given) = given else { unreachable!() };
    let found = workflow().import(&views(&[("slug", "s"), ("other", "sx")]), files, given);
    assert_eq!(found.state, json!({ "count": 3, "note": { "text": "of the file" }, "items": ["a", "b"] }));
    assert_eq!(Value::from(found.input), json!({ "goal": "Win more", "slug": "s" }), "`other` is no input");
    assert_eq!(found.run[&RunField::Status], "completed");
    assert_eq!(found.run[&RunField::CreatedAt], "2026-01-22T10:00:00+08:00");
    let said: Vec<&Value> = found.messages.iter().map(|message| &message["body"]).collect();
    assert_eq!(said, ["Hello", "Bye"]);
    assert_eq!(found.found.iter().collect::<Vec<_>>(), ["count", "items", "note"]);
    assert_eq!(found.faults, []);
}

#[test]
fn what_does_not_fit_is_left_out_and_named() {
    let told = |files: Vec<(usize, Value)>| {
        let found = workflow().import(&BTreeMap::new(), files, Map::new());
        let faults: Vec<String> = found
            .faults
            .iter()
            .map(|fault| format!("{} {}: {}", fault.file, fault.target, fault.why))
            .collect();
        (found.state, faults)
    };
    let initial = workflow().schema.initial();
    let (state, faults) = told(vec![(0, json!({ "count": "three", "note": 7, "status": 1, "said": 2 }))]);
    assert_eq!(state, initial);
    assert_eq!(
        faults,
        [
            "state count: count: \"three\" is not of type \"integer\"",
            "state note: note: 7 is not of type \"object\"",
            "state run.status: it is no text",
        ]
    );
    let (state, faults) = told(vec![(2, json!(["a", 1, "b", "c", "d"]))]);
    assert_eq!(state["items"], json!(["a", "b", "c"]));
    assert_eq!(
        faults,
        [
            "items items, item 2: items[1]: 1 is not of type \"string\"",
            "items items, item 5: items: has 4 parts, more than the 3 allowed",
        ]
    );
    let (state, faults) = told(vec![(2, json!({})), (1, json!({ "text": 1 })), (9, json!(1))]);
    assert_eq!(state, initial);
    assert_eq!(faults, ["note note: note.text: 1 is not of type \"string\"", "items items: it is no list"]);
    let many: Vec<Value> = (0..100).map(Value::from).collect();
    let (_, faults) = told(vec![(2, many.into())]);
    assert_eq!((faults.len(), faults[20].as_str()), (21, "items : and 80 more"));
}
