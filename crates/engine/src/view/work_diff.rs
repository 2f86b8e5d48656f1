//! The work in a worktree as a commit and its diff: where the diff begins, and what cannot be merged.

use crate::clock;
use crate::core::{Code, Diff, Problem, Refusal, Task, TaskId, Worktree};
use crate::error::Error;
use crate::project::Project;
use crate::project::obeyed::Obeyed;
use crate::worktree::git_names::{author_of, from_git, ourselves, to_git};
use regatta_git::{BranchName, Signature, SubmoduleWork};
use std::path::Path;

/// Commits what is left in the worktree of a task, in the name of its author, and returns the diff from its
/// base.
pub(crate) async fn commit_work(project: &Project, task: &Task, message: &str) -> Result<Diff, Error> {
    let author = author_of(task, clock::now());
    commit_work_as(project, task, &author, message).await
}

/// Commits what is left in the worktree of a task, and returns the diff from its base.
pub(crate) async fn commit_work_as(
    project: &Project,
    task: &Task,
    author: &Signature,
    message: &str,
) -> Result<Diff, Error> {
    // Another process may have cancelled it since the caller began.
    let gone = || Error::Refused(Refusal::TaskBusy { task: task.id, doing: "it has no worktree any more" });
    let worktree = task.worktree().ok_or_else(gone)?;
    let repository = project.repository();
    let place = project.place(&worktree.path);
    repository
        .commit_all(&place, &project.config().copy, author, &ourselves(author.at), message)
        .await
        .map_err(|error| name_missing(task.id, worktree, error))?;
    let head = repository.head_of_worktree(&place).await?;
    let base = find_base(project, worktree, &head).await?;
    refuse_unmergeable(project, task.id, worktree, &base, &head).await?;
    let diff = repository.diff(&base, &head).await?;
    let obeyed = Obeyed::find_in(project).await;
    Ok(Diff {
        obeyed_files: obeyed.find(diff.files.iter().map(|file| file.path.as_str())),
        files_changed: diff.files.len() as u64,
        lines_added: diff.lines_added,
        lines_removed: diff.lines_removed,
        digest: diff.digest,
        base: from_git(&base),
        head: from_git(&head),
    })
}

/// Finds where the diff of a worktree begins: at its starting commit, or at what was merged into it from the
/// target since, so that the work of others is not shown as its own. If the target was reset, the diff shows
/// everything that a merge would bring.
pub(crate) async fn find_base(
    project: &Project,
    worktree: &Worktree,
    head: &regatta_git::CommitId,
) -> Result<regatta_git::CommitId, Error> {
    let begun = to_git(&worktree.base)?;
    let target = BranchName::parse(&worktree.target).map_err(regatta_git::Error::from)?;
    let Some(target) = project.repository().find_branch(&target).await? else { return Ok(begun) };
    let repository = project.repository();
    let Some(met) = repository.find_merge_base(&target, head).await? else { return Ok(begun) };
    // Its own work that was merged already came in from the side, and is still shown.
    let is_of_target = !repository.is_ancestor(&begun, &target).await?
        || repository.is_in_line(&begun, &target, &met).await?;
    Ok(if is_of_target { met } else { begun })
}

/// Refuses work that could not be merged, or a part of which would be lost with the worktree.
async fn refuse_unmergeable(
    project: &Project,
    task: TaskId,
    worktree: &Worktree,
    base: &regatta_git::CommitId,
    head: &regatta_git::CommitId,
) -> Result<(), Error> {
    let (repository, path) = (project.repository(), project.place(&worktree.path));
    let work = repository.find_submodule_work(&path, base).await?;
    if !work.is_empty() {
        return Err(submodule_changed(task, &path, &work));
    }
    let target = BranchName::parse(&worktree.target).map_err(regatta_git::Error::from)?;
    if let Some(tip) = repository.find_branch(&target).await?
        && repository.find_merge_base(head, &tip).await?.is_none()
    {
        return Err(unrelated(task, &worktree.branch, &worktree.target));
    }
    Ok(())
}

/// Names the task whose worktree was deleted.
pub(crate) fn name_missing(task: TaskId, worktree: &Worktree, error: regatta_git::Error) -> Error {
    match error {
        regatta_git::Error::WorktreeGone { path } => worktree_missing(task, &path, &worktree.branch),
        other => Error::Git(other),
    }
}

fn worktree_missing(task: TaskId, path: &Path, branch: &str) -> Error {
    let place = path.display();
    Problem::new(
        Code::WorktreeMissing,
        format!("the worktree of task #{task} is gone"),
        format!("{place} was deleted; what was committed is on the branch {branch}"),
        format!(
            "`git worktree add -f {place} {branch}` recreates it from the branch, or `regatta task cancel {task}` \
             (what is on the branch is kept as a salvage)"
        ),
    )
    .with("taskId", task.number())
    .with("path", place.to_string())
    .with("branch", branch)
    .into()
}

fn submodule_changed(task: TaskId, path: &Path, work: &[SubmoduleWork]) -> Error {
    let tell = |work: &SubmoduleWork| {
        let mut parts = Vec::new();
        if !work.commits.is_empty() {
            parts.push(format!("commits that exist nowhere else ({})", work.commits.join("; ")));
        }
        if !work.edits.is_empty() {
            parts.push(format!("files that are not committed ({})", work.edits.join(", ")));
        }
        format!("the submodule `{}` has {}", work.path, parts.join(" and "))
    };
    let first = work.first().map_or("", |work| work.path.as_str());
    let inside = path.join(first);
    let inside = inside.display();
    let next = match work.iter().any(|work| !work.edits.is_empty()) {
        true => {
            format!("commit what is in it (`git -C {inside} commit`) or discard it, then keep the commits: ")
        }
        false => String::new(),
    };
    let next = format!(
        "{next}push them to the submodule's own remote, or `git -C {first} fetch {inside} HEAD:task-{task}` copies them to your \
         own submodule; then `regatta task complete {task}`. `regatta task cancel {task}` keeps all of it as a salvage"
    );
    let listed: Vec<serde_json::Value> = work
        .iter()
        .map(|work| serde_json::json!({"path": work.path, "commits": work.commits, "edits": work.edits}))
        .collect();
    let problem = Problem::new(Code::SubmoduleChanged, format!("task #{task} was not completed"), "", next);
    Problem { why: work.iter().map(tell).collect(), ..problem }
        .with("taskId", task.number())
        .with("submodules", listed)
        .into()
}

fn unrelated(task: TaskId, branch: &str, target: &str) -> Error {
    Problem::new(
        Code::UnrelatedHistory,
        format!("task #{task} was not completed"),
        format!("the branch {branch} has no commit in common with {target}, so it cannot be merged"),
        format!(
            "in its worktree, put the work on top of {target} (`git rebase --onto {target} --root`) and `regatta task complete \
             {task}`, or `regatta task cancel {task}` (the work is kept as a salvage)"
        ),
    )
    .with("taskId", task.number())
    .with("branch", branch)
    .with("target", target)
    .into()
}
