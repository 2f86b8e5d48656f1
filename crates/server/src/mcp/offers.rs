//! The tools of a person's agent, each with the route that it calls.

use regatta_mcp::Touch::{self, Adds, Ends, Reads, Sets};

/// A tool.
pub(super) struct Offer {
    pub(super) name: &'static str,
    /// The name of its route.
    pub(super) route: &'static str,
    pub(super) touch: Touch,
    /// What the summary of the route does not say.
    pub(super) more: &'static str,
}

const fn offer(name: &'static str, route: &'static str, touch: Touch, more: &'static str) -> Offer {
    Offer { name, route, touch, more }
}

/// The tools, in the order in which they are listed.
pub(super) const OFFERS: &[Offer] = &[
    offer("list_tasks", "listTasks", Reads, "`waitsFor` says who has the next move: `you` is the person."),
    offer("show_task", "showTask", Reads, "Errors have a `hint` that says how to recover."),
    offer("read_task_file", "showTaskFile", Reads, ""),
    offer("read_diff", "showDiff", Reads, "Begin with `stat`; read a large diff with `read_diff_files`."),
    offer("read_diff_files", "listDiffFiles", Reads, "Use `limit` and `after` for the next files."),
    offer("list_sessions", "listTaskSessions", Reads, "Their names are for `read_log`."),
    offer("read_log", "showOutput", Reads, "`tail` gives the last items."),
    offer("read_output", "showChainOutput", Reads, ""),
    offer("list_salvages", "listSalvages", Reads, ""),
    offer("add_task", "addTask", Adds, "Write acceptance criteria that can be checked."),
    offer("edit_task", "editTask", Sets, ""),
    offer("delete_task", "deleteTask", Ends, ""),
    offer("change_dependencies", "changeDependencies", Sets, ""),
    offer("assign_task", "assignTask", Sets, "It is queued if the agent is busy."),
    offer("reassign_task", "reassignTask", Sets, ""),
    offer("dequeue_task", "dequeueTask", Sets, ""),
    offer("resume_task", "resumeTask", Sets, ""),
    offer("submit_task", "submitTask", Sets, "The person then approves it or sends it back."),
    offer("reject_task", "rejectTask", Adds, ""),
    offer("cancel_task", "cancelTask", Ends, ""),
    offer("hide_task", "hideTask", Sets, ""),
    offer("list_epics", "listEpics", Reads, ""),
    offer("show_epic", "showEpic", Reads, ""),
    offer("add_epic", "addEpic", Adds, ""),
    offer("edit_epic", "editEpic", Sets, ""),
    offer("list_prds", "listPrds", Reads, ""),
    offer("show_prd", "showPrd", Reads, ""),
    offer("add_prd", "addPrd", Adds, ""),
    offer("edit_prd", "editPrd", Sets, ""),
    offer("list_workflows", "listWorkflows", Reads, ""),
    offer("show_workflow", "showWorkflow", Reads, "It says which input `start_run` needs."),
    offer("list_runs", "listRuns", Reads, ""),
    offer("show_run", "showRun", Reads, "A run that waits for a person has a `question`."),
    offer("list_run_steps", "listSteps", Reads, ""),
    offer("list_run_sessions", "listRunSessions", Reads, "Their names are for `read_log`."),
    offer("start_run", "startRun", Adds, ""),
    offer("answer_run", "answerRun", Sets, "Answer with what the person said, not with a guess."),
    offer("signal_run", "signalRun", Sets, "`show_run` lists the `signals` that a run takes."),
    offer("pause_run", "pauseRun", Sets, ""),
    offer("resume_run", "resumeRun", Sets, ""),
    offer("stop_run", "stopRun", Ends, ""),
    offer("list_agents", "listAgents", Reads, ""),
    offer("list_questions", "listQuestions", Reads, "The person answers them with `regatta agent answer`."),
    offer("list_messages", "listMessages", Reads, ""),
    offer("send_message", "sendMessage", Adds, ""),
    offer("show_cost", "showCost", Reads, ""),
];

/// What an agent may try, and only a person does; with the command of the person.
pub(super) const PERSONS_OWN: &[(&str, &str)] = &[
    ("approve_task", "regatta task approve"),
    ("merge_task", "regatta task approve"),
    ("answer_question", "regatta agent answer"),
];
