//! A coder that is blocked asks a person; the answer goes back to it.

use super::check;
use super::script::played;
use super::workflows::{plain_state, small, speckit};
use crate::run::{Command, Phase};
use crate::{Code, Refusal};
use expect_test::expect;

#[test]
fn a_blocked_coder_asks_and_goes_on_with_the_answer() {
    check(
        &speckit(),
        "begin; spec T001",
        "coder blocked; feedback; answer yes the first one; feedback; coder pass; review yes; feedback",
        expect![[r#"
            > coder blocked
              run:stepped 2 coder -[coder-blocked]-> ask question "The coder is blocked on Title T001: Which one?"
              = paused, step 3 question T001: asking "The coder is blocked on Title T001: Which one?", not asked
            > feedback
              feedback = null
            > answer yes the first one
              run:stepped 3 question -[question-answered]-> perform coder T001
              ! perform_node step 4
              = running, step 4 coder T001: performing
            > feedback
              feedback = {"approved":true,"text":"the first one","task":"T001"}
            > coder pass
              run:stepped 4 coder -[coder-to-reviewer]-> perform reviewer T001
              ! perform_node step 5
              = running, step 5 reviewer T001: performing
            > review yes
              run:stepped 5 reviewer -[all-done]-> end done
              run:completed null
              = completed
            > feedback
              feedback = {"approved":true,"text":"the first one","task":"T001"}
        "#]],
    );
    check(
        &speckit(),
        "begin level=2",
        "coder blocked; answer no neither; coder pass",
        expect![[r#"
        > coder blocked
          run:stepped 1 coder -[coder-blocked]-> ask question "The coder is blocked on Login: Which one?"
          = paused, step 2 question PRD: asking "The coder is blocked on Login: Which one?", not asked
        > answer no neither
          run:stepped 2 question -[question-answered]-> perform coder PRD
          ! perform_node step 3
          = running, step 3 coder PRD: performing
        > coder pass
          run:stepped 3 coder -[single-done]-> end done
          run:completed null
          = completed
    "#]],
    );
}

/// What a coder returns that is blocked, says that all is well, and names these issues.
fn blocked(code: &str, issues: &str) -> String {
    let validation = format!(r#"{{"passed":true,"issues":{issues}}}"#);
    format!(r#"give {{"code":"{code}","taskId":"T001","status":"blocked","selfValidation":{validation}}}"#)
}

#[test]
fn a_coder_that_does_not_say_why_it_is_blocked_still_asks_something() {
    let ask = |code: &str, issues: &str| {
        let played = played(&speckit(), &format!("begin; spec T001; {}", blocked(code, issues)));
        assert_eq!(played.run.sheet.state()["tasks"][0]["status"], "in_progress");
        match played.run.phase() {
            Some(Phase::Asking { question }) => question.clone(),
            other => panic!("{other:?}"),
        }
    };
    let told = [
        ask("", "[]"),
        ask(" ", r#"[" "]"#),
        ask("The key is missing.", "[]"),
        ask("", r#"["Which one?","And when?"]"#),
    ];
    expect![[r#"
        The coder is blocked on Title T001 and does not say why. Look at its work, and tell it how to continue.
        The coder is blocked on Title T001 and does not say why. Look at its work, and tell it how to continue.
        The coder is blocked on Title T001 and names no issue. It returned: The key is missing.
        The coder is blocked on Title T001: Which one?; And when?"#]]
    .assert_eq(&told.join("\n"));
    assert_eq!(ask(&"x".repeat(5000), "[]").len(), told[2].len() - "The key is missing.".len() + 300);
}

#[test]
fn only_a_question_can_be_answered() {
    check(
        &speckit(),
        "begin; spec T001",
        "answer yes x; coder blocked; answer yes y; again; coder pass; review yes; answer yes z",
        expect![[r#"
            > answer yes x
              refused RUN_INVALID_TRANSITION: run 1 cannot take an answer: it is running
            > coder blocked
              run:stepped 2 coder -[coder-blocked]-> ask question "The coder is blocked on Title T001: Which one?"
              = paused, step 3 question T001: asking "The coder is blocked on Title T001: Which one?", not asked
            > answer yes y
              run:stepped 3 question -[question-answered]-> perform coder T001
              ! perform_node step 4
              = running, step 4 coder T001: performing
            > again
              refused RUN_INVALID_TRANSITION: run 1 cannot take an answer: it is running
            > coder pass
              run:stepped 4 coder -[coder-to-reviewer]-> perform reviewer T001
              ! perform_node step 5
              = running, step 5 reviewer T001: performing
            > review yes
              run:stepped 5 reviewer -[all-done]-> end done
              run:completed null
              = completed
            > answer yes z
              refused RUN_INVALID_TRANSITION: run 1 cannot take an answer: it is completed
        "#]],
    );
}

#[test]
fn a_blank_answer_is_refused_and_changes_nothing() {
    let mut play = played(&speckit(), "begin; spec T001; coder blocked");
    let before = play.run.clone();
    for (approved, text) in [(true, ""), (true, "   "), (true, "\n\t\u{a0}"), (false, "")] {
        let told = play.tell(Command::Answer { step: play.run.step, approved, text: text.to_owned() });
        assert_eq!(told.unwrap_err(), Refusal::RunAnswerBlank { run: play.run.id }, "{text:?}");
        assert_eq!(play.run, before, "{text:?}");
    }
    assert_eq!(Refusal::RunAnswerBlank { run: play.run.id }.code(), Code::ValidationError);
    play.tell(Command::Answer { step: play.run.step, approved: true, text: " . ".to_owned() }).unwrap();
    assert_eq!(play.run.node.as_str(), "coder");
}

#[test]
fn an_answer_is_to_the_question_that_was_seen_and_not_to_the_next() {
    let workflow = small(
        r#"
            name = "asks"
            start = "first"
            nodes.first = { kind = "approval", question = "'The first?'" }
            nodes.second = { kind = "approval", question = "'The second?'" }
            nodes.done = { kind = "end" }
            edges = [
                { id = "one", from = "first", to = "second" },
                { id = "two", from = "second", to = "done" },
            ]
        "#,
        &plain_state(),
        &[],
    );
    let mut play = played(&workflow, "begin");
    let (run, step) = (play.run.id, play.run.step);
    let yes = Command::Answer { step, approved: true, text: "yes".to_owned() };
    play.tell(yes.clone()).unwrap();
    let before = play.run.clone();
    let refusal = play.tell(yes).unwrap_err();
    assert_eq!(refusal, Refusal::RunAsksOther { run, step, now: step + 1 });
    assert_eq!(refusal.code(), Code::RunInvalidTransition);
    assert_eq!(play.run, before);
}

#[test]
fn a_question_can_be_answered_while_the_run_is_paused() {
    check(
        &speckit(),
        "begin; spec T001; coder blocked",
        "pause; answer yes this; resume",
        expect![[r#"
            > pause
              run:paused
              = paused, step 3 question T001: asking "The coder is blocked on Title T001: Which one?", not asked, paused
            > answer yes this
              run:stepped 3 question -[question-answered]-> perform coder T001
              = paused, step 4 coder T001: performing, not asked, paused
            > resume
              run:resumed
              ! perform_node step 4
              = running, step 4 coder T001: performing
        "#]],
    );
}

#[test]
fn a_run_that_is_stopped_at_a_question_releases_its_task() {
    check(
        &speckit(),
        "begin board; spec T001; publish; coder blocked",
        "stop enough",
        expect![[r#"
            > stop enough
              run:failed RUN_STOPPED: run 1 was stopped: enough
              ! release_task #1 RUN_STOPPED
              = failed RUN_STOPPED
        "#]],
    );
}

/// What a person said last is the answer that was just given, already in the step that follows it.
#[test]
fn the_next_question_can_quote_the_answer() {
    let example = small(
        r#"name = "twice"
start = "first"

[nodes.first]
kind = "approval"
question = "'Shall we?'"
set = { note = "feedback.text" }

[nodes.second]
kind = "approval"
question = "'You said ' & feedback.text & ', and before ' & note"

[nodes.done]
kind = "end"

[nodes.refused]
kind = "end"
status = "failed"
reason = "output.text"

[[edges]]
id = "on"
from = "first"
to = "second"
when = "output.approved"

[[edges]]
id = "off"
from = "first"
to = "refused"

[[edges]]
id = "end"
from = "second"
to = "done"
"#,
        &plain_state(),
        &[],
    );
    check(
        &example,
        "",
        "begin; answer yes go; state note; answer yes now; feedback",
        expect![[r#"
        > begin
          run:created level 1, step 1: ask first "Shall we?"
          = paused, step 1 first: asking "Shall we?", not asked
        > answer yes go
          run:stepped 1 first -[on]-> ask second "You said go, and before go"
          = paused, step 2 second: asking "You said go, and before go", not asked
        > state note
          note = "go"
        > answer yes now
          run:stepped 2 second -[end]-> end done
          run:completed null
          = completed
        > feedback
          feedback = {"approved":true,"text":"now"}
    "#]],
    );
    check(
        &example,
        "begin",
        "answer no never",
        expect![[r#"
        > answer no never
          run:stepped 1 first -[off]-> end refused
          run:failed RUN_FAILED: run 1 ended at node `refused`: never
          = failed RUN_FAILED
    "#]],
    );
}
