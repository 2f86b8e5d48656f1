//! The documents that the design of `cycle` prints, each reached by a run.
//!
//! The first is a whole document. The others leave out what they are not about, so the fields that they have are compared,
//! as are the lengths of their lists. Times are compared as moments: documents have UTC.

use super::{
    analyse, begin, begun, checks, code, document, exploration, iterate, plan, requirements, validation,
    workflow,
};
use crate::run::tests::stage::{Stage, assert_shows};
use regatta_flow::Content;
use serde_json::{Value, json};

fn example(name: &str) -> Value {
    let text = match name {
        "initial" => include_str!("examples/initial.json"),
        "iteration-1" => include_str!("examples/iteration-1.json"),
        "after-phases" => include_str!("examples/after-phases.json"),
        _ => include_str!("examples/iteration-2.json"),
    };
    serde_json::from_str(text).expect("the example is JSON")
}

/// Lays one document over another, as the examples are parts of one that grows.
fn lay_over(under: &mut Value, over: &Value) {
    match (under, over) {
        (Value::Object(under), Value::Object(over)) => {
            for (name, value) in over {
                lay_over(under.entry(name.clone()).or_insert(Value::Null), value);
            }
        }
        (under, over) => *under = over.clone(),
    }
}

#[test]
fn the_examples_fit_the_schema() {
    let file = workflow().files.iter().find(|file| file.name == "cycle").unwrap();
    let Content::Value { schema: Some(schema), .. } = &file.content else { panic!("it has a schema") };
    let mut document = json!({});
    for name in ["initial", "iteration-1", "after-phases", "iteration-2"] {
        lay_over(&mut document, &example(name));
        let told = schema.check(&document).err().unwrap_or_default();
        let told: Vec<String> = told.iter().map(ToString::to_string).collect();
        // Its own three dots are no time.
        let dots = r#"iterations[0].completed_at: "..." does not match"#;
        assert!(told.iter().all(|told| told.starts_with(dots)), "{name}: {told:?}");
        assert_eq!(told.len(), usize::from(name == "iteration-2"), "{name}: {told:?}");
    }
}

#[test]
fn a_new_cycle() {
    let mut stage = begin(json!({ "max_iterations": 5 }));
    let (document, example) = (document(&mut stage), example("initial"));
    assert_shows(&document, &example, "cycle");
    let names = |value: &Value| value.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
    assert_eq!(names(&document), names(&example), "there is nothing else, and the order is the same");
}

/// The analyst works once more in the iteration, because the developer found a gap, and a person edits the requirements
/// meanwhile: their time is later than the analyst's start.
#[test]
fn the_first_iteration() {
    let mut stage = begun();
    let mut requirements = requirements();
    requirements["decisions"] =
        json!([{ "description": "Which provider first?", "options": ["Google", "GitHub"] }]);
    stage.at("2026-01-22T10:01:00+08:00");
    stage.member("ra", requirements);
    stage.member("explore", exploration());
    stage.at("2026-01-22T10:02:00+08:00");
    stage.give(plan(&["TASK-001", "TASK-002"]));
    stage.open("cd");
    stage.at("2026-01-22T10:04:00+08:00");
    stage.worked(&["a.ts", "b.ts", "c.ts", "+d.ts", "-e.ts"]);
    let mut code = code(&["TASK-001"]);
    code["questions"] = json!(["May a token be kept on disk?"]);
    stage.give(code);
    stage.at("2026-01-22T10:05:00+08:00");
    stage.open("ra");
    stage.at("2026-01-22T10:15:00+08:00");
    stage.edit("requirements", |requirements| {
        requirements["specification"] = json!("...");
        requirements["last_updated"] = json!("2026-01-22T10:15:00+08:00");
    });
    assert_shows(&document(&mut stage), &example("iteration-1"), "cycle");
}

#[test]
fn after_the_phases() {
    let mut stage = begun();
    analyse(&mut stage);
    stage.open("cd");
    stage.at("2026-01-22T10:30:00+08:00");
    let files: Vec<String> = (1..=12).map(|number| format!("src/{number}.ts")).collect();
    stage.worked(&files.iter().map(String::as_str).collect::<Vec<_>>());
    stage.give(code(&["TASK-001"]));
    stage.give(validation(85, &["test: OAuth timeout retry"]));
    assert_shows(&document(&mut stage), &example("after-phases"), "cycle");
    // The project's own checks run now, and then the next iteration begins.
    stage.give(checks(true));
    assert_eq!(document(&mut stage)["current_iteration"], 2);
}

#[test]
fn the_second_iteration() {
    let mut stage = begun();
    iterate(&mut stage, &["src/config/oauth.ts"], &[]);
    stage.land();
    assert_eq!(document(&mut stage)["status"], "completed");
    extend(&mut stage);
    stage.open("ra");
    let mut printed = example("iteration-2");
    printed["iterations"][0].as_object_mut().unwrap().remove("completed_at");
    // The analyst has not returned its version 1.1.0 yet: a person wrote it.
    stage.at("2026-01-22T11:00:00+08:00");
    let edited = printed["requirements"].clone();
    stage.edit("requirements", |requirements| {
        for name in ["version", "specification", "last_updated"] {
            requirements[name] = edited[name].clone();
        }
    });
    let document = document(&mut stage);
    assert_shows(&document, &printed, "cycle");
    assert!(document["iterations"][0]["completed_at"].is_string());
    stage.member("ra", requirements());
    stage.member("explore", exploration());
    let version = &super::document(&mut stage)["requirements"]["version"];
    assert_eq!(*version, edited["version"]);
}

fn extend(stage: &mut Stage) {
    stage.at("2026-01-22T10:45:00+08:00");
    let input = json!({
        "text": "Also add multi-factor authentication",
        "feedback": "Add multi-factor authentication to requirements",
    });
    stage.signal("extend", input).unwrap();
}
