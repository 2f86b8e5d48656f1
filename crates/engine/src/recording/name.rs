//! Names of files on a recording: converts paths of a worktree to text, and back.
//!
//! A path is bytes, and a recording is text. A path that is valid text is its own name. In any other path, an
//! invalid byte is written as `%FF` and `%` as `%25`; the recorded answer says which of its names are
//! escaped. A name may come from anywhere: it never leads out of its folder, nor into a git folder.

use crate::error::Error;
use std::ffi::OsString;
use std::fmt::Write as _;
use std::io;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

/// Returns the name of a path.
pub(crate) fn name_of(path: &Path) -> String {
    path.to_str().map_or_else(|| escape(path), str::to_owned)
}

fn escape(path: &Path) -> String {
    let mut name = String::new();
    for chunk in path.as_os_str().as_bytes().utf8_chunks() {
        name.push_str(&chunk.valid().replace('%', "%25"));
        for byte in chunk.invalid() {
            let _ = write!(name, "%{byte:02X}");
        }
    }
    name
}

/// Returns the path that an escaped name stands for, if it stands for one.
pub(crate) fn unescape(name: &str) -> Option<PathBuf> {
    let mut parts = name.split('%');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        bytes.push(u8::from_str_radix(part.get(..2)?, 16).ok()?);
        bytes.extend_from_slice(&part.as_bytes()[2..]);
    }
    Some(PathBuf::from(OsString::from_vec(bytes)))
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

    #[test]
    fn a_path_that_is_no_text_has_a_name_and_comes_back() {
        for (bytes, name) in [
            (&b"caf\xe9.txt"[..], "caf%E9.txt"),
            (b"100%/\xff\xfe", "100%25/%FF%FE"),
            (b"\xc3", "%C3"),
            ("ü".as_bytes(), "ü"),
        ] {
            let path = Path::new(OsStr::from_bytes(bytes));
            assert_eq!(name_of(path), name);
            assert_eq!(unescape(name).as_deref(), Some(path));
        }
        assert_eq!(name_of(Path::new("100%.txt")), "100%.txt", "text is its own name");
        for bad in ["%", "%f", "%zz", "a%1", "%é"] {
            assert_eq!(unescape(bad), None, "{bad}");
        }
    }
}
