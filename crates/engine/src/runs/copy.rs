//! Copying a workflow into the project, to be changed there.

use super::book::Listed;
use crate::core::FieldFault;
use crate::error::Error;
use crate::orders::invalid;
use crate::project::Project;
use regatta_flow::NodeName;
use std::path::{Path, PathBuf};

/// Copies a workflow under a new name, and returns its folder. What is there already is not touched.
pub fn copy_workflow(project: &Project, from: &Listed, name: &str) -> Result<PathBuf, Error> {
    if let Err(bad) = NodeName::parse(name) {
        return Err(bad_name(bad.to_string()));
    }
    let home = project.place(".regatta/workflows");
    let folder = home.join(name);
    if folder.symlink_metadata().is_ok() {
        return Err(bad_name(format!("{} is there already; choose another name", folder.display())));
    }
    std::fs::create_dir_all(&home).map_err(Error::io("create", &home))?;
    // Made beside and moved, so that nobody sees half of it.
    let half = home.join(format!(".{name}.{}", std::process::id()));
    let moved = write_all(from, name, &half)
        .and_then(|()| std::fs::rename(&half, &folder).map_err(Error::io("create", &folder)));
    if moved.is_err() {
        // What was made of it is ours alone; the error that is told is the one that stopped it.
        let _ = std::fs::remove_dir_all(&half);
    }
    moved.map(|()| folder)
}

fn write_all(from: &Listed, name: &str, folder: &Path) -> Result<(), Error> {
    for (file, text) in from.folder.files() {
        let path = folder.join(file);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
        let text = if file == "workflow.toml" { renamed(text, name) } else { text.clone() };
        std::fs::write(&path, text).map_err(Error::io("write", &path))?;
    }
    Ok(())
}

/// Changes the `name` of a definition, and no other byte.
fn renamed(text: &str, name: &str) -> String {
    let mut is_head = true;
    let line = |line: &str| {
        is_head &= !line.trim_start().starts_with('[');
        let is_name =
            line.trim_start().strip_prefix("name").is_some_and(|rest| rest.trim_start().starts_with('='));
        if is_head && is_name { format!("name = \"{name}\"\n") } else { line.to_owned() }
    };
    text.split_inclusive('\n').map(line).collect()
}

fn bad_name(problem: String) -> Error {
    invalid(vec![FieldFault { field: "name", problem }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_of_the_workflow_is_changed() {
        let text = "# name = \"x\"\nname = \"old\"\nnames = 1\n[nodes.a]\nname = \"kept\"\n";
        let expected = "# name = \"x\"\nname = \"new\"\nnames = 1\n[nodes.a]\nname = \"kept\"\n";
        assert_eq!(renamed(text, "new"), expected);
    }
}
