//! Signals: what they set and send while a run is under way, and how a run continues that has ended.

use super::check;
use super::workflows::{Example, plain_state, small};
use crate::run::{Event, Inputs, decide_again, takes_signal};
use expect_test::expect;
use serde_json::json;

const TOML: &str = r#"
name = "signalled"
start = "work"

[board]
items = "[{'key': 'a'}]"
key = "key"

[nodes.work]
kind = "agent"
role = "worker"
task = "'a'"
set = { count = "count + 1" }

[nodes.ask]
kind = "approval"
question = "'Well?'"

[nodes.begin]
kind = "pass"
set = { note = "note & '!'" }

[nodes.done]
kind = "end"

[nodes.lost]
kind = "end"
status = "failed"
reason = "'lost'"

[[edges]]
id = "again"
from = "work"
to = "work"
when = "$count(list) > count"
maxIterations = 2

[[edges.exhausted]]
to = "lost"

[[edges]]
id = "asks"
from = "work"
to = "ask"
when = "note = 'ask'"

[[edges]]
id = "worked"
from = "work"
to = "done"

[[edges]]
id = "answered"
from = "ask"
to = "done"

[[edges]]
id = "begun"
from = "begin"
to = "work"
send = { to = "worker", kind = "BEGUN", body = "note" }

[signals.extend]
title = "More to do"
input = "extend.json"
when = "$count(list) < $signal.most"
to = "begin"
roles = ["worker"]
set = { "list[+]" = "$signal.text", note = "$signal.text" }
send = { to = "worker", kind = "MORE", body = "$signal.text" }

[signals.note]
input = "note.json"
when = "count < 3"
set = { note = "$signal.text" }

[signals.wrong]
input = "note.json"
set = { count = "7" }

[signals.broken]
input = "note.json"
set = { count = "$number('x')" }
"#;

fn example() -> Example {
    let extend = json!({
        "type": "object",
        "required": ["text"],
        "properties": { "text": { "type": "string" }, "most": { "type": "integer", "default": 3 } },
    });
    let note = json!({ "type": "object", "properties": { "text": { "type": "string" } } });
    small(TOML, &plain_state(), &[("extend.json", &extend.to_string()), ("note.json", &note.to_string())])
}

