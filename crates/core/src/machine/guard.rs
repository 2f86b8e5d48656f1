//! Guards: what must hold before a command of the machine is carried out.
//!
//! A guard is a value: its name, which the drawings show, and the function that `decide` runs. The functions
//! are beside the rules of their commands, below `task`.

use crate::{Actor, Command, Refusal, Shortage, Situation, Task, task};
use std::fmt;

/// What must hold before a command is carried out.
#[derive(Clone, Copy)]
pub struct Guard {
    /// Its name, as in the contract.
    pub name: &'static str,
    pub(crate) check: fn(&Situation<'_>, &Attempt<'_>) -> Result<(), Stop>,
}

/// A command that somebody gives to a task.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attempt<'a> {
    pub(crate) task: &'a Task,
    pub(crate) actor: &'a Actor,
    pub(crate) command: &'a Command,
}

/// Why a command is not carried out now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Stop {
    /// The rules say no.
    Refused(Refusal),
    /// Nobody is free; the task may be queued.
    Short(Shortage),
}

pub(super) const CAN_ASSIGN: Guard = Guard { name: "canAssign", check: task::can_assign };
pub(super) const DEPENDENCIES_VERIFIED: Guard =
    Guard { name: "dependenciesVerified", check: task::dependencies_verified };
pub(super) const HAS_AVAILABLE_AGENT: Guard =
    Guard { name: "hasAvailableAgent", check: task::has_available_agent };
pub(super) const WITHIN_CONCURRENCY_LIMIT: Guard =
    Guard { name: "withinConcurrencyLimit", check: task::within_concurrency_limit };
pub(super) const DIFF_NOT_EMPTY: Guard = Guard { name: "diffNotEmpty", check: task::diff_not_empty };
pub(super) const HAS_DIFF: Guard = Guard { name: "hasDiff", check: task::has_diff };
pub(super) const IS_VALID_APPROVER: Guard = Guard { name: "isValidApprover", check: task::is_valid_approver };
pub(super) const DIFF_IS_CURRENT: Guard = Guard { name: "diffIsCurrent", check: task::diff_is_current };
pub(super) const CAN_REJECT: Guard = Guard { name: "canReject", check: task::can_reject };
pub(super) const CAN_CANCEL: Guard = Guard { name: "canCancel", check: task::can_cancel };

impl fmt::Debug for Guard {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.name)
    }
}

impl From<Refusal> for Stop {
    fn from(refusal: Refusal) -> Self {
        Stop::Refused(refusal)
    }
}

impl From<Shortage> for Stop {
    fn from(shortage: Shortage) -> Self {
        Stop::Short(shortage)
    }
}
