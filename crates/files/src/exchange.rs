//! Puts a new version in the place of a file without losing what is there.
//!
//! The two swap names in one step, so the old file, with whatever somebody wrote just before, is still there
//! under the other name: it is displaced, not replaced. A program that has it open may even write to it
//! later. So nothing here removes a displaced file; the caller examines it, more than once if need be. No
//! link is followed: a link in the place of the file is displaced itself. The caller has checked the folder
//! ([`beneath::ensure_folder`](crate::beneath::ensure_folder)).
//!
//! ```text
//!   .regatta-<label>-new-<random>.tmp    our new version, perhaps half written: may be removed
//!   .regatta-<label>-<base>-<random>.tmp the same, finished; after the exchange, what was displaced
//! ```

use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use rustix::io::Errno;

use crate::disk::{Error, failed, find_mode, folder_of, sync_folder};

/// What stands in the name of a version that is not finished, where otherwise the base stands.
pub const UNFINISHED: &str = "new";

/// How the names begin and end of the files that are made here.
pub const NAME_ENDS: (&str, &str) = (".regatta-", ".tmp");

/// Each failed try means that somebody made or removed the file at the same time.
const TRIES_MAX: u32 = 16;

/// A new version of a file, complete and on the disk, but not in its place yet.
#[derive(Debug)]
pub struct Prepared {
    path: PathBuf,
    temporary: PathBuf,
}

/// Writes a new version beside a file. The folder is made if need be; the mode of an old file is kept.
///
/// The name tells later whose file it was (`label`) and on which version whatever is displaced was made (`base`).
pub fn prepare(path: &Path, bytes: &[u8], label: &str, base: &str) -> Result<Prepared, Error> {
    let folder = folder_of(path);
    fs::create_dir_all(folder).map_err(failed("make", folder))?;
    let mode = find_mode(path)?;
    let mut file = tempfile::Builder::new()
        .prefix(&format!("{}{label}-{UNFINISHED}-", NAME_ENDS.0))
        .suffix(NAME_ENDS.1)
        .tempfile_in(folder)
        .map_err(failed("make a temporary file in", folder))?;
    file.write_all(bytes).map_err(failed("write a new version of", path))?;
    let permissions = fs::Permissions::from_mode(mode);
    file.as_file().set_permissions(permissions).map_err(failed("set the mode of", path))?;
    file.as_file().sync_all().map_err(failed("sync a new version of", path))?;
    // Closed before it gets its name: a check for writers of the file must not find us.
    let unfinished = file.into_temp_path();
    let temporary = find_free(folder, label, base)?;
    unfinished.persist(&temporary).map_err(|error| failed("name a new version of", path)(error.error))?;
    Ok(Prepared { path: path.to_owned(), temporary })
}

/// Puts a link in the place of a file, which is displaced into another folder; returns where it is then, and nothing when
/// there was none.
pub fn land_link(
    path: &Path,
    target: &Path,
    folder: &Path,
    label: &str,
    base: &str,
) -> Result<Option<PathBuf>, Error> {
    let temporary = find_free(folder, label, base)?;
    std::os::unix::fs::symlink(target, &temporary).map_err(failed("make a link in", folder))?;
    Prepared { path: path.to_owned(), temporary }.land()
}

impl Prepared {
    /// Puts it in its place; returns where the file is that was there, and nothing when there was none.
    pub fn land(self) -> Result<Option<PathBuf>, Error> {
        for _ in 0..TRIES_MAX {
            match renameat_with(CWD, &self.temporary, CWD, &self.path, RenameFlags::EXCHANGE) {
                Ok(()) => return sync_folder(&self.path).map(|()| Some(self.temporary)),
                // If it does not land, somebody made the file meanwhile, and that must be taken out, not lost.
                Err(Errno::NOENT) => {
                    if rename_new(&self.temporary, &self.path).map_err(failed("make", &self.path))? {
                        return sync_folder(&self.path).map(|()| None);
                    }
                }
                Err(_) => return self.land_without_exchange(),
            }
        }
        Err(failed("replace", &self.path)(io::Error::other("it is made and removed again all the time")))
    }

