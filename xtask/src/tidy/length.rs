//! The rule: a source file is not longer than a reader can keep in mind.

use super::fault::Fault;
use crate::tree::Tree;

/// At about 500 lines two subjects often share a file; at this many they surely do.
const LINES_MAX: usize = 800;

/// Finds sources with too many lines.
pub(crate) fn check(tree: &Tree) -> Vec<Fault> {
    tree.texts_ending(".rs")
        .map(|(path, text)| (path, text.lines().count()))
        .filter(|(_, count)| *count > LINES_MAX)
        .map(|(path, count)| {
            Fault::at(
                path,
                LINES_MAX + 1,
                format!("has {count} lines, more than {LINES_MAX}: split it by subject"),
            )
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_line_too_many_is_a_fault() {
        let faults = |count: usize| check(&Tree::of(&[("crates/git/src/x.rs", &"x\n".repeat(count))]));
        assert!(faults(LINES_MAX).is_empty());
        assert_eq!(faults(LINES_MAX + 1)[0].line, LINES_MAX + 1);
    }
}
