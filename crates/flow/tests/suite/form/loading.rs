//! Loads the small workflow with something changed, and tells what is at fault.

use expect_test::Expect;
use regatta_flow::{Folder, Workflow};

use crate::folders::{SMALL, small};

/// Loads the small workflow with some files replaced; an empty text takes the file away.
pub(super) fn check(files: &[(&str, &str)], expected: Expect) {
    let mut folder = small();
    for (name, text) in files {
        match *text {
            "" => drop(folder.remove(*name)),
            text => drop(folder.insert((*name).to_owned(), text.to_owned())),
        }
    }
    let told = match Workflow::load(&Folder::new(folder)) {
        Ok(workflow) => format!("{} loads\n", workflow.name),
        Err(faults) => faults.iter().map(|fault| format!("{fault}\n  | {}\n", fault.excerpt)).collect(),
    };
    expected.assert_eq(&told);
}

/// Loads the small workflow with a part of `workflow.toml` replaced.
pub(super) fn check_toml(old: &str, new: &str, expected: Expect) {
    assert!(SMALL.contains(old), "{old}");
    check(&[("workflow.toml", &SMALL.replacen(old, new, 1))], expected);
}

/// Loads the small workflow with something added to `workflow.toml`.
pub(super) fn check_added(added: &str, expected: Expect) {
    check(&[("workflow.toml", &format!("{SMALL}{added}"))], expected);
}
