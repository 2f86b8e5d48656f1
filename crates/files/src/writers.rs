//! Finds who has a file open for writing, as far as that is visible.
//!
//! A displaced file can only change while a program still has it open. So once nobody has, what is read then
//! is final, with no guess about how long an editor may take. Linux shows the open files of every process of
//! the same user under `/proc`; those of other users, and mappings whose file was closed, are not seen. A
//! file lease would answer in one call, but breaking one signals its holder, and the signal ends the process.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Whether somebody may still write to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Writers {
    /// No process that can be seen has it open for writing.
    Nobody,
    /// A process has it open for writing.
    Somebody,
    /// There is no way to see it here.
    Unknown,
}

/// The bit in the mode of an entry of `/proc/<pid>/fd` that says that it is open for writing.
const OPEN_FOR_WRITING: u32 = 0o200;

/// Looks who has a file open for writing; a file that is gone has nobody.
pub fn find(path: &Path) -> Writers {
    let Ok(wanted) = fs::metadata(path) else { return Writers::Nobody };
    let Ok(processes) = fs::read_dir("/proc") else { return Writers::Unknown };
    let is_number = |entry: &fs::DirEntry| {
        entry.file_name().to_str().is_some_and(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
    };
    let mut is_any_seen = false;
    for process in processes.flatten().filter(is_number) {
        let Ok(descriptors) = fs::read_dir(process.path().join("fd")) else { continue };
        is_any_seen = true;
        if descriptors.flatten().any(|descriptor| is_writer(&descriptor, &wanted)) {
            return Writers::Somebody;
        }
    }
    // We see at least ourselves, unless `/proc` is not what it is on Linux.
    if is_any_seen { Writers::Nobody } else { Writers::Unknown }
}

fn is_writer(descriptor: &fs::DirEntry, wanted: &fs::Metadata) -> bool {
    let is_for_writing = descriptor.metadata().is_ok_and(|link| link.mode() & OPEN_FOR_WRITING != 0);
    let is_same = |open: fs::Metadata| (open.dev(), open.ino()) == (wanted.dev(), wanted.ino());
    is_for_writing && fs::metadata(descriptor.path()).is_ok_and(is_same)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_who_may_write_counts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        assert_eq!(find(&path), Writers::Nobody);
        fs::write(&path, b"one").unwrap();
        let reader = fs::File::open(&path).unwrap();
        assert_eq!(find(&path), Writers::Nobody);
        let writer = fs::File::options().append(true).open(&path).unwrap();
        assert_eq!(find(&path), Writers::Somebody);
        let moved = folder.path().join("b.md");
        fs::rename(&path, &moved).unwrap();
        fs::write(&path, b"another").unwrap();
        assert_eq!(
            (find(&path), find(&moved)),
            (Writers::Nobody, Writers::Somebody),
            "the file, not its name"
        );
        drop((reader, writer));
        assert_eq!(find(&moved), Writers::Nobody);
        check_another_process(&moved);
    }

    fn check_another_process(path: &Path) {
        let output = fs::File::options().append(true).open(path).unwrap();
        let mut child = std::process::Command::new("cat")
            .stdin(std::process::Stdio::piped())
            .stdout(output)
            .spawn()
            .unwrap();
        assert_eq!(find(path), Writers::Somebody);
        drop(child.stdin.take());
        child.wait().unwrap();
        assert_eq!(find(path), Writers::Nobody);
    }
}
