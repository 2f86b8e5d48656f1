//! Two commands at once: one loses the race, decides again on what the other left, and both end right.
//!
//! The rival of a command is given exactly between its decision and its append, so that the append is a conflict.

use super::accounts::Closing;
use super::orders::{self, Caller};
use super::{accounts, documents, messages, questions};
use crate::core::document::AddEpic;
use crate::core::message::Draft;
use crate::core::run::{Hold, Run};
use crate::core::session::{Grant, Scope, Subject};
use crate::core::{Actor, Assignee, Code, Create, Depend, EpicId, MessageId, Priority, RunId, TaskId};
use crate::error::Error;
use crate::project::Project;
use crate::runs::{self, NewRun};
use crate::runtime::engine;
use crate::task_files::edits::{self, Progress};
use crate::view::version::{Unchanged, Versioned, find_version};
use regatta_store::Seq;
use regatta_testkit::repo::TestRepo;
use serde_json::json;
use std::collections::BTreeSet;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use uuid::Uuid;

type Rival = Pin<Box<dyn Future<Output = ()> + Send>>;

tokio::task_local! {
    static RIVAL: Mutex<Option<Rival>>;
}

/// Lets the rival of a command go first, if it has one that has not; the round calls this before each append.
pub(super) async fn meet_rival() {
    let rival = RIVAL.try_with(|rival| rival.lock().unwrap().take()).ok().flatten();
    if let Some(rival) = rival {
        rival.await;
    }
}

/// Gives a command that decides before its rival and appends after it.
pub(crate) async fn race<T>(
    rival: impl Future<Output = ()> + Send + 'static,
    command: impl Future<Output = T>,
) -> T {
    let raced = async {
        let answer = command.await;
        assert!(RIVAL.with(|rival| rival.lock().unwrap().is_none()), "the command was appended");
        answer
    };
    RIVAL.scope(Mutex::new(Some(Box::pin(rival))), raced).await
}

const CONFIG: &str = r#"
[project]
default_branch = "main"
max_concurrent_agents = 1

[agents.worker]
kind = "command"
command = ["true"]

[budget.project]
tokens = 1000
"#;

async fn open() -> (TestRepo, Arc<Project>) {
    let repo = TestRepo::new();
    repo.write(".regatta/config.toml", CONFIG);
    repo.write(".gitignore", ".regatta/\n");
    repo.commit("a project");
    let project = Arc::new(Project::open_own(repo.path()).await.unwrap());
    (repo, project)
}

fn caller() -> Caller {
    Caller::new(Actor::User("local".to_owned()))
}

fn repeated() -> Caller {
    Caller { command_id: Some(Uuid::from_u128(7)), ..caller() }
}

fn create() -> Create {
    Create::new("A task".to_owned(), String::new(), Vec::new(), BTreeSet::new(), Priority::Medium).unwrap()
}

fn speckit() -> NewRun {
    let workflow = runs::find_workflow(None, "speckit").unwrap();
    let input = json!({ "prd": "Make it so.", "title": "So" });
    NewRun { workflow, prd: None, level: None, input, board: false, recording: None }
}

async fn count(project: &Project, kind: &str) -> usize {
    let rows = project.store().read(Seq(0), 1_000).await.unwrap();
    rows.iter().filter(|row| row.kind == kind).count()
}

fn code_of<T: std::fmt::Debug>(answer: Result<T, Error>) -> Code {
    answer.expect_err("it comes too late").explain().code
}

#[tokio::test]
async fn each_of_two_epics_has_its_own_number() {
    let (_repo, project) = open().await;
    let add = async |project: &Project| {
        documents::add_epic(project, &caller(), AddEpic::new("Epic", String::new(), None).unwrap()).await
    };
    let other = Arc::clone(&project);
    let rival = async move { assert_eq!(add(&other).await.unwrap(), EpicId::FIRST) };
    assert_eq!(race(rival, add(&project)).await.unwrap(), EpicId::FIRST.next());
    assert_eq!(count(&project, "epic:added").await, 2);
}

