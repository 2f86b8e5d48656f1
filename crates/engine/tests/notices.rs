//! Notices: a command and a webhook learn once what waits, fails or is done, whatever is restarted or fails in between.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit as _, Mac as _};
use regatta_engine::core::session::Grant;
use regatta_engine::core::{Actor, Assignee, Create, Priority, TaskId};
use regatta_engine::orders::{self, Approving, Caller};
use regatta_engine::runs::{self, NewRun};
use regatta_engine::{
    Engine, Notice, NoticeKind, Notices, NoticesSetup, Project, Stop, Timing, answer_question, list_questions,
};
use regatta_testkit::repo::TestRepo;
use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::Duration;
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;

const KEY: &[u8] = b"a key of the test";

const WORKER: &str = r#"
[[session]]
step = [{ write = { path = "task-${task}.txt", text = "session ${session}\n" } }]
"#;

/// Breaks off.
const BREAKER: &str = "[[session]]\nstep = [{ fault = \"crash\" }]\n";

/// A run that asks a person, and ends.
const WORKFLOW: [(&str, &str); 2] = [
    (
        "workflow.toml",
        r#"
name = "ask"
start = "question"
nodes.question = { kind = "approval", question = "'Is it good?'" }
nodes.done = { kind = "end" }
edges = [{ id = "answered", from = "question", to = "done" }]
"#,
    ),
    ("state.schema.json", "{\"type\": \"object\", \"properties\": {}}"),
];

/// Asks for permission to write outside its worktree, and then ends.
const ASKER: &str = r#"
[agents.asker]
kind = "acp"
permissions = "ask"
command = ['sh', '-c', '''
say() { printf '%s\n' "$1"; }
read -r initialize
say '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":1,"agentCapabilities":{}}}'
read -r new_session
say '{"jsonrpc":"2.0","id":2,"result":{"sessionId":"asker"}}'
read -r prompt
say '{"jsonrpc":"2.0","id":7,"method":"session/request_permission","params":{"sessionId":"asker","toolCall":{"toolCallId":"call","kind":"edit","title":"Write","locations":[{"path":"/etc/motd"}]},"options":[{"optionId":"yes","name":"Yes","kind":"allow_once"},{"optionId":"no","name":"No","kind":"reject_once"}]}}'
read -r answer
echo done > answer.txt
say '{"jsonrpc":"2.0","id":3,"result":{"stopReason":"end_turn"}}'
cat > /dev/null
''']

[sandbox]
mode = "off"
"#;

/// Longer than anything here takes.
const TIME_MAX: Duration = Duration::from_secs(60);

struct World {
    repo: TestRepo,
    project: Arc<Project>,
    engine: Engine,
    receiver: TcpListener,
}

/// What the receiver was sent.
struct Sent {
    notice: Notice,
    body: String,
    headers: String,
}

impl Sent {
    fn header(&self, name: &str) -> &str {
        let line = self.headers.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "));
        line.unwrap_or_else(|| panic!("{name} is missing: {}", self.headers))
    }
}

impl World {
    /// Makes a project whose webhook leads to a receiver of the test; `more` is added to the table of the config.
    async fn new(more: &str) -> Self {
        let receiver = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let port = receiver.local_addr().unwrap().port();
        let repo = TestRepo::new();
        repo.write("README.md", "a project\n");
        repo.commit("first");
        Project::init(repo.path()).await.unwrap();
        let config = format!(
            "[agents.worker]\nkind = \"scripted\"\nscript = \".regatta/worker.toml\"\n\
             [notify]\nwebhook = \"http://127.0.0.1:{port}/hook\"\n{more}"
        );
        repo.write(".regatta/config.toml", &config);
        repo.write(".regatta/worker.toml", WORKER);
        repo.write(".regatta/breaker.toml", BREAKER);
        for (name, text) in WORKFLOW {
            repo.write(&format!(".regatta/workflows/ask/{name}"), text);
        }
        let project = Arc::new(Project::open_own(repo.path()).await.unwrap());
        let engine = Engine::start(Arc::clone(&project)).await.unwrap();
        World { repo, project, engine, receiver }
    }

    async fn notify(&self) -> Notices {
        let timing = Timing {
            settle: Duration::from_millis(20),
            pause_min: Duration::from_millis(50),
            pause_max: Duration::from_millis(200),
            deadlines_every: Duration::from_millis(50),
            ..Timing::default()
        };
        let secret = format!("whsec_{}", BASE64_STANDARD.encode(KEY));
        let address = Some("http://shop.localhost:4780".to_owned());
        let setup = NoticesSetup { secret, address, timing };
        Notices::start(Arc::clone(&self.project), setup).await.unwrap().expect("the config names a receiver")
    }

    fn caller() -> Caller {
        Caller { actor: Actor::User("tester".to_owned()), command_id: None, unchanged: None }
    }

