//! `regatta demo`: the whole thing on a throwaway repository.

use super::asked::Asked;
use super::demo_cycle;
use super::demo_workflow;
use super::follow::{interruption, problem_of};
use super::person::{Decision, Person};
use super::up::Up;
use crate::arguments::Place;
use crate::columns;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::screen::{BOLD, CYAN, DIM, GREEN, Screen, YELLOW};
use clap::Args;
use regatta_engine::core::{Problem, TaskId};
use regatta_engine::orders::{self, Approving, Caller};
use regatta_engine::{
    CYCLE_TITLE, Journal, Project, SampleTask, Supervisor, TaskView, add_sample_tasks, create_cycle_sample,
    create_sample, list_tasks,
};
use serde_json::json;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

/// Why the demo sends the third task back once.
const REASON: &str = "the notes have no example";

/// Show everything on a throwaway repository with scripted agents
///
/// Three tasks cross the board in parallel worktrees: one depends on another, and one is rejected once. With `--workflow
/// speckit` a requirements document becomes three tasks, which are coded, validated and reviewed one after the other; with
/// `--workflow team` it becomes three groups, which developers, QA and a tech lead work on at the same time; with `--workflow
/// cycle` one task grows over three iterations. The agents play scripts, and no model is called. In a terminal you approve
/// each merge yourself.
#[derive(Args)]
pub(crate) struct Demo {
    /// Approve every merge without asking.
    #[arg(long, short)]
    yes: bool,
    /// Run a workflow on a requirements document instead of single tasks.
    #[arg(long, value_name = "NAME", value_parser = ["speckit", "team", "cycle"])]
    workflow: Option<String>,
    /// Folder for the repository [default: a new temporary folder].
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Play it on the board: open it in the browser, where you review and merge.
    #[arg(long, conflicts_with_all = ["yes", "workflow", "no_run"])]
    board: bool,
    /// Create the repository and run nothing.
    #[arg(long)]
    no_run: bool,
}

impl Demo {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let screen = place.screen;
        let folder = self.folder(place)?;
        if self.no_run {
            return prepare(screen, &folder, self.workflow.as_deref()).await;
        }
        if self.workflow.as_deref() == Some("cycle") {
            return demo_cycle::play(screen, &folder, self.yes).await;
        }
        if let Some(workflow) = &self.workflow {
            return demo_workflow::play(screen, &folder, workflow, self.yes).await;
        }
        if self.board {
            return play_on_board(place, &folder).await;
        }
        let project = create_sample(&folder).await?;
        let asks = screen.can_ask() && !self.yes;
        greet(screen, &project, asks);
        let started = Instant::now();
        let interrupt = interruption();
        let project = Arc::new(project);
        let supervisor = Supervisor::take_everything(Arc::clone(&project), interrupt.clone()).await?;
        let progress = Progress::new(screen, "adding three tasks");
        let caller = crate::caller::caller(None);
        let person = Person::who_agrees(interrupt);
        let mut show = Show { project, supervisor, progress, caller, person, asks };
        let played = show.play().await;
        let Show { project, supervisor, progress, .. } = show;
        drop(progress);
        let released = supervisor.release().await;
        played?;
        released?;
        finish(screen, &project, started).await
    }

    fn folder(&self, place: &Place) -> Result<PathBuf, Problem> {
        place.folder()?;
        if let Some(folder) = &self.dir {
            return Ok(place.resolve(folder));
        }
        let made = tempfile::Builder::new().prefix("regatta-demo-").tempdir();
        made.map(tempfile::TempDir::keep).map_err(|error| {
            let next = "choose a folder with `--dir DIR`";
            Problem::new(
                regatta_engine::core::Code::IoFailed,
                "no folder was created for the demo",
                error.to_string(),
                next,
            )
        })
    }
}

/// Makes what the demo would play on, and says how to play it by hand.
async fn prepare(screen: Screen, folder: &Path, workflow: Option<&str>) -> Result<Exit, Problem> {
    let (project, next) = match workflow {
        Some("cycle") => {
            let project = create_cycle_sample(folder).await?;
            (project, format!("regatta run cycle \"{CYCLE_TITLE}\""))
        }
        Some(name) => {
            let (project, _) = demo_workflow::create(folder, name).await?;
            (project, format!("regatta run {name} --prd prd.md"))
        }
        None => {
            let project = create_sample(folder).await?;
            let tasks = add_sample_tasks(&project, &crate::caller::caller(None)).await?;
            let [first, ..] = &tasks;
            (project, format!("regatta task assign {} --agent {}", first.task, first.agent))
        }
    };
    let root = project.root().display().to_string();
    screen.data(&json!({ "root": root, "scripted": true, "next": next }), |_| {
        format!("{GREEN}created{GREEN:#} {root}, with scripted agents\n  {DIM}then{DIM:#}    cd {root}\n          {next}\n")
    });
    Ok(Exit::Done)
}

/// Gives the first tasks to their agents, then runs the engine and the server until interrupted. What is ready waits on the
/// board for the person.
async fn play_on_board(place: &Place, folder: &Path) -> Result<Exit, Problem> {
    let project = create_sample(folder).await?;
    greet(place.screen, &project, true);
    let caller = crate::caller::caller(None);
    let [first, _, third] = add_sample_tasks(&project, &caller).await?;
    for sample in [first, third] {
        orders::assign(&project, &caller, sample.task, sample.agent.into(), None, true).await?;
    }
    let there = place.at(project.root().to_owned());
    drop(project);
    Up::opening(place.screen.can_ask()).run(&there).await
}

