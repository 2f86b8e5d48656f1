//! The ways out of the error of a task.

use super::action::{ActionView, nothing};
use super::{Means, RecoveryView, cause_of, count, short_path, texts};
use crate::core::machine::Column;
use crate::core::{Code, Evidence, Failure, WaitsFor};
use crate::view::task::TaskView;
use serde_json::{Map, json};

/// How much of what a check printed an agent is sent.
const OUTPUT_CHARACTERS_MAX: usize = 3_000;

/// Returns the error that a task rests in, with the ways out; nothing while it continues by itself.
pub fn recover_task(task: &TaskView, means: &Means) -> Option<RecoveryView> {
    if task.waits_for != WaitsFor::You || matches!(task.phase, "asking" | "unattended") {
        return None;
    }
    if let Some(error) = &task.error {
        return Some(recover_from(task, error, means));
    }
    let failed = task.checks.iter().find(|check| !check.passed);
    failed.filter(|_| task.column == Column::WaitingApproval).map(|check| of_checks(task, check, means))
}

/// Returns the ways out of an error of a task: its own, or that of a command that was refused.
pub fn recover_from(task: &TaskView, error: &Failure, means: &Means) -> RecoveryView {
    let of = Of { task, means };
    let id = task.id;
    let (headline, safe, files, actions) = match (error.code, task.column) {
        (Code::WorktreeMergeConflict, Column::WaitingApproval) => of.conflict(error),
        (Code::CheckoutInTheWay, _) => of.checkout(error),
        (Code::WorktreeDirty, Column::WaitingApproval) => (
            format!("#{id} has changes that nobody reviewed"),
            "Nothing was merged, and nothing of it is lost.".to_owned(),
            texts(error, "files"),
            vec![
                of.submit(
                    "Commit and review them",
                    "They become part of the change, and the checks run again.",
                ),
                of.open("Look at them yourself"),
                of.send_back("Send it back", "has changes after it was submitted", None),
            ],
        ),
        (Code::ApprovalStale, _) => (
            format!("The branch of #{id} moved while you were reading"),
            "Nothing was merged. What you viewed stays marked.".to_owned(),
            Vec::new(),
            vec![of.review(
                "See what is new",
                "Only the changes since you looked are new to you.",
                "Show what is new",
            )],
        ),
        (Code::ChecksFailed, Column::WaitingApproval) => (
            format!("The checks of #{id} did not run to their end"),
            "The change waits for you as it is; nothing was merged.".to_owned(),
            Vec::new(),
            vec![
                of.checks_again(),
                of.review(
                    "Decide without them",
                    "You see the change, and that no check covers it.",
                    "Review",
                ),
            ],
        ),
        (_, Column::Backlog) => of.not_begun(error),
        (_, Column::WaitingApproval) => (
            format!("#{id} was not merged"),
            "Nothing was changed: the target branch and the worktree are as before.".to_owned(),
            texts(error, "files"),
            vec![
                of.approve_again(),
                of.review("Look at the change again", "Nothing is merged.", "Review"),
                of.cancel(),
            ],
        ),
        (_, Column::Verified) => (
            format!("#{id} is merged, but its worktree was not removed"),
            "The merge is complete; only the folder is left.".to_owned(),
            Vec::new(),
            vec![ActionView::new(
                "retry",
                ("Remove it again", "What is not merged in it is kept as a salvage first."),
                "Copy the command",
                "regatta doctor --fix".to_owned(),
            )],
        ),
        (_, Column::InProgress) => of.halted(error),
    };
    let output = error.details.get("tail").and_then(|tail| tail.as_str()).map(str::to_owned);
    let cause = match (error.code, &task.branch, &task.target) {
        (Code::WorktreeMergeConflict, Some(branch), Some(target)) => {
            format!("Since {branch} began, {target} changed the same lines.")
        }
        _ => cause_of(error),
    };
    RecoveryView { code: error.code, headline, cause, safe, files, output, actions }
}

type Parts = (String, String, Vec<String>, Vec<ActionView>);

