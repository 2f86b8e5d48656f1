//! The review of a task: the page, and the pieces that it fetches while it is open.

use super::{clock, html, page, shell};
use crate::answer::{Answer, invalid};
use crate::app::App;
use crate::call::Call;
use crate::route::{Kind, Route};
use crate::routes::tasks::show_whole;
use regatta_board::diff::{File, Highlighted, Patch, SeenHunk, judge};
use regatta_board::review::{
    self, Decision, FilePiece, Others, Page, Panel, Placed, Tree, render_decision, render_file, render_head,
    render_lines,
};
use regatta_board::shell::Section;
use regatta_engine::core::machine::Column;
use regatta_engine::core::{Code, CommitId, Problem, TaskId};
use regatta_engine::{
    Project, RejectionView, ReviewView, edits, list_rejections, read_text, reading, show_review, show_task,
};
use std::time::{Duration, Instant};

/// Lines that arrive with the page; the rest is fetched when it comes into view.
const FIRST_LINES_MAX: usize = 500;
/// The most lines that one fold opens.
const OPEN_LINES_MAX: u64 = 20_000;
/// Colours that take longer are left out.
const HIGHLIGHT_TIME_MAX: Duration = Duration::from_millis(400);

pub(super) fn routes() -> Vec<Route> {
    let ends = |route: Route| {
        route
            .takes("base", Kind::Text, "Where the diff starts")
            .takes("head", Kind::Text, "Where it ends")
            .takes("split", Kind::Flag, "Both versions side by side")
    };
    vec![
        page("/tasks/{id}/review", "review", "Review the diff of a task", show)
            .takes("new", Kind::Flag, "Only what is new to the reader")
            .takes("split", Kind::Flag, "Both versions side by side"),
        ends(Route::get(
            "/fragments/tasks/{id}/files/{number}",
            "fragmentFile",
            "Show one file of a review",
            file,
        )),
        ends(Route::get(
            "/fragments/tasks/{id}/lines/{number}",
            "fragmentLines",
            "Show unchanged lines of a file",
            lines,
        ))
        .takes("from", Kind::Number, "The first line, as it is after the change")
        .takes("old", Kind::Number, "Its number before the change")
        .takes("count", Kind::Number, "How many lines"),
        Route::get(
            "/fragments/tasks/{id}/decision",
            "fragmentDecision",
            "Show what can be decided",
            decision,
        )
        .takes("head", Kind::Text, "The commit that the page shows"),
    ]
}

async fn show(call: Call) -> Result<Answer, Problem> {
    let (app, id): (&App, TaskId) = (&call.app, call.path("id")?);
    let task = show_whole(&app.project, id).await?;
    let shell = shell(app, Section::Board, true).await?;
    let Some(reviewed) = find_review(&call, id).await? else {
        return Ok(html(review::nothing(&shell, &task)));
    };
    let (base, head) = (&reviewed.base, &reviewed.head);
    let patch = app.reviews.patch(&app.project, base, head).await?;
    let rejections = list_rejections(&app.project, id).await?;
    let marks = app.viewed.load(&app.actor, id);
    let seen: Vec<Vec<SeenHunk>> = patch.files.iter().map(|file| judge(file, &marks)).collect();
    let is_split = call.query.flag("split")?;
    let (mut files, mut lines, mut is_first) = (Vec::new(), 0, true);
    for (number, (file, seen)) in patch.files.iter().zip(&seen).enumerate() {
        lines += file.hunks.iter().map(|hunk| hunk.lines.len() + 4).sum::<usize>() + 4;
        let is_now = is_first || lines <= FIRST_LINES_MAX;
        // One file is shown at once unless it is very long.
        let piece = Piece { number, file, seen, is_split };
        files.push(match is_now && lines <= FIRST_LINES_MAX * 4 {
            true => piece.whole(app, base, head, &rejections).await?,
            false => piece.head(),
        });
        is_first = false;
    }
    let text = edits::refresh(&app.project, &call.caller(), id).await;
    let text = text.as_ref().map_or("", |file| file.text());
    let output = reading::output(&app.project, &call.caller(), id).await.unwrap_or_default();
    let clock = clock();
    let panel = Panel {
        task: &task,
        rejections: &rejections,
        log: find_log(text),
        output: output["output"].as_str().unwrap_or_default(),
        clock: &clock,
    };
    let decision = Decision { task: &task, review: &reviewed, shown: head.as_str() };
    Ok(html(review::page(&Page {
        shell: &shell,
        task: &task,
        review: &reviewed,
        patch: &patch,
        tree: Tree::of(&patch, &seen),
        files,
        panel,
        decision: &decision,
        is_split,
        has_editor: app.project.config().editor.is_some(),
        is_new_only: call.query.flag("new")?,
        others: find_others(app, id).await?,
    })))
}

