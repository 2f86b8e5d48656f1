//! The levels of `speckit`: how much of the graph and of the state each of them uses.

use expect_test::expect;
use serde_json::{Value, json};

use crate::folders::speckit;
use crate::run::{Run, coder_output, reviewer_output, spec_output};

#[test]
fn each_level_adds_fields_and_edges() {
    let workflow = speckit();
    let initial = workflow.schema.initial();
    let mut told = String::new();
    for level in workflow.levels.keys() {
        let fields: Vec<&str> = initial
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .filter(|field| workflow.keeps(*level, field))
            .collect();
        let start = &workflow.start_at(*level).name;
        let edges: Vec<&str> =
            workflow.edges.iter().filter(|edge| edge.is_at(*level)).map(|edge| edge.id.as_str()).collect();
        told +=
            &format!("{level} from {start}\n  fields: {}\n  edges: {}\n", fields.join(" "), edges.join(" "));
    }
    expect![[r#"
        1 from coder
          fields: 
          edges: coder-blocked question-answered single-done
        2 from coder
          fields: 
          edges: coder-blocked question-answered single-done
        3 from coder
          fields: currentAttempts coderOutput
          edges: coder-blocked question-answered coder-retry self-validated
        4 from spec
          fields: tasks currentTaskIndex currentAttempts coderOutput
          edges: spec-to-coder coder-blocked question-answered coder-retry coder-to-reviewer reviewed not-approved
        5 from spec
          fields: tasks currentTaskIndex taskAttempts currentAttempts coderOutput reviewerOutput
          edges: spec-to-coder coder-blocked question-answered coder-retry coder-to-reviewer reviewer-reject next-task all-done
        6 from spec
          fields: tasks currentTaskIndex taskAttempts currentAttempts coderOutput reviewerOutput metrics
          edges: spec-to-coder coder-blocked question-answered coder-retry coder-to-reviewer reviewer-reject next-task all-done
        7 from spec
          fields: tasks currentTaskIndex taskAttempts currentAttempts coderOutput reviewerOutput metrics
          edges: spec-to-coder coder-blocked question-answered coder-retry coder-to-reviewer reviewer-reject next-task all-done
    "#]].assert_eq(&told);
}

/// Plays outputs at a level and returns a line for each step.
fn play(level: u32, outputs: &[Value]) -> (Vec<String>, Run) {
    let mut run = Run::begin(level, "end");
    let told = outputs.iter().map(|output| run.perform(output.clone())).collect();
    (told, run)
}

fn changed(run: &Run) -> Vec<String> {
    let initial = run.workflow.schema.initial();
    let fields =
        run.state.as_object().unwrap().iter().filter(|(name, value)| initial[name.as_str()] != **value);
    fields.map(|(name, _)| name.clone()).collect()
}

#[test]
fn levels_1_and_2_are_one_session_and_keep_no_state() {
    for level in [1, 2] {
        let (told, run) = play(level, &[coder_output("PRD", false)]);
        assert_eq!(told, ["single-done to done, submits PRD"]);
        assert!(changed(&run).is_empty());
    }
}

#[test]
fn level_3_repeats_until_its_own_validation_passes() {
    let (told, run) = play(3, &[coder_output("PRD", false), coder_output("PRD", true)]);
    assert_eq!(told, ["coder-retry to coder", "self-validated to done, submits PRD"]);
    assert_eq!(changed(&run), ["currentAttempts", "coderOutput"]);
    let (told, run) = play(3, &vec![coder_output("PRD", false); 4]);
    assert_eq!(told.last().unwrap(), "coder-retry is used up for ``, to failed, fails PRD");
    assert_eq!(run.state["currentAttempts"], 4);
}

#[test]
fn level_4_codes_and_reviews_the_first_task() {
    let outputs = [spec_output(), coder_output("T001", true), reviewer_output("T001", true)];
    let (told, run) = play(4, &outputs);
    assert_eq!(
        told,
        ["spec-to-coder to coder", "coder-to-reviewer to reviewer", "reviewed to done, submits T001"]
    );
    assert_eq!(changed(&run), ["tasks", "currentAttempts", "coderOutput"]);
}

#[test]
fn level_4_ends_without_an_approval() {
    let outputs = [spec_output(), coder_output("T001", true), reviewer_output("T001", false)];
    let (told, run) = play(4, &outputs);
    // The review is not among the fields of this level, so its edges look at the output.
    assert_eq!(told.last().unwrap(), "not-approved to failed, fails T001");
    assert_eq!(run.state["reviewerOutput"], Value::Null);
}

#[test]
fn level_5_goes_on_to_the_next_task_and_keeps_no_metrics() {
    let outputs = [spec_output(), coder_output("T001", true), reviewer_output("T001", true)];
    let (told, mut run) = play(5, &outputs);
    assert_eq!(told.last().unwrap(), "next-task to coder, submits T001");
    run.merged("next-task");
    assert_eq!(changed(&run), ["tasks", "currentTaskIndex", "taskAttempts", "reviewerOutput"]);
    assert_eq!(run.state["taskAttempts"], json!({ "T001": 1 }));
}

#[test]
fn levels_6_and_7_keep_everything() {
    for level in [6, 7] {
        let (_, run) =
            play(level, &[spec_output(), coder_output("T001", true), reviewer_output("T001", true)]);
        assert!(changed(&run).contains(&"metrics".to_owned()));
    }
}
