//! Changing tasks: the five commands and the verbs beside them.

use super::Awaited as _;
use super::comment::Comment;
use super::tasks::show_text;
use crate::answer::Answer;
use crate::call::Call;
use crate::route::Route;
use crate::waiting::{Wait, is_moving};
use http::{Method, StatusCode, header};
use regatta_engine::core::{
    AgentId, Assignee, Create, Depend, EpicId, PrdSlug, Priority, Problem, Revise, TaskId,
};
use regatta_engine::orders::{self, Approving, Caller, Rejecting};
use regatta_engine::{BranchName, Versioned, bring_back, edits, show_task};
use schemars::JsonSchema;
use serde::{Deserialize, Deserializer};
use serde_json::json;
use std::collections::BTreeSet;

pub(super) fn routes() -> Vec<Route> {
    vec![
        Route::post("/api/tasks", "addTask", "Add a task to the backlog", add).reads::<Add>().creates(),
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
    #[schemars(with = "Vec<u32>")]
    dependencies: BTreeSet<TaskId>,
    #[schemars(with = "Option<String>")]
    priority: Option<Priority>,
    #[schemars(with = "Option<u32>")]
    epic_id: Option<EpicId>,
    #[schemars(with = "Option<String>")]
    prd: Option<PrdSlug>,
}

/// What changes of a task.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Edit {
    title: Option<String>,
    description: Option<String>,
    criteria: Option<Vec<String>>,
    #[schemars(with = "Option<String>")]
    priority: Option<Priority>,
    /// The epic that it belongs to; null takes it out of its epic.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<u32>")]
    epic_id: Option<Option<EpicId>>,
    /// The PRD that it is made for; null takes it off its PRD.
    #[serde(default, deserialize_with = "given")]
    #[schemars(with = "Option<String>")]
    prd: Option<Option<PrdSlug>>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Assign {
    /// The agent, or `any`; by default that of the project.
    #[schemars(with = "Option<String>")]
    agent_id: Option<AgentId>,
    /// Do it yourself: a worktree is made, and no agent is started.
    #[serde(default)]
    me: bool,
    #[schemars(with = "Option<String>")]
    priority: Option<Priority>,
    /// Whether it may be queued; true by default.
    queue: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Reassign {
    /// The agent; without one the task is yours.
    #[schemars(with = "Option<String>")]
    agent_id: Option<AgentId>,
    /// Stop the session under way first.
    #[serde(default)]
    stop: bool,
    feedback: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Approve {
    feedback: Option<String>,
    /// The commit that was looked at; refused when the diff leads to another.
    head: Option<String>,
    /// Approve although the diff is not whole.
    #[serde(default)]
    anyway: bool,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Reject {
    /// Why; may be left out if there are comments.
    reason: Option<String>,
    feedback: Option<String>,
    /// What you say of single lines; at most 200.
    #[serde(default)]
    comments: Vec<Comment>,
    /// Another agent to continue with.
    #[schemars(with = "Option<String>")]
    agent_id: Option<AgentId>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Resume {
    feedback: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Cancel {
    reason: Option<String>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Hide {
    /// Whether it is hidden; true by default.
    hidden: Option<bool>,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Depends {
    #[serde(default)]
    #[schemars(with = "Vec<u32>")]
    add: BTreeSet<TaskId>,
    #[serde(default)]
    #[schemars(with = "Vec<u32>")]
    remove: BTreeSet<TaskId>,
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
    number: Option<u32>,
    /// The branch to make.
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
    let Add { title, description, criteria, dependencies, priority, epic_id, prd } = body;
    let create = Create::new(title, description, criteria, dependencies, priority.unwrap_or_default());
    let create = create.map_err(orders::invalid)?.filed_under(epic_id, prd);
    let task = orders::create(call.project(), &call.caller(), create).await?;
    let answer = done(&call, task).await?;
    Ok(answer.status(StatusCode::CREATED).header(header::LOCATION, &format!("/api/tasks/{task}")))
}

async fn edit(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Edit) = (checked(&call).await?, call.body()?);
    let Edit { title, description, criteria, priority, epic_id: epic, prd } = body;
    let revise = Revise { title, description, criteria, priority, epic, prd };
    orders::edit(call.project(), &caller, task, revise).await?;
    done(&call, task).await
}

async fn delete(call: Call) -> Result<Answer, Problem> {
    let (task, caller) = checked(&call).await?;
    orders::delete(call.project(), &caller, task).await?;
    let seq = call.position().await?;
    Ok(Answer::json(json!({ "id": task, "deleted": true })).seq(seq))
}

async fn assign(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Assign) = (checked(&call).await?, call.body()?);
    let Assign { agent_id, me, priority, queue } = body;
    match (me, agent_id) {
        (true, Some(_)) => return Err(crate::answer::invalid("me", "cannot be true beside `agentId`")),
        (true, None) => orders::take(call.project(), &caller, task, priority).await?,
        (false, agent) => {
            let (to, may_queue) = (agent.map_or(Assignee::Default, Assignee::from), queue.unwrap_or(true));
            orders::assign(call.project(), &caller, task, to, priority, may_queue).await?
        }
    };
    settled(&call, task).await
}

async fn reassign(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Reassign) = (checked(&call).await?, call.body()?);
    orders::reassign(call.project(), &caller, task, body.agent_id, body.stop, body.feedback).await?;
    settled(&call, task).await
}

async fn approve(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Approve) = (checked(&call).await?, call.body()?);
    let approving = Approving { feedback: body.feedback, head: body.head, anyway: body.anyway };
    orders::approve(call.project(), &caller, task, approving).await?;
    settled(&call, task).await
}

async fn reject(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Reject) = (checked(&call).await?, call.body()?);
    let Reject { reason, feedback, comments, agent_id: agent } = body;
    let comments = comments.into_iter().map(Into::into).collect();
    let rejecting = Rejecting { reason, feedback, comments, agent };
    orders::reject_with(call.project(), &caller, task, rejecting).await?;
    settled(&call, task).await
}

async fn resume(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Resume) = (checked(&call).await?, call.body()?);
    orders::resume(call.project(), &caller, task, body.feedback).await?;
    settled(&call, task).await
}

async fn cancel(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Cancel) = (checked(&call).await?, call.body()?);
    orders::cancel(call.project(), &caller, task, body.reason).await?;
    settled(&call, task).await
}

async fn complete(call: Call) -> Result<Answer, Problem> {
    let (task, caller) = checked_without_body(&call).await?;
    orders::complete(call.project(), &caller, task).await?;
    settled(&call, task).await
}

async fn submit(call: Call) -> Result<Answer, Problem> {
    let (task, caller) = checked_without_body(&call).await?;
    orders::submit(call.project(), &caller, task).await?;
    settled(&call, task).await
}

async fn dequeue(call: Call) -> Result<Answer, Problem> {
    let (task, caller) = checked_without_body(&call).await?;
    orders::dequeue(call.project(), &caller, task).await?;
    settled(&call, task).await
}

async fn hide(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Hide) = (checked(&call).await?, call.body()?);
    orders::hide(call.project(), &caller, task, body.hidden.unwrap_or(true)).await?;
    done(&call, task).await
}

