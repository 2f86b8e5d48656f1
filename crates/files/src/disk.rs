//! Files on disk: written so that a crash leaves the old bytes or the new ones, never a mixture.
//!
//! A finished file replaces the old one by a rename, and the folder is synced, so that the rename itself
//! survives. Where an unseen edit must not be lost, see [`exchange`](crate::exchange) instead. An archive
//! only grows. State files are read and appended to [below a known folder](crate::beneath), and no link to
//! them is followed. Files that a person names are different: [`read`] and [`write_atomically`] follow a
//! link.

use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Mode, OFlags};
use rustix::io::Errno;
use sha2::{Digest as _, Sha256};

use crate::beneath;

/// Who may read and write a file that was not there before.
const NEW_FILE_MODE: u32 = 0o644;

/// The largest file that is read: hundreds of times what a task file has when it is archived. Memory is bounded by it.
pub const FILE_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// The bits of a mode that a new version of a file takes over.
const MODE_MASK: u32 = 0o7777;

/// The file system refused.
#[derive(Debug, thiserror::Error)]
#[error("could not {action} {}", path.display())]
pub struct Error {
    /// What was tried.
    pub action: &'static str,
    /// The file or folder.
    pub path: PathBuf,
    /// What the file system said.
    #[source]
    pub source: io::Error,
}

/// The SHA-256 of a file's bytes, in lower-case hexadecimal.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Digest(String);

impl Digest {
    /// Returns the digest of some bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Digest(Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect())
    }

    /// Returns the digest as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// The result of an append.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Appended {
    /// The bytes were added.
    Added,
    /// The file already ended with them.
    AlreadyThere,
}

/// What is found at a path, itself and not what a link there leads to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Itself {
    /// Nothing.
    Missing,
    /// Something else than a file: a link, a folder, a pipe; or a file too large to be read.
    Odd,
    /// A file.
    File(Vec<u8>, Digest),
}

/// Reads a file and its digest; returns nothing when there is no such file.
pub fn read(path: &Path) -> Result<Option<(Vec<u8>, Digest)>, Error> {
    match open_and_read(path).map_err(failed("read", path))? {
        Itself::Missing => Ok(None),
        Itself::Odd => Err(failed("read", path)(io::Error::other("it is not a regular file, or too large"))),
        Itself::File(bytes, digest) => Ok(Some((bytes, digest))),
    }
}

/// Reads what is at a path below a known folder that somebody who is not trusted can change: no link is followed, at its
/// end or on the way, and no pipe is waited for.
pub fn read_itself(root: &Path, path: &Path) -> Result<Itself, Error> {
    read_opened(beneath::open(root, path, waiting_for_nobody(), 0)).map_err(failed("read", path))
}

// Without waiting, or a pipe would be waited for until somebody writes to it.
fn waiting_for_nobody() -> OFlags {
    OFlags::NONBLOCK | OFlags::NOCTTY
}

/// Copies a regular file that is too large to be read, below a known folder on both sides; what stands at the target stays.
/// No link is followed.
pub fn copy_new(from: (&Path, &Path), to: (&Path, &Path)) -> Result<u64, Error> {
    let copy = || -> io::Result<u64> {
        let mut source = beneath::open(from.0, from.1, waiting_for_nobody(), 0)?;
        if !source.metadata()?.is_file() {
            return Err(io::Error::other("it is not a regular file"));
        }
        let partial = to.1.with_extension(format!("partial-{}", std::process::id()));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::TRUNC;
        let mut target = beneath::open(to.0, &partial, flags, NEW_FILE_MODE)?;
        let bytes = io::copy(&mut source, &mut target)?;
        target.sync_all()?;
        fs::rename(&partial, to.1)?;
        beneath::open(to.0, folder_of(to.1), OFlags::RDONLY | OFlags::DIRECTORY, 0)?.sync_all()?;
        Ok(bytes)
    };
    copy().map_err(failed("copy", from.1))
}

