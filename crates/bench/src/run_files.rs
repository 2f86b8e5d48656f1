//! What the files of a run cost its steps: the same run with six files over all of its children, and without.
//!
//! The steps are those of the children, which are at work four at a time. Each step of a child makes the files of the run
//! above out of date; they are written apart from the steps.

use crate::error::Error;
use crate::measure::{rate, round};
use crate::place;
use regatta_core::AnyEvent;
use regatta_core::run::Event;
use regatta_engine::runs::{self, Listed, NewRun, Origin, Playing, RoleOutcome, RoleRequest, Roles};
use regatta_engine::{Engine, Journal, Project, Stop};
use regatta_flow::Folder;
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};

/// How many steps each child takes.
const STEPS: usize = 20;

/// How long the log may stand still before the workload counts as stuck.
const STILL_MAX: Duration = Duration::from_secs(30);

const PARENT: &str = include_str!("../workflows/groups/workflow.toml");
const SHOWN: &str = include_str!("../workflows/groups/files.toml");
const STATE: &str = include_str!("../workflows/groups/state.schema.json");
const CHILD: &str = include_str!("../workflows/groups/children/group/workflow.toml");

/// Answers at once.
struct AtOnce;

impl Roles for AtOnce {
    fn reads_prompts(&self) -> bool {
        false
    }

    fn play<'a>(&'a self, _: RoleRequest<'a>) -> Playing<'a> {
        Box::pin(std::future::ready(Ok(RoleOutcome::Returned(json!({ "summary": "done" })))))
    }
}

/// Plays the run without files and with them, and compares.
pub(crate) fn measure(folder: &Path, groups: usize) -> Result<Value, Error> {
    let plain = play(&folder.join("plain"), groups, false)?;
    let shown = play(&folder.join("shown"), groups, true)?;
    let steps = groups * STEPS;
    Ok(json!({
        "groups": groups,
        "steps": steps,
        "steps_per_s": rate(steps, plain),
        "steps_per_s_with_files": rate(steps, shown),
        "ratio": round(shown.as_secs_f64() / plain.as_secs_f64()),
    }))
}

fn play(folder: &Path, groups: usize, has_files: bool) -> Result<Duration, Error> {
    std::fs::create_dir_all(folder).map_err(Error::io("create", folder))?;
    let runtime = place::start_runtime()?;
    runtime.block_on(async {
        let project = place::ensure_project(folder).await?;
        let engine = Engine::start_with(Arc::clone(&project), Arc::new(AtOnce)).await?;
        let took = play_run(&project, groups, has_files).await?;
        engine.stop(Stop::WhenDone).await?;
        Ok::<_, Error>(took)
    })
}

async fn play_run(project: &Project, groups: usize, has_files: bool) -> Result<Duration, Error> {
    let mut journal = Journal::at_end(project).await?;
    let definition = if has_files { format!("{PARENT}\n{SHOWN}") } else { PARENT.to_owned() };
    let files = [
        ("workflow.toml", definition.as_str()),
        ("state.schema.json", STATE),
        ("children/group/workflow.toml", CHILD),
        ("children/group/state.schema.json", STATE),
        ("children/group/roles/worker.md", "Work."),
        ("children/group/roles/worker.output.json", "{}"),
    ];
    let folder: Folder = files.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let workflow = Listed { name: "groups".to_owned(), origin: Origin::Binary, folder };
    let item = |number: usize| json!({ "key": format!("group-{number:03}"), "steps": STEPS, "text": crate::canned::code(200) });
    let input = json!({ "items": (0..groups).map(item).collect::<Vec<_>>() });
    let new = NewRun { workflow, prd: None, level: None, input, board: false, recording: None };
    let begin = Instant::now();
    let run = runs::create(project, &place::caller(), new).await?;
    loop {
        let entries = journal.wait(STILL_MAX).await?;
        if entries.is_empty() {
            return Err(Error::Stuck {
                seconds: STILL_MAX.as_secs(),
                what: format!("run {run} stands still"),
            });
        }
        let is_over = |event: &AnyEvent| matches!(event, AnyEvent::Run(Event::RunCompleted { run_id, .. } | Event::RunFailed { run_id, .. }) if *run_id == run);
        if entries.iter().any(|entry| is_over(&entry.event)) {
            break;
        }
    }
    let took = begin.elapsed();
    let found = runs::get_run(project, run).await?;
    Error::unless_equal("the number of groups", &found.sheet.state()["count"], &json!(groups))?;
    Ok(took)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_with_files_ends_like_one_without() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(measure(folder.path(), 3).unwrap()["steps"], 3 * STEPS);
    }
}
