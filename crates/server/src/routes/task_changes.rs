//! Changing tasks: the five commands and the verbs beside them.

use super::Awaited as _;
use super::comment::Comment;
use crate::answer::Answer;
use crate::call::Call;
use crate::calls;
use crate::calls::tasks::NewTask;
use crate::route::Route;
use crate::waiting::Wait;
use http::{Method, StatusCode, header};
use regatta_engine::Versioned;
use regatta_engine::core::{AgentId, EpicId, PrdSlug, Priority, Problem, Revise, TaskId};
use regatta_engine::orders::{Approving, Caller, Rejecting};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::json;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/api/tasks", "addTask", "Add a task to the backlog", add).reads::<Add>(),
        Route::new(
            Method::PATCH,
            "/api/tasks/{id}",
            "editTask",
            "Change a task; what is not named stays",
            edit,
        )
        .reads::<Edit>(),
        Route::new(
            Method::DELETE,
            "/api/tasks/{id}",
            "deleteTask",
            "Delete a task that was never assigned",
            delete,
        ),
        Route::post("/api/tasks/{id}/assign", "assignTask", "Give a task to an agent, or queue it", assign)
            .reads::<Assign>()
            .awaited(),
        Route::post("/api/tasks/{id}/reassign", "reassignTask", "Give a task to another agent", reassign)
            .reads::<Reassign>()
            .awaited(),
        Route::post(
            "/api/tasks/{id}/approve",
            "approveTask",
            "Approve the diff of a task and merge it",
            approve,
        )
        .reads::<Approve>()
        .awaited(),
        Route::post("/api/tasks/{id}/reject", "rejectTask", "Send a task back to its agent", reject)
            .reads::<Reject>()
            .awaited(),
        Route::post(
            "/api/tasks/{id}/resume",
            "resumeTask",
            "Continue a task whose session broke off",
            resume,
        )
        .reads::<Resume>()
        .awaited(),
        Route::post(
            "/api/tasks/{id}/cancel",
            "cancelTask",
            "Give up the work on a task, and keep it as a salvage",
            cancel,
        )
        .reads::<Cancel>()
        .awaited(),
        Route::post(
            "/api/tasks/{id}/complete",
            "completeTask",
            "Put the work of a task up for approval",
            complete,
        )
        .awaited(),
        Route::post("/api/tasks/{id}/submit", "submitTask", "Put up what is in a task's worktree", submit)
            .awaited(),
        Route::post("/api/tasks/{id}/dequeue", "dequeueTask", "Take a task out of the queue", dequeue)
            .awaited(),
        Route::post(
            "/api/tasks/{id}/hide",
            "hideTask",
            "Take a verified task out of the list, or put it back",
            hide,
        )
        .reads::<Hide>(),
        Route::post(
            "/api/tasks/{id}/depends",
            "changeDependencies",
            "Change what a task depends on",
            depends,
        )
        .reads::<Depends>(),
        Route::post(
            "/api/tasks/{id}/criteria",
            "tickCriteria",
            "Tick or untick acceptance criteria",
            criteria,
        )
        .reads::<Criteria>(),
        Route::post(
            "/api/tasks/{id}/progress",
            "logProgress",
            "Append an entry to the progress log",
            progress,
        )
        .reads::<Progress>(),
        Route::post(
            "/api/tasks/{id}/output",
            "writeOutput",
            "Write what a task says to its dependents",
            output,
        )
        .reads::<Output>(),
        Route::new(
            Method::PUT,
            "/api/tasks/{id}/file",
            "replaceTaskFile",
            "Replace the task's file; what differs counts like an edit on the disk",
            replace_file,
        )
        .reads_markdown(),
        Route::post(
            "/api/task-files/check",
            "checkTaskFile",
            "Show how the text of a task file is understood; nothing is kept",
            check_file,
        )
        .reads_markdown(),
        Route::post(
            "/api/tasks/{id}/archive",
            "archiveTask",
            "Move older entries of the progress log to the archive",
            archive,
        ),
        Route::post(
            "/api/tasks/{id}/salvage",
            "salvageTask",
            "Put work that was set aside on a branch",
            salvage,
        )
        .reads::<Salvage>(),
    ]
}

/// A new task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Add {
    title: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    criteria: Vec<String>,
    #[serde(default)]
    dependencies: Vec<u32>,
    #[serde(default)]
    priority: Option<String>,
    #[serde(default)]
    epic_id: Option<u32>,
    #[serde(default)]
    prd: Option<String>,
}

