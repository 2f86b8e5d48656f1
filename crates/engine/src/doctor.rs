//! Finds where the log and the world disagree, and repairs what can be repaired safely.
//!
//! This file finds, `repair` repairs.

mod repair;

pub use repair::repair;

use crate::commands::accounts;
use crate::commands::orders;
use crate::core::document::{self, Catalogue, Epic, Prd};
use crate::core::message::Inbox;
use crate::core::session::{Scope, Subject};
use crate::core::{
    AgentId, Cleanup, Fact, Failure, RunId, Stage, Task, TaskId, Unsound, replay_catalogue, replay_epic,
    replay_inbox, replay_prd, replay_task,
};
use crate::error::Error;
use crate::log;
use crate::log::list;
use crate::log::{NO_SNAPSHOT, SNAPSHOT_FORMAT};
use crate::project::Project;
use crate::project::config::{AgentEntry, Program};
use crate::project::old_place;
use crate::project::reach;
use crate::project::readiness;
use crate::run_files;
use crate::runs;
use crate::runtime::engine;
use crate::session::sandbox::{self, SandboxStatus};
use crate::task_files;
use crate::worktree::salvage::find_what_is_left;
use crate::worktree::worktree_place;
use regatta_git::BranchName;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

/// No git call of ours takes this long; an older lock file that no process has open is abandoned.
const LOCK_AGE_MIN: Duration = Duration::from_secs(600);

/// Something that is inconsistent.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Finding {
    /// What kind of thing.
    pub kind: Kind,
    /// What was found.
    pub what: String,
    /// Whether `--fix` can repair it.
    pub can_fix: bool,
    /// What to do about it.
    pub next: String,
    /// Whether it has been repaired.
    pub fixed: bool,
    /// Whether it is only worth knowing and needs no action.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_advice: bool,
    #[serde(skip)]
    fix: Option<Fix>,
}

/// What kind of thing is inconsistent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// A worktree that belongs to no task.
    OrphanWorktree,
    /// A task's branch that belongs to no task.
    OrphanBranch,
    /// A task whose worktree is gone.
    MissingWorktree,
    /// A merged task whose worktree could not be removed.
    UncleanWorktree,
    /// A process of a session that no engine watches.
    LeftoverProcess,
    /// A session that is open on its accounts although no engine will run it.
    LostSession,
    /// A lock file that no process holds.
    StaleLock,
    /// A version of a task file that a killed process left beside it.
    LeftoverFile,
    /// A folder that stood where a worktree belongs, and was moved beside it.
    LeftoverFolder,
    /// A task file that belongs to no task of the project.
    ForeignFile,
    /// A file of a run whose newest value could not be written.
    RunFile,
    /// An edit of a run's file that was not taken in and is kept beside it.
    KeptEdit,
    /// A folder of state files that is a link, or no folder.
    StateFolder,
    /// Effects that wait for an engine.
    UnfinishedEffects,
    /// A log that is inconsistent.
    UnsoundLog,
    /// A stored list that differs from what the log yields.
    StrangeList,
    /// Agents that run without a sandbox, or do not run because there is none.
    NoSandbox,
    /// A log in the place where an earlier version kept it.
    OldLog,
    /// An agent whose login renews itself while a copy of it is in use.
    RotatingLogin,
    /// An agent that lacks a program, a variable or a login.
    AgentNotReady,
    /// A git filter or merge driver that does nothing, because the config does not allow it.
    ProgramLeftOut,
}

impl Finding {
    fn new(kind: Kind, what: impl Into<String>, next: impl Into<String>) -> Self {
        let (what, next) = (what.into(), next.into());
        Finding { kind, what, next, can_fix: false, fixed: false, is_advice: false, fix: None }
    }

    fn advice(kind: Kind, what: impl Into<String>, next: impl Into<String>) -> Self {
        Finding { is_advice: true, ..Finding::new(kind, what, next) }
    }

    fn fixable(
        kind: Kind,
        what: impl Into<String>,
        next: impl Into<String>,
        fix: impl Into<Option<Fix>>,
    ) -> Self {
        let fix = fix.into();
        Finding { can_fix: fix.is_some(), fix, ..Finding::new(kind, what, next) }
    }
}

