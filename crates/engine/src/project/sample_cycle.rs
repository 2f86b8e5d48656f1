//! The sample project for a run of the workflow `cycle`: a script that is not finished, and scripted agents for its roles.

use crate::error::Error;
use crate::project::Project;
use crate::project::sample::{create, main_branch};
use std::path::Path;

const FILES: &[(&str, &str)] = &[
    ("README.md", include_str!("../../sample/cycle/README.md")),
    ("slug.sh", include_str!("../../sample/cycle/slug.sh")),
    ("test.sh", include_str!("../../sample/cycle/test.sh")),
    (".regatta/config.toml", include_str!("../../sample/cycle/config.toml")),
    (".regatta/scripts/analyst.toml", include_str!("../../sample/cycle/analyst.toml")),
    (".regatta/scripts/planner.toml", include_str!("../../sample/cycle/planner.toml")),
    (".regatta/scripts/developer.toml", include_str!("../../sample/cycle/developer.toml")),
    (".regatta/scripts/validator.toml", include_str!("../../sample/cycle/validator.toml")),
    (".regatta/.gitignore", crate::project::IGNORED),
];

/// The title of the cycle that the sample is for.
pub const CYCLE_TITLE: &str = "Turn titles into addresses";

/// What the demo adds to the cycle after its first merge.
pub const CYCLE_EXTENSION: &str = "Letters, digits and dashes alone";

/// Makes the repository and the project for a run of the workflow `cycle`.
pub async fn create_cycle_sample(folder: &Path) -> Result<Project, Error> {
    let message = "A script that prints titles, and shall print addresses\n";
    create(folder, &main_branch()?, FILES, message).await
}
