//! What the tests of the rules share: a world without a world.
//!
//! [`World`] keeps what the engine would keep and answers effects as git and agents would; [`check`] drives it by
//! lines of text and compares the text that comes out. Tests of rules go through these two and nothing else.

mod documents;
mod messages;
mod runs;
mod samples;
mod script;
mod sessions;
mod world;

pub(crate) use documents::{check_documents, document_facts, document_samples};
pub(crate) use messages::{check_messages, message_fact, message_samples};
pub(crate) use runs::run_samples;
pub(crate) use samples::{
    agent, breakdown, commit, complete, diff, evidence, failure, id, progress, samples, task_source, user,
};
pub(crate) use script::{check, render_refusal, run};
pub(crate) use sessions::session_samples;
pub(crate) use world::{Step, World, task_of};
