//! The codes that errors carry, the same in the CLI, over HTTP and over MCP.
//!
//! Each has a page in `docs/errors/`; a test pairs them.

use serde::{Deserialize, Serialize};
use std::fmt;

macro_rules! codes {
    ($($variant:ident = $name:literal: $summary:literal,)*) => {
        /// A code that names one kind of refusal or failure.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
        pub enum Code {
            $(#[doc = $summary] #[serde(rename = $name)] $variant,)*
        }

        impl Code {
            /// Every code there is.
            pub const ALL: &'static [Code] = &[$(Code::$variant),*];

            /// Returns the code as it is printed.
            pub fn as_str(self) -> &'static str {
                match self { $(Code::$variant => $name,)* }
            }

            /// Returns what the code means, in one line.
            pub fn summary(self) -> &'static str {
                match self { $(Code::$variant => $summary,)* }
            }

            /// Returns its page of the manual, in Markdown.
            pub fn page(self) -> &'static str {
                match self {
                    $(Code::$variant => include_str!(concat!("../../../docs/errors/", $name, ".md")),)*
                }
            }
        }
    };
}

codes! {
    AgentAlreadyRunning = "AGENT_ALREADY_RUNNING": "The agent is already running as many tasks as it may.",
    AgentNotFound = "AGENT_NOT_FOUND": "The config has no agent with that name.",
    AgentOutputInvalid = "AGENT_OUTPUT_INVALID": "A role's output did not match its schema, even after it was asked again.",
    AgentSessionFailed = "AGENT_SESSION_FAILED": "The agent's session failed.",
    AgentStartFailed = "AGENT_START_FAILED": "The agent's program could not be started.",
    AgentStopFailed = "AGENT_STOP_FAILED": "A process of the agent could not be stopped.",
    ApprovalStale = "APPROVAL_STALE": "The diff that was approved is not the current one.",
    ApproverNotAllowed = "APPROVER_NOT_ALLOWED": "This approver may not approve in this project.",
    BaseNotFound = "BASE_NOT_FOUND": "The commit or branch that a workflow starts a task from does not exist.",
    BodyTooLarge = "BODY_TOO_LARGE": "The body of a request is larger than the server accepts.",
    BranchInvalid = "BRANCH_INVALID": "A branch that a workflow names for a task cannot be created.",
    BudgetExceeded = "BUDGET_EXCEEDED": "The budget of tokens, money or time is used up.",
    CheckoutInTheWay = "CHECKOUT_IN_THE_WAY": "A checkout of the target branch has changes that the merge would overwrite.",
    ChecksFailed = "CHECKS_FAILED": "A check of the project failed, or could not be run.",
    CommandReused = "COMMAND_REUSED": "The command ID was already used for another command.",
    ConcurrencyLimitExceeded = "CONCURRENCY_LIMIT_EXCEEDED": "The limit of running agents is reached.",
    ConfigInvalid = "CONFIG_INVALID": "The project's config is invalid.",
    DependencyCycle = "DEPENDENCY_CYCLE": "The dependency would make the task wait for itself.",
    EdgeEvaluationFailed = "EDGE_EVALUATION_FAILED": "An expression in the workflow failed.",
    EditConflict = "EDIT_CONFLICT": "An edit of a run's file changed what the run has changed too.",
    EditRefused = "EDIT_REFUSED": "An edit of a run's file does not fit.",
    EngineAlreadyRunning = "ENGINE_ALREADY_RUNNING": "Another engine works on this project.",
    EpicNotFound = "EPIC_NOT_FOUND": "There is no epic with that number.",
    ExportForeign = "EXPORT_FOREIGN": "The export builds on commits that this repository does not have.",
    ExportInvalid = "EXPORT_INVALID": "The file is not a complete export of a project's state.",
    ExprFailed = "EXPR_FAILED": "The JSONata expression is invalid, or failed on its input.",
    ExprLimit = "EXPR_LIMIT": "The JSONata expression exceeded a limit.",
    FileInvalid = "FILE_INVALID": "The value of a run's file does not match its schema, so the file was not written.",
    FileTaken = "FILE_TAKEN": "Another run under way has a file that the run would write.",
    FileValueFailed = "FILE_VALUE_FAILED": "The value of a run's file could not be computed, so the file was not written.",
    Forbidden = "FORBIDDEN": "An agent tried something that agents may not do.",
    GitFailed = "GIT_FAILED": "A git command failed.",
    GitUnusable = "GIT_UNUSABLE": "The git program is missing or too old.",
    ImportUnknown = "IMPORT_UNKNOWN": "The folder or file holds nothing that can be imported, or several kinds.",
    Internal = "INTERNAL": "A bug in Regatta.",
    IoFailed = "IO_FAILED": "A file could not be read or written.",
    LogUnsound = "LOG_UNSOUND": "The log is inconsistent.",
    MaxIterationsExceeded = "MAX_ITERATIONS_EXCEEDED": "An edge of the workflow reached its iteration limit.",
    MediaTypeUnsupported = "MEDIA_TYPE_UNSUPPORTED": "The body of a request is not of a type that the server reads.",
    MethodNotAllowed = "METHOD_NOT_ALLOWED": "The address exists, but not for this HTTP method.",
    NotARepository = "NOT_A_REPOSITORY": "The folder is not in a git repository with a commit.",
    OriginRefused = "ORIGIN_REFUSED": "The request names another host, or comes from another site.",
    PrdExists = "PRD_EXISTS": "A PRD with that slug already exists.",
    PrdNotFound = "PRD_NOT_FOUND": "There is no PRD with that slug.",
    PreconditionFailed = "PRECONDITION_FAILED": "The object has changed since you read it.",
    ProjectExists = "PROJECT_EXISTS": "The repository already has a Regatta project.",
    ProjectNotFound = "PROJECT_NOT_FOUND": "Neither this folder nor one above it has a Regatta project.",
    ProjectNotTrusted = "PROJECT_NOT_TRUSTED": "The config came with a clone, and nobody here has allowed the programs that it starts.",
    QuestionNotFound = "QUESTION_NOT_FOUND": "No agent waits for an answer to that question.",
    RateLimited = "RATE_LIMITED": "The provider of the agent's model limits its use for now.",
    RouteNotFound = "ROUTE_NOT_FOUND": "The server has nothing at that address.",
    RunFailed = "RUN_FAILED": "The run reached an end node with status `failed`.",
    RunInvalidTransition = "RUN_INVALID_TRANSITION": "The command is not allowed in the run's current state.",
    RunNotFound = "RUN_NOT_FOUND": "There is no run with that number.",
    RunStalled = "RUN_STALLED": "No edge of the workflow holds, and the node is not an end.",
    RunStopped = "RUN_STOPPED": "A person stopped the run.",
    SalvageNotFound = "SALVAGE_NOT_FOUND": "The task has no such salvage.",
    SchemaTooNew = "SCHEMA_TOO_NEW": "The project's database was written by a newer Regatta.",
    ServerNotRunning = "SERVER_NOT_RUNNING": "`regatta up` is not running for this project.",
    SessionEnded = "SESSION_ENDED": "The session that the tools belong to has ended or never existed.",
    SessionNotFound = "SESSION_NOT_FOUND": "There is no session of that name.",
    SignalNotFound = "SIGNAL_NOT_FOUND": "The run's workflow has no signal of that name.",
    SignalRefused = "SIGNAL_REFUSED": "The run does not take the signal now.",
    StateCorrupt = "STATE_CORRUPT": "A state file cannot be read.",
    StateExists = "STATE_EXISTS": "The project has a log, a file or a ref that an import would overwrite.",
    StateInUse = "STATE_IN_USE": "The project's log cannot be moved or replaced while a process uses it.",
    StateInvalid = "STATE_INVALID": "A step would leave a state that violates its schema.",
    StoreFailed = "STORE_FAILED": "The project's database could not be read or written.",
    SubmoduleChanged = "SUBMODULE_CHANGED": "A submodule of the task's worktree has work that would be lost.",
    TapeBaseDiffers = "TAPE_BASE_DIFFERS": "The recorded changes do not fit the current files.",
    TaskBlocked = "TASK_BLOCKED": "The task depends on tasks that are not verified yet.",
    TaskBusy = "TASK_BUSY": "An earlier command for the task is still being carried out.",
    TaskCancelled = "TASK_CANCELLED": "The task that a run waited for was cancelled.",
    TaskInvalidTransition = "TASK_INVALID_TRANSITION": "The command is not allowed in the task's current state.",
    TaskNotFound = "TASK_NOT_FOUND": "There is no task with that number.",
    TaskNotSubmitted = "TASK_NOT_SUBMITTED": "The run ended without submitting the task for approval.",
    TaskNotWhole = "TASK_NOT_WHOLE": "The diff has open criteria, or changes files that Regatta obeys.",
    TaskNoDiff = "TASK_NO_DIFF": "There is no change to review.",
    TooManyConnections = "TOO_MANY_CONNECTIONS": "The server has as many open connections as it accepts.",
    Unauthorized = "UNAUTHORIZED": "The request has no valid cookie or token for this project.",
    UnrelatedHistory = "UNRELATED_HISTORY": "The task's branch has no commit in common with its target.",
    ValidationError = "VALIDATION_ERROR": "A value in the command is invalid.",
    WaitTimedOut = "WAIT_TIMED_OUT": "What the command waited for did not happen in time.",
    WorkflowInvalid = "WORKFLOW_INVALID": "The workflow has errors.",
    WorkflowNotFound = "WORKFLOW_NOT_FOUND": "There is no workflow with that name.",
    WorktreeCreationFailed = "WORKTREE_CREATION_FAILED": "The task's worktree could not be created.",
    WorktreeDirty = "WORKTREE_DIRTY": "Files in the task's worktree changed after it was completed.",
    WorktreeMergeConflict = "WORKTREE_MERGE_CONFLICT": "The task's branch conflicts with the target branch.",
    WorktreeMissing = "WORKTREE_MISSING": "The folder of the task's worktree is missing.",
    WorktreeRemovalFailed = "WORKTREE_REMOVAL_FAILED": "The task's worktree could not be removed.",
}

impl fmt::Display for Code {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.as_str())
    }
}
