//! `regatta state prune`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{BOLD, DIM};
use clap::Args;
use regatta_engine::core::Problem;
use regatta_engine::{Kept, Pruned, Weight, parse_age, prune};
use std::time::Duration;

/// Remove what finished work left on disk
///
/// Removes transcripts, private homes, viewed marks and review refs of verified or deleted tasks and of ended runs, and caches that have
/// not been used since. Salvages and the log are always kept. An engine may be running.
#[derive(Args)]
pub(crate) struct Prune {
    /// Remove only what is older than this, such as `12h` or `30d`
    #[arg(long, value_name = "AGE", value_parser = parse_age)]
    older_than: Duration,
    /// Show what would be removed without removing it
    #[arg(long)]
    dry_run: bool,
}

impl Prune {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let project = place.open().await?;
        let pruned = prune(&project, self.older_than, self.dry_run).await?;
        place.screen.data(&pruned, render);
        Ok(Exit::Done)
    }
}

fn render(pruned: &Pruned) -> String {
    let gone: Vec<&Weight> = pruned.removed.iter().filter(|weight| weight.count > 0).collect();
    if gone.is_empty() {
        return format!("{DIM}nothing to remove: finished work left nothing that old{DIM:#}\n");
    }
    let (verb, frees) = if pruned.is_dry_run { ("would remove", "would free") } else { ("removed", "freed") };
    let mut text = String::new();
    for Weight { kind, count, bytes } in gone {
        text.push_str(&format!("{verb} {count} {} {DIM}({}){DIM:#}\n", name_of(*kind), render_bytes(*bytes)));
    }
    text.push_str(&format!("{frees} {BOLD}{}{BOLD:#}\n", render_bytes(pruned.bytes)));
    text
}

/// Names a kind of what is kept.
pub(crate) fn name_of(kind: Kept) -> &'static str {
    match kind {
        Kept::Log => "log",
        Kept::Transcripts => "transcripts",
        Kept::Homes => "homes",
        Kept::Cache => "caches",
        Kept::Reviews => "review refs",
        Kept::Viewed => "viewed marks",
        Kept::Salvages => "salvages",
    }
}

/// Writes a size as a person would.
pub(crate) fn render_bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KB", "MB", "GB", "TB"];
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    let mut size = bytes as f64 / 1024.0;
    let mut unit = 0;
    while size >= 1024.0 && unit + 1 < UNITS.len() {
        size /= 1024.0;
        unit += 1;
    }
    format!("{size:.1} {}", UNITS[unit])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_as_people_write_them() {
        let shown = [0, 1023, 1024, 1_572_864, 5_368_709_120].map(render_bytes);
        assert_eq!(shown, ["0 bytes", "1023 bytes", "1.0 KB", "1.5 MB", "5.0 GB"]);
    }
}
