//! Reads a workflow's folder from the disk.

use std::fs;
use std::path::{Path, PathBuf};

use regatta_flow::{Folder, Workflow};

/// Returns the folder of a workflow that is shipped.
pub(crate) fn shipped(name: &str) -> Folder {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows").join(name))
}

/// Returns the names of the workflows that are shipped.
pub(crate) fn shipped_names() -> Vec<String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows");
    let entries = fs::read_dir(root).expect("the folder can be listed");
    let mut names: Vec<String> = entries
        .map(|entry| entry.expect("the entry can be read").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    names
}

/// Returns a folder that stands beside these tests.
pub(crate) fn beside(name: &str) -> Folder {
    read(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/check").join(name))
}

/// Loads a folder whose form is right.
pub(crate) fn load(folder: &Folder) -> Workflow {
    Workflow::load(folder).unwrap_or_else(|faults| panic!("{}", regatta_flow::render_faults(&faults, folder)))
}

fn read(root: &Path) -> Folder {
    let mut pending: Vec<PathBuf> = vec![root.to_owned()];
    let mut files = Vec::new();
    while let Some(path) = pending.pop() {
        if path.is_dir() {
            let entries = fs::read_dir(&path).expect("the folder can be listed");
            pending.extend(entries.map(|entry| entry.expect("the entry can be read").path()));
        } else {
            let parts =
                path.strip_prefix(root).expect("it is within").iter().map(|part| part.to_string_lossy());
            let name = parts.collect::<Vec<_>>().join("/");
            files.push((name, fs::read_to_string(&path).expect("the file is text").replace("\r\n", "\n")));
        }
    }
    files.into_iter().collect()
}
