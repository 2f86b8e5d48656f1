//! What happens to a group's task instead of a merge: a conflict, a rejection, no change, a cancellation; and an agent that
//! gives up.

use super::{
    Family, RUN, begin, complete, develop, entry, group, one_group, plan, qa, ready, review, untested,
};
use crate::Code;
use crate::testing::failure;
use expect_test::expect;
use serde_json::json;

/// A group whose task is up for approval.
fn submitted() -> Family {
    let mut family = one_group();
    develop(&mut family, "A", untested("It is there"));
    let a = family.child("A");
    family.give(a, review("approved"));
    assert_eq!(family.place(a), "paused at review");
    family
}

#[test]
fn a_conflict_goes_to_the_developer_of_the_group_with_the_files() {
    let mut family = submitted();
    let a = family.child("A");
    family.conflict(a, "auth.py");
    assert_eq!(family.place(a), "running at developer");
    assert_eq!(entry(&mut family, "A")["status"], "changes_requested");
    expect!["engine -> role:developer CONFLICT: Merge 0000009000000000000000000000000000000000 into your branch and resolve: auth.py"].assert_eq(family.said.last().unwrap());
    // It is tested and reviewed again, on the new base.
    develop(&mut family, "A", ready("Both changes are there"));
    family.give(a, qa("PASS"));
    family.give(a, review("approved"));
    family.land(a);
    assert_eq!(family.place(a), "completed at done");
}

#[test]
fn a_group_that_conflicts_too_often_is_given_up() {
    let mut family = submitted();
    let a = family.child("A");
    for _ in 0..3 {
        family.conflict(a, "auth.py");
        develop(&mut family, "A", untested("Both changes are there"));
        family.give(a, review("approved"));
    }
    family.conflict(a, "auth.py");
    assert_eq!((family.place(a), family.place(RUN)), ("failed at stuck".into(), "running at plan".into()));
    expect!["engine -> role:pm GIVEN_UP: Group A: the work conflicted more than 3 times in auth.py"]
        .assert_eq(family.said.last().unwrap());
}

/// The board has the last word.
#[test]
fn a_person_sends_the_work_back_as_often_as_they_like() {
    let mut family = submitted();
    let a = family.child("A");
    for _ in 0..7 {
        family.send_back(a, "Use the other library");
        assert_eq!(family.place(a), "running at developer");
        assert_eq!(family.runs[&a].sheet.feedback()["text"], "Use the other library");
        develop(&mut family, "A", untested("It is there"));
        family.give(a, review("approved"));
    }
    family.land(a);
    assert_eq!(family.place(RUN), "running at final-check");
}

#[test]
fn work_that_changes_nothing_and_work_that_was_cancelled_is_planned_again() {
    let mut told = Vec::new();
    for code in [Code::TaskNoDiff, Code::TaskCancelled] {
        let mut family = submitted();
        let a = family.child("A");
        family.fail(a, failure(code));
        assert_eq!(family.place(a), "failed at stuck");
        told.push(family.said.last().unwrap().clone());
    }
    for (role, give) in [("developer", None), ("qa_expert", Some(ready("It works")))] {
        let mut family = one_group();
        let a = family.child("A");
        if let Some(output) = give {
            family.give(a, output);
        }
        assert_eq!(family.role_of(a).as_deref(), Some(role));
        family.fail(a, failure(Code::TaskCancelled));
        assert_eq!(family.place(a), "failed at stuck");
    }
    expect![[r#"
        engine -> role:pm GIVEN_UP: Group A: the developer changed nothing
        engine -> role:pm GIVEN_UP: Group A: a person cancelled the task"#]]
    .assert_eq(&told.join("\n"));
}

/// Where the workflow says nothing, a person is needed; meanwhile the others work.
#[test]
fn an_agent_that_gives_up_holds_its_group_alone() {
    let mut family = begin();
    family.give(RUN, plan(&[group("A", &[]), group("B", &[])]));
    let a = family.child("A");
    family.fail(a, failure(Code::AgentSessionFailed));
    assert_eq!(family.place(a), "paused at developer");
    complete(&mut family, "B");
    assert_eq!(family.place(RUN), "running at groups");
    family.tell(a, &crate::run::Command::Resume).unwrap();
    complete(&mut family, "A");
    assert_eq!(family.place(RUN), "running at final-check");
}

/// A group that depends on one that was given up is planned again with it.
#[test]
fn what_waits_for_a_group_that_was_given_up_is_not_started() {
    let mut family = begin();
    family.give(RUN, plan(&[group("A", &[]), group("B", &["A"])]));
    let a = family.child("A");
    family.fail(a, failure(Code::TaskCancelled));
    assert_eq!(family.place(RUN), "running at plan");
    expect![[r#"
        engine -> role:pm GIVEN_UP: Group A: a person cancelled the task
        Group B was not started"#]]
    .assert_eq(family.said.last().unwrap());
    family.give(RUN, plan(&[group("B", &[])]));
    complete(&mut family, "B");
    family.give(RUN, json!({ "decision": "complete", "missing": [] }));
    assert_eq!(family.place(RUN), "completed at done");
    assert_eq!(family.file("pm_state")["completed_groups"], json!(["B"]));
}
