//! A fork at a step that performs nothing on its items: those that had been begun are taken up before it.

use super::play::Play;
use super::script::{carry_out, played};
use super::told::{describe_effect, describe_event, describe_run};
use super::workflows::{Example, plain_state, small};
use crate::RunId;
use crate::run::{Run, Taken, fork};
use crate::testing::{commit, id};
use expect_test::{Expect, expect};
use std::collections::BTreeMap;

/// A person is asked about a task before it is put up; the worker looks at it once more without working on it.
fn asked() -> Example {
    let toml = r#"name = "asked"
start = "work"
board = { items = "[{'id': 'T'}, {'id': 'U'}]", key = "id" }
nodes.work = { kind = "agent", role = "worker", task = "'T'" }
nodes.look = { kind = "agent", role = "worker" }
nodes.ask = { kind = "approval", question = "'Land it?'" }
nodes.done = { kind = "end" }
nodes.failed = { kind = "end", status = "failed" }
edges = [
    { id = "ask", from = "work", to = "ask" },
    { id = "land", from = "ask", to = "done", when = "output.approved and output.text = 'now'", submit = "'T'" },
    { id = "see", from = "ask", to = "look", when = "output.approved and output.text = 'see'" },
    { id = "drop", from = "ask", to = "failed", when = "output.approved = false", fail = "'T'" },
    { id = "seen", from = "look", to = "done", submit = "'T'" },
]
"#;
    small(toml, &plain_state(), &[])
}

fn taken(heads: &[(&str, u32)], restarted: &[&str]) -> Taken {
    let heads = heads.iter().map(|(key, number)| ((*key).to_owned(), commit(*number))).collect();
    Taken {
        merged: BTreeMap::new(),
        heads,
        restarted: restarted.iter().map(|key| (*key).to_owned()).collect(),
    }
}

/// Forks a run in its current state, and compares the results of the lines.
fn check_fork(from: &Run, taken: Taken, when: &str, expected: Expect) -> Run {
    let (play, told) = Play::of(&asked(), vec![fork(RunId::new(2).unwrap(), from, taken)]);
    let mut text = format!("  {}\n", describe_event(&told.events[0]));
    text.extend(told.effects.iter().map(|effect| format!("  ! {}\n", describe_effect(effect))));
    text.push_str(&format!("  = {}\n", describe_run(&play.run)));
    let mut play = Some(play);
    for line in when.split(';').map(str::trim) {
        text.push_str(&format!("> {line}\n{}", carry_out(&asked(), &mut play, line)));
    }
    expected.assert_eq(&text);
    play.unwrap().run
}

const ASKS: &str = "begin board; publish T=1,U=2; give 1";

