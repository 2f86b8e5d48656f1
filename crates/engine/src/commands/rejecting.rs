//! Sends work back: with a reason, and with comments on lines, which are looked up in git so that they can be quoted.

use crate::commands::orders::{Caller, Given, Order, get_task, give, invalid};
use crate::commands::request::Request;
use crate::core::{AgentId, Command, Comment, Diff, FieldFault, Part, Reject, Side, Task, TaskId};
use crate::error::Error;
use crate::project::Project;
use crate::task_files;
use crate::view::review::read_content;
use std::collections::BTreeMap;
use std::sync::Arc;

/// Lines beyond this cannot be commented; no reviewer reads so far.
const FILE_BYTES_MAX: usize = 16 * 1024 * 1024;

/// What a reviewer says who sends work back.
#[derive(Debug, Clone, Default)]
pub struct Rejecting {
    /// Why; may be left out if there are comments.
    pub reason: Option<String>,
    /// What to do about it.
    pub feedback: Option<String>,
    /// What they wrote to lines.
    pub comments: Vec<Comment>,
    /// The agent to continue with, if not the one that did the work.
    pub agent: Option<AgentId>,
}

/// Sends the work of a task back.
pub async fn reject(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    reason: String,
    feedback: Option<String>,
) -> Result<Given, Error> {
    let rejecting = Rejecting { reason: Some(reason), feedback, ..Rejecting::default() };
    reject_with(project, caller, task, rejecting).await
}

/// Sends the work of a task back with everything that a reviewer can say.
pub async fn reject_with(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    rejecting: Rejecting,
) -> Result<Given, Error> {
    let Rejecting { reason, feedback, comments, agent } = rejecting;
    let request = Request::Reject {
        task,
        reason: reason.as_deref(),
        feedback: feedback.as_deref(),
        agent: agent.as_ref(),
        comments: &comments,
    };
    let order = Order::of(caller, task, &request);
    let reject = Reject::with_comments(reason, feedback, comments.clone()).map_err(invalid)?.handed_to(agent);
    let reject = match reject.comments() {
        [] => reject,
        comments => {
            let quoted = quote(project, task, comments).await?;
            reject.quoting(quoted)
        }
    };
    give(project, order, Command::Reject(reject)).await
}

/// Sends work back as a recording says.
pub(crate) async fn repeat(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    said: String,
) -> Result<Given, Error> {
    // Split as it was given: the two are joined by an empty line when they are passed on.
    let (reason, feedback) = match said.split_once("\n\n") {
        Some((reason, feedback)) => (reason.to_owned(), Some(feedback.to_owned())),
        None => (said, None),
    };
    let order = Order::new(Some(task), &caller.actor);
    give(project, order, Command::Reject(Reject::as_recorded(reason, feedback))).await
}

/// Looks up the lines that comments are about; one that names what is not there is a bad field.
async fn quote(project: &Project, id: TaskId, comments: &[Comment]) -> Result<Vec<Comment>, Error> {
    let task = get_task(project, id).await?;
    // Without a diff the command is refused anyway, which says more.
    let Some(diff) = task.diff() else { return Ok(comments.to_vec()) };
    let mut sources = Sources { project, task: &task, diff, texts: BTreeMap::new() };
    let (mut quoted, mut faults) = (Vec::new(), Vec::new());
    for (comment, number) in comments.iter().zip(1..) {
        match sources.quote(comment).await? {
            Ok(comment) => quoted.push(comment),
            Err(problem) => {
                let problem = format!("number {number}: {problem}");
                faults.push(FieldFault { field: "comments", problem });
            }
        }
    }
    if faults.is_empty() { Ok(quoted) } else { Err(invalid(faults)) }
}

/// The texts that comments can be about, each read once.
struct Sources<'a> {
    project: &'a Project,
    task: &'a Task,
    diff: &'a Diff,
    texts: BTreeMap<(String, bool), Option<Arc<str>>>,
}

impl Sources<'_> {
    async fn quote(&mut self, comment: &Comment) -> Result<Result<Comment, String>, Error> {
        let text = match (&comment.path, comment.part) {
            (Some(path), _) => {
                let is_old = comment.side == Side::Old;
                match self.read(path, is_old).await? {
                    Some(text) => text,
                    // A comment on a whole file can be about one that was removed.
                    None if comment.line.is_none() && self.read(path, !is_old).await?.is_some() => {
                        return Ok(Ok(comment.clone()));
                    }
                    None => return Ok(Err(self.explain_missing(path, is_old))),
                }
            }
            (None, Some(Part::Output)) => {
                let file = task_files::peek_text(self.project, self.task.id);
                file.and_then(|file| file.chain_output().map(Arc::from)).unwrap_or_default()
            }
            (None, Some(Part::Plan) | None) => self.task.description.as_str().into(),
        };
        let Some((first, last)) = comment.lines() else { return Ok(Ok(comment.clone())) };
        let count = u32::try_from(text.lines().count()).unwrap_or(u32::MAX);
        if first > count {
            let lines = if count == 1 { "line" } else { "lines" };
            return Ok(Err(format!("`line` is {first}, but there are {count} {lines}")));
        }
        let last = last.min(count);
        let lines = text.lines().skip(first as usize - 1).take((last - first) as usize + 1);
        Ok(Ok(Comment { end_line: Some(last), ..comment.clone() }.quoting(lines)))
    }

    /// Returns the text of a file of the diff's base or head; empty for a binary file.
    async fn read(&mut self, path: &str, is_old: bool) -> Result<Option<Arc<str>>, Error> {
        let key = (path.to_owned(), is_old);
        if !self.texts.contains_key(&key) {
            let commit = if is_old { &self.diff.base } else { &self.diff.head };
            let content = read_content(self.project, commit, path, FILE_BYTES_MAX).await?;
            let text = content.map(|content| Arc::from(String::from_utf8_lossy(&content.bytes)));
            self.texts.insert(key.clone(), text);
        }
        Ok(self.texts[&key].clone())
    }

    fn explain_missing(&self, path: &str, is_old: bool) -> String {
        let (commit, when) = match is_old {
            true => (&self.diff.base, "before the change"),
            false => (&self.diff.head, "after the change"),
        };
        let path = Comment { path: Some(path.to_owned()), ..Comment::default() };
        format!("`path` names {path}, which is no file {when} (commit {})", commit.short())
    }
}
