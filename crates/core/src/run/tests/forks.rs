//! A fork starts where another run stood, with its state and counters, and then continues on its own.

use super::maps::five_parts;
use super::play::{Play, RUN};
use super::script::{carry_out, coder_output, played, review_output};
use super::told::{describe_effect, describe_event, describe_run};
use super::workflows::{Example, speckit};
use crate::RunId;
use crate::run::{Command, Inputs, Run, Taken, decide_again, fork};
use crate::testing::{commit, id};
use expect_test::{Expect, expect};
use std::collections::BTreeMap;

fn check_fork(given: &str, merged: &[(&str, u32)], when: &str, expected: Expect) {
    let example: Example = speckit();
    let from = played(&example, given);
    let merged = merged.iter().map(|(key, task)| ((*key).to_owned(), id(*task))).collect();
    let taken = Taken { merged, ..Taken::default() };
    let event = fork(RunId::new(2).unwrap(), &from.run, taken);
    let (play, told) = Play::of(&example, vec![event]);
    let mut text = format!("  {}\n", describe_event(&told.events[0]));
    for effect in &told.effects {
        text.push_str(&format!("  ! {}\n", describe_effect(effect)));
    }
    text.push_str(&format!("  = {}\n", describe_run(&play.run)));
    assert_eq!(*play.run.sheet.state(), *from.run.sheet.state());
    assert_eq!((&play.run.taken, &play.run.visits), (&from.run.taken, &from.run.visits));
    assert_eq!(play.run.forked.map(|fork| (fork.run_id, fork.step)), Some((RUN, from.run.step)));
    let mut play = Some(play);
    for line in when.split(';').map(str::trim) {
        text.push_str(&format!("> {line}\n{}", carry_out(&example, &mut play, line)));
    }
    expected.assert_eq(&text);
}

