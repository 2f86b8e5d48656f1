//! Who gave a command.

use crate::AgentId;
use serde::{Deserialize, Serialize};
use std::fmt;

/// Who gave a command; stored with each resulting event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", content = "name", rename_all = "lowercase")]
pub enum Actor {
    /// A person, by the name of the local user.
    User(String),
    /// A coding agent.
    Agent(AgentId),
    /// A rule of the config, such as `approval = "auto"`.
    Policy(String),
    /// The engine, reporting the outcome of an effect.
    Engine,
    /// Somebody who wrote in a file; who, is not known.
    Unknown,
}

impl fmt::Display for Actor {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Actor::User(name) => write!(out, "{name}"),
            Actor::Agent(id) => write!(out, "agent {id}"),
            Actor::Policy(name) => write!(out, "policy {name}"),
            Actor::Engine => write!(out, "engine"),
            Actor::Unknown => write!(out, "somebody"),
        }
    }
}