/// What changes of a task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Edit {
    #[serde(default)]
    title: Option<String>,
    #[serde(default)]
    description: Option<String>,
    #[serde(default)]
    criteria: Option<Vec<String>>,
    #[serde(default)]
    priority: Option<String>,
    /// The epic that it belongs to; null takes it out of its epic.
    #[serde(default, deserialize_with = "given")]
    epic_id: Option<Option<u32>>,
    /// The PRD that it is made for; null takes it off its PRD.
    #[serde(default, deserialize_with = "given")]
    prd: Option<Option<String>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Assign {
    /// The agent, or `any`; by default that of the project.
    #[serde(default)]
    agent_id: Option<String>,
    /// Do it yourself: a worktree is made, and no agent is started.
    #[serde(default)]
    me: bool,
    #[serde(default)]
    priority: Option<String>,
    /// Whether it may be queued; true by default.
    #[serde(default)]
    queue: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Reassign {
    /// The agent; without one the task is yours.
    #[serde(default)]
    agent_id: Option<String>,
    /// Stop the session under way first.
    #[serde(default)]
    stop: bool,
    #[serde(default)]
    feedback: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Approve {
    #[serde(default)]
    feedback: Option<String>,
    /// The commit that was looked at; refused when the diff leads to another.
    #[serde(default)]
    head: Option<String>,
    /// Approve although the diff is not whole.
    #[serde(default)]
    anyway: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Reject {
    /// Why; may be left out if there are comments.
    #[serde(default)]
    reason: Option<String>,
    #[serde(default)]
    feedback: Option<String>,
    /// What you say of single lines; at most 200.
    #[serde(default)]
    comments: Vec<Comment>,
    /// Another agent to continue with.
    #[serde(default)]
    agent_id: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Resume {
    #[serde(default)]
    feedback: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Cancel {
    #[serde(default)]
    reason: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Hide {
    /// Whether it is hidden; true by default.
    #[serde(default)]
    hidden: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Depends {
    #[serde(default)]
    add: Vec<u32>,
    #[serde(default)]
    remove: Vec<u32>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Criteria {
    /// The numbers of those to tick, from 1.
    #[serde(default)]
    check: Vec<usize>,
    /// The numbers of those to untick.
    #[serde(default)]
    uncheck: Vec<usize>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Progress {
    did: String,
    #[serde(default)]
    issues: Option<String>,
    next: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Output {
    text: String,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Salvage {
    /// Which salvage; the newest by default.
    #[serde(default)]
    number: Option<u32>,
    /// The branch to make.
    #[serde(default)]
    branch: Option<String>,
}

/// Tells a field that is null from one that is not there.
pub(super) fn given<'de, D: Deserializer<'de>, T: Deserialize<'de>>(
    deserializer: D,
) -> Result<Option<Option<T>>, D::Error> {
    Option::<T>::deserialize(deserializer).map(Some)
}

async fn add(call: Call) -> Result<Answer, Problem> {
    let body: Add = call.body()?;
    let new = NewTask {
        title: body.title,
        description: body.description,
        criteria: body.criteria,
        dependencies: tasks("dependencies", &body.dependencies)?,
        priority: body.priority.as_deref().map(priority).transpose()?.unwrap_or_default(),
        epic: body.epic_id.map(epic).transpose()?,
        prd: body.prd.as_deref().map(prd).transpose()?,
    };
    let task = calls::tasks::create(&call.app.project, &call.caller(), new).await?;
    let answer = done(&call, task).await?;
    Ok(answer.status(StatusCode::CREATED).header(header::LOCATION, &format!("/api/tasks/{task}")))
}

async fn edit(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Edit) = (checked(&call).await?, call.body()?);
    let revise = Revise {
        title: body.title,
        description: body.description,
        criteria: body.criteria,
        priority: body.priority.as_deref().map(priority).transpose()?,
        epic: body.epic_id.map(|id| id.map(epic).transpose()).transpose()?,
        prd: body.prd.map(|slug| slug.as_deref().map(prd).transpose()).transpose()?,
    };
    calls::tasks::edit(&call.app.project, &caller, task, revise).await?;
    done(&call, task).await
}

async fn delete(call: Call) -> Result<Answer, Problem> {
    let (task, caller) = checked(&call).await?;
    calls::tasks::delete(&call.app.project, &caller, task).await?;
    let seq = calls::position(&call.app.project).await?;
    Ok(Answer::json(json!({ "id": task, "deleted": true })).seq(seq))
}

async fn assign(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Assign) = (checked(&call).await?, call.body()?);
    let project = &call.app.project;
    let priority = body.priority.as_deref().map(priority).transpose()?;
    let agent = body.agent_id.as_deref().map(agent).transpose()?;
    match (body.me, agent) {
        (true, Some(_)) => return Err(crate::answer::invalid("me", "cannot be true beside `agentId`")),
        (true, None) => calls::tasks::take(project, &caller, task, priority).await?,
        (false, agent) => {
            calls::tasks::assign(project, &caller, task, agent, priority, body.queue.unwrap_or(true)).await?;
        }
    }
    settled(&call, task).await
}

async fn reassign(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Reassign) = (checked(&call).await?, call.body()?);
    let agent = body.agent_id.as_deref().map(agent).transpose()?;
    calls::tasks::reassign(&call.app.project, &caller, task, agent, body.stop, body.feedback).await?;
    settled(&call, task).await
}

async fn approve(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Approve) = (checked(&call).await?, call.body()?);
    let approving = Approving { feedback: body.feedback, head: body.head, anyway: body.anyway };
    calls::tasks::approve(&call.app.project, &caller, task, approving).await?;
    settled(&call, task).await
}

async fn reject(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Reject) = (checked(&call).await?, call.body()?);
    let agent = body.agent_id.as_deref().map(agent).transpose()?;
    let comments = body.comments.into_iter().map(Into::into).collect();
    let rejecting = Rejecting { reason: body.reason, feedback: body.feedback, comments, agent };
    calls::tasks::reject(&call.app.project, &caller, task, rejecting).await?;
    settled(&call, task).await
}

async fn resume(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Resume) = (checked(&call).await?, call.body()?);
    calls::tasks::resume(&call.app.project, &caller, task, body.feedback).await?;
    settled(&call, task).await
}

async fn cancel(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Cancel) = (checked(&call).await?, call.body()?);
    calls::tasks::cancel(&call.app.project, &caller, task, body.reason).await?;
    settled(&call, task).await
}

async fn complete(call: Call) -> Result<Answer, Problem> {
    let (task, caller) = checked_without_body(&call).await?;
    calls::tasks::complete(&call.app.project, &caller, task).await?;
    settled(&call, task).await
}

async fn submit(call: Call) -> Result<Answer, Problem> {
    let (task, caller) = checked_without_body(&call).await?;
    calls::tasks::submit(&call.app.project, &caller, task).await?;
    settled(&call, task).await
}

async fn dequeue(call: Call) -> Result<Answer, Problem> {
    let (task, caller) = checked_without_body(&call).await?;
    calls::tasks::dequeue(&call.app.project, &caller, task).await?;
    settled(&call, task).await
}

async fn hide(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Hide) = (checked(&call).await?, call.body()?);
    calls::tasks::hide(&call.app.project, &caller, task, body.hidden.unwrap_or(true)).await?;
    done(&call, task).await
}

async fn depends(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Depends) = (checked(&call).await?, call.body()?);
    let (add, remove) = (tasks("add", &body.add)?, tasks("remove", &body.remove)?);
    calls::tasks::depend(&call.app.project, &caller, task, add, remove).await?;
    done(&call, task).await
}

async fn criteria(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Criteria) = (checked(&call).await?, call.body()?);
    let ticks = body.check.iter().map(|number| (*number, true));
    let numbers: Vec<(usize, bool)> =
        ticks.chain(body.uncheck.iter().map(|number| (*number, false))).collect();
    calls::tasks::tick(&call.app.project, &caller, task, &numbers).await?;
    done(&call, task).await
}

