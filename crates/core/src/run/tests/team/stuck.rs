//! What happens to a group that does not get done: the PM simplifies it, the tech lead explains, the PM splits it.

use super::{
    Family, RUN, begin, blocked, complete, develop, entry, group, one_group, plan, qa, ready, review,
    untested,
};
use crate::testing::commit;
use expect_test::expect;
use serde_json::json;

fn advise(family: &mut Family) {
    let a = family.child("A");
    family.give(a, json!({ "feedback": "Do this first" }));
}

/// Lets the developer of group A work so often, each time in vain.
fn fail_to_develop(family: &mut Family, times: u32) {
    for _ in 0..times {
        develop(family, "A", blocked());
        advise(family);
    }
}

#[test]
fn after_more_than_five_iterations_the_pm_simplifies_the_group() {
    let mut family = one_group();
    let a = family.child("A");
    fail_to_develop(&mut family, 5);
    assert_eq!(family.place(a), "running at developer", "five are enough for nobody's help");
    fail_to_develop(&mut family, 1);
    assert_eq!(family.place(a), "running at simplify");
    assert_eq!(entry(&mut family, "A")["iterations"]["developer"], 6);
    assert_eq!(entry(&mut family, "A")["status"], "dev_blocked");
    family.give(a, json!({ "note": "One key is enough" }));
    assert_eq!(family.place(a), "running at developer");
    expect!["role:pm -> role:developer SIMPLIFIED: One key is enough"].assert_eq(family.said.last().unwrap());
    complete(&mut family, "A");
    assert_eq!(family.place(a), "completed at done");
}

#[test]
fn a_group_is_simplified_once_and_then_given_up() {
    let mut family = one_group();
    let a = family.child("A");
    fail_to_develop(&mut family, 6);
    family.give(a, json!({ "note": "One key is enough" }));
    fail_to_develop(&mut family, 5);
    assert_eq!(family.place(a), "failed at stuck");
    assert_eq!(family.dropped.len(), 1, "its task is cancelled");
    assert_eq!(family.place(RUN), "running at plan");
    expect!["engine -> role:pm GIVEN_UP: Group A: the developer needed more than 5 iterations, also after the group was simplified"].assert_eq(family.said.last().unwrap());
}

#[test]
fn after_more_than_three_failures_of_qa_the_tech_lead_explains() {
    let mut family = one_group();
    let a = family.child("A");
    for _ in 0..3 {
        develop(&mut family, "A", ready("It works"));
        family.give(a, qa("FAIL"));
        assert_eq!(family.place(a), "running at developer");
    }
    develop(&mut family, "A", ready("It works"));
    family.give(a, qa("FAIL"));
    assert_eq!(family.place(a), "running at advise");
    assert_eq!(entry(&mut family, "A")["status"], "qa_failed");
    let message = family.file("qa_to_techlead")["messages"][0].clone();
    assert_eq!(
        (&message["result"], &message["test_results"]["integration_tests"]),
        (&"FAIL".into(), &"7/8 passed".into())
    );
    advise(&mut family);
    assert_eq!(family.place(a), "running at developer");
    assert_eq!(family.file("techlead_to_dev")["messages"][0]["decision"], "unblocked");
}

/// The parts start from the commits of the group that was given up.
#[test]
fn after_more_than_three_reviews_the_pm_splits_the_group() {
    let mut family = begin();
    family.give(RUN, plan(&[group("A", &[]), group("B", &[]), group("C", &["A"])]));
    let a = family.child("A");
    for _ in 0..4 {
        assert_eq!(family.place(a), "running at developer");
        develop(&mut family, "A", untested("It is there"));
        family.give(a, review("changes_requested"));
    }
    assert_eq!(family.place(a), "failed at stuck");
    assert_eq!(family.place(RUN), "running at groups", "the others continue");
    complete(&mut family, "B");
    assert_eq!(family.place(RUN), "running at plan");
    expect![[r#"
        engine -> role:pm GIVEN_UP: Group A: the tech lead asked for changes more than 3 times; split the group. The last review: Read it all
        Group C was not started"#]].assert_eq(family.said.last().unwrap());
    let mut parts = plan(&[group("A1", &[]), group("A2", &["A1"]), group("C", &["A2"])]);
    parts["task_groups"][0]["continues"] = "A".into();
    family.give(RUN, parts);
    assert_eq!(family.place(RUN), "running at groups");
    let bases: Vec<Option<String>> = family.bases.values().cloned().collect();
    let head = commit(4).to_string();
    assert_eq!(bases, [None, None, None, Some(head), None]);
    let state = family.file("pm_state");
    assert_eq!((&state["completed_groups"], &state["in_progress_groups"]), (&json!(["B"]), &json!(["A1"])));
    for key in ["A1", "A2", "C"] {
        complete(&mut family, key);
    }
    assert_eq!(family.place(RUN), "running at final-check");
}

#[test]
fn a_group_that_is_given_up_again_and_again_ends_the_run() {
    let mut family = one_group();
    for time in 0..4 {
        if time > 0 {
            family.give(RUN, plan(&[group("A", &[])]));
        }
        for _ in 0..4 {
            develop(&mut family, "A", untested("It is there"));
            let a = family.child("A");
            family.give(a, review("changes_requested"));
        }
    }
    assert_eq!(family.place(RUN), "failed at failed");
    expect!["run 1 gave up: edge `given-up` reached its iteration limit: these groups were planned again and again: A"].assert_eq(&family.why(RUN));
}
