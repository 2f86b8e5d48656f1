//! Records what real agent programs print against the stub model, as fixtures for the adapters' tests.
//!
//! `cargo run -p regatta-testkit --example record_streams` runs every agent that is installed through every case and writes
//! `crates/agents/tests/streams`; names of agents (`claude`, `acp-goose`) record those alone. It must not change what a
//! program printed, but for what `scrub` takes out. The word `mcp` makes it the MCP server of the case of that name.

mod acp;
mod cases;
mod fixture;
mod headless;
mod mcp;
mod process;
mod scrub;

use std::process::ExitCode;

use regatta_testkit::agent_programs::{Agent, find};

fn main() -> ExitCode {
    let names: Vec<String> = std::env::args().skip(1).collect();
    if names == ["mcp"] {
        mcp::serve();
        return ExitCode::SUCCESS;
    }
    let all = || Agent::HEADLESS.into_iter().chain(Agent::ACP);
    let known = |name: &String| all().any(|agent| agent.name() == name);
    if let Some(unknown) = names.iter().find(|name| !known(name)) {
        let known: Vec<&str> = all().map(Agent::name).collect();
        eprintln!("no such agent: {unknown}; there are {}", known.join(", "));
        return ExitCode::from(2);
    }
    for agent in all().filter(|agent| names.is_empty() || names.iter().any(|name| name == agent.name())) {
        let Some(installed) = find(agent) else { continue };
        if Agent::ACP.contains(&agent) {
            acp::record(&installed);
        } else {
            headless::record(&installed);
        }
    }
    ExitCode::SUCCESS
}
