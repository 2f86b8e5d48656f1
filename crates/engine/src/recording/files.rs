//! The files of one recorded answer: what a role left in its worktree, kept on a recording and restored from it.
//!
//! Contents are copied. Whether a file is executable, and where a link leads, is recorded in the answer
//! itself, so that a recording survives file systems and archives that support neither. A recording may come from
//! anywhere: nothing is ever read or written through a link, on the recording or in the worktree, and no name leads
//! out of its folder, nor into a git folder. A recording is text: a file whose name is none cannot be recorded.

use crate::error::Error;
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, Permissions};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Component, Path, PathBuf};

/// Of a file's mode, git keeps only whether its owner may execute it.
const OWNER_EXECUTES: u32 = 0o100;
const PLAIN: u32 = 0o644;
const EXECUTABLE: u32 = 0o755;

/// The files that a role wrote and removed, by their paths in the worktree.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct RecordingFiles {
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    written: Vec<String>,
    /// Those of the written ones that can be executed.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    executable: BTreeSet<String>,
    /// Symbolic links with their targets; nobody follows them.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    linked: BTreeMap<String, String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    removed: Vec<String>,
}

impl RecordingFiles {
    /// Finds out what has become of paths that changed.
    pub(crate) fn look(
        worktree: &Path,
        changed: impl IntoIterator<Item = PathBuf>,
    ) -> Result<RecordingFiles, Error> {
        let mut files = RecordingFiles::default();
        for path in changed {
            let place = worktree.join(checked(&path)?);
            let Some(name) = path.to_str().map(str::to_owned) else {
                return Err(refused("record", place, "its name is not valid text"));
            };
            match place.symlink_metadata() {
                // The target of a link is not one of the worktree's files.
                _ if find_link(worktree, &path).is_some() => files.removed.push(name),
                Ok(found) if found.is_symlink() => {
                    files.linked.insert(name, read_link(&place)?);
                }
                Ok(found) if found.is_file() => {
                    if found.permissions().mode() & OWNER_EXECUTES != 0 {
                        files.executable.insert(name.clone());
                    }
                    files.written.push(name);
                }
                _ => files.removed.push(name),
            }
        }
        Ok(files)
    }

    /// Copies the contents from the worktree to a folder of the recording.
    pub(crate) fn keep(&self, worktree: &Path, folder: &Path) -> Result<(), Error> {
        self.written.iter().try_for_each(|name| {
            let name = checked(Path::new(name))?;
            copy((worktree, name), (folder, name), PLAIN)
        })
    }

    /// Restores everything in a worktree as it was recorded.
    pub(crate) fn play(&self, folder: &Path, worktree: &Path) -> Result<(), Error> {
        for name in &self.removed {
            let path = checked(Path::new(name))?;
            if find_link(worktree, path).is_none() {
                make_way(&worktree.join(path))?;
                remove_empty_folders(worktree, path);
            }
        }
        for name in &self.written {
            let mode = if self.executable.contains(name) { EXECUTABLE } else { PLAIN };
            let path = checked(Path::new(name))?;
            copy((folder, path), (worktree, path), mode)?;
        }
        for (name, target) in &self.linked {
            let place = prepare(worktree, checked(Path::new(name))?)?;
            symlink(target, &place).map_err(Error::io("link", &place))?;
        }
        Ok(())
    }
}

/// Copies a file from a path below one root to a path below another.
fn copy((from, path): (&Path, &Path), (to, name): (&Path, &Path), mode: u32) -> Result<(), Error> {
    refuse_links(from, path)?;
    let source = from.join(path);
    let found = source.symlink_metadata().map_err(Error::io("copy", &source))?;
    if !found.is_file() {
        return Err(refused("copy", source, "it is not a regular file"));
    }
    let place = prepare(to, name)?;
    fs::copy(&source, &place).map_err(Error::io("copy", &source))?;
    fs::set_permissions(&place, Permissions::from_mode(mode)).map_err(Error::io("write", &place))
}

