//! `regatta doctor`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{DIM, GREEN, RED, YELLOW, clean};
use crate::verb::state_prune::{name_of, render_bytes};
use clap::Args;
use regatta_engine::core::Problem;
use regatta_engine::{Finding, Reach, Weight, examine, list_reaches, repair, weigh};

/// Compare the log with the disk, git and running processes
///
/// Exits with 1 if something is left to do. `--fix` repairs whatever can be repaired without losing anything; while an engine
/// runs, only what the engine does not use.
#[derive(Args)]
pub(crate) struct Doctor {
    /// Repair what can be repaired; worktrees and branches without an owner are salvaged before they are removed.
    #[arg(long)]
    fix: bool,
    /// Show only how much disk space Regatta uses
    #[arg(long, conflicts_with = "fix")]
    disk: bool,
    /// Show only what each agent can and cannot access
    #[arg(long, conflicts_with_all = ["fix", "disk"])]
    reach: bool,
}

impl Doctor {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        if self.disk {
            let weights = weigh(&project).await?;
            place.screen.data(&weights, |weights| render_weights(weights));
            return Ok(Exit::Done);
        }
        if self.reach {
            let reaches = list_reaches(&project).await;
            place.screen.data(&reaches, |reaches| render_reaches(reaches));
            return Ok(Exit::Done);
        }
        let mut findings = examine(&project).await?;
        if self.fix && findings.iter().any(|finding| finding.can_fix) {
            repair(&project, &mut findings).await?;
        }
        let reaches = list_reaches(&project).await;
        let weights = match place.screen.is_json() {
            true => Vec::new(),
            false => weigh(&project).await?,
        };
        place.screen.data(&findings, |findings| {
            format!("{}\n{}", render(findings, &reaches), render_weights(&weights))
        });
        let is_healthy = findings.iter().all(|finding| finding.fixed || finding.is_advice);
        Ok(if is_healthy { Exit::Done } else { Exit::Failed })
    }
}

fn render(findings: &[Finding], reaches: &[Reach]) -> String {
    let mut shown = match findings.is_empty() {
        true => {
            format!(
                "{GREEN}all is well{GREEN:#}: log, worktrees, branches, processes and locks are consistent\n"
            )
        }
        false => String::new(),
    };
    let line = |finding: &Finding| {
        let (style, mark) = match (finding.fixed, finding.can_fix) {
            (true, _) => (GREEN, "fixed"),
            _ if finding.is_advice => (YELLOW, "note  "),
            (false, true) => (YELLOW, "found "),
            (false, false) => (RED, "found "),
        };
        let next =
            if finding.fixed { String::new() } else { format!("\n        next: {}", clean(&finding.next)) };
        format!("{style}{mark}{style:#}  {}{next}\n", clean(&finding.what))
    };
    shown.extend(findings.iter().map(line));
    shown + &render_reaches(reaches)
}

fn render_reaches(reaches: &[Reach]) -> String {
    let line = |reach: &Reach| {
        format!("{DIM}agent `{}`: {}{DIM:#}\n", clean(&reach.agent), clean(&reach.describe()))
    };
    reaches.iter().map(line).collect()
}

/// Renders what Regatta keeps in the git folder.
fn render_weights(weights: &[Weight]) -> String {
    let mut text = format!("{DIM}on disk{DIM:#}\n");
    for Weight { kind, count, bytes } in weights {
        text.push_str(&format!(
            "  {:<12} {:>10}  {DIM}{count}{DIM:#}\n",
            name_of(*kind),
            render_bytes(*bytes)
        ));
    }
    let total: u64 = weights.iter().map(|weight| weight.bytes).sum();
    text.push_str(&format!(
        "  {:<12} {:>10}  {DIM}regatta state prune --older-than 30d removes what finished work left{DIM:#}\n",
        "total",
        render_bytes(total)
    ));
    text
}
