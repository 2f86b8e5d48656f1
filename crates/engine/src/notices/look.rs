//! What a task, a run or a question is to be noticed for, as it is now.

use crate::commands::questions::list_questions;
use crate::commands::run_orders::get_run;
use crate::core::machine::Column;
use crate::core::{Code, RunId, TaskId};
use crate::error::Error;
use crate::log::journal::Entry;
use crate::log::list::list_rows;
use crate::notices::memory::Memory;
use crate::notices::notice::{Notice, NoticeKind};
use crate::project::Project;
use crate::view::run::show_run_only;
use crate::view::task::show_task;
use std::collections::BTreeSet;

/// What happened since the last look, by subject: many events of one task are one look at it.
#[derive(Debug, Default)]
pub(crate) struct Touched {
    tasks: BTreeSet<TaskId>,
    runs: BTreeSet<RunId>,
    merged: BTreeSet<TaskId>,
    ended: BTreeSet<RunId>,
    has_questions: bool,
}

impl Touched {
    pub(crate) fn note(&mut self, entry: &Entry) {
        let kind = entry.event.kind();
        self.tasks.extend(entry.event.find_task());
        self.runs.extend(entry.event.find_run());
        match kind {
            "task:approved" => self.merged.extend(entry.event.find_task()),
            "run:completed" | "run:failed" => self.ended.extend(entry.event.find_run()),
            _ => self.has_questions |= kind.starts_with("session:"),
        }
    }
}

/// Looks at projects for one memory.
pub(crate) struct Look<'a> {
    pub(crate) project: &'a Project,
    pub(crate) memory: &'a mut Memory,
    /// Where the board is, without a slash at the end.
    pub(crate) address: Option<&'a str>,
}

