//! Finding a workflow by name or by folder, inside a project or outside of one.

use crate::arguments::Place;
use regatta_engine::core::{Code, Problem};
use regatta_engine::runs::{self, Listed};
use regatta_engine::{Error, Project};

/// Opens the project, if the folder belongs to one.
pub(super) async fn open_if_any(place: &Place) -> Result<Option<Project>, Problem> {
    match place.open().await {
        Ok(project) => Ok(Some(project)),
        Err(problem) if problem.code == Code::ProjectNotFound => Ok(None),
        Err(problem) => Err(problem),
    }
}

/// Finds a workflow by its name, or by the path of its folder from where the verb works.
pub(crate) fn find_workflow(place: &Place, project: Option<&Project>, name: &str) -> Result<Listed, Problem> {
    let path = place.folder()?.join(name);
    let is_path = name.contains('/') || name == "." || name == "..";
    if is_path && !path.is_dir() {
        let what = format!("there is no workflow at {name}");
        let next = "check the path, or use a name from `regatta workflow list`";
        return Err(Problem::new(Code::WorkflowNotFound, what, "there is no folder with that name", next));
    }
    let wanted = if is_path { by_path(&path) } else { name.to_owned() };
    let found = runs::find_workflow(project, &wanted);
    match found {
        // A bare name may be a folder too; a workflow of that name comes first.
        Err(Error::Workflow(_)) if !is_path && path.join("workflow.toml").is_file() => {
            runs::find_workflow(project, &by_path(&path))
        }
        found => found,
    }
    .map_err(|error| error.explain())
}
/// Returns a path that cannot be taken for a name.
fn by_path(path: &std::path::Path) -> String {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.display().to_string()
}
