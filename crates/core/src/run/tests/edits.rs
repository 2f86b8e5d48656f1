//! Edits of the files of a run: what becomes an event, what is kept beside the file, and what a step overtakes.

use super::check;
use super::script::played;
use super::workflows::{Example, small};
use crate::run::{Command, Event, Inputs, Known, decide, decide_again};
use crate::{AnyEvent, Fact};
use expect_test::expect;
use serde_json::{Value, json};
use std::sync::Arc;

const TOML: &str = r#"
name = "edited"
start = "work"

[nodes.work]
kind = "agent"
role = "worker"
set = { plan = "output.plan", "log[+]" = "output.did", seen = "plan.title" }

[nodes.ask]
kind = "approval"
question = "'Well?'"

[nodes.done]
kind = "end"

[[edges]]
id = "again"
from = "work"
to = "work"
when = "plan.again"
maxIterations = 5

[[edges.exhausted]]
to = "done"

[[edges]]
id = "worked"
from = "work"
to = "ask"
set = { "plan.tasks" = "[plan.tasks.$merge([$, {'done': true}])]" }

[[edges]]
id = "answered"
from = "ask"
to = "done"

[files.plan]
path = "plan.json"
place = "plan"

[files.text]
path = "text.md"
place = "doc"
body = "body"

[files.log]
path = "log.jsonl"
append = "log"

[files.told]
path = "told.md"
append = "log"
template = "files/line.md"

[files.summary]
path = "summary.json"
value = "{'title': plan.title}"
"#;

fn example() -> Example {
    let task = json!({
        "type": "object",
        "required": ["id"],
        "properties": { "id": { "type": "string" }, "title": { "type": "string" }, "done": { "type": "boolean" } },
    });
    let state = json!({
        "type": "object",
        "properties": {
            "plan": {
                "type": "object",
                "properties": {
                    "title": { "type": "string" },
                    "again": { "type": "boolean" },
                    "tasks": { "type": "array", "items": task },
                },
                "default": { "title": "a", "tasks": [{ "id": "T1" }, { "id": "T2" }] },
            },
            "doc": { "type": "object", "default": { "body": "one\ntwo\nthree\n", "n": 1 } },
            "log": { "type": "array", "items": { "type": "object" }, "default": [{ "n": 1 }] },
            "seen": { "type": ["string", "null"], "default": null },
        },
    });
    small(TOML, &state, &[("files/line.md", "{{ n }}\n")])
}

