//! The index of a mapping agrees with a look at all of its children.

use super::outputs::Dice;
use crate::Code;
use crate::RunId;
use crate::run::{Child, ChildEnd, Item, Mapping};
use crate::testing::failure;
use serde_json::Value;

const MAPS: u64 = 400;
const ITEMS_MAX: u64 = 9;

fn key(number: u64) -> String {
    format!("k{number}")
}

/// Items that may depend on any other, on themselves, on one that does not exist, and on the same one twice.
fn any_items(dice: &mut Dice) -> Vec<Item> {
    let count = dice.roll(ITEMS_MAX);
    let depends = |dice: &mut Dice| (0..dice.roll(3)).map(|_| key(dice.roll(count + 1))).collect();
    (0..count).map(|number| Item { key: key(number), depends: depends(dice), input: Value::Null }).collect()
}

fn any_end(dice: &mut Dice) -> ChildEnd {
    match dice.roll(4) {
        0 => ChildEnd::Failed { error: failure(Code::RunFailed) },
        1 => ChildEnd::Skipped,
        _ => ChildEnd::Completed { result: Value::Null },
    }
}

fn waits(child: &Child) -> bool {
    child.run.is_none() && child.end.is_none()
}

fn find_startable(mapping: &Mapping) -> Vec<&Item> {
    let children = mapping.children();
    let is_completed = |key: &String| {
        let found = children.iter().find(|child| child.item.key == *key);
        matches!(found.and_then(|child| child.end.as_ref()), Some(ChildEnd::Completed { .. }))
    };
    let under_way = children.iter().filter(|child| child.run.is_some() && child.end.is_none()).count();
    let free = (mapping.max_parallel as usize).saturating_sub(under_way);
    let ready = children.iter().filter(|child| waits(child) && child.item.depends.iter().all(is_completed));
    ready.take(free).map(|child| &child.item).collect()
}

fn find_lost(mapping: &Mapping, key: &str) -> Vec<String> {
    let mut lost = vec![key.to_owned()];
    loop {
        let depends = |child: &&Child| child.item.depends.iter().any(|on| lost.contains(on));
        let is_new = |child: &&Child| waits(child) && !lost[1..].contains(&child.item.key);
        let next: Vec<String> = mapping
            .children()
            .iter()
            .filter(depends)
            .filter(is_new)
            .map(|child| child.item.key.clone())
            .collect();
        if next.is_empty() {
            return lost.split_off(1);
        }
        lost.extend(next);
    }
}

fn assert_same(mapping: &Mapping) {
    assert_eq!(mapping.startable(), find_startable(mapping));
    for Child { item, .. } in mapping.children() {
        assert_eq!(
            mapping.find_lost(&item.key),
            find_lost(mapping, &item.key),
            "{} of {mapping:?}",
            item.key
        );
    }
    let open = mapping.children().iter().filter(|child| child.end.is_none());
    let under_way: Vec<RunId> = open.clone().filter_map(|child| child.run).collect();
    assert_eq!(mapping.under_way().collect::<Vec<_>>(), under_way);
    assert_eq!((mapping.count_open(), mapping.is_over()), (open.clone().count(), open.count() == 0));
    assert!(under_way.iter().all(|run| mapping.find_run(*run).is_some_and(|found| found.run == Some(*run))));
    let read: Mapping = serde_json::from_str(&serde_json::to_string(mapping).unwrap()).unwrap();
    assert_eq!(read, *mapping, "what is read back has the same book");
}

#[test]
fn the_book_says_what_a_look_at_all_children_would() {
    let mut started = 0;
    for seed in 0..MAPS {
        let dice = &mut Dice::new(seed);
        let items = any_items(dice);
        let parallel = u32::try_from(dice.roll(4)).unwrap();
        let mut mapping = Mapping::new("child".to_owned(), parallel, &items);
        assert_same(&mapping);
        for number in 0..3 * items.len() as u64 {
            let key = key(dice.roll(items.len() as u64 + 1));
            match dice.roll(2) {
                0 => mapping.start(&key, RunId::new(u32::try_from(number + 2).unwrap()).unwrap()),
                _ => mapping.end(&key, any_end(dice)),
            }
            assert_same(&mapping);
        }
        started += mapping.children().iter().filter(|child| child.run.is_some()).count();
    }
    assert!(started > 500, "{started}");
}
