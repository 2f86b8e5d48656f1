//! Programs that a repository's config names for its files: filters (`filter.*`) and merge drivers
//! (`merge.*.driver`).
//!
//! Their names are free, so a fixed list cannot switch them off like the others in `command`. Before a call
//! that could run one, the names are read, and each that is not allowed is redefined to run nothing: a filter
//! passes files through, and a merge driver leaves a conflict. An allowed one keeps the meaning that it had
//! when it was allowed; the user's own settings take precedence over the repository's.

use std::collections::BTreeSet;

use crate::command::Git;
use crate::error::Error;
use crate::repository::Repository;
use tokio::sync::OnceCell;

/// Every setting of the two kinds.
const PATTERN: &str = r"^(filter\..*\.(clean|smudge|process|required)|merge\..*\.driver)$";

/// The filters and merge drivers that may run, and what they mean.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Allowed {
    settings: Vec<(String, String)>,
}

/// Filters and merge drivers by name, and what they mean once that was read.
#[derive(Debug, Default)]
pub(crate) struct Allowing {
    names: Vec<String>,
    read: OnceCell<Allowed>,
}

/// Settings for one call that win over every file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Overrides {
    pub(crate) settings: Vec<(String, String)>,
}

impl Repository {
    /// Lets filters and merge drivers run, with the meaning that they have now; all others do nothing.
    pub async fn allowing(self, filters: &[String], merge_drivers: &[String]) -> Result<Self, Error> {
        let own = self.allowing_later(filters, merge_drivers);
        own.allowed().await?;
        Ok(own)
    }

    /// Lets filters and merge drivers run, with the meaning that they have when they are first asked for, or when
    /// [`Self::ready`] is called.
    #[must_use]
    pub fn allowing_later(self, filters: &[String], merge_drivers: &[String]) -> Self {
        let names = filters.iter().map(|name| format!("filter.{name}"));
        let names = names.chain(merge_drivers.iter().map(|name| format!("merge.{name}"))).collect();
        self.with_allowed(Allowing { names, read: OnceCell::new() })
    }

    /// Returns what may run, which is read once.
    pub(crate) async fn allowed(&self) -> Result<&Allowed, Error> {
        let Allowing { names, read } = self.allowing_cell();
        read.get_or_try_init(|| self.read_allowed(names)).await
    }

    async fn read_allowed(&self, names: &[String]) -> Result<Allowed, Error> {
        if names.is_empty() {
            return Ok(Allowed::default());
        }
        let (users, own) = (read(Git::anywhere().with_users_settings()).await?, read(self.git()).await?);
        let mut settings = Vec::new();
        for name in names {
            let of_name = |list: &[(String, String)]| -> Vec<(String, String)> {
                list.iter().filter(|(key, _)| program_of(key) == name).cloned().collect()
            };
            let found = Some(of_name(&users)).filter(|found| !found.is_empty());
            settings.extend(found.unwrap_or_else(|| of_name(&own)));
        }
        Ok(Allowed { settings })
    }

    /// Lists the filters and merge drivers that the repository's config names and that are not allowed to run.
    pub async fn programs_left_out(&self) -> Result<Vec<String>, Error> {
        let found = self.find_forbidden(self.git()).await?;
        Ok(found.into_iter().collect())
    }

    /// Lists the filters that a user's own git would run in a worktree and that we may not, by their names.
    pub(crate) async fn filters_left_out(&self, git: Git) -> Result<BTreeSet<String>, Error> {
        let mut found = self.find_forbidden(git).await?;
        found.extend(self.find_forbidden(Git::anywhere().with_users_settings()).await?);
        let filters = found.iter().filter_map(|name| name.strip_prefix("filter."));
        Ok(filters.map(str::to_owned).collect())
    }

    /// Returns what a call must be given so that it runs nothing that is not allowed; asks through a call of its kind.
    pub(crate) async fn overrides(&self, git: Git) -> Result<Overrides, Error> {
        let mut settings = self.allowed().await?.settings.clone();
        for name in self.find_forbidden(git).await? {
            if name.starts_with("merge.") {
                // An empty driver would silently take one side.
                settings.push((format!("{name}.driver"), "false".to_owned()));
                continue;
            }
            for (key, value) in [("clean", ""), ("smudge", ""), ("process", ""), ("required", "false")] {
                settings.push((format!("{name}.{key}"), value.to_owned()));
            }
        }
        Ok(Overrides { settings })
    }

    async fn find_forbidden(&self, git: Git) -> Result<BTreeSet<String>, Error> {
        let allowed = self.allowed().await?;
        let is_allowed = |name: &str| allowed.settings.iter().any(|(key, _)| program_of(key) == name);
        let named = read(git).await?;
        let names = named.iter().map(|(key, _)| program_of(key)).filter(|name| !is_allowed(name));
        Ok(names.map(str::to_owned).collect())
    }
}

/// Returns the part of a key that names the program: `filter.lfs` of `filter.lfs.clean`.
fn program_of(key: &str) -> &str {
    key.rsplit_once('.').map_or(key, |(program, _)| program)
}

async fn read(git: Git) -> Result<Vec<(String, String)>, Error> {
    let finished = git.args(["config", "--null", "--get-regexp", PATTERN]).run().await?;
    match finished.code {
        Some(0) => {}
        // There is none.
        Some(1) => return Ok(Vec::new()),
        _ => return Err(finished.into_error()),
    }
    let entries = finished.stdout.split(|byte| *byte == 0).filter(|entry| !entry.is_empty());
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let parse = |entry: &[u8]| match entry.iter().position(|byte| *byte == b'\n') {
        Some(end) => (text(&entry[..end]), text(&entry[end + 1..])),
        // A key without a value is a yes.
        None => (text(entry), "true".to_owned()),
    };
    Ok(entries.map(parse).collect())
}

#[cfg(test)]
mod tests {
    use super::program_of;

    #[test]
    fn a_program_may_have_dots_in_its_name() {
        assert_eq!(program_of("filter.lfs.clean"), "filter.lfs");
        assert_eq!(program_of("merge.a.b.driver"), "merge.a.b");
    }
}