#[derive(Debug, Clone)]
enum Fix {
    Remove { branch: BranchName, place: PathBuf, task: Option<TaskId> },
    Report { task: TaskId, branch: BranchName, place: PathBuf },
    EndProcess { session: regatta_agents::SessionId },
    Close { subject: Box<Subject> },
    DeleteFile { path: PathBuf },
    TakeIn { path: PathBuf, task: Option<TaskId> },
    BuildList,
}

/// Looks at everything and changes nothing.
pub async fn examine(project: &Project) -> Result<Vec<Finding>, Error> {
    let tasks = load_tasks(project).await?;
    let mut findings = check_log(project).await?;
    findings.extend(check_list(project).await?);
    findings.extend(check_worktrees(project, &tasks).await?);
    findings.extend(check_branches(project, &tasks).await?);
    findings.extend(check_tasks(project, &tasks).await?);
    if engine::find_running(project).await?.is_none() {
        findings.extend(check_processes(project));
        findings.extend(check_sessions(project).await?);
        if task_files::check_folder(project).is_ok() {
            findings.extend(check_left_overs(project, &tasks)?);
        }
        findings.extend(check_intents(project).await?);
    }
    findings.extend(check_left_folders(project)?);
    findings.extend(check_state_folder(project));
    findings.extend(check_run_files(project).await?);
    findings.extend(check_foreign_files(project, &tasks));
    findings.extend(check_locks(project).await?);
    findings.extend(check_old_logs(project).await?);
    findings.extend(check_sandbox(project).await);
    findings.extend(check_agents(project));
    findings.extend(check_programs(project).await?);
    findings.extend(check_logins(project).await);
    Ok(findings)
}

async fn load_tasks(project: &Project) -> Result<BTreeMap<TaskId, Task>, Error> {
    let mut tasks = BTreeMap::new();
    for loaded in project.store().load_prefix("task/", SNAPSHOT_FORMAT).await? {
        if let Some(task) = log::Stream::<Option<Task>>::from_loaded(loaded)?.state {
            tasks.insert(task.id, task);
        }
    }
    Ok(tasks)
}

/// Replays everything from its first event, and compares with the state that is used.
async fn check_log(project: &Project) -> Result<Vec<Finding>, Error> {
    project.store().verify().await?;
    let mut findings = check_streams::<Option<Task>>(project, "task/", |facts| replay_task(facts)).await?;
    findings.extend(check_streams::<Option<Epic>>(project, "epic/", |facts| replay_epic(facts)).await?);
    findings.extend(check_streams::<Option<Prd>>(project, "prd/", |facts| replay_prd(facts)).await?);
    findings.extend(check_streams::<Inbox>(project, log::INBOXES, |facts| replay_inbox(facts)).await?);
    let catalogue = log::catalogue_stream();
    let replay = |facts: &[Fact<document::Event>]| replay_catalogue(facts);
    findings.extend(check_streams::<Catalogue>(project, catalogue.as_str(), replay).await?);
    Ok(findings)
}

/// Replays every task, and compares with the list that is shown.
async fn check_list(project: &Project) -> Result<Option<Finding>, Error> {
    /// More names do not help: they are all of the same kind.
    const NAMED_MAX: usize = 5;
    let strange = list::find_strange(project).await?;
    if strange.is_empty() {
        return Ok(None);
    }
    let mut names: Vec<String> = strange.iter().take(NAMED_MAX).map(|task| format!("#{task}")).collect();
    if strange.len() > NAMED_MAX {
        names.push(format!("{} more", strange.len() - NAMED_MAX));
    }
    Ok(Some(Finding::fixable(
        Kind::StrangeList,
        format!("the stored list of tasks differs from the log: {}", names.join(", ")),
        "`regatta doctor --fix` rebuilds it from the log",
        Fix::BuildList,
    )))
}

