//! Where a replay went otherwise than its tape: the run that a person began, and each child of it.
//!
//! What follows another choice is another story: after the first step that differs, a run and the children that it began
//! later are not compared.

use super::difference::Difference;
use super::tape_head::{TapeHead, TapeRun, TapeStep, Trouble};
use super::way::Stage;
use std::collections::{BTreeMap, BTreeSet};

/// Says what the second of two families did otherwise.
pub(super) fn compare(then: &TapeHead, now: &TapeHead) -> Vec<Difference> {
    let [old, new] = [then, now].map(|head| {
        let runs = [&head.root].into_iter().chain(&head.children);
        runs.map(|run| (run.way.as_slice(), run)).collect::<BTreeMap<_, _>>()
    });
    let mut found = Vec::new();
    let mut parted: BTreeMap<&[Stage], u64> = BTreeMap::new();
    // A run comes before its children, because its way is the beginning of theirs.
    for way in old.keys().chain(new.keys()).copied().collect::<BTreeSet<_>>() {
        if is_beyond(&parted, way) {
            continue;
        }
        match (old.get(way), new.get(way)) {
            (Some(old), Some(new)) => {
                parted.extend(compare_runs(old, new, &mut found).map(|step| (way, step)))
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

/// Tells whether a child was begun after one that it belongs to had gone elsewhere.
fn is_beyond(parted: &BTreeMap<&[Stage], u64>, way: &[Stage]) -> bool {
    way.iter()
        .enumerate()
        .any(|(depth, stage)| parted.get(&way[..depth]).is_some_and(|step| stage.step > *step))
}

/// Compares one run, and returns the step from which on it went elsewhere.
fn compare_runs(then: &TapeRun, now: &TapeRun, found: &mut Vec<Difference>) -> Option<u64> {
    let way = &now.way;
    let places = 0..then.steps.len().max(now.steps.len());
    let parted = places.map(|place| (place, then.steps.get(place), now.steps.get(place)));
    let parted = parted.into_iter().find(|(_, old, new)| old != new);
    if let Some((place, old, new)) = parted {
        let text = format!("recorded {}, now {}", shown(old), shown(new));
        found.push(Difference::at(way, place as u64 + 1, text));
    }
    let is_other = then.status != now.status;
    // A tape of an older version does not know the code.
    let fails_otherwise = !is_other && then.error.is_some() && then.error != now.error;
    // A replay that is held by an error has not come to the end of its tape, whatever held the recorded run.
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
    parted.map(|(place, _, _)| place as u64 + 1)
}

fn shown(step: Option<&TapeStep>) -> String {
    step.map_or_else(
        || "nothing".to_owned(),
        |step| format!("`{}` -{}-> `{}`", step.node, step.edge, step.to),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    fn run(way: &[(u64, &str)], status: &str, steps: &[(&str, &str)]) -> TapeRun {
        let stage = |(step, item): &(u64, &str)| Stage {
            step: *step,
            node: "each".to_owned(),
            visit: 1,
            item: (*item).to_owned(),
        };
        let step = |(node, to): &(&str, &str)| TapeStep {
            node: (*node).to_owned(),
            edge: "on".to_owned(),
            to: (*to).to_owned(),
        };
        TapeRun {
            way: way.iter().map(stage).collect(),
            status: status.to_owned(),
            error: None,
            steps: steps.iter().map(step).collect(),
            answers: Vec::new(),
            decisions: Vec::new(),
            trouble: None,
        }
    }

    fn head(root: TapeRun, children: Vec<TapeRun>) -> TapeHead {
        TapeHead {
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

    fn found(then: &TapeHead, now: &TapeHead) -> Vec<String> {
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
        let child = TapeRun { trouble, ..run(&[(1, "a")], "paused", &[]) };
        let now = head(run(&[], "running", &[]), vec![child]);
        assert_eq!(found(&then, &now), ["step 1 for a, step 1: RUN_FAILED: no answer"]);
    }

    #[test]
    fn another_failure_after_the_same_steps_is_not_the_same() {
        let failed = |code: &str| {
            let trouble = Some(Trouble { step: 3, text: format!("{code}: so"), is_held: false });
            let error = Some(code.to_owned());
            head(TapeRun { trouble, error, ..run(&[], "failed", ROOT) }, Vec::new())
        };
        let (one, other) = (failed("RUN_FAILED"), failed("EXPR_FAILED"));
        assert_eq!(found(&one, &one), [""; 0]);
        assert_eq!(
            found(&one, &other),
            ["step 3: EXPR_FAILED: so", "step 3: failed with RUN_FAILED, and fails with EXPR_FAILED"]
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
