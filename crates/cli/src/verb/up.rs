//! `regatta up`: runs the engine and the server in the foreground.

use super::browser;
use super::follow::interruption;
use super::up_log::{Level, Log, LogFormat};
use crate::arguments::Place;
use crate::exit::Exit;
use crate::screen::{BOLD, CYAN, DIM, YELLOW, clean};
use crate::walls::Walls;
use clap::Args;
use regatta_engine::core::{Code, Problem, TaskId, WaitsFor};
use regatta_engine::{
    ConfigState, Engine, Error, Journal, Notices, NoticesSetup, Project, Stop, Timing, find_foreign_files,
    list_tasks,
};
use regatta_server::{Keys, Limits, PublicUrl, Server, Settings};
use serde_json::json;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use tokio_util::sync::CancellationToken;

/// How long it looks for events before it looks whether it was interrupted.
const LOOK_EVERY: Duration = Duration::from_millis(500);

/// How often it looks whether the engine of a command has ended: more often than the commands that wait do.
const TURN_EVERY: Duration = Duration::from_millis(50);

/// How long everything may take to end: whoever stops it waits for no more than 5 s.
const STOP_TIME: Duration = Duration::from_millis(4_500);

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
    /// Serve others too, through a proxy on this machine that adds TLS; it still listens on loopback alone
    #[arg(long, requires = "public_url")]
    behind_proxy: bool,
    /// Address under which the proxy shows the board, such as `https://regatta.example.com`
    #[arg(long, value_name = "URL", requires = "behind_proxy")]
    public_url: Option<String>,
    /// Format of what is printed on standard error
    #[arg(long, value_enum, value_name = "FORMAT", default_value_t = LogFormat::Text)]
    log_format: LogFormat,
}

impl Up {
    /// Runs everything, and opens the browser of a person.
    pub(super) fn opening(is_open: bool) -> Self {
        Up {
            quiet: false,
            port: None,
            open: is_open,
            behind_proxy: false,
            public_url: None,
            log_format: LogFormat::Text,
        }
    }

    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let public: Option<PublicUrl> = self.public_url.as_deref().map(str::parse).transpose()?;
        let mut log = Log::new(place.screen, self.log_format, self.quiet);
        let project = Arc::new(place.open().await?);
        let interrupt = interruption();
        let mut journal = Journal::at_end(&project).await?;
        let Some(engine) = start(&log, &project, &interrupt).await? else { return Ok(Exit::Done) };
        let root = project.root().display();
        let text = format!("{BOLD}engine up{BOLD:#} for {root} {DIM}(stop with Ctrl-C){DIM:#}");
        let fields = json!({ "root": root.to_string(), "pid": std::process::id() });
        log.note(Level::Info, "engine up", &text, fields);
        let served = match self.serve(place, &project, public).await {
            Ok(server) => self.notify(&project, &server).await.map(|notices| (server, notices)),
            Err(problem) => Err(problem),
        };
        let (server, mut notices) = match served {
            Ok(served) => served,
            Err(problem) => {
                engine.stop(Stop::Now).await?;
                return Err(problem);
            }
        };
        log.note(Level::Info, "server up", "", json!({ "port": server.port() }));
        for path in find_foreign_files(&project).await? {
            let shown = path.display();
            let text = format!("{YELLOW}left alone{YELLOW:#}: {shown} belongs to no task of this project");
            log.note(Level::Warn, "file left alone", &text, json!({ "path": shown.to_string() }));
        }
        let walls = Walls::find(&project).await;
        log.begin();
        let mut reminder = Reminder::default();
        let mut looked = Instant::now();
        while !engine.is_over() && !interrupt.is_cancelled() {
            reminder.look(&project, &log).await?;
            if looked.elapsed() >= LOOK_EVERY {
                looked = Instant::now();
                if let Some(state) = project.reload_config().await {
                    note_config(&log, &state);
                }
            }
            let entries = tokio::select! {
                () = interrupt.cancelled() => break,
                Some(problem) = next_problem(&mut notices) => {
                    let text = format!("{YELLOW}not notified{YELLOW:#}: {}", clean(&problem));
                    log.note(Level::Warn, "not notified", &text, json!({ "why": problem }));
                    continue;
                }
                entries = journal.wait(LOOK_EVERY) => entries?,
            };
            for entry in &entries {
                log.event(entry);
                if let Some(line) = walls.warn(entry) {
                    log.note(Level::Warn, "no sandbox", &line, json!({ "seq": entry.seq }));
                }
            }
        }
        let text = "stopping; unfinished work continues with the next start";
        log.note(Level::Info, "stopping", text, json!({}));
        log.end();
        stop(engine, server, notices).await?;
        log.note(Level::Info, "stopped", "", json!({}));
        Ok(Exit::Done)
    }

    /// Starts the server, and says where it is.
    async fn serve(
        &self,
        place: &Place,
        project: &Arc<Project>,
        public: Option<PublicUrl>,
    ) -> Result<Server, Problem> {
        let actor = crate::caller::caller(None).actor;
        let settings = Settings { port: self.port, actor, limits: Limits::default(), public: public.clone() };
        let server = Server::start(Arc::clone(project), settings).await?;
        let keys = server.keys();
        let issued =
            public.map_or_else(|| keys.issue_url(server.port()), |public| keys.issue_public_url(&public));
        let url = issued?;
        let shown = json!({ "url": url, "port": server.port() });
        place.screen.data(&shown, |_| format!("{url}\n"));
        if self.open {
            browser::open(place.screen, &url);
        }
        Ok(server)
    }

    /// Starts to notify, if the config says whom.
    async fn notify(&self, project: &Arc<Project>, server: &Server) -> Result<Option<Notices>, Problem> {
        let keys = server.keys();
        let local = keys.address(server.port()).trim_end_matches('/').to_owned();
        let setup = NoticesSetup {
            secret: keys.webhook_secret(),
            address: Some(self.public_url.as_ref().map_or(local, |url| url.trim_end_matches('/').to_owned())),
            timing: Timing::default(),
        };
        Notices::start(Arc::clone(project), setup).await
    }
}

