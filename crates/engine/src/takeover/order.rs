//! Puts tasks in an order in which each comes after those that it depends on, and names every dependency that cannot be
//! kept: on nothing, on itself, around in a circle.

use crate::takeover::fit;
use crate::takeover::found::{Found, TaskFound};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap};

/// As many tasks may a task depend on.
const DEPENDENCIES_MAX: usize = 100;

/// Names items that are there twice apart, drops dependencies that cannot be kept, and sorts.
pub(crate) fn settle(found: &mut Found) {
    let mut told: Vec<(String, String)> = Vec::new();
    for name in found.tasks.iter_mut().flat_map(|task| task.depends_on.iter_mut().chain([&mut task.item])) {
        *name = fit::item(name);
    }
    let places = name_apart(&mut found.tasks, &mut told);
    let wanted: Vec<Vec<usize>> = found
        .tasks
        .iter()
        .enumerate()
        .map(|(at, task)| find_upstream(at, task, &places, &mut told))
        .collect();
    let (order, dropped) = sort(&wanted);
    let mut kept: Vec<BTreeSet<usize>> = wanted.iter().map(|on| on.iter().copied().collect()).collect();
    for (task, on) in dropped {
        kept[task].remove(&on);
        let (task, on) = (&found.tasks[task], &found.tasks[on].item);
        told.push((
            task.file.clone(),
            format!("{} depends on {on} in a cycle; the dependency was dropped", task.item),
        ));
    }
    let items: Vec<String> = found.tasks.iter().map(|task| task.item.clone()).collect();
    for (task, on) in found.tasks.iter_mut().zip(&kept) {
        // In the order of the file.
        let mut named: Vec<String> = Vec::new();
        for at in on.iter().take(DEPENDENCIES_MAX) {
            named.push(items[*at].clone());
        }
        if on.len() > DEPENDENCIES_MAX {
            let what = format!(
                "{}: only the first {DEPENDENCIES_MAX} of its {} dependencies were imported",
                task.item,
                on.len()
            );
            told.push((task.file.clone(), what));
        }
        task.depends_on = named;
    }
    let mut tasks: Vec<Option<TaskFound>> = std::mem::take(&mut found.tasks).into_iter().map(Some).collect();
    found.tasks = order.into_iter().filter_map(|at| tasks[at].take()).collect();
    for (file, what) in told {
        found.odd(&file, None, what);
    }
}

/// Returns the first task of each item. A second one gets a name of its own.
fn name_apart(tasks: &mut [TaskFound], told: &mut Vec<(String, String)>) -> BTreeMap<String, usize> {
    let mut places: BTreeMap<String, usize> = BTreeMap::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (at, task) in tasks.iter_mut().enumerate() {
        if places.contains_key(&task.item) {
            let item = task.item.clone();
            let count = counts.entry(item.clone()).or_insert(1);
            while places.contains_key(&task.item) {
                *count += 1;
                task.item = format!("{item}~{count}");
            }
            let what = format!(
                "{item} appears twice; this one is called {}, and dependencies refer to the first",
                task.item
            );
            told.push((task.file.clone(), what));
        }
        places.insert(task.item.clone(), at);
    }
    places
}

fn find_upstream(
    at: usize,
    task: &TaskFound,
    places: &BTreeMap<String, usize>,
    told: &mut Vec<(String, String)>,
) -> Vec<usize> {
    let (mut upstream, mut known) = (Vec::new(), BTreeSet::new());
    for on in &task.depends_on {
        match places.get(on) {
            Some(place) if *place == at => {
                told.push((
                    task.file.clone(),
                    format!("{} depends on itself; the dependency was dropped", task.item),
                ));
            }
            Some(place) if !known.insert(*place) => {}
            Some(place) => upstream.push(*place),
            None => told.push((
                task.file.clone(),
                format!("{} depends on {on}, which does not exist; the dependency was dropped", task.item),
            )),
        }
    }
    upstream
}

