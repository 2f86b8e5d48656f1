//! What each route answers with, by its name in the description of the API.

/// What a route answers with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Answers {
    /// One object with this schema.
    Object(&'static str),
    /// A page of such objects.
    List(&'static str),
    /// A page of such objects, or the same as server-sent events while the connection is open.
    Stream(&'static str),
    /// Any JSON.
    Json,
    /// A text of this type.
    Text(&'static str),
}

use Answers::{Json, List, Object, Stream, Text};

/// Returns what a route answers with; nothing if it is no part of the API's description.
pub(crate) fn find(name: &str) -> Option<Answers> {
    Some(match name {
        "addTask" | "approveTask" | "assignTask" | "cancelTask" | "changeDependencies" | "completeTask"
        | "dequeueTask" | "editTask" | "hideTask" | "logProgress" | "reassignTask" | "rejectTask"
        | "resumeTask" | "showTask" | "submitTask" | "tickCriteria" | "writeOutput" => Object("Task"),
        "archiveTask" => Object("Archived"),
        "deleteTask" => Object("Deleted"),
        "listChecks" => List("Check"),
        "listCriteria" => List("Criterion"),
        "listDiffFiles" => List("DiffFile"),
        "listSalvages" => List("Salvage"),
        "listTasks" => List("Task"),
        "replaceTaskFile" | "showTaskFile" => Text("text/markdown"),
        "salvageTask" => Object("BroughtBack"),
        "showArchive" => Object("Archive"),
        "showChainOutput" => Object("ChainOutput"),
        "showDiff" => Object("Diff"),
        "checkTaskFile" => Object("UnderstoodFile"),
        "listNotes" => List("Note"),
        "noteTask" => Object("Message"),
        "openTask" => Object("Opened"),
        "markViewed" | "showViewed" => Object("Viewed"),

        "answerRun" | "forkRun" | "pauseRun" | "resumeRun" | "showRun" | "signalRun" | "startRun"
        | "stopRun" => Object("Run"),
        "listRunSessions" | "listTaskSessions" => List("Session"),
        "listRuns" => List("RunRow"),
        "listSteps" => List("Step"),
        "replayRun" => List("ReplayedStep"),
        "showStep" => Object("RunState"),
        "showSession" => Object("Session"),
        "showOutput" => Stream("OutputItem"),

        "checkFiles" | "checkWorkflow" => List("WorkflowFault"),
        "drawWorkflow" => Object("Drawing"),
        "listWorkflows" => List("WorkflowRow"),
        "showWorkflow" => Object("Workflow"),

        "listEpics" => List("Epic"),
        "addEpic" | "editEpic" | "showEpic" => Object("Epic"),
        "listPrds" => List("Prd"),
        "addPrd" | "editPrd" | "showPrd" => Object("Prd"),

        "listMessages" => List("Message"),
        "readMessage" | "sendMessage" | "showMessage" => Object("Message"),

        "answerQuestion" => Object("Question"),
        "detectAgents" => List("InstalledAgent"),
        "listInbox" => List("InboxItem"),
        "setLimit" => Object("Limit"),
        "listAgents" => List("Agent"),
        "listQuestions" => List("Question"),
        "examine" | "repair" => List("Finding"),
        "showCost" => Object("Cost"),
        "showMachine" => Object("Machine"),

        "followAll" => Text("text/event-stream"),
        "followEvents" => Stream("Event"),
        "health" => Object("Health"),
        "describe" => Json,
        _ => return None,
    })
}