#[test]
fn an_edit_is_taken_in_at_once_and_interrupts_nothing() {
    check(
        &example(),
        "begin",
        r#"edit plan -> {"title": "b", "tasks": [{"id": "T1"}, {"id": "T2"}, {"id": "T3"}]}
           again
           edit plan {"title": "b"} -> {"title": "b"}
           edit text -> {"body": "ONE\ntwo\nthree\n", "n": 1}
           edit log [{"n": 1}] -> [{"n": 1}, {"n": 2}]
           give {"did": {"n": 3}}
           state seen plan.title doc.body log"#,
        expect![[r#"
            > edit plan -> {"title": "b", "tasks": [{"id": "T1"}, {"id": "T2"}, {"id": "T3"}]}
              run:edited 1 plan.json [[["plan","title"],"b"],[["plan","tasks",2],{"id":"T3"}]]
              = running, step 1 work: performing
            > again
              = nothing; running, step 1 work: performing
            > edit plan {"title": "b"} -> {"title": "b"}
              = nothing; running, step 1 work: performing
            > edit text -> {"body": "ONE\ntwo\nthree\n", "n": 1}
              run:edited 1 text.json [[["doc","body"],"ONE\ntwo\nthree\n"]]
              = running, step 1 work: performing
            > edit log [{"n": 1}] -> [{"n": 1}, {"n": 2}]
              run:edited 1 log.json [[["log",1],{"n":2}]]
              = running, step 1 work: performing
            > give {"did": {"n": 3}}
              run:stepped 1 work -[worked]-> ask ask "Well?"
              = paused, step 2 ask: asking "Well?", not asked
            > state seen plan.title doc.body log
              seen = "b"
              plan.title = "b"
              doc.body = "ONE\ntwo\nthree\n"
              log = [{"n":1},{"n":2},{"n":3}]
        "#]],
    );
}

#[test]
fn both_sides_are_merged_and_what_both_changed_stays_the_runs() {
    check(
        &example(),
        r#"begin; edit plan -> {"title": "now", "tasks": [{"id": "T1", "done": true}, {"id": "T2"}]}"#,
        r#"edit plan {"title": "a", "tasks": [{"id": "T1"}, {"id": "T2"}]} -> {"title": "a", "tasks": [{"id": "T1"}, {"id": "T2", "title": "x"}]}
           edit plan {"title": "a", "tasks": [{"id": "T1"}]} -> {"title": "z", "again": true, "tasks": [{"id": "T1"}]}
           again
           edit text {"body": "one\ntwo\nthree\nfour\n", "n": 1} -> {"body": "one\ntwo\nTHREE\nfour\n", "n": 1}
           state plan doc"#,
        expect![[r#"
            > edit plan {"title": "a", "tasks": [{"id": "T1"}, {"id": "T2"}]} -> {"title": "a", "tasks": [{"id": "T1"}, {"id": "T2", "title": "x"}]}
              run:edited 1 plan.json [[["plan","tasks",1,"title"],"x"]]
              = running, step 1 work: performing
            > edit plan {"title": "a", "tasks": [{"id": "T1"}]} -> {"title": "z", "again": true, "tasks": [{"id": "T1"}]}
              run:edited 1 plan.json [[["plan","again"],true]]
              run:edit_kept 1 plan.json as plan.json.edit-3: EDIT_CONFLICT: an edit of plan.json was not taken into run 1, or not all of it: the run has changed `plan.title` since the file was written
              = running, step 1 work: performing
            > again
              = nothing; running, step 1 work: performing
            > edit text {"body": "one\ntwo\nthree\nfour\n", "n": 1} -> {"body": "one\ntwo\nTHREE\nfour\n", "n": 1}
              run:edit_kept 1 text.json as text.json.edit-5: EDIT_CONFLICT: an edit of text.json was not taken into run 1, or not all of it: the run has changed `doc.body` since the file was written
              = running, step 1 work: performing
            > state plan doc
              plan = {"title":"now","tasks":[{"id":"T1","done":true},{"id":"T2","title":"x"}],"again":true}
              doc = {"body":"one\ntwo\nthree\n","n":1}
        "#]],
    );
}

#[test]
fn what_does_not_fit_is_kept_and_changes_nothing() {
    check(
        &example(),
        "begin",
        r#"edit plan -> {"title": 7}
           edit plan -> [1]
           edit log -> [{"n": 7}]
           edit log -> []
           edit log -> [{"n": 1}, 5]
           edit told -> [{"n": 1}, {"n": 2}]
           edit summary -> {"title": "x"}
           edit gone -> {}
           unusable plan STATE_CORRUPT
           again
           state plan.title log"#,
        expect![[r#"
            > edit plan -> {"title": 7}
              run:edit_kept 1 plan.json as plan.json.edit-1: EDIT_REFUSED: an edit of plan.json was not taken into run 1: plan.title: 7 is not of type "string"
              = running, step 1 work: performing
            > edit plan -> [1]
              run:edit_kept 1 plan.json as plan.json.edit-2: EDIT_REFUSED: an edit of plan.json was not taken into run 1: plan: the value is not of type "object"
              = running, step 1 work: performing
            > edit log -> [{"n": 7}]
              run:edit_kept 1 log.json as log.json.edit-3: EDIT_REFUSED: an edit of log.json was not taken into run 1: a line that the run wrote was changed or removed: only add lines at the end
              = running, step 1 work: performing
            > edit log -> []
              run:edit_kept 1 log.json as log.json.edit-4: EDIT_REFUSED: an edit of log.json was not taken into run 1: a line that the run wrote was changed or removed: only add lines at the end
              = running, step 1 work: performing
            > edit log -> [{"n": 1}, 5]
              run:edit_kept 1 log.json as log.json.edit-5: EDIT_REFUSED: an edit of log.json was not taken into run 1: log[1]: 5 is not of type "object"
              = running, step 1 work: performing
            > edit told -> [{"n": 1}, {"n": 2}]
              run:edit_kept 1 told.json as told.json.edit-6: EDIT_REFUSED: an edit of told.json was not taken into run 1: its lines are made by a template, and cannot be read back
              = running, step 1 work: performing
            > edit summary -> {"title": "x"}
              run:edit_kept 1 summary.json as summary.json.edit-7: EDIT_REFUSED: an edit of summary.json was not taken into run 1: the file is derived from the run and follows nothing that is written into it
              = running, step 1 work: performing
            > edit gone -> {}
              run:edit_kept 1 gone.json as gone.json.edit-8: EDIT_REFUSED: an edit of gone.json was not taken into run 1: the workflow has no file `gone`
              = running, step 1 work: performing
            > unusable plan STATE_CORRUPT
              run:edit_kept 1 plan.json as plan.json.edit-9: STATE_CORRUPT: it did not work: a reason
              = running, step 1 work: performing
            > again
              = nothing; running, step 1 work: performing
            > state plan.title log
              plan.title = "a"
              log = [{"n":1}]
        "#]],
    );
}

#[test]
fn a_run_that_has_ended_takes_no_edit() {
    check(
        &example(),
        "begin; give {}; answer yes Go",
        r#"edit plan -> {"title": "late"}
           edit log -> [{"n": 1}, {"n": 2}]
           edit plan -> {"title": "later"}
           state plan.title"#,
        expect![[r#"
            > edit plan -> {"title": "late"}
              run:edit_kept 3 plan.json as plan.json.edit-4: EDIT_REFUSED: an edit of plan.json was not taken into run 1: run 1 has ended
              = completed
            > edit log -> [{"n": 1}, {"n": 2}]
              run:edit_kept 3 log.json as log.json.edit-5: EDIT_REFUSED: an edit of log.json was not taken into run 1: run 1 has ended
              = completed
            > edit plan -> {"title": "later"}
              run:edit_kept 3 plan.json as plan.json.edit-6: EDIT_REFUSED: an edit of plan.json was not taken into run 1: run 1 has ended
              = completed
            > state plan.title
              plan.title = "a"
        "#]],
    );
}

#[test]
fn a_step_overtakes_what_its_prompt_did_not_know() {
    let plan = r#"{"plan": {"title": "from the role", "tasks": [{"id": "T9"}]}}"#;
    let lines = format!("give {plan}; state plan");
    check(
        &example(),
        r#"begin; edit plan -> {"title": "mine", "tasks": []}"#,
        &lines,
        expect![[r#"
            > give {"plan": {"title": "from the role", "tasks": [{"id": "T9"}]}}
              run:stepped 1 work -[worked]-> ask ask "Well?"
              run:edit_kept 1 plan.json as plan.json.edit-1: EDIT_CONFLICT: an edit of plan.json was not taken into run 1, or not all of it: step 1 replaced `plan.title`, and its prompt was made before the edit
              = paused, step 2 ask: asking "Well?", not asked
            > state plan
              plan = {"title":"from the role","tasks":[{"id":"T9","done":true}]}
        "#]],
    );
    // The prompt knew the edit, or the role said the same.
    let lines = format!("give-knowing {plan}; edits");
    check(
        &example(),
        r#"begin; edit plan -> {"title": "mine", "tasks": []}"#,
        &lines,
        expect![[r#"
        > give-knowing {"plan": {"title": "from the role", "tasks": [{"id": "T9"}]}}
          run:stepped 1 work -[worked]-> ask ask "Well?"
          = paused, step 2 ask: asking "Well?", not asked
        > edits
          edits = {"count":1,"last":{"plan":[1,"{\"title\": \"mine\", \"tasks\": []}"]}}
    "#]],
    );
    let lines = format!("give {plan}");
    check(
        &example(),
        r#"begin; edit plan -> {"title": "from the role", "tasks": [{"id": "T1"}, {"id": "T2"}]}"#,
        &lines,
        expect![[r#"
            > give {"plan": {"title": "from the role", "tasks": [{"id": "T9"}]}}
              run:stepped 1 work -[worked]-> ask ask "Well?"
              = paused, step 2 ask: asking "Well?", not asked
        "#]],
    );
    // A step that derives from the edited place keeps the edit, and the next step begins with a clean sheet.
    check(
        &example(),
        r#"begin; edit plan -> {"title": "a", "tasks": [{"id": "T1", "title": "mine"}, {"id": "T2"}]}"#,
        r#"give {}; state plan.tasks; edits"#,
        expect![[r#"
            > give {}
              run:stepped 1 work -[worked]-> ask ask "Well?"
              = paused, step 2 ask: asking "Well?", not asked
            > state plan.tasks
              plan.tasks = [{"id":"T1","title":"mine","done":true},{"id":"T2","done":true}]
            > edits
              edits = {"count":1,"last":{"plan":[1,"{\"title\": \"a\", \"tasks\": [{\"id\": \"T1\", \"title\": \"mine\"}, {\"id\": \"T2\"}]}"]}}
        "#]],
    );
    // What an edit took out may not come back.
    check(
        &example(),
        r#"begin; edit plan -> {"title": "a", "tasks": [{"id": "T1"}]}"#,
        r#"give {"plan": {"title": "a", "tasks": [{"id": "T1"}, {"id": "T2"}]}}"#,
        expect![[r#"
            > give {"plan": {"title": "a", "tasks": [{"id": "T1"}, {"id": "T2"}]}}
              run:stepped 1 work -[worked]-> ask ask "Well?"
              run:edit_kept 1 plan.json as plan.json.edit-1: EDIT_CONFLICT: an edit of plan.json was not taken into run 1, or not all of it: step 1 replaced `plan.tasks`, and its prompt was made before the edit
              = paused, step 2 ask: asking "Well?", not asked
        "#]],
    );
    // Nothing is overtaken by a signal, an answer that sets nothing, or a list that grows.
    check(
        &example(),
        r#"begin; give {}; edit plan -> {"title": "late"}; edit log -> [{"n": 1}, {"n": 2}]"#,
        r#"answer yes Go; state plan.title log"#,
        expect![[r#"
            > answer yes Go
              run:stepped 2 ask -[answered]-> end done
              run:completed null
              = completed
            > state plan.title log
              plan.title = "late"
              log = [{"n":1},{"n":2}]
        "#]],
    );
}

#[test]
fn a_replay_decides_the_steps_again_and_takes_the_edits_as_they_are() {
    let example = example();
    let play = played(
        &example,
        r#"begin; edit plan -> {"title": "mine"}; give {"plan": {"title": "role"}, "did": {"n": 2}}; answer yes Go"#,
    );
    let mut run = None;
    for fact in &play.facts {
        if let Some(run) = &run
            && let Some(again) = decide_again(Inputs::new(&example.workflow, 0), run, &fact.event)
        {
            assert_eq!(again.first(), Some(&fact.event));
        }
        run = crate::run::Run::evolve(run, fact);
    }
    assert_eq!(run, Some(play.run));
}

/// A file that reads the place is out of date after an edit.
#[test]
fn an_edit_is_known_to_views_and_files() {
    let example = example();
    let play = played(&example, r#"begin; edit plan -> {"title": "mine", "tasks": []}"#);
    let mut known = Known::new(Arc::clone(&example.workflow), play.run.id);
    let summary = example.workflow.files.iter().position(|file| file.name == "summary").unwrap();
    let mut counters = Vec::new();
    for (seq, Fact { at, actor, event }) in (1..).zip(play.facts.iter().cloned()) {
        known.fold(seq, Fact { at, actor, event: AnyEvent::Run(event) });
        counters.push(known.changed_at(play.run.id, &example.workflow.files[summary].reads));
    }
    assert!(counters[0] < counters[1], "{counters:?}");
    let shown = known.evaluate_files(play.run.id, &[summary]);
    assert_eq!(shown[0].value, Ok(Some(json!({ "title": "mine" }))));
}

#[test]
fn an_edit_that_is_nested_too_deep_is_refused() {
    let example = example();
    let play = played(&example, "begin");
    let deep = (0..120).fold(Value::Null, |inner, _| json!([inner]));
    let mark =
        crate::run::EditMark { file: "text".into(), path: "text.md".into(), written: 1, digest: "d".into() };
    let base = play.run.sheet.state()["doc"].clone();
    let content = crate::run::EditContent::Value { base, edited: json!({ "deep": deep }) };
    let command = Command::Edited(crate::run::FoundEdit { mark, content });
    let events = decide(Inputs::new(&example.workflow, 0), &play.run, &command).unwrap();
    let [Event::RunEditKept { error, .. }] = &events[..] else { panic!("{events:?}") };
    assert!(error.message.contains("nested deeper"), "{}", error.message);
}