async fn progress(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Progress) = (checked(&call).await?, call.body()?);
    let entry = (body.did, body.issues.unwrap_or_else(|| "None".to_owned()), body.next);
    calls::tasks::log_progress(&call.app.project, &caller, task, entry).await?;
    done(&call, task).await
}

async fn output(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Output) = (checked(&call).await?, call.body()?);
    calls::tasks::write_output(&call.app.project, &caller, task, &body.text).await?;
    done(&call, task).await
}

/// Only with `If-Match`: what somebody wrote meanwhile must not be lost.
async fn replace_file(call: Call) -> Result<Answer, Problem> {
    if !call.headers.contains_key(header::IF_MATCH) {
        let problem = "must name the version of the file that you read, or be `*` to replace any";
        return Err(crate::answer::invalid("If-Match", problem));
    }
    let task = call.path("id")?;
    let caller = call.caller_about(Versioned::TaskFile(task)).await?;
    let text = calls::tasks::replace_file(&call.app.project, &caller, task, call.text()?).await?;
    let version = calls::version(&call.app.project, &Versioned::TaskFile(task)).await?;
    let seq = calls::position(&call.app.project).await?;
    Ok(Answer::text("text/markdown; charset=utf-8", text).version(version).seq(seq))
}

async fn check_file(call: Call) -> Result<Answer, Problem> {
    Ok(Answer::json(regatta_engine::understand_text(call.text()?)))
}