#[test]
fn a_fork_goes_on_with_the_counters_of_the_other() {
    check_fork(
        "begin; spec T001,T002; coder fail; coder fail",
        &[],
        "coder fail; coder fail; counts",
        expect![[r#"
              run:created level 7, step 4: perform coder T001
              ! perform_node step 4
              = running, step 4 coder T001: performing
            > coder fail
              run:stepped 4 coder -[coder-retry T001]-> perform coder T001
              ! perform_node step 5
              = running, step 5 coder T001: performing
            > coder fail
              run:stepped 5 coder -[coder-retry T001, used up, route 1, fail T001]-> end failed
              run:failed MAX_ITERATIONS_EXCEEDED: run 2 gave up: edge `coder-retry` reached its iteration limit for T001: the work on Title T001 was not good enough
              = failed MAX_ITERATIONS_EXCEEDED
            > counts
              taken {"coder-retry":{"T001":3},"spec-to-coder":{"":1}}
              visits {"coder":{"T001":4},"spec":{"":1}}
        "#]],
    );
}

#[test]
fn a_fork_of_a_question_asks_it_again() {
    check_fork(
        "begin; spec T001; coder blocked",
        &[],
        "answer yes so",
        expect![[r#"
          run:created level 7, step 3: ask question "The coder is blocked on Title T001: Which one?"
          = paused, step 3 question T001: asking "The coder is blocked on Title T001: Which one?", not asked
        > answer yes so
          run:stepped 3 question -[question-answered]-> perform coder T001
          ! perform_node step 4
          = running, step 4 coder T001: performing
    "#]],
    );
}

#[test]
fn a_fork_is_not_held_though_the_other_was() {
    check_fork(
        "begin; spec T001; fail AGENT_SESSION_FAILED",
        &[],
        "coder pass",
        expect![[r#"
          run:created level 7, step 2: perform coder T001
          ! perform_node step 2
          = running, step 2 coder T001: performing
        > coder pass
          run:stepped 2 coder -[coder-to-reviewer]-> perform reviewer T001
          ! perform_node step 3
          = running, step 3 reviewer T001: performing
    "#]],
    );
    check_fork(
        "begin; spec T001; pause",
        &[],
        "coder pass",
        expect![[r#"
          run:created level 7, step 2: perform coder T001
          ! perform_node step 2
          = running, step 2 coder T001: performing
        > coder pass
          run:stepped 2 coder -[coder-to-reviewer]-> perform reviewer T001
          ! perform_node step 3
          = running, step 3 reviewer T001: performing
    "#]],
    );
}

#[test]
fn a_fork_publishes_what_is_not_merged_anew() {
    check_fork(
        "begin board; spec T001,T002; publish; coder pass; review yes; land; coder fail",
        &[("T001", 1)],
        "publish T002=7; coder pass; review yes; land; tasks",
        expect![[r#"
              run:created level 7, step 5: perform coder T002
              ! publish_items step 5
              = running, step 5 coder T002: publishing
            > publish T002=7
              run:published 5 {"T002":7}
              ! perform_node step 5 for #7
              = running, step 5 coder T002: performing
            > coder pass
              run:stepped 5 coder -[coder-to-reviewer]-> perform reviewer T002
              ! perform_node step 6 for #7
              = running, step 6 reviewer T002: performing
            > review yes
              run:stepped 6 reviewer -[all-done]-> land T002 (#7)
              ! land_task step 6 #7
              = paused, step 6 reviewer T002: landing T002 (#7) along all-done
            > land
              run:landed 6 #7 -> end done
              run:completed null
              = completed
            > tasks
              tasks = {"T001":1,"T002":7}, sent back {}
        "#]],
    );
}

#[test]
fn what_a_person_said_goes_along() {
    check_fork(
        "begin; spec T001; coder blocked; answer yes this",
        &[],
        "feedback",
        expect![[r#"
          run:created level 7, step 4: perform coder T001
          ! perform_node step 4
          = running, step 4 coder T001: performing
        > feedback
          feedback = {"approved":true,"text":"this","task":"T001"}
    "#]],
    );
}

/// A workflow without a board may have children that have one.
#[test]
fn the_wish_for_a_board_goes_down_the_family() {
    let families = [
        (five_parts(), "begin board", (false, true)),
        (five_parts(), "begin", (false, false)),
        (speckit(), "begin board", (true, true)),
        (speckit(), "begin", (false, false)),
    ];
    for (example, given, expected) in families {
        let from = played(&example, given).run;
        assert_eq!((from.board, from.wants_board()), expected, "{} {given}", from.workflow);
        let (fork, _) = Play::of(&example, vec![fork(RunId::new(2).unwrap(), &from, Taken::default())]);
        assert_eq!((fork.run.board, fork.run.wants_board()), expected, "the fork of {given}");
    }
}

/// Each item is known by the commit that its last node left, until it is merged; a fork hands that on.
#[test]
fn a_run_knows_the_commit_that_each_item_stands_at() {
    let given = "begin board; spec T001,T002; publish";
    let mut play = played(&speckit(), given);
    let heads = |run: &Run| run.heads.values().cloned().collect::<Vec<_>>();
    let mut perform = |how: &str, number: u32| {
        let output = match play.run.node.as_str() {
            "coder" => coder_output(play.run.item.as_deref().unwrap(), how),
            _ => review_output(play.run.item.as_deref().unwrap(), how),
        };
        let step = play.run.step;
        play.tell(Command::Performed { step, asks: 0, output, head: Some(commit(number)), edits: 0 })
            .unwrap();
        (heads(&play.run), play.run.has_begun("T001"), play.run.has_begun("T002"))
    };
    assert_eq!(perform("fail", 1), (vec![commit(1)], true, false));
    assert_eq!(perform("pass", 2), (vec![commit(2)], true, false));
    assert_eq!(perform("yes", 3), (vec![commit(3)], true, false));
    let step = play.run.step;
    play.tell(Command::Landed { step }).unwrap();
    assert_eq!(heads(&play.run), []);
    let heads = BTreeMap::from([("T002".to_owned(), commit(9))]);
    let taken = Taken { heads: heads.clone(), restarted: vec!["T003".to_owned()], ..Taken::default() };
    let (fork, _) = Play::of(&speckit(), vec![fork(RunId::new(2).unwrap(), &play.run, taken)]);
    assert_eq!((fork.run.heads, fork.run.restarted), (heads, vec!["T003".to_owned()]));
}

/// A recorded decision that is made once more, on the run as it was before it, is the same.
#[test]
fn a_decision_can_be_made_again() {
    let begin = "begin board; spec T001,T002; publish";
    for (script, decisions) in [
        (
            "coder fail; coder blocked; answer yes so; coder pass; review no; coder pass; review yes; back no
             coder pass; review yes; land; coder pass; review yes; land",
            15,
        ),
        ("coder fail; coder fail; coder fail; coder fail", 5),
        ("coder broken; coder broken; coder broken", 2),
    ] {
        let play = played(&speckit(), &format!("{begin}; {script}"));
        let mut run = None;
        let mut again = 0;
        for fact in &play.facts {
            if let Some(before) = &run {
                let inputs = Inputs::new(&play.example.workflow, 0);
                if let Some(events) = decide_again(inputs, before, &fact.event) {
                    assert_eq!(events[0], fact.event);
                    again += 1;
                }
            }
            run = Run::evolve(run, fact);
        }
        assert_eq!(again, decisions, "{script}");
    }
}
