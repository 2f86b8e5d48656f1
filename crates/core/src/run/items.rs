//! The items of a `map` node as a run accepts them.
//!
//! Each has a key of its own and waits for others only if they can end before it: an item that could never
//! start would keep the run waiting forever, so it is refused when the node is reached.

use super::Item;
use regatta_flow::{self as flow, Expression, Look, Node, NodeKind, StepFault};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};

/// Evaluates the items of a `map` node.
pub(super) fn find_items(look: &Look<'_>, node: &Node) -> Result<Vec<Item>, StepFault> {
    let NodeKind::Map { workflow, items: list, key, depends, .. } = &node.kind else { return Ok(Vec::new()) };
    let missing = || StepFault::Missing { kind: "child", name: workflow.name.clone() };
    let child = look.workflow().children.get(&workflow.name).ok_or_else(missing)?;
    let item = |item: flow::MapItem| Item { key: item.key, depends: item.depends, input: item.value };
    let items: Vec<Item> = flow::map_items(look, node)?.into_iter().map(item).collect();
    if let Some(twice) = find_twice(&items) {
        return Err(unusable(key, "a key that no other item has", Value::from(twice.key.as_str())));
    }
    if let Some(depends) = depends {
        check_order(&items, depends)?;
    }
    for Item { key, input, .. } in &items {
        child.fit_input(&mut input.clone()).map_err(|faults| StepFault::ChildInput {
            part: list.part().clone(),
            key: key.clone(),
            child: workflow.name.clone(),
            faults,
        })?;
    }
    Ok(items)
}

fn unusable(expression: &Expression, wanted: &'static str, found: Value) -> StepFault {
    let (part, expression) = (expression.part().clone(), expression.text().to_owned());
    StepFault::Unusable { part, expression, wanted, found }
}

fn find_twice(items: &[Item]) -> Option<&Item> {
    let mut keys = BTreeSet::new();
    items.iter().find(|item| !keys.insert(item.key.as_str()))
}

/// Refuses items of which one would never start, even if every other completed.
fn check_order(items: &[Item], depends: &Expression) -> Result<(), StepFault> {
    let places: BTreeMap<&str, usize> =
        items.iter().enumerate().map(|(index, item)| (item.key.as_str(), index)).collect();
    let (part, expression) = (|| depends.part().clone(), || depends.text().to_owned());
    for Item { key, depends, .. } in items {
        if let Some(missing) = depends.iter().find(|key| !places.contains_key(key.as_str())) {
            let (key, missing) = (key.clone(), missing.clone());
            return Err(StepFault::UnknownItem { part: part(), expression: expression(), key, missing });
        }
    }
    match find_circle(items, &places) {
        Some(circle) => Err(StepFault::ItemsInCircle { part: part(), expression: expression(), circle }),
        None => Ok(()),
    }
}

/// Returns the keys of items that wait for each other, from one of them round to the same.
fn find_circle(items: &[Item], places: &BTreeMap<&str, usize>) -> Option<Vec<String>> {
    let is_stuck = find_stuck(items);
    let needed = |index: usize| {
        let found = items[index].depends.iter().filter_map(|key| places.get(key.as_str()));
        found.copied().find(|index| is_stuck[*index])
    };
    // Each that is stuck waits for another that is, so the way through them comes back to where it has been.
    let mut way = vec![is_stuck.iter().position(|is_stuck| *is_stuck)?];
    let mut been = BTreeSet::new();
    while let Some(next) = way.last().filter(|index| been.insert(**index)).and_then(|index| needed(*index)) {
        way.push(next);
    }
    let first = way.iter().position(|index| Some(index) == way.last())?;
    Some(way[first..].iter().map(|index| items[*index].key.clone()).collect())
}

/// Tells of each item whether it would never start, even if every other completed.
fn find_stuck(items: &[Item]) -> Vec<bool> {
    let mut missing: Vec<usize> = items.iter().map(|item| item.depends.len()).collect();
    let mut dependents: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (index, item) in items.iter().enumerate() {
        for key in &item.depends {
            dependents.entry(key).or_default().push(index);
        }
    }
    let mut free: Vec<usize> = (0..items.len()).filter(|index| missing[*index] == 0).collect();
    while let Some(done) = free.pop() {
        for index in dependents.remove(items[done].key.as_str()).unwrap_or_default() {
            missing[index] -= 1;
            if missing[index] == 0 {
                free.push(index);
            }
        }
    }
    missing.iter().map(|missing| *missing > 0).collect()
}