/// Makes the folders for a path below a root, and clears away the file or link that is there.
fn prepare(root: &Path, path: &Path) -> Result<PathBuf, Error> {
    refuse_links(root, path)?;
    let place = root.join(path);
    if let Some(parent) = place.parent() {
        fs::create_dir_all(parent).map_err(Error::io("create", parent))?;
    }
    make_way(&place)?;
    Ok(place)
}

/// Removes a file, or a link and not what it leads to.
fn make_way(place: &Path) -> Result<(), Error> {
    match fs::remove_file(place) {
        Ok(()) => Ok(()),
        Err(error) if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) => {
            Ok(())
        }
        Err(error) => Err(Error::io("remove", place)(error)),
    }
}

/// Git keeps no empty folders; a leftover one would block a file of the same name.
fn remove_empty_folders(root: &Path, path: &Path) {
    let is_removed = |folder: &Path| fs::remove_dir(root.join(folder)).is_ok();
    folders_of(path).take_while(|folder| is_removed(folder)).for_each(drop);
}

fn read_link(place: &Path) -> Result<String, Error> {
    let target = fs::read_link(place).map_err(Error::io("read", place))?;
    let text = target.into_os_string().into_string();
    text.map_err(|_| refused("record", place.to_owned(), "the link leads to a name that is not text"))
}

/// Refuses a path with a link among its folders, which would lead elsewhere; the last part may be a link.
fn refuse_links(root: &Path, path: &Path) -> Result<(), Error> {
    match find_link(root, path) {
        Some(link) => Err(refused("go through", link, "it is a link")),
        None => Ok(()),
    }
}

/// Finds a link among the folders that lead to a path.
fn find_link(root: &Path, path: &Path) -> Option<PathBuf> {
    let is_link = |place: &PathBuf| place.symlink_metadata().is_ok_and(|found| found.is_symlink());
    folders_of(path).map(|folder| root.join(folder)).find(is_link)
}

/// Returns the folders that lead to a path, innermost first.
fn folders_of(path: &Path) -> impl Iterator<Item = &Path> {
    path.ancestors().skip(1).filter(|folder| !folder.as_os_str().is_empty())
}

/// Returns a path that stays below the folder it is for.
pub(crate) fn checked(path: &Path) -> Result<&Path, Error> {
    let is_git = |part: &std::ffi::OsStr| part.as_bytes().eq_ignore_ascii_case(b".git");
    let is_plain = path.components().all(|part| matches!(part, Component::Normal(part) if !is_git(part)));
    if is_plain && !path.as_os_str().is_empty() {
        return Ok(path);
    }
    Err(refused("use", path.to_owned(), "a tape may not name it"))
}