    async fn work_on(&self, title: &str) -> TaskId {
        self.give(title, Assignee::Default).await
    }

    async fn give(&self, title: &str, agent: Assignee) -> TaskId {
        let create =
            Create::new(title.to_owned(), String::new(), Vec::new(), BTreeSet::new(), Priority::default());
        let task = orders::create(&self.project, &World::caller(), create.unwrap()).await.unwrap();
        orders::assign(&self.project, &World::caller(), task, agent, None, true).await.unwrap();
        task
    }

    /// Receives one request, and answers it with this status.
    async fn receive(&self, status: u16) -> Sent {
        tokio::time::timeout(TIME_MAX, async {
            let (mut stream, _) = self.receiver.accept().await.unwrap();
            let mut bytes = Vec::new();
            loop {
                let text = String::from_utf8_lossy(&bytes);
                if let Some((headers, body)) = text.split_once("\r\n\r\n") {
                    let headers = headers.to_lowercase();
                    let length = headers.lines().find_map(|line| line.strip_prefix("content-length: "));
                    if body.len() >= length.unwrap().parse().unwrap() {
                        let answer =
                            format!("HTTP/1.1 {status} X\r\ncontent-length: 0\r\nconnection: close\r\n\r\n");
                        let sent = Sent {
                            notice: serde_json::from_str(body).unwrap(),
                            body: body.to_owned(),
                            headers,
                        };
                        stream.write_all(answer.as_bytes()).await.unwrap();
                        return sent;
                    }
                }
                assert_ne!(stream.read_buf(&mut bytes).await.unwrap(), 0, "it breaks off");
            }
        })
        .await
        .expect("a notice comes in time")
    }

    async fn end(self, notices: Notices) {
        notices.stop().await;
        self.engine.stop(Stop::Now).await.unwrap();
    }
}

