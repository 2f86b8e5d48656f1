//! The generated pages on disk: writing them, and finding those that differ.

use std::path::Path;

use super::pages::{FOLDER, Page, render_all};
use crate::error::Error;
use crate::stage::Verdict;

/// Writes every page that is not as generated, and prints its name.
pub(crate) fn write(root: &Path) -> Result<Verdict, Error> {
    let folder = root.join(FOLDER);
    std::fs::create_dir_all(&folder).map_err(|source| Error::File {
        action: "make",
        path: folder.clone(),
        source,
    })?;
    for page in find_outdated(root) {
        let path = folder.join(page.name);
        std::fs::write(&path, &page.text).map_err(|source| Error::File {
            action: "write",
            path: path.clone(),
            source,
        })?;
        eprintln!("wrote {FOLDER}/{}", page.name);
    }
    Ok(Verdict::Passed)
}

/// Fails when a page is not as generated, and names it.
pub(crate) fn check(root: &Path) -> Result<Verdict, Error> {
    let files: Vec<String> =
        find_outdated(root).iter().map(|page| format!("{FOLDER}/{}", page.name)).collect();
    if files.is_empty() { Ok(Verdict::Passed) } else { Err(Error::Outdated { files }) }
}

fn find_outdated(root: &Path) -> Vec<Page> {
    let differs = |page: &Page| {
        // A page that cannot be read differs from one that can.
        std::fs::read(root.join(FOLDER).join(page.name)).ok().as_deref() != Some(page.text.as_bytes())
    };
    render_all().into_iter().filter(differs).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_differs_is_named_until_it_is_written_again() {
        let root = tempfile::tempdir().unwrap();
        assert!(
            matches!(check(root.path()), Err(Error::Outdated { files }) if files.len() == render_all().len())
        );
        write(root.path()).unwrap();
        assert!(check(root.path()).is_ok());
        std::fs::write(root.path().join("docs/reference/events.md"), "changed by hand").unwrap();
        let error = check(root.path()).unwrap_err();
        assert_eq!(
            error.to_string(),
            "not as generated: docs/reference/events.md; run `cargo xtask docs` and commit what it writes"
        );
        write(root.path()).unwrap();
        assert!(check(root.path()).is_ok());
    }
}
