//! The part of the config that rules depend on.

use crate::AgentId;
use crate::session::Budget;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// What the project's config says that a decision may depend on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Settings {
    /// How many agents may work at the same time.
    pub max_concurrent_agents: u32,
    /// Who approves.
    pub approval: Approval,
    /// In team mode, the only people who may approve; empty means single-user mode.
    pub members: Vec<String>,
    /// The checks there are, by name.
    pub checks: Vec<String>,
    /// How often a session that broke off is tried again.
    pub retries: Retries,
    /// How many sessions in a row a task may have, one criterion each.
    pub sessions: u32,
    /// What sessions may use.
    pub budget: Budget,
    /// Who gets a task that is assigned to nobody in particular, where there are several agents.
    pub default_agent: Option<AgentId>,
    /// The agents there are.
    pub agents: BTreeMap<AgentId, AgentSettings>,
}

/// How often, and after which pause, a crash or a lost connection is tried again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retries {
    /// How often in a row.
    pub count: u32,
    /// The first pause; it doubles with each try.
    pub pause_milliseconds: u64,
}

impl Default for Retries {
    /// Bridges a minute or so, which most disturbances do not outlast.
    fn default() -> Self {
        Retries { count: 3, pause_milliseconds: 5_000 }
    }
}

/// What a decision needs to know of one agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentSettings {
    /// How many tasks it may work on at the same time.
    pub instances: u32,
}

/// Who approves a finished task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Approval {
    /// A person decides.
    Person,
    /// The policy approves every diff that can be merged.
    Auto,
}
