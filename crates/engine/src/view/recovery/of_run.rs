//! The ways out of the error of a run.

use super::action::{ActionView, nothing};
use super::{RecoveryView, cause_of, texts};
use crate::core::run::Status;
use crate::core::{Code, Failure, WaitsFor};
use crate::view::run::RunView;
use serde_json::json;

/// Returns the error that a run rests in or ended with, with the ways out; nothing while it continues by itself.
pub fn recover_run(run: &RunView) -> Option<RecoveryView> {
    let error = run.error.as_ref()?;
    let (id, is_over) = (run.id, run.status == Status::Failed);
    if !is_over && run.waits_for != WaitsFor::You {
        return None;
    }
    let at_task =
        error.details.get("taskId").and_then(|task| task.as_u64()).filter(|_| run.phase == "landing");
    let resume = || {
        ActionView::new(
            "retry",
            (
                "Try this step again",
                format!("`{}` is performed again; what it did before is kept.", run.node),
            ),
            "Try again",
            format!("regatta run resume {id}"),
        )
        .posts(format!("/api/runs/{id}/resume"), nothing())
    };
    let mut actions = Vec::new();
    if let Some(task) = at_task {
        let texts = (format!("See to task #{task}"), "The run continues when the task does.");
        let show = ActionView::new("review", texts, "Open the task", format!("regatta task show {task}"));
        actions.push(show.shows(format!("/tasks/{task}")));
    } else if !is_over {
        if error.code == Code::BudgetExceeded {
            let (path, command) = (format!("/api/runs/{id}/resume"), format!("regatta run resume {id}"));
            actions.extend(raise(error, &path, &command));
        }
        if error.code != Code::TaskCancelled {
            actions.push(resume());
        }
    }
    // Without a step it is the last one that was not the end.
    let (from, at, body) = match is_over {
        true => ("its last step".to_owned(), String::new(), nothing()),
        false => {
            let step = run.step.max(1);
            (format!("step {step}"), format!(" --at {step}"), json!({ "at": step }))
        }
    };
    let texts_of_fork = (
        format!("Start a new run from {from}"),
        "It begins with the state of that step. This run stays as it is.".to_owned(),
    );
    actions.push(
        ActionView::new("fork", texts_of_fork, "Fork the run", format!("regatta run fork {id}{at}"))
            .posts(format!("/api/runs/{id}/fork"), body),
    );
    if !is_over {
        actions.push(
            ActionView::new(
                "stop",
                ("End the run", "Its tasks keep their work, and wait for you."),
                "Stop the run",
                format!("regatta run stop {id}"),
            )
            .posts(format!("/api/runs/{id}/stop"), nothing()),
        );
    }
    Some(RecoveryView {
        code: error.code,
        headline: headline(run, error, is_over),
        cause: cause_of(error),
        safe: "Every step so far is in the log, and the work of its tasks is kept on their branches."
            .to_owned(),
        files: texts(error, "files"),
        output: error.details.get("tail").and_then(|tail| tail.as_str()).map(str::to_owned),
        actions,
    })
}

fn headline(run: &RunView, error: &Failure, is_over: bool) -> String {
    let (id, node) = (run.id, &run.node);
    match error.code {
        Code::BudgetExceeded => format!("Run {id} has used up its budget"),
        Code::MaxIterationsExceeded => match error.details.get("edge").and_then(|edge| edge.as_str()) {
            Some(edge) => format!("Run {id} gave up: {edge} is used up"),
            None => format!("Run {id} gave up: a step was repeated too often"),
        },
        Code::RunStopped => format!("Run {id} was stopped"),
        Code::RunStalled => format!("Run {id} stands still: no edge leads on from {node}"),
        Code::EdgeEvaluationFailed => format!("Run {id} stands still: an expression after {node} failed"),
        Code::AgentOutputInvalid => format!("Run {id} stands still: {node} gave an answer that does not fit"),
        Code::TaskCancelled => format!("Run {id} stands still: its task was cancelled"),
        _ if is_over => format!("Run {id} failed at {node}"),
        _ => format!("Run {id} stands still at {node}"),
    }
}

/// Offers to raise the limit of an account to twice its height, and to continue.
pub(super) fn raise(error: &Failure, then: &str, command: &str) -> Option<ActionView> {
    let text = |name: &str| error.details.get(name).and_then(|value| value.as_str());
    let (scope, measure) = (text("scope")?, text("measure")?);
    let limit = error.details.get("limit")?.as_f64()?;
    let raised = limit * 2.0;
    let shown = match measure {
        "cost" => format!("${raised:.2}"),
        _ => format!("{raised}"),
    };
    let texts = (
        format!("Raise the limit to {shown}"),
        format!("`{measure}` in `[budget.{scope}]` of the config is doubled, and the work continues."),
    );
    let body = json!({ "scope": scope, "measure": measure, "limit": raised });
    let action = ActionView::new("raise", texts, "Raise it", command.to_owned());
    Some(action.posts("/api/limits".to_owned(), body).then(then))
}