#[test]
fn the_answer_to_a_forked_question_puts_the_task_of_the_fork_up() {
    let from = played(&asked(), ASKS).run;
    check_fork(
        &from,
        taken(&[("T", 1)], &[]),
        "publish T=3,U=4; publish none; answer yes now; land",
        expect![[r#"
              run:created level 1, step 2: ask ask "Land it?"
              ! publish_items step 2
              = running, step 2 ask T: publishing
            > publish T=3,U=4
              run:published 2 {"T":3,"U":4}
              ! publish_items step 2
              = running, step 2 ask T: publishing
            > publish none
              run:published 2 {}
              = paused, step 2 ask T: asking "Land it?", not asked
            > answer yes now
              run:stepped 2 ask -[land]-> land T (#3)
              ! land_task step 2 #3
              = paused, step 2 ask T: landing T (#3) along land
            > land
              run:landed 2 #3 -> end done
              run:completed null
              = completed
        "#]],
    );
}

#[test]
fn a_task_that_the_answer_gives_up_is_released() {
    let from = played(&asked(), ASKS).run;
    check_fork(
        &from,
        taken(&[("T", 1)], &[]),
        "publish T=3,U=4; publish none; answer no never; feedback",
        expect![[r#"
              run:created level 1, step 2: ask ask "Land it?"
              ! publish_items step 2
              = running, step 2 ask T: publishing
            > publish T=3,U=4
              run:published 2 {"T":3,"U":4}
              ! publish_items step 2
              = running, step 2 ask T: publishing
            > publish none
              run:published 2 {}
              = paused, step 2 ask T: asking "Land it?", not asked
            > answer no never
              run:stepped 2 ask -[drop, fail T]-> end failed
              run:failed RUN_FAILED: run 2 ended at node `failed`: the node's status is `failed`
              ! release_task #3 RUN_FAILED
              = failed RUN_FAILED
            > feedback
              feedback = {"approved":false,"text":"never","task":"T"}
        "#]],
    );
}

#[test]
fn a_step_that_works_on_no_item_finds_those_that_had_been_begun() {
    let from = played(&asked(), &format!("{ASKS}; answer yes see")).run;
    check_fork(
        &from,
        taken(&[("T", 1)], &[]),
        "publish T=3,U=4; publish none; give 1",
        expect![[r#"
          run:created level 1, step 3: perform look
          ! publish_items step 3
          = running, step 3 look: publishing
        > publish T=3,U=4
          run:published 3 {"T":3,"U":4}
          ! publish_items step 3
          = running, step 3 look: publishing
        > publish none
          run:published 3 {}
          ! perform_node step 3
          = running, step 3 look: performing
        > give 1
          run:stepped 3 look -[seen]-> land T (#3)
          ! land_task step 3 #3
          = paused, step 3 look T: landing T (#3) along seen
    "#]],
    );
}

#[test]
fn what_begins_anew_is_taken_up_too() {
    let from = played(&asked(), ASKS).run;
    let run = check_fork(
        &from,
        taken(&[], &["T"]),
        "publish T=3,U=4; stop",
        expect![[r#"
          run:created level 1, step 2: ask ask "Land it?"
          ! publish_items step 2
          = running, step 2 ask T: publishing
        > publish T=3,U=4
          run:published 2 {"T":3,"U":4}
          ! publish_items step 2
          = running, step 2 ask T: publishing
        > stop
          run:failed RUN_STOPPED: run 2 was stopped: a person stopped it
          ! release_task #3 RUN_STOPPED
          = failed RUN_STOPPED
    "#]],
    );
    assert_eq!(run.tasks.get("T"), Some(&id(3)));
}

#[test]
fn a_fork_of_a_fork_that_has_not_come_to_its_step_yet_asks_the_same() {
    let from = played(&asked(), ASKS).run;
    let (first, _) = Play::of(&asked(), vec![fork(RunId::new(2).unwrap(), &from, taken(&[("T", 1)], &[]))]);
    check_fork(
        &first.run,
        taken(&[("T", 1)], &[]),
        "publish T=3,U=4; publish none",
        expect![[r#"
          run:created level 1, step 2: ask ask "Land it?"
          ! publish_items step 2
          = running, step 2 ask T: publishing
        > publish T=3,U=4
          run:published 2 {"T":3,"U":4}
          ! publish_items step 2
          = running, step 2 ask T: publishing
        > publish none
          run:published 2 {}
          = paused, step 2 ask T: asking "Land it?", not asked
    "#]],
    );
}

/// What is performed is taken up there, with the agent that works on it.
#[test]
fn the_item_that_is_performed_is_not_taken_up_before() {
    let from = played(&asked(), "begin board; publish T=1,U=2").run;
    check_fork(
        &from,
        taken(&[("T", 1)], &[]),
        "publish T=3,U=4",
        expect![[r#"
          run:created level 1, step 1: perform work T
          ! publish_items step 1
          = running, step 1 work T: publishing
        > publish T=3,U=4
          run:published 1 {"T":3,"U":4}
          ! perform_node step 1 for #3
          = running, step 1 work T: performing
    "#]],
    );
}
