//! Makes everything ready for a session: the task file, the commit that it starts from, and its prompt.
//!
//! The task is read after the place was free, which may take long: people edit tasks that wait.

use crate::commands::messages::{self, MessageView};
use crate::commands::{notes, orders};
use crate::core::{Failure, MessageId, Task};
use crate::error::Error;
use crate::forecast::tell;
use crate::perform::Work;
use crate::project::Project;
use crate::session::plan::{Owner, Plan};
use crate::session::prompt::{self, Share};
use crate::session::role::RoleRequest;
use crate::session::roles::read_only;
use crate::session::{owner, session_entry};
use crate::task_files;
use regatta_git::CommitId;
use std::collections::BTreeMap;

/// What a session starts with.
pub(crate) struct Ready {
    /// Its task, as it was before the session.
    pub(crate) task: Option<Task>,
    /// The commit that the session starts from, if it could be read.
    pub(crate) start: Option<CommitId>,
    /// The prompt for the agent.
    pub(crate) prompt: String,
    /// The messages to its task that are in the prompt.
    pub(crate) notes: Vec<MessageId>,
    /// The environment variables that describe its purpose.
    pub(crate) environment: Vec<(String, String)>,
    /// Values for `${name}` in scripts.
    pub(crate) variables: BTreeMap<String, String>,
}

/// Prepares a session, or says why it cannot begin.
pub(crate) async fn prepare(work: &Work, plan: &Plan<'_>) -> Result<Result<Ready, Failure>, Error> {
    let project = &work.project;
    let task = match plan.subject.task {
        Some(task) => {
            work.keep_file(task).await?;
            session_entry::archive_if_due(work, task).await?;
            Some(orders::get_task(project, task).await?)
        }
        None => None,
    };
    let start = match find_start(project, plan, task.as_ref()).await {
        Ok(start) => start,
        Err(error) => return Ok(Err(owner::explain_error(plan, error)?)),
    };
    let notes = list_notes(project, plan).await?;
    let mut told = notes.clone();
    told.extend(hand_over(project, plan).await?);
    let ahead = match &task {
        Some(task) => tell::tell(project, task).await,
        None => Vec::new(),
    };
    Ok(Ok(Ready {
        start,
        prompt: render_prompt(project, plan, task.as_ref())
            + &tell::render(&ahead)
            + &prompt::render_notes(&told),
        notes: notes.iter().map(|note| note.message_id).collect(),
        environment: environment(project, plan, task.as_ref()),
        variables: variables(plan, task.as_ref()),
        task,
    }))
}

async fn find_start(
    project: &Project,
    plan: &Plan<'_>,
    task: Option<&Task>,
) -> Result<Option<CommitId>, Error> {
    match (&plan.owner, task) {
        (Owner::RoleInTask { ask, .. }, Some(task)) if !plan.writes => {
            read_only::find_start(ask, task, plan.is_repeated).await.map(Some)
        }
        (_, Some(task)) => Ok(session_entry::find_start(project, task).await),
        (_, None) => orders::to_git(&plan.worktree.base).map(Some),
    }
}

/// Returns the messages for the prompt. They are for whoever changes the work, not for whoever judges it.
async fn list_notes(project: &Project, plan: &Plan<'_>) -> Result<Vec<MessageView>, Error> {
    match plan.subject.task {
        Some(task) if plan.writes => notes::list_for_prompt(project, task, &plan.account().session).await,
        _ => Ok(Vec::new()),
    }
}

/// Returns the unread messages for the role in its run, oldest first. They are read when its result is accepted.
async fn hand_over(project: &Project, plan: &Plan<'_>) -> Result<Vec<MessageView>, Error> {
    let Some(ask) = plan.owner.ask() else { return Ok(Vec::new()) };
    let mut unread = messages::list_for(project, std::slice::from_ref(ask.handed.inbox())).await?;
    unread.retain(|view| !view.read && messages::is_about(view, ask.run.item.as_deref()));
    unread.truncate(prompt::count_fitting(&unread));
    ask.handed.set(unread.iter().map(|view| view.message_id).collect());
    Ok(unread)
}

fn render_prompt(project: &Project, plan: &Plan<'_>, task: Option<&Task>) -> String {
    let role_prompt = |ask: &RoleRequest<'_>| ask.prompt.clone();
    let Some(task) = task else { return plan.owner.ask().map(role_prompt).unwrap_or_default() };
    let file = task_files::file_path(project, task.id);
    match &plan.owner {
        Owner::Task { resume, .. } => {
            let share = Share::of(task, &project.config().settings);
            prompt::render(task, &file, plan.subject.session, *resume, share)
        }
        Owner::RoleInTask { ask, .. } | Owner::RoleAlone { ask, .. } => {
            let protocol = if plan.writes {
                prompt::render_protocol(task, &file, Share::OfRun)
            } else {
                prompt::render_reading(&file)
            };
            role_prompt(ask) + &protocol
        }
    }
}

fn environment(project: &Project, plan: &Plan<'_>, task: Option<&Task>) -> Vec<(String, String)> {
    let mut pairs = Vec::new();
    if let Some(ask) = plan.owner.ask() {
        pairs.extend([
            ("REGATTA_RUN_ID", ask.run.id.to_string()),
            ("REGATTA_STEP", ask.run.step.to_string()),
            ("REGATTA_NODE", ask.run.node.to_string()),
            ("REGATTA_ROLE", ask.role.to_owned()),
            ("REGATTA_ITEM", ask.run.item.clone().unwrap_or_default()),
        ]);
    }
    if let Some(task) = task {
        pairs.extend([
            ("REGATTA_AGENT", plan.subject.agent.to_string()),
            ("REGATTA_TASK_ID", task.id.to_string()),
            ("REGATTA_TASK_TITLE", task.title.clone()),
            ("REGATTA_SESSION_NUMBER", plan.subject.session.to_string()),
            ("REGATTA_TASK_FILE", task_files::file_path(project, task.id).display().to_string()),
        ]);
    }
    pairs.push(("REGATTA_PROJECT", project.root().display().to_string()));
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn variables(plan: &Plan<'_>, task: Option<&Task>) -> BTreeMap<String, String> {
    let of_task = |read: fn(&Task) -> String| task.map(read).unwrap_or_default();
    let mut pairs =
        vec![("task", of_task(|task| task.id.to_string())), ("title", of_task(|task| task.title.clone()))];
    match plan.owner.ask() {
        None => pairs.extend([
            ("description", of_task(|task| task.description.clone())),
            ("session", plan.subject.session.to_string()),
        ]),
        Some(ask) => pairs.extend([
            ("run", ask.run.id.to_string()),
            ("step", ask.run.step.to_string()),
            ("node", ask.run.node.to_string()),
            ("role", ask.role.to_owned()),
            ("item", ask.run.item.clone().unwrap_or_default()),
            ("visit", plan.number.to_string()),
        ]),
    }
    pairs.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
