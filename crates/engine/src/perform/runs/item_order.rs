//! The order in which items become tasks: as the workflow lists them, but each after those that it depends on.

use regatta_flow::BoardItem;
use std::collections::BTreeMap;

/// Sorts the items; those that wait for each other come in the order in which they are found.
pub(super) fn sort(items: &[BoardItem]) -> Vec<&BoardItem> {
    let places: BTreeMap<&str, usize> =
        items.iter().enumerate().map(|(place, item)| (item.key.as_str(), place)).collect();
    let (mut is_seen, mut is_placed) = (vec![false; items.len()], vec![false; items.len()]);
    let mut sorted = Vec::with_capacity(items.len());
    for first in 0..items.len() {
        // Not recursive: a chain may be as long as the list.
        let mut waiting = vec![first];
        while let Some(place) = waiting.last().copied() {
            is_seen[place] = true;
            let mut needed = items[place].depends.iter().filter_map(|key| places.get(key.as_str()).copied());
            if let Some(on) = needed.find(|on| !is_seen[*on]) {
                waiting.push(on);
                continue;
            }
            waiting.pop();
            if !std::mem::replace(&mut is_placed[place], true) {
                sorted.push(&items[place]);
            }
        }
    }
    sorted
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sorted(items: &[(&str, &[&str])]) -> String {
        let item = |(key, depends): &(&str, &[&str])| BoardItem {
            key: (*key).to_owned(),
            title: String::new(),
            description: String::new(),
            criteria: Vec::new(),
            priority: None,
            depends: depends.iter().map(|on| (*on).to_owned()).collect(),
            branch: None,
            base: None,
        };
        let items: Vec<BoardItem> = items.iter().map(item).collect();
        sort(&items).iter().map(|item| item.key.as_str()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn an_item_comes_after_those_that_it_depends_on() {
        assert_eq!(sorted(&[("a", &[]), ("b", &["a"]), ("c", &[])]), "a b c");
        assert_eq!(sorted(&[("a", &["c", "b"]), ("b", &["d"]), ("c", &[]), ("d", &[])]), "c d b a");
        assert_eq!(sorted(&[("a", &["b"]), ("b", &["a"]), ("c", &["a", "x"])]), "b a c");
    }
}
