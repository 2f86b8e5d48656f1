//! Starts a session of an agent and watches it to its end, whatever its purpose.

use crate::core::{AgentId, Code, Problem, Task, TaskId};
use crate::error::chain;
use crate::perform::Work;
use crate::project::Project;
use crate::project::config::{AgentEntry, Program};
use crate::project::variables;
use crate::runtime::control::Control;
use crate::session::charge::{self, Charge};
use crate::session::desk::{self, OpenDesk};
use crate::session::hearing::Hearing;
use crate::session::leftovers;
use crate::session::moved_refs::{self, Refs};
use crate::session::planted;
use crate::session::sandbox::{self, Enclosure, NotEnclosed};
use crate::task_files;
use regatta_agents::{
    Ended, Limits, OpenHome, Output, ResultIs, Script, Session, SessionId, Start, StartError,
};
use regatta_git::BranchName;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// What a session is started with; the config has the rest.
pub(crate) struct Request<'a> {
    /// The prefix of its marks, whichever engine runs it.
    pub(crate) mark: String,
    /// The agent.
    pub(crate) agent: &'a AgentId,
    /// Whom its desk speaks for.
    pub(crate) speaks_for: desk::Subject,
    /// What the work is called in an error, such as `task #3`.
    pub(crate) subject: String,
    /// The session number within its piece of work.
    pub(crate) number: u32,
    /// The item of a larger piece of work that it is for.
    pub(crate) item: Option<String>,
    /// What its result is.
    pub(crate) result_is: ResultIs,
    /// The worktree it works in.
    pub(crate) folder: PathBuf,
    /// The branch of that worktree.
    pub(crate) branch: BranchName,
    /// Whether it may change the worktree.
    pub(crate) writes: bool,
    /// The prompt for the agent.
    pub(crate) prompt: String,
    /// Where the transcript is kept.
    pub(crate) transcript: PathBuf,
    /// The environment variables that describe its purpose.
    pub(crate) own: Vec<(String, String)>,
    /// Values for `${name}` in scripts.
    pub(crate) variables: BTreeMap<String, String>,
    /// Its accounts, unless nothing is charged.
    pub(crate) charge: Option<&'a Charge>,
}

/// A running session, with its desk and what has to be cleaned up when it is over.
pub(crate) struct Live {
    session: Session,
    desk: OpenDesk,
    task: Option<TaskId>,
    result_is: ResultIs,
    folder: PathBuf,
    hearing: Option<Hearing>,
    refs: Option<Refs>,
    /// Kept until the last process is dead.
    home: Option<OpenHome>,
}