fn of_checks(task: &TaskView, failed: &Evidence, means: &Means) -> RecoveryView {
    let of = Of { task, means };
    let names: Vec<&str> =
        task.checks.iter().filter(|check| !check.passed).map(|check| check.name.as_str()).collect();
    let last = failed.tail.lines().rev().find(|line| !line.trim().is_empty());
    let exit = failed.exit.map_or_else(|| "was ended".to_owned(), |exit| format!("ended with exit {exit}"));
    let cause = last.map_or_else(
        || format!("`{}` {exit}.", failed.name),
        |line| format!("`{}` {exit}: {line}", failed.name),
    );
    let tail: String = {
        let skip = failed.tail.chars().count().saturating_sub(OUTPUT_CHARACTERS_MAX);
        failed.tail.chars().skip(skip).collect()
    };
    let feedback = format!("This is what `{}` printed last:\n\n{tail}", failed.name);
    RecoveryView {
        code: Code::ChecksFailed,
        headline: format!(
            "#{} fails {}: {}",
            task.id,
            count(names.len(), "check", "checks"),
            names.join(", ")
        ),
        cause,
        safe: "Nothing was merged. The work is kept on its branch.".to_owned(),
        files: Vec::new(),
        output: Some(failed.tail.clone()).filter(|tail| !tail.trim().is_empty()),
        actions: vec![
            of.send_back(
                "Send it back with the output",
                &format!("fails the check `{}`", failed.name),
                Some(feedback),
            ),
            of.checks_again(),
            of.review("Review it all the same", "You decide with the failed check in view.", "Review"),
        ],
    }
}

struct Of<'a> {
    task: &'a TaskView,
    means: &'a Means,
}