/// Says why something is not done with a path.
pub(crate) fn refused(action: &'static str, path: PathBuf, why: &'static str) -> Error {
    Error::Io { action, path, source: io::Error::new(io::ErrorKind::InvalidInput, why) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;

    /// A worktree, a folder of a recording, and another worktree to play in.
    struct Places {
        _folder: tempfile::TempDir,
        from: PathBuf,
        recording: PathBuf,
        to: PathBuf,
    }

    fn places() -> Places {
        let folder = tempfile::tempdir().unwrap();
        let [from, recording, to] = ["from", "tape", "to"].map(|name| folder.path().join(name));
        for place in [&from, &recording, &to] {
            fs::create_dir(place).unwrap();
        }
        Places { _folder: folder, from, recording, to }
    }

    impl Places {
        /// Records what changed, and replaces what was recorded before.
        fn record(&self, changed: &[&str]) -> RecordingFiles {
            fs::remove_dir_all(&self.recording).unwrap();
            fs::create_dir(&self.recording).unwrap();
            let files = RecordingFiles::look(&self.from, changed.iter().map(PathBuf::from)).unwrap();
            files.keep(&self.from, &self.recording).unwrap();
            files
        }

        fn take_over(&self, changed: &[&str]) {
            self.record(changed).play(&self.recording, &self.to).unwrap();
        }

        fn write(&self, path: &str, text: &str, mode: u32) {
            let place = self.from.join(path);
            fs::create_dir_all(place.parent().unwrap()).unwrap();
            fs::write(&place, text).unwrap();
            fs::set_permissions(&place, Permissions::from_mode(mode)).unwrap();
        }

        fn mode(&self, path: &str) -> u32 {
            fs::metadata(self.to.join(path)).unwrap().permissions().mode() & 0o7777
        }

        fn text(&self, path: &str) -> String {
            fs::read_to_string(self.to.join(path)).unwrap()
        }
    }

    #[test]
    fn contents_and_removals_are_taken_over() {
        let places = places();
        places.write("src/a.bin", "\u{0}\u{7f}", PLAIN);
        fs::write(places.to.join("old.txt"), "old").unwrap();
        places.take_over(&["src/a.bin", "old.txt", "never.txt"]);
        assert_eq!(places.text("src/a.bin"), "\u{0}\u{7f}");
        assert!(!places.to.join("old.txt").exists());
    }

    #[test]
    fn a_file_whose_name_is_no_text_is_not_recorded() {
        let places = places();
        let odd = PathBuf::from(OsStr::from_bytes(b"caf\xe9.txt"));
        fs::write(places.from.join(&odd), "odd").unwrap();
        let refused = RecordingFiles::look(&places.from, [odd]).unwrap_err();
        assert!(crate::error::chain(&refused).join(": ").contains("not valid text"), "{refused:?}");
    }

    #[test]
    fn what_can_be_executed_can_be_executed_again_and_nothing_more() {
        let places = places();
        places.write("run.sh", "#!/bin/sh\n", 0o700);
        places.write("secret.txt", "text", 0o600);
        places.write("strange.txt", "text", 0o4744);
        places.take_over(&["run.sh", "secret.txt", "strange.txt"]);
        assert_eq!([places.mode("run.sh"), places.mode("secret.txt")], [EXECUTABLE, PLAIN]);
        assert_eq!(places.mode("strange.txt"), EXECUTABLE, "only what git knows of a mode");
        assert_eq!(
            fs::metadata(places.recording.join("run.sh")).unwrap().permissions().mode() & 0o777,
            PLAIN
        );
        places.write("run.sh", "#!/bin/sh\n", PLAIN);
        places.take_over(&["run.sh"]);
        assert_eq!(places.mode("run.sh"), PLAIN);
    }

    #[test]
    fn a_link_is_made_again_and_never_followed() {
        let places = places();
        let outside = places.from.with_file_name("outside.txt");
        fs::write(&outside, "untouched").unwrap();
        for (name, target) in [("near", "src/a.txt"), ("far", "../outside.txt"), ("lost", "/nowhere/at/all")]
        {
            symlink(target, places.from.join(name)).unwrap();
        }
        let files = places.record(&["near", "far", "lost"]);
        assert!(fs::read_dir(&places.recording).unwrap().next().is_none(), "no content of theirs is kept");
        // Played twice: the second time the links are there.
        files.play(&places.recording, &places.to).unwrap();
        files.play(&places.recording, &places.to).unwrap();
        assert_eq!(fs::read_link(places.to.join("far")).unwrap(), Path::new("../outside.txt"));
        assert_eq!(fs::read_link(places.to.join("lost")).unwrap(), Path::new("/nowhere/at/all"));
        // A file in place of the link, and the other way round.
        fs::remove_file(places.from.join("far")).unwrap();
        places.write("far", "a file", PLAIN);
        places.take_over(&["far"]);
        assert_eq!(
            (places.text("far"), fs::read_to_string(&outside).unwrap()),
            ("a file".into(), "untouched".into())
        );
        fs::remove_file(places.from.join("far")).unwrap();
        symlink("near", places.from.join("far")).unwrap();
        places.take_over(&["far"]);
        assert_eq!(fs::read_link(places.to.join("far")).unwrap(), Path::new("near"));
    }

    #[test]
    fn folders_links_and_files_can_take_the_place_of_each_other() {
        let places = places();
        let outside = places.from.with_file_name("outside");
        fs::create_dir(&outside).unwrap();
        symlink("../outside", places.from.join("a")).unwrap();
        places.take_over(&["a"]);
        fs::remove_file(places.from.join("a")).unwrap();
        places.write("a/b/c.txt", "deep", PLAIN);
        assert!(
            places.record(&["a/b/c.txt"]).play(&places.recording, &places.to).is_err(),
            "the link is in the way"
        );
        places.take_over(&["a", "a/b/c.txt"]);
        assert_eq!(places.text("a/b/c.txt"), "deep");
        fs::remove_dir_all(places.from.join("a")).unwrap();
        fs::write(outside.join("c.txt"), "not ours").unwrap();
        fs::create_dir(outside.join("b")).unwrap();
        fs::write(outside.join("b/c.txt"), "not ours").unwrap();
        symlink("../outside", places.from.join("a")).unwrap();
        let files = places.record(&["a", "a/b/c.txt"]);
        // Twice, as after a crash.
        files.play(&places.recording, &places.to).unwrap();
        files.play(&places.recording, &places.to).unwrap();
        assert_eq!(fs::read_link(places.to.join("a")).unwrap(), Path::new("../outside"));
        assert_eq!(fs::read_to_string(outside.join("b/c.txt")).unwrap(), "not ours");
        fs::remove_file(places.from.join("a")).unwrap();
        places.write("a", "flat", PLAIN);
        places.take_over(&["a"]);
        assert_eq!(places.text("a"), "flat");
    }

    #[test]
    fn an_empty_folder_does_not_stand_in_the_way_of_a_file() {
        let places = places();
        places.write("a/b/c.txt", "deep", PLAIN);
        places.take_over(&["a/b/c.txt"]);
        fs::remove_dir_all(places.from.join("a")).unwrap();
        places.write("a", "flat", PLAIN);
        places.take_over(&["a", "a/b/c.txt"]);
        assert_eq!(places.text("a"), "flat");
    }

    #[test]
    fn names_that_lead_elsewhere_are_refused() {
        let places = places();
        symlink("/tmp", places.to.join("link")).unwrap();
        for bad in ["../x", "/etc/x", "", "a/../../x", ".git/config", "sub/.GIT/hooks/x", "link/x"] {
            let written = RecordingFiles { written: vec![bad.to_owned()], ..RecordingFiles::default() };
            let linked = BTreeMap::from([(bad.to_owned(), "x".to_owned())]);
            for files in [written, RecordingFiles { linked, ..RecordingFiles::default() }] {
                assert!(files.play(&places.recording, &places.to).is_err(), "{bad}: {files:?}");
            }
            let removed = RecordingFiles { removed: vec![bad.to_owned()], ..RecordingFiles::default() };
            let played = removed.play(&places.recording, &places.to);
            assert_eq!(
                played.is_err(),
                bad != "link/x",
                "{bad}: what is behind a link is not the worktree's"
            );
        }
    }

    #[test]
    fn a_recording_with_links_of_its_own_is_not_followed() {
        let places = places();
        let outside = places.from.with_file_name("secret");
        fs::create_dir(&outside).unwrap();
        fs::write(outside.join("key"), "secret").unwrap();
        symlink(outside.join("key"), places.recording.join("a")).unwrap();
        symlink(&outside, places.recording.join("folder")).unwrap();
        for path in ["a", "folder/key"] {
            let files = RecordingFiles { written: vec![path.to_owned()], ..RecordingFiles::default() };
            assert!(files.play(&places.recording, &places.to).is_err(), "{path}");
        }
    }
}
