//! Changes files of the working folder, each change so that making it twice is the same as once.

use std::fs::{self, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use crate::change::TEXT_BYTES_MAX;
use crate::folder::{Folder, PathFault};

/// Largest file that is changed in part; it is held in memory meanwhile.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Why a file was not changed.
#[derive(Debug, thiserror::Error)]
pub(super) enum EditError {
    #[error("the path `{path}` is refused: {fault}")]
    Refused { path: String, fault: PathFault },
    #[error("`{path}` holds neither `{from}` nor `{to}`")]
    NothingToReplace { path: String, from: String, to: String },
    #[error("`{path}` has more than {FILE_BYTES_MAX} bytes")]
    TooLarge { path: String },
    #[error("`{path}` could not be changed: {source}")]
    Failed { path: String, source: io::Error },
}

impl EditError {
    /// Tells a mistake of the script from a failure of the disk.
    pub(super) fn is_mistake(&self) -> bool {
        !matches!(self, EditError::Failed { .. })
    }
}

/// Writes a whole file.
pub(super) fn write(folder: &Folder, path: &str, text: &str) -> Result<(), EditError> {
    let place = resolve(folder, path)?;
    save(&place, text.as_bytes()).map_err(|source| failed(path, source))
}

/// Adds text at the end of a file, unless it is there already, alone or followed by what is appended later on.
pub(super) fn append(folder: &Folder, path: &str, text: &str, later: &[String]) -> Result<(), EditError> {
    let place = resolve(folder, path)?;
    let old = load(&place, path)?;
    if old.is_some_and(|old| is_appended(&old, text, later)) {
        return Ok(());
    }
    append_bytes(&place, text.as_bytes()).map_err(|source| failed(path, source))
}

/// Replaces every occurrence of one text by another; one that was replaced before is fine.
pub(super) fn replace(folder: &Folder, path: &str, from: &str, to: &str) -> Result<(), EditError> {
    let place = resolve(folder, path)?;
    let bytes = load(&place, path)?.ok_or_else(|| failed(path, io::ErrorKind::NotFound.into()))?;
    let old = String::from_utf8(bytes).map_err(|error| failed(path, io::Error::other(error)))?;
    let new = replace_once(&old, from, to);
    if new != old {
        return save(&place, new.as_bytes()).map_err(|source| failed(path, source));
    }
    if old.contains(to) {
        return Ok(());
    }
    Err(EditError::NothingToReplace { path: path.to_owned(), from: from.to_owned(), to: to.to_owned() })
}

/// Returns the text of a file to show what changes in it; nothing of one that is missing, large or no text.
pub(super) fn peek(folder: &Folder, path: &str) -> String {
    let Ok(place) = folder.resolve(path) else { return String::new() };
    let is_small =
        fs::metadata(&place).is_ok_and(|found| found.is_file() && found.len() <= TEXT_BYTES_MAX as u64);
    let bytes = if is_small { fs::read(&place).unwrap_or_default() } else { Vec::new() };
    String::from_utf8(bytes).unwrap_or_default()
}

/// Removes a file, a link or a folder with all in it; what is not there is fine.
pub(super) fn remove(folder: &Folder, path: &str) -> Result<(), EditError> {
    let refused = |fault| EditError::Refused { path: path.to_owned(), fault };
    let place = folder.resolve_entry(path).map_err(refused)?;
    let removed = match fs::symlink_metadata(&place) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(&place),
        Ok(_) => fs::remove_file(&place),
        Err(error) => Err(error),
    };
    match removed {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(failed(path, error)),
        _ => Ok(()),
    }
}

fn is_appended(old: &[u8], text: &str, later: &[String]) -> bool {
    let mut end = text.to_owned();
    let mut later = later.iter();
    loop {
        if old.ends_with(end.as_bytes()) {
            return true;
        }
        match later.next() {
            Some(text) => end += text,
            None => return false,
        }
    }
}

/// Replaces all occurrences; where the new text holds the old one, those inside of it are done already.
fn replace_once(text: &str, from: &str, to: &str) -> String {
    if from.is_empty() {
        return text.to_owned();
    }
    if to.contains(from) {
        let pieces: Vec<String> = text.split(to).map(|piece| piece.replace(from, to)).collect();
        pieces.join(to)
    } else {
        text.replace(from, to)
    }
}