impl Of<'_> {
    fn conflict(&self, error: &Failure) -> Parts {
        let (id, files) = (self.task.id, texts(error, "files"));
        let target = self.task.target.as_deref().unwrap_or("the target branch");
        let agent = self.agent();
        let how_many = count(files.len(), "file", "files");
        let reason = format!("it conflicts with {target}");
        let feedback =
            format!("Merge {target} into your branch and resolve the conflicts in: {}", files.join(", "));
        let mut actions = Vec::new();
        if self.task.agent_id.is_some() {
            actions.push(self.reject(
                "sendBack",
                (
                    format!("Let {agent} resolve it"),
                    format!(
                        "It merges {target} into its branch and resolves {how_many}. You review the result."
                    ),
                ),
                format!("Send back to {agent}"),
                (&reason, Some(feedback.clone())),
            ));
        }
        let others = self.others();
        if !others.is_empty() {
            let also =
                ("Let another agent resolve it".to_owned(), format!("Same work, by {}.", join_or(&others)));
            let action =
                self.reject("otherAgent", also, "Choose agent".to_owned(), (&reason, Some(feedback)));
            actions.push(action.choosing("agentId", others));
        }
        actions.push(self.open("Resolve it yourself"));
        actions.push(self.submit("Submit what you resolved", "The new change waits for your approval."));
        actions.push(self.cancel());
        (
            format!("#{id} was not merged: it conflicts with {target} in {how_many}"),
            format!("Nothing was changed: {target}, your checkout and the worktree are as before."),
            files,
            actions,
        )
    }

    fn checkout(&self, error: &Failure) -> Parts {
        let id = self.task.id;
        let checkouts = error.details.get("checkouts").and_then(|value| value.as_array());
        let mut files: Vec<String> = Vec::new();
        for checkout in checkouts.into_iter().flatten() {
            let named = checkout.get("files").and_then(|value| value.as_array());
            files.extend(named.into_iter().flatten().filter_map(|file| file.as_str().map(str::to_owned)));
        }
        files.extend(texts(error, "files"));
        files.dedup();
        (
            format!("#{id} was not merged: your own edits are in the way"),
            "Nothing was changed: your edits, the target branch and the worktree are as before.".to_owned(),
            files,
            vec![
                self.approve_again(),
                self.review("Look at the change again", "Nothing is merged.", "Review"),
                self.cancel(),
            ],
        )
    }

    fn not_begun(&self, error: &Failure) -> Parts {
        let (id, agent) = (self.task.id, self.agent());
        let headline = match error.code {
            Code::WorktreeCreationFailed => format!("No worktree for #{id}"),
            Code::AgentNotFound => format!("#{id} was not started: its agent is no longer set up"),
            _ => format!("#{id} was not started"),
        };
        let body = self.task.queued.as_ref().map(|queued| &queued.agent_id).or(self.task.agent_id.as_ref());
        let body = body.map_or_else(nothing, |agent| json!({ "agentId": agent }));
        let mut actions = Vec::new();
        if error.code != Code::AgentNotFound {
            actions.push(
                ActionView::new(
                    "retry",
                    ("Try again", "A worktree is created, and the agent is started."),
                    "Try again",
                    format!("regatta task assign {id} --agent {agent}"),
                )
                .posts(self.path("assign"), body),
            );
        }
        let all = self.means.agents.clone();
        if !all.is_empty() {
            actions.push(
                ActionView::new(
                    "otherAgent",
                    ("Choose an agent", format!("The task is given to {}.", join_or(&all))),
                    "Choose agent",
                    format!("regatta task assign {id} --agent NAME"),
                )
                .posts(self.path("assign"), nothing())
                .choosing("agentId", all),
            );
        }
        if self.task.queue_position.is_some() {
            actions.push(
                ActionView::new(
                    "cancel",
                    ("Take it out of the queue", "It stays in the backlog and starts nothing."),
                    "Take it out",
                    format!("regatta task dequeue {id}"),
                )
                .posts(self.path("dequeue"), nothing()),
            );
        }
        (headline, "Nothing was changed, and the task is in the backlog.".to_owned(), Vec::new(), actions)
    }

    fn halted(&self, error: &Failure) -> Parts {
        let (id, agent, others) = (self.task.id, self.agent(), self.others());
        let headline = match error.code {
            Code::TaskNoDiff => format!("{agent} finished #{id} without a change"),
            Code::BudgetExceeded => format!("#{id} has used up its budget"),
            Code::MaxIterationsExceeded => format!("The run gave #{id} up: it was sent back too often"),
            Code::TaskNotSubmitted => format!("The run of #{id} ended before it was submitted"),
            Code::AgentNotFound => format!("#{id} stands still: {agent} is no longer set up"),
            Code::AgentStartFailed => format!("{agent} could not be started for #{id}"),
            Code::AgentStopFailed => format!("{agent} could not be stopped"),
            Code::RateLimited => format!("{agent} is limited by its provider"),
            Code::WorktreeMissing => format!("The worktree of #{id} is gone"),
            _ => format!("The session of #{id} broke off"),
        };
        let mut actions = Vec::new();
        if error.code == Code::BudgetExceeded {
            actions.extend(self.raise(error));
        }
        if error.code == Code::TaskNoDiff {
            let consequence = format!("{agent} starts another session in the same worktree.");
            actions.push(self.resume(
                "sendBack",
                format!("Send it back to {agent}"),
                consequence,
                "Send back",
            ));
        } else if error.code != Code::AgentNotFound {
            let consequence = format!("{agent} continues where it stopped, in the same worktree.");
            actions.push(self.resume("retry", "Try again".to_owned(), consequence, "Try again"));
        }
        if !others.is_empty() {
            actions.push(
                ActionView::new(
                    "otherAgent",
                    ("Let another agent continue", format!("Same worktree, by {}.", join_or(&others))),
                    "Choose agent",
                    format!("regatta task reassign {id} --agent NAME"),
                )
                .posts(self.path("reassign"), nothing())
                .choosing("agentId", others),
            );
        }
        if error.code != Code::TaskNoDiff {
            let consequence = "What is not committed is committed, the checks run, and you review it.";
            actions.push(self.submit("Review what is there", consequence));
        }
        actions.push(self.open("Look at it yourself"));
        actions.push(self.cancel());
        (headline, "The work is kept in its worktree and on its branch.".to_owned(), Vec::new(), actions)
    }

    /// Offers to double the limit that stopped the task.
    fn raise(&self, error: &Failure) -> Option<ActionView> {
        super::of_run::raise(error, &self.path("resume"), &format!("regatta task resume {}", self.task.id))
    }

    fn resume(&self, action: &'static str, title: String, consequence: String, button: &str) -> ActionView {
        let command = format!("regatta task resume {}", self.task.id);
        ActionView::new(action, (title, consequence), button, command).posts(self.path("resume"), nothing())
    }

    fn submit(&self, title: &str, consequence: &str) -> ActionView {
        let command = format!("regatta task submit {}", self.task.id);
        ActionView::new("submit", (title, consequence), "Submit for review", command)
            .posts(self.path("submit"), nothing())
    }

    fn checks_again(&self) -> ActionView {
        let consequence = "The same change is submitted again, and every check runs.";
        ActionView { button: "Run again".to_owned(), ..self.submit("Run the checks again", consequence) }
    }

    fn send_back(&self, title: &str, reason: &str, feedback: Option<String>) -> ActionView {
        let agent = self.agent();
        let consequence = format!("{agent} starts another session with what is wrong in its prompt.");
        let reason = format!("it {reason}");
        self.reject(
            "sendBack",
            (title.to_owned(), consequence),
            format!("Send back to {agent}"),
            (&reason, feedback),
        )
    }

    fn reject(
        &self,
        action: &'static str,
        texts: (String, String),
        button: String,
        (reason, feedback): (&str, Option<String>),
    ) -> ActionView {
        let agent = if action == "otherAgent" { " --agent NAME" } else { "" };
        let command = format!("regatta task reject {} --reason \"{reason}\"{agent}", self.task.id);
        let mut body = Map::from_iter([("reason".to_owned(), json!(reason))]);
        body.extend(feedback.map(|feedback| ("feedback".to_owned(), json!(feedback))));
        ActionView::new(action, texts, button, command).posts(self.path("reject"), body.into())
    }

    fn approve_again(&self) -> ActionView {
        let id = self.task.id;
        let body =
            self.task.diff.as_ref().map_or_else(nothing, |diff| json!({ "head": diff.head, "anyway": true }));
        let texts = ("Try again", "The same commit is merged, if nothing is in the way any more.");
        ActionView::new("retry", texts, "Try again", format!("regatta task approve {id}"))
            .posts(self.path("approve"), body)
    }

    fn review(&self, title: &str, consequence: &str, button: &str) -> ActionView {
        let id = self.task.id;
        ActionView::new("review", (title, consequence), button, format!("regatta task diff {id}"))
            .shows(format!("/tasks/{id}/review"))
    }

    fn open(&self, title: &str) -> ActionView {
        let id = self.task.id;
        let place = self.task.worktree.as_deref().map_or_else(|| "the worktree".to_owned(), short_path);
        let consequence = format!("In {place}. Submit it when you are done.");
        let open = |button: &str| {
            ActionView::new("open", (title, consequence.clone()), button, format!("regatta task open {id}"))
        };
        if self.means.has_editor {
            open("Open the worktree").posts(self.path("open"), nothing())
        } else {
            open("Copy the command")
        }
    }

    fn cancel(&self) -> ActionView {
        let id = self.task.id;
        let texts =
            ("Start over", "The task goes back to the backlog. The work is kept and can be brought back.");
        ActionView::new("cancel", texts, "Cancel task", format!("regatta task cancel {id}"))
            .posts(self.path("cancel"), nothing())
    }

    fn path(&self, verb: &str) -> String {
        format!("/api/tasks/{}/{verb}", self.task.id)
    }

    fn agent(&self) -> String {
        self.task.agent_id.clone().unwrap_or_else(|| "the agent".to_owned())
    }

    fn others(&self) -> Vec<String> {
        let own = self.task.agent_id.as_deref();
        self.means.agents.iter().filter(|agent| Some(agent.as_str()) != own).cloned().collect()
    }
}

fn join_or(names: &[String]) -> String {
    match names {
        [] => String::new(),
        [one] => one.clone(),
        [first @ .., last] => format!("{} or {last}", first.join(", ")),
    }
}
