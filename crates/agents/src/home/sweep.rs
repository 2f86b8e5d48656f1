//! Removes everything from a home of ours but what is kept in it for resuming.
//!
//! Only done while no session uses the home, so paths do not change under it.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::fields::matches;

/// Levels of folders that are removed by recursion; what lies deeper is moved up first. An agent can make folders a
/// hundred thousand deep, on which recursion would end in a crash.
const LEVELS_MAX: usize = 100;

/// Removes what no pattern names. A symlink is never kept, nor followed.
pub(super) fn sweep(folder: &Path, kept: &[&str]) -> io::Result<()> {
    let patterns: Vec<Vec<&str>> = kept.iter().map(|path| path.split('/').collect()).collect();
    sweep_below(folder, &patterns.iter().map(Vec::as_slice).collect::<Vec<_>>())
}

fn sweep_below(folder: &Path, patterns: &[&[&str]]) -> io::Result<()> {
    make_accessible(folder);
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let kind = entry.file_type()?;
        let name = entry.file_name();
        let name = name.to_string_lossy();
        let fitting: Vec<&[&str]> = patterns
            .iter()
            .filter_map(|pattern| pattern.split_first().filter(|(first, _)| matches(first, &name)))
            .map(|(_, rest)| rest)
            .collect();
        let is_kept = fitting.iter().any(|rest| rest.is_empty());
        match kind {
            _ if is_kept && (kind.is_dir() || kind.is_file()) => {}
            _ if kind.is_dir() && !fitting.is_empty() => sweep_below(&entry.path(), &fitting)?,
            _ if kind.is_dir() => remove_folder(&entry.path())?,
            _ => std::fs::remove_file(entry.path())?,
        }
    }
    Ok(())
}

/// Removes a folder that an agent has written to, also one that is very deep or whose permissions were taken away.
pub fn remove_folder(folder: &Path) -> io::Result<()> {
    let mut lifted = Lifted { root: folder, folders: Vec::new(), count: 0 };
    remove_below(folder, LEVELS_MAX, &mut lifted)?;
    while let Some(next) = lifted.folders.pop() {
        // The walk of the root may have met it already.
        if next.symlink_metadata().is_ok() {
            remove_below(&next, LEVELS_MAX, &mut lifted)?;
            std::fs::remove_dir(&next)?;
        }
    }
    std::fs::remove_dir(folder)
}

/// What was moved up, to be removed from there.
struct Lifted<'a> {
    root: &'a Path,
    folders: Vec<PathBuf>,
    count: usize,
}

fn remove_below(folder: &Path, levels_left: usize, lifted: &mut Lifted<'_>) -> io::Result<()> {
    make_accessible(folder);
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        let path = entry.path();
        if !entry.file_type()?.is_dir() {
            std::fs::remove_file(&path)?;
        } else if levels_left > 0 {
            remove_below(&path, levels_left - 1, lifted)?;
            std::fs::remove_dir(&path)?;
        } else {
            make_accessible(&path);
            lifted.count += 1;
            let to = lifted.root.join(format!(".regatta-lifted-{}-{}", std::process::id(), lifted.count));
            std::fs::rename(&path, &to)?;
            lifted.folders.push(to);
        }
    }
    Ok(())
}

fn make_accessible(folder: &Path) {
    let is_open = folder.metadata().is_ok_and(|found| found.permissions().mode() & 0o700 == 0o700);
    if !is_open {
        let _ = std::fs::set_permissions(folder, Permissions::from_mode(0o700));
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_folder_of_any_depth_is_removed() {
        let folder = tempfile::tempdir().unwrap();
        let root = folder.path().join("root");
        std::fs::create_dir(&root).unwrap();
        // Each is made at the top and moved down, since its path would be too long.
        for _ in 0..20_000 {
            let new = folder.path().join("new");
            std::fs::create_dir(&new).unwrap();
            std::fs::write(new.join("file"), "").unwrap();
            std::fs::rename(&root, new.join("d")).unwrap();
            std::fs::rename(&new, &root).unwrap();
        }
        std::fs::set_permissions(root.join("d/d"), Permissions::from_mode(0o000)).unwrap();
        remove_folder(&root).unwrap();
        assert!(!root.exists());
    }

    #[test]
    fn only_what_is_kept_stays() {
        let folder = tempfile::tempdir().unwrap();
        let home = folder.path().join("home");
        let outside = folder.path().join("outside");
        std::fs::create_dir_all(&outside).unwrap();
        std::fs::write(outside.join("file"), "mine").unwrap();
        for path in [
            ".codex/sessions/2026/a.jsonl",
            ".codex/state_5.sqlite-wal",
            ".codex/auth.json",
            ".codex/sub/x",
            "x/y",
        ] {
            std::fs::create_dir_all(home.join(path).parent().unwrap()).unwrap();
            std::fs::write(home.join(path), "").unwrap();
        }
        symlink(&outside, home.join(".codex/link")).unwrap();
        symlink(&outside, home.join(".codex/old.sqlite")).unwrap();
        symlink(&outside, home.join(".gemini")).unwrap();
        std::fs::set_permissions(home.join("x"), Permissions::from_mode(0o000)).unwrap();
        sweep(&home, &[".codex/sessions", ".codex/*.sqlite*", ".gemini/tmp"]).unwrap();
        let mut left = Vec::new();
        for above in ["", ".codex"] {
            for entry in std::fs::read_dir(home.join(above)).unwrap() {
                left.push(format!("{above}/{}", entry.unwrap().file_name().display()));
            }
        }
        left.sort();
        assert_eq!(left, [".codex/sessions", ".codex/state_5.sqlite-wal", "/.codex"]);
        assert!(home.join(".codex/sessions/2026/a.jsonl").exists() && outside.join("file").exists());
    }
}
