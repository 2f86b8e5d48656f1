//! `regatta prd show`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{BOLD, CYAN, DIM, clean};
use clap::Args;
use regatta_engine::core::{PrdSlug, Problem};
use regatta_engine::{Project, reading, show_prd};
use serde_json::json;

/// Print the text of a PRD.
#[derive(Args)]
pub(crate) struct Show {
    /// PRD slug.
    #[arg(value_name = "SLUG")]
    prd: PrdSlug,
}

impl Show {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let prd = match place.ask_endpoint("read_prd", json!({ "slug": self.prd })).await? {
            Some(prd) => prd,
            None => {
                let project = place.open().await?;
                reading::prd(&project, &self.prd).await?
            }
        };
        match prd["text"].as_str() {
            Some(text) if !place.screen.is_json() => place.screen.verbatim(text),
            _ => place.screen.data(&prd, |_| String::new()),
        }
        Ok(Exit::Done)
    }
}

/// Prints what became of a PRD: all of it with `--json`, otherwise all but the text.
pub(super) async fn print_summary(place: &Place, project: &Project, prd: &PrdSlug) -> Result<Exit, Problem> {
    let view = show_prd(project, prd).await?;
    place.screen.data(&view, |prd| {
        let title = clean(&prd.title);
        format!("{CYAN}{}{CYAN:#} {BOLD}{title}{BOLD:#} {DIM}({} bytes){DIM:#}\n", prd.slug, prd.bytes)
    });
    Ok(Exit::Done)
}