fn open_and_read(path: &Path) -> io::Result<Itself> {
    let flags = i32::try_from(waiting_for_nobody().bits()).map_err(io::Error::other)?;
    read_opened(OpenOptions::new().read(true).custom_flags(flags).open(path))
}

fn read_opened(opened: io::Result<File>) -> io::Result<Itself> {
    let file = match opened {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Itself::Missing),
        // A link that is not followed, and a socket.
        Err(error) if [Errno::LOOP, Errno::NXIO].contains(&errno_of(&error)) => return Ok(Itself::Odd),
        Err(error) => return Err(error),
    };
    if !file.metadata()?.is_file() {
        return Ok(Itself::Odd);
    }
    let mut bytes = Vec::new();
    file.take(FILE_BYTES_MAX + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > FILE_BYTES_MAX {
        return Ok(Itself::Odd);
    }
    let digest = Digest::of(&bytes);
    Ok(Itself::File(bytes, digest))
}

fn errno_of(error: &io::Error) -> Errno {
    Errno::from_io_error(error).unwrap_or(Errno::IO)
}

/// Replaces a file, or makes it. The folder must be there; the mode of an old file is kept.
pub fn write_atomically(path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let path = follow(path)?;
    prepare(&path, bytes)?.land(&path)
}

/// Makes a file below a known folder, whole or not at all; what stands there already stays. No link is followed.
pub fn write_new(root: &Path, path: &Path, bytes: &[u8]) -> Result<(), Error> {
    let write = || -> io::Result<()> {
        let folder = beneath::open(root, folder_of(path), OFlags::RDONLY | OFlags::DIRECTORY, 0)?;
        let name = path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
        let temporary = format!(".regatta-{}.tmp", std::process::id());
        // One of the same process that was killed is nobody's.
        let _ = rustix::fs::unlinkat(&folder, &temporary, AtFlags::empty());
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let opened = rustix::fs::openat(&folder, &temporary, flags, Mode::from_raw_mode(NEW_FILE_MODE))?;
        let mut file = File::from(opened);
        let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| {
            match rustix::fs::linkat(&folder, &temporary, &folder, name, AtFlags::empty()) {
                Ok(()) | Err(Errno::EXIST) => Ok(()),
                Err(error) => Err(error.into()),
            }
        });
        let _ = rustix::fs::unlinkat(&folder, &temporary, AtFlags::empty());
        written.and_then(|()| folder.sync_all())
    };
    write().map_err(failed("write", path))
}

/// Adds bytes to the end of a file below a known folder and makes sure that they are on disk. No link is followed.
///
/// What the file ends with of their beginning is not added again, so that it can be repeated after a crash: an append
/// that was cut off half-way is completed, and one that has more to add by now adds only that.
pub fn append_durably(root: &Path, path: &Path, bytes: &[u8]) -> Result<Appended, Error> {
    let is_new = fs::symlink_metadata(path).is_err();
    let flags = OFlags::RDWR | OFlags::APPEND | OFlags::CREATE | waiting_for_nobody();
    let mut file = beneath::open(root, path, flags, NEW_FILE_MODE).map_err(failed("open", path))?;
    if !file.metadata().map_err(failed("look at", path))?.is_file() {
        return Err(failed("append to", path)(io::Error::other("it is not a regular file")));
    }
    let tail = read_tail(&mut file, bytes.len()).map_err(failed("read", path))?;
    let rest = &bytes[count_overlap(&tail, bytes)..];
    file.write_all(rest).map_err(failed("append to", path))?;
    // Also when nothing was added: the bytes may be those of a process that died before its sync.
    file.sync_all().map_err(failed("sync", path))?;
    if is_new {
        sync_folder(path)?;
    }
    Ok(if rest.is_empty() { Appended::AlreadyThere } else { Appended::Added })
}

