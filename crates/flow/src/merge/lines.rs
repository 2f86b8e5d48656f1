//! A text, merged by line.
//!
//! Lines that occur once in both texts tie them together, then those at the ends of what is between, and so on. Between two
//! lines that all three texts have in common, the side that changed something wins; if both did, the run's lines stay.

use std::collections::HashMap;
use std::ops::Range;

/// How often the lines between two ties are looked at for further ones.
const DEPTH_MAX: usize = 64;

/// A merged text.
pub(super) struct MergedText {
    pub(super) text: String,
    /// Whether both sides changed the same lines.
    pub(super) is_conflict: bool,
}

/// Merges two versions of a text; where both changed the same lines, those of `now` stay.
pub(super) fn merge(base: &str, edited: &str, now: &str) -> MergedText {
    let [base, edited, now] = [base, edited, now].map(|text| text.split_inclusive('\n').collect::<Vec<_>>());
    let (of_edited, of_now) = (tie(&base, &edited), tie(&base, &now));
    let mut merged = MergedText { text: String::new(), is_conflict: false };
    let (mut line, mut theirs, mut ours) = (0, 0, 0);
    let stable = (0..base.len()).filter_map(|line| Some((line, of_edited[line]?, of_now[line]?)));
    let end = (base.len(), edited.len(), now.len());
    for (next, next_theirs, next_ours) in stable.chain([end]) {
        let between = [&base[line..next], &edited[theirs..next_theirs], &now[ours..next_ours]];
        merged.settle(between);
        if next < base.len() {
            merged.push(&now[next_ours..=next_ours]);
        }
        (line, theirs, ours) = (next + 1, next_theirs + 1, next_ours + 1);
    }
    merged
}

impl MergedText {
    fn settle(&mut self, [base, edited, now]: [&[&str]; 3]) {
        if now == base {
            self.push(edited);
        } else {
            self.is_conflict |= edited != base && edited != now;
            self.push(now);
        }
    }

    fn push(&mut self, lines: &[&str]) {
        for line in lines {
            // A line that ended the text may have none behind it.
            if !self.text.is_empty() && !self.text.ends_with('\n') {
                self.text.push('\n');
            }
            self.text.push_str(line);
        }
    }
}

/// Finds for each line of a text the line of another that it is; their order is the same.
fn tie(old: &[&str], new: &[&str]) -> Vec<Option<usize>> {
    let mut found = vec![None; old.len()];
    let mut open = vec![(0..old.len(), 0..new.len(), 0)];
    while let Some((old_lines, new_lines, depth)) = open.pop() {
        let (old_lines, new_lines) = tie_ends((old, old_lines), (new, new_lines), &mut found);
        if old_lines.is_empty() || new_lines.is_empty() || depth == DEPTH_MAX {
            continue;
        }
        let ties = tie_unique((old, &old_lines), (new, &new_lines));
        if ties.is_empty() {
            continue;
        }
        let (mut old_at, mut new_at) = (old_lines.start, new_lines.start);
        for (old_line, new_line) in ties {
            found[old_line] = Some(new_line);
            open.push((old_at..old_line, new_at..new_line, depth + 1));
            (old_at, new_at) = (old_line + 1, new_line + 1);
        }
        open.push((old_at..old_lines.end, new_at..new_lines.end, depth + 1));
    }
    found
}

/// Ties the lines at both ends, and returns what is between.
fn tie_ends(
    (old, mut old_lines): (&[&str], Range<usize>),
    (new, mut new_lines): (&[&str], Range<usize>),
    found: &mut [Option<usize>],
) -> (Range<usize>, Range<usize>) {
    while !old_lines.is_empty() && !new_lines.is_empty() && old[old_lines.start] == new[new_lines.start] {
        found[old_lines.start] = Some(new_lines.start);
        (old_lines.start, new_lines.start) = (old_lines.start + 1, new_lines.start + 1);
    }
    while !old_lines.is_empty() && !new_lines.is_empty() && old[old_lines.end - 1] == new[new_lines.end - 1] {
        (old_lines.end, new_lines.end) = (old_lines.end - 1, new_lines.end - 1);
        found[old_lines.end] = Some(new_lines.end);
    }
    (old_lines, new_lines)
}

/// Finds the lines that occur once in each, as many as are in the same order.
fn tie_unique(
    (old, old_lines): (&[&str], &Range<usize>),
    (new, new_lines): (&[&str], &Range<usize>),
) -> Vec<(usize, usize)> {
    // The places of a line in both texts; nothing if it occurs more than once.
    type Places = (Option<usize>, Option<usize>, bool);
    let mut places: HashMap<&str, Places> = HashMap::new();
    for line in old_lines.clone() {
        let known = places.entry(old[line]).or_default();
        known.2 |= known.0.replace(line).is_some();
    }
    for line in new_lines.clone() {
        let known = places.entry(new[line]).or_default();
        known.2 |= known.1.replace(line).is_some();
    }
    let once = |line: usize| match places.get(old[line]) {
        Some((Some(_), Some(place), false)) => Some((line, *place)),
        _ => None,
    };
    rising(&old_lines.clone().filter_map(once).collect::<Vec<_>>())
}

/// Returns the longest part of pairs whose second numbers rise.
fn rising(pairs: &[(usize, usize)]) -> Vec<(usize, usize)> {
    let mut tails: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(pairs.len());
    for (number, (_, place)) in pairs.iter().enumerate() {
        let at = tails.partition_point(|tail| pairs[*tail].1 < *place);
        before.push(at.checked_sub(1).map(|at| tails[at]));
        match tails.get_mut(at) {
            Some(tail) => *tail = number,
            None => tails.push(number),
        }
    }
    let mut found = Vec::new();
    let mut next = tails.last().copied();
    while let Some(number) = next {
        found.push(pairs[number]);
        next = before[number];
    }
    found.reverse();
    found
}