fn resolve(folder: &Folder, path: &str) -> Result<PathBuf, EditError> {
    folder.resolve(path).map_err(|fault| EditError::Refused { path: path.to_owned(), fault })
}

fn failed(path: &str, source: io::Error) -> EditError {
    EditError::Failed { path: path.to_owned(), source }
}

fn load(place: &Path, path: &str) -> Result<Option<Vec<u8>>, EditError> {
    match fs::metadata(place) {
        Ok(metadata) if metadata.len() > FILE_BYTES_MAX => Err(EditError::TooLarge { path: path.to_owned() }),
        Ok(_) => fs::read(place).map(Some).map_err(|source| failed(path, source)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(failed(path, error)),
    }
}

fn append_bytes(place: &Path, bytes: &[u8]) -> io::Result<()> {
    make_parent(place)?;
    OpenOptions::new().append(true).create(true).open(place)?.write_all(bytes)
}

/// Writes in place: a temporary file beside it could be left over and end up in a commit.
fn save(place: &Path, bytes: &[u8]) -> io::Result<()> {
    make_parent(place)?;
    fs::write(place, bytes)
}

fn make_parent(place: &Path) -> io::Result<()> {
    place.parent().map_or(Ok(()), fs::create_dir_all)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_file(old: &str, change: impl Fn(&Folder) -> Result<(), EditError>) -> String {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path()).unwrap();
        let place = temporary.path().join("file");
        fs::write(&place, old).unwrap();
        change(&folder).unwrap();
        let once = fs::read_to_string(&place).unwrap();
        change(&folder).unwrap();
        assert_eq!(fs::read_to_string(&place).unwrap(), once, "a second time must change nothing");
        once
    }

    #[test]
    fn every_change_may_be_repeated() {
        assert_eq!(with_file("a", |folder| write(folder, "file", "b")), "b");
        assert_eq!(with_file("a", |folder| append(folder, "file", "b", &[])), "ab");
        assert_eq!(with_file("a a", |folder| replace(folder, "file", "a", "b")), "b b");
        assert_eq!(with_file("a a", |folder| replace(folder, "file", "a", "aa")), "aa aa");
        assert_eq!(with_file("abc", |folder| replace(folder, "file", "b", "")), "ac");
        assert_eq!(with_file("a", |folder| write(folder, "new/deep", "b")), "a");
        assert_eq!(with_file("a", |folder| remove(folder, "other")), "a");
    }

    #[test]
    fn two_appends_are_not_doubled_when_played_again() {
        let text = with_file("", |folder| {
            append(folder, "file", "one\n", &["two\n".to_owned()])?;
            append(folder, "file", "two\n", &[])
        });
        assert_eq!(text, "one\ntwo\n");
    }

    #[test]
    fn what_cannot_be_replaced_is_said() {
        let temporary = tempfile::tempdir().unwrap();
        let folder = Folder::new(temporary.path()).unwrap();
        let missing = replace(&folder, "file", "a", "b").unwrap_err();
        assert!(matches!(missing, EditError::Failed { .. }), "{missing}");
        write(&folder, "file", "c").unwrap();
        let error = replace(&folder, "file", "a", "b").unwrap_err();
        assert_eq!(error.to_string(), "`file` holds neither `a` nor `b`");
        let refused = write(&folder, "../x", "").unwrap_err();
        assert_eq!(refused.to_string(), "the path `../x` is refused: it holds `.` or `..`");
    }

    #[test]
    fn a_link_is_removed_and_not_what_it_leads_to() {
        let outside = tempfile::tempdir().unwrap();
        let temporary = tempfile::tempdir().unwrap();
        fs::write(outside.path().join("keep"), "k").unwrap();
        std::os::unix::fs::symlink(outside.path(), temporary.path().join("link")).unwrap();
        fs::create_dir_all(temporary.path().join("folder/deep")).unwrap();
        let folder = Folder::new(temporary.path()).unwrap();
        remove(&folder, "link").unwrap();
        remove(&folder, "folder").unwrap();
        assert!(outside.path().join("keep").exists());
        assert_eq!(fs::read_dir(temporary.path()).unwrap().count(), 0);
    }
}
