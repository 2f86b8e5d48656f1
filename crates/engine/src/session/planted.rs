//! What a program planted in its worktree for a person's git to run: removed as soon as the program has
//! ended, and reported.
//!
//! Regatta does not run git there before that, and neither should a person: until its session is over, the
//! worktree is the agent's.

use crate::error::{Error, chain};
use crate::project::Project;
use crate::session::worker::Worker;
use regatta_git::Unclean;
use std::path::Path;

/// More names do not help: they are all of the same kind.
const NAMED_MAX: usize = 4;

/// Records what git obeys in a worktree before a program runs there, and says what was still planted.
pub(crate) async fn prepare(
    project: &Project,
    folder: &Path,
    worker: &Worker,
) -> Result<Option<String>, Error> {
    let repository = project.repository();
    let left = repository.remove_planted(folder).await?;
    let worker = serde_json::to_string(worker).expect("a worker is plain data");
    repository.note_obeyed(folder, &worker).await?;
    Ok(describe(&left))
}

/// Removes and reports what the programs of a killed engine planted. The next engine does this before anything else,
/// while no program of its own runs.
pub(crate) async fn clean_up(project: &Project) -> Result<(), Error> {
    let mut result = Ok(());
    for unclean in project.repository().list_unclean().await? {
        // One that fails is no reason to leave the others.
        result = result.and(clean_up_after(project, &unclean).await);
    }
    result
}

/// Does the same in one worktree.
pub(crate) async fn clean_up_in(project: &Project, folder: &Path) -> Result<(), Error> {
    let folder = folder.canonicalize().ok();
    for unclean in project.repository().list_unclean().await? {
        if unclean.worktree.canonicalize().ok() == folder {
            clean_up_after(project, &unclean).await?;
        }
    }
    Ok(())
}

async fn clean_up_after(project: &Project, unclean: &Unclean) -> Result<(), Error> {
    let worker: Option<Worker> = serde_json::from_str(&unclean.worker).ok();
    // A process that is left could plant it again. One that does not end is in the way of the next session, which says
    // so and cleans up.
    if let Some(worker) = &worker
        && worker.end_processes(project).await.is_err()
    {
        return Ok(());
    }
    if let (Some(what), Some(worker)) = (remove(project, &unclean.worktree).await, worker) {
        worker.note_refused(project, what).await?;
    }
    Ok(())
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
