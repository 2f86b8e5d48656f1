//! Where a replay differs from its recording: in the run that a person started, and in each child of it.
//!
//! Everything after a different choice differs as well, so after the first step that differs, a run and the
//! children that it started later are not compared. Neither is what would have followed after a person
//! stopped the run, because the recording ends there.

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
    let cuts = find_cuts(&old, &new);
    let mut found = Vec::new();
    let mut parted: BTreeMap<&[Stage], u64> = BTreeMap::new();
    // A run comes before its children, because its path is a prefix of theirs.
    for way in old.keys().chain(new.keys()).copied().collect::<BTreeSet<_>>() {
        if is_beyond(&parted, way, |step, parted| step > parted) {
            continue;
        }
        match (old.get(way), new.get(way)) {
            (Some(old), Some(new)) => {
                let step = compare_runs(old, new, cuts.get(way).copied(), &mut found);
                parted.extend(step.map(|step| (way, step)));
            }
            // How many of its children had begun when it was cut off is arbitrary.
            _ if is_beyond(&cuts, way, |step, cut| step >= cut) => {}
            (old, _) => {
                parted.insert(way, 0);
                let text =
                    if old.is_some() { "recorded a child, now none" } else { "recorded no child, now one" };
                found.push(Difference::at(way, 1, text.to_owned()));
            }
        }
    }
    if then.root.status != now.root.status && !cuts.contains_key([].as_slice()) {
        let text = format!("the run was {}, and is {}", then.root.status, now.root.status);
        found.push(Difference::of_run(text));
    }
    found
}

/// Returns the runs that were cut off when a person stopped one, each with its step: those that were stopped,
/// and those that waited for one and still do, because it continues now.
fn find_cuts<'t>(old: &Family<'t>, new: &Family<'t>) -> BTreeMap<&'t [Stage], u64> {
    let mut cuts: BTreeMap<&[Stage], u64> = BTreeMap::new();
    for (way, run) in old.iter().filter(|(_, run)| run.is_stopped()) {
        let is_stopped_now = new.get(way).is_some_and(|run| run.is_stopped());
        let waiting = if is_stopped_now { &[] } else { *way };
        let waiting = waiting.iter().enumerate().map(|(depth, stage)| (&way[..depth], stage.step));
        for (way, step) in waiting.chain([(*way, run.steps.len() as u64 + 1)]) {
            cuts.entry(way).and_modify(|cut| *cut = step.min(*cut)).or_insert(step);
        }
    }
    cuts
}

/// Tells whether a child was started at a step of a run above it that no longer counts.
fn is_beyond(steps: &BTreeMap<&[Stage], u64>, way: &[Stage], counts_not: fn(u64, u64) -> bool) -> bool {
    let mut above = way.iter().enumerate();
    above.any(|(depth, stage)| steps.get(&way[..depth]).is_some_and(|step| counts_not(stage.step, *step)))
}

/// Compares one run, up to the step at which it was cut off, and returns the first step that differs.
fn compare_runs(
    then: &RecordedRun,
    now: &RecordedRun,
    cut: Option<u64>,
    found: &mut Vec<Difference>,
) -> Option<u64> {
    let way = &now.way;
    let steps_max = cut.map_or(usize::MAX, |step| step.saturating_sub(1) as usize);
    let mut places = 0..then.steps.len().max(now.steps.len()).min(steps_max);
    let parted = places.find(|place| then.steps.get(*place) != now.steps.get(*place));
    if let Some(place) = parted {
        let text = format!("recorded {}, now {}", shown(then.steps.get(place)), shown(now.steps.get(place)));
        found.push(Difference::at(way, place as u64 + 1, text));
    }
    let parted = parted.map(|place| place as u64 + 1);
    if cut.is_none() || parted.is_some() {
        compare_ends(then, now, cut.is_some(), found);
    }
    parted
}

/// Compares how a run ended, or what holds it; a run that was cut off has no end of its own.
fn compare_ends(then: &RecordedRun, now: &RecordedRun, is_cut: bool, found: &mut Vec<Difference>) {
    let way = &now.way;
    let is_other = !is_cut && then.status != now.status;
    // A recording of an older version does not know the code.
    let fails_otherwise = !is_cut && !is_other && then.error.is_some() && then.error != now.error;
    // A replay that is held by an error has not come to the end of its recording, whatever held the recorded run.
    let is_told = |trouble: &&Trouble| is_cut || is_other || fails_otherwise || trouble.is_held;
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

    fn stopped(run: RecordedRun) -> RecordedRun {
        RecordedRun { error: Some("RUN_STOPPED".to_owned()), status: "failed".to_owned(), ..run }
    }

    fn held(run: RecordedRun) -> RecordedRun {
        let trouble = Some(Trouble { step: 2, text: "RUN_FAILED: no answer".to_owned(), is_held: true });
        RecordedRun { trouble, status: "paused".to_owned(), ..run }
    }

    #[test]
    fn what_would_follow_a_stop_is_not_compared() {
        let then = head(stopped(run(&[], "failed", &ROOT[..1])), Vec::new());
        for now in [
            run(&[], "completed", ROOT),
            held(run(&[], "paused", &ROOT[..1])),
            stopped(run(&[], "failed", &ROOT[..1])),
        ] {
            let child = run(&[(2, "a")], "running", &[]);
            assert_eq!(found(&then, &head(now, vec![child])), [""; 0]);
        }
        let now = head(held(run(&[], "paused", &[])), Vec::new());
        assert_eq!(
            found(&then, &now),
            ["step 1: recorded `each` -on-> `each`, now nothing", "step 2: RUN_FAILED: no answer"]
        );
        let then = head(stopped(run(&[], "failed", &ROOT[..1])), vec![run(&[(1, "a")], "completed", &[])]);
        let now = head(run(&[], "completed", ROOT), Vec::new());
        assert_eq!(found(&then, &now), ["step 1 for a, step 1: recorded a child, now none"]);
    }

    #[test]
    fn what_waited_for_a_stopped_child_is_compared_up_to_there() {
        let one = &[("work", "more"), ("more", "done")];
        let then = head(
            run(&[], "completed", ROOT),
            vec![
                stopped(run(&[(2, "a")], "failed", &one[..1])),
                run(&[(2, "b")], "completed", one),
                run(&[(2, "c")], "completed", one),
            ],
        );
        let now = |to: &str| {
            let b = run(&[(2, "b")], "completed", &[("work", "more"), ("more", to)]);
            let children = vec![held(run(&[(2, "a")], "paused", &one[..1])), b];
            head(run(&[], "running", &ROOT[..1]), children)
        };
        assert_eq!(found(&then, &now("done")), [""; 0]);
        assert_eq!(
            found(&then, &now("other")),
            ["step 2 for b, step 2: recorded `more` -on-> `done`, now `more` -on-> `other`"]
        );
        let as_then = head(run(&[], "completed", &ROOT[..1]), then.children.clone());
        assert_eq!(
            found(&then, &as_then),
            ["step 2: recorded `each` -on-> `done`, now nothing"],
            "a replay in which it is stopped too is compared as a whole"
        );
    }

    #[test]
    fn a_child_that_is_missing_is_told_once() {
        let child = |way: &[(u64, &str)]| run(way, "completed", &[]);
        let then = head(
            run(&[], "completed", ROOT),
            vec![child(&[(1, "a")]), child(&[(1, "b")]), child(&[(1, "b"), (1, "x")])],
        );
        let now = head(run(&[], "completed", ROOT), vec![child(&[(1, "a")])]);
        assert_eq!(found(&then, &now), ["step 1 for b, step 1: recorded a child, now none"]);
    }
}
