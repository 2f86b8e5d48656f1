//! The statuses of a group and the phases of a run, in the order in which they come.

use super::{
    Family, RUN, begin, blocked, develop, entry, group, one_group, plan, qa, ready, review, untested,
};
use expect_test::expect;

/// Says what the files say of group A and of the run.
fn told(family: &mut Family) -> String {
    let phase = family.file("orchestrator_state")["current_phase"].as_str().unwrap().to_owned();
    let entry = entry(family, "A");
    let text = |name: &str| entry[name].as_str().unwrap_or("-").to_owned();
    let visits = &entry["iterations"];
    format!(
        "{phase}: {} ({}) {}/{}/{}\n",
        text("status"),
        text("current_agent"),
        visits["developer"],
        visits["qa"],
        visits["tech_lead"]
    )
}

#[test]
fn all_ten_statuses() {
    let mut family = begin();
    let mut lines = told(&mut family);
    let mut tell = |family: &mut Family| lines.push_str(&told(family));
    family.open(RUN, "pm");
    tell(&mut family);
    // It waits for another one first.
    family.give(RUN, plan(&[group("A", &["B"]), group("B", &[])]));
    tell(&mut family);
    develop(&mut family, "B", untested("It is there"));
    let b = family.child("B");
    family.give(b, review("approved"));
    family.land(b);
    let a = family.child("A");
    tell(&mut family);
    family.open(a, "developer");
    family.give(a, blocked());
    tell(&mut family);
    family.give(a, serde_json::json!({ "feedback": "It is in the vault" }));
    tell(&mut family);
    family.give(a, ready("It works"));
    tell(&mut family);
    family.open(a, "qa_expert");
    tell(&mut family);
    family.give(a, qa("FAIL"));
    tell(&mut family);
    family.open(a, "developer");
    tell(&mut family);
    family.give(a, ready("It works now"));
    family.give(a, qa("PASS"));
    tell(&mut family);
    family.open(a, "tech_lead");
    tell(&mut family);
    family.give(a, review("changes_requested"));
    tell(&mut family);
    family.give(a, untested("It is tidy"));
    family.give(a, review("approved"));
    tell(&mut family);
    family.land(a);
    tell(&mut family);
    expect![[r#"
        initialization: - (-) null/null/null
        pm_planning: - (-) null/null/null
        developer_working: pending (none) 0/0/0
        developer_working: dev_working (none) 0/0/0
        tech_review: dev_blocked (none) 1/0/0
        developer_working: dev_working (none) 1/0/1
        qa_testing: waiting_qa (none) 2/0/1
        qa_testing: qa_testing (qa_expert) 2/1/1
        developer_working: qa_failed (none) 2/1/1
        developer_working: dev_working (developer) 3/1/1
        tech_review: waiting_review (none) 3/2/1
        tech_review: tech_review (tech_lead) 3/2/2
        developer_working: changes_requested (none) 3/2/2
        tech_review: waiting_review (none) 4/2/3
        pm_final_check: complete (none) 4/2/3
    "#]]
    .assert_eq(&lines);
}

#[test]
fn a_blocker_is_resolved_by_the_tech_lead() {
    let mut family = one_group();
    develop(&mut family, "A", blocked());
    let a = family.child("A");
    let unresolved = entry(&mut family, "A")["blockers"].clone();
    family.give(a, serde_json::json!({ "feedback": "It is in the vault" }));
    let entry = entry(&mut family, "A");
    expect![[r#"
        [
          {
            "description": "The key is missing",
            "resolved": false,
            "resolution": ""
          }
        ]
        [
          {
            "description": "The key is missing",
            "resolved": true,
            "resolution": "It is in the vault"
          }
        ]
        [
          {
            "iteration": 1,
            "decision": "unblocked",
            "feedback": "It is in the vault",
            "timestamp": "2025-01-06T10:00:00.000Z"
          }
        ]"#]]
    .assert_eq(&format!("{unresolved:#}\n{:#}\n{:#}", entry["blockers"], entry["tech_lead_feedback"]));
    let message = &family.file("techlead_to_dev")["messages"][0];
    assert_eq!(
        (&message["decision"], &message["feedback"]),
        (&"unblocked".into(), &"It is in the vault".into())
    );
}

#[test]
fn quality_is_that_of_the_last_review_and_the_first_approval() {
    let first_pass = |decisions: &[&str]| {
        let mut family = one_group();
        for decision in decisions {
            develop(&mut family, "A", untested("It is there"));
            let a = family.child("A");
            family.give(a, review(decision));
        }
        entry(&mut family, "A")["quality_metrics"].clone()
    };
    assert_eq!(first_pass(&["approved"])["first_pass_approval"], true);
    let later = first_pass(&["changes_requested", "approved"]);
    assert_eq!((&later["first_pass_approval"], &later["code_quality_score"]), (&false.into(), &8.5.into()));
    assert_eq!(entry(&mut one_group(), "A")["quality_metrics"], serde_json::json!({}));
}

/// Where several groups are, the run is where the one is that is the least far.
#[test]
fn the_phase_is_that_of_the_group_that_is_least_far() {
    let mut family = begin();
    family.give(RUN, plan(&[group("A", &[]), group("B", &[])]));
    let phase = |family: &mut Family| family.file("orchestrator_state")["current_phase"].clone();
    develop(&mut family, "A", ready("It works"));
    assert_eq!(phase(&mut family), "developer_working");
    develop(&mut family, "B", ready("It works"));
    assert_eq!(phase(&mut family), "qa_testing");
    let (a, b) = (family.child("A"), family.child("B"));
    family.give(a, qa("PASS"));
    assert_eq!(phase(&mut family), "qa_testing");
    family.give(b, qa("PASS"));
    assert_eq!(phase(&mut family), "tech_review");
}
