//! What the caller has viewed of a task's diff.

use crate::answer::{Answer, invalid};
use crate::call::Call;
use crate::route::Route;
use regatta_board::diff::{HunkId, Mark, Seen, judge};
use regatta_engine::core::{CommitId, Problem, TaskId};
use regatta_engine::show_review;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::{Value, json};

/// The marks of one request; a page marks one file at a time.
const HUNKS_MAX: usize = 5_000;

pub(super) fn routes() -> Vec<Route> {
    let path = "/api/tasks/{id}/viewed";
    vec![
        Route::get(path, "showViewed", "Show what you have viewed of a task's diff", show),
        Route::post(path, "markViewed", "Mark parts of a task's diff as viewed, or not", mark)
            .reads::<Viewed>(),
    ]
}

/// Parts of a file that were viewed.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Viewed {
    /// The file, by its name after the change.
    path: String,
    /// Its parts, as the answer names them; without them the whole file.
    hunks: Option<Vec<String>>,
    /// Whether they were viewed; true by default.
    viewed: Option<bool>,
    /// The commit that was looked at; the one under review by default.
    head: Option<String>,
}

async fn show(call: Call) -> Result<Answer, Problem> {
    let task: TaskId = call.path("id")?;
    let review = show_review(call.project(), task).await?;
    state(&call, task, &review.base, &review.head).await.map(Answer::json)
}

async fn mark(call: Call) -> Result<Answer, Problem> {
    let (task, body): (TaskId, Viewed) = (call.path("id")?, call.body()?);
    if body.hunks.as_ref().is_some_and(|hunks| hunks.len() > HUNKS_MAX) {
        return Err(invalid("hunks", format!("are too many; at most {HUNKS_MAX}")));
    }
    let review = show_review(call.project(), task).await?;
    let head: CommitId = match &body.head {
        Some(head) => head.parse().map_err(|error| invalid("head", format!("is wrong: {error}")))?,
        None => review.head.clone(),
    };
    let patch = call.app.reviews.patch(call.project(), &review.base, &head).await?;
    let files = patch.files.iter().filter(|file| file.path == body.path);
    let mut marks: Vec<Mark> = Vec::new();
    for file in files {
        let ids = HunkId::of_file(file);
        let is_asked =
            |id: &HunkId| body.hunks.as_ref().is_none_or(|asked| asked.iter().any(|one| one == id.as_str()));
        marks.extend(ids.iter().filter(|id| is_asked(id)).filter_map(|id| Mark::of(file, id)));
    }
    if marks.is_empty() {
        return Err(invalid("path", "names no part of the diff; it may have changed since"));
    }
    let actor = &call.app.actor;
    let changed = if body.viewed.unwrap_or(true) {
        call.app.viewed.change(actor, task, marks, |_| false)
    } else {
        let is_gone = |mark: &Mark| marks.iter().any(|one| one.path == mark.path && one.hunk == mark.hunk);
        call.app.viewed.change(actor, task, Vec::new(), is_gone)
    };
    changed?;
    state(&call, task, &review.base, &head).await.map(Answer::json)
}

/// Says of each part whether it was viewed, with the counts that a page shows.
async fn state(call: &Call, task: TaskId, base: &CommitId, head: &CommitId) -> Result<Value, Problem> {
    let patch = call.app.reviews.patch(call.project(), base, head).await?;
    let marks = call.app.viewed.load(&call.app.actor, task);
    let (mut files, mut all, mut viewed, mut changed) = (Vec::new(), 0, 0, 0);
    for file in &patch.files {
        let seen = judge(file, &marks);
        all += seen.len();
        viewed += seen.iter().filter(|hunk| hunk.seen == Seen::Viewed).count();
        changed += seen.iter().filter(|hunk| hunk.seen == Seen::Changed).count();
        let hunks: Vec<Value> =
            seen.iter().map(|hunk| json!({ "hunk": hunk.id, "state": hunk.seen.as_str() })).collect();
        files.push(json!({ "path": file.path, "hunks": hunks }));
    }
    Ok(
        json!({ "taskId": task, "head": head, "all": all, "viewed": viewed, "changed": changed, "files": files }),
    )
}