/// Ends what is left of the same session, and starts it; nothing when a stop was recorded meanwhile.
pub(crate) async fn begin(work: &Work, request: Request<'_>) -> Result<Option<Live>, Box<Problem>> {
    let project = &work.project;
    let agent = request.agent;
    let what = format!("agent `{agent}` was not started on {}", request.subject);
    let failed = |why: Vec<String>, next: String| {
        Box::new(Problem { why, ..Problem::new(Code::AgentStartFailed, what.clone(), "", next) })
    };
    let Some(entry) = project.config().agents.get(agent) else {
        let why = format!("the config has no `[agents.{agent}]` entry any more");
        let next = match request.speaks_for.task {
            Some(task) => format!(
                "give it to another: `regatta task reassign {task} --agent NAME`, or add the entry again"
            ),
            None => "choose another with `regatta agent list`, or add the entry again".to_owned(),
        };
        return Err(Box::new(Problem::new(Code::AgentNotFound, what, why, next)));
    };
    if !request.folder.is_dir() {
        let why = format!("its worktree {} is gone", request.folder.display());
        return Err(failed(vec![why], find_worktree_again(request.speaks_for.task)));
    }
    let mend = || format!("mend `[agents.{agent}]` in .regatta/config.toml, then try again");
    leftovers::end(&request.mark, entry.limits.grace)
        .await
        .map_err(|error| failed(chain(&error), "end those processes by hand, then try again".to_owned()))?;
    let program = match &entry.program {
        Program::Command { command } => regatta_agents::Program::Command(command.clone()),
        Program::Headless { kind, command } => {
            regatta_agents::Program::Headless { kind: *kind, command: command.clone() }
        }
        Program::Acp { command } => regatta_agents::Program::Acp(command.clone()),
        Program::Scripted { script } => {
            let script =
                Script::load(&project.place(script)).map_err(|error| failed(chain(&error), mend()))?;
            regatta_agents::Program::Scripted(script)
        }
    };
    let session = work.name_start(&request.mark);
    let mut limits = entry.limits.clone();
    if let Some(charge) = request.charge {
        charge.narrow(&mut limits);
    }
    let desk = open_desk(work, &request, &session, &limits).map_err(|error| {
        failed(chain(&error), "see that the folder of sessions can be written".to_owned())
    })?;
    let command = match &program {
        regatta_agents::Program::Scripted(_) => None,
        regatta_agents::Program::Command(command)
        | regatta_agents::Program::Headless { command, .. }
        | regatta_agents::Program::Acp(command) => Some(command),
    };
    let enclosure = match command {
        Some(command) => {
            enclose(project, &request, desk.private(), (command, entry)).await.map_err(|error| {
                let next = if let NotEnclosed::Refused { next, .. } = &error { next.clone() } else { mend() };
                failed(chain(&error), next)
            })?
        }
        None => None,
    };
    if command.is_some() {
        let see = || "look at its worktree: no git settings may lie there that nobody can read".to_owned();
        let left = planted::prepare(project, &request.folder).await;
        if let Some(what) = left.map_err(|error| failed(chain(&error), see()))? {
            desk.note_refused(what).await;
        }
    }
    let (sandbox, home) = match enclosure {
        Some(Enclosure { sandbox, home }) => (sandbox, Some(home)),
        None => (None, None),
    };
    let refs = match (request.speaks_for.task, &sandbox, command) {
        (Some(task), None, Some(_)) => {
            moved_refs::look(project, (task, agent, request.number), &request.branch).await
        }
        _ => None,
    };
    let hearing = request.charge.map(|charge| Hearing::new(work, charge));
    let variables = variables::resolve(entry, project.root()).await;
    let variables = variables.map_err(|error| failed(chain(&error), mend()))?;
    let resumes = request.charge.and_then(|charge| charge.opened.resumes.as_ref());
    let start = Start {
        session,
        number: request.number,
        item: request.item,
        result_is: request.result_is,
        program,
        folder: request.folder.clone(),
        prompt: request.prompt,
        environment: variables.values.into_iter().chain(request.own).chain(desk.names()).collect(),
        variables: request.variables,
        model: entry.model.clone(),
        resume: resumes.map(|own| own.name.clone()),
        resumed_usage: resumes.map(|own| charge::to_agents(&own.usage)),
        tools: Some(desk.tool_server()),
        permissions: entry.permissions,
        asker: hearing.as_ref().map(Hearing::asker),
        secrets: variables.secrets,
        tokens: home.as_ref().map(OpenHome::tokens).unwrap_or_default(),
        sandbox,
        home: home.as_ref().map(|home| home.folder().to_owned()),
        private: desk.private().to_owned(),
        transcript: request.transcript,
        limits,
    };
    let result_is = start.result_is;
    let task = request.speaks_for.task;
    // As late as possible: all of the above takes time, and nobody should pay for an agent that was called
    // off.
    match desk::is_called_off(project, &request.speaks_for).await {
        Ok(false) => {}
        Ok(true) => {
            close_drawer(project, task).await;
            return Ok(None);
        }
        Err(error) => {
            close_drawer(project, task).await;
            return Err(Box::new(error.explain()));
        }
    }
    let session = match regatta_agents::start(start).await {
        Ok(session) => session,
        Err(error) => {
            close_drawer(project, task).await;
            let next = match &error {
                StartError::ProgramHidden { needs, .. } => {
                    format!("add {needs:?} to `[sandbox] readable` in .regatta/config.toml, then try again")
                }
                _ => mend(),
            };
            return Err(failed(chain(&error), next));
        }
    };
    Ok(Some(Live { session, desk, task, result_is, folder: request.folder, hearing, refs, home }))
}

/// Says how to get a missing worktree back.
fn find_worktree_again(task: Option<TaskId>) -> String {
    let look = "`regatta doctor` says what is left of it";
    match task {
        Some(task) => {
            format!("{look}; `regatta task cancel {task}` gives it up, and keeps that as a salvage")
        }
        None => format!("{look}; then try again"),
    }
}