async fn check_streams<S: log::State + Default + PartialEq>(
    project: &Project,
    prefix: &str,
    replay: impl Fn(&[Fact<S::Event>]) -> Result<S, Unsound>,
) -> Result<Vec<Finding>, Error> {
    let mut used = BTreeMap::new();
    for loaded in project.store().load_prefix(prefix, SNAPSHOT_FORMAT).await? {
        let folded = log::Stream::<S>::from_loaded(loaded)?;
        used.insert(folded.stream, (folded.version, folded.state));
    }
    let mut findings = Vec::new();
    for loaded in project.store().load_prefix(prefix, NO_SNAPSHOT).await? {
        let facts = loaded.tail.iter().map(log::fact_of).collect::<Result<Vec<_>, _>>()?;
        // A stream that moved between the two reads is compared next time.
        let state_used = used.get(&loaded.stream).filter(|(version, _)| *version == loaded.version);
        let what = match replay(&facts) {
            Err(unsound) => {
                let seq = loaded.tail.get(unsound.index).map_or(0, |row| row.seq.0);
                format!("stream {}: event {seq}: {unsound}", loaded.stream)
            }
            Ok(state) if state_used.is_some_and(|(_, used)| *used != state) => {
                format!("stream {}: its snapshot differs from its events", loaded.stream)
            }
            Ok(_) => continue,
        };
        let next = "back up the log (`.git/regatta`) and report this as a bug".to_owned();
        findings.push(Finding::new(Kind::UnsoundLog, what, next));
    }
    Ok(findings)
}

async fn check_worktrees(project: &Project, tasks: &BTreeMap<TaskId, Task>) -> Result<Vec<Finding>, Error> {
    let folder = project.place(&project.config().worktrees);
    let owned: Vec<PathBuf> = tasks.values().filter_map(|task| place_of(project, task)).collect();
    let mut findings = Vec::new();
    let worktrees = project.repository().list_worktrees().await?;
    // Read after them: a run whose step has a worktree has had an open intent since before that.
    let runs = find_runs_at_work(project).await?;
    for entry in worktrees {
        let run = entry.branch.as_ref().and_then(run_of_branch);
        let is_owned = owned.contains(&entry.path) || run.is_some_and(|run| runs.contains(&run));
        if !entry.path.starts_with(&folder) || is_owned {
            continue;
        }
        let task = entry.branch.as_ref().and_then(task_of_branch);
        let fix = entry.branch.clone().map(|branch| Fix::Remove { branch, place: entry.path.clone(), task });
        findings.push(Finding::fixable(
            Kind::OrphanWorktree,
            format!("the worktree {} belongs to no task", entry.path.display()),
            "`regatta doctor --fix` salvages and removes it",
            fix,
        ));
    }
    Ok(findings)
}

/// Returns the runs that an engine works on, or the next one continues.
async fn find_runs_at_work(project: &Project) -> Result<BTreeSet<RunId>, Error> {
    let intents = project.store().open_intents().await?;
    Ok(intents.iter().filter_map(|intent| log::find_run(&intent.lane)).collect())
}

async fn check_branches(project: &Project, tasks: &BTreeMap<TaskId, Task>) -> Result<Vec<Finding>, Error> {
    let worktrees = project.repository().list_worktrees().await?;
    let mut findings = Vec::new();
    for (branch, _) in project.repository().list_branches("task/").await? {
        let Some(id) = task_of_branch(&branch) else { continue };
        // A branch of a task that never had a worktree is the user's own.
        let Some(task) = tasks.get(&id).filter(|task| task.sessions > 0) else { continue };
        let is_owned = place_of(project, task).is_some();
        let is_checked_out = worktrees.iter().any(|entry| entry.branch.as_ref() == Some(&branch));
        if is_owned || is_checked_out {
            continue;
        }
        let place = project.place(&project.config().worktrees).join(format!("task-{id}"));
        findings.push(Finding::fixable(
            Kind::OrphanBranch,
            format!("the branch {branch} belongs to no task in progress"),
            "`regatta doctor --fix` salvages and removes it",
            Fix::Remove { branch, place, task: Some(id) },
        ));
    }
    Ok(findings)
}

