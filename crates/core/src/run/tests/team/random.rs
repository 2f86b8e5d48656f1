//! Random plays: every file fits its schema after every event, whatever agents and people do.

use super::{Family, RUN, begin, blocked, group, plan, qa, ready, review, untested};
use crate::Code;
use crate::run::{Command, Phase};
use crate::testing::failure;
use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::{Value, json};

const MOVES: usize = 40;

/// Each event evaluates the files that it concerns, so a play costs more than one of a small workflow.
const CASES: u32 = 4;

/// Makes a plan of up to five groups, which often has errors.
fn any_plan(dice: u32) -> Value {
    let ids = ["A", "B", "C", "D", "E"];
    let count = dice as usize % ids.len() + 1;
    let mut groups: Vec<Value> = Vec::new();
    for (place, id) in ids.iter().take(count).enumerate() {
        let on = ids[(dice as usize / 7 + place) % ids.len()];
        let is_before = ids.iter().position(|id| *id == on).unwrap() < place;
        // Now and then one that is not there, or that closes a cycle.
        let depends: &[&str] = if is_before || dice.is_multiple_of(11) { &[on] } else { &[] };
        let mut group = group(id, depends);
        if (dice as usize + place).is_multiple_of(13) {
            group["files_affected"] = json!(["A.py"]);
        }
        group["can_parallel"] = (!(dice as usize + place).is_multiple_of(5)).into();
        groups.push(group);
    }
    let mut plan = plan(&groups);
    if dice.is_multiple_of(3) {
        plan["mode"] = "simple".into();
    }
    plan
}

fn any_output(family: &Family, run: crate::RunId, dice: u32) -> Value {
    let pick = |outputs: Vec<Value>| outputs[dice as usize % outputs.len()].clone();
    match family.runs[&run].node.as_str() {
        "plan" => any_plan(dice),
        "final-check" => pick(vec![
            json!({ "decision": "complete", "missing": [] }),
            json!({ "decision": "continue", "missing": ["More"] }),
        ]),
        "developer" => pick(vec![ready("It works"), untested("It is there"), blocked(), ready("Again")]),
        "qa" => pick(vec![qa("PASS"), qa("FAIL")]),
        "review" => pick(vec![review("approved"), review("changes_requested")]),
        "advise" => json!({ "feedback": "Do this" }),
        "simplify" => json!({ "note": "Less is enough" }),
        node => panic!("nobody performs `{node}`"),
    }
}

/// Makes one of the moves that are possible now, or none when the run has ended.
fn make_move(family: &mut Family, dice: u32) {
    let working: Vec<_> = family
        .runs
        .values()
        .filter(|run| !run.is_over())
        .map(|run| run.id)
        .filter(|run| *run != RUN || { matches!(family.runs[run].phase(), Some(Phase::Performing { .. })) })
        .collect();
    let Some(run) = working.get(dice as usize % working.len().max(1)).copied() else { return };
    let dice = dice / 31;
    let is_held = family.runs[&run].is_held();
    if is_held {
        family.tell(run, &Command::Resume).unwrap();
        return;
    }
    match (family.runs[&run].phase(), dice % 10) {
        (Some(Phase::Landing { .. }), 0..=5) => family.land(run),
        (Some(Phase::Landing { .. }), 6) => family.send_back(run, "Not like this"),
        (Some(Phase::Landing { .. }), 7) => family.conflict(run, "A.py"),
        (Some(Phase::Landing { .. }), 8) => family.fail(run, failure(Code::TaskNoDiff)),
        (Some(Phase::Landing { .. }), _) => family.fail(run, failure(Code::TaskCancelled)),
        (Some(Phase::Performing { .. }), 0) => {
            let role = family.role_of(run).expect("an agent performs it");
            family.open(run, &role);
        }
        (Some(Phase::Performing { .. }), 1) if run != RUN => family.worked(run, &["A.py", "B.py"], &["More"]),
        (Some(Phase::Performing { .. }), 2) => family.fail(run, failure(Code::AgentSessionFailed)),
        (Some(Phase::Performing { .. }), _) => {
            let output = any_output(family, run, dice / 10);
            family.give(run, output);
        }
        _ => {}
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(CASES))]

    #[test]
    fn every_file_fits_its_schema_after_every_event(moves in vec(any::<u32>(), MOVES)) {
        let mut family = begin();
        for dice in moves {
            family.at += jiff::SignedDuration::from_secs(i64::from(dice % 600));
            make_move(&mut family, dice);
        }
        let state = family.file("pm_state");
        let listed = |name: &str| state[name].as_array().unwrap().len();
        let groups = state["task_groups"].as_array().unwrap().len();
        prop_assert!(listed("completed_groups") + listed("in_progress_groups") <= family.runs.len());
        prop_assert!(listed("pending_groups") <= groups);
        let steps = family.file("orchestrator_state")["decisions_log"].as_array().unwrap().len();
        prop_assert_eq!(u64::try_from(steps).unwrap(), state["iteration"].as_u64().unwrap());
    }
}
