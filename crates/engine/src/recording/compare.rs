//! Where a replay differs from its recording: in the run that a person started, and in each child of it.
//!
//! Everything after a different choice differs as well, so after the first step that differs, a run and the
//! children that it started later are not compared.

use crate::recording::difference::Difference;
use crate::recording::head::{RecordedRun, RecordedStep, RecordingHead, Trouble};
use crate::runs::path::Stage;
use std::collections::{BTreeMap, BTreeSet};

/// The runs of a family, by the paths to them.
type Family<'t> = BTreeMap<&'t [Stage], &'t RecordedRun>;

/// Says what the second of two families did differently.
pub(crate) fn compare(then: &RecordingHead, now: &RecordingHead) -> Vec<Difference> {
    let [old, new] = [then, now].map(|head| {
        let runs = [&head.root].into_iter().chain(&head.children);
        runs.map(|run| (run.way.as_slice(), run)).collect::<Family<'_>>()
    });
    let mut found = Vec::new();
    let mut parted: BTreeMap<&[Stage], u64> = BTreeMap::new();
    // A run comes before its children, because its path is a prefix of theirs.
    for way in old.keys().chain(new.keys()).copied().collect::<BTreeSet<_>>() {
        if is_beyond(&parted, way) {
            continue;
        }
        match (old.get(way), new.get(way)) {
            (Some(old), Some(new)) => {
                let step = compare_runs(old, new, &mut found);
                parted.extend(step.map(|step| (way, step)));
            }
            (old, _) => {
                parted.insert(way, 0);
                let text =
                    if old.is_some() { "recorded a child, now none" } else { "recorded no child, now one" };
                found.push(Difference::at(way, 1, text.to_owned()));
            }
        }
    }
    if then.root.status != now.root.status {
        let text = format!("the run was {}, and is {}", then.root.status, now.root.status);
        found.push(Difference::of_run(text));
    }
    found
}

/// Tells whether a child was started at a step of a run above it that no longer counts.
fn is_beyond(parted: &BTreeMap<&[Stage], u64>, way: &[Stage]) -> bool {
    let mut above = way.iter().enumerate();
    above.any(|(depth, stage)| parted.get(&way[..depth]).is_some_and(|step| stage.step > *step))
}

/// Compares one run, and returns the first step that differs.
fn compare_runs(then: &RecordedRun, now: &RecordedRun, found: &mut Vec<Difference>) -> Option<u64> {
    let mut places = 0..then.steps.len().max(now.steps.len());
    let parted = places.find(|place| then.steps.get(*place) != now.steps.get(*place));
    if let Some(place) = parted {
        let text = format!("recorded {}, now {}", shown(then.steps.get(place)), shown(now.steps.get(place)));
        found.push(Difference::at(&now.way, place as u64 + 1, text));
    }
    compare_ends(then, now, found);
    parted.map(|place| place as u64 + 1)
}

/// Compares how a run ended, or what holds it.
fn compare_ends(then: &RecordedRun, now: &RecordedRun, found: &mut Vec<Difference>) {
    let way = &now.way;
    let is_other = then.status != now.status;
    // A recording of an older version does not know the code.
    let fails_otherwise = !is_other && then.error.is_some() && then.error != now.error;
    // A replay that is held by an error has not come to the end of its recording, whatever held the recorded run.
    let is_told = |trouble: &&Trouble| is_other || fails_otherwise || trouble.is_held;
    let trouble = now.trouble.as_ref().filter(is_told);
    found.extend(trouble.map(|trouble| Difference::at(way, trouble.step, trouble.text.clone())));
    if let (true, Some(old), Some(new)) = (fails_otherwise, &then.error, &now.error) {
        let text = format!("failed with {old}, and fails with {new}");
        found.push(Difference::at(way, now.steps.len() as u64 + 1, text));
    }
    if is_other && !way.is_empty() {
        let text = format!("the child was {}, and is {}", then.status, now.status);
        found.push(Difference::at(way, now.steps.len() as u64 + 1, text));
    }
}

