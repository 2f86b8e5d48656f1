//! Exit codes, and the ways out that are not a verb's own.

use crate::screen::Screen;
use regatta_engine::core::{Code, Problem};
use std::io::Write;
use std::panic::PanicHookInfo;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

/// How the process ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Done.
    Done,
    /// Refused or failed.
    Failed,
    /// Wrong usage.
    Usage,
    /// A bug in Regatta.
    Bug,
}

impl Exit {
    fn number(self) -> u8 {
        match self {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Bug => 70,
        }
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(exit.number())
    }
}

/// Prints help, the version, or what is wrong with the arguments.
pub(crate) fn wrong_usage(error: &clap::Error) -> ExitCode {
    let wants_json = std::env::args_os().any(|argument| argument == "--json");
    if !error.use_stderr() {
        return show_help(&Screen::new(wants_json), error);
    }
    if wants_json {
        let text = error.render().to_string();
        // The first paragraph says what is wrong; the missing arguments or the possible values have lines of their own.
        let paragraph: Vec<&str> = text.lines().map(str::trim).take_while(|line| !line.is_empty()).collect();
        let message = paragraph.join(" ").trim_start_matches("error: ").to_owned();
        let tip = text.lines().find_map(|line| line.trim_start().strip_prefix("tip: "));
        let tip = tip.map_or_else(String::new, |tip| format!("{tip}; "));
        let next = format!("{tip}see `regatta --help` and `regatta VERB --help`");
        let problem = Problem { why: Vec::new(), ..Problem::new(Code::ValidationError, message, "", next) };
        Screen::new(true).problem(&problem);
    } else {
        let _ = error.print();
    }
    Exit::Usage.into()
}

fn show_help(screen: &Screen, help: &clap::Error) -> ExitCode {
    screen.note(help.print().and_then(|()| std::io::stdout().flush()));
    match screen.find_loss() {
        None => Exit::Done.into(),
        Some(problem) => {
            screen.problem(&problem);
            Exit::Failed.into()
        }
    }
}

pub(crate) fn no_runtime(screen: &Screen, error: &std::io::Error) -> ExitCode {
    let next = "check the limits on threads and open files (`ulimit -a`)";
    screen.problem(&Problem::new(
        Code::IoFailed,
        "the program could not start its threads",
        error.to_string(),
        next,
    ));
    Exit::Failed.into()
}

/// Reports that an invariant broke, and ends the process: what is on disk is complete, and the next start continues.
///
/// In the handler of a request of the server it ends that request alone.
pub(crate) fn report_bug(panic: &PanicHookInfo<'_>) {
    let request = regatta_server::find_request();
    let place = panic.location().map_or_else(String::new, |location| format!(" at {location}"));
    let payload = panic.payload();
    let text = payload.downcast_ref::<&str>().copied();
    let what = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str)).unwrap_or("no message");
    if is_reported_in_json() {
        let place = panic.location().map(ToString::to_string);
        let request = request.map(|id| id.to_string());
        let error = serde_json::json!({
            "level": "error", "message": "this is a bug in Regatta", "why": what, "place": place, "requestId": request
        });
        anstream::eprintln!("{error}");
        return end_of_bug(request.is_none());
    }
    let within = request.map_or_else(String::new, |id| format!(" in request {id}"));
    anstream::eprintln!("error[INTERNAL]: this is a bug in Regatta{place}{within}");
    anstream::eprintln!("  why:  {what}");
    anstream::eprintln!(
        "  next: please report this text; everything acknowledged is on disk, and a restart continues from there"
    );
    end_of_bug(request.is_none());
}

fn end_of_bug(is_fatal: bool) {
    if is_fatal {
        std::process::exit(Exit::Bug.number().into());
    }
}

/// Whether bugs and errors are reported as lines of a log that programs read.
static IN_JSON: AtomicBool = AtomicBool::new(false);

/// Reports bugs and errors as lines of JSON from now on.
pub(crate) fn report_in_json() {
    IN_JSON.store(true, Ordering::Relaxed);
}

/// Tells whether bugs and errors are reported as lines of JSON.
pub(crate) fn is_reported_in_json() -> bool {
    IN_JSON.load(Ordering::Relaxed)
}
