//! What a program planted for a person's git in its worktree: removed as soon as the program has ended, and reported.
//!
//! Nobody of ours runs git there before, and a person had better not while an agent works: until its session is over, the
//! worktree is the agent's.

use crate::error::{Error, chain};
use crate::project::Project;
use std::path::Path;

/// The rest is of the same kind.
const NAMED_MAX: usize = 4;

/// Cleans up what a killed engine left, and notes what git obeys in a worktree before a program runs there.
pub(crate) async fn prepare(project: &Project, folder: &Path) -> Result<Option<String>, Error> {
    let repository = project.repository();
    let left = repository.remove_planted(folder).await?;
    repository.note_obeyed(folder).await?;
    Ok(describe(&left))
}

/// Removes what was planted since, and says in a few words what it was.
pub(crate) async fn remove(project: &Project, folder: &Path) -> Option<String> {
    match project.repository().remove_planted(folder).await {
        Ok(removed) => describe(&removed),
        Err(error) => {
            let why = chain(&error).join(": ");
            let what =
                "git in its worktree, which could not be searched for planted settings, so run none there";
            Some(format!("{what}: {why}"))
        }
    }
}

fn describe(removed: &[String]) -> Option<String> {
    let rest = removed.len().saturating_sub(NAMED_MAX);
    let named = removed.iter().take(NAMED_MAX).map(String::as_str).collect::<Vec<_>>().join(", ");
    let rest = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    (!removed.is_empty())
        .then(|| format!("git settings that run programs, which were removed: {named}{rest}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_removed_is_said_in_a_line() {
        assert_eq!(describe(&[]), None);
        let names: Vec<String> = (1..=6).map(|number| format!("{number}/.git/config")).collect();
        assert_eq!(
            describe(&names).unwrap(),
            "git settings that run programs, which were removed: 1/.git/config, 2/.git/config, 3/.git/config, \
             4/.git/config and 2 more"
        );
    }
}
