//! The branches that a workflow names for its items, before their tasks exist: git must accept each name, and nobody else
//! may have it.

use crate::core::{Code, Failure, Problem, RunId};
use crate::error::Error;
use crate::project::Project;
use regatta_flow::BoardItem;
use regatta_git::BranchName;
use std::collections::BTreeSet;

/// Finds the branches that the items name and that exist.
pub(super) async fn find_taken(project: &Project, items: &[BoardItem]) -> Result<BTreeSet<String>, Error> {
    let named = items.iter().filter_map(|item| BranchName::parse(item.branch.as_deref()?).ok());
    let named: Vec<BranchName> = named.collect();
    if named.is_empty() {
        return Ok(BTreeSet::new());
    }
    let found = project.repository().find_branches(&named).await?;
    Ok(found.into_keys().map(|branch| branch.to_string()).collect())
}

/// Says which item has a branch that cannot be made.
pub(super) fn find_fault(run: RunId, items: &[BoardItem], taken: &BTreeSet<String>) -> Option<Failure> {
    let mut named = BTreeSet::new();
    items.iter().find_map(|item| {
        let branch = item.branch.as_deref()?;
        let why = if let Err(error) = BranchName::parse(branch) {
            error.to_string()
        } else if taken.contains(branch) {
            format!("a branch `{branch}` exists already")
        } else if !named.insert(branch) {
            format!("another item has the branch `{branch}` too")
        } else {
            return None;
        };
        Some(explain(run, item, branch, why))
    })
}

fn explain(run: RunId, item: &BoardItem, branch: &str, why: String) -> Failure {
    let what = format!("run {run} cannot use the branch of item `{}`", item.key);
    let next = format!(
        "rename or delete that branch, then `regatta run resume {run}`; or `regatta run fork {run}` from the step that \
         named it"
    );
    Failure::from(
        Problem::new(Code::BranchInvalid, what, why, next).with("item", &*item.key).with("branch", branch),
    )
}