fn sign(sent: &Sent) -> String {
    let mut mac = Hmac::<sha2::Sha256>::new_from_slice(KEY).unwrap();
    let (id, time) = (sent.header("webhook-id"), sent.header("webhook-timestamp"));
    mac.update(format!("{id}.{time}.{}", sent.body).as_bytes());
    format!("v1,{}", BASE64_STANDARD.encode(mac.finalize().into_bytes())).to_lowercase()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_waits_and_one_that_is_merged_are_told_of_once() {
    let world =
        World::new("command = 'cat >> notices.txt; echo \"$REGATTA_NOTICE_TYPE\" >> types.txt'\n").await;
    let notices = world.notify().await;
    let task = world.work_on("One \"quoted\" \\ title").await;
    let waiting = world.receive(200).await;
    assert_eq!((waiting.notice.kind, waiting.notice.task_id), (NoticeKind::Waiting, Some(1)));
    assert_eq!(waiting.notice.text, "#1 waits for your review: One \"quoted\" \\ title");
    assert_eq!(waiting.notice.url.as_deref(), Some("http://shop.localhost:4780/tasks/1"));
    assert_eq!(waiting.header("webhook-signature"), sign(&waiting));
    assert_eq!(waiting.header("webhook-id"), waiting.notice.id);
    let approving = Approving { feedback: None, head: None, anyway: false };
    orders::approve(&world.project, &World::caller(), task, approving).await.unwrap();
    let done = world.receive(200).await;
    assert_eq!((done.notice.kind, done.notice.task_id), (NoticeKind::Done, Some(1)));
    let types = world.repo.path().join("types.txt");
    regatta_testkit::wait::until("the command ran twice", || {
        std::fs::read_to_string(&types).is_ok_and(|types| types == "waiting\ndone\n")
    });
    let lines = std::fs::read_to_string(world.repo.path().join("notices.txt")).unwrap();
    let ids: Vec<String> =
        lines.lines().map(|line| serde_json::from_str::<Notice>(line).unwrap().id).collect();
    assert_eq!(ids, [waiting.notice.id, done.notice.id], "both receivers get the same notices");
    world.end(notices).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_receiver_that_fails_gets_the_same_notice_again_and_a_restart_loses_none() {
    let world = World::new("").await;
    let mut notices = world.notify().await;
    world.work_on("one").await;
    let first = world.receive(500).await;
    let problem = notices.next_problem().await.unwrap();
    assert!(problem.contains("notify.webhook") && problem.contains("500"), "{problem}");
    let again = world.receive(503).await;
    assert_eq!((&first.notice.id, &first.body), (&again.notice.id, &again.body));
    notices.stop().await;
    // Nobody runs when the next task is done.
    let second = world.work_on("two").await;
    regatta_testkit::wait::until("it is done", || {
        let shown = tokio::task::block_in_place(|| {
            tokio::runtime::Handle::current().block_on(regatta_engine::show_task(&world.project, second))
        });
        shown.is_ok_and(|task| task.phase == "ready")
    });
    let notices = world.notify().await;
    assert_eq!(world.receive(200).await.notice.id, first.notice.id, "what was not delivered comes first");
    let missed = world.receive(200).await;
    assert_eq!(missed.notice.task_id, Some(2));
    // What a receiver has is taken off once its answer is read; a stop before that would send it again, with the same ID.
    let memory = world.repo.path().join(".git/regatta/notices.json");
    regatta_testkit::wait::until("the answer is read", || {
        std::fs::read_to_string(&memory).is_ok_and(|text| !text.contains(&missed.notice.id))
    });
    notices.stop().await;
    let notices = world.notify().await;
    world.work_on("three").await;
    assert_eq!(world.receive(200).await.notice.task_id, Some(3), "nothing is sent twice");
    world.end(notices).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_task_that_waits_too_long_is_overdue_once() {
    let world = World::new("[limits]\nreview = \"1ms\"\n").await;
    let notices = world.notify().await;
    let task = world.work_on("Sell pears").await;
    assert_eq!(world.receive(200).await.notice.kind, NoticeKind::Waiting);
    let overdue = world.receive(200).await.notice;
    assert_eq!((overdue.kind, overdue.task_id), (NoticeKind::Overdue, Some(1)));
    assert_eq!(overdue.text, "#1 is overdue: Sell pears");
    assert_eq!(overdue.url.as_deref(), Some("http://shop.localhost:4780/tasks/1"));
    let approving = Approving { feedback: None, head: None, anyway: false };
    orders::approve(&world.project, &World::caller(), task, approving).await.unwrap();
    assert_eq!(world.receive(200).await.notice.kind, NoticeKind::Done, "it was not said again meanwhile");
    world.end(notices).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_run_that_asks_completes_or_is_stopped_is_told_of() {
    let world = World::new("").await;
    let notices = world.notify().await;
    let begin = async || {
        let workflow = runs::find_workflow(Some(&world.project), "ask").unwrap();
        let new = NewRun {
            workflow,
            level: None,
            prd: None,
            input: serde_json::json!({}),
            board: false,
            recording: None,
        };
        runs::create(&world.project, &World::caller(), new).await.unwrap()
    };
    let run = begin().await;
    let asks = world.receive(200).await.notice;
    assert_eq!((asks.kind, asks.run_id, asks.task_id), (NoticeKind::Waiting, Some(1), None));
    assert_eq!(asks.text, "run 1 (ask) asks: Is it good?");
    assert_eq!(asks.url.as_deref(), Some("http://shop.localhost:4780/runs/1"));
    assert!(asks.next.unwrap().contains("run answer 1"));
    let step = runs::get_run(&world.project, run).await.unwrap().step;
    runs::answer(&world.project, &World::caller(), (run, step), true, "yes".to_owned()).await.unwrap();
    let done = world.receive(200).await.notice;
    assert_eq!((done.kind, done.text.as_str()), (NoticeKind::Done, "run 1 (ask) has ended"));
    let second = begin().await;
    assert_eq!(world.receive(200).await.notice.kind, NoticeKind::Waiting);
    runs::stop(&world.project, &World::caller(), second, None).await.unwrap();
    let failed = world.receive(200).await.notice;
    assert_eq!(
        (failed.kind, failed.run_id, failed.code.as_deref()),
        (NoticeKind::Failed, Some(2), Some("RUN_STOPPED"))
    );
    world.end(notices).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_question_of_an_agent_and_a_failed_task_are_told_of() {
    let more =
        "[agents.breaker]\nkind = \"scripted\"\nscript = \".regatta/breaker.toml\"\n[limits]\nretries = 0\n";
    let world = World::new(&format!("{ASKER}{more}")).await;
    let notices = world.notify().await;
    world.give("Ask", Assignee::Agent("asker".parse().unwrap())).await;
    let asks = world.receive(200).await.notice;
    assert_eq!((asks.kind, asks.task_id), (NoticeKind::Waiting, Some(1)));
    assert!(
        asks.text.starts_with("asker asks for permission: ") && asks.text.contains("/etc/motd"),
        "{asks:?}"
    );
    assert_eq!(asks.url.as_deref(), Some("http://shop.localhost:4780/inbox"));
    let (question, _) = list_questions(&world.project).await.unwrap().remove(0);
    answer_question(&world.project, &World::caller(), &question, Grant::Denied).await.unwrap();
    let waits = world.receive(200).await.notice;
    assert_eq!(waits.text, "#1 waits for your review: Ask");
    world.give("Break", Assignee::Agent("breaker".parse().unwrap())).await;
    let failed = world.receive(200).await.notice;
    assert_eq!((failed.kind, failed.task_id), (NoticeKind::Failed, Some(2)));
    assert_eq!(failed.code.as_deref(), Some("AGENT_SESSION_FAILED"));
    assert_eq!(failed.text, "#2 needs you: Break (AGENT_SESSION_FAILED)");
    world.end(notices).await;
}
