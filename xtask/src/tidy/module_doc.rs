//! The rule: every source file begins by saying what it is for.

use super::fault::Fault;
use crate::tree::Tree;

/// Finds sources that do not begin with a module doc.
pub(crate) fn check(tree: &Tree) -> Vec<Fault> {
    let lacks = |text: &str| !text.lines().next().is_some_and(|line| line.starts_with("//! "));
    tree.texts_ending(".rs")
        .filter(|(_, text)| lacks(text))
        .map(|(path, _)| Fault::of(path, "the file does not begin with a module doc (`//! …`)"))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_is_the_doc() {
        let faulty = |text| !check(&Tree::of(&[("crates/git/src/x.rs", text)])).is_empty();
        assert!(!faulty("//! What it is for.\nfn f() {}\n"));
        for text in [
            "",
            "\n//! Late.\n",
            "// No doc.\n",
            "/// Of an item.\nfn f() {}\n",
            "use x;\n//! Late.\n",
            "//!\n",
        ] {
            assert!(faulty(text), "{text:?}");
        }
    }

    #[test]
    fn other_files_need_none() {
        assert!(check(&Tree::of(&[("README.md", "# Regatta\n")])).is_empty());
    }
}
