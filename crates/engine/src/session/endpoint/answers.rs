//! Converts the engine's types to those of the endpoint.

use crate::commands::messages::MessageView;
use crate::core::{Code, Collision, Comment, Criterion, Evidence, Part, Problem, ReviewNote, Task};
use crate::forecast::tell::Told;
use crate::project::Project;
use crate::session::endpoint::Subject;
use crate::task_files;
use regatta_mcp::{Fault, Refused};
use serde_json::{Value, json};

/// Returns a problem as an agent reads it.
pub(crate) fn fault_from(problem: &Problem) -> Fault {
    let why: Vec<&str> = problem.why.iter().map(String::as_str).filter(|why| !why.is_empty()).collect();
    let message =
        if why.is_empty() { problem.what.clone() } else { format!("{}: {}", problem.what, why.join(": ")) };
    let code = problem.code.as_str().to_owned();
    Fault { code, message, hint: problem.next.clone(), details: problem.details.clone() }
}

/// Returns the answer for an agent whose call was not passed on.
pub(crate) fn refusal_of(subject: &Subject, refused: &Refused) -> Problem {
    let own = subject.task.map_or_else(|| "none".to_owned(), |task| format!("#{task}"));
    match refused {
        Refused::Tool { name } => Problem::new(
            Code::Forbidden,
            format!("`{name}` was not called"),
            "it is not among the tools of an agent",
            format!("use one of: {}", regatta_mcp::TOOL_NAMES.join(", ")),
        )
        .with("tool", name.as_str()),
        Refused::Task { tool, task } => Problem::new(
            Code::Forbidden,
            format!("`{tool}` was not called for task {task}"),
            format!("this session may only change its own task ({own})"),
            "omit `taskId`; use `send_message` to write to the agent of another task",
        )
        .with("tool", *tool)
        .with("taskId", task.as_str()),
        Refused::Arguments { tool, faults } => {
            let named =
                |field: &str| if field.is_empty() { "arguments".to_owned() } else { format!("`{field}`") };
            let sentences: Vec<String> =
                faults.iter().map(|fault| format!("{} {}", named(fault.field), fault.problem)).collect();
            let fields: Vec<Value> = faults
                .iter()
                .map(|fault| json!({ "field": fault.field, "problem": fault.problem }))
                .collect();
            Problem::new(
                Code::ValidationError,
                format!("`{tool}` was not called"),
                sentences.join("; "),
                "correct the fields named above and call it again; nothing was done",
            )
            .with("fields", fields)
        }
    }
}

/// Returns the log entry for a refused call, unless it was only mistyped.
pub(crate) fn note_of(refused: &Refused) -> Option<String> {
    match refused {
        // `report_refused` names a command where a call names a tool.
        Refused::Tool { name } if name.starts_with("regatta ") => Some(format!("the command {name}")),
        Refused::Tool { name } => Some(format!("the tool {name}")),
        Refused::Task { tool, task } => Some(format!("task {task} in {tool}")),
        Refused::Arguments { .. } => None,
    }
}

/// Returns a task as its agent reads it.
pub(crate) fn task_answer(
    project: &Project,
    subject: &Subject,
    task: &Task,
    collisions: Vec<Value>,
) -> Value {
    let criteria = task.criteria.iter().zip(1..).map(|(criterion, index)| {
        let verified = task.is_verified(criterion);
        let Criterion { text, checked, check, .. } = criterion;
        json!({ "index": index, "text": text, "checked": checked, "verified": verified, "check": check })
    });
    let evidence = task.proof.iter().flat_map(|proof| {
        let show = |Evidence { name, passed, tail, .. }: &Evidence| {
            json!({ "check": name, "passed": passed, "commit": proof.commit, "tail": tail })
        };
        proof.results.iter().map(show)
    });
    let (run, next) = (subject.run.as_ref(), task.memory.last.as_ref().map(|entry| &entry.next));
    let mut answer = json!({
        "taskId": task.id,
        "title": task.title,
        "description": task.description,
        "criteria": criteria.collect::<Vec<_>>(),
        "evidence": evidence.collect::<Vec<_>>(),
        "branch": task.worktree().map(|worktree| &worktree.branch),
        "file": task_files::file_path(project, task.id).display().to_string(),
        "session": subject.session,
        "runId": run.map(|run| run.id),
        "role": run.map(|run| &run.role),
        "progressEntries": task.memory.entries,
        "next": next,
        "rejectionCount": task.rejection_count,
        "collisions": collisions,
        "review": task.review_note.as_ref().map(review_answer),
    });
    leave_out(&mut answer, &["collisions", "review"]);
    answer
}

/// Leaves out fields that have nothing to say.
pub(crate) fn leave_out(answer: &mut Value, names: &[&str]) {
    let is_empty = |value: &Value| *value == Value::Null || *value == json!([]) || *value == json!({});
    if let Some(fields) = answer.as_object_mut() {
        fields.retain(|name, value| !names.contains(&name.as_str()) || !is_empty(value));
    }
}

/// Returns other work on the same files as an agent reads it.
pub(crate) fn collision_answer(told: Told) -> Value {
    let Told { collision, title } = told;
    let Collision { kind, task, branch, files, more_files, .. } = collision;
    let mut answer = json!({
        "kind": kind.as_str(),
        "taskId": task,
        "title": title,
        "branch": branch,
        "files": files,
        "moreFiles": more_files,
    });
    leave_out(&mut answer, &["taskId", "title"]);
    answer
}

fn review_answer(note: &ReviewNote) -> Value {
    let comment = |(comment, number): (&Comment, usize)| {
        let Comment { path, part, side, line, end_line, text, quote } = comment;
        let mut answer = json!({
            "number": number,
            "path": path,
            "part": part.map(Part::as_str),
            "side": side.as_str(),
            "line": line,
            "endLine": end_line,
            "text": text,
            "quote": quote,
        });
        leave_out(&mut answer, &["path", "part"]);
        answer
    };
    let comments: Vec<Value> = note.comments.iter().zip(1..).map(comment).collect();
    json!({ "reason": note.reason, "feedback": note.feedback, "comments": comments })
}

/// Returns a message as an agent reads it.
pub(crate) fn message_answer(view: &MessageView) -> Value {
    let mut answer = serde_json::to_value(view).expect("a view is plain data");
    leave_out(&mut answer, &["data"]);
    if let Some(fields) = answer.as_object_mut() {
        fields.retain(|name, _| !["toRun", "readAt"].contains(&name.as_str()));
    }
    answer
}