impl Look<'_> {
    /// Looks at what was touched, and returns the notices that are new.
    pub(crate) async fn at(&mut self, touched: &Touched) -> Result<Vec<Notice>, Error> {
        let mut found = Vec::new();
        for task in &touched.tasks {
            match self.at_task(*task, touched.merged.contains(task)).await {
                Ok(notice) => found.extend(notice),
                // It was deleted.
                Err(error) if error.explain().code == Code::TaskNotFound => {
                    self.memory.stand(format!("task/{task}"), None);
                }
                Err(error) => return Err(error),
            }
        }
        for run in &touched.runs {
            found.extend(self.at_run(*run, touched.ended.contains(run)).await?);
            found.extend(self.at_edits(*run).await?);
        }
        if touched.has_questions {
            found.extend(self.at_questions().await?);
        }
        Ok(found)
    }

    async fn at_task(&mut self, id: TaskId, is_merged: bool) -> Result<Option<Notice>, Error> {
        let task = show_task(self.project, id).await?;
        let (kind, why, text) = match (&task.error, task.column) {
            (_, Column::Verified) => (NoticeKind::Done, None, format!("#{id} is merged: {}", task.title)),
            (Some(error), _) if task.owner == "you" => {
                let why = format!("failed {} {}", error.code, task.sessions);
                (NoticeKind::Failed, Some(why), format!("#{id} needs you: {} ({})", task.title, error.code))
            }
            (_, Column::WaitingApproval) if task.owner == "you" => {
                let head = task.diff.as_ref().map(|diff| diff.head.to_string()).unwrap_or_default();
                let text = format!("#{id} waits for your review: {}", task.title);
                (NoticeKind::Waiting, Some(format!("review {head}")), text)
            }
            _ => (NoticeKind::Waiting, None, String::new()),
        };
        let is_new = self.memory.stand(format!("task/{id}"), why.as_deref());
        let is_told = is_new || (kind == NoticeKind::Done && is_merged);
        Ok(is_told.then(|| {
            let mut notice = self.notice(kind, &text, &format!("tasks/{id}")).next(&task.next);
            notice.task_id = Some(id.number());
            notice.code = task.error.as_ref().map(|error| error.code.to_string());
            notice
        }))
    }

    async fn at_run(&mut self, id: RunId, has_ended: bool) -> Result<Option<Notice>, Error> {
        let run = show_run_only(self.project, id).await?;
        let is_persons = run.owner == "you";
        let name = &run.workflow;
        let (kind, why, text) = match (&run.error, &run.question) {
            (Some(error), _) if is_persons || has_ended => {
                let why = format!("failed {} {}", error.code, run.step);
                (NoticeKind::Failed, Some(why), format!("run {id} ({name}) failed: {}", error.code))
            }
            (_, Some(question)) if is_persons => {
                let why = format!("asks {}", run.step);
                (NoticeKind::Waiting, Some(why), format!("run {id} ({name}) asks: {question}"))
            }
            _ if has_ended && run.parent.is_none() => {
                (NoticeKind::Done, None, format!("run {id} ({name}) has ended"))
            }
            _ => (NoticeKind::Waiting, None, String::new()),
        };
        let is_new = self.memory.stand(format!("run/{id}"), why.as_deref());
        let is_told = is_new || kind == NoticeKind::Done;
        Ok(is_told.then(|| {
            let mut notice = self.notice(kind, &text, &format!("runs/{id}")).next(&run.next);
            notice.run_id = Some(id.number());
            notice.code = run.error.as_ref().map(|error| error.code.to_string());
            notice
        }))
    }

    /// Looks for edits of a run's files that were not taken in.
    async fn at_edits(&mut self, id: RunId) -> Result<Vec<Notice>, Error> {
        let kept = get_run(self.project, id).await?.edits.kept;
        let subject = |path: &str| format!("edit/{id}/{path}");
        let all: BTreeSet<String> = kept.iter().map(|edit| subject(&edit.kept)).collect();
        let prefix = subject("");
        self.memory.standing.retain(|subject, _| !subject.starts_with(&prefix) || all.contains(subject));
        let mut found = Vec::new();
        for edit in kept {
            let code = edit.error.code.to_string();
            if self.memory.stand(subject(&edit.kept), Some(&code)) {
                let mut notice = self.notice(NoticeKind::Failed, &edit.error.message, &format!("runs/{id}"));
                notice = notice.next(&edit.error.hint);
                (notice.run_id, notice.code) = (Some(id.number()), Some(code));
                found.push(notice);
            }
        }
        Ok(found)
    }

    async fn at_questions(&mut self) -> Result<Vec<Notice>, Error> {
        let questions = list_questions(self.project).await?;
        let open: BTreeSet<String> = questions.iter().map(|(id, _)| format!("question/{id}")).collect();
        self.memory.standing.retain(|subject, _| !subject.starts_with("question/") || open.contains(subject));
        let mut found = Vec::new();
        for (id, asked) in questions {
            if self.memory.stand(format!("question/{id}"), Some("asks")) {
                let agent = &asked.subject.agent_id;
                let text = format!("{agent} asks for permission: {}", asked.what);
                let next = "regatta agent questions";
                let mut notice = self.notice(NoticeKind::Waiting, &text, "inbox").next(next);
                notice.task_id = asked.subject.task_id.map(|task| task.number());
                notice.run_id = asked.subject.run_id.map(|run| run.number());
                found.push(notice);
            }
        }
        Ok(found)
    }

    /// Looks for tasks whose person has let the deadline pass.
    pub(crate) async fn at_deadlines(&mut self) -> Result<Vec<Notice>, Error> {
        let mut found = Vec::new();
        for row in list_rows(self.project).await? {
            let since = row.since.to_string();
            let id = row.id;
            // A task that nobody ever gave to an agent waits, too, but nothing is lost by that.
            let is_overdue = row.overdue && row.column != Column::Backlog;
            if self.memory.stand(format!("overdue/{id}"), is_overdue.then_some(since.as_str())) {
                let text = format!("#{id} is overdue: {}", row.title);
                let mut notice = self.notice(NoticeKind::Overdue, &text, &format!("tasks/{id}"));
                notice.task_id = Some(id.number());
                found.push(notice);
            }
        }
        Ok(found)
    }

    fn notice(&self, kind: NoticeKind, text: &str, page: &str) -> Notice {
        let root = self.project.root().file_name().unwrap_or_default().to_string_lossy().into_owned();
        let mut notice = Notice::new(kind, &root, text);
        notice.url = self.address.map(|address| format!("{address}/{page}"));
        notice
    }
}
