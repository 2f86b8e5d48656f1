//! The rule: one lock file, and every crate in it comes from the public registry.

use super::fault::Fault;
use crate::tree::Tree;

/// The one place where a dependency may come from.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";

/// The one lock file.
const LOCK: &str = "Cargo.lock";

/// Finds other sources of crates, and lock files that are missing or too many.
pub(crate) fn check(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    if tree.find(LOCK).is_none() {
        faults.push(Fault::of(LOCK, "the lock file is missing; commit it"));
    }
    for (path, text) in tree.texts_ending(LOCK) {
        if path != LOCK && path.ends_with("/Cargo.lock") {
            faults.push(Fault::of(path, "a second lock file; the one of the workspace is enough"));
        }
        for (index, line) in text.lines().enumerate() {
            let Some(source) = line.trim().strip_prefix("source = ") else { continue };
            if source.trim_matches('"') != REGISTRY {
                faults.push(Fault::at(path, index + 1, format!("{source} is not the public registry")));
            }
        }
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::super::fault::render;
    use super::*;

    fn lock(source: &str) -> String {
        format!("[[package]]\nname = \"x\"\nsource = \"{source}\"\n")
    }

    #[test]
    fn the_registry_is_the_only_source() {
        assert!(check(&Tree::of(&[("Cargo.lock", &lock(REGISTRY))])).is_empty());
        let git = lock("git+https://example.org/x?rev=1#1");
        assert_eq!(
            render(&check(&Tree::of(&[("Cargo.lock", &git)]))),
            ["Cargo.lock:3: \"git+https://example.org/x?rev=1#1\" is not the public registry"]
        );
        assert_eq!(check(&Tree::of(&[("Cargo.lock", &lock("registry+https://example.org/index"))])).len(), 1);
    }

    #[test]
    fn there_is_exactly_one() {
        assert_eq!(render(&check(&Tree::of(&[]))), ["Cargo.lock:1: the lock file is missing; commit it"]);
        let two = Tree::of(&[("Cargo.lock", ""), ("crates/git/Cargo.lock", "")]);
        assert_eq!(
            render(&check(&two)),
            ["crates/git/Cargo.lock:1: a second lock file; the one of the workspace is enough"]
        );
    }
}