    /// For file systems that cannot exchange: the old file gets a second name, or is copied, right before the
    /// new one takes its place. A replacement by another process between these two steps is not noticed.
    fn land_without_exchange(self) -> Result<Option<PathBuf>, Error> {
        let kept = self.temporary.with_extension("old.tmp");
        let had_old = match fs::hard_link(&self.path, &kept) {
            Ok(()) => true,
            Err(error) if error.kind() == io::ErrorKind::NotFound => false,
            Err(_) => fs::copy(&self.path, &kept).map(|_| true).map_err(failed("keep", &self.path))?,
        };
        fs::rename(&self.temporary, &self.path).map_err(failed("replace", &self.path))?;
        sync_folder(&self.path)?;
        Ok(had_old.then_some(kept))
    }
}

/// Gives a displaced file another base; returns its new name.
pub fn rebase(displaced: &Path, label: &str, base: &str) -> Result<PathBuf, Error> {
    let name = find_free(folder_of(displaced), label, base)?;
    fs::rename(displaced, &name).map_err(failed("rename", displaced))?;
    Ok(name)
}

/// Moves a file to a name beside it that is not taken, and makes sure of it.
pub fn set_aside(path: &Path, candidates: impl Iterator<Item = PathBuf>) -> Result<PathBuf, Error> {
    for kept in candidates {
        if rename_new(path, &kept).map_err(failed("set aside", path))? {
            return sync_folder(&kept).map(|()| kept);
        }
    }
    Err(failed("set aside", path)(io::Error::other("every name for it is taken")))
}

/// Lists what is beside a file under a name as they are made here, for any label, in order.
pub fn list(path: &Path) -> Result<Vec<PathBuf>, Error> {
    let folder = folder_of(path);
    let entries = match fs::read_dir(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(failed("list", folder)(error)),
    };
    let is_ours = |name: &str| name.starts_with(NAME_ENDS.0) && name.ends_with(NAME_ENDS.1);
    let names = entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_ours));
    let mut found: Vec<PathBuf> = names.map(|entry| entry.path()).collect();
    found.sort();
    Ok(found)
}

/// Renames a file to a name that nothing has; says whether it did.
fn rename_new(from: &Path, to: &Path) -> io::Result<bool> {
    match renameat_with(CWD, from, CWD, to, RenameFlags::NOREPLACE) {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Ok(false),
        Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => rename_new_by_link(from, to),
        Err(error) => Err(error.into()),
    }
}

/// For file systems that do not know such a rename: a link is not made over what is there either.
fn rename_new_by_link(from: &Path, to: &Path) -> io::Result<bool> {
    match fs::hard_link(from, to) {
        Ok(()) => fs::remove_file(from).map(|()| true),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(false),
        Err(error) => Err(error),
    }
}

