//! Logs written by earlier versions must replay to what they meant.
//!
//! See `histories/README.md`: a history is added with every change of an event, and never changed.

use expect_test::expect_file;
use regatta_core::machine::Column;
use regatta_core::message::{self, Address};
use regatta_core::session::{self, Account, Scope};
use regatta_core::{
    AnyEvent, EpicId, Event, Fact, PrdSlug, RunId, Stage, Task, TaskId, document, effects,
    replay_assignments, replay_catalogue, replay_epic, replay_inbox, replay_plan, replay_prd, replay_run,
    replay_task, run,
};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::path::{Path, PathBuf};

#[test]
fn every_history_replays_to_what_it_meant() {
    for path in histories() {
        let facts = load(&path);
        expect_file![path.with_extension("expected")].assert_eq(&render(&facts));
    }
}

#[test]
fn every_kind_of_event_is_in_a_history() {
    let recorded: BTreeSet<&str> =
        histories().iter().flat_map(|path| load(path)).map(|fact| fact.event.kind()).collect();
    let missing: Vec<&str> = AnyEvent::kinds().filter(|kind| !recorded.contains(kind)).collect();
    assert!(missing.is_empty(), "record a history with {missing:?}");
}

/// Renaming a field in the code must not rename it in the log.
#[test]
fn every_event_and_effect_is_written_as_before() {
    let mut events: BTreeMap<&str, String> = BTreeMap::new();
    let mut effects: BTreeMap<&str, String> = BTreeMap::new();
    for path in histories() {
        for fact in load(&path) {
            events.insert(fact.event.kind(), to_json(&fact.event));
        }
        effects.extend(list_effects(&load(&path)));
    }
    let lines =
        |written: BTreeMap<&str, String>| written.into_values().map(|line| line + "\n").collect::<String>();
    expect_file!["wire/events.jsonl"].assert_eq(&lines(events));
    expect_file!["wire/effects.jsonl"].assert_eq(&lines(effects));
}

/// Returns an effect of each kind that followed from the facts.
fn list_effects(facts: &[Fact<AnyEvent>]) -> BTreeMap<&'static str, String> {
    let mut tasks: BTreeMap<TaskId, Task> = BTreeMap::new();
    let mut runs: BTreeMap<RunId, run::Run> = BTreeMap::new();
    let mut found = BTreeMap::new();
    for Fact { at, actor, event } in facts.iter().cloned() {
        match event {
            AnyEvent::Task(event) => {
                let id = event.task();
                let fact = Fact { at, actor, event };
                let Some(task) = Task::evolve(tasks.remove(&id), &fact) else { continue };
                found.extend(effects(&task, &fact.event).map(|effect| (effect.kind(), to_json(&effect))));
                tasks.insert(id, task);
            }
            AnyEvent::Run(event) => {
                let Some(id) = event.find_run() else { continue };
                let before = runs.remove(&id);
                let was_asked = before.as_ref().is_some_and(run::Run::is_asked);
                let fact = Fact { at, actor, event };
                let Some(run) = run::Run::evolve(before, &fact) else { continue };
                let asked = run::effects(was_asked, &run, &fact.event);
                found.extend(asked.iter().map(|effect| (effect.kind(), to_json(effect))));
                runs.insert(id, run);
            }
            _ => {}
        }
    }
    found
}

fn to_json(written: &impl serde::Serialize) -> String {
    serde_json::to_string(written).expect("it is plain data")
}

fn histories() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/histories");
    let entries = std::fs::read_dir(folder).expect("the folder of histories can be read");
    let mut paths: Vec<PathBuf> = entries
        .map(|entry| entry.expect("an entry can be read").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"))
        .collect();
    paths.sort();
    assert!(!paths.is_empty());
    paths
}

fn load(path: &Path) -> Vec<Fact<AnyEvent>> {
    let text = std::fs::read_to_string(path).expect("a history can be read");
    let parse = |(index, line): (usize, &str)| {
        parse_fact(line).unwrap_or_else(|error| panic!("{}:{}: {error}", path.display(), index + 1))
    };
    text.lines().enumerate().map(parse).collect()
}

fn parse_fact(line: &str) -> Result<Fact<AnyEvent>, serde_json::Error> {
    let mut value: serde_json::Value = serde_json::from_str(line)?;
    Ok(Fact {
        at: serde_json::from_value(value["at"].take())?,
        actor: serde_json::from_value(value["actor"].take())?,
        event: serde_json::from_value(value["event"].take())?,
    })
}