async fn enclose(
    project: &Project,
    request: &Request<'_>,
    private: &Path,
    (command, entry): (&[String], &AgentEntry),
) -> Result<Option<Enclosure>, NotEnclosed> {
    let (folder, branch) = (request.folder.as_path(), &request.branch);
    let desk::Subject { task, run, .. } = &request.speaks_for;
    let role = run.as_ref().map(|run| run.role.as_str());
    let home = sandbox::name_home(request.agent, role, *task, run.as_ref().map(|run| run.id));
    let place = sandbox::Place {
        folder,
        branch,
        private,
        task: *task,
        command,
        home: Some(home),
        login: entry.login,
        writes: request.writes,
        is_home_private: entry.program.is_always_private(),
    };
    sandbox::enclose(project, &place).await
}

fn open_desk(
    work: &Work,
    request: &Request<'_>,
    session: &SessionId,
    limits: &Limits,
) -> Result<OpenDesk, crate::error::Error> {
    desk::open(desk::Opening {
        project: &work.project,
        session,
        mark: &request.mark,
        subject: request.speaks_for.clone(),
        limits,
        leaving: work.leaving.clone(),
    })
}

/// Reads the session's output to its end, and takes in what its agent committed. The transcript keeps the
/// output, so little memory is used.
pub(crate) async fn watch(project: &Project, live: Live, control: &Control) -> Ended {
    let Live { session: mut running, desk, task, result_is, folder, mut hearing, refs, home } = live;
    let stopper = running.stopper();
    let ended = {
        let drained = async {
            while let Some(output) = hear(&mut running, hearing.as_mut()).await {
                match (output, hearing.as_mut()) {
                    (Output::Used(usage), _) => desk.note_usage(usage),
                    (Output::PermissionAsked { what, answer, by }, Some(hearing)) => {
                        hearing.note(what, answer, by).await;
                    }
                    _ => {}
                }
            }
            running.wait().await
        };
        tokio::pin!(drained);
        tokio::select! {
            ended = &mut drained => ended,
            reason = control.asked() => {
                stopper.stop(reason);
                drained.await
            }
        }
    };
    // Copies back renewed logins; no process of the session can write any more. An agent may have left many
    // files, which takes a while to remove.
    let _ = tokio::task::spawn_blocking(move || drop(home)).await;
    // Before anybody runs git there, and before the end of the session is known.
    if let Some(what) = planted::remove(project, &folder).await {
        desk.note_refused(what).await;
    }
    // What cannot be taken in is reported where the work is committed.
    let _ = project.repository().take_in(&folder).await;
    if let Some(refs) = refs {
        // Refs that cannot be read are no reason to lose the work.
        let _ = moved_refs::note(project, refs).await;
    }
    close_drawer(project, task).await;
    // Closed after the last process is dead: until then the agent may still submit something.
    let ended = match desk.close().await {
        Some(submitted) => ended.with_submitted(submitted, result_is),
        None => ended,
    };
    ended.judged()
}

/// Puts the task file back in its place. It can also be found in the drawer, so a failure does no harm.
async fn close_drawer(project: &Project, task: Option<TaskId>) {
    if let Some(task) = task {
        let _ = task_files::close_drawer(project, task).await;
    }
}

/// Returns the next piece of output, while questions of the agent are passed to a person.
async fn hear(running: &mut Session, hearing: Option<&mut Hearing>) -> Option<Output> {
    let Some(hearing) = hearing else { return running.next().await };
    tokio::select! {
        output = running.next() => output,
        never = hearing.serve() => match never {},
    }
}

/// Returns the variables that tell a session its task.
pub(crate) fn names_of_task(
    project: &Project,
    task: &Task,
    agent: &AgentId,
    session: u32,
) -> Vec<(String, String)> {
    let pairs = [
        ("REGATTA_AGENT", agent.to_string()),
        ("REGATTA_TASK_ID", task.id.to_string()),
        ("REGATTA_TASK_TITLE", task.title.clone()),
        ("REGATTA_SESSION_NUMBER", session.to_string()),
        ("REGATTA_TASK_FILE", task_files::file_path(project, task.id).display().to_string()),
        ("REGATTA_PROJECT", project.root().display().to_string()),
    ];
    pairs.map(|(name, value)| (name.to_owned(), value)).into()
}
