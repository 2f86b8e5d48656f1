//! The rule: no file names a folder of the machine it was written on.

use super::fault::Fault;
use crate::tree::Tree;

/// Folders that are only on somebody's machine; put together so that this file does not name them.
const FOLDERS: &[&str] = &[concat!("/", "work/"), concat!("/", "root/")];

/// Folders that hold one folder per person.
const HOMES: &[&str] = &[concat!("/", "home/"), concat!("/", "Users/")];

/// Finds absolute paths of a developer's machine in all texts.
pub(crate) fn check(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (path, text) in tree.texts() {
        for (index, line) in text.lines().enumerate() {
            let found = FOLDERS.iter().find(|folder| names(line, folder, false));
            let found = found.or_else(|| HOMES.iter().find(|home| names(line, home, true)));
            if let Some(folder) = found {
                let what = format!("names a folder of one machine (`{folder}…`); use a relative path");
                faults.push(Fault::at(path, index + 1, what));
            }
        }
    }
    faults
}

/// Tells whether a line names the folder as the beginning of a path, with a person's name after it if need be.
fn names(line: &str, folder: &str, needs_person: bool) -> bool {
    line.match_indices(folder).any(|(offset, _)| {
        let is_middle = line[..offset].ends_with(|c: char| c.is_alphanumeric() || "._-~})>*".contains(c));
        let has_person =
            line[offset + folder.len()..].starts_with(|c: char| c.is_ascii_lowercase() || c == '_');
        !is_middle && (!needs_person || has_person)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(text: &str) -> Vec<usize> {
        check(&Tree::of(&[("docs/x.md", text)])).into_iter().map(|fault| fault.line).collect()
    }

    #[test]
    fn each_folder_is_found_in_any_file() {
        let text = format!(
            "a\n`{}x`\n\"{}.cargo\"\nsee {}kim/project\n{}kim\n",
            FOLDERS[0], FOLDERS[1], HOMES[0], HOMES[1]
        );
        assert_eq!(lines(&text), [2, 3, 4, 5]);
    }

    #[test]
    fn the_middle_of_a_path_and_a_placeholder_are_not_meant() {
        let text = format!(
            "target{0}x\n~{0}\nhttps://example.org{1}kim\n{1}<name>\n{1}$USER\n",
            FOLDERS[0], HOMES[0]
        );
        assert!(lines(&text).is_empty());
    }
}
