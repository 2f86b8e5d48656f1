//! Starts the agent of a session: ends what is left of it, opens its endpoint, encloses it, and starts its program.

use crate::core::{Code, Problem, TaskId};
use crate::error::chain;
use crate::perform::Work;
use crate::project::Project;
use crate::project::config::{AgentEntry, Program};
use crate::project::variables;
use crate::session::endpoint::{self, Endpoint};
use crate::session::leftovers;
use crate::session::moved_refs::{self, Refs};
use crate::session::open_questions::OpenQuestions;
use crate::session::plan::Plan;
use crate::session::planted;
use crate::session::prepare::Ready;
use crate::session::reservation::{self, Reservation};
use crate::session::sandbox::{self, Enclosure, NotEnclosed};
use crate::session::worker::Worker;
use crate::task_files;
use regatta_agents::{OpenHome, ResultIs, Script, Session, Start, StartError};
use regatta_git::BranchName;
use std::path::PathBuf;

/// A running session, with its endpoint and what has to be cleaned up when it is over.
pub(crate) struct Live {
    pub(crate) session: Session,
    pub(crate) endpoint: Endpoint,
    pub(crate) task: Option<TaskId>,
    pub(crate) result_is: ResultIs,
    pub(crate) folder: PathBuf,
    pub(crate) open_questions: OpenQuestions,
    pub(crate) refs: Option<Refs>,
    /// Kept until the last process is dead.
    pub(crate) home: Option<OpenHome>,
}

/// Why an agent was not started.
type NotStarted = Box<Problem>;

/// A start of an agent, whose entry of the config is known.
struct Launch<'a> {
    work: &'a Work,
    plan: &'a Plan<'a>,
    entry: &'a AgentEntry,
    folder: PathBuf,
    branch: BranchName,
}

/// Ends what is left of the same session, and starts it; nothing when a stop was recorded meanwhile.
pub(crate) async fn launch(
    work: &Work,
    plan: &Plan<'_>,
    ready: &Ready,
    reservation: &Reservation,
) -> Result<Option<Live>, NotStarted> {
    let project = &work.project;
    let entry = project.config().agents.get(&plan.subject.agent).ok_or_else(|| no_entry(plan))?;
    let branch = plan.branch().map_err(|error| Box::new(error.explain()))?;
    let launch = Launch { work, plan, entry, folder: plan.folder(project), branch };
    launch.clear().await?;
    let live = launch.start(ready, reservation).await;
    if !matches!(live, Ok(Some(_))) {
        close_private_folder(project, plan.subject.task).await;
    }
    live
}

