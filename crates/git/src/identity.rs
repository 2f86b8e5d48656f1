//! What the user's own settings say (who they are, where their hooks are), and what came with their clone.

use crate::error::Error;
use crate::repository::Repository;
use std::path::Path;

impl Repository {
    /// Returns the user's name and e-mail, as a commit made by hand here would have them.
    pub async fn find_user(&self) -> Option<(String, String)> {
        Some((self.find_setting("user.name").await?, self.find_setting("user.email").await?))
    }

    /// Returns the folder of hooks that the user's settings name, as it is written there.
    pub async fn find_hooks_folder(&self) -> Option<String> {
        self.find_setting("core.hooksPath").await
    }

    /// Tells whether git tracks a file of the main worktree.
    pub async fn is_tracked(&self, path: &Path) -> Result<bool, Error> {
        let listed = self.git_at_root().args(["ls-files", "-z", "--"]).args([path]).success().await?;
        Ok(!listed.stdout.is_empty())
    }

    /// Looks a setting up in all files, but not among what our own calls are given to run nothing.
    async fn find_setting(&self, name: &str) -> Option<String> {
        let git =
            self.git().with_users_settings().args(["config", "--show-scope", "--null", "--get-all", name]);
        let finished = git.run().await.ok().filter(|finished| finished.code == Some(0))?;
        let text = String::from_utf8_lossy(&finished.stdout).into_owned();
        let words: Vec<&str> = text.split('\0').collect();
        let found =
            words.chunks_exact(2).rfind(|pair| pair[0] != "command").map(|pair| pair[1].trim().to_owned());
        found.filter(|value| !value.is_empty())
    }
}