async fn check_tasks(project: &Project, tasks: &BTreeMap<TaskId, Task>) -> Result<Vec<Finding>, Error> {
    let mut findings = Vec::new();
    for task in tasks.values() {
        let Some(worktree) = task.worktree() else { continue };
        let place = project.place(&worktree.path);
        let id = task.id;
        let (kind, what, next, fix) = match &task.stage {
            Stage::Verified(landed) if landed.cleanup == Cleanup::Failed => {
                let branch = BranchName::parse(&worktree.branch).map_err(regatta_git::Error::from)?;
                let what =
                    format!("task #{id} is merged, but its worktree {} is not removed", place.display());
                let next = "`regatta doctor --fix` tries again".to_owned();
                (Kind::UncleanWorktree, what, next, Some(Fix::Report { task: id, branch, place }))
            }
            Stage::InProgress(_) | Stage::WaitingApproval(_) if !task.is_settling() && !place.exists() => {
                let what = format!("the worktree {} of task #{id} is gone", place.display());
                let kept = find_what_is_left(project, task, worktree).await?;
                (Kind::MissingWorktree, what, format!("`regatta task cancel {id}`; {kept}"), None)
            }
            _ => continue,
        };
        findings.push(Finding::fixable(kind, what, next, fix));
    }
    Ok(findings)
}

/// Lists the files of runs that do not hold their newest values; the runs themselves are not affected.
async fn check_run_files(project: &Project) -> Result<Vec<Finding>, Error> {
    let finding = |(_, _, failure): (RunId, String, Failure)| {
        Finding::new(Kind::RunFile, format!("{}: {}", failure.code, failure.message), failure.hint)
    };
    let mut findings: Vec<Finding> = run_files::find_errors(project).into_iter().map(finding).collect();
    let kept = run_files::find_kept(project).await?;
    findings.extend(kept.into_iter().map(|kept| {
        let what = format!("{}: {}", kept.error.code, kept.error.message);
        Finding::advice(Kind::KeptEdit, what, kept.error.hint)
    }));
    Ok(findings)
}

fn check_agents(project: &Project) -> Vec<Finding> {
    let agents = project.config().agents.iter();
    let lacking = agents.map(|(id, entry)| (id, readiness::find_missing(project, entry)));
    let finding = |(id, missing): (&AgentId, Vec<String>)| {
        Finding::advice(
            Kind::AgentNotReady,
            format!("agent `{id}` is not ready: {}", missing.join("; ")),
            format!(
                "install or set what is missing, or change `[agents.{id}]`; test it with `regatta agent try {id}`"
            ),
        )
    };
    lacking.filter(|(_, missing)| !missing.is_empty()).map(finding).collect()
}

fn check_processes(project: &Project) -> Vec<Finding> {
    let leftover = |leftover: regatta_agents::Leftover| {
        Finding::fixable(
            Kind::LeftoverProcess,
            format!("process {} of session {} runs without an engine", leftover.pid, leftover.session),
            "`regatta doctor --fix` ends it",
            Fix::EndProcess { session: leftover.session },
        )
    };
    regatta_agents::find_leftovers(project.mark()).into_iter().map(leftover).collect()
}

/// What is set aside for such a session is not available to any other.
async fn check_sessions(project: &Project) -> Result<Vec<Finding>, Error> {
    let open = accounts::list_open(project, Scope::Project).await?;
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let intents = project.store().open_intents().await?;
    let lanes: BTreeSet<&str> = intents.iter().map(|intent| intent.lane.as_str()).collect();
    let finding = |subject: Subject| {
        Finding::fixable(
            Kind::LostSession,
            format!("session {} is still charged to its accounts, but nothing will run it", subject.session),
            "`regatta doctor --fix` releases what is reserved for it",
            Fix::Close { subject: Box::new(subject) },
        )
    };
    let is_lost = |subject: &Subject| !lanes.contains(log::lane_of(subject).as_str());
    Ok(open.into_iter().filter(is_lost).map(finding).collect())
}

fn check_left_overs(project: &Project, tasks: &BTreeMap<TaskId, Task>) -> Result<Vec<Finding>, Error> {
    let finding = |left_over: task_files::LeftOver| {
        let task = left_over.task.filter(|task| tasks.contains_key(task));
        let path = left_over.path;
        let (owner, next) = match task {
            Some(task) => (format!("the file of task #{task}"), "takes in what the log does not know of it"),
            None => ("a task file that cannot be told".to_owned(), "keeps it under a name that shows"),
        };
        Finding::fixable(
            Kind::LeftoverFile,
            format!("{} was left behind beside {owner}", path.display()),
            format!("`regatta doctor --fix` {next}"),
            Fix::TakeIn { path, task },
        )
    };
    Ok(task_files::find_left_overs(project)?.into_iter().map(finding).collect())
}