impl Launch<'_> {
    /// Sees that the worktree is there, and that no process of an earlier start is.
    async fn clear(&self) -> Result<(), NotStarted> {
        if !self.folder.is_dir() {
            let why = format!("its worktree {} is gone", self.folder.display());
            return Err(self.failed(vec![why], find_worktree_again(self.plan.subject.task)));
        }
        let ended = leftovers::end(&self.plan.mark, self.entry.limits.grace).await;
        let next = || "stop those processes yourself, then try again".to_owned();
        ended.map_err(|error| self.failed(chain(&error), next()))
    }

    async fn start(&self, ready: &Ready, reservation: &Reservation) -> Result<Option<Live>, NotStarted> {
        let (work, plan, entry) = (self.work, self.plan, self.entry);
        let project = &work.project;
        let program = self.load_program()?;
        let session = work.name_start(&plan.mark);
        let mut limits = entry.limits.clone();
        reservation.narrow(&mut limits);
        let endpoint = endpoint::open(endpoint::Opening {
            project,
            session: &session,
            mark: &plan.mark,
            subject: plan.subject.clone(),
            gets_notes: plan.writes,
            limits: &limits,
            leaving: work.leaving.clone(),
        })
        .map_err(|error| {
            self.failed(chain(&error), "check that the sessions folder is writable".to_owned())
        })?;
        let command = command_of(&program);
        let (enclosure, refs) = match command {
            Some(command) => self.guard(command, &endpoint).await?,
            None => (None, None),
        };
        let (sandbox, home) = match enclosure {
            Some(Enclosure { sandbox, home }) => (sandbox, Some(home)),
            None => (None, None),
        };
        let open_questions = OpenQuestions::new(work, reservation);
        let variables = variables::resolve(entry, project.root()).await;
        let variables = variables.map_err(|error| self.failed(chain(&error), self.fix()))?;
        let resumes = reservation.opened.resumes.as_ref();
        let start = Start {
            session,
            number: plan.number,
            item: plan.subject.run.as_ref().and_then(|run| run.item.clone()),
            result_is: plan.result_is(),
            program,
            folder: self.folder.clone(),
            prompt: ready.prompt.clone(),
            environment: variables
                .values
                .into_iter()
                .chain(ready.environment.iter().cloned())
                .chain(endpoint.names())
                .collect(),
            variables: ready.variables.clone(),
            model: entry.model.clone(),
            resume: resumes.map(|own| own.name.clone()),
            resumed_usage: resumes.map(|own| reservation::to_agents(&own.usage)),
            tools: Some(endpoint.tool_server()),
            permissions: entry.permissions,
            asker: Some(open_questions.asker()),
            secrets: variables.secrets,
            tokens: home.as_ref().map(OpenHome::tokens).unwrap_or_default(),
            sandbox,
            home: home.as_ref().map(|home| home.folder().to_owned()),
            private: endpoint.private().to_owned(),
            transcript: plan.transcript.clone(),
            limits,
        };
        // As late as possible: all of the above takes time, and nobody should pay for an agent that was called
        // off.
        match endpoint::is_called_off(project, &plan.subject).await {
            Ok(false) => {}
            Ok(true) => return Ok(None),
            Err(error) => return Err(Box::new(error.explain())),
        }
        let session = regatta_agents::start(start).await.map_err(|error| self.not_started(&error))?;
        let (task, result_is, folder) = (plan.subject.task, plan.result_is(), self.folder.clone());
        Ok(Some(Live { session, endpoint, task, result_is, folder, open_questions, refs, home }))
    }

    fn load_program(&self) -> Result<regatta_agents::Program, NotStarted> {
        Ok(match &self.entry.program {
            Program::Command { command } => regatta_agents::Program::Command(command.clone()),
            Program::Headless { kind, command } => {
                regatta_agents::Program::Headless { kind: *kind, command: command.clone() }
            }
            Program::Acp { command } => regatta_agents::Program::Acp(command.clone()),
            Program::Scripted { script } => {
                let script = Script::load(&self.work.project.place(script));
                let script = script.map_err(|error| self.failed(chain(&error), self.fix()))?;
                regatta_agents::Program::Scripted(script)
            }
        })
    }

    /// Encloses a program, and notes what it could change outside of its worktree or have git run.
    async fn guard(
        &self,
        command: &[String],
        endpoint: &Endpoint,
    ) -> Result<(Option<Enclosure>, Option<Refs>), NotStarted> {
        let project = &self.work.project;
        let enclosure = self.enclose(command, endpoint).await.map_err(|error| {
            let next = if let NotEnclosed::Refused { next, .. } = &error { next.clone() } else { self.fix() };
            self.failed(chain(&error), next)
        })?;
        let see = || "look at its worktree: it has git settings that cannot be read".to_owned();
        let left = planted::prepare(project, &self.folder, &Worker::of(&self.plan.subject)).await;
        if let Some(what) = left.map_err(|error| self.failed(chain(&error), see()))? {
            endpoint.note_refused(what).await;
        }
        let subject = &self.plan.subject;
        let is_enclosed = enclosure.as_ref().is_some_and(|enclosure| enclosure.sandbox.is_some());
        let refs = match subject.task.filter(|_| !is_enclosed) {
            Some(task) => {
                moved_refs::look(project, (task, &subject.agent, subject.session), &self.branch).await
            }
            None => None,
        };
        Ok((enclosure, refs))
    }

    async fn enclose(
        &self,
        command: &[String],
        endpoint: &Endpoint,
    ) -> Result<Option<Enclosure>, NotEnclosed> {
        let endpoint::Subject { agent, task, run, .. } = &self.plan.subject;
        let role = run.as_ref().map(|run| run.role.as_str());
        let place = sandbox::Place {
            folder: &self.folder,
            branch: &self.branch,
            private: endpoint.private(),
            task: *task,
            command,
            home: Some(sandbox::name_home(agent, role, *task, run.as_ref().map(|run| run.id))),
            login: self.entry.login,
            writes: self.plan.writes,
            is_home_private: self.entry.program.is_always_private(),
        };
        sandbox::enclose(&self.work.project, &place).await
    }

    fn not_started(&self, error: &StartError) -> NotStarted {
        let next = match error {
            StartError::ProgramHidden { needs, .. } => {
                format!("add {needs:?} to `[sandbox] readable` in .regatta/config.toml, then try again")
            }
            _ => self.fix(),
        };
        self.failed(chain(error), next)
    }

    fn failed(&self, why: Vec<String>, next: String) -> NotStarted {
        Box::new(Problem { why, ..Problem::new(Code::AgentStartFailed, what(self.plan), "", next) })
    }

    fn fix(&self) -> String {
        format!("fix `[agents.{}]` in .regatta/config.toml, then try again", self.plan.subject.agent)
    }
}

/// Returns the command line of a program that runs outside of this one.
fn command_of(program: &regatta_agents::Program) -> Option<&[String]> {
    match program {
        regatta_agents::Program::Scripted(_) => None,
        regatta_agents::Program::Command(command)
        | regatta_agents::Program::Headless { command, .. }
        | regatta_agents::Program::Acp(command) => Some(command),
    }
}

fn what(plan: &Plan<'_>) -> String {
    format!("agent `{}` was not started on {}", plan.subject.agent, plan.name())
}

fn no_entry(plan: &Plan<'_>) -> NotStarted {
    let why = format!("the config no longer has an `[agents.{}]` entry", plan.subject.agent);
    let next = match plan.subject.task {
        Some(task) => {
            format!(
                "give the task to another agent with `regatta task reassign {task} --agent NAME`, or add the entry again"
            )
        }
        None => "choose another agent (`regatta agent list`), or add the entry again".to_owned(),
    };
    Box::new(Problem::new(Code::AgentNotFound, what(plan), why, next))
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

/// Puts the task file back in its place. It can also be found in the private folder, so a failure does no harm.
pub(crate) async fn close_private_folder(project: &Project, task: Option<TaskId>) {
    if let Some(task) = task {
        let _ = task_files::close_private_folder(project, task).await;
    }
}