/// A file of a review, on its way to HTML.
struct Piece<'a> {
    number: usize,
    file: &'a File,
    seen: &'a [SeenHunk],
    is_split: bool,
}

impl Piece<'_> {
    async fn whole(
        &self,
        app: &App,
        base: &CommitId,
        head: &CommitId,
        rejections: &[RejectionView],
    ) -> Result<regatta_board::Markup, Problem> {
        let file = self.file;
        let is_text = !file.is_binary && !file.is_submodule() && !file.hunks.is_empty();
        let (has_old, has_new) = (
            is_text && file.hunks.iter().any(|hunk| hunk.old_count > 0),
            is_text && file.hunks.iter().any(|hunk| hunk.new_count > 0),
        );
        let old = read(&app.project, base, &file.old_path, has_old).await?;
        let new = read(&app.project, head, &file.path, has_new).await?;
        let last = |end: fn(&regatta_board::diff::Hunk) -> u32| file.hunks.last().map_or(0, end);
        let until = Instant::now() + HIGHLIGHT_TIME_MAX;
        let colours = |path: &str, text: Option<&str>, last: u32| {
            let mut has_time = || Instant::now() < until;
            let highlighter = app.reviews.highlighter();
            text.map_or_else(Highlighted::default, |text| {
                highlighter.highlight(path, text, last, &mut has_time)
            })
        };
        let new_colours =
            colours(&file.path, new.as_deref(), last(|hunk| hunk.new_start.saturating_add(hunk.new_count)));
        let old_colours = colours(
            &file.old_path,
            old.as_deref(),
            last(|hunk| hunk.old_start.saturating_add(hunk.old_count)),
        );
        let talk = Placed::find(rejections, &file.path, old.as_deref(), new.as_deref());
        let line_count = new.as_deref().and_then(|text| u32::try_from(text.lines().count()).ok());
        Ok(render_file(&FilePiece {
            number: self.number,
            file,
            old: &old_colours,
            new: &new_colours,
            line_count,
            seen: self.seen,
            talk: &talk,
            is_split: self.is_split,
        }))
    }

    fn head(&self) -> regatta_board::Markup {
        let none = Highlighted::default();
        render_head(&FilePiece {
            number: self.number,
            file: self.file,
            old: &none,
            new: &none,
            line_count: None,
            seen: self.seen,
            talk: &[],
            is_split: self.is_split,
        })
    }
}

async fn read(
    project: &Project,
    commit: &CommitId,
    path: &str,
    is_there: bool,
) -> Result<Option<String>, Problem> {
    if is_there { Ok(read_text(project, commit, path).await?) } else { Ok(None) }
}

/// A file of the patch that a page shows, by its place.
struct Asked {
    task: TaskId,
    number: usize,
    base: CommitId,
    head: CommitId,
    patch: std::sync::Arc<Patch>,
}

impl Asked {
    async fn read(call: &Call) -> Result<Self, Problem> {
        let (task, number): (TaskId, usize) = (call.path("id")?, call.path("number")?);
        // Two commits say what is shown, but only somebody who may see the task sees it.
        show_task(&call.app.project, task).await?;
        let commit = |name: &'static str| -> Result<CommitId, Problem> {
            call.query.get(name)?.ok_or_else(|| invalid(name, "must be a commit"))
        };
        let (base, head) = (commit("base")?, commit("head")?);
        let patch = call.app.reviews.patch(&call.app.project, &base, &head).await?;
        if number >= patch.files.len() {
            return Err(invalid(
                "number",
                format!("must be below {}, the number of files", patch.files.len()),
            ));
        }
        Ok(Asked { task, number, base, head, patch })
    }

    fn file(&self) -> &File {
        &self.patch.files[self.number]
    }
}

