//! Where a replay works: on a branch of its own, from the commit at which its recording was recorded.
//!
//! So a recording plays wherever that commit is known, no matter how far the project's branches have advanced
//! since, and it moves none of them. Where the commit is not known, the branch begins at the project's
//! target, and each recorded answer must fit there before it is played.

use crate::commands::orders;
use crate::core::run::Run;
use crate::core::{Code, Failure, Problem, Start, Worktree};
use crate::error::Error;
use crate::project::Project;
use crate::recording::entry::Entry;
use crate::recording::files::checked;
use crate::recording::fit::{Fit, judge, shown};
use crate::recording::recorder::Recording;
use crate::runs::path::find_root;
use regatta_git::{BranchName, CommitId};
use std::path::{Path, PathBuf};

/// How many paths an error names; the rest is counted.
const PATHS_TOLD_MAX: usize = 5;

/// Finds where work of a replay starts; its branch may not exist yet.
pub(crate) async fn see_start(project: &Project, run: &Run, recording: &Recording) -> Result<Start, Error> {
    let branch = find_branch_of(project, run).await?;
    let head = match project.repository().find_branch(&branch).await? {
        Some(head) => Some(head),
        None => find_base(project, recording).await?,
    };
    let folder = project.config().worktrees.to_string_lossy().into_owned();
    let base = match head {
        Some(head) => orders::from_git(&head),
        None => orders::see_start(project).await?.base,
    };
    Ok(Start { target: branch.to_string(), base, from: None, folder })
}

/// Makes the branch that the work of a replay is merged into, if it does not exist.
pub(crate) async fn ensure_branch(project: &Project, start: &Start) -> Result<(), Error> {
    let branch = BranchName::parse(&start.target).map_err(regatta_git::Error::from)?;
    match project.repository().create_branch(&branch, &orders::to_git(&start.base)?).await {
        Ok(()) | Err(regatta_git::Error::BranchTaken { .. }) => Ok(()),
        Err(error) => Err(error.into()),
    }
}

/// Says why a recorded answer cannot be played on the head of a task's branch.
pub(crate) async fn find_misfit(
    project: &Project,
    (recording, take): (&Recording, &Entry),
    (run, worktree): (&Run, &Worktree),
) -> Result<Option<Failure>, Error> {
    if find_base(project, recording).await?.is_some() {
        return Ok(None);
    }
    let repository = project.repository();
    let head = repository.head_of_worktree(&project.place(&worktree.path)).await?;
    let mut asked: Vec<PathBuf> = Vec::new();
    for name in take.changes.keys() {
        asked.push(checked(Path::new(name))?.to_owned());
    }
    let entries = repository.find_entries(&head, &asked).await?;
    let fit = judge(&take.changes, |name| entries.get(Path::new(name)).map(shown));
    // What an earlier engine played and committed still fits.
    let is_begun = orders::from_git(&head) != worktree.base;
    Ok(match fit {
        Fit::Fits => None,
        Fit::Done if is_begun => None,
        Fit::Done => Some(misfit(run, recording, "its changes are already there".to_owned())),
        Fit::Differs(names) => Some(misfit(run, recording, format!("{} not as recorded", told(&names)))),
    })
}

/// Returns the commit at which a recording was recorded, if the repository has it.
async fn find_base(project: &Project, recording: &Recording) -> Result<Option<CommitId>, Error> {
    match recording.base() {
        Some(base) => Ok(project.repository().resolve_commit(base.as_str()).await?),
        None => Ok(None),
    }
}

/// Names the branch of a replay; children work on the branch of the outermost run.
///
/// Run numbers start from 1 again where the log was thrown away and the repository was not, as on a CI
/// machine. So the name includes the time.
async fn find_branch_of(project: &Project, run: &Run) -> Result<BranchName, Error> {
    let root = find_root(project, run).await?;
    let name = format!("replay/{}-{}", root.id, root.created_at.strftime("%Y%m%d-%H%M%S-%3f"));
    Ok(BranchName::parse(&name).map_err(regatta_git::Error::from)?)
}

fn told(names: &[String]) -> String {
    let some: Vec<String> = names.iter().take(PATHS_TOLD_MAX).map(|name| format!("`{name}`")).collect();
    match (names.len(), names.len() - some.len()) {
        (1, _) => format!("{} is", some.join("")),
        (_, 0) => format!("{} are", some.join(", ")),
        (_, more) => format!("{} and {more} more are", some.join(", ")),
    }
}

fn misfit(run: &Run, recording: &Recording, why: String) -> Failure {
    let (base, next) = match recording.base() {
        Some(base) => (
            format!("it was recorded at commit {base}, which this repository does not have"),
            "fetch that commit (`git fetch --unshallow`, or a clone with the whole history) and replay again; \
             or record it again"
                .to_owned(),
        ),
        None => (
            "the recording does not say at which commit it was made".to_owned(),
            "record it again".to_owned(),
        ),
    };
    let what = format!("the recording does not fit at step {} of run {}", run.step, run.id);
    let problem = Problem { why: vec![why, base], ..Problem::new(Code::TapeBaseDiffers, what, "", next) };
    let problem = problem.with("runId", run.id.number());
    Failure::from(match recording.base() {
        Some(base) => problem.with("base", base.to_string()),
        None => problem,
    })
}