/// Waits for something that went wrong with a notice; for ever if nobody is notified.
async fn next_problem(notices: &mut Option<Notices>) -> Option<String> {
    match notices {
        Some(notices) => notices.next_problem().await,
        None => std::future::pending().await,
    }
}

/// Ends agents and connections. What does not end in time dies with this process, or is ended by the next start.
async fn stop(engine: Engine, server: Server, notices: Option<Notices>) -> Result<(), Problem> {
    let all = async {
        let notices = async {
            if let Some(notices) = notices {
                notices.stop().await;
            }
        };
        tokio::join!(engine.stop(Stop::Now), server.stop(), notices).0
    };
    match tokio::time::timeout(STOP_TIME, all).await {
        Ok(stopped) => stopped.map_err(|error| error.explain()),
        Err(_) => Ok(()),
    }
}

/// Says what came of a changed config.
fn note_config(log: &Log, state: &ConfigState) {
    if let Some(problem) = &state.error {
        let (what, why) = (clean(&problem.what), clean(&problem.why.join(": ")));
        let next = "the config before it stays in force";
        let text = format!("{YELLOW}config not applied{YELLOW:#}: {what}: {why} {DIM}({next}){DIM:#}");
        return log.note(Level::Warn, "config not applied", &text, json!({ "what": what, "why": why }));
    }
    log.note(Level::Info, "config applied", &format!("{CYAN}config applied{CYAN:#}"), json!({}));
    for waiting in &state.waits_for_restart {
        let key = clean(&waiting.key);
        let text = format!("{YELLOW}`{key}` waits for a restart{YELLOW:#} of `regatta up`: {}", waiting.why);
        log.note(Level::Warn, "config waits for a restart", &text, json!({ "key": key, "why": waiting.why }));
    }
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
    async fn look(&mut self, project: &Project, log: &Log) -> Result<(), Error> {
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
                let text = format!(
                    "{CYAN}#{id:<3}{CYAN:#} {YELLOW}is overdue{YELLOW:#}: {title} {DIM}({}){DIM:#}",
                    clean(&task.next)
                );
                log.note(Level::Warn, "task overdue", &text, json!({ "taskId": id, "title": task.title }));
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
    log: &Log,
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
            let text = format!(
                "{YELLOW}waiting{YELLOW:#} for `regatta {}` (process {} on {}), which works on {own}; the engine starts \
                 when that is done {DIM}(`kill -INT {}` ends it now, and the engine continues its work){DIM:#}",
                clean(&holder.command),
                holder.pid,
                holder.host,
                holder.pid
            );
            log.note(Level::Info, "waiting for another process", &text, json!({ "pid": holder.pid }));
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
