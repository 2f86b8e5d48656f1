//! Bringing back what was set aside.

use crate::core::{Salvage, TaskId};
use crate::error::Error;
use crate::orders;
use crate::project::Project;
use regatta_git::{BranchName, RefName};
use serde::Serialize;

/// A salvage that stands on a branch again.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Brought {
    /// The task.
    pub task_id: TaskId,
    /// The branch.
    pub branch: String,
    /// The ref that keeps it; it stays.
    #[serde(rename = "ref")]
    pub name: String,
    /// The commit.
    pub commit: String,
}

/// Returns what was set aside for a task, oldest first.
pub async fn list_salvages(project: &Project, task: TaskId) -> Result<Vec<Salvage>, Error> {
    orders::get_task(project, task).await?;
    let prefix = RefName::parse(&format!("refs/regatta/salvage/{task}")).map_err(regatta_git::Error::from)?;
    let found = project.repository().list_salvages(&prefix).await?;
    let salvage = |salvage: regatta_git::Salvage| Salvage {
        name: salvage.name.to_string(),
        commit: orders::from_git(&salvage.commit),
    };
    Ok(found.into_iter().map(salvage).collect())
}

/// Puts a salvage, the newest unless a number is given, on a new branch.
pub async fn bring_back(
    project: &Project,
    task: TaskId,
    number: Option<u32>,
    branch: Option<BranchName>,
) -> Result<Brought, Error> {
    let salvages = list_salvages(project, task).await?;
    let number_of =
        |salvage: &Salvage| salvage.name.rsplit('/').next().and_then(|last| last.parse::<u32>().ok());
    let chosen = match number {
        Some(number) => salvages.iter().find(|salvage| number_of(salvage) == Some(number)),
        None => salvages.last(),
    };
    let Some(salvage) = chosen else {
        return Err(Error::SalvageNotFound {
            task,
            number: number.map_or_else(|| "at all".to_owned(), |n| n.to_string()),
        });
    };
    let standard = format!("salvage/task-{task}-{}", number_of(salvage).unwrap_or(1));
    let branch = match branch {
        Some(branch) => branch,
        None => BranchName::parse(&standard).map_err(regatta_git::Error::from)?,
    };
    project.repository().create_branch(&branch, &orders::to_git(&salvage.commit)?).await?;
    Ok(Brought {
        task_id: task,
        branch: branch.to_string(),
        name: salvage.name.clone(),
        commit: salvage.commit.to_string(),
    })
}