#[test]
fn a_run_that_is_under_way_takes_it_in_and_is_not_interrupted() {
    check(
        &example(),
        "begin",
        r#"signal extend {"text": "more"}; give {}; signal extend {"text": "and more"}; state list note count; give {}; give {}"#,
        expect![[r#"
            > signal extend {"text": "more"}
              run:signalled 1 extend {"text":"more","most":3} from person:me
              message:sent 1 person:me -> role:worker: MORE "more" {}
              = running, step 1 work a: performing
            > give {}
              run:stepped 1 work -[worked]-> end done
              run:completed null
              = completed
            > signal extend {"text": "and more"}
              run:signalled 2 extend {"text":"and more","most":3} from person:me -> pass begin
              run:stepped 3 begin -[begun]-> perform work a
              message:sent 2 person:me -> role:worker: MORE "and more" {}
              message:sent 3 engine -> role:worker: BEGUN "and more!" {}
              ! perform_node step 4
              = running, step 4 work a: performing
            > state list note count
              list = ["more","and more"]
              note = "and more!"
              count = 1
            > give {}
              run:stepped 4 work -[worked]-> end done
              run:completed null
              = completed
            > give {}
              = nothing; completed
        "#]],
    );
    // Also one that is paused, or that asks.
    check(
        &example(),
        "begin; pause",
        r#"signal note {"text": "ask"}; resume; give {}; signal note {"text": "later"}; answer yes Go; state note"#,
        expect![[r#"
            > signal note {"text": "ask"}
              run:signalled 1 note {"text":"ask"} from person:me
              = running, step 1 work a: performing, paused
            > resume
              run:resumed
              = running, step 1 work a: performing
            > give {}
              run:stepped 1 work -[asks]-> ask ask "Well?"
              = paused, step 2 ask a: asking "Well?", not asked
            > signal note {"text": "later"}
              run:signalled 2 note {"text":"later"} from person:me
              = paused, step 2 ask a: asking "Well?", not asked
            > answer yes Go
              run:stepped 2 ask -[answered]-> end done
              run:completed null
              = completed
            > state note
              note = "later"
        "#]],
    );
}

#[test]
fn what_does_not_fit_is_refused_and_changes_nothing() {
    check(
        &example(),
        "begin",
        r#"signal extend {"most": "x"}; signal extend {"text": "a", "most": 0}; signal wrong {}; signal broken {}; signal exted {}; signal pause {}; signal-as role:judge extend {"text": "a"}; signal-as role:worker extend {"text": "a"}; state note"#,
        expect![[r#"
            > signal extend {"most": "x"}
              refused VALIDATION_ERROR: the command is invalid: `input` "text" is a required property; `input` most: "x" is not of type "integer"
            > signal extend {"text": "a", "most": 0}
              refused SIGNAL_REFUSED: signal `extend` was refused by run 1: `$count(list) < $signal.most` does not hold: it saw list = 0 items, $signal.most = 0
            > signal wrong {}
              refused SIGNAL_REFUSED: signal `wrong` was refused by run 1: the new state does not satisfy its schema: count: 7 is greater than the maximum of 3
            > signal broken {}
              refused SIGNAL_REFUSED: signal `broken` was refused by run 1: signal `broken`: `$number('x')` could not be evaluated: Unable to cast value to a number: "x"
            > signal exted {}
              refused SIGNAL_NOT_FOUND: run 1 knows no signal `exted`: its workflow has no `[signals.exted]`
            > signal pause {}
              refused SIGNAL_NOT_FOUND: run 1 knows no signal `pause`: its workflow has no `[signals.pause]`
            > signal-as role:judge extend {"text": "a"}
              refused FORBIDDEN: signal `extend` was not sent to run 1: role:judge is not among the `roles` of the signal
            > signal-as role:worker extend {"text": "a"}
              run:signalled 1 extend {"text":"a","most":3} from role:worker
              message:sent 1 role:worker -> role:worker: MORE "a" {}
              = running, step 1 work a: performing
            > state note
              note = "a"
        "#]],
    );
}

#[test]
fn a_run_that_has_ended_continues() {
    check(
        &example(),
        "begin; give {}",
        r#"signal note {"text": "x"}; signal extend {"text": "more"}; counts; give {}; signal extend {"text": "and more"}; give {}; state list note"#,
        expect![[r#"
            > signal note {"text": "x"}
              refused SIGNAL_REFUSED: signal `note` was refused by run 1: the run has ended, and the signal has no `to` where it would continue
            > signal extend {"text": "more"}
              run:signalled 2 extend {"text":"more","most":3} from person:me -> pass begin
              run:stepped 3 begin -[begun]-> perform work a
              message:sent 1 person:me -> role:worker: MORE "more" {}
              message:sent 2 engine -> role:worker: BEGUN "more!" {}
              ! perform_node step 4
              = running, step 4 work a: performing
            > counts
              taken {"begun":{"":1},"worked":{"":1}}
              visits {"begin":{"":1},"work":{"a":1}}
            > give {}
              run:stepped 4 work -[worked]-> end done
              run:completed null
              = completed
            > signal extend {"text": "and more"}
              run:signalled 5 extend {"text":"and more","most":3} from person:me -> pass begin
              run:stepped 6 begin -[begun]-> perform work a
              message:sent 3 person:me -> role:worker: MORE "and more" {}
              message:sent 4 engine -> role:worker: BEGUN "and more!" {}
              ! perform_node step 7
              = running, step 7 work a: performing
            > give {}
              run:stepped 7 work -[worked]-> end done
              run:completed null
              = completed
            > state list note
              list = ["more","and more"]
              note = "and more!"
        "#]],
    );
    // The caps count on.
    check(
        &example(),
        "begin; signal extend {\"text\": \"a\"}; signal extend {\"text\": \"b\"}; signal extend {\"text\": \"c\"}; give {}; give {}",
        r#"stop; stopped; signal extend {"text": "d", "most": 9}; give {}; counts"#,
        expect![[r#"
            > stop
              run:stopping None
              ! stop_run
              = running, step 3 work a: performing, stopping
            > stopped
              run:failed RUN_STOPPED: run 1 was stopped: a person stopped it
              = failed RUN_STOPPED
            > signal extend {"text": "d", "most": 9}
              run:signalled 3 extend {"text":"d","most":9} from person:me -> pass begin
              run:stepped 4 begin -[begun]-> perform work a
              message:sent 4 person:me -> role:worker: MORE "d" {}
              message:sent 5 engine -> role:worker: BEGUN "d!" {}
              ! perform_node step 5
              = running, step 5 work a: performing
            > give {}
              run:stepped 5 work -[again, used up, route 0]-> end lost
              run:failed MAX_ITERATIONS_EXCEEDED: run 1 gave up: edge `again` reached its iteration limit: lost
              = failed MAX_ITERATIONS_EXCEEDED
            > counts
              taken {"again":{"":2},"begun":{"":1}}
              visits {"begin":{"":1},"work":{"a":3}}
        "#]],
    );
}

#[test]
fn a_run_that_was_stopped_continues_with_the_tasks_that_are_left() {
    let given = "begin board; publish a=7; stop; stopped";
    check(
        &example(),
        given,
        r#"tasks; signal extend {"text": "more"}; tasks; give {}"#,
        expect![[r#"
        > tasks
          tasks = {"a":7}, sent back {}
        > signal extend {"text": "more"}
          run:signalled 1 extend {"text":"more","most":3} from person:me -> pass begin
          run:stepped 2 begin -[begun]-> perform work a
          message:sent 1 person:me -> role:worker: MORE "more" {}
          message:sent 2 engine -> role:worker: BEGUN "more!" {}
          ! perform_node step 3 for #7
          = running, step 3 work a: performing
        > tasks
          tasks = {"a":7}, sent back {}
        > give {}
          run:stepped 3 work -[worked]-> end done
          run:completed null
          ! release_task #7
          = completed
    "#]],
    );
    check(
        &example(),
        given,
        r#"signal-gone a extend {"text": "more"}; tasks; publish a=9; tasks"#,
        expect![[r#"
            > signal-gone a extend {"text": "more"}
              run:signalled 1 extend {"text":"more","most":3} from person:me, restarted a -> pass begin
              run:stepped 2 begin -[begun]-> perform work a
              message:sent 1 person:me -> role:worker: MORE "more" {}
              message:sent 2 engine -> role:worker: BEGUN "more!" {}
              ! publish_items step 3
              = running, step 3 work a: publishing
            > tasks
              tasks = {}, sent back {}
            > publish a=9
              run:published 3 {"a":9}
              ! perform_node step 3 for #9
              = running, step 3 work a: performing
            > tasks
              tasks = {"a":9}, sent back {}
        "#]],
    );
}

#[test]
fn a_child_that_has_ended_is_never_continued() {
    check(
        &example(),
        "begin child; signal extend {\"text\": \"early\"}; give {}; give {}",
        r#"signal extend {"text": "more"}"#,
        expect![[r#"
            > signal extend {"text": "more"}
              refused SIGNAL_REFUSED: signal `extend` was refused by run 1: the run has ended, and run 9 has used its result
        "#]],
    );
}

#[test]
fn it_is_decided_again_as_it_was() {
    let example = example();
    let play = super::script::played(&example, "begin; give {}; signal extend {\"text\": \"more\"}");
    let position =
        play.facts.iter().position(|fact| matches!(fact.event, Event::RunSignalled { .. })).unwrap();
    let before = play.facts[..position].iter().fold(None, crate::run::Run::evolve).unwrap();
    let recorded = &play.facts[position];
    let again = decide_again(Inputs::new(&example.workflow, 0), &before, &recorded.event).unwrap();
    let (Event::RunSignalled { set, next, .. }, Event::RunSignalled { set: now, next: next_now, .. }) =
        (&recorded.event, &again[0])
    else {
        panic!("{again:?}")
    };
    assert_eq!((set, next), (now, next_now));
}

#[test]
fn a_run_shows_what_it_takes_now() {
    let example = example();
    let taken = |given: &str| {
        let play = super::script::played(&example, given);
        let inputs = Inputs::new(&example.workflow, 0);
        let signals = example.workflow.signals.iter();
        let names =
            signals.filter(|signal| takes_signal(inputs, &play.run, signal)).map(|signal| &*signal.name);
        names.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(taken("begin"), "extend note wrong broken");
    assert_eq!(taken("begin; give {}"), "extend", "only by it can the run continue");
    let three = "signal extend {\"text\": \"a\"}; ".repeat(3);
    assert_eq!(taken(&format!("begin; {three}give {{}}; give {{}}; give {{}}")), "extend");
}
