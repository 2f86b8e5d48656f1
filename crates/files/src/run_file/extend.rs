//! Adds lines to the end of a file in place, so that it can be repeated after a crash.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::Path;

use rustix::fs::OFlags;

use super::TEXT_BYTES_MAX;
use super::lines::count_whole;
use crate::beneath;
use crate::disk::{Error, failed};

/// What came of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Extension {
    /// All lines are on the disk, and the last of them ends here.
    Done {
        /// Where that is.
        end: u64,
    },
    /// The file is shorter than it was, or gone; nothing was written.
    Cut,
    /// Somebody is in the middle of writing a line; nothing was written.
    Unfinished,
}

/// Makes sure that a file below a known folder has these lines behind its first bytes, and that they are on disk. No link is
/// followed.
///
/// Lines that are there already are not written again, and one of them that was cut off is completed. What others added
/// stays, and what is missing follows it. Every write goes to the end, so none ever overwrites what somebody adds just then.
pub fn extend(root: &Path, path: &Path, from: u64, lines: &[String]) -> Result<Extension, Error> {
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::NONBLOCK | OFlags::NOCTTY;
    let mut file = match beneath::open(root, path, flags, 0) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Extension::Cut),
        opened => opened.map_err(failed("open", path))?,
    };
    extend_opened(&mut file, from, lines).map_err(failed("extend", path))
}

fn extend_opened(file: &mut File, from: u64, lines: &[String]) -> io::Result<Extension> {
    let metadata = file.metadata()?;
    if !metadata.is_file() || metadata.len() < from {
        return Ok(Extension::Cut);
    }
    file.seek(SeekFrom::Start(from))?;
    let mut tail = Vec::new();
    (&mut *file).take(TEXT_BYTES_MAX as u64).read_to_end(&mut tail)?;
    let (there, bytes) = count_there(&tail, lines);
    let end_of_ours = from + bytes as u64;
    let rest: String = lines[there..].concat();
    let after = &tail[bytes..];
    if rest.is_empty() {
        // They may be those of a process that died before its sync.
        file.sync_all()?;
        return Ok(Extension::Done { end: end_of_ours });
    }
    let rest = match rest.as_bytes().strip_prefix(after) {
        // Ours, cut off by a crash.
        Some(rest) => rest,
        None if count_whole(after) == after.len() => rest.as_bytes(),
        None => return Ok(Extension::Unfinished),
    };
    file.write_all(rest)?;
    // Where the last write ended, which is further back if somebody added something just before.
    let end = file.stream_position()?;
    file.sync_all()?;
    Ok(Extension::Done { end })
}

/// Counts how many of the lines a text begins with, and their bytes.
fn count_there(tail: &[u8], lines: &[String]) -> (usize, usize) {
    let mut bytes = 0;
    for (count, line) in lines.iter().enumerate() {
        if !tail[bytes..].starts_with(line.as_bytes()) {
            return (count, bytes);
        }
        bytes += line.len();
    }
    (lines.len(), bytes)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    /// The file after lines were added to `ours` and `tail`, and what came of it.
    fn extended(ours: &str, tail: &str, lines: &[&str]) -> (String, Extension) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        fs::write(&path, format!("{ours}{tail}")).unwrap();
        let lines: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
        let found = extend(folder.path(), &path, ours.len() as u64, &lines).unwrap();
        (fs::read_to_string(&path).unwrap(), found)
    }

    fn done(end: u64) -> Extension {
        Extension::Done { end }
    }

    #[test]
    fn lines_are_added_once_wherever_a_crash_came() {
        let whole = "1\n2\n2\n3\n";
        let lines = ["2\n", "2\n", "3\n"];
        for cut in 0..=6 {
            assert_eq!(extended("1\n", &"2\n2\n3\n"[..cut], &lines), (whole.to_owned(), done(8)), "{cut}");
        }
        // A longer batch than that of the process that died, because the log has grown.
        assert_eq!(extended("1\n", "2\n", &["2\n", "2\n"]), ("1\n2\n2\n".to_owned(), done(6)));
    }

    #[test]
    fn whole_lines_of_others_stay_and_ours_follow() {
        assert_eq!(extended("1\n", "x\n", &["2\n"]), ("1\nx\n2\n".to_owned(), done(6)));
        assert_eq!(extended("1\n", "2\nx\n", &["2\n", "3\n"]), ("1\n2\nx\n3\n".to_owned(), done(8)));
        assert_eq!(extended("1\n", "2\nx\n", &["2\n"]), ("1\n2\nx\n".to_owned(), done(4)));
        assert_eq!(extended("1\n", "half", &["2\n"]), ("1\nhalf".to_owned(), Extension::Unfinished));
    }

    #[test]
    fn what_is_not_the_file_that_was_written_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.log");
        let lines = ["2\n".to_owned()];
        assert_eq!(extend(folder.path(), &path, 2, &lines).unwrap(), Extension::Cut);
        fs::write(&path, "1").unwrap();
        assert_eq!(extend(folder.path(), &path, 2, &lines).unwrap(), Extension::Cut);
        assert_eq!(fs::read(&path).unwrap(), b"1");
        let link = folder.path().join("b.log");
        std::os::unix::fs::symlink("a.log", &link).unwrap();
        assert!(extend(folder.path(), &link, 0, &lines).is_err());
    }
}
