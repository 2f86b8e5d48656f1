//! The table: which command is legal where, what guards it, what it triggers and where it leads.

use super::guard::{self, Guard};
use serde::{Deserialize, Serialize};
use std::fmt;

/// A column of the board; the four states of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Column {
    /// Waits to be assigned.
    Backlog,
    /// An agent has it.
    InProgress,
    /// Its diff waits for a decision.
    WaitingApproval,
    /// Approved and merged; final.
    Verified,
}

/// One of the five commands of the machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[allow(missing_docs, reason = "the names are those of the contract")]
pub enum CommandKind {
    Assign,
    Complete,
    Approve,
    Reject,
    Cancel,
}

/// What a command sets off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs, reason = "the names are those of the contract")]
pub enum Action {
    CreateWorktree,
    StartAgent,
    RecordDiff,
    PauseAgent,
    StopAgent,
    Salvage,
    RemoveWorktree,
    MergeBranch,
    IncrementRejectionCount,
    ResumeAgent,
}

/// One legal cell of the table.
#[derive(Debug, Clone, Copy)]
pub struct Transition {
    /// The state it is legal in.
    pub from: Column,
    /// The command.
    pub command: CommandKind,
    /// What must hold, in the order in which `decide` asks.
    pub guards: &'static [Guard],
    /// What it sets off, in order.
    pub actions: &'static [Action],
    /// The state it leads to.
    pub to: Column,
}

/// Every legal transition; the other 14 cells are refused.
pub const TRANSITIONS: &[Transition] = &[
    Transition {
        from: Column::Backlog,
        command: CommandKind::Assign,
        // A task that is blocked is refused, and not queued, when everybody is busy as well.
        guards: &[
            guard::CAN_ASSIGN,
            guard::DEPENDENCIES_VERIFIED,
            guard::HAS_AVAILABLE_AGENT,
            guard::WITHIN_CONCURRENCY_LIMIT,
        ],
        actions: &[Action::CreateWorktree, Action::StartAgent],
        to: Column::InProgress,
    },
    Transition {
        from: Column::InProgress,
        command: CommandKind::Complete,
        guards: &[guard::DIFF_NOT_EMPTY],
        actions: &[Action::RecordDiff, Action::PauseAgent],
        to: Column::WaitingApproval,
    },
    Transition {
        from: Column::InProgress,
        command: CommandKind::Cancel,
        guards: &[guard::CAN_CANCEL],
        actions: &[Action::StopAgent, Action::Salvage, Action::RemoveWorktree],
        to: Column::Backlog,
    },
    Transition {
        from: Column::WaitingApproval,
        command: CommandKind::Approve,
        guards: &[guard::HAS_DIFF, guard::IS_VALID_APPROVER, guard::DIFF_IS_CURRENT],
        actions: &[Action::MergeBranch, Action::RemoveWorktree],
        to: Column::Verified,
    },
    Transition {
        from: Column::WaitingApproval,
        command: CommandKind::Reject,
        guards: &[guard::CAN_REJECT],
        actions: &[Action::IncrementRejectionCount, Action::ResumeAgent],
        to: Column::InProgress,
    },
    Transition {
        from: Column::WaitingApproval,
        command: CommandKind::Cancel,
        guards: &[guard::CAN_CANCEL],
        actions: &[Action::StopAgent, Action::Salvage, Action::RemoveWorktree],
        to: Column::Backlog,
    },
];

/// Returns the transition for a cell, if it is legal.
pub fn find(from: Column, command: CommandKind) -> Option<&'static Transition> {
    TRANSITIONS.iter().find(|row| row.from == from && row.command == command)
}

impl Column {
    /// The four states, in the order of the board.
    pub const ALL: [Column; 4] =
        [Column::Backlog, Column::InProgress, Column::WaitingApproval, Column::Verified];

    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Column::Backlog => "backlog",
            Column::InProgress => "in_progress",
            Column::WaitingApproval => "waiting_approval",
            Column::Verified => "verified",
        }
    }

    /// Tells whether no command is legal in it.
    pub fn is_final(self) -> bool {
        !TRANSITIONS.iter().any(|row| row.from == self)
    }
}

impl CommandKind {
    /// The five commands.
    pub const ALL: [CommandKind; 5] = [
        CommandKind::Assign,
        CommandKind::Complete,
        CommandKind::Approve,
        CommandKind::Reject,
        CommandKind::Cancel,
    ];

    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            CommandKind::Assign => "ASSIGN",
            CommandKind::Complete => "COMPLETE",
            CommandKind::Approve => "APPROVE",
            CommandKind::Reject => "REJECT",
            CommandKind::Cancel => "CANCEL",
        }
    }
}

impl Action {
    /// Returns its name.
    pub fn as_str(self) -> &'static str {
        match self {
            Action::CreateWorktree => "createWorktree",
            Action::StartAgent => "assignAgent",
            Action::RecordDiff => "generateDiff",
            Action::PauseAgent => "pauseAgent",
            Action::StopAgent => "stopAgent",
            Action::Salvage => "salvage",
            Action::RemoveWorktree => "cleanupWorktree",
            Action::MergeBranch => "mergeBranch",
            Action::IncrementRejectionCount => "incrementRejectionCount",
            Action::ResumeAgent => "resumeAgent",
        }
    }
}

impl fmt::Display for Column {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}

impl fmt::Display for CommandKind {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}
