//! The `regatta` binary: arguments, printing, exit codes.
//!
//! One file per verb under `verb/`. Nothing is decided here: verbs translate arguments into calls of the engine,
//! and answers into text or JSON. Data goes to stdout, everything else to stderr.

mod allowed;
mod arguments;
mod columns;
mod describe;
mod describe_run;
mod exit;
mod family;
mod identity;
mod progress;
mod screen;
mod verb;

use arguments::Arguments;
use exit::Exit;
use screen::Screen;

fn main() -> std::process::ExitCode {
    std::panic::set_hook(Box::new(exit::report_bug));
    let (arguments, allowed) = match Arguments::read() {
        Ok(read) => read,
        Err(error) => return exit::wrong_usage(&error),
    };
    let screen = Screen::new(arguments.json);
    let runtime = match tokio::runtime::Builder::new_multi_thread().enable_all().build() {
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
