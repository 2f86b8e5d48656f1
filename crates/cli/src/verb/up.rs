//! `regatta up`: runs the engine and the server in the foreground.

use super::browser;
use super::follow::interruption;
use crate::arguments::Place;
use crate::exit::Exit;
use crate::progress::Progress;
use crate::screen::{BOLD, CYAN, DIM, YELLOW, clean};
use crate::walls::Walls;
use clap::Args;
use regatta_engine::core::{Code, Problem, TaskId, WaitsFor};
use regatta_engine::{ConfigState, Engine, Error, Journal, Project, Stop, find_foreign_files, list_tasks};
use regatta_server::{Keys, Limits, Server, Settings};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tokio_util::sync::CancellationToken;

/// How long it looks for events before it looks whether it was interrupted.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How often it looks whether the engine of a command has ended: more often than the commands that wait do.
const TURN_EVERY: Duration = Duration::from_millis(50);

/// Run the project's engine and its server until interrupted
///
/// It prints an address to open in a browser; `regatta url` prints another. The engine carries out commands, starts queued
/// tasks when there is room, and finishes what a crash left undone. While it runs, other commands only watch. If a command is
/// already carrying out its own task, the engine waits for it. It prints a line for each change of a task or run.
#[derive(Args)]
pub(crate) struct Up {
    /// Print errors only
    #[arg(long, short)]
    quiet: bool,
    /// Listen on this port [default: the port of the last start, or the next that is free]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    port: Option<u16>,
    /// Open the address in your browser
    #[arg(long)]
    open: bool,
}

impl Up {
    /// Runs everything, and opens the browser of a person.
    pub(super) fn opening(is_open: bool) -> Self {
        Up { quiet: false, port: None, open: is_open }
    }

    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let explain = |error: regatta_engine::Error| error.explain();
        let project = Arc::new(place.open().await?);
        let interrupt = interruption();
        let mut journal = Journal::at_end(&project).await.map_err(explain)?;
        let Some(engine) = start(place, &project, &interrupt).await? else { return Ok(Exit::Done) };
        let root = project.root().display();
        let screen = if self.quiet { place.screen.quiet() } else { place.screen };
        screen.say(&format!("{BOLD}engine up{BOLD:#} for {root} {DIM}(stop with Ctrl-C){DIM:#}"));
        let server = match self.serve(place, &project).await {
            Ok(server) => server,
            Err(problem) => {
                engine.stop(Stop::Now).await.map_err(explain)?;
                return Err(problem);
            }
        };
        for path in find_foreign_files(&project).await.map_err(explain)? {
            let shown = path.display();
            screen.say(&format!("{YELLOW}left alone{YELLOW:#}: {shown} belongs to no task of this project"));
        }
        let walls = Walls::find(&project).await;
        let progress = Progress::new(screen, "waiting for commands");
        let mut reminder = Reminder::default();
        let mut looked = Instant::now();
        while !engine.is_over() && !interrupt.is_cancelled() {
            reminder.look(&project, &progress).await.map_err(explain)?;
            if looked.elapsed() >= LOOK_EVERY {
                looked = Instant::now();
                let changed = project.reload_config().await;
                changed.iter().flat_map(describe_config).for_each(|line| progress.print(&line));
            }
            let entries = tokio::select! {
                () = interrupt.cancelled() => break,
                entries = journal.wait(LOOK_EVERY) => entries.map_err(explain)?,
            };
            for entry in &entries {
                progress.show(entry);
                walls.warn(entry).iter().for_each(|line| progress.print(line));
            }
        }
        progress.print("stopping; unfinished work continues with the next start");
        drop(progress);
        let (stopped, ()) = tokio::join!(engine.stop(Stop::Now), server.stop());
        stopped.map_err(explain)?;
        Ok(Exit::Done)
    }

    /// Starts the server, and says where it is.
    async fn serve(&self, place: &Place, project: &Arc<Project>) -> Result<Server, Problem> {
        let actor = crate::caller::caller(None).actor;
        let settings = Settings { port: self.port, actor, limits: Limits::default() };
        let server = Server::start(Arc::clone(project), settings).await.map_err(|error| error.explain())?;
        let url = server.keys().issue_url(server.port()).map_err(|error| error.explain())?;
        let shown = json!({ "url": url, "port": server.port() });
        place.screen.data(&shown, |_| format!("{url}\n"));
        if self.open {
            browser::open(place.screen, &url);
        }
        Ok(server)
    }
}

