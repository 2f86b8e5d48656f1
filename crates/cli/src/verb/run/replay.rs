//! `regatta run replay`.

use crate::arguments::Place;
use crate::describe_run::count;
use crate::exit::Exit;
use crate::screen::{CYAN, DIM, GREEN, RED, clean};
use crate::verb::workflow::find_workflow;
use clap::Args;
use regatta_engine::core::{Problem, RunId};
use regatta_engine::runs::{self, Replayed};
use std::fmt::Write;

/// Replay a run from the log without agents and report differences
///
/// What the roles returned is read from the log, and each step is decided again. Exits with 1 if something differs.
#[derive(Args)]
pub(crate) struct Replay {
    /// Run number.
    #[arg(value_name = "ID")]
    run: RunId,
    /// Workflow to decide by, also the current version of the same one [default: the definition that the run started with].
    #[arg(long, value_name = "WORKFLOW")]
    with: Option<String>,
}

impl Replay {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let with = match &self.with {
            Some(name) => Some(find_workflow(place, Some(&project), name)?),
            None => None,
        };
        let steps = runs::replay(&project, self.run, with.as_ref()).await?;
        place.screen.data(&steps, |steps| render(steps));
        let is_same = steps.iter().all(|step| step.differs.is_none());
        Ok(if is_same { Exit::Done } else { Exit::Failed })
    }
}

fn render(steps: &[Replayed]) -> String {
    let mut text = String::new();
    for step in steps {
        let Replayed { way, step: number, node, edge, to, differs } = step;
        let edge = if edge.is_empty() { "failed" } else { edge };
        let child: String =
            way.iter().map(|stage| format!("step {} for {}, ", stage.step, clean(&stage.item))).collect();
        let _ =
            write!(text, "{CYAN}{number:>4}{CYAN:#}  {DIM}{child}{DIM:#}{node} {DIM}{edge}{DIM:#} → {to}");
        let _ = match differs {
            Some(differs) => writeln!(text, "  {RED}differs{RED:#}: {}", clean(differs).replace('\n', " ")),
            None => writeln!(text),
        };
    }
    let all = count(steps.len(), "step", "steps");
    let _ = match steps.iter().filter(|step| step.differs.is_some()).count() {
        0 => writeln!(text, "{GREEN}the same{GREEN:#}: {all}"),
        1 => writeln!(text, "{RED}not the same{RED:#}: 1 of {all} differs"),
        many => writeln!(text, "{RED}not the same{RED:#}: {many} of {all} differ"),
    };
    text
}