fn shown(step: Option<&RecordedStep>) -> String {
    step.map_or_else(
        || "nothing".to_owned(),
        |step| format!("`{}` -{}-> `{}`", step.node, step.edge, step.to),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn run(way: &[(u64, &str)], status: &str, steps: &[(&str, &str)]) -> RecordedRun {
        let stage = |(step, item): &(u64, &str)| Stage {
            step: *step,
            node: "each".to_owned(),
            visit: 1,
            item: (*item).to_owned(),
        };
        let step = |(node, to): &(&str, &str)| RecordedStep {
            node: (*node).to_owned(),
            edge: "on".to_owned(),
            to: (*to).to_owned(),
        };
        RecordedRun {
            way: way.iter().map(stage).collect(),
            status: status.to_owned(),
            error: None,
            steps: steps.iter().map(step).collect(),
            answers: Vec::new(),
            signals: Vec::new(),
            edits: Vec::new(),
            decisions: Vec::new(),
            trouble: None,
        }
    }

    fn head(root: RecordedRun, children: Vec<RecordedRun>) -> RecordingHead {
        RecordingHead {
            run_id: None,
            workflow: "fan".to_owned(),
            digest: String::new(),
            level: 1,
            board: true,
            input: Value::Null,
            base: None,
            root,
            children,
        }
    }

    fn found(then: &RecordingHead, now: &RecordingHead) -> Vec<String> {
        compare(then, now).iter().map(ToString::to_string).collect()
    }

    const ROOT: &[(&str, &str)] = &[("each", "each"), ("each", "done")];

    #[test]
    fn a_child_that_decides_otherwise_is_seen() {
        let whole = |to: &str| {
            let children = vec![
                run(&[(1, "a")], "completed", &[("work", "done")]),
                run(&[(1, "b")], "completed", &[("work", to)]),
                run(&[(2, "a")], "completed", &[("work", "done")]),
            ];
            head(run(&[], "completed", ROOT), children)
        };
        assert_eq!(found(&whole("done"), &whole("done")), [""; 0]);
        assert_eq!(
            found(&whole("done"), &whole("other")),
            ["step 1 for b, step 1: recorded `work` -on-> `done`, now `work` -on-> `other`"]
        );
    }

    #[test]
    fn what_follows_another_choice_is_not_told() {
        let then = head(
            run(&[], "completed", ROOT),
            vec![run(&[(1, "a")], "completed", &[]), run(&[(2, "a")], "completed", &[])],
        );
        let now = head(run(&[], "completed", &ROOT[1..]), vec![run(&[(1, "a")], "completed", &[])]);
        assert_eq!(found(&then, &now), ["step 1: recorded `each` -on-> `each`, now `each` -on-> `done`"]);
    }

    #[test]
    fn a_child_that_is_held_is_not_the_same() {
        let then = head(run(&[], "running", &[]), vec![run(&[(1, "a")], "paused", &[])]);
        let trouble = Some(Trouble { step: 1, text: "RUN_FAILED: no answer".to_owned(), is_held: true });
        let child = RecordedRun { trouble, ..run(&[(1, "a")], "paused", &[]) };
        let now = head(run(&[], "running", &[]), vec![child]);
        assert_eq!(found(&then, &now), ["step 1 for a, step 1: RUN_FAILED: no answer"]);
    }

    #[test]
    fn another_failure_after_the_same_steps_is_not_the_same() {
        let failed = |code: &str| {
            let trouble = Some(Trouble { step: 3, text: format!("{code}: so"), is_held: false });
            let error = Some(code.to_owned());
            head(RecordedRun { trouble, error, ..run(&[], "failed", ROOT) }, Vec::new())
        };
        let (one, other) = (failed("RUN_FAILED"), failed("EXPR_FAILED"));
        assert_eq!(found(&one, &one), [""; 0]);
        assert_eq!(
            found(&one, &other),
            ["step 3: EXPR_FAILED: so", "step 3: failed with RUN_FAILED, and fails with EXPR_FAILED"]
        );
    }
}
