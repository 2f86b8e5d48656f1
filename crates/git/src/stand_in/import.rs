//! Brings objects from a stand-in into the repository.
//!
//! They come as one pack that git unpacks: it computes every id from the content and checks that nothing is
//! missing, so a forged object gets its true id. Nothing is copied file by file.

use std::io::{BufRead, BufReader};
use std::path::Path;

use super::Place;
use crate::command::{CHECKOUT_TIME_MAX, Git};
use crate::error::Error;
use crate::folder;
use crate::location::Location;
use crate::name::CommitId;
use crate::repository::Repository;
use crate::serial::Serial;

/// Fewer objects are stored one by one, as a fetch does; more stay together in a pack.
const LOOSE_OBJECTS_MAX: usize = 100;

impl Repository {
    /// Brings what the commits, and the worktree's index, need and the repository does not have.
    pub(super) async fn import(
        &self,
        serial: &Serial,
        place: &Place,
        location: &Location,
        commits: &[CommitId],
    ) -> Result<(), Error> {
        let objects = place.git().join("objects");
        if !is_plain_folder(&objects) || !is_plain_folder(&objects.join("info")) {
            return Err(Error::StandInSpoiled { path: objects });
        }
        // From outside it needs to borrow from nobody, and may name anything by now.
        folder::remove(&objects.join("info/alternates"))?;
        let work = place.import();
        folder::remove(&work)?;
        std::fs::create_dir_all(&work).map_err(Error::io("create", &work))?;
        let index = location.git_dir.join("index");
        let listed = self.list_missing(&objects, &work.join("list"), commits, Some(&index)).await;
        if listed.is_err() {
            // An index that cannot be read is rebuilt; what was only staged is in the folder too.
            self.list_missing(&objects, &work.join("commits"), commits, None).await?;
            self.fetch(serial, &objects, &work, "commits").await?;
            if let Some(commit) = commits.first() {
                folder::remove(&index)?;
                let read = location.git().args(["read-tree", commit.as_str()]);
                read.holding(serial)?.success().await?;
            }
        } else {
            self.fetch(serial, &objects, &work, "list").await?;
        }
        folder::remove(&work)
    }

    /// Brings commits with all that they need from a folder of objects, also one that a submodule has.
    pub(crate) async fn import_commits(
        &self,
        serial: &Serial,
        objects: &Path,
        commits: &[CommitId],
    ) -> Result<(), Error> {
        let work = self.own_folder().join("import");
        folder::remove(&work)?;
        std::fs::create_dir_all(&work).map_err(Error::io("create", &work))?;
        self.list_missing(objects, &work.join("list"), commits, None).await?;
        self.fetch(serial, objects, &work, "list").await?;
        folder::remove(&work)
    }

    /// Writes a list of the objects that no ref of the repository leads to.
    async fn list_missing(
        &self,
        objects: &Path,
        list: &Path,
        commits: &[CommitId],
        index: Option<&Path>,
    ) -> Result<(), Error> {
        // Not in the worktree: its own refs and HEAD lead to what is only in the stand-in.
        let mut git = borrowing(self.git(), objects).args(["rev-list", "--objects", "--single-worktree"]);
        if let Some(index) = index.filter(|index| index.exists()) {
            git = git.env("GIT_INDEX_FILE", index).arg("--indexed-objects");
        }
        let git = git.args(commits.iter().map(CommitId::as_str)).args(["--not", "--glob=*"]);
        git.output_to(list)?.time_max(CHECKOUT_TIME_MAX).success().await.map(drop)
    }

    async fn fetch(&self, serial: &Serial, objects: &Path, work: &Path, list: &str) -> Result<(), Error> {
        let list = work.join(list);
        let file = std::fs::File::open(&list).map_err(Error::io("open", &list))?;
        let count = BufReader::new(file).split(b'\n').take(LOOSE_OBJECTS_MAX + 1).count();
        if count == 0 {
            return Ok(());
        }
        let pack = work.join("pack");
        let packing = borrowing(self.git(), objects).args(["pack-objects", "-q", "--stdout"]);
        packing.input_from(&list)?.output_to(&pack)?.time_max(CHECKOUT_TIME_MAX).success().await?;
        let words: &[&str] = match count {
            ..=LOOSE_OBJECTS_MAX => &["unpack-objects", "-q", "--strict"],
            _ => &["index-pack", "--strict", "--stdin"],
        };
        let unpacking = self.git().args(words).holding(serial)?.input_from(&pack)?;
        unpacking.time_max(CHECKOUT_TIME_MAX).success().await.map(drop)
    }
}

/// Lets a call see the objects of another folder beside its own.
pub(crate) fn borrowing(git: Git, objects: &Path) -> Git {
    let mut quoted = std::ffi::OsString::from("\"");
    // Quoted as in C, since a colon would otherwise end the path.
    quoted.push(escape(objects));
    quoted.push("\"");
    git.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", quoted)
}

fn escape(path: &Path) -> std::ffi::OsString {
    use std::os::unix::ffi::{OsStrExt, OsStringExt};
    let escaped = path.as_os_str().as_bytes().iter().flat_map(|byte| match byte {
        b'"' | b'\\' => vec![b'\\', *byte],
        b'\n' => b"\\n".to_vec(),
        other => vec![*other],
    });
    std::ffi::OsString::from_vec(escaped.collect())
}

fn is_plain_folder(path: &Path) -> bool {
    path.symlink_metadata().is_ok_and(|found| found.is_dir())
}
