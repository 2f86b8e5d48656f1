//! Matches the parts of a new text with the parts of the old one.
//!
//! Parts with the same key belong together; where a key occurs several times, those at the same end of the
//! text do. The remaining parts in the same gap are paired in order, so that a reworded criterion is still
//! the same criterion. Linear in the number of parts.

use std::collections::{HashMap, VecDeque};
use std::hash::Hash;

/// Returns for each new part the old part that it was, if any.
pub(crate) fn align<K: Eq + Hash>(
    old: &[K],
    new: &[K],
    may_pair: impl Fn(usize, usize) -> bool,
) -> Vec<Option<usize>> {
    let first = old.iter().zip(new).take_while(|(old, new)| old == new).count();
    let rest = old.len().min(new.len()) - first;
    let last = old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(old, new)| old == new).count();
    let mut places: HashMap<&K, VecDeque<usize>> = HashMap::new();
    for (index, key) in old[..old.len() - last].iter().enumerate().skip(first) {
        places.entry(key).or_default().push_back(index);
    }
    let mut is_taken = vec![false; old.len()];
    let mut found: Vec<Option<usize>> = Vec::with_capacity(new.len());
    for (index, key) in new.iter().enumerate() {
        let from_end = new.len() - index;
        let place = match index {
            _ if index < first => Some(index),
            _ if from_end <= last => Some(old.len() - from_end),
            _ => places.get_mut(key).and_then(VecDeque::pop_front),
        };
        if let Some(place) = place {
            is_taken[place] = true;
        }
        found.push(place);
    }
    let mut candidate = 0;
    for (index, place) in found.iter_mut().enumerate() {
        if place.is_none() && is_taken.get(candidate) == Some(&false) && may_pair(candidate, index) {
            is_taken[candidate] = true;
            *place = Some(candidate);
        }
        if let Some(place) = place {
            candidate = *place + 1;
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(old: &str, new: &str) -> Vec<Option<usize>> {
        let (old, new): (Vec<char>, Vec<char>) = (old.chars().collect(), new.chars().collect());
        align(&old, &new, |_, _| true)
    }

    #[test]
    fn same_keys_meet_and_gaps_pair_up() {
        assert_eq!(check("abc", "axc"), [Some(0), Some(1), Some(2)]);
        assert_eq!(check("abc", "xabc"), [None, Some(0), Some(1), Some(2)]);
        assert_eq!(check("abc", "abcx"), [Some(0), Some(1), Some(2), None]);
        assert_eq!(check("abc", "ca"), [Some(2), Some(0)]);
        assert_eq!(check("aa", "aaa"), [Some(0), Some(1), None]);
        assert_eq!(check("", "a"), [None]);
        assert_eq!(check("aab", "xab"), [Some(0), Some(1), Some(2)]);
        assert_eq!(check("aba", "xba"), [Some(0), Some(1), Some(2)]);
        assert_eq!(check("abab", "ab"), [Some(0), Some(1)]);
    }
}
