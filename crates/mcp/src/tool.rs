//! The tools as a client lists them: names, descriptions, schemas and hints.

use crate::argument::{
    AppendProgress, Argument, Nothing, OfTask, ReadEpic, ReadInputs, ReadMessages, ReadPrd, SendMessage,
    SendSignal, SubmitResult, TickCriterion, WriteChainOutput,
};
use crate::catalogue::{Touch, describe};
use rmcp::handler::server::tool::schema_for_input;
use rmcp::model::{JsonObject, Tool};
use std::sync::Arc;

/// The tools, by name.
pub const NAMES: &[&str] = &[
    "read_task",
    "read_inputs",
    "read_prd",
    "read_epic",
    "read_archive",
    "tick_criterion",
    "append_progress",
    "write_chain_output",
    "send_message",
    "send_signal",
    "read_messages",
    "check_signals",
    "submit_result",
];

/// Returns the tools in the order of [`NAMES`].
pub fn list_tools() -> Vec<Tool> {
    vec![
        tool::<OfTask>(
            "read_task",
            "Read the task",
            "Returns your task: what to do, the acceptance criteria with who claims and what the project's checks have \
             shown, where its file is, and what the last session left for you. Start with this.",
            Touch::Reads,
        ),
        tool::<ReadInputs>(
            "read_inputs",
            "Read what earlier tasks say",
            "Returns what the tasks that yours depends on have written for you. `stale` means that it changed since \
             your task began.",
            Touch::Reads,
        ),
        tool::<ReadPrd>(
            "read_prd",
            "Read the requirements document",
            "Returns the whole requirements document of your task, or another by its slug.",
            Touch::Reads,
        ),
        tool::<ReadEpic>(
            "read_epic",
            "Read the epic",
            "Returns the epic that your task belongs to, with its other tasks, or another by its number.",
            Touch::Reads,
        ),
        tool::<OfTask>(
            "read_archive",
            "Read archived sessions",
            "Returns the sessions that were moved out of your task's progress log because its file was too large.",
            Touch::Reads,
        ),
        tool::<TickCriterion>(
            "tick_criterion",
            "Tick a criterion",
            "Claims that an acceptance criterion holds, or takes the claim back. Tick one only after you have seen that \
             it holds: the project's checks are run after you.",
            Touch::Sets,
        ),
        tool::<AppendProgress>(
            "append_progress",
            "Log progress",
            "Appends an entry to the task's progress log: what you did, what stood in the way, what comes next. Do this \
             before you end.",
            Touch::Adds,
        ),
        tool::<WriteChainOutput>(
            "write_chain_output",
            "Write for later tasks",
            "Writes what the tasks that depend on yours must know, in place of what was written before. Do this when all \
             criteria hold.",
            Touch::Sets,
        ),
        tool::<SendMessage>(
            "send_message",
            "Send a message",
            "Sends a message to a role, an agent, a person, or the agent of your task or of one next to it.",
            Touch::Adds,
        ),
        tool::<SendSignal>(
            "send_signal",
            "Send a signal",
            "Sends a signal to the run that your session is a step of, if its workflow lets your role send it. The step \
             continues.",
            Touch::Adds,
        ),
        tool::<ReadMessages>(
            "read_messages",
            "Read messages",
            "Returns the messages for you, your role and your task, oldest first, and marks them as read.",
            Touch::Sets,
        ),
        tool::<Nothing>(
            "check_signals",
            "Check whether to continue",
            "Tells whether to continue (none), to finish at the next good point (pause, stop), or to end now \
             (cancelled), how much time and budget (tokens, US dollars) is left, and which other work changes the same \
             files (`collisions`). Check between two pieces of work.",
            Touch::Reads,
        ),
        tool::<SubmitResult>(
            "submit_result",
            "Submit the result",
            "Submits the result of the session. If your prompt has a schema for it, errors are returned and \
             you can submit again; the last one counts.",
            Touch::Sets,
        ),
    ]
}

fn tool<A: Argument>(name: &'static str, title: &str, description: &'static str, touch: Touch) -> Tool {
    describe(name, title, description, schema_of::<A>(), touch)
}

fn schema_of<A: Argument>() -> Arc<JsonObject> {
    schema_for_input::<A>().expect("the arguments of a verb are an object")
}