fn read_tail(file: &mut File, bytes_max: usize) -> io::Result<Vec<u8>> {
    let length = file.metadata()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(bytes_max as u64)))?;
    let mut tail = Vec::with_capacity(bytes_max);
    file.take(bytes_max as u64).read_to_end(&mut tail)?;
    Ok(tail)
}

/// Returns how many of the first bytes are what the tail ends with.
fn count_overlap(tail: &[u8], bytes: &[u8]) -> usize {
    let Some(first) = bytes.first() else { return 0 };
    let starts = memchr::memchr_iter(*first, tail);
    starts.map(|start| &tail[start..]).find(|end| bytes.starts_with(end)).map_or(0, <[u8]>::len)
}

/// A finished file that waits for its name.
struct Prepared {
    file: tempfile::NamedTempFile,
}

impl Prepared {
    fn land(self, path: &Path) -> Result<(), Error> {
        self.file.persist(path).map_err(|error| failed("replace", path)(error.error))?;
        sync_folder(path)
    }
}

/// Writes the bytes to a file in the same folder, so that the rename stays within one file system.
fn prepare(path: &Path, bytes: &[u8]) -> Result<Prepared, Error> {
    let folder = folder_of(path);
    let mode = find_mode(path)?;
    let mut file = tempfile::Builder::new()
        .prefix(".regatta-")
        .suffix(".tmp")
        .tempfile_in(folder)
        .map_err(failed("make a temporary file in", folder))?;
    file.write_all(bytes).map_err(failed("write a new version of", path))?;
    file.as_file().set_permissions(Permissions::from_mode(mode)).map_err(failed("set the mode of", path))?;
    file.as_file().sync_all().map_err(failed("sync a new version of", path))?;
    Ok(Prepared { file })
}

/// Returns the mode that a new version of a file takes over.
pub(crate) fn find_mode(path: &Path) -> Result<u32, Error> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_file() => Ok(metadata.permissions().mode() & MODE_MASK),
        Ok(_) => Ok(NEW_FILE_MODE),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(NEW_FILE_MODE),
        Err(error) => Err(failed("look at", path)(error)),
    }
}

/// Returns the file that a symbolic link leads to, or the path itself.
fn follow(path: &Path) -> Result<PathBuf, Error> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_symlink() => fs::canonicalize(path).map_err(failed("follow", path)),
        _ => Ok(path.to_owned()),
    }
}

pub(crate) fn sync_folder(path: &Path) -> Result<(), Error> {
    let folder = folder_of(path);
    File::open(folder).and_then(|file| file.sync_all()).map_err(failed("sync", folder))
}

pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

