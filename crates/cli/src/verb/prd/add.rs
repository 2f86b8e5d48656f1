//! `regatta prd add`.

use crate::arguments::Place;
use crate::exit::Exit;
use crate::verb::text_file::TextFile;
use clap::Args;
use regatta_engine::core::Problem;
use regatta_engine::core::document::{AddPrd, find_title, slug_from};
use regatta_engine::{documents, orders};
use uuid::Uuid;

/// Add a PRD, a requirements document in Markdown.
#[derive(Args)]
pub(crate) struct Add {
    /// Markdown file, or `-` for stdin.
    #[arg(value_name = "FILE")]
    file: TextFile,
    /// Name in links and commands [default: the file name].
    #[arg(long)]
    slug: Option<String>,
    /// Title [default: the first heading].
    #[arg(long)]
    title: Option<String>,
    /// Command ID; repeating the command with the same ID does nothing more.
    #[arg(long, value_name = "UUID")]
    command_id: Option<Uuid>,
}

impl Add {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let text = self.file.read(place)?;
        let name = self.file.stem();
        let found = self.title.as_deref().or_else(|| find_title(&text)).or(name.as_deref());
        let title = found.unwrap_or_default().to_owned();
        let slug = self.slug.unwrap_or_else(|| {
            let slug = slug_from(name.as_deref().unwrap_or(&title));
            slug.map_or_else(String::new, |slug| slug.to_string())
        });
        let add = AddPrd::new(&slug, &title, text).map_err(orders::invalid)?;
        let project = place.open().await?;
        let caller = crate::caller::caller(self.command_id);
        let slug = documents::add_prd(&project, &caller, add).await?;
        super::show::print_summary(place, &project, &slug).await
    }
}
