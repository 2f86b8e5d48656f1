//! Files whose filter may not run: a checkout must not get them as we would write them.
//!
//! Without its filter a file is written as it is in the repository, such as the pointer of a large file. In a
//! task's worktree that is reported and harmless; in the user's checkout it would look like an edit.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use crate::command::Git;
use crate::error::Error;
use crate::folder;
use crate::location::Location;
use crate::name::CommitId;
use crate::repository::Repository;

impl Repository {
    /// Lists the files among those that a commit brings whose filter may not run, with the filter's name.
    pub(super) async fn find_filtered(
        &self,
        location: &Location,
        new: &CommitId,
        written: &[&Path],
    ) -> Result<Vec<(String, String)>, Error> {
        let names = self.filters_left_out(Git::of(&location.git_dir, None)).await?;
        if names.is_empty() || written.is_empty() {
            return Ok(Vec::new());
        }
        // The attributes are the new commit's own: the merge may bring them.
        let index = self.landing_folder()?.join("attributes-index");
        folder::remove(&index)?;
        let git = || location.git().env("GIT_INDEX_FILE", &index);
        git().args(["read-tree", new.as_str()]).success().await?;
        let listed: Vec<u8> =
            written.iter().flat_map(|path| path.as_os_str().as_bytes().iter().copied().chain([0])).collect();
        let asked = git().args(["check-attr", "--cached", "-z", "--stdin", "filter"]).input(listed);
        let asked = asked.success().await?;
        folder::remove(&index)?;
        // An empty value could be a field, so the fields are not filtered.
        let fields: Vec<String> = asked
            .stdout
            .split(|byte| *byte == 0)
            .map(|field| String::from_utf8_lossy(field).into())
            .collect();
        let records = fields.chunks_exact(3).filter(|record| names.contains(&record[2]));
        Ok(records.map(|record| (record[0].clone(), record[2].clone())).collect())
    }
}