pub(super) fn greet(screen: Screen, project: &Project, asks: bool) {
    screen
        .say(&format!("{BOLD}Regatta demo{BOLD:#}  a throwaway repository in {}", project.root().display()));
    screen.say(&format!("{DIM}The agents are scripted: they play scripts, and no model is called.{DIM:#}"));
    if !asks {
        screen.say(&format!("{DIM}Merges are approved without asking.{DIM:#}"));
    }
    screen.say("");
}

struct Show {
    project: Arc<Project>,
    supervisor: Supervisor,
    progress: Progress,
    caller: Caller,
    person: Person,
    asks: bool,
}

impl Show {
    async fn play(&mut self) -> Result<(), Problem> {
        let [greet, farewell, notes] = add_sample_tasks(&self.project, &self.caller).await?;
        self.assign(&greet).await?;
        self.assign(&notes).await?;
        self.rest(notes.task).await?;
        self.heading(notes.task, "the demo rejects this one, once");
        orders::reject(&self.project, &self.caller, notes.task, REASON.to_owned(), None).await?;
        self.rest(greet.task).await?;
        self.decide(greet.task).await?;
        self.assign(&farewell).await?;
        self.rest(notes.task).await?;
        self.decide(notes.task).await?;
        self.rest(farewell.task).await?;
        self.decide(farewell.task).await
    }

    async fn assign(&self, sample: &SampleTask) -> Result<(), Problem> {
        let to = sample.agent.clone().into();
        let given = orders::assign(&self.project, &self.caller, sample.task, to, None, true).await;
        given.map(|_| ()).map_err(|error| error.explain())
    }

    async fn rest(&mut self, task: TaskId) -> Result<(), Problem> {
        let progress = &self.progress;
        let followed = self.supervisor.rest(task, &mut |update| progress.hear(update)).await;
        match followed?.task.error {
            Some(failure) => Err(problem_of(failure)),
            None => Ok(()),
        }
    }

    /// Gets the task approved, by the person or by the demo; after a rejection the agent works again.
    async fn decide(&mut self, task: TaskId) -> Result<(), Problem> {
        loop {
            let found = orders::get_task(&self.project, task).await?;
            let Some(asked) = Asked::diff(&found) else { return Ok(()) };
            let decision = match self.asks {
                true => self.person.decide(&mut self.progress, &self.project, task).await?,
                false => Decision::Approve,
            };
            if !asked.is_past(&self.progress, &self.project).await? {
                let given = match decision {
                    Decision::Approve | Decision::Later => {
                        let approval = Approving { feedback: None, head: asked.head(), anyway: true };
                        orders::approve(&self.project, &self.caller, task, approval).await
                    }
                    Decision::Reject(reason) => {
                        orders::reject(&self.project, &self.caller, task, reason, None).await
                    }
                };
                if let Err(error) = given
                    && !asked.is_past(&self.progress, &self.project).await?
                {
                    return Err(error.explain());
                }
            }
            self.rest(task).await?;
        }
    }

    fn heading(&self, task: TaskId, text: &str) {
        self.progress.print(&format!("{CYAN}#{task:<3}{CYAN:#} {YELLOW}{text}{YELLOW:#}"));
    }
}

async fn finish(screen: Screen, project: &Project, started: Instant) -> Result<Exit, Problem> {
    let tasks = list_tasks(project).await?;
    let events = Journal::at_end(project).await?.position();
    let root = project.root().display().to_string();
    let summary = serde_json::json!({
        "root": root, "scripted": true, "events": events, "tasks": tasks,
    });
    screen.data(&summary, |_| render(&tasks, events, &root, started));
    Ok(Exit::Done)
}

fn render(tasks: &[TaskView], events: u64, root: &str, started: Instant) -> String {
    let seconds = started.elapsed().as_secs_f64();
    format!(
        "\n{}\n\n{GREEN}done{GREEN:#}: {} tasks merged, {events} events in the log, {seconds:.1} s\n\n\
         Where to look next:\n  \
         regatta -C {root} up --open    {DIM}the same project on the board{DIM:#}\n  \
         git -C {root} log --graph --oneline\n  \
         regatta -C {root} events\n  \
         regatta -C {root} task show 3\n  \
         {DIM}then `regatta init` in a repository of your own{DIM:#}\n",
        table_of(tasks),
        tasks.iter().filter(|task| task.merge_commit.is_some()).count(),
    )
}

/// Shows what became of the tasks of a demo.
pub(super) fn table_of(tasks: &[TaskView]) -> String {
    let row = |task: &TaskView| {
        [
            task.id.to_string(),
            task.column.to_string(),
            format!("{} (scripted)", task.agent_id.as_deref().unwrap_or("-")),
            task.sessions.to_string(),
            task.rejection_count.to_string(),
            task.merge_commit.as_deref().map_or_else(|| "-".to_owned(), |commit| commit[..10].to_owned()),
            task.title.clone(),
        ]
    };
    let header = ["ID", "COLUMN", "AGENT", "SESSIONS", "REJECTED", "MERGED AS", "TITLE"];
    columns::table(header, tasks.iter().map(row)).trim_end().to_owned()
}