#[tokio::test]
async fn each_of_two_messages_has_its_own_number() {
    let (_repo, project) = open().await;
    let send = async |project: &Project| {
        let (from, to) = ("person:local".parse().unwrap(), "agent:worker".parse().unwrap());
        let draft = Draft::new(from, to, "note", None, "Mind the gap".to_owned()).unwrap();
        messages::send(project, &caller(), draft, BTreeSet::new()).await.unwrap()
    };
    let other = Arc::clone(&project);
    let rival = async move { assert_eq!(send(&other).await, MessageId::FIRST) };
    assert_eq!(race(rival, send(&project)).await, MessageId::FIRST.next());
    assert_eq!(messages::list(&project).await.unwrap().len(), 2);
}

#[tokio::test]
async fn each_of_two_tasks_has_its_own_number_and_one_of_them_the_agent() {
    let (_repo, project) = open().await;
    let add = async |project: &Project| orders::create(project, &caller(), create()).await.unwrap();
    let other = Arc::clone(&project);
    let rival = async move { assert_eq!(add(&other).await, TaskId::FIRST) };
    let second = race(rival, add(&project)).await;
    assert_eq!(second, TaskId::FIRST.next());

    let assign = async |project: &Project, task| {
        let worker = Assignee::Agent("worker".parse().unwrap());
        orders::assign(project, &caller(), task, worker, None, false).await
    };
    let other = Arc::clone(&project);
    let rival = async move { assign(&other, TaskId::FIRST).await.map(|_| ()).unwrap() };
    assert_eq!(code_of(race(rival, assign(&project, second)).await), Code::AgentAlreadyRunning);
    assert_eq!(count(&project, "task:assigned").await, 1);
}

fn session(run: RunId) -> Subject {
    Subject {
        session: format!("run-{run}."),
        agent_id: "worker".parse().unwrap(),
        task_id: None,
        run_id: Some(run),
        above: Vec::new(),
        role: None,
        number: 1,
        day: jiff::civil::date(2026, 1, 1),
    }
}

#[tokio::test]
async fn two_sessions_are_not_promised_the_same_budget_and_a_question_is_answered_once() {
    let (_repo, project) = open().await;
    let token = engine::take_lease(&project, None).await.unwrap();
    let (first, second) = (session(RunId::FIRST), session(RunId::FIRST.next()));
    let (other, subject) = (Arc::clone(&project), first.clone());
    let rival = async move { drop(accounts::open(&other, token, &subject, false).await.unwrap()) };
    race(rival, accounts::open(&project, token, &second, false)).await.expect_err("all of it is reserved");
    assert_eq!(count(&project, "session:opened").await, 1);

    let asked = (1, "use the network".to_owned(), Vec::new());
    accounts::ask(&project, token, &first, asked).await.unwrap();
    let [(name, _)] = &questions::list_questions(&project).await.unwrap()[..] else { panic!("one question") };
    let (other, question) = (Arc::clone(&project), name.clone());
    let rival = async move {
        drop(questions::answer_question(&other, &caller(), &question, Grant::Allowed).await.unwrap());
    };
    let late = async { questions::answer_question(&project, &caller(), name, Grant::Denied).await };
    assert_eq!(code_of(race(rival, late).await), Code::QuestionNotFound);
    assert_eq!(count(&project, "session:answered").await, 1);

    let (other, subject) = (Arc::clone(&project), first.clone());
    let rival = async move { accounts::close(&other, token, &subject, Closing::lost()).await.unwrap() };
    race(rival, accounts::close(&project, token, &first, Closing::lost())).await.unwrap();
    assert_eq!(count(&project, "session:closed").await, 1);
    assert!(accounts::get_account(&project, Scope::Project).await.unwrap().held.is_empty());
}

#[tokio::test]
async fn each_of_two_runs_has_its_own_number_and_the_definition_is_kept_once() {
    let (_repo, project) = open().await;
    let start = async |project: &Project| runs::create(project, &caller(), speckit()).await.unwrap();
    let other = Arc::clone(&project);
    let rival = async move { assert_eq!(start(&other).await, RunId::FIRST) };
    let second = race(rival, start(&project)).await;
    assert_eq!(second, RunId::FIRST.next());
    assert_eq!(count(&project, "workflow:kept").await, 1);

    let fork = async |project: &Project| runs::fork(project, &caller(), RunId::FIRST, None, None).await;
    let other = Arc::clone(&project);
    let rival = async move { assert_eq!(fork(&other).await.unwrap(), second.next()) };
    assert_eq!(race(rival, fork(&project)).await.unwrap(), second.next().next());
}

