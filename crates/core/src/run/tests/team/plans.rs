//! What the PM plans: what is sent back, and what follows from a plan that holds.

use super::{Family, RUN, begin, complete, group, plan, review, untested};
use expect_test::expect;
use serde_json::{Value, json};

/// Returns what the engine says to the PM of a plan, or where the run is then.
fn told(plan: Value) -> String {
    let mut family = begin();
    family.give(RUN, plan);
    match family.said.last() {
        Some(said) => said.clone(),
        None => family.place(RUN),
    }
}

fn changed(change: impl FnOnce(&mut Value)) -> Value {
    let mut plan = plan(&[group("A", &[]), group("B", &[]), group("C", &["A"])]);
    change(&mut plan);
    plan
}

#[test]
fn a_plan_with_errors_goes_back_with_all_of_them() {
    let cases = [
        changed(|_| {}),
        changed(|plan| plan["task_groups"][0]["depends_on"] = json!(["C"])),
        changed(|plan| plan["task_groups"][1]["depends_on"] = json!(["X"])),
        changed(|plan| plan["task_groups"][1]["files_affected"] = json!(["B.py", "A.py"])),
        changed(|plan| plan["task_groups"][2]["files_affected"] = json!(["A.py"])),
        changed(|plan| {
            plan["mode"] = "simple".into();
            plan["task_groups"][1]["files_affected"] = json!(["A.py"]);
        }),
        changed(|plan| plan["task_groups"][1]["id"] = "A".into()),
        changed(|plan| plan["task_groups"][1]["branch_name"] = "feature/A".into()),
        changed(|plan| plan["all_tasks"][1]["group_id"] = "X".into()),
        changed(|plan| plan["task_groups"][1]["tasks"] = json!(["TA"])),
        changed(|plan| {
            plan["task_groups"][0]["depends_on"] = json!(["B"]);
            plan["task_groups"][0]["can_parallel"] = false.into();
        }),
    ];
    let told: Vec<String> = cases.into_iter().map(told).collect();
    expect![[r#"
        running at groups
        ---
        role:pm -> role:pm PLAN_ERRORS: group A waits for itself: see depends_on and can_parallel
        group C waits for itself: see depends_on and can_parallel
        ---
        role:pm -> role:pm PLAN_ERRORS: group B depends on X, which is no group
        ---
        role:pm -> role:pm PLAN_ERRORS: A.py is affected by A and B, both in phase 1
        ---
        running at groups
        ---
        running at groups
        ---
        role:pm -> role:pm PLAN_ERRORS: two groups have the id A
        task TB is in B, which is no group
        group A names the task TB, which is not one of its tasks
        ---
        role:pm -> role:pm PLAN_ERRORS: two groups have the branch feature/A
        ---
        role:pm -> role:pm PLAN_ERRORS: task TB is in X, which is no group
        group B has no task
        group B names the task TB, which is not one of its tasks
        ---
        role:pm -> role:pm PLAN_ERRORS: group B names the task TA, which is not one of its tasks
        ---
        role:pm -> role:pm PLAN_ERRORS: group A waits for itself: see depends_on and can_parallel
        group B waits for itself: see depends_on and can_parallel
        group C waits for itself: see depends_on and can_parallel"#]]
    .assert_eq(&told.join("\n---\n"));
}

#[test]
fn a_plan_is_corrected_three_times_and_then_the_run_fails() {
    let wrong = || changed(|plan| plan["task_groups"][1]["depends_on"] = json!(["X"]));
    let mut family = begin();
    for _ in 0..3 {
        family.give(RUN, wrong());
        assert_eq!(family.place(RUN), "running at plan");
        assert_eq!(family.file("orchestrator_state")["current_phase"], "pm_planning");
    }
    assert_eq!(family.branches.len(), 0, "nothing of it is on the board");
    family.give(RUN, wrong());
    assert_eq!(family.place(RUN), "failed at failed");
    expect!["run 1 gave up: edge `plan-errors` reached its iteration limit: the plan has errors: group B depends on X, which is no group"].assert_eq(&family.why(RUN));
}

/// Phases follow from what groups wait for; one that cannot run beside others has a phase of its own.
#[test]
fn phases_are_derived() {
    let phases = |plan: Value| {
        let mut family = begin();
        family.give(RUN, plan);
        let state = family.file("pm_state");
        let phases = state["execution_phases"].as_array().unwrap().iter();
        let told: Vec<String> =
            phases.map(|phase| format!("{}{}", phase["phase_number"], phase["group_ids"])).collect();
        told.join(" ")
    };
    let chain = plan(&[group("C", &["B"]), group("B", &["A"]), group("A", &[])]);
    let mut alone = plan(&[group("A", &[]), group("B", &[]), group("C", &[]), group("D", &[])]);
    alone["task_groups"][1]["can_parallel"] = false.into();
    let wide = plan(&[group("A", &[]), group("B", &[]), group("C", &["A", "B"]), group("D", &["A"])]);
    expect![[r#"
        1["A"] 2["B"] 3["C"]
        1["A"] 2["B"] 3["C","D"]
        1["A","B"] 2["C","D"]"#]]
    .assert_eq(&[chain, alone, wide].map(phases).join("\n"));
}

/// Each group is a task with its branch before its run begins, and its run begins when what it waits for is merged.
#[test]
fn groups_are_tasks_and_run_at_once_up_to_four() {
    let mut family = begin();
    let ids = ["A", "B", "C", "D", "E"];
    let mut groups: Vec<Value> = ids.iter().map(|id| group(id, &[])).collect();
    groups.push(group("F", &["A"]));
    family.give(RUN, plan(&groups));
    let branches: Vec<String> = family.branches.values().flatten().cloned().collect();
    assert_eq!(branches, ["A", "B", "C", "D", "E", "F"].map(|id| format!("feature/{id}")));
    assert_eq!(family.runs.len(), 1 + 4);
    let pending = |family: &mut Family| family.file("pm_state")["pending_groups"].clone();
    assert_eq!(pending(&mut family), json!(["E", "F"]));
    complete(&mut family, "A");
    assert_eq!(pending(&mut family), json!(["F"]));
    complete(&mut family, "B");
    assert_eq!(pending(&mut family), json!([]));
    let mut simple = plan(&[group("A", &[]), group("B", &[])]);
    simple["mode"] = "simple".into();
    let mut family = begin();
    family.give(RUN, simple);
    assert_eq!(family.runs.len(), 1 + 1, "one after the other");
}

/// Only the PM ends the run, and holds the result against the requirements first.
#[test]
fn what_is_missing_is_planned_beside_what_is_complete() {
    let mut family = begin();
    family.give(RUN, plan(&[group("A", &[])]));
    complete(&mut family, "A");
    assert_eq!(family.file("orchestrator_state")["current_phase"], "pm_final_check");
    family.give(RUN, json!({ "decision": "continue", "missing": ["A password reset is nowhere"] }));
    assert_eq!(family.place(RUN), "running at plan");
    expect!["role:pm -> role:pm REQUIREMENTS_NOT_MET: A password reset is nowhere"]
        .assert_eq(family.said.last().unwrap());
    // It may change what a group has changed that is merged.
    let mut more = plan(&[group("B", &[])]);
    more["task_groups"][0]["files_affected"] = json!(["A.py"]);
    family.give(RUN, more);
    assert_eq!(family.place(RUN), "running at groups");
    let state = family.file("pm_state");
    assert_eq!((&state["completed_groups"], &state["completion_percentage"]), (&json!(["A"]), &json!(50)));
    let run = family.child("B");
    family.give(run, untested("Reset"));
    family.give(run, review("approved"));
    family.land(run);
    family.at("2025-01-06T11:00:00Z");
    family.give(RUN, json!({ "decision": "complete", "missing": [] }));
    assert_eq!(family.place(RUN), "completed at done");
    let state = family.file("orchestrator_state");
    assert_eq!((&state["status"], &state["current_phase"]), (&json!("completed"), &json!("completed")));
    assert_eq!(state["end_time"], "2025-01-06T11:00:00.000Z");
}

#[test]
fn a_check_that_is_never_content_ends_the_run() {
    let mut family = begin();
    family.give(RUN, plan(&[group("A", &[])]));
    complete(&mut family, "A");
    for id in ["B", "C", "D"] {
        family.give(RUN, json!({ "decision": "continue", "missing": [format!("{id} is missing")] }));
        family.give(RUN, plan(&[group(id, &[])]));
        complete(&mut family, id);
    }
    family.give(RUN, json!({ "decision": "continue", "missing": ["E is missing"] }));
    assert_eq!(family.place(RUN), "failed at failed");
    expect!["run 1 gave up: edge `more` reached its iteration limit: the PM does not find the requirements met: E is missing"].assert_eq(&family.why(RUN));
    assert_eq!(family.file("orchestrator_state")["status"], "error");
}
