//! Messages that steps send: to whom, from whom, and with which event.

use super::check;
use super::workflows::{Example, plain_state, small};
use crate::message::{Event, Party};
use crate::run::{Inputs, Mail, decide, find_reader, post};
use crate::{MessageId, RunId};
use expect_test::expect;

/// A worker whose work is judged; `edges` lead on from `work`.
fn example(edges: &str) -> Example {
    let toml = format!(
        r#"name = "talking"
start = "work"

[board]
items = "[{{'key': 'a'}}]"
key = "key"

[nodes.work]
kind = "agent"
role = "worker"
task = "'a'"
set = {{ note = "output.note", count = "count + 1" }}

[nodes.judge]
kind = "agent"
role = "judge"

[nodes.ask]
kind = "approval"
question = "'Well?'"

[nodes.pass]
kind = "pass"

[nodes.done]
kind = "end"

{edges}"#
    );
    small(&toml, &plain_state(), &[("roles/judge.md", "Judge.\n"), ("roles/judge.output.json", "{}")])
}

const STEPS: &str = r#"
[[edges]]
id = "again"
from = "work"
to = "work"
when = "output.again"
maxIterations = 1
set = { note = "'later'" }
send = { to = "worker", kind = "AGAIN", from = "judge", subject = "'Visit ' & count", body = "note" }

[[edges.exhausted]]
to = "pass"
send = [
    { to = "judge", kind = "TIRED", data = "{'count': count, 'input': output.again}" },
    { to = "judge", kind = "NEVER", when = "count < 0" },
]

[[edges]]
id = "asks"
from = "work"
to = "ask"

[[edges]]
id = "passes"
from = "pass"
to = "judge"
send = { to = "worker", kind = "PASSED", data = "$boolean(output) ? {'output': output} : {}" }

[[edges]]
id = "answered"
from = "ask"
to = "judge"
send = { to = "judge", kind = "ANSWER", body = "feedback.text" }

[[edges]]
id = "judged"
from = "judge"
to = "done"
"#;

#[test]
fn each_step_of_an_append_sends_its_own() {
    check(
        &example(STEPS),
        "begin",
        r#"give {"note": "first", "again": true}; give {"note": "second", "again": true}; give {}"#,
        expect![[r#"
            > give {"note": "first", "again": true}
              run:stepped 1 work -[again]-> perform work a
              message:sent 1 role:judge -> role:worker: AGAIN (Visit 1) "first" {}
              ! perform_node step 2
              = running, step 2 work a: performing
            > give {"note": "second", "again": true}
              run:stepped 2 work -[again, used up, route 0]-> pass pass
              run:stepped 3 pass -[passes]-> perform judge
              message:sent 2 role:worker -> role:judge: TIRED "" {"count":2,"input":true}
              message:sent 3 engine -> role:worker: PASSED "" {}
              ! perform_node step 4
              = running, step 4 judge: performing
            > give {}
              run:stepped 4 judge -[judged]-> end done
              run:completed null
              = completed
        "#]],
    );
}

#[test]
fn a_person_who_answers_is_the_sender() {
    check(
        &example(STEPS),
        "begin; give {\"note\": \"x\"}",
        "answer yes Good",
        expect![[r#"
        > answer yes Good
          run:stepped 2 ask -[answered]-> perform judge
          message:sent 1 person:me -> role:judge: ANSWER "Good" {}
          ! perform_node step 3
          = running, step 3 judge: performing
    "#]],
    );
}

#[test]
fn an_edge_that_submits_sends_when_the_task_is_merged() {
    let edges = r#"
[[edges]]
id = "submit"
from = "work"
to = "judge"
submit = "'a'"
set = { note = "'merged'" }
send = { to = "judge", kind = "MERGED", body = "note & ', ' & output.note" }

[edges.rejected]
to = "work"
send = { to = "worker", kind = "BACK", body = "feedback.text" }

[[edges]]
id = "judged"
from = "judge"
to = "done"
"#;
    check(
        &example(edges),
        "begin board; publish a=7",
        r#"give {"note": "one"}; back Too slow; give {"note": "two"}; land"#,
        expect![[r#"
            > give {"note": "one"}
              run:stepped 1 work -[submit]-> land a (#7)
              ! land_task step 1 #7
              = paused, step 1 work a: landing a (#7) along submit
            > back Too slow
              run:sent_back 1 #7 "Too slow" -> perform work a
              message:sent 1 engine -> role:worker: BACK "Too slow" {}, #7
              ! perform_node step 2 for #7
              = running, step 2 work a: performing
            > give {"note": "two"}
              run:stepped 2 work -[submit]-> land a (#7)
              ! land_task step 2 #7
              = paused, step 2 work a: landing a (#7) along submit
            > land
              run:landed 2 #7 -> perform judge
              message:sent 2 role:worker -> role:judge: MERGED "two, two" {}, #7
              ! perform_node step 3
              = running, step 3 judge: performing
        "#]],
    );
    // Without a board there is nobody to wait for.
    check(
        &example(edges),
        "begin",
        r#"give {"note": "one"}"#,
        expect![[r#"
        > give {"note": "one"}
          run:stepped 1 work -[submit]-> perform judge
          message:sent 1 role:worker -> role:judge: MERGED "one, one" {}
          ! perform_node step 2
          = running, step 2 judge: performing
    "#]],
    );
}

#[test]
fn a_step_that_fails_sends_nothing() {
    let edges = r#"
[[edges]]
id = "wrong"
from = "work"
to = "done"
set = { count = "7" }
send = { to = "worker", kind = "X" }
"#;
    check(
        &example(edges),
        "begin",
        r#"give {"note": "one"}"#,
        expect![[r#"
        > give {"note": "one"}
          run:failed STATE_INVALID: run 1 stopped after node `work`: the new state does not satisfy its schema: count: 7 is greater than the maximum of 3
          = failed STATE_INVALID
    "#]],
    );
}

#[test]
fn the_nearest_run_that_has_the_role_gets_it() {
    let (mine, above) = (example(STEPS), example(&STEPS.replace("worker", "boss")));
    let (one, two, three) = (RunId::FIRST, RunId::FIRST.next(), RunId::FIRST.next().next());
    let family = [(three, &*mine.workflow), (two, &*above.workflow), (one, &*above.workflow)];
    assert_eq!(find_reader(&family, "worker"), Some(three));
    assert_eq!(find_reader(&family[1..], "worker"), Some(two), "its own node has the role");
    assert_eq!(find_reader(&family, "nobody"), None);
}

#[test]
fn an_event_keeps_the_numbers_of_its_messages_alone() {
    let example = example(STEPS);
    let mut play = super::script::played(&example, "begin");
    let command = crate::run::Command::Performed {
        step: 1,
        asks: 0,
        output: serde_json::json!({ "note": "x", "again": true }),
        head: None,
        edits: 0,
    };
    let mut events = decide(Inputs::new(&example.workflow, 0), &play.run, &command).unwrap();
    assert_eq!(events[0].mail().map(Mail::count), Some(1));
    let family = [(play.run.id, &*example.workflow)];
    let next = MessageId::new(41).unwrap();
    let posted = post(&play.run, &family, &Party::Engine, next, &mut events);
    assert!(matches!(&posted[..], [Event::MessageSent { message_id, .. }] if *message_id == next));
    assert_eq!(serde_json::to_value(&events[0]).unwrap()["messages"], serde_json::json!([41]));
    assert_eq!(events[0].mail().map(Mail::numbers), Some(&[next][..]));
    assert!(post(&play.run, &family, &Party::Engine, next, &mut events).is_empty(), "they are sent once");
    play.is_thorough = false;
}
