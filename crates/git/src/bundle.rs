//! Refs and their objects as one file, to carry them to another clone of the repository.
//!
//! A bundle leaves out what a remote has: the other clone gets that from there. So it may have no objects at
//! all, and then there is no file. The names of refs come from the caller, who has checked them, and not from
//! the bundle.

use std::fs::File;
use std::io::{BufRead, BufReader, ErrorKind, Read};
use std::path::Path;

use crate::command::CHECKOUT_TIME_MAX;
use crate::error::Error;
use crate::folder;
use crate::location::settle;
use crate::name::{BranchName, CommitId, RefName};
use crate::repository::Repository;

/// A line of a bundle's header names a ref; a longer one is none.
const LINE_BYTES_MAX: u64 = 64 * 1024;

impl Repository {
    /// Writes what refs hold, and no remote has, into a file; returns whether there was anything to write.
    pub async fn write_bundle(&self, names: &[RefName], file: &Path) -> Result<bool, Error> {
        if names.is_empty() {
            return Ok(false);
        }
        let lines: String = names.iter().map(|name| format!("{name}\n")).collect();
        let create = self.git().args(["bundle", "create", "--quiet"]).arg(file);
        let create = create.args(["--stdin", "--not", "--remotes"]).input(lines.into_bytes());
        let finished = create.time_max(CHECKOUT_TIME_MAX).run().await?;
        match finished.code {
            Some(0) => Ok(true),
            _ if finished.stderr.contains("empty bundle") => Ok(false),
            _ => Err(finished.into_error()),
        }
    }

    /// Tells which commits a bundle builds on and this repository lacks, as git says it; nothing when it has all.
    pub async fn find_missing(&self, file: &Path) -> Result<Option<String>, Error> {
        let verify = self.git().args(["bundle", "verify", "--quiet"]).arg(file);
        let finished = verify.time_max(CHECKOUT_TIME_MAX).run().await?;
        Ok((finished.code != Some(0)).then_some(finished.stderr))
    }

    /// Takes the objects of a bundle in, each checked; no ref moves.
    pub async fn read_bundle(&self, file: &Path) -> Result<(), Error> {
        let _serial = self.serialise().await?;
        // `git bundle unbundle` does not check the objects themselves.
        let (bundle, pack) = (file.to_owned(), file.with_extension("pack"));
        let cut = pack.clone();
        folder::blocking(move || cut_pack(&bundle, &cut)).await?;
        let index = self.git().args(["index-pack", "--strict", "--fix-thin", "--stdin"]);
        index.input_from(&pack)?.time_max(CHECKOUT_TIME_MAX).success().await?;
        folder::remove(&pack)
    }

    /// Tells whether all that commits lead to is here.
    pub async fn is_whole(&self, commits: &[CommitId]) -> Result<bool, Error> {
        let lines: String = commits.iter().map(|commit| format!("{commit}\n")).collect();
        let walk = self.git().args(["rev-list", "--objects", "--quiet", "--stdin", "--not", "--all"]);
        let finished = walk.input(lines.into_bytes()).time_max(CHECKOUT_TIME_MAX).run().await?;
        Ok(finished.code == Some(0))
    }

    /// Makes refs that are not there yet; those that are stay as they are.
    pub async fn restore_refs(&self, refs: &[(RefName, CommitId)]) -> Result<(), Error> {
        let serial = self.serialise().await?;
        for (name, commit) in refs {
            if self.find_commit(name).await?.is_none() {
                self.swap_ref(&serial, name, commit, None).await?;
            }
        }
        Ok(())
    }

    /// Makes a worktree at the path on a branch that is there; one that stands there already is left as it is.
    pub async fn attach_worktree(&self, path: &Path, branch: &BranchName) -> Result<(), Error> {
        let serial = self.serialise().await?;
        let path = settle(path)?;
        if path.symlink_metadata().is_ok() {
            return Err(Error::PathTaken { path });
        }
        if let Some(location) = self.find_location(&path)? {
            folder::remove(&location.git_dir)?;
        }
        let add = self.git().args(["worktree", "add", "--quiet", "--no-checkout", "--"]);
        add.arg(&path).arg(branch.as_str()).holding(&serial)?.success().await?;
        self.fill(&serial, &path).await
    }
}

/// Writes the pack of a bundle, which begins after the first empty line, into a file of its own.
fn cut_pack(bundle: &Path, pack: &Path) -> Result<(), Error> {
    let mut source = BufReader::new(File::open(bundle).map_err(Error::io("open", bundle))?);
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = source.by_ref().take(LINE_BYTES_MAX).read_until(b'\n', &mut line);
        match read.map_err(Error::io("read", bundle))? {
            0 => return Err(Error::io("read", bundle)(ErrorKind::UnexpectedEof.into())),
            1 if line == b"\n" => break,
            _ => {}
        }
    }
    folder::remove(pack)?;
    let mut target = File::create_new(pack).map_err(Error::io("create", pack))?;
    std::io::copy(&mut source, &mut target).map(drop).map_err(Error::io("write", pack))
}
