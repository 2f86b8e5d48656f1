//! Reading tasks.

use super::Paged as _;
use crate::answer::{Answer, Rendered, invalid};
use crate::call::Call;
use crate::page_of;
use crate::route::{Kind, Route};
use regatta_engine::core::machine::Column;
use regatta_engine::core::session::Scope;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::{
    Filter, Project, TaskView, Versioned, edits, find_version, list_salvages, list_session_logs,
    list_task_page, reading, show_diff, show_task, show_task_with_file,
};
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
        )
        .paged(),
        Route::get("/api/tasks/{id}/checks", "listChecks", "List what the project's checks came to", checks)
            .paged(),
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
    let made = call.app.shared.pages_of_tasks.get(call.query.clone(), || render_list(&call));
    made.await.map(Answer::rendered)
}

async fn render_list(call: &Call) -> Result<Rendered, Problem> {
    let filter = Filter {
        column: call.query.text("column").map(column).transpose()?,
        agent: call.query.text("agent").map(str::to_owned),
        epic: call.query.get("epic")?,
        text: call.query.text("text").map(str::to_owned),
        all: call.query.flag("all")?,
    };
    let limit = page_of::limit(&call.query)?;
    let after: Option<TaskId> = call.query.get("after")?;
    let (tasks, has_more) = list_task_page(call.project(), &filter, after, limit).await?;
    let next = tasks.last().filter(|_| has_more).map(|task| task.id);
    Ok(page_of::render(tasks, next))
}

fn column(text: &str) -> Result<Column, Problem> {
    let found = Column::ALL.into_iter().find(|column| column.as_str() == text);
    found.ok_or_else(|| {
        invalid("column", format!("must be one of: {}", Column::ALL.map(Column::as_str).join(", ")))
    })
}

async fn show(call: Call) -> Result<Answer, Problem> {
    let task = call.path("id")?;
    let view = show_whole(call.project(), task).await?;
    call.show(&Versioned::Task(task), view).await
}

async fn file(call: Call) -> Result<Answer, Problem> {
    let task = call.path("id")?;
    let file = edits::refresh(call.project(), &call.caller(), task).await?;
    show_text(&call, task, file.text()).await
}

/// Answers with the text of a task's file and its version.
pub(super) async fn show_text(call: &Call, task: TaskId, text: &str) -> Result<Answer, Problem> {
    let version = find_version(call.project(), &Versioned::TaskFile(task)).await?;
    Ok(Answer::text("text/markdown; charset=utf-8", text).version(version))
}

/// Returns a task as `task show` does, with what was just written in its file.
pub(crate) async fn show_whole(project: &Project, task: TaskId) -> Result<TaskView, Problem> {
    edits::look(project, task).await?;
    Ok(show_task_with_file(project, task).await?)
}

async fn criteria(call: Call) -> Result<Answer, Problem> {
    let view = show_whole(call.project(), call.path("id")?).await?;
    page_of::cut_by_number(&call.query, &view.criteria)
}

async fn checks(call: Call) -> Result<Answer, Problem> {
    let view = show_task(call.project(), call.path("id")?).await?;
    page_of::cut_by_number(&call.query, &view.checks)
}

async fn diff(call: Call) -> Result<Answer, Problem> {
    let mut view = show_diff(call.project(), call.path("id")?).await?;
    if call.query.flag("stat")? {
        view.patch = None;
        if let Some(uncommitted) = &mut view.uncommitted_diff {
            uncommitted.patch = None;
        }
    }
    Ok(Answer::json(view))
}

async fn diff_files(call: Call) -> Result<Answer, Problem> {
    let view = show_diff(call.project(), call.path("id")?).await?;
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
    let salvages = list_salvages(call.project(), call.path("id")?).await?;
    page_of::cut(&call.query, &salvages, |listed| listed.salvage.name.clone())
}

async fn output(call: Call) -> Result<Answer, Problem> {
    Ok(Answer::json(reading::output(call.project(), &call.caller(), call.path("id")?).await?))
}

async fn archive(call: Call) -> Result<Answer, Problem> {
    let task = call.path("id")?;
    reading::check_task(call.project(), task).await?;
    Ok(Answer::json(reading::archive(call.project(), task)?))
}

async fn sessions(call: Call) -> Result<Answer, Problem> {
    let task = call.path("id")?;
    reading::check_task(call.project(), task).await?;
    let sessions = list_session_logs(call.project(), Scope::Task(task)).await?;
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