fn render(log: &[Fact<AnyEvent>]) -> String {
    let (mut tasks, mut documents, mut runs) = (Vec::new(), Vec::new(), Vec::new());
    let mut sessions = Vec::new();
    let mut messages = Vec::new();
    for Fact { at, actor, event } in log.iter().cloned() {
        match event {
            AnyEvent::Task(event) => tasks.push(Fact { at, actor, event }),
            AnyEvent::Document(event) => documents.push(Fact { at, actor, event }),
            AnyEvent::Run(event) => runs.push(Fact { at, actor, event }),
            AnyEvent::Session(event) => sessions.push(Fact { at, actor, event }),
            AnyEvent::Message(event) => messages.push(Fact { at, actor, event }),
        }
    }
    let work = format!("{}{}{}", render_documents(&documents), render_tasks(&tasks), render_runs(&runs));
    format!("{work}{}{}", render_sessions(&sessions), render_messages(&messages))
}

fn render_sessions(facts: &[Fact<session::Event>]) -> String {
    let mut accounts: BTreeMap<Scope, Account> = BTreeMap::new();
    for fact in facts {
        for scope in fact.event.subject().scopes() {
            let account = accounts.remove(&scope).unwrap_or_default();
            accounts.insert(scope, account.evolve(fact));
        }
    }
    let mut text = String::new();
    for (scope, account) in accounts {
        let _ = writeln!(text, "account of {scope}: {:?}", account.spent);
        let _ = writeln!(text, "    held {:?}, resumable {:?}", account.held, account.resumable);
        let _ = writeln!(text, "    asked {:?}", account.questions.keys().collect::<Vec<_>>());
    }
    text
}

fn render_messages(facts: &[Fact<message::Event>]) -> String {
    let mut text = String::new();
    let inboxes: BTreeSet<Address> = facts.iter().map(|fact| fact.event.address()).collect();
    for address in inboxes {
        let inbox = replay_inbox(facts.iter().filter(|fact| fact.event.address() == address));
        let party = &address.party;
        let run = address.run.map_or_else(String::new, |run| format!(" of run {run}"));
        for (id, kept) in inbox.expect("the history is sound").messages() {
            let _ = writeln!(text, "message {id} in {party}{run}, sent {} by {}", kept.sent_at, kept.actor);
            let _ = writeln!(text, "    read {:?}", kept.read_at);
            let _ = writeln!(text, "    {}", serde_json::to_string(&kept.letter).expect("it is plain data"));
        }
    }
    text
}

fn render_runs(facts: &[Fact<run::Event>]) -> String {
    let mut text = String::new();
    for fact in facts {
        if let run::Event::WorkflowKept { digest, name, files } = &fact.event {
            let _ = writeln!(text, "workflow {name} {digest}: {:?}", files.keys().collect::<Vec<_>>());
        }
    }
    let ids: BTreeSet<RunId> = facts.iter().filter_map(|fact| fact.event.find_run()).collect();
    for id in ids {
        let own = facts.iter().filter(|fact| fact.event.find_run() == Some(id));
        let run = replay_run(own).expect("the history is sound").expect("the run was created");
        let _ = writeln!(text, "run {id} {} at level {} ({})", run.workflow, run.level, run.status());
        let _ = writeln!(text, "    from {} to {}", run.created_at, run.updated_at);
        let _ = writeln!(
            text,
            "    step {} at {}, item {:?}, hold {:?}",
            run.step,
            run.node,
            run.item,
            run.hold()
        );
        let _ = match &run.situation {
            run::Situation::Working(working) => writeln!(text, "    {:?}", working.phase),
            ended => writeln!(text, "    {ended:?}"),
        };
        let _ = writeln!(text, "    taken {:?}, visits {:?}", run.taken, run.visits);
        let _ = writeln!(text, "    tasks {:?}, sent back {:?}", run.tasks, run.sent_back);
        let _ = writeln!(text, "    input {}, feedback {}", *run.sheet.input(), *run.sheet.feedback());
        let _ = writeln!(text, "    parent {:?}, forked {:?}", run.parent, run.forked);
        if let Some(note) = &run.imported {
            let _ = writeln!(
                text,
                "    imported from {}: {:?}, left out {:?}",
                note.folder, note.files, note.left_out
            );
        }
        let _ = writeln!(text, "    state {}", *run.sheet.state());
    }
    text
}

