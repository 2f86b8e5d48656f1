//! What a reviewer reads.

use super::explain;
use regatta_engine::core::{CommitId, Problem, TaskId};
use regatta_engine::{
    Project, ReadablePatch, RejectionView, ReviewView, list_rejections, read_patch, read_text, show_review,
};

pub(crate) async fn show(project: &Project, task: TaskId) -> Result<ReviewView, Problem> {
    show_review(project, task).await.map_err(explain)
}

pub(crate) async fn patch(
    project: &Project,
    base: &CommitId,
    head: &CommitId,
) -> Result<ReadablePatch, Problem> {
    read_patch(project, base, head).await.map_err(explain)
}

pub(crate) async fn text(
    project: &Project,
    commit: &CommitId,
    path: &str,
) -> Result<Option<String>, Problem> {
    read_text(project, commit, path).await.map_err(explain)
}

pub(crate) async fn rejections(project: &Project, task: TaskId) -> Result<Vec<RejectionView>, Problem> {
    list_rejections(project, task).await.map_err(explain)
}
