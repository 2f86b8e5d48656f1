//! `regatta state rebuild`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{BOLD, GREEN, clean};
use crate::verb::run::parse_pair;
use crate::verb::state_takeover::render_oddity;
use clap::Args;
use regatta_engine::core::Problem;
use regatta_engine::{Rebuilding, Rebuilt, rebuild};
use serde_json::Value;
use std::fmt::Write;
use std::path::PathBuf;

/// Make new runs from the files of runs whose log is lost
///
/// Each run is recorded as an import that names its files and what could not be recovered. A run that was in progress starts
/// paused. If the log is there, you do not need this: files that are missing or corrupt are written again from the log.
#[derive(Args)]
pub(crate) struct Rebuild {
    /// Folder with the files, such as .regatta/cycles
    folder: PathBuf,
    /// Workflow that the files belong to
    #[arg(long, value_name = "NAME", default_value = "cycle")]
    workflow: String,
    /// Rebuild only this run, named as its files are
    #[arg(long, value_name = "NAME")]
    only: Option<String>,
    /// Set one field of the input that the files do not contain; the value is read as JSON if possible, else as text
    #[arg(long = "set", value_name = "KEY=VALUE", value_parser = parse_pair)]
    set: Vec<(String, Value)>,
}

impl Rebuild {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let Rebuild { folder, workflow, only, set } = self;
        let project = place.open().await?;
        let folder = place.resolve(&folder);
        let order = Rebuilding { workflow, folder, item: only, input: set.into_iter().collect() };
        let rebuilt = rebuild(&project, &crate::caller::caller(None), &order).await?;
        place.screen.data(&rebuilt, |rebuilt| rebuilt.iter().map(render).collect());
        Ok(Exit::Done)
    }
}

fn render(run: &Rebuilt) -> String {
    let word = if run.known { "known" } else { "rebuilt" };
    let mut text = format!("{GREEN}{word}{GREEN:#} run {} {BOLD}{}{BOLD:#}\n", run.run_id, clean(&run.title));
    let files = if run.files.len() == 1 { "file" } else { "files" };
    let _ = writeln!(text, "  from  {} {files} of {}", run.files.len(), clean(&run.item));
    for oddity in &run.left_out {
        let _ = write!(text, "  {}", render_oddity(oddity));
    }
    let _ = writeln!(text, "  next  regatta run show {0}, then regatta run --resume {0}", run.run_id);
    text
}
