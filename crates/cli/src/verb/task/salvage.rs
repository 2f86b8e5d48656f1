//! `regatta task salvage`.

use super::bad_field;
use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{BOLD, DIM, GREEN};
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::{BranchName, Listed, bring_back, list_salvages};

/// Restore salvaged work to a branch
///
/// Before a worktree is removed, unmerged work is saved under refs/regatta/salvage. The saved copy stays.
#[derive(Args)]
pub(crate) struct Salvage {
    /// Task number.
    #[arg(value_name = "ID")]
    task: TaskId,
    /// Salvage number [default: the newest].
    #[arg(long, value_name = "N")]
    number: Option<u32>,
    /// Branch to create [default: salvage/task-ID-N].
    #[arg(long, value_name = "NAME")]
    branch: Option<String>,
    /// List the salvages and restore nothing.
    #[arg(long, conflicts_with_all = ["number", "branch"])]
    list: bool,
}

impl Salvage {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        if self.list {
            let salvages = list_salvages(&project, self.task).await?;
            place.screen.data(&salvages, |salvages| {
                if salvages.is_empty() {
                    return format!("{DIM}task #{} has no salvage{DIM:#}\n", self.task);
                }
                salvages.iter().map(render_listed).collect()
            });
            return Ok(Exit::Done);
        }
        let branch = self.branch.map(|name| BranchName::parse(&name)).transpose();
        let branch = branch.map_err(|error| bad_field("branch", error.to_string()))?;
        let caller = crate::caller::caller(None);
        let brought = bring_back(&project, &caller, self.task, self.number, branch).await;
        let brought = brought?;
        place.screen.data(&brought, |brought| {
            let fetches = brought.submodules.iter().map(|kept| {
                let (path, root) = (&kept.path, project.root().display());
                format!("its work in the submodule {path}: `git -C {path} fetch {root} {}`\n", kept.commit)
            });
            format!(
                "{GREEN}restored{GREEN:#} {} as branch {BOLD}{}{BOLD:#}\n\
                 see it with `git log -p {}`, take it with `git merge {}`\n{}",
                brought.name,
                brought.branch,
                brought.branch,
                brought.branch,
                fetches.collect::<String>()
            )
        });
        Ok(Exit::Done)
    }
}

fn render_listed(listed: &Listed) -> String {
    let Listed { salvage, submodules } = listed;
    let kept = submodules.iter().map(|kept| format!("  submodule {}  {}\n", kept.path, &kept.commit[..10]));
    format!("{}  {}\n{}", salvage.name, salvage.commit.short(), kept.collect::<String>())
}
