//! The `regatta` binary: arguments, printing, exit codes.
//!
//! One file per verb under `verb/`. Nothing is decided here: verbs translate arguments into calls of the engine,
//! and answers into text or JSON. Data goes to stdout, everything else to stderr.

mod allowed;
mod ancestry;
mod arguments;
mod caller;
mod columns;
mod describe;
mod describe_run;
mod exit;
mod family;
#[cfg(test)]
mod over_http;
mod progress;
mod screen;
mod session_text;
mod state_words;
mod verb;
mod walls;
mod wrap;

use arguments::Arguments;
use exit::Exit;
use screen::Screen;

fn main() -> std::process::ExitCode {
    std::panic::set_hook(Box::new(exit::report_bug));
    if let Some(ended) = supervise() {
        return ended;
    }
    let (arguments, allowed) = match Arguments::read() {
        Ok(read) => read,
        Err(error) => return exit::wrong_usage(&error),
    };
    let screen = Screen::new(arguments.json);
    let mut threads = match arguments.is_list() {
        true => tokio::runtime::Builder::new_current_thread(),
        false => tokio::runtime::Builder::new_multi_thread(),
    };
    let runtime = match threads.enable_all().build() {
        Ok(runtime) => runtime,
        Err(error) => return exit::no_runtime(&screen, &error),
    };
    let outcome = runtime.block_on(async {
        match allowed {
            Ok(()) => arguments.run(&screen).await,
            Err(refused) => Err(refused.record().await),
        }
    });
    // A blocking read that nobody waits for any more must not keep the process from ending.
    runtime.shutdown_background();
    match outcome.and_then(|exit| screen.find_loss().map_or(Ok(exit), Err)) {
        Ok(exit) => exit.into(),
        Err(problem) => {
            screen.problem(&problem);
            Exit::Failed.into()
        }
    }
}

/// The first argument of a process that is the supervisor of a session; no verb begins so.
const SUPERVISOR: &str = "--supervise-session";

/// Runs as the supervisor of a session, if this process was started as one; says how to start one otherwise.
#[cfg(target_os = "linux")]
fn supervise() -> Option<std::process::ExitCode> {
    let mut words = std::env::args_os().skip(1);
    if words.next().is_some_and(|word| word == SUPERVISOR) {
        return Some(regatta_engine::supervise(&words.collect::<Vec<_>>()));
    }
    // Not by its path: an upgrade may have replaced the file while this process runs.
    regatta_engine::set_supervisor(vec!["/proc/self/exe".into(), SUPERVISOR.into()]);
    None
}

/// There is none: only Linux hands orphans to a process of one's choice.
#[cfg(not(target_os = "linux"))]
fn supervise() -> Option<std::process::ExitCode> {
    None
}
