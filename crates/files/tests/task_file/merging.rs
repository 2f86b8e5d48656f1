//! Merging loses nothing, whatever both sides did.

use std::collections::HashSet;

use regatta_files::{NewSession, TaskFile, merge};

use crate::edits::Edit;
use crate::random::{Random, document, structured};

/// Enough for every pair of edits to meet many times.
const CASES: u64 = 5000;

fn edited(random: &mut Random, base: &str) -> String {
    let mut file = TaskFile::parse(base);
    for _ in 0..random.below(4) {
        file = Edit::any(random).apply(&file).unwrap_or(file);
    }
    file.into_text()
}

/// The lines of a text that are not in another one, without the JSON: there a comma moves from line to line.
fn new_lines<'a>(text: &'a str, base: &str) -> Vec<&'a str> {
    let old: HashSet<&str> = base.lines().map(str::trim_end).collect();
    let is_json =
        |line: &str| line.trim_start().starts_with(['"', '{', '}', '[']) || line.trim_start() == "```json";
    text.lines().map(str::trim_end).filter(|line| !old.contains(line) && !is_json(line)).collect()
}

#[test]
fn no_line_of_either_side_is_lost() {
    for seed in 0..CASES {
        let mut random = Random::of(seed);
        let base = structured(&mut random);
        let (ours, theirs) = (edited(&mut random, &base), edited(&mut random, &base));
        let merged = merge(&base, &ours, &theirs);
        let result: HashSet<&str> = merged.text.lines().map(str::trim_end).collect();
        for line in new_lines(&ours, &base).into_iter().chain(new_lines(&theirs, &base)) {
            assert!(result.contains(line), "seed {seed}: {line:?} is lost\n{}", merged.text);
        }
        for conflict in &merged.conflicts {
            assert!(merged.text.contains(&conflict.theirs), "seed {seed}: {conflict:?}");
            assert!(merged.text.contains(&conflict.ours), "seed {seed}: {conflict:?}");
        }
    }
}

#[test]
fn a_side_that_did_nothing_has_no_say() {
    for seed in 0..CASES {
        let mut random = Random::of(seed);
        let (base, other) = (document(&mut random), document(&mut random));
        assert_eq!(merge(&base, &other, &base).text, other, "seed {seed}");
        assert_eq!(merge(&base, &base, &other).text, other, "seed {seed}");
    }
}

#[test]
fn unrelated_documents_merge_without_harm() {
    for seed in 0..CASES {
        let mut random = Random::of(seed);
        let [base, ours, theirs] = [0; 3].map(|_| document(&mut random));
        let merged = merge(&base, &ours, &theirs);
        for conflict in &merged.conflicts {
            assert!(merged.text.contains(&conflict.theirs), "seed {seed}: {conflict:?}");
        }
    }
}

#[test]
fn sessions_of_both_sides_are_all_there() {
    for seed in 0..CASES {
        let mut random = Random::of(seed);
        let base = TaskFile::parse(structured(&mut random));
        let append = |file: &TaskFile, did: &str, count: usize| {
            (0..count as u32).try_fold(file.clone(), |file, index| {
                let did = format!("{did} {index}");
                file.with_session(&NewSession { number: 4 + index, did, ..NewSession::default() })
            })
        };
        let (ours, theirs) = (1 + random.below(3), 1 + random.below(3));
        let (Ok(left), Ok(right)) = (append(&base, "ours", ours), append(&base, "theirs", theirs)) else {
            continue;
        };
        let merged = merge(base.text(), left.text(), right.text());
        assert_eq!(merged.conflicts, [], "seed {seed}");
        let result = TaskFile::parse(merged.text);
        assert_eq!(
            result.sessions().len(),
            base.sessions().len() + ours + theirs,
            "seed {seed}\n{}",
            result.text()
        );
    }
}