/// Lists the task files that belong to no task; `regatta up` names them when it starts.
pub async fn find_foreign_files(project: &Project) -> Result<Vec<PathBuf>, Error> {
    let plan = orders::load_plan(project).await?.state;
    Ok(task_files::find_foreign(project, |task| plan.contains(task)))
}

fn check_state_folder(project: &Project) -> Option<Finding> {
    let problem = task_files::check_folder(project).err()?.explain();
    Some(Finding::new(
        Kind::StateFolder,
        format!("{}: {}", problem.what, problem.why.join(": ")),
        problem.next,
    ))
}

fn check_foreign_files(project: &Project, tasks: &BTreeMap<TaskId, Task>) -> Vec<Finding> {
    let finding = |path: PathBuf| {
        Finding::advice(
            Kind::ForeignFile,
            format!("{} belongs to no task of this project", path.display()),
            "it is ignored; move it to the project that it belongs to, or delete it",
        )
    };
    task_files::find_foreign(project, |task| tasks.contains_key(&task)).into_iter().map(finding).collect()
}

fn check_left_folders(project: &Project) -> Result<Vec<Finding>, Error> {
    let finding = |path: PathBuf| {
        Finding::advice(
            Kind::LeftoverFolder,
            format!(
                "{} was in the way of a worktree and was moved aside; it is in no branch",
                path.display()
            ),
            "check whether you need anything in it, then delete it",
        )
    };
    Ok(worktree_place::find_left(project)?.into_iter().map(finding).collect())
}

async fn check_intents(project: &Project) -> Result<Vec<Finding>, Error> {
    let mut open = Vec::new();
    for intent in project.store().open_intents().await? {
        if !runs::awaits_person(project, &intent).await? {
            open.push(intent);
        }
    }
    if open.is_empty() {
        return Ok(Vec::new());
    }
    let kinds: Vec<String> = open.iter().map(|intent| format!("{} ({})", intent.kind, intent.lane)).collect();
    Ok(vec![Finding::new(
        Kind::UnfinishedEffects,
        format!("unfinished and waiting for an engine: {}", kinds.join(", ")),
        "start one with `regatta up`; it finishes them",
    )])
}

async fn check_locks(project: &Project) -> Result<Vec<Finding>, Error> {
    let locks = project.repository().stale_locks(LOCK_AGE_MIN).await?;
    let finding = |path: PathBuf| {
        Finding::fixable(
            Kind::StaleLock,
            format!("the lock file {} is held by no process", path.display()),
            "`regatta doctor --fix` deletes it",
            Fix::DeleteFile { path },
        )
    };
    Ok(locks.into_iter().map(finding).collect())
}

/// Looks for logs that an earlier version kept in a worktree, and that are not this project's.
async fn check_old_logs(project: &Project) -> Result<Vec<Finding>, Error> {
    let mut roots = vec![project.root().to_owned()];
    roots.extend(project.repository().list_worktrees().await?.into_iter().map(|entry| entry.path));
    roots.dedup();
    let finding = |path: PathBuf| {
        Finding::advice(
            Kind::OldLog,
            format!("{} is a log of an earlier version, not this project's", path.display()),
            "nothing reads it; move it away, or open it with the version that wrote it",
        )
    };
    let old = roots.iter().map(|root| old_place::old_log(root)).filter(|path| path.is_file());
    Ok(old.map(finding).collect())
}

