//! `regatta doctor`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{GREEN, RED, YELLOW, clean};
use clap::Args;
use regatta_engine::core::Problem;
use regatta_engine::{Finding, examine, mend};

/// Looks for what does not add up between the log and the world.
///
/// Ends with 1 when something is left to do. `--fix` mends what can be mended without losing anything.
#[derive(Args)]
pub(crate) struct Doctor {
    /// Mends what can be mended; worktrees and branches without an owner are salvaged before they are removed.
    #[arg(long)]
    fix: bool,
}

impl Doctor {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let mut findings = examine(&project).await.map_err(|error| error.explain())?;
        if self.fix && findings.iter().any(|finding| finding.can_fix) {
            mend(&project, &mut findings).await.map_err(|error| error.explain())?;
        }
        place.screen.data(&findings, |findings| render(findings));
        let is_healthy = findings.iter().all(|finding| finding.fixed || finding.is_advice);
        Ok(if is_healthy { Exit::Done } else { Exit::Failed })
    }
}

fn render(findings: &[Finding]) -> String {
    if findings.is_empty() {
        return format!(
            "{GREEN}all is well{GREEN:#}: log, worktrees, branches, processes and locks add up\n"
        );
    }
    let line = |finding: &Finding| {
        let (style, mark) = match (finding.fixed, finding.can_fix) {
            (true, _) => (GREEN, "mended"),
            _ if finding.is_advice => (YELLOW, "note  "),
            (false, true) => (YELLOW, "found "),
            (false, false) => (RED, "found "),
        };
        let next =
            if finding.fixed { String::new() } else { format!("\n        next: {}", clean(&finding.next)) };
        format!("{style}{mark}{style:#}  {}{next}\n", clean(&finding.what))
    };
    findings.iter().map(line).collect()
}