#[tokio::test]
async fn two_orders_to_a_run_both_count() {
    let (_repo, project) = open().await;
    let run = runs::create(&project, &caller(), speckit()).await.unwrap();
    let other = Arc::clone(&project);
    let pause = async move { runs::pause(&other, &caller(), run).await.unwrap() };
    race(pause, runs::stop(&project, &caller(), run, None)).await.unwrap();
    let found: Run = runs::get_run(&project, run).await.unwrap();
    assert!(matches!(found.hold(), Some(Hold::Stopping { .. })), "{found:?}");
    assert_eq!((count(&project, "run:paused").await, count(&project, "run:stopping").await), (1, 1));

    let run = runs::create(&project, &caller(), speckit()).await.unwrap();
    let other = Arc::clone(&project);
    let pause = async move { runs::pause(&other, &caller(), run).await.unwrap() };
    race(pause, runs::pause(&project, &caller(), run)).await.unwrap();
    assert_eq!(count(&project, "run:paused").await, 2, "one more, and not two");
}

/// The one that comes second is refused because of the first, or has nothing to do; it is answered the same.
#[tokio::test]
async fn the_same_command_twice_at_once_is_one() {
    let (_repo, project) = open().await;
    let start = async |project: &Project| runs::create(project, &repeated(), speckit()).await.unwrap();
    let other = Arc::clone(&project);
    let rival = async move { assert_eq!(start(&other).await, RunId::FIRST) };
    assert_eq!(race(rival, start(&project)).await, RunId::FIRST);
    assert_eq!(count(&project, "run:created").await, 1);

    let task = orders::create(&project, &caller(), create()).await.unwrap();
    let id = Caller { command_id: Some(Uuid::from_u128(8)), ..caller() };
    let delete = async |project: &Project| orders::delete(project, &id, task).await.unwrap();
    let (other, id_again) = (Arc::clone(&project), id.clone());
    let rival = async move { orders::delete(&other, &id_again, task).await.map(|_| ()).unwrap() };
    assert_eq!(race(rival, delete(&project)).await.task, task);
    assert_eq!(count(&project, "task:deleted").await, 1);

    let reused = orders::create(&project, &id, create()).await;
    assert_eq!(code_of(reused), Code::CommandReused);
}

/// The version is compared in the round: what comes between the look of the caller and the append counts.
#[tokio::test]
async fn a_command_about_what_has_changed_meanwhile_is_refused() {
    let (_repo, project) = open().await;
    let task = orders::create(&project, &caller(), create()).await.unwrap();
    let second = orders::create(&project, &caller(), create()).await.unwrap();
    let of = Versioned::Task(task);
    let versions = vec![find_version(&project, &of).await.unwrap()];
    let seen = Caller { unchanged: Some(Unchanged { of, versions }), ..caller() };
    let depend = Depend { add: BTreeSet::from([second]), remove: BTreeSet::new() };
    let other = Arc::clone(&project);
    let rival = async move {
        let worker = Assignee::Agent("worker".parse().unwrap());
        orders::assign(&other, &caller(), task, worker, None, false).await.map(|_| ()).unwrap();
    };
    let late = race(rival, orders::depend(&project, &seen, task, depend)).await;
    assert_eq!(code_of(late), Code::PreconditionFailed);
    assert!(orders::get_task(&project, task).await.unwrap().dependencies.is_empty());

    // An object that the command does not read is compared as well.
    let of = Versioned::Task(second);
    let versions = vec![find_version(&project, &of).await.unwrap() + 1];
    let seen = Caller { unchanged: Some(Unchanged { of, versions }), ..caller() };
    let stopped = runs::create(&project, &seen, speckit()).await;
    assert_eq!(code_of(stopped), Code::PreconditionFailed);
}

#[tokio::test]
async fn edits_of_a_file_and_marks_are_made_once_under_an_id() {
    let (_repo, project) = open().await;
    let task = orders::create(&project, &caller(), create()).await.unwrap();
    let entry = Progress { did: "half".to_owned(), issues: "None".to_owned(), next: "the rest".to_owned() };
    for _ in 0..2 {
        edits::log_progress(&project, &repeated(), task, &entry).await.unwrap();
    }
    assert_eq!(count(&project, "progress:logged").await, 1);
    let other = Progress { did: "all".to_owned(), ..entry };
    assert_eq!(
        code_of(edits::log_progress(&project, &repeated(), task, &other).await.map(|_| ())),
        Code::CommandReused
    );
}
