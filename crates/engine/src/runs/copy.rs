//! Copies a workflow into the project, so that it can be changed there.

use crate::commands::orders::invalid;
use crate::core::FieldFault;
use crate::error::Error;
use crate::project::Project;
use crate::runs::definitions::{HOME, Listed};
use regatta_flow::NodeName;
use std::path::{Path, PathBuf};
use toml::de::DeTable;

/// Copies a workflow under a new name, and returns its folder. An existing folder is not touched.
pub fn copy_workflow(project: &Project, from: &Listed, name: &str) -> Result<PathBuf, Error> {
    if let Err(bad) = NodeName::parse(name) {
        return Err(bad_name(bad.to_string()));
    }
    let Some(definition) = from.folder.find("workflow.toml") else {
        return Err(no_workflow(from, "it has no workflow.toml"));
    };
    let Some(definition) = renamed(definition, name) else {
        return Err(no_workflow(from, "its workflow.toml is not TOML"));
    };
    let home = project.place(HOME);
    let folder = home.join(name);
    if folder.symlink_metadata().is_ok() {
        return Err(bad_name(format!("{} already exists; choose another name", folder.display())));
    }
    std::fs::create_dir_all(&home).map_err(Error::io("create", &home))?;
    // Made beside its place and then moved, so that nobody sees half of it.
    let half = home.join(format!(".{name}.{}", std::process::id()));
    let moved = write_all(from, &definition, &half)
        .and_then(|()| std::fs::rename(&half, &folder).map_err(Error::io("create", &folder)));
    if moved.is_err() {
        // The half-made copy is ours alone; the error to report is the one that stopped it.
        let _ = std::fs::remove_dir_all(&half);
    }
    moved.map(|()| folder)
}

fn write_all(from: &Listed, definition: &str, folder: &Path) -> Result<(), Error> {
    for (file, text) in from.folder.files() {
        let path = folder.join(file);
        let parent = path.parent().unwrap_or(folder);
        std::fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
        let text = if file == "workflow.toml" { definition } else { text };
        std::fs::write(&path, text).map_err(Error::io("write", &path))?;
    }
    Ok(())
}

/// Changes the `name` of a definition, and no other byte; `None` if it cannot be read.
fn renamed(text: &str, name: &str) -> Option<String> {
    let document = DeTable::parse(text).ok()?;
    let name = format!("\"{name}\"");
    Some(match document.get_ref().get("name") {
        Some(old) => format!("{}{name}{}", &text[..old.span().start], &text[old.span().end..]),
        None => format!("name = {name}\n{text}"),
    })
}

fn no_workflow(from: &Listed, why: &str) -> Error {
    let problem = format!("{} is not a workflow that can be copied: {why}", from.address());
    invalid(vec![FieldFault { field: "from", problem }])
}

fn bad_name(problem: String) -> Error {
    invalid(vec![FieldFault { field: "name", problem }])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_name_of_the_workflow_is_changed() {
        let told = |text| renamed(text, "new");
        let text = "# name = \"x\"\nname = \"old\" # so\nnames = 1\n[nodes.a]\nname = \"kept\"\n";
        let expected = "# name = \"x\"\nname = \"new\" # so\nnames = 1\n[nodes.a]\nname = \"kept\"\n";
        assert_eq!(told(text).as_deref(), Some(expected));
        let odd = "title = \"\"\"\nname = 'x'\n\"\"\"\n\"name\" = 'old'\n";
        assert_eq!(told(odd).unwrap(), odd.replace("'old'", "\"new\""));
        assert_eq!(told("start = 'a'\n").as_deref(), Some("name = \"new\"\nstart = 'a'\n"));
        assert_eq!(told("name ="), None);
    }
}
