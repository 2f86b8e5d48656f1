//! Reading tasks.

use super::Paged as _;
use crate::answer::{Answer, invalid};
use crate::call::Call;
use crate::calls;
use crate::page_of;
use crate::route::{Kind, Route};
use regatta_engine::core::machine::Column;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::{Filter, Versioned};
use serde_json::{Value, json};

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::get("/api/tasks", "listTasks", "List the tasks, by number", list)
            .takes("column", Kind::Text, "Only those in this column")
            .takes("agent", Kind::Text, "Only those of this agent")
            .takes("epic", Kind::Number, "Only those of this epic")
            .takes("text", Kind::Text, "Only those with these words in the title or the description")
            .takes("all", Kind::Flag, "Hidden ones too")
            .paged(),
        Route::get("/api/tasks/{id}", "showTask", "Show one task", show),
        Route::get("/api/tasks/{id}/file", "showTaskFile", "Show the task's file, in Markdown", file),
        Route::get(
            "/api/tasks/{id}/criteria",
            "listCriteria",
            "List the task's acceptance criteria",
            criteria,
        ),
        Route::get("/api/tasks/{id}/checks", "listChecks", "List what the project's checks came to", checks),
        Route::get("/api/tasks/{id}/diff", "showDiff", "Show the task's diff as a whole", diff).takes(
            "stat",
            Kind::Flag,
            "Only the files and how many lines changed",
        ),
        Route::get(
            "/api/tasks/{id}/diff/files",
            "listDiffFiles",
            "Show the task's diff file by file",
            diff_files,
        )
        .paged(),
        Route::get(
            "/api/tasks/{id}/salvages",
            "listSalvages",
            "List the task's work that was set aside",
            salvages,
        )
        .paged(),
        Route::get(
            "/api/tasks/{id}/chain-output",
            "showChainOutput",
            "Show what the task says to its dependents",
            output,
        ),
        Route::get(
            "/api/tasks/{id}/archive",
            "showArchive",
            "Show what was moved out of the task's file",
            archive,
        ),
        Route::get("/api/tasks/{id}/sessions", "listTaskSessions", "List the sessions of a task", sessions)
            .paged(),
    ]
}

async fn list(call: Call) -> Result<Answer, Problem> {
    let filter = Filter {
        column: call.query.text("column").map(column).transpose()?,
        agent: call.query.text("agent").map(str::to_owned),
        epic: call.query.get("epic")?,
        text: call.query.text("text").map(str::to_owned),
        all: call.query.flag("all")?,
    };
    let limit = page_of::limit(&call.query)?;
    let after: Option<TaskId> = call.query.get("after")?;
    let (tasks, has_more) = calls::tasks::list(&call.app.project, &filter, after, limit).await?;
    let next = tasks.last().filter(|_| has_more).map(|task| task.id);
    Ok(page_of::answer(tasks, next))
}

fn column(text: &str) -> Result<Column, Problem> {
    let found = Column::ALL.into_iter().find(|column| column.as_str() == text);
    found.ok_or_else(|| {
        invalid("column", format!("must be one of: {}", Column::ALL.map(Column::as_str).join(", ")))
    })
}

async fn show(call: Call) -> Result<Answer, Problem> {
    let task = call.path("id")?;
    let view = calls::tasks::show_whole(&call.app.project, task).await?;
    let version = calls::version(&call.app.project, &Versioned::Task(task)).await?;
    Ok(Answer::json(view).version(version))
}

async fn file(call: Call) -> Result<Answer, Problem> {
    let task = call.path("id")?;
    let text = calls::tasks::file(&call.app.project, &call.caller(), task).await?;
    let version = calls::version(&call.app.project, &Versioned::TaskFile(task)).await?;
    Ok(Answer::text("text/markdown; charset=utf-8", text).version(version))
}

async fn criteria(call: Call) -> Result<Answer, Problem> {
    let view = calls::tasks::show_whole(&call.app.project, call.path("id")?).await?;
    Ok(page_of::answer(view.criteria, None::<u32>))
}

async fn checks(call: Call) -> Result<Answer, Problem> {
    let view = calls::tasks::show(&call.app.project, call.path("id")?).await?;
    Ok(page_of::answer(view.checks, None::<u32>))
}

async fn diff(call: Call) -> Result<Answer, Problem> {
    let mut view = calls::tasks::diff(&call.app.project, call.path("id")?).await?;
    if call.query.flag("stat")? {
        view.patch = None;
        if let Some(uncommitted) = &mut view.uncommitted_diff {
            uncommitted.patch = None;
        }
    }
    Ok(Answer::json(view))
}

async fn diff_files(call: Call) -> Result<Answer, Problem> {
    let view = calls::tasks::diff(&call.app.project, call.path("id")?).await?;
    let patches = split(view.patch.as_deref().unwrap_or_default());
    let file = |(number, file): (usize, &_)| -> Value {
        let mut shown = serde_json::to_value(file).unwrap_or_default();
        // Those after the place where the text was cut off have none.
        let is_cut = view.is_truncated && number + 1 >= patches.len();
        shown["number"] = json!(number + 1);
        shown["patch"] = json!(patches.get(number).filter(|_| !is_cut));
        shown
    };
    let files: Vec<Value> = view.files.iter().enumerate().map(file).collect();
    page_of::cut(&call.query, &files, |file| file["number"].to_string())
}

/// Splits a patch into those of its files: a line of a file's content never begins so.
fn split(patch: &str) -> Vec<&str> {
    const HEAD: &str = "diff --git ";
    let mut begins: Vec<usize> = patch.match_indices(HEAD).map(|(at, _)| at).collect();
    begins.retain(|at| *at == 0 || patch.as_bytes()[at - 1] == b'\n');
    let ends = begins.iter().skip(1).copied().chain([patch.len()]);
    begins.iter().zip(ends).map(|(begin, end)| &patch[*begin..end]).collect()
}

async fn salvages(call: Call) -> Result<Answer, Problem> {
    let salvages = calls::tasks::salvages(&call.app.project, call.path("id")?).await?;
    page_of::cut(&call.query, &salvages, |listed| listed.salvage.name.clone())
}

async fn output(call: Call) -> Result<Answer, Problem> {
    calls::tasks::output(&call.app.project, &call.caller(), call.path("id")?).await.map(Answer::json)
}

async fn archive(call: Call) -> Result<Answer, Problem> {
    calls::tasks::archived(&call.app.project, call.path("id")?).await.map(Answer::json)
}

async fn sessions(call: Call) -> Result<Answer, Problem> {
    let sessions = calls::tasks::sessions(&call.app.project, call.path("id")?).await?;
    page_of::cut(&call.query, &sessions, |session| session.session.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_patch_is_split_at_the_heads_of_its_files() {
        let one = "diff --git a/x b/x\n+diff --git inside\n diff --git inside\n";
        let two = "diff --git a/y b/y\n-gone\n";
        assert_eq!(split(&format!("{one}{two}")), [one, two]);
        assert!(split("").is_empty());
    }
}
