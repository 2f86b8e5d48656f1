//! `regatta-bench`: the engine, the store and the machine on fixed workloads, measured.
//!
//! Each call gets a folder of its own, plays one workload with canned agents, checks that it ended as it must, and
//! prints one JSON object as its last line. Nothing here is faster than the product: the log is the same SQLite file,
//! synced at every append, and runs are driven by the same engine. See docs/benchmarks.md.

mod board;
mod canned;
mod client;
mod error;
mod exec_log;
mod fan_out;
mod kanban;
mod log_stream;
mod map;
mod measure;
mod place;
mod run_files;
mod server;
mod speckit;
mod up;
mod verb;

use std::process::ExitCode;

/// The call was not understood.
const EXIT_USAGE: u8 = 2;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let verb = match verb::parse(&words) {
        Ok(verb) => verb,
        Err(error) => {
            eprintln!("error: {error}");
            return ExitCode::from(EXIT_USAGE);
        }
    };
    match verb.perform() {
        Ok(report) => {
            println!("{report}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            let mut source = std::error::Error::source(&error);
            while let Some(cause) = source {
                eprintln!("  because: {cause}");
                source = cause.source();
            }
            ExitCode::FAILURE
        }
    }
}
