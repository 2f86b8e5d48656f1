//! The rule: every source file begins by saying what it is for, and a folder of the engine also what it does not do.

use super::fault::Fault;
use crate::tree::Tree;

/// Finds sources that do not begin with a module doc.
pub(crate) fn check(tree: &Tree) -> Vec<Fault> {
    let lacks = |text: &str| !text.lines().next().is_some_and(|line| line.starts_with("//! "));
    let docs = tree
        .texts_ending(".rs")
        .filter(|(_, text)| lacks(text))
        .map(|(path, _)| Fault::of(path, "the file does not begin with a module doc (`//! …`)"));
    let folders = tree
        .texts_ending("/mod.rs")
        .filter(|(path, text)| path.starts_with(ENGINE) && !says_what_not(text))
        .map(|(path, _)| {
            Fault::of(path, "the module doc does not say what the folder does not do (\"does not …\")")
        });
    docs.chain(folders).collect()
}

/// The room whose folders are subjects of their own.
const ENGINE: &str = "crates/engine/src/";

/// Tells whether a module doc names a limit.
fn says_what_not(text: &str) -> bool {
    let doc: Vec<&str> = text.lines().take_while(|line| line.starts_with("//!")).collect();
    doc.join(" ").to_lowercase().contains("does not ")
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
    fn a_folder_of_the_engine_says_what_it_does_not_do() {
        let faulty = |path, text| !check(&Tree::of(&[(path, text)])).is_empty();
        assert!(faulty("crates/engine/src/log/mod.rs", "//! Reads the log.\n"));
        assert!(!faulty("crates/engine/src/log/mod.rs", "//! Reads the log.\n//!\n//! Does not decide.\n"));
        assert!(!faulty("crates/git/src/planted/mod.rs", "//! Finds things.\n"));
    }

    #[test]
    fn other_files_need_none() {
        assert!(check(&Tree::of(&[("README.md", "# Regatta\n")])).is_empty());
    }
}