async fn archive(call: Call) -> Result<Answer, Problem> {
    let (task, caller) = checked_without_body(&call).await?;
    let moved = calls::tasks::archive(&call.app.project, &caller, task).await?;
    let (first, last) = moved.unzip();
    let seq = calls::position(&call.app.project).await?;
    Ok(Answer::json(json!({ "taskId": task, "first": first, "last": last })).seq(seq))
}

async fn salvage(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Salvage) = (checked(&call).await?, call.body()?);
    let branch = body.branch.as_deref();
    calls::tasks::bring_back_salvage(&call.app.project, &caller, task, body.number, branch)
        .await
        .map(Answer::json)
}

/// Reads the number of the task, and who changes it; refused if the task has moved since the client read it.
async fn checked(call: &Call) -> Result<(TaskId, Caller), Problem> {
    let task = call.path("id")?;
    Ok((task, call.caller_about(Versioned::Task(task)).await?))
}

async fn checked_without_body(call: &Call) -> Result<(TaskId, Caller), Problem> {
    call.no_body()?;
    checked(call).await
}

/// Shows a task to which nothing more happens because of the change.
async fn done(call: &Call, task: TaskId) -> Result<Answer, Problem> {
    let seq = calls::position(&call.app.project).await?;
    let view = calls::tasks::show(&call.app.project, task).await?;
    let version = calls::version(&call.app.project, &Versioned::Task(task)).await?;
    Ok(Answer::json(view).version(version).seq(seq))
}

/// Shows a task as soon as nothing more happens to it, or when the time is over.
async fn settled(call: &Call, task: TaskId) -> Result<Answer, Problem> {
    let seq = calls::position(&call.app.project).await?;
    let mut wait = Wait::begin(call).await?;
    let view = loop {
        let view = calls::tasks::show(&call.app.project, task).await?;
        if !calls::tasks::is_under_way(&view) || !wait.is_worth_another_look().await? {
            break view;
        }
    };
    let status = if calls::tasks::is_under_way(&view) { StatusCode::ACCEPTED } else { StatusCode::OK };
    let version = calls::version(&call.app.project, &Versioned::Task(task)).await?;
    Ok(Answer::json(view).version(version).seq(seq).status(status))
}

fn tasks(field: &str, numbers: &[u32]) -> Result<std::collections::BTreeSet<TaskId>, Problem> {
    let task = |number: &u32| {
        TaskId::new(*number).map_err(|error| crate::answer::invalid(field, format!("is wrong: {error}")))
    };
    numbers.iter().map(task).collect()
}

fn priority(text: &str) -> Result<Priority, Problem> {
    match text {
        "high" => Ok(Priority::High),
        "medium" => Ok(Priority::Medium),
        "low" => Ok(Priority::Low),
        _ => Err(crate::answer::invalid("priority", "must be high, medium or low")),
    }
}

fn agent(text: &str) -> Result<AgentId, Problem> {
    text.parse().map_err(|error: regatta_engine::core::Id| {
        crate::answer::invalid("agentId", format!("is wrong: {error}"))
    })
}

fn epic(number: u32) -> Result<EpicId, Problem> {
    EpicId::new(number).map_err(|error| crate::answer::invalid("epicId", format!("is wrong: {error}")))
}

pub(super) fn prd(text: &str) -> Result<PrdSlug, Problem> {
    text.parse().map_err(|error: regatta_engine::core::Id| {
        crate::answer::invalid("prd", format!("is wrong: {error}"))
    })
}
