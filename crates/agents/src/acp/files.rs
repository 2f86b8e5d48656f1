//! Reads and writes files for an agent that asks its client to, inside of the working folder only.
//!
//! Regatta does not offer this, because an agent in a sandbox can do it better itself. Some ask all the same.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::folder::{Folder, PathFault};

/// Largest file that is read or written for an agent; a message holds it whole.
const FILE_BYTES_MAX: u64 = 4 * 1024 * 1024;

/// Why a file was not read or written.
#[derive(Debug, thiserror::Error)]
pub(crate) enum FileError {
    #[error("the path `{path}` is refused: {fault}")]
    Refused { path: PathBuf, fault: PathFault },
    #[error("`{path}` has more than {FILE_BYTES_MAX} bytes")]
    TooLarge { path: PathBuf },
    #[error("`{path}` is not a plain file")]
    NotPlain { path: PathBuf },
    #[error("`{path}`: {source}")]
    Failed { path: PathBuf, source: io::Error },
}

/// Returns the text of a file, or some of its lines: from a line, counted from 1, and at most so many.
pub(crate) fn read(
    folder: &Folder,
    path: &Path,
    from: Option<u32>,
    lines_max: Option<u32>,
) -> Result<String, FileError> {
    let place = folder.resolve_any(path).map_err(|fault| refused(path, fault))?;
    let failed = |source| FileError::Failed { path: path.to_owned(), source };
    // A pipe would be waited for.
    if !std::fs::metadata(&place).map_err(failed)?.is_file() {
        return Err(FileError::NotPlain { path: path.to_owned() });
    }
    let mut text = String::new();
    let file = std::fs::File::open(&place).map_err(failed)?;
    file.take(FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(FileError::TooLarge { path: path.to_owned() });
    }
    if from.is_none() && lines_max.is_none() {
        return Ok(text);
    }
    let count = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
    let skipped = count(from.unwrap_or(1).saturating_sub(1));
    Ok(text.split_inclusive('\n').skip(skipped).take(lines_max.map_or(usize::MAX, count)).collect())
}

/// Writes a whole file, and makes its folders.
pub(crate) fn write(folder: &Folder, path: &Path, text: &str) -> Result<(), FileError> {
    let place = folder.resolve_any(path).map_err(|fault| refused(path, fault))?;
    if text.len() as u64 > FILE_BYTES_MAX {
        return Err(FileError::TooLarge { path: path.to_owned() });
    }
    if place.exists() && !place.is_file() {
        return Err(FileError::NotPlain { path: path.to_owned() });
    }
    let parent = place.parent().map_or(Ok(()), std::fs::create_dir_all);
    let written = parent.and_then(|()| std::fs::write(&place, text));
    written.map_err(|source| FileError::Failed { path: path.to_owned(), source })
}

fn refused(path: &Path, fault: PathFault) -> FileError {
    FileError::Refused { path: path.to_owned(), fault }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_the_folder_are_read_and_written_and_no_others() {
        let outside = tempfile::tempdir().unwrap();
        let inside = outside.path().join("inside");
        std::fs::create_dir_all(&inside).unwrap();
        std::fs::write(outside.path().join("secret"), "s").unwrap();
        std::os::unix::fs::symlink("../secret", inside.join("link")).unwrap();
        let folder = Folder::new(&inside).unwrap();
        let absolute = inside.join("new/a.txt");
        write(&folder, &absolute, "one\ntwo\nthree\n").unwrap();
        assert_eq!(read(&folder, Path::new("new/a.txt"), None, None).unwrap(), "one\ntwo\nthree\n");
        assert_eq!(read(&folder, Path::new("new/a.txt"), Some(2), Some(1)).unwrap(), "two\n");
        assert_eq!(read(&folder, Path::new("new/a.txt"), Some(9), None).unwrap(), "");
        for path in ["link", "../secret", "/etc/passwd", ".git/config"] {
            assert!(
                matches!(read(&folder, Path::new(path), None, None), Err(FileError::Refused { .. })),
                "{path}"
            );
            assert!(matches!(write(&folder, Path::new(path), "x"), Err(FileError::Refused { .. })), "{path}");
        }
        assert_eq!(std::fs::read_to_string(outside.path().join("secret")).unwrap(), "s");
        assert!(matches!(read(&folder, Path::new("new"), None, None), Err(FileError::NotPlain { .. })));
        assert!(matches!(write(&folder, Path::new("new"), ""), Err(FileError::NotPlain { .. })));
        assert!(matches!(read(&folder, Path::new("missing"), None, None), Err(FileError::Failed { .. })));
        let large = "x".repeat(usize::try_from(FILE_BYTES_MAX).unwrap() + 1);
        assert!(matches!(write(&folder, Path::new("large"), &large), Err(FileError::TooLarge { .. })));
        std::fs::write(inside.join("large"), &large).unwrap();
        assert!(matches!(read(&folder, Path::new("large"), None, None), Err(FileError::TooLarge { .. })));
    }
}
