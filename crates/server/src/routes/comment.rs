//! A comment of a reviewer, as a client sends it.

use regatta_engine::core;
use schemars::JsonSchema;
use serde::Deserialize;

/// A comment on lines of the diff, on a file of it, or on the plan or the chain output of the task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Comment {
    /// The file, from the root of the repository.
    #[serde(default)]
    path: Option<String>,
    /// What it is about, if not a file.
    #[serde(default)]
    part: Option<Part>,
    /// Which version of the file the lines are counted in; new by default.
    #[serde(default)]
    side: Option<Side>,
    /// The first line, from 1; without it the comment is about the whole.
    #[serde(default)]
    line: Option<u32>,
    /// The last line; the first by default.
    #[serde(default)]
    end_line: Option<u32>,
    /// 1 to 2000 characters.
    text: String,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Part {
    Plan,
    Output,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub(super) enum Side {
    Old,
    New,
}

impl From<Comment> for core::Comment {
    fn from(Comment { path, part, side, line, end_line, text }: Comment) -> Self {
        let part = part.map(|part| match part {
            Part::Plan => core::Part::Plan,
            Part::Output => core::Part::Output,
        });
        let side = match side {
            Some(Side::Old) => core::Side::Old,
            Some(Side::New) | None => core::Side::New,
        };
        core::Comment { path, part, side, line, end_line, text, quote: None }
    }
}
