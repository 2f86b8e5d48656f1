//! What an agent is answered when it asks for permission to do something.

use serde::{Deserialize, Serialize};

/// The policy for what an agent asks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Permissions {
    /// What stays within the working folder is allowed, and the rest denied.
    #[default]
    Worktree,
    /// What stays within the working folder is allowed, and a person is asked for the rest.
    Ask,
    /// Nothing is allowed that has to be asked for.
    Deny,
}
