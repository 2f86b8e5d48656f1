//! Why a command may not be carried out, and the texts that users read.

use crate::machine::{Column, CommandKind, TRANSITIONS};
use crate::session::{Measure, Scope};
use crate::{
    Actor, AgentId, Code, CommitId, EpicId, FieldFault, Lacks, PrdSlug, Problem, RunId, TaskId, document,
    find_nearest, run, task::explain_lacks,
};

/// The rules say no. Expected, and changes nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
#[allow(missing_docs, reason = "the variants are facts, and their fields say which")]
pub enum Refusal {
    InvalidTransition { task: TaskId, column: Column, command: CommandKind },
    NotLegal { task: TaskId, column: Column, verb: &'static str, why: String, next: String },
    Invalid { faults: Vec<FieldFault> },
    TaskNotFound { task: TaskId },
    TaskBlocked { task: TaskId, missing: Vec<(TaskId, Column)> },
    TaskBusy { task: TaskId, doing: &'static str },
    NothingToResume { task: TaskId, column: Column },
    NotQueued { task: TaskId, column: Column },
    NoPlace { task: TaskId, working: u32, limit: u32 },
    RunNotFound { run: RunId },
    RunInvalidTransition { run: RunId, status: run::Status, command: &'static str },
    RunAnswerBlank { run: RunId },
    RunAsksOther { run: RunId, step: u64, now: u64 },
    RunParentPaused { run: RunId, parent: RunId },
    SignalNotFound { run: RunId, signal: String, known: Vec<String> },
    SignalRefused { run: RunId, signal: String, why: Vec<String>, saw: serde_json::Value },
    FileTaken { path: String, owner: RunId },
    DependencyCycle { task: TaskId, cycle: Vec<TaskId> },
    AgentNotFound { agent: AgentId, known: Vec<AgentId> },
    AgentGone { task: TaskId, agent: AgentId, known: Vec<AgentId> },
    SessionRunning { task: TaskId },
    NothingSubmitted { task: TaskId },
    ConflictLeft { task: TaskId, files: Vec<String> },
    OffBranch { task: TaskId, branch: String },
    AgentAlreadyRunning { agent: AgentId, tasks: Vec<TaskId>, instances: u32 },
    TaskNoDiff { task: TaskId },
    ApproverNotAllowed { task: TaskId, approver: Actor, members: Vec<String> },
    ApprovalStale { task: TaskId, reviewed: CommitId, current: Option<String> },
    ApprovalBaseGone { task: TaskId, base: CommitId, target: String },
    NotWhole { task: TaskId, lacks: Lacks, by_policy: bool },
    WorktreeDirty { task: TaskId, files: Vec<String> },
    Forbidden { what: String, why: String },
    EpicNotFound { epic: EpicId },
    PrdNotFound { prd: PrdSlug, known: Vec<PrdSlug> },
    PrdExists { prd: PrdSlug },
    AnswererNotAllowed { name: String, actor: Actor },
    QuestionNotFound { name: String, open: Vec<String> },
    BudgetExceeded { scope: Scope, measure: Measure, limit: u64, spent: u64, held: u64 },
}

impl Refusal {
    /// Returns its code.
    pub fn code(&self) -> Code {
        self.explain().code
    }

    /// Returns what, why and what next.
    pub fn explain(&self) -> Problem {
        match self {
            Refusal::InvalidTransition { task, column, command } => {
                invalid_transition(*task, *column, *command)
            }
            Refusal::NotLegal { task, column, verb, why, next } => Problem::new(
                Code::TaskInvalidTransition,
                format!("`{verb}` was refused for task #{task}"),
                why,
                next,
            )
            .with("taskId", task.number())
            .with("column", column.as_str())
            .with("command", *verb),
            Refusal::AgentGone { task, agent, known } => agent_gone(*task, agent, known),
            Refusal::SessionRunning { task } => Problem::new(
                Code::TaskBusy,
                format!("task #{task} is busy"),
                "its session is running",
                format!("wait for it, or stop it first: `regatta task reassign {task} --stop …`"),
            )
            .with("taskId", task.number()),
            Refusal::NothingSubmitted { task } => Problem::new(
                Code::TaskNoDiff,
                format!("task #{task} was not submitted"),
                "its branch has no change to review; the diff that waits for approval stays",
                format!(
                    "change something in its worktree and `regatta task submit {task}`, or `regatta task cancel {task}`"
                ),
            )
            .with("taskId", task.number()),
            Refusal::ConflictLeft { task, files } => Problem::new(
                Code::WorktreeMergeConflict,
                format!("task #{task} was not submitted"),
                format!("conflict markers are left in {}", files.join(", ")),
                format!("resolve them in its worktree (`regatta task open {task}`), then `regatta task submit {task}`"),
            )
            .with("taskId", task.number())
            .with("files", files.clone()),
            Refusal::OffBranch { task, branch } => Problem::new(
                Code::WorktreeDirty,
                format!("task #{task} was not submitted"),
                format!("its worktree is not on branch {branch}; perhaps a rebase is not finished"),
                format!(
                    "finish it, or check out {branch} in the worktree (`regatta task open {task}`), then \
                     `regatta task submit {task}`"
                ),
            )
            .with("taskId", task.number()),
            Refusal::Invalid { faults } => invalid(faults),
            Refusal::TaskNotFound { task } => Problem::new(
                Code::TaskNotFound,
                format!("there is no task #{task}"),
                "no task with that number was created in this project",
                "see the tasks with `regatta task list`",
            )
            .with("taskId", task.number()),
            Refusal::RunNotFound { run } => Problem::new(
                Code::RunNotFound,
                format!("there is no run {run}"),
                "no run with that number was started in this project",
                "see the runs with `regatta run list`",
            )
            .with("runId", run.number()),
            Refusal::RunInvalidTransition { run, status, command } => Problem::new(
                Code::RunInvalidTransition,
                format!("run {run} cannot {command}"),
                format!("it is {status}"),
                format!("see what it waits for with `regatta run show {run}`"),
            )
            .with("runId", run.number()),
            Refusal::RunAnswerBlank { run } => answer_blank(*run),
            Refusal::SignalNotFound { run, signal, known } => signal_not_found(*run, signal, known),
            Refusal::SignalRefused { run, signal, why, saw } => {
                let what = format!("signal `{signal}` was refused by run {run}");
                let next = format!("see what it takes now with `regatta run show {run}`; nothing was done");
                Problem { why: why.clone(), ..Problem::new(Code::SignalRefused, what, "", next) }
                    .with("runId", run.number())
                    .with("signal", signal.as_str())
                    .with("saw", saw.clone())
            }
            Refusal::FileTaken { path, owner } => Problem::new(
                Code::FileTaken,
                "the run was not started",
                format!("run {owner} is under way and writes `{path}`, which this run would write too"),
                format!("wait for it, end it with `regatta run stop {owner}`, or use input that gives the files other paths"),
            )
            .with("path", path.as_str())
            .with("runId", owner.number()),
            Refusal::RunAsksOther { run, step, now } => asks_other(*run, *step, *now),
            Refusal::RunParentPaused { run, parent } => Problem::new(
                Code::RunInvalidTransition,
                format!("run {run} was not resumed"),
                format!("run {parent}, which waits for it, is paused"),
                format!("`regatta run resume {parent}` continues it and the runs below it"),
            )
            .with("runId", run.number())
            .with("parentId", parent.number()),
            Refusal::TaskBlocked { task, missing } => blocked(*task, missing),
            Refusal::NoPlace { task, working, limit } => Problem::new(
                Code::ConcurrencyLimitExceeded,
                format!("task #{task} was not assigned"),
                format!("{working} of {limit} agents are running"),
                "assign it without `--no-queue`, or raise `max_concurrent_agents` in .regatta/config.toml",
            )
            .with("taskId", task.number())
            .with("working", *working)
            .with("limit", *limit),
            Refusal::NotQueued { task, column } => Problem::new(
                Code::TaskInvalidTransition,
                format!("task #{task} was not removed from the queue"),
                format!("it is in {column} and not in the queue"),
                format!("see `regatta task show {task}`; `regatta task list` shows what is queued"),
            )
            .with("taskId", task.number())
            .with("column", column.as_str()),
            Refusal::NothingToResume { task, column } => Problem::new(
                Code::TaskInvalidTransition,
                format!("task #{task} was not resumed"),
                format!("it is in {column}, and only tasks in progress can be resumed"),
                format!("see `regatta task show {task}`"),
            )
            .with("taskId", task.number()),
            Refusal::TaskBusy { task, doing } => Problem::new(
                Code::TaskBusy,
                format!("task #{task} is busy"),
                *doing,
                format!(
                    "wait for it (`regatta events --follow`, `regatta task show {task}`), then try again"
                ),
            )
            .with("taskId", task.number()),
            Refusal::DependencyCycle { task, cycle } => cycle_closed(*task, cycle),
            Refusal::AgentNotFound { agent, known } => agent_not_found(agent, known),
            Refusal::AgentAlreadyRunning { agent, tasks, instances } => {
                already_running(agent, tasks, *instances)
            }
            Refusal::AnswererNotAllowed { name, actor } => Problem::new(
                Code::ApproverNotAllowed,
                format!("the question `{name}` was not answered"),
                format!("{actor} may not grant permission"),
                "a person must answer; see `regatta agent questions`",
            ),
            Refusal::QuestionNotFound { name, open } => Problem::new(
                Code::QuestionNotFound,
                format!("there is no question `{name}`"),
                if open.is_empty() {
                    "no agent waits for an answer".to_owned()
                } else {
                    format!("agents wait for answers to {}", open.join(", "))
                },
                "see `regatta agent questions`",
            ),
            Refusal::BudgetExceeded { scope, measure, limit, spent, held } => {
                over_budget(*scope, *measure, *limit, (*spent, *held))
            }
            Refusal::TaskNoDiff { task } => no_diff(*task),
            Refusal::ApproverNotAllowed { task, approver, members } => not_allowed(*task, approver, members),
            Refusal::ApprovalStale { task, reviewed, current } => stale(*task, reviewed, current.as_deref()),
            Refusal::ApprovalBaseGone { task, base, target } => explain_base_gone(*task, base, target),
            Refusal::NotWhole { task, lacks, by_policy } => explain_lacks(*task, lacks, *by_policy),
            Refusal::WorktreeDirty { task, files } => dirty(*task, files),
            Refusal::Forbidden { what, why } => Problem::new(
                Code::Forbidden,
                what,
                why,
                "continue without it, or tell a person what you need with `regatta messages send`",
            ),
            Refusal::EpicNotFound { epic } => document::explain_no_epic(*epic),
            Refusal::PrdNotFound { prd, known } => document::explain_no_prd(prd, known),
            Refusal::PrdExists { prd } => document::explain_taken(prd),
        }
    }
}

fn invalid_transition(task: TaskId, column: Column, command: CommandKind) -> Problem {
    let legal: Vec<&str> =
        TRANSITIONS.iter().filter(|row| row.from == column).map(|row| row.command.as_str()).collect();
    let next = if legal.is_empty() {
        format!("nothing: {column} is final; add a new task with `regatta task add`")
    } else {
        format!("legal in {column}: {}; see `regatta task show {task}`", legal.join(", "))
    };
    Problem::new(
        Code::TaskInvalidTransition,
        format!("{command} was refused for task #{task}"),
        format!("the task is in {column}, where {command} is not legal"),
        next,
    )
    .with("taskId", task.number())
    .with("column", column.as_str())
    .with("command", command.as_str())
    .with("legal", legal)
}

fn invalid(faults: &[FieldFault]) -> Problem {
    let sentences: Vec<String> =
        faults.iter().map(|fault| format!("`{}` {}", fault.field, fault.problem)).collect();
    let fields: Vec<serde_json::Value> = faults
        .iter()
        .map(|fault| serde_json::json!({"field": fault.field, "problem": fault.problem}))
        .collect();
    Problem::new(
        Code::ValidationError,
        "the command is invalid",
        sentences.join("; "),
        "correct the fields named above and try again; nothing was done",
    )
    .with("fields", fields)
}

fn answer_blank(run: RunId) -> Problem {
    let fields = serde_json::json!([{"field": "text", "problem": "must say something"}]);
    Problem::new(
        Code::ValidationError,
        format!("run {run} was not answered"),
        "the answer is blank",
        format!("see the question with `regatta run show {run}`, then `regatta run answer {run} \"…\"`"),
    )
    .with("runId", run.number())
    .with("fields", fields)
}

fn asks_other(run: RunId, step: u64, now: u64) -> Problem {
    Problem::new(
        Code::RunInvalidTransition,
        format!("run {run} was not answered"),
        format!("the answer was for step {step}, but the run now asks something else at step {now}"),
        format!("see the question with `regatta run show {run}`, then `regatta run answer {run} \"…\"`"),
    )
    .with("runId", run.number())
}

fn blocked(task: TaskId, missing: &[(TaskId, Column)]) -> Problem {
    let named: Vec<String> = missing.iter().map(|(id, column)| format!("#{id} ({column})")).collect();
    let ids: Vec<u32> = missing.iter().map(|(id, _)| id.number()).collect();
    Problem::new(
        Code::TaskBlocked,
        format!("task #{task} was not assigned"),
        format!("it depends on tasks that are not verified: {}", named.join(", ")),
        format!("finish those first, or drop the dependency with `regatta task depends {task} --remove ID`"),
    )
    .with("taskId", task.number())
    .with("missing", ids)
}

fn cycle_closed(task: TaskId, cycle: &[TaskId]) -> Problem {
    let drawn: Vec<String> = cycle.iter().map(|id| format!("#{id}")).collect();
    let ids: Vec<u32> = cycle.iter().map(|id| id.number()).collect();
    Problem::new(
        Code::DependencyCycle,
        format!("the dependency of task #{task} was not added"),
        format!("it would close a cycle: {}", drawn.join(" -> ")),
        "remove one of these dependencies first with `regatta task depends ID --remove ID`",
    )
    .with("taskId", task.number())
    .with("cycle", ids)
}

fn signal_not_found(run: RunId, signal: &str, known: &[String]) -> Problem {
    /// Those that every run has, as verbs of their own.
    const COMMANDS: [&str; 3] = ["pause", "resume", "stop"];
    let names = || known.iter().map(String::as_str);
    let next = if COMMANDS.contains(&signal) {
        format!("use `regatta run {signal} {run}`")
    } else if known.is_empty() {
        "its workflow has none; `regatta run pause`, `resume` and `stop` work for every run".to_owned()
    } else {
        let guess = find_nearest(signal, names());
        let guess = guess.map_or_else(String::new, |name| format!("did you mean `{name}`? "));
        format!("{guess}choose one of: {}", known.join(", "))
    };
    let what = format!("run {run} knows no signal `{signal}`");
    let why = format!("its workflow has no `[signals.{signal}]`");
    Problem::new(Code::SignalNotFound, what, why, next)
        .with("runId", run.number())
        .with("signal", signal)
        .with("known", names().collect::<Vec<_>>())
}

fn agent_not_found(agent: &AgentId, known: &[AgentId]) -> Problem {
    let names: Vec<&str> = known.iter().map(AgentId::as_str).collect();
    let next = if names.is_empty() {
        "add an `[agents.NAME]` entry to .regatta/config.toml".to_owned()
    } else {
        let guess = find_nearest(agent.as_str(), names.iter().copied());
        let guess = guess.map_or_else(String::new, |name| format!("did you mean `{name}`? "));
        format!(
            "{guess}choose one of: {}; or add `[agents.{agent}]` to .regatta/config.toml",
            names.join(", ")
        )
    };
    let why = format!("the config has no `[agents.{agent}]` entry");
    Problem::new(Code::AgentNotFound, format!("there is no agent `{agent}`"), why, next)
        .with("agentId", agent.as_str())
        .with("known", names)
}

fn agent_gone(task: TaskId, agent: &AgentId, known: &[AgentId]) -> Problem {
    let names: Vec<&str> = known.iter().map(AgentId::as_str).collect();
    Problem::new(
        Code::AgentNotFound,
        format!("task #{task} was not sent back"),
        format!("the config has no `[agents.{agent}]` entry"),
        format!(
            "send it to another agent: `regatta task reject {task} --agent NAME --reason \"…\"`, with one of: {}",
            names.join(", ")
        ),
    )
    .with("taskId", task.number())
    .with("agentId", agent.as_str())
    .with("known", names)
}

fn already_running(agent: &AgentId, tasks: &[TaskId], instances: u32) -> Problem {
    let named: Vec<String> = tasks.iter().map(|id| format!("#{id}")).collect();
    let ids: Vec<u32> = tasks.iter().map(|id| id.number()).collect();
    let (what, entry) = if agent.is_any() {
        ("every agent is busy".to_owned(), "an agent".to_owned())
    } else {
        (format!("agent `{agent}` is busy"), format!("`[agents.{agent}]`"))
    };
    Problem::new(
        Code::AgentAlreadyRunning,
        what,
        format!("{} of {instances} instances are running: {}", tasks.len(), named.join(", ")),
        format!(
            "assign it without `--no-queue`, use another agent (`regatta agent list`), or raise `instances` of {entry}"
        ),
    )
    .with("agentId", agent.as_str())
    .with("tasks", ids)
}

fn over_budget(scope: Scope, measure: Measure, limit: u64, (spent, held): (u64, u64)) -> Problem {
    let mut why = format!("{} of {} are spent", measure.show(spent), measure.show(limit));
    if held > 0 {
        why.push_str(&format!(", and {} are reserved for running sessions", measure.show(held)));
    }
    Problem::new(
        Code::BudgetExceeded,
        format!("the budget of {scope} is used up"),
        why,
        format!(
            "raise `{measure}` in `[budget.{}]` of .regatta/config.toml, then resume the work",
            scope.name()
        ),
    )
    .with("scope", scope.name())
    .with("measure", measure.name())
    .with("limit", measure.value(limit))
    .with("spent", measure.value(spent))
    .with("held", measure.value(held))
}

fn no_diff(task: TaskId) -> Problem {
    Problem::new(
        Code::TaskNoDiff,
        format!("task #{task} was not completed"),
        "its branch has no change to review; it stays in in_progress",
        format!("change something in its worktree and `regatta task complete {task}`, or `regatta task cancel {task}`"),
    )
    .with("taskId", task.number())
}

fn not_allowed(task: TaskId, approver: &Actor, members: &[String]) -> Problem {
    let why = match approver {
        Actor::Agent(agent) => format!("`{agent}` is an agent, and an agent never approves"),
        Actor::Policy(_) => "the config does not say `approval = \"auto\"`".to_owned(),
        Actor::Engine => "the engine carries out decisions and cannot approve".to_owned(),
        Actor::Unknown => "the approver is unknown".to_owned(),
        Actor::User(name) => format!("`{name}` is not among the project's members"),
    };
    let next = if members.is_empty() {
        "let a person approve".to_owned()
    } else {
        format!(
            "let a member approve ({}), or add a name to `members` in .regatta/config.toml",
            members.join(", ")
        )
    };
    Problem::new(Code::ApproverNotAllowed, format!("task #{task} was not approved"), why, next)
        .with("taskId", task.number())
        .with("approver", approver.to_string())
}

fn stale(task: TaskId, reviewed: &CommitId, current: Option<&str>) -> Problem {
    let now = current.unwrap_or("gone");
    Problem::new(
        Code::ApprovalStale,
        format!("task #{task} was not merged"),
        format!("the diff under review ends at {}, but what you approve is {now}", reviewed.short()),
        format!(
            "submit the current work with `regatta task submit {task}`, review it with `regatta task diff \
             {task}`, then approve it"
        ),
    )
    .with("taskId", task.number())
    .with("reviewed", reviewed.as_str())
    .with("current", current)
}

/// Says why a diff is not merged whose base the target has lost: a merge would bring that back too.
pub fn explain_base_gone(task: TaskId, base: &CommitId, target: &str) -> Problem {
    Problem::new(
        Code::ApprovalStale,
        format!("task #{task} was not merged"),
        format!(
            "{target} was reset: it no longer holds {}, where the diff starts, so more would be merged than the diff shows",
            base.short()
        ),
        format!(
            "`regatta task submit {task}` submits everything that would be merged now; or restore {target}, \
             or `regatta task cancel {task}` (the work is kept as a salvage)"
        ),
    )
    .with("taskId", task.number())
    .with("base", base.as_str())
    .with("target", target)
}

fn dirty(task: TaskId, files: &[String]) -> Problem {
    /// More names than this do not help a reader.
    const NAMES_MAX: usize = 5;
    let mut named = files.iter().take(NAMES_MAX).cloned().collect::<Vec<_>>().join(", ");
    if files.len() > NAMES_MAX {
        named.push_str(", …");
    }
    let count = if files.len() == 1 {
        "1 file in its worktree is".to_owned()
    } else {
        format!("{} files in its worktree are", files.len())
    };
    Problem::new(
        Code::WorktreeDirty,
        format!("task #{task} was not merged"),
        format!("{count} not committed: {named}"),
        format!(
            "`regatta task submit {task}` commits them and submits the new diff; `regatta task reject {task} \
             --reason \"…\"` leaves them to the agent; `regatta task cancel {task}` keeps them as a salvage"
        ),
    )
    .with("taskId", task.number())
    .with("files", files.to_vec())
}