/// Sorts, the first of the file first where it can be; returns the dependencies that had to be dropped too.
fn sort(upstream: &[Vec<usize>]) -> (Vec<usize>, Vec<(usize, usize)>) {
    let mut downstream: Vec<Vec<usize>> = vec![Vec::new(); upstream.len()];
    for (task, on) in upstream.iter().enumerate() {
        on.iter().for_each(|on| downstream[*on].push(task));
    }
    let mut open: Vec<usize> = upstream.iter().map(Vec::len).collect();
    let mut is_placed = vec![false; upstream.len()];
    let mut ready: BinaryHeap<Reverse<usize>> =
        open.iter().enumerate().filter(|(_, open)| **open == 0).map(|(at, _)| Reverse(at)).collect();
    let (mut order, mut dropped) = (Vec::new(), Vec::new());
    let mut stuck = 0;
    while order.len() < upstream.len() {
        let task = match ready.pop() {
            Some(Reverse(task)) => task,
            // Everything that is left waits for a circle: the first of the file goes ahead.
            None => {
                while is_placed[stuck] {
                    stuck += 1;
                }
                dropped.extend(upstream[stuck].iter().filter(|on| !is_placed[**on]).map(|on| (stuck, *on)));
                stuck
            }
        };
        if is_placed[task] {
            continue;
        }
        is_placed[task] = true;
        order.push(task);
        for next in &downstream[task] {
            open[*next] = open[*next].saturating_sub(1);
            if open[*next] == 0 && !is_placed[*next] {
                ready.push(Reverse(*next));
            }
        }
    }
    (order, dropped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::takeover::kind::Kind;
    use proptest::prelude::*;

    fn settled(tasks: &[(&str, &[&str])]) -> Found {
        let mut found = Found::new(Kind::Csv);
        for (item, on) in tasks {
            let mut task = TaskFound::new(*item, "f", item.as_bytes());
            task.depends_on = on.iter().map(|on| (*on).to_owned()).collect();
            found.tasks.push(task);
        }
        settle(&mut found);
        found
    }

    fn show(found: &Found) -> String {
        let tasks = found.tasks.iter().map(|task| format!("{}({})", task.item, task.depends_on.join(",")));
        let odd = found.oddities.iter().map(|oddity| oddity.what.clone());
        tasks.chain(odd).collect::<Vec<_>>().join("\n")
    }

    #[test]
    fn what_cannot_be_kept_is_named() {
        let found = settled(&[
            ("b", &["a", "x"]),
            ("a", &["a"]),
            ("a", &["b"]),
            ("p", &["q"]),
            ("q", &["r"]),
            ("r", &["p"]),
        ]);
        expect_test::expect![[r#"
            a()
            b(a)
            a~2(b)
            p()
            r(p)
            q(r)
            a appears twice; this one is called a~2, and dependencies refer to the first
            b depends on x, which does not exist; the dependency was dropped
            a depends on itself; the dependency was dropped
            p depends on q in a cycle; the dependency was dropped"#]]
        .assert_eq(&show(&found));
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 64, ..ProptestConfig::default() })]

        #[test]
        fn every_task_comes_after_those_that_it_depends_on(edges in prop::collection::vec((0_usize..12, 0_usize..12), 0..40)) {
            let mut found = Found::new(Kind::Csv);
            for at in 0..12 {
                let mut task = TaskFound::new(format!("t{at}"), "f", b"");
                task.depends_on = edges.iter().filter(|(from, _)| *from == at).map(|(_, on)| format!("t{on}")).collect();
                found.tasks.push(task);
            }
            settle(&mut found);
            prop_assert_eq!(found.tasks.len(), 12);
            let mut before: Vec<String> = Vec::new();
            for task in &found.tasks {
                prop_assert!(task.depends_on.iter().all(|on| before.contains(on)));
                before.push(task.item.clone());
            }
        }
    }
}