async fn depends(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Depends) = (checked(&call).await?, call.body()?);
    let depend = Depend { add: body.add, remove: body.remove };
    orders::depend(call.project(), &caller, task, depend).await?;
    done(&call, task).await
}

async fn criteria(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Criteria) = (checked(&call).await?, call.body()?);
    let ticks = body.check.iter().map(|number| (*number, true));
    let numbers: Vec<(usize, bool)> =
        ticks.chain(body.uncheck.iter().map(|number| (*number, false))).collect();
    edits::tick(call.project(), &caller, task, &numbers).await?;
    done(&call, task).await
}

async fn progress(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Progress) = (checked(&call).await?, call.body()?);
    let issues = body.issues.unwrap_or_else(|| "None".to_owned());
    let entry = edits::Progress { did: body.did, issues, next: body.next };
    edits::log_progress(call.project(), &caller, task, &entry).await?;
    done(&call, task).await
}

async fn output(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Output) = (checked(&call).await?, call.body()?);
    edits::write_output(call.project(), &caller, task, &body.text).await?;
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
    let file = edits::replace(call.project(), &caller, task, call.text()?).await?;
    Ok(show_text(&call, task, file.text()).await?.seq(call.position().await?))
}

async fn check_file(call: Call) -> Result<Answer, Problem> {
    Ok(Answer::json(regatta_engine::understand_text(call.text()?)))
}

async fn archive(call: Call) -> Result<Answer, Problem> {
    let (task, caller) = checked_without_body(&call).await?;
    let (first, last) = edits::archive(call.project(), &caller, task).await?.unzip();
    let seq = call.position().await?;
    Ok(Answer::json(json!({ "taskId": task, "first": first, "last": last })).seq(seq))
}

async fn salvage(call: Call) -> Result<Answer, Problem> {
    let ((task, caller), body): (_, Salvage) = (checked(&call).await?, call.body()?);
    let branch = body.branch.as_deref().map(BranchName::parse).transpose();
    let branch = branch.map_err(|error| crate::answer::invalid("branch", format!("is wrong: {error}")))?;
    Ok(Answer::json(bring_back(call.project(), &caller, task, body.number, branch).await?))
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
    let seq = call.position().await?;
    let view = show_task(call.project(), task).await?;
    Ok(call.show(&Versioned::Task(task), view).await?.seq(seq))
}

/// Shows a task as soon as nothing more happens to it, or when the time is over.
async fn settled(call: &Call, task: TaskId) -> Result<Answer, Problem> {
    let seq = call.position().await?;
    let mut wait = Wait::begin(call).await?;
    let view = loop {
        let view = show_task(call.project(), task).await?;
        if !is_moving(view.waits_for) || !wait.is_worth_another_look().await? {
            break view;
        }
    };
    let status = if is_moving(view.waits_for) { StatusCode::ACCEPTED } else { StatusCode::OK };
    Ok(call.show(&Versioned::Task(task), view).await?.seq(seq).status(status))
}