pub(crate) fn failed<'a>(action: &'static str, path: &'a Path) -> impl FnOnce(io::Error) -> Error + use<'a> {
    move |source| Error { action, path: path.to_owned(), source }
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

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).unwrap().permissions().mode() & MODE_MASK
    }

    #[test]
    fn a_file_is_made_and_replaced_with_its_mode() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.md");
        write_atomically(&path, b"one").unwrap();
        assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"one".to_vec(), 0o644));
        fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
        write_atomically(&path, b"two").unwrap();
        assert_eq!((fs::read(&path).unwrap(), mode(&path)), (b"two".to_vec(), 0o600));
        assert_eq!(names(folder.path()), ["a.md"]);
    }

    #[test]
    fn a_link_is_followed() {
        let folder = tempfile::tempdir().unwrap();
        let (path, link) = (folder.path().join("a.md"), folder.path().join("b.md"));
        fs::write(&path, "one").unwrap();
        std::os::unix::fs::symlink("a.md", &link).unwrap();
        write_atomically(&link, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    }

    #[test]
    fn a_failure_names_the_path_and_leaves_nothing_behind() {
        let folder = tempfile::tempdir().unwrap();
        let error = write_atomically(&folder.path().join("none/a.md"), b"x").unwrap_err();
        assert!(error.to_string().starts_with("could not make a temporary file in "), "{error}");
        fs::create_dir(folder.path().join("a.md")).unwrap();
        assert!(write_atomically(&folder.path().join("a.md"), b"x").is_err());
        assert_eq!(names(folder.path()), ["a.md"]);
    }

    #[test]
    fn an_append_can_be_repeated() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive.md");
        assert_eq!(append_durably(folder.path(), &path, b"one\n").unwrap(), Appended::Added);
        assert_eq!(append_durably(folder.path(), &path, b"two\n").unwrap(), Appended::Added);
        assert_eq!(append_durably(folder.path(), &path, b"two\n").unwrap(), Appended::AlreadyThere);
        assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\n");
        assert_eq!(append_durably(folder.path(), &path, b"two\nthree\n").unwrap(), Appended::Added);
        assert_eq!(fs::read(&path).unwrap(), b"one\ntwo\nthree\n");
    }

    #[test]
    fn an_append_that_was_cut_off_is_completed() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("archive.md");
        let (before, added) = (b"### 1\n#\n".as_slice(), b"### 2\n### 2 again\n".as_slice());
        for kept in 0..=added.len() {
            fs::write(&path, [before, &added[..kept]].concat()).unwrap();
            append_durably(folder.path(), &path, added).unwrap();
            assert_eq!(fs::read(&path).unwrap(), [before, added].concat(), "cut off after {kept}");
        }
    }

    #[test]
    fn a_digest_is_the_known_one() {
        assert_eq!(
            Digest::of(b"abc").as_str(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        );
    }
    #[test]
    fn what_is_no_file_is_neither_followed_nor_waited_for() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        fs::write(path("file"), b"text").unwrap();
        let text = Itself::File(b"text".to_vec(), Digest::of(b"text"));
        assert_eq!(read_itself(folder.path(), &path("file")).unwrap(), text);
        assert_eq!(read_itself(folder.path(), &path("missing")).unwrap(), Itself::Missing);
        std::os::unix::fs::symlink("file", path("link")).unwrap();
        assert_eq!(read(&path("link")).unwrap().unwrap().0, b"text");
        File::create(path("large")).unwrap().set_len(FILE_BYTES_MAX + 1).unwrap();
        rustix::fs::mkfifoat(rustix::fs::CWD, path("pipe"), rustix::fs::Mode::RWXU).unwrap();
        let _socket = std::os::unix::net::UnixListener::bind(path("socket")).unwrap();
        fs::create_dir(path("folder")).unwrap();
        for name in ["link", "large", "pipe", "socket", "folder"] {
            assert_eq!(read_itself(folder.path(), &path(name)).unwrap(), Itself::Odd, "{name}");
        }
        for name in ["large", "pipe", "socket", "folder"] {
            assert!(read(&path(name)).is_err(), "{name}");
        }
    }

    #[test]
    fn a_new_file_is_made_below_its_folder_alone() {
        let outside = tempfile::tempdir().unwrap();
        let root = outside.path().join("project");
        fs::create_dir_all(root.join("archives")).unwrap();
        fs::create_dir(outside.path().join("elsewhere")).unwrap();
        let path = root.join("archives/a.md");
        write_new(&root, &path, b"one").unwrap();
        write_new(&root, &path, b"two").unwrap();
        assert_eq!(
            (fs::read(&path).unwrap(), names(&root.join("archives"))),
            (b"one".to_vec(), vec!["a.md".into()])
        );
        std::os::unix::fs::symlink("../elsewhere", root.join("link")).unwrap();
        assert!(write_new(&root, &root.join("link/a.md"), b"out").is_err());
        std::os::unix::fs::symlink("../../elsewhere/b.md", root.join("archives/b.md")).unwrap();
        write_new(&root, &root.join("archives/b.md"), b"out").unwrap();
        assert_eq!(names(&outside.path().join("elsewhere")), Vec::<String>::new());
    }
}