/// Finds a name that is not taken; nobody else makes names like it while the caller works on the file.
fn find_free(folder: &Path, label: &str, base: &str) -> Result<PathBuf, Error> {
    let check = |path: &Path| if path.exists() { Err(io::ErrorKind::AlreadyExists.into()) } else { Ok(()) };
    let prefix = format!("{}{label}-{base}-", NAME_ENDS.0);
    let mut builder = tempfile::Builder::new();
    let name = builder.prefix(&prefix).suffix(NAME_ENDS.1).make_in(folder, check);
    let name = name.map_err(failed("find a name in", folder))?;
    name.into_temp_path().keep().map_err(|error| failed("find a name in", folder)(error.error))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<String> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    fn land(path: &Path, bytes: &[u8]) -> Option<PathBuf> {
        prepare(path, bytes, "a", "0123").unwrap().land().unwrap()
    }

    #[test]
    fn what_was_there_is_displaced_and_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("below/a.md");
        assert_eq!(land(&path, b"one"), None);
        assert_eq!(names(path.parent().unwrap()), ["a.md"]);
        fs::set_permissions(&path, fs::Permissions::from_mode(0o600)).unwrap();
        fs::write(&path, b"an edit").unwrap();
        let old = land(&path, b"two").unwrap();
        assert_eq!(
            (fs::read(&path).unwrap(), fs::read(&old).unwrap()),
            (b"two".to_vec(), b"an edit".to_vec())
        );
        assert_eq!(fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
        assert!(old.file_name().unwrap().to_str().unwrap().starts_with(".regatta-a-0123-"), "{old:?}");
        assert_eq!(list(&path).unwrap(), [old]);
    }

    #[test]
    fn who_had_the_old_file_open_writes_to_what_was_displaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(&path, b"one").unwrap();
        let mut editor = fs::File::options().append(true).open(&path).unwrap();
        let old = land(&path, b"two").unwrap();
        editor.write_all(b", late").unwrap();
        assert_eq!(
            (fs::read(&path).unwrap(), fs::read(&old).unwrap()),
            (b"two".to_vec(), b"one, late".to_vec())
        );
    }

    #[test]
    fn without_an_exchange_the_old_file_is_kept_too() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        let first = prepare(&path, b"one", "a", "0123").unwrap();
        assert_eq!(first.land_without_exchange().unwrap(), None);
        let mut editor = fs::File::options().append(true).open(&path).unwrap();
        let old = prepare(&path, b"two", "a", "0123").unwrap().land_without_exchange().unwrap().unwrap();
        editor.write_all(b", late").unwrap();
        assert_eq!(
            (fs::read(&path).unwrap(), fs::read(&old).unwrap()),
            (b"two".to_vec(), b"one, late".to_vec())
        );
        assert_eq!(list(&path).unwrap(), [old]);
    }

    #[test]
    fn nothing_is_renamed_over_what_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        for rename in [rename_new, rename_new_by_link] {
            fs::write(&from, b"new").unwrap();
            fs::write(&to, b"there").unwrap();
            assert!(!rename(&from, &to).unwrap());
            assert_eq!(fs::read(&to).unwrap(), b"there");
            fs::remove_file(&to).unwrap();
            assert!(rename(&from, &to).unwrap());
            assert_eq!(names(folder.path()), ["to"]);
        }
    }

    #[test]
    fn a_link_is_displaced_itself() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("below/a.md"), folder.path().join("b.md"));
        land(&path, b"one");
        std::os::unix::fs::symlink("below/a.md", &link).unwrap();
        let old = land(&link, b"two").unwrap();
        assert!(fs::symlink_metadata(&old).unwrap().is_symlink() && !link.is_symlink());
        assert_eq!((fs::read(&path).unwrap(), fs::read(&link).unwrap()), (b"one".to_vec(), b"two".to_vec()));
        assert_eq!(list(&link).unwrap(), [old]);
    }

    #[test]
    fn a_link_takes_the_place_of_a_file_which_goes_where_it_leads() {
        let folder = tempfile::tempdir().unwrap();
        let (path, drawer) = (folder.path().join("a.md"), folder.path().join("drawer"));
        fs::create_dir(&drawer).unwrap();
        let land = || land_link(&path, Path::new("drawer/a.md"), &drawer, "a", "0123").unwrap();
        assert_eq!(land(), None);
        assert_eq!(fs::read_link(&path).unwrap(), Path::new("drawer/a.md"));
        fs::remove_file(&path).unwrap();
        fs::write(&path, b"one").unwrap();
        let displaced = land().unwrap();
        assert_eq!(
            (displaced.parent(), fs::read(&displaced).unwrap()),
            (Some(drawer.as_path()), b"one".to_vec())
        );
        assert_eq!(list(&drawer.join("a.md")).unwrap(), [displaced]);
    }

    #[test]
    fn a_displaced_file_gets_another_base_and_another_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        fs::write(&path, b"one").unwrap();
        let old = land(&path, b"two").unwrap();
        let moved = rebase(&old, "a", "4567").unwrap();
        assert!(moved.file_name().unwrap().to_str().unwrap().starts_with(".regatta-a-4567-"), "{moved:?}");
        let kept = |number: u32| folder.path().join(format!("kept-{number}"));
        fs::write(kept(1), b"taken").unwrap();
        assert_eq!(set_aside(&moved, (1..9).map(kept)).unwrap(), kept(2));
        assert_eq!(names(folder.path()), ["a.md", "kept-1", "kept-2"]);
    }

    #[test]
    fn a_failure_names_the_path_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("a.md")).unwrap();
        fs::write(folder.path().join("a.md/inside"), b"").unwrap();
        let error = prepare(&folder.path().join("a.md/inside/b.md"), b"x", "a", "0").unwrap_err();
        assert!(error.to_string().starts_with("could not make "), "{error}");
        assert_eq!(names(folder.path()), ["a.md"]);
    }
}