fn render_documents(facts: &[Fact<document::Event>]) -> String {
    let mut text = String::new();
    let epics: BTreeSet<EpicId> = facts.iter().filter_map(|fact| fact.event.find_epic()).collect();
    let prds: BTreeSet<&PrdSlug> = facts.iter().filter_map(|fact| fact.event.find_prd()).collect();
    let catalogue = replay_catalogue(facts).expect("the history is sound");
    for id in epics {
        let own = facts.iter().filter(|fact| fact.event.find_epic() == Some(id));
        let epic = replay_epic(own).expect("the history is sound").expect("the epic was added");
        let _ = writeln!(text, "epic {id} {} for {:?}: {:?}", epic.title, epic.prd, epic.description);
        let _ = writeln!(text, "    from {} to {}", epic.created_at, epic.updated_at);
        assert_eq!(catalogue.epics[&id].title, epic.title);
    }
    for slug in prds {
        let own = facts.iter().filter(|fact| fact.event.find_prd() == Some(slug));
        let prd = replay_prd(own).expect("the history is sound").expect("the PRD was added");
        let _ = writeln!(text, "PRD {slug} {}: {:?}", prd.title, prd.text);
        let _ = writeln!(text, "    from {} to {}", prd.created_at, prd.updated_at);
        assert_eq!(catalogue.prds[slug].bytes, prd.text.len() as u64);
    }
    text
}

fn render_tasks(facts: &[Fact<Event>]) -> String {
    let mut text = String::new();
    let ids: BTreeSet<TaskId> = facts.iter().map(|fact| fact.event.task()).collect();
    let plan = replay_plan(facts);
    for id in ids {
        let own = facts.iter().filter(|fact| fact.event.task() == id);
        let Some(task) = replay_task(own).expect("the history is sound") else {
            let _ = writeln!(text, "#{id} is deleted");
            continue;
        };
        render_task(&mut text, &task);
        let _ = writeln!(text, "    dependents {:?}", numbers(plan.dependents(id)));
    }
    let assignments = replay_assignments(facts);
    for (task, assignment) in &assignments.held {
        let _ = writeln!(text, "{} is on #{task}: {:?}", assignment.agent, assignment.state);
    }
    for queued in assignments.in_order() {
        let _ = writeln!(text, "#{} waits for {} since {}", queued.task, queued.agent, queued.since);
    }
    text
}

fn render_task(text: &mut String, task: &Task) {
    let _ = writeln!(text, "#{} {} ({:?}, {})", task.id, task.title, task.priority, task.column());
    let _ = writeln!(text, "    from {} to {}", task.created_at, task.updated_at);
    let _ = writeln!(
        text,
        "    {} attempts, {} sessions, {} completions, {} rejections",
        task.attempts, task.sessions, task.completions, task.rejection_count
    );
    let _ = writeln!(text, "    depends on {:?}", numbers(task.dependencies.iter().copied()));
    if let Some(epic) = task.epic {
        let _ = writeln!(text, "    of epic {epic}");
    }
    if let Some(prd) = &task.prd {
        let _ = writeln!(text, "    for PRD {prd}");
    }
    for salvage in &task.salvages {
        let _ = writeln!(text, "    salvage {} {}", salvage.name, salvage.commit.short());
    }
    if let Some(diff) = task.diff() {
        let _ = writeln!(text, "    diff {} +{} -{}", diff.digest, diff.lines_added, diff.lines_removed);
    }
    if let Stage::Verified(landed) = &task.stage {
        assert_eq!(task.column(), Column::Verified);
        let _ = writeln!(
            text,
            "    merged as {}, approved by {}, cleanup {:?}",
            landed.commit.short(),
            landed.approver,
            landed.cleanup
        );
    }
    if let Some(summary) = task.forecast.summary() {
        let _ = writeln!(text, "    {summary}");
    }
    if task.hidden {
        let _ = writeln!(text, "    hidden");
    }
    if let Some(error) = &task.error {
        let _ = writeln!(text, "    error {}: {}", error.code, error.message);
    }
    let _ = writeln!(text, "    agent {:?}, worktree {:?}", task.agent_state(), task.worktree_state());
}

fn numbers(ids: impl IntoIterator<Item = TaskId>) -> Vec<u32> {
    ids.into_iter().map(TaskId::number).collect()
}
