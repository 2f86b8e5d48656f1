//! Children, sizes, and files that cannot be read.

use expect_test::{Expect, expect};
use regatta_flow::{FILE_BYTES_MAX, Folder};

use super::loading::check;
use crate::folders::{SMALL, small};

#[test]
fn children_and_sizes() {
    check(
        &[("children/part/workflow.toml", "name = \"part\"\nstart = 1\n")],
        expect![[r#"
            children/part/workflow.toml:1:1: error[missing-file]: there is no file `children/part/state.schema.json`
              | name = "part"
            children/part/workflow.toml:1:1: error[missing-key]: the workflow has no `nodes` (add a table `[nodes.<name>]` for each node)
              | name = "part"
            children/part/workflow.toml:2:9: error[wrong-type]: `start` of the workflow must be a text, but is `1`
              | 1
        "#]],
    );
    check(
        &[("children/a b/workflow.toml", SMALL)],
        expect![[r#"
        workflow.toml:1:1: error[bad-name]: `a b` is not a valid name for a child
          | 
    "#]],
    );
    check(
        &[("children/a/children/b/children/c/children/d/children/e/workflow.toml", SMALL)],
        expect![[r#"
        children/a/children/b/children/c/children/d/workflow.toml:1:1: error[missing-file]: there is no file `children/a/children/b/children/c/children/d/workflow.toml`
          | 
        children/a/children/b/children/c/children/d/workflow.toml:1:1: error[too-deep]: `children/a/children/b/children/c/children/d/children/e/` lies too deep: 4 levels of children are allowed
          | 
        children/a/children/b/children/c/workflow.toml:1:1: error[missing-file]: there is no file `children/a/children/b/children/c/workflow.toml`
          | 
        children/a/children/b/workflow.toml:1:1: error[missing-file]: there is no file `children/a/children/b/workflow.toml`
          | 
        children/a/workflow.toml:1:1: error[missing-file]: there is no file `children/a/workflow.toml`
          | 
    "#]],
    );
    check(
        &[("roles/worker.md", &"x".repeat(FILE_BYTES_MAX + 1))],
        expect![[r#"
        roles/worker.md:1:1: error[too-large]: the file has 262145 bytes, more than 262144
          | 
    "#]],
    );
}

#[test]
fn files_that_cannot_be_read() {
    let check = |names: &[&str], state: &str, expected: Expect| {
        let mut files = small();
        let main = SMALL.replacen("name = \"small\"", &format!("name = \"small\"\nstate = \"{state}\""), 1);
        files.insert("workflow.toml".to_owned(), main);
        names.iter().for_each(|name| drop(files.remove(*name)));
        let unreadable = names.iter().map(|name| ((*name).to_owned(), "it is a link".to_owned())).collect();
        let folder = Folder::new(files).with_unreadable(unreadable);
        let faults = regatta_flow::check_folder(&folder);
        expected.assert_eq(&faults.iter().map(|fault| format!("{fault}\n")).collect::<String>());
    };
    // What a workflow does not use does not matter.
    check(&["picture.png", "old/workflow.toml"], "state.schema.json", expect![[""]]);
    check(
        &["roles/worker.md", "state.schema.json"],
        "state.schema.json",
        expect![[r#"
        roles/worker.md:1:1: error[unreadable-file]: this cannot be read: it is a link
        state.schema.json:1:1: error[unreadable-file]: this cannot be read: it is a link
    "#]],
    );
    check(
        &["roles"],
        "state.schema.json",
        expect![[r#"
        roles:1:1: error[unreadable-file]: this cannot be read: it is a link
    "#]],
    );
    check(
        &["other.json"],
        "other.json",
        expect![[r#"
        workflow.toml:2:9: error[unreadable-file]: the file `other.json` cannot be read: it is a link
    "#]],
    );
}
