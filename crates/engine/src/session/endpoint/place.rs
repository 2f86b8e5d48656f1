//! The private folder of a session: its socket and its token.
//!
//! The path of a socket is limited to about a hundred bytes, and a project's path is often longer. So the
//! socket is reached through an open handle of its folder where the system exposes handles as paths, as Linux
//! does.

use crate::error::Error;
use crate::project::Project;
use crate::session::endpoint::token::Token;
use regatta_agents::{SessionId, remove_folder};
use std::fs::{DirBuilder, File, OpenOptions, Permissions};
use std::io::Write;
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use tokio::net::{UnixListener, UnixStream};

/// The variable that names the private folder.
pub const FOLDER_VARIABLE: &str = "REGATTA_SESSION_FOLDER";
/// The variable with the command that serves the tools, quoted for a shell.
pub(crate) const COMMAND_VARIABLE: &str = "REGATTA_MCP_COMMAND";

/// The variable with the address of the same tools over HTTP, for agents that are given a URL and nothing else.
pub(crate) const URL_VARIABLE: &str = "REGATTA_MCP_URL";

const SOCKET: &str = "desk.sock";
const TOKEN: &str = "token";
const PROGRAMS: &str = "bin";
const PROGRAM: &str = "regatta";
/// The smallest limit of the known systems, without the terminating zero.
const SOCKET_PATH_BYTES_MAX: usize = 103;
const ONLY_OWNER_FOLDER: u32 = 0o700;
const ONLY_OWNER_FILE: u32 = 0o600;

/// A private folder.
pub(crate) struct Place {
    folder: PathBuf,
}

impl Place {
    /// Makes the folder of a session, and removes what an earlier engine left of the same session.
    pub(crate) fn make(project: &Project, session: &SessionId, mark: &str) -> Result<Self, Error> {
        let all = project.location().private();
        std::fs::create_dir_all(&all).map_err(Error::io("create", &all))?;
        remove_beginning_with(&all, mark);
        let folder = all.join(session.as_str());
        let made = DirBuilder::new().mode(ONLY_OWNER_FOLDER).create(&folder);
        made.map_err(Error::io("create", &folder))?;
        Ok(Place { folder })
    }

    /// Returns the folder.
    pub(crate) fn folder(&self) -> &Path {
        &self.folder
    }

    /// Makes the token of the session and keeps it in the folder.
    pub(crate) fn keep_token(&self) -> Result<Token, Error> {
        let path = self.folder.join(TOKEN);
        let token = Token::make(&path)?;
        let opened = OpenOptions::new().write(true).create_new(true).mode(ONLY_OWNER_FILE).open(&path);
        opened
            .and_then(|mut file| writeln!(file, "{}", token.as_str()))
            .map_err(Error::io("write", &path))?;
        Ok(token)
    }

    /// Puts this program where the session finds it by its name, so that commands in prompts can be typed as
    /// they are.
    pub(crate) fn offer_program(&self) -> Result<(), Error> {
        let folder = self.folder.join(PROGRAMS);
        std::fs::create_dir(&folder).map_err(Error::io("create", &folder))?;
        let link = folder.join(PROGRAM);
        let program = std::env::current_exe().map_err(Error::io("find the program for", &link))?;
        std::os::unix::fs::symlink(program, &link).map_err(Error::io("create", &link))
    }

    /// Returns the search path of the session, unless the folder cannot be a part of one.
    pub(crate) fn find_path(&self) -> Option<String> {
        let given = std::env::var_os("PATH").unwrap_or_default();
        let folders = std::iter::once(self.folder.join(PROGRAMS)).chain(std::env::split_paths(&given));
        std::env::join_paths(folders).ok()?.into_string().ok()
    }

    /// Listens on the socket of the folder.
    pub(crate) fn listen(&self) -> Result<UnixListener, Error> {
        let failed = || Error::io("listen on", self.folder.join(SOCKET));
        let path = SocketPath::to(&self.folder).map_err(failed())?;
        let listener = UnixListener::bind(path.socket()).map_err(failed())?;
        let permissions = Permissions::from_mode(ONLY_OWNER_FILE);
        std::fs::set_permissions(self.folder.join(SOCKET), permissions).map_err(failed())?;
        Ok(listener)
    }