/// Checks whether agents run in a sandbox as the config asks; scripts need none.
async fn check_sandbox(project: &Project) -> Option<Finding> {
    let is_program = |entry: &AgentEntry| !matches!(entry.program, Program::Scripted { .. });
    if !project.config().agents.values().any(is_program) {
        return None;
    }
    let (what, next, is_advice) = match sandbox::find_standing(project).await {
        SandboxStatus::Without { why, next: Some(next) } => {
            (format!("agents run without a sandbox: {why}"), next, true)
        }
        SandboxStatus::Refused { why, next } => (format!("agents are not started: {why}"), next, false),
        SandboxStatus::Inside { .. } | SandboxStatus::Without { next: None, .. } => return None,
    };
    let kind = Kind::NoSandbox;
    Some(Finding { is_advice, ..Finding::new(kind, what, next) })
}

/// Advises against logins that rotate while a copy of them is in use.
async fn check_logins(project: &Project) -> Vec<Finding> {
    let mut findings = Vec::new();
    let is_inside = matches!(sandbox::find_standing(project).await, SandboxStatus::Inside { .. });
    let is_copied = |entry: &AgentEntry| is_inside || entry.program.is_always_private();
    for (id, entry) in project.config().agents.iter().filter(|(_, entry)| is_copied(entry)) {
        let Some(login) = reach::look_at_login(entry).filter(|login| login.is_rotating) else { continue };
        let what = format!(
            "agent `{id}` shares your login, which is renewed every few hours: two programs that renew it at the \
                 same time can sign each other out"
        );
        let next = format!("use one that lasts: {}", login.long_lived);
        findings.push(Finding::advice(Kind::RotatingLogin, what, next));
    }
    findings
}

async fn check_programs(project: &Project) -> Result<Vec<Finding>, Error> {
    let finding = |name: String| {
        let (kind, key) = match name.split_once('.') {
            Some(("merge", _)) => ("merge driver", "merge_drivers"),
            _ => ("filter", "filters"),
        };
        let short = name.split_once('.').map_or(name.as_str(), |(_, short)| short);
        Finding::advice(
            Kind::ProgramLeftOut,
            format!("the git {kind} `{short}` in .git/config is not run"),
            format!(
                "if it is yours and you need it, add \"{short}\" to `[worktree] {key}` in .regatta/config.toml"
            ),
        )
    };
    Ok(project.repository().programs_left_out().await?.into_iter().map(finding).collect())
}

/// Returns the worktree that a task should own.
fn place_of(project: &Project, task: &Task) -> Option<PathBuf> {
    match &task.stage {
        Stage::Backlog => None,
        Stage::Verified(landed) if landed.cleanup == Cleanup::Done => None,
        _ => task.worktree().map(|worktree| project.place(&worktree.path)),
    }
}

/// Reads the run of a role's own worktree, `run/ID-STEP`.
fn run_of_branch(branch: &BranchName) -> Option<RunId> {
    branch.as_str().strip_prefix("run/")?.split_once('-')?.0.parse().ok()
}

fn task_of_branch(branch: &BranchName) -> Option<TaskId> {
    branch.as_str().strip_prefix("task/")?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clock;
    use regatta_testkit::repo::TestRepo;

    #[tokio::test]
    async fn what_is_set_aside_for_a_session_that_nobody_runs_is_found_and_given_back() {
        let repo = TestRepo::new();
        repo.write(".regatta/config.toml", "[budget.project]\ntokens = 1000\n");
        let project = Project::open_own(repo.path()).await.unwrap();
        let subject = Subject {
            session: "lost".to_owned(),
            agent_id: "worker".parse().unwrap(),
            task_id: Some(TaskId::FIRST),
            run_id: None,
            above: Vec::new(),
            role: None,
            number: 1,
            day: clock::now().to_zoned(jiff::tz::TimeZone::UTC).date(),
        };
        let token = engine::take_lease(&project, None).await.unwrap();
        accounts::open(&project, token, &subject, false).await.unwrap();
        project.store().release_lease(&token).await.unwrap();
        let mut findings = examine(&project).await.unwrap();
        findings.retain(|finding| finding.kind == Kind::LostSession);
        assert_eq!(findings.len(), 1);
        repair(&project, &mut findings).await.unwrap();
        assert!(findings[0].fixed);
        assert!(accounts::get_account(&project, Scope::Project).await.unwrap().held.is_empty());
        let again = examine(&project).await.unwrap();
        assert!(again.iter().all(|finding| finding.kind != Kind::LostSession), "{again:?}");
    }
}