async fn file(call: Call) -> Result<Answer, Problem> {
    let asked = Asked::read(&call).await?;
    let rejections = list_rejections(&call.app.project, asked.task).await?;
    let marks = call.app.viewed.load(&call.app.actor, asked.task);
    let seen = judge(asked.file(), &marks);
    let is_split = call.query.flag("split")?;
    let piece = Piece { number: asked.number, file: asked.file(), seen: &seen, is_split };
    piece.whole(&call.app, &asked.base, &asked.head, &rejections).await.map(html)
}

async fn lines(call: Call) -> Result<Answer, Problem> {
    let asked = Asked::read(&call).await?;
    let from = call.query.number("from", 1, u64::from(u32::MAX))?.max(1);
    let old = call.query.number("old", from, u64::from(u32::MAX))?;
    let count = call.query.number("count", 20, OPEN_LINES_MAX)?;
    let path = &asked.file().path;
    let text = read_text(&call.app.project, &asked.head, path).await?.unwrap_or_default();
    let number = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let until = Instant::now() + HIGHLIGHT_TIME_MAX;
    let last = number(from.saturating_add(count));
    let colours = call.app.reviews.highlighter().highlight(path, &text, last, &mut || Instant::now() < until);
    let skip = usize::try_from(from - 1).unwrap_or(usize::MAX);
    let lines: Vec<&str> = text.split('\n').skip(skip).take(usize::try_from(count).unwrap_or(0)).collect();
    Ok(html(render_lines((number(old), number(from)), &lines, &colours, call.query.flag("split")?)))
}

async fn decision(call: Call) -> Result<Answer, Problem> {
    let id = call.path("id")?;
    let task = show_task(&call.app.project, id).await?;
    let Some(reviewed) = find_review(&call, id).await? else { return Ok(html(review::gone(&task))) };
    let shown = call.query.text("head").unwrap_or(reviewed.head.as_str()).to_owned();
    Ok(html(render_decision(&Decision { task: &task, review: &reviewed, shown: &shown })))
}

/// Returns what is under review, if a task has a diff.
async fn find_review(call: &Call, task: TaskId) -> Result<Option<ReviewView>, Problem> {
    match show_review(call.project(), task).await.map_err(Problem::from) {
        Ok(review) => Ok(Some(review)),
        Err(problem) if problem.code == Code::TaskNoDiff => Ok(None),
        Err(problem) => Err(problem),
    }
}

/// Finds the progress log in a task file: section 3, up to the next one.
fn find_log(file: &str) -> &str {
    let is_section =
        |line: &str, number: char| line.strip_prefix("## ").is_some_and(|rest| rest.starts_with(number));
    let mut at = 0;
    let (mut begin, mut end, mut fence) = (None, file.len(), false);
    for line in file.split_inclusive('\n') {
        fence ^= line.trim_start().starts_with("```");
        if !fence && is_section(line, '3') && begin.is_none() {
            begin = Some(at + line.len());
        } else if !fence && line.starts_with("## ") && begin.is_some() {
            end = at;
            break;
        }
        at += line.len();
    }
    begin.map_or("", |begin| file[begin..end].trim())
}

/// Finds the reviews that wait, the longest first.
async fn find_others(app: &App, task: TaskId) -> Result<Others, Problem> {
    let rows = app.shared.rows(&app.project).await?;
    let is_waiting =
        |row: &&regatta_engine::TaskRow| row.column == Column::WaitingApproval && row.phase == "ready";
    let mut waiting: Vec<(i64, TaskId)> =
        rows.list.iter().filter(is_waiting).map(|row| (row.since, row.id)).collect();
    waiting.sort_unstable();
    let place = waiting.iter().position(|(_, id)| *id == task);
    let at = |place: usize| waiting.get(place).map(|(_, id)| *id);
    let next = match place {
        Some(place) => at(place + 1).or_else(|| at(0).filter(|first| *first != task)),
        None => at(0),
    };
    let previous = place.and_then(|place| place.checked_sub(1)).and_then(at);
    Ok(Others { place: place.map(|place| place + 1), count: waiting.len(), previous, next })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_log_is_a_section_of_the_task_file() {
        let file = "# Task\n\n## 2. Inputs\nx\n## 3. Progress Log\n\n### 1\n```\n## 4. not here\n```\ndone\n\n## 4. Chain Output\ny\n";
        assert_eq!(find_log(file), "### 1\n```\n## 4. not here\n```\ndone");
        assert_eq!((find_log(""), find_log("## 3. Log"), find_log("## 30 x")), ("", "", ""));
    }
}
