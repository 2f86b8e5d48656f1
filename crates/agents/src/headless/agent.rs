//! What a headless agent is to the rest of the program: the constant that its file exports.

use std::fmt;

use serde_json::Value;

use super::plan::Plan;
use crate::agent_output::AgentOutput;
use crate::home::Home;
use crate::start::Start;

/// A known agent.
#[derive(Debug)]
pub(crate) struct HeadlessAgent {
    /// Its name in the config, the name of its program, and the folder of its recorded streams.
    pub(crate) name: &'static str,
    /// Programs through which it speaks the Agent Client Protocol, to be found on PATH.
    pub(crate) bridges: &'static [&'static str],
    /// What it keeps in a home folder.
    pub(crate) home: Home,
    /// Makes the adapter of one session.
    pub(crate) adapter: fn() -> Box<dyn Adapter>,
}

/// How an agent is started, and what it prints.
pub(crate) trait Adapter: fmt::Debug + Send {
    /// Says how the program is started for a session, new or resumed; the command is its program and the user's words.
    fn plan(&mut self, start: &Start, command: &[String]) -> Plan;

    /// Reads one event of standard output.
    fn read(&mut self, event: &Value, output: &mut AgentOutput);

    /// Reads one line of standard error, which is shown in any case.
    fn read_error(&mut self, _line: &str, _output: &mut AgentOutput) {}
}
