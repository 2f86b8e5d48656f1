//! A comment of a reviewer, as a client sends it.

use regatta_engine::core::{self, Part, Side};
use schemars::JsonSchema;
use serde::Deserialize;

/// A comment on lines of the diff, on a file of it, or on the plan or the chain output of the task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Comment {
    /// The file, from the root of the repository.
    path: Option<String>,
    /// What it is about, if not a file.
    #[schemars(with = "Option<String>", extend("enum" = ["plan", "output", null]))]
    part: Option<Part>,
    /// Which version of the file the lines are counted in; new by default.
    #[schemars(with = "Option<String>", extend("enum" = ["old", "new", null]))]
    side: Option<Side>,
    /// The first line, from 1; without it the comment is about the whole.
    line: Option<u32>,
    /// The last line; the first by default.
    end_line: Option<u32>,
    /// 1 to 2000 characters.
    text: String,
}

impl From<Comment> for core::Comment {
    fn from(Comment { path, part, side, line, end_line, text }: Comment) -> Self {
        core::Comment { path, part, side: side.unwrap_or_default(), line, end_line, text, quote: None }
    }
}
