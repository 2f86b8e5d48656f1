//! Converts the engine's types to those of the endpoint.

use crate::commands::messages::MessageView;
use crate::core::{Code, Comment, Part, Problem, ReviewNote, Task};
use crate::error::Error;
use crate::project::Project;
use crate::session::endpoint::Subject;
use crate::task_files;
use regatta_mcp::{
    CommentAnswer, CriterionAnswer, EvidenceAnswer, Fault, MessageAnswer, Refused, ReviewAnswer, TaskAnswer,
};

/// Returns an error as an agent reads it.
pub(crate) fn fault_of(error: &Error) -> Fault {
    fault_from(&error.explain())
}

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
            let fields: Vec<serde_json::Value> = faults
                .iter()
                .map(|fault| serde_json::json!({ "field": fault.field, "problem": fault.problem }))
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
pub(crate) fn task_answer(project: &Project, subject: &Subject, task: &Task) -> TaskAnswer {
    let criteria = task.criteria.iter().zip(1..).map(|(criterion, index)| CriterionAnswer {
        index,
        text: criterion.text.clone(),
        checked: criterion.checked,
        verified: task.is_verified(criterion),
        check: criterion.check.clone(),
    });
    let evidence = task.proof.iter().flat_map(|proof| {
        proof.results.iter().map(|result| EvidenceAnswer {
            check: result.name.clone(),
            passed: result.passed,
            commit: proof.commit.to_string(),
            tail: result.tail.clone(),
        })
    });
    TaskAnswer {
        task_id: task.id.number(),
        title: task.title.clone(),
        description: task.description.clone(),
        criteria: criteria.collect(),
        evidence: evidence.collect(),
        branch: task.worktree().map(|worktree| worktree.branch.clone()),
        file: task_files::file_path(project, task.id).display().to_string(),
        session: subject.session,
        run_id: subject.run.as_ref().map(|run| run.id.number()),
        role: subject.run.as_ref().map(|run| run.role.clone()),
        progress_entries: task.memory.entries,
        next: task.memory.last.as_ref().map(|entry| entry.next.clone()),
        rejection_count: task.rejection_count,
        notes: Vec::new(),
        review: task.review_note.as_ref().map(review_answer),
    }
}

fn review_answer(note: &ReviewNote) -> ReviewAnswer {
    let comment = |comment: &Comment| CommentAnswer {
        path: comment.path.clone(),
        part: comment.part.map(Part::as_str),
        side: comment.side.as_str(),
        line: comment.line,
        end_line: comment.end_line,
        text: comment.text.clone(),
        quote: comment.quote.clone(),
    };
    ReviewAnswer {
        reason: note.reason.clone(),
        feedback: note.feedback.clone(),
        comments: note.comments.iter().map(comment).collect(),
    }
}

/// Returns a message as an agent reads it.
pub(crate) fn message_answer(view: MessageView) -> MessageAnswer {
    MessageAnswer {
        message_id: view.message_id.number(),
        from: view.from.to_string(),
        to: view.to.to_string(),
        kind: view.kind,
        subject: view.subject,
        body: view.body,
        data: view.data,
        task_id: view.task_id.map(|task| task.number()),
        run_id: view.run_id.map(|run| run.number()),
        item: view.item,
        reply_to: view.reply_to.map(|message| message.number()),
        sent_at: view.sent_at.to_string(),
        read: view.read,
    }
}
