//! All rules over the whole repository, every fault at once.

use std::path::Path;

use super::fault::Fault;
use super::{
    arrows, error_pages, forbidden, length, links, lock, machine_paths, module_doc, names, purity, sleep,
};
use crate::error::Error;
use crate::stage::Verdict;
use crate::tree::Tree;

/// Every rule there is.
const RULES: &[fn(&Tree) -> Vec<Fault>] = &[
    arrows::check,
    purity::check,
    module_doc::check,
    forbidden::check,
    sleep::check,
    machine_paths::check,
    length::check,
    names::check,
    error_pages::check,
    links::check,
    lock::check,
];

/// Prints every breach of a rule in the checkout, and fails if there is one.
pub(crate) fn check(root: &Path) -> Result<Verdict, Error> {
    let Some(tree) = Tree::load(root)? else {
        return Ok(Verdict::Skipped("not a git checkout, so there is no list of files to look at"));
    };
    let faults = find_all(&tree);
    for fault in &faults {
        eprintln!("{fault}");
    }
    if faults.is_empty() { Ok(Verdict::Passed) } else { Err(Error::Faults { count: faults.len() }) }
}

/// Returns the faults of all rules, by file and line.
fn find_all(tree: &Tree) -> Vec<Fault> {
    let mut faults: Vec<Fault> = RULES.iter().flat_map(|rule| rule(tree)).collect();
    faults.sort();
    faults.dedup();
    faults
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::find_root;

    #[test]
    fn this_repository_is_tidy() {
        let Some(tree) = Tree::load(&find_root()).unwrap() else {
            eprintln!("skipped: not a git checkout");
            return;
        };
        let faults: Vec<String> = find_all(&tree).iter().map(Fault::to_string).collect();
        assert!(faults.is_empty(), "\n{}\n", faults.join("\n"));
    }

    #[test]
    fn faults_of_several_rules_come_together_in_order() {
        let tree = Tree::of(&[("crates/git/src/utils.rs", "fn f() { todo!() }\n"), ("Cargo.lock", "")]);
        let faults = find_all(&tree);
        let of_source: Vec<&Fault> =
            faults.iter().filter(|fault| fault.path == "crates/git/src/utils.rs").collect();
        assert_eq!(of_source.len(), 3, "{faults:?}");
        assert!(faults.is_sorted());
    }
}
