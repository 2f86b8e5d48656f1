//! `regatta state export` and `regatta state import`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{BOLD, GREEN, YELLOW};
use regatta_engine::core::{Code, Problem};
use regatta_engine::{Exported, Imported, export_state, import_state};
use std::fmt::Write as _;
use std::fs::File;
use std::path::Path;

/// Stands for stdin or stdout.
const STANDARD: &str = "-";

pub(super) async fn export(place: &Place, file: &Path) -> Result<Exit, Problem> {
    let project = place.open().await?;
    if file == Path::new(STANDARD) {
        let exported = export_state(&project, std::io::stdout().lock()).await?;
        place.screen.say(render_export(&exported, "stdout").trim_end());
        return Ok(Exit::Done);
    }
    let path = place.resolve(file);
    let failed = |error: std::io::Error| {
        let next = "give a file that does not exist yet, in a folder that you can write to";
        Problem::new(Code::IoFailed, format!("{} was not written", path.display()), error.to_string(), next)
    };
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if path.symlink_metadata().is_ok() {
        return Err(failed(std::io::Error::other("it already exists")));
    }
    // Under its name only when it is whole.
    let mut unfinished =
        tempfile::Builder::new().prefix(".regatta-export-").tempfile_in(folder).map_err(failed)?;
    let exported = export_state(&project, unfinished.as_file_mut()).await?;
    unfinished.as_file().sync_all().map_err(failed)?;
    unfinished.persist_noclobber(&path).map_err(|error| failed(error.error))?;
    let shown = path.display().to_string();
    place.screen.data(&exported, |exported| render_export(exported, &shown));
    Ok(Exit::Done)
}

pub(super) async fn import(place: &Place, file: &Path) -> Result<Exit, Problem> {
    let folder = place.folder()?;
    let imported = if file == Path::new(STANDARD) {
        import_state(folder, "stdin", std::io::stdin().lock()).await
    } else {
        let path = place.resolve(file);
        let shown = path.display().to_string();
        let opened = File::open(&path).and_then(|opened| match opened.metadata()?.is_dir() {
            true => Err(std::io::ErrorKind::IsADirectory.into()),
            false => Ok(opened),
        });
        let opened = opened.map_err(|error| {
            let next = "give a file that `regatta state export` wrote";
            Problem::new(Code::IoFailed, format!("{shown} was not read"), error.to_string(), next)
        })?;
        import_state(folder, &shown, opened).await
    };
    let imported = imported?;
    place.screen.data(&imported, render_import);
    Ok(Exit::Done)
}

fn render_export(exported: &Exported, to: &str) -> String {
    let Exported { events, files, refs, bytes, uncommitted } = exported;
    let mut text = format!(
        "{GREEN}exported{GREEN:#} {events} events, {files} files and {refs} refs to {to} ({bytes} bytes)\n"
    );
    for task in uncommitted {
        let _ = writeln!(
            text,
            "{YELLOW}note{YELLOW:#}: uncommitted files in the worktree of task #{task} are not in it"
        );
    }
    text
}

fn render_import(imported: &Imported) -> String {
    let Imported { events, tasks, files, refs, in_work } = imported;
    let mut text =
        format!("{GREEN}imported{GREEN:#} {tasks} tasks: {events} events, {files} files and {refs} refs\n");
    for work in in_work {
        let task = work.task_id;
        let _ = match work.has_worktree {
            true => writeln!(
                text,
                "{YELLOW}note{YELLOW:#}: the worktree of task #{task} is at the last commit of {}; \
                 uncommitted files were not exported. See {BOLD}regatta task show {task}{BOLD:#}",
                work.branch
            ),
            false => writeln!(
                text,
                "{YELLOW}note{YELLOW:#}: task #{task} was in progress, and its worktree and its branch {} are not here: \
                 {BOLD}regatta task cancel {task}{BOLD:#}, then assign it again",
                work.branch
            ),
        };
    }
    text
}