/// Says what came of a changed config.
fn describe_config(state: &ConfigState) -> Vec<String> {
    if let Some(problem) = &state.error {
        let (what, why) = (clean(&problem.what), clean(&problem.why.join(": ")));
        let next = "the config before it stays in force";
        return vec![format!("{YELLOW}config not applied{YELLOW:#}: {what}: {why} {DIM}({next}){DIM:#}")];
    }
    let mut lines = vec![format!("{CYAN}config applied{CYAN:#}")];
    for waiting in &state.waits_for_restart {
        let key = clean(&waiting.key);
        lines.push(format!("{YELLOW}`{key}` waits for a restart{YELLOW:#} of `regatta up`: {}", waiting.why));
    }
    lines
}

/// How long after a look the next one follows, if no deadline comes before: a list costs something, a deadline is days.
const REMIND_EVERY: Duration = Duration::from_secs(600);

/// Says once of each task that it waits for a person longer than it should.
#[derive(Default)]
struct Reminder {
    said: BTreeSet<TaskId>,
    due: Option<Instant>,
}

impl Reminder {
    async fn look(&mut self, project: &Project, progress: &Progress) -> Result<(), Error> {
        let now = Instant::now();
        if self.due.is_some_and(|due| now < due) {
            return Ok(());
        }
        let tasks = list_tasks(project).await?;
        let mut overdue = BTreeSet::new();
        for task in tasks.iter().filter(|task| task.overdue) {
            overdue.insert(task.id);
            if !self.said.contains(&task.id) {
                let (id, title) = (task.id, clean(&task.title));
                progress.print(&format!(
                    "{CYAN}#{id:<3}{CYAN:#} {YELLOW}is overdue{YELLOW:#}: {title} {DIM}({}){DIM:#}",
                    clean(&task.next)
                ));
            }
        }
        self.said = overdue;
        let waits = tasks.iter().filter(|task| task.waits_for == WaitsFor::You && !task.overdue);
        let next = waits
            .filter_map(|task| task.deadline)
            .min()
            .and_then(|deadline| SystemTime::from(deadline).duration_since(SystemTime::now()).ok());
        let moment = Duration::from_millis(1);
        self.due = Some(now + next.map_or(REMIND_EVERY, |next| (next + moment).min(REMIND_EVERY)));
        Ok(())
    }
}

/// Starts the engine, after the command that is at work now, if there is one; nothing when that wait is interrupted.
async fn start(
    place: &Place,
    project: &Arc<Project>,
    interrupt: &CancellationToken,
) -> Result<Option<Engine>, Problem> {
    let mut told_of = None;
    loop {
        let holder = match Engine::start(Arc::clone(project)).await {
            Ok(engine) => return Ok(Some(engine)),
            Err(Error::EngineAlreadyRunning(holder)) if holder.own.is_some() => holder,
            Err(error) => return Err(with_address(project, error.explain())),
        };
        if let (Some(own), true) = (&holder.own, told_of != Some(holder.pid)) {
            place.screen.say(&format!(
                "{YELLOW}waiting{YELLOW:#} for `regatta {}` (process {} on {}), which works on {own}; the engine starts \
                 when that is done {DIM}(`kill -INT {}` ends it now, and the engine continues its work){DIM:#}",
                clean(&holder.command), holder.pid, holder.host, holder.pid
            ));
            told_of = Some(holder.pid);
        }
        tokio::select! {
            () = interrupt.cancelled() => return Ok(None),
            () = tokio::time::sleep(TURN_EVERY) => {}
        }
    }
}

/// Says where the engine that runs already can be opened.
fn with_address(project: &Project, problem: Problem) -> Problem {
    let keys = Keys::ensure(project).ok().filter(|_| problem.code == Code::EngineAlreadyRunning);
    let Some((keys, port)) = keys.and_then(|keys| keys.find_port().map(|port| (keys, port))) else {
        return problem;
    };
    let address = keys.address(port);
    let next = format!("open {address} with `regatta url --open`; {}", problem.next);
    Problem { next, ..problem }.with("address", address)
}
