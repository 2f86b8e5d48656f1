//! The rule: code lives by its subject, so no module is named for having none.

use super::fault::Fault;
use super::rust::{Named, names_in};
use crate::tree::Tree;

/// Names that say nothing of what is inside.
const FORBIDDEN: &[&str] =
    &["common", "helper", "helpers", "manager", "managers", "misc", "services", "util", "utils"];

/// Finds files, folders and modules with such a name.
pub(crate) fn check(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (path, text) in tree.texts_ending(".rs") {
        let parts = path.strip_suffix(".rs").unwrap_or(path).split('/');
        faults
            .extend(parts.filter(|part| FORBIDDEN.contains(part)).map(|part| Fault::of(path, explain(part))));
        faults.extend(check_modules(path, text));
    }
    faults
}

/// Judges the modules that a file declares.
fn check_modules(path: &str, text: &str) -> Vec<Fault> {
    let named = names_in(text);
    let is_bad = |pair: &&[Named]| pair[0].parts == ["mod"] && FORBIDDEN.contains(&pair[1].parts[0].as_str());
    let bad = named.windows(2).filter(is_bad);
    bad.map(|pair| Fault::at(path, pair[1].line, explain(&pair[1].parts[0]))).collect()
}

fn explain(name: &str) -> String {
    format!("a module named `{name}` has no subject: name it for what is inside")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(path: &str, text: &str) -> usize {
        check(&Tree::of(&[(path, text)])).len()
    }

    #[test]
    fn files_folders_and_inner_modules_are_judged() {
        assert_eq!(count("crates/git/src/utils.rs", ""), 1);
        assert_eq!(count("crates/common/src/lib.rs", ""), 1);
        assert_eq!(count("crates/git/tests/common/mod.rs", ""), 1);
        assert_eq!(count("crates/git/src/lib.rs", "pub mod helpers { }"), 1);
        assert_eq!(count("crates/git/src/lib.rs", "mod services\n{ }"), 1);
    }

    #[test]
    fn a_name_with_a_subject_passes() {
        assert_eq!(count("crates/git/src/common_base.rs", "mod merge { } // mod utils {}"), 0);
        assert_eq!(count("docs/common.md", ""), 0);
    }
}