    /// Removes the folder; what cannot be removed is left to the next engine.
    pub(crate) fn remove(&self) {
        let _ = remove_folder(&self.folder);
    }
}

/// A short enough path to the socket of a folder, valid for as long as this is kept.
struct SocketPath {
    socket: PathBuf,
    _folder: Option<File>,
}

impl SocketPath {
    fn to(folder: &Path) -> std::io::Result<Self> {
        let socket = folder.join(SOCKET);
        if socket.as_os_str().as_bytes().len() <= SOCKET_PATH_BYTES_MAX {
            return Ok(SocketPath { socket, _folder: None });
        }
        let opened = File::open(folder)?;
        let socket = PathBuf::from(format!("/proc/self/fd/{}", opened.as_raw_fd())).join(SOCKET);
        Ok(SocketPath { socket, _folder: Some(opened) })
    }

    fn socket(&self) -> &Path {
        &self.socket
    }
}

/// Reads the token in a private folder.
pub(crate) fn read_token(folder: &Path) -> std::io::Result<String> {
    Ok(std::fs::read_to_string(folder.join(TOKEN))?.trim_end().to_owned())
}

/// Finds the private folder of the open session that has this token.
pub fn find_by_token(project: &Project, shown: &str) -> Option<PathBuf> {
    let folders = std::fs::read_dir(project.location().private()).ok()?.flatten();
    let mut open = folders.filter(|entry| entry.file_type().is_ok_and(|kind| kind.is_dir()));
    open.find(|entry| read_token(&entry.path()).is_ok_and(|token| Token::kept(token).is(shown)))
        .map(|entry| entry.path())
}

/// Connects to the socket of a private folder.
pub(crate) async fn connect(folder: &Path) -> std::io::Result<UnixStream> {
    UnixStream::connect(SocketPath::to(folder)?.socket()).await
}

/// Removes the private folders of sessions that no engine runs any more; only the project's engine may call
/// this.
pub(crate) fn sweep(project: &Project) {
    remove_beginning_with(&project.location().private(), &format!("{}-", project.mark()));
}

fn remove_beginning_with(all: &Path, mark: &str) {
    let Ok(entries) = std::fs::read_dir(all) else { return };
    for entry in entries.flatten() {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && entry.file_name().to_string_lossy().starts_with(mark) {
            let _ = remove_folder(&entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn mode(path: &Path) -> u32 {
        std::fs::symlink_metadata(path).unwrap().permissions().mode() & 0o777
    }

    #[tokio::test]
    async fn a_endpoint_in_a_deep_folder_is_reached_and_only_by_its_owner() {
        let root = tempfile::tempdir().unwrap();
        let deep = root.path().join("d".repeat(120));
        std::fs::create_dir(&deep).unwrap();
        let place = Place { folder: deep.join("s") };
        DirBuilder::new().mode(ONLY_OWNER_FOLDER).create(place.folder()).unwrap();
        let token = place.keep_token().unwrap();
        let listener = place.listen().unwrap();
        let (near, far) = tokio::join!(connect(place.folder()), listener.accept());
        assert!(near.is_ok() && far.is_ok());
        assert_eq!(read_token(place.folder()).unwrap(), token.as_str());
        let modes =
            [mode(place.folder()), mode(&place.folder().join(TOKEN)), mode(&place.folder().join(SOCKET))];
        assert_eq!(modes, [0o700, 0o600, 0o600]);
        assert!(place.keep_token().is_err(), "a token is made once");
        place.remove();
        assert!(!place.folder().exists() && connect(place.folder()).await.is_err());
    }

    #[test]
    fn only_folders_of_the_mark_are_removed() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["p1-task-1-1.abc", "p1-task-1-10.abc", "p2-task-1-1.abc"] {
            std::fs::create_dir(root.path().join(folder)).unwrap();
        }
        std::fs::write(root.path().join("p1-task-1-1.jsonl"), "a transcript").unwrap();
        remove_beginning_with(root.path(), "p1-task-1-1.");
        let left = |name: &str| root.path().join(name).exists();
        assert!(!left("p1-task-1-1.abc") && left("p1-task-1-10.abc") && left("p2-task-1-1.abc"));
        assert!(left("p1-task-1-1.jsonl"));
    }
}
