//! `regatta task open`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{BOLD, DIM};
use clap::Args;
use regatta_engine::core::{Code, Problem, TaskId};
use regatta_engine::{TaskView, show_task};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

/// Open a task's worktree in your editor or in a shell
///
/// Uses `$VISUAL`, then `$EDITOR`, then a shell (`$SHELL`). With `--json` or `--print` it only prints the path.
#[derive(Args)]
pub(crate) struct Open {
    /// Task number.
    #[arg(value_name = "ID")]
    task: TaskId,
    /// Print the path without opening it.
    #[arg(long)]
    print: bool,
}

impl Open {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let task = show_task(&project, self.task).await?;
        let folder = find_worktree(&task)?;
        let shown = json!({ "id": self.task, "worktree": folder, "branch": task.branch });
        if place.screen.is_json() || self.print {
            place.screen.data(&shown, |_| format!("{}\n", folder.display()));
            return Ok(Exit::Done);
        }
        drop(project);
        let named = |name: &&str| std::env::var(name).ok().filter(|value| !value.trim().is_empty());
        let editor = ["VISUAL", "EDITOR"].iter().find_map(named);
        let program = editor.clone().or_else(|| named(&"SHELL")).unwrap_or_else(|| "sh".to_owned());
        place.screen.say(&format!(
            "{BOLD}{}{BOLD:#} {DIM}opened with {program}; submit the work with `regatta task submit {}`{DIM:#}",
            folder.display(),
            self.task
        ));
        let ended = start(&program, editor.is_some(), &folder);
        match ended {
            Ok(status) if status.success() || editor.is_none() => Ok(Exit::Done),
            Ok(status) => Err(not_opened(&folder, &program, &status.to_string())),
            Err(error) => Err(not_opened(&folder, &program, &error.to_string())),
        }
    }
}

/// An editor is started by a shell, because its variable may hold options; the folder is never read as a command.
fn start(program: &str, is_editor: bool, folder: &Path) -> std::io::Result<ExitStatus> {
    if !is_editor {
        return Command::new(program).current_dir(folder).status();
    }
    let script = format!("{program} \"$1\"");
    Command::new("sh").args(["-c", &script, "sh"]).arg(folder).current_dir(folder).status()
}

fn find_worktree(task: &TaskView) -> Result<PathBuf, Problem> {
    let id = task.id;
    let what = format!("the worktree of task #{id} was not opened");
    let Some(worktree) = &task.worktree else {
        let why = format!("it is in {} and has none", task.column);
        let next = if task.column.is_final() {
            format!("its work is merged; see `regatta task diff {id}`")
        } else {
            format!("`regatta task assign {id} --me` creates one for you, `--agent NAME` one for an agent")
        };
        return Err(Problem::new(Code::TaskInvalidTransition, what, why, next).with("taskId", id.number()));
    };
    let folder = PathBuf::from(worktree);
    if !folder.is_dir() {
        let why = format!("the folder {worktree} is gone");
        let next =
            format!("`regatta doctor` says what is left of it; `regatta task cancel {id}` gives it up");
        return Err(Problem::new(Code::IoFailed, what, why, next).with("taskId", id.number()));
    }
    Ok(folder)
}

fn not_opened(folder: &Path, program: &str, why: &str) -> Problem {
    Problem::new(
        Code::IoFailed,
        format!("`{program}` did not open {}", folder.display()),
        why,
        "set `VISUAL` or `EDITOR` to a program that is installed, or go there with `cd`",
    )
}
