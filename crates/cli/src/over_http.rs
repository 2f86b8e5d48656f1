//! Every verb beside its address in the API, or the reason why it has none; a new verb fails the test until it is here.

use crate::arguments::Arguments;
use clap::Command;
use std::collections::BTreeSet;

/// How a verb is reached over HTTP.
enum Reach {
    /// By these routes, written as in the API's description.
    By(&'static [&'static str]),
    /// Not at all, and why.
    Not(&'static str),
}

use Reach::{By, Not};

const MACHINE: &str = "it is about this machine, and not about the project";
const CONFIG: &str = "a client does not change the config, or agree to it";
const FILES: &str = "it reads or writes files of the caller's own choice";

const VERBS: &[(&str, Reach)] = &[
    ("agent detect", By(&["POST /api/agents/detect"])),
    ("agent list", By(&["GET /api/agents"])),
    ("agent questions", By(&["GET /api/questions"])),
    ("agent answer", By(&["POST /api/questions/{id}/answer"])),
    ("agent try", Not("it works in a scratch repository of its own")),
    ("completions", Not(MACHINE)),
    ("cost", By(&["GET /api/cost"])),
    ("demo", Not("it makes a project of its own")),
    ("doctor", By(&["GET /api/doctor", "POST /api/doctor/fix"])),
    ("epic add", By(&["POST /api/epics"])),
    ("epic edit", By(&["PATCH /api/epics/{id}"])),
    ("epic list", By(&["GET /api/epics"])),
    ("epic show", By(&["GET /api/epics/{id}"])),
    ("eval", Not("it evaluates an expression and needs no project")),
    ("events", By(&["GET /api/events", "GET /api/live"])),
    ("init", Not("a server has a project already")),
    ("machine show", By(&["GET /api/machine"])),
    ("mcp", Not("it speaks another protocol on its standard input")),
    ("messages", By(&["GET /api/messages", "GET /api/messages/{id}"])),
    ("messages read", By(&["POST /api/messages/{id}/read"])),
    ("messages send", By(&["POST /api/messages"])),
    ("prd add", By(&["POST /api/prds"])),
    ("prd edit", By(&["PATCH /api/prds/{slug}"])),
    ("prd list", By(&["GET /api/prds"])),
    ("prd show", By(&["GET /api/prds/{slug}"])),
    ("run", By(&["POST /api/runs"])),
    ("run answer", By(&["POST /api/runs/{id}/answer"])),
    ("run signal", By(&["POST /api/runs/{id}/signal"])),
    ("run fork", By(&["POST /api/runs/{id}/fork"])),
    ("run list", By(&["GET /api/runs"])),
    ("run log", By(&["GET /api/runs/{id}/sessions", "GET /api/sessions/{name}/output"])),
    ("run pause", By(&["POST /api/runs/{id}/pause"])),
    ("run replay", By(&["GET /api/runs/{id}/replay"])),
    ("run resume", By(&["POST /api/runs/{id}/resume"])),
    ("run show", By(&["GET /api/runs/{id}", "GET /api/runs/{id}/steps", "GET /api/runs/{id}/steps/{step}"])),
    ("run stop", By(&["POST /api/runs/{id}/stop"])),
    ("skill", Not(FILES)),
    ("state export", Not(FILES)),
    ("state import", Not(FILES)),
    ("state prune", Not("it deletes transcripts of finished work, which a client could not undo")),
    ("state rebuild", Not(FILES)),
    ("state validate", By(&["POST /api/task-files/check"])),
    ("state write", Not(FILES)),
    ("task add", By(&["POST /api/tasks"])),
    ("task approve", By(&["POST /api/tasks/{id}/approve"])),
    ("task archive", By(&["POST /api/tasks/{id}/archive", "GET /api/tasks/{id}/archive"])),
    ("task assign", By(&["POST /api/tasks/{id}/assign"])),
    ("task cancel", By(&["POST /api/tasks/{id}/cancel"])),
    ("task complete", By(&["POST /api/tasks/{id}/complete"])),
    ("task criteria", By(&["GET /api/tasks/{id}/criteria", "POST /api/tasks/{id}/criteria"])),
    ("task delete", By(&["DELETE /api/tasks/{id}"])),
    ("task depends", By(&["POST /api/tasks/{id}/depends"])),
    ("task dequeue", By(&["POST /api/tasks/{id}/dequeue"])),
    ("task diff", By(&["GET /api/tasks/{id}/diff", "GET /api/tasks/{id}/diff/files"])),
    ("task edit", By(&["PATCH /api/tasks/{id}", "PUT /api/tasks/{id}/file"])),
    ("task hide", By(&["POST /api/tasks/{id}/hide"])),
    ("task list", By(&["GET /api/tasks"])),
    ("task log", By(&["GET /api/tasks/{id}/sessions", "GET /api/sessions/{name}/output"])),
    ("task note", By(&["POST /api/tasks/{id}/notes", "GET /api/tasks/{id}/notes"])),
    ("task open", By(&["POST /api/tasks/{id}/open"])),
    ("task output", By(&["GET /api/tasks/{id}/chain-output", "POST /api/tasks/{id}/output"])),
    ("task progress", By(&["GET /api/tasks/{id}/file", "POST /api/tasks/{id}/progress"])),
    ("task reassign", By(&["POST /api/tasks/{id}/reassign"])),
    ("task reject", By(&["POST /api/tasks/{id}/reject"])),
    ("task resume", By(&["POST /api/tasks/{id}/resume"])),
    ("task salvage", By(&["GET /api/tasks/{id}/salvages", "POST /api/tasks/{id}/salvage"])),
    ("task show", By(&["GET /api/tasks/{id}", "GET /api/tasks/{id}/checks"])),
    ("task submit", By(&["POST /api/tasks/{id}/submit"])),
    ("token", Not("it gives the way in, so it cannot need it")),
    ("trust", Not(CONFIG)),
    ("up", Not("it is the server")),
    ("url", Not("it gives the way in, so it cannot need it")),
    ("workflow check", By(&["GET /api/workflows/{name}/check", "POST /api/workflows/check"])),
    ("workflow graph", By(&["GET /api/workflows/{name}/graph"])),
    ("workflow list", By(&["GET /api/workflows"])),
    ("workflow new", Not(FILES)),
    ("workflow show", By(&["GET /api/workflows/{name}"])),
];

/// Collects the verbs that can be given.
fn collect(command: &Command, path: &str, verbs: &mut BTreeSet<String>) {
    if !command.is_subcommand_required_set() && !path.is_empty() {
        verbs.insert(path.to_owned());
    }
    for inner in command.get_subcommands().filter(|inner| inner.get_name() != "help") {
        collect(inner, format!("{path} {}", inner.get_name()).trim_start(), verbs);
    }
}

#[test]
fn every_verb_has_a_route_or_a_reason() {
    let mut verbs = BTreeSet::new();
    collect(&Arguments::whole_command(), "", &mut verbs);
    let known: BTreeSet<String> = VERBS.iter().map(|(verb, _)| (*verb).to_owned()).collect();
    assert_eq!(verbs.difference(&known).collect::<Vec<_>>(), Vec::<&String>::new(), "not in the table");
    assert_eq!(known.difference(&verbs).collect::<Vec<_>>(), Vec::<&String>::new(), "no such verb");
    let routes = regatta_server::list_routes();
    for (verb, reach) in VERBS {
        match reach {
            By(named) => {
                for name in *named {
                    assert!(routes.iter().any(|route| route == name), "{verb}: there is no route {name}");
                }
            }
            Not(reason) => assert!(!reason.is_empty(), "{verb}"),
        }
    }
}
