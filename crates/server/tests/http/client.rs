//! A project with an engine and a server, and a client that sends bytes as they are.

use regatta_engine::core::Actor;
use regatta_engine::{Engine, Project, Stop};
use regatta_server::{Keys, Limits, PublicUrl, Server, Settings};
use regatta_testkit::repo::TestRepo;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;
use std::time::Duration;

/// Longer than anything here takes; a test that comes to it fails.
const TIME_MAX: Duration = Duration::from_secs(60);

const CONFIG: &str = r#"
[agents.worker]
kind = "scripted"
script = ".regatta/scripts/worker.toml"
"#;

const WORKER: &str = r#"
[[session]]
turns = 2
step = [
    { write = { path = "task-${task}.txt", text = "session ${session}\n" } },
    { result = { summary = "task-${task}.txt is written" } },
]
"#;

/// A project that is served.
pub(crate) struct Served {
    pub(crate) port: u16,
    pub(crate) keys: Keys,
    server: Server,
    engine: Engine,
    pub(crate) repo: TestRepo,
}

/// What came back.
#[derive(Debug)]
pub(crate) struct Response {
    pub(crate) status: u16,
    pub(crate) headers: BTreeMap<String, String>,
    pub(crate) body: String,
}

impl Response {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    pub(crate) fn code(&self) -> String {
        self.json()["error"]["code"].as_str().unwrap_or_default().to_owned()
    }
}

impl Served {
    pub(crate) async fn start() -> Self {
        Served::start_with(Limits::default()).await
    }

    pub(crate) async fn start_with(limits: Limits) -> Self {
        Served::start_of(CONFIG, &[], limits, None).await
    }

    /// Starts with another config, and files besides.
    pub(crate) async fn start_in(config: &str, files: &[(&str, &str)]) -> Self {
        Served::start_of(config, files, Limits::default(), None).await
    }

    /// Starts one that a proxy shows to others.
    pub(crate) async fn start_behind(limits: Limits, public: Option<PublicUrl>) -> Self {
        Served::start_of(CONFIG, &[], limits, public).await
    }

    async fn start_of(
        config: &str,
        files: &[(&str, &str)],
        limits: Limits,
        public: Option<PublicUrl>,
    ) -> Self {
        let repo = TestRepo::new();
        repo.write("README.md", "a project\n");
        repo.commit("first");
        Project::init(repo.path()).await.expect("a project can be made");
        repo.write(".regatta/config.toml", config);
        files.iter().for_each(|(name, text)| repo.write(name, text));
        repo.write(".regatta/scripts/worker.toml", WORKER);
        let project = Arc::new(Project::open_own(repo.path()).await.expect("the project opens"));
        let engine = Engine::start(Arc::clone(&project)).await.expect("the engine starts");
        let settings = Settings { port: None, actor: Actor::User("tester".to_owned()), limits, public };
        let server = Server::start(Arc::clone(&project), settings).await.expect("the server starts");
        let (port, keys) = (server.port(), server.keys().clone());
        Served { port, keys, server, engine, repo }
    }

    /// Writes a file of the project's own checkout.
    pub(crate) fn write(&self, path: &str, text: &str) {
        self.repo.write(path, text);
    }

    pub(crate) fn read(&self, path: &str) -> String {
        std::fs::read_to_string(self.repo.path().join(path)).expect("the file is there")
    }

    pub(crate) fn remove(&self, path: &str) {
        std::fs::remove_file(self.repo.path().join(path)).expect("the file is there");
    }

    pub(crate) async fn stop(self) {
        self.server.stop().await;
        self.engine.stop(Stop::Now).await.expect("the engine stops");
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(SocketAddr::from((Ipv4Addr::LOCALHOST, self.port)))
            .expect("the server listens");
        stream.set_read_timeout(Some(TIME_MAX)).expect("the time can be set");
        stream
    }

    /// Sends bytes, and reads what comes back until the server closes.
    pub(crate) fn send(&self, request: &str) -> Response {
        let mut stream = self.connect();
        // What the server refuses early it does not read to the end.
        let _ = stream.write_all(request.as_bytes());
        read(&mut stream)
    }

    /// Sends a request of a program with the token.
    pub(crate) fn call(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Response {
        let token = format!("Bearer {}", self.keys.token());
        let mut all = vec![("authorization", token.as_str())];
        all.extend(headers);
        self.plain(method, path, &all, body)
    }

    /// Sends a request with exactly these headers, besides its host.
    pub(crate) fn plain(
        &self,
        method: &str,
        path: &str,
        headers: &[(&str, &str)],
        body: Option<&Value>,
    ) -> Response {
        let mut text =
            format!("{method} {path} HTTP/1.1\r\nhost: localhost:{}\r\nconnection: close\r\n", self.port);
        for (name, value) in headers {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        let body = body.map(ToString::to_string);
        if let Some(body) = &body {
            text.push_str(&format!("content-type: application/json\r\ncontent-length: {}\r\n", body.len()));
        }
        self.send(&format!("{text}\r\n{}", body.unwrap_or_default()))
    }

    /// Sends a text of some type, with the token and a condition.
    pub(crate) fn send_text(&self, method: &str, path: &str, media: &str, tag: &str, text: &str) -> Response {
        let (token, length) = (self.keys.token(), text.len());
        self.send(&format!(
            "{method} {path} HTTP/1.1\r\nhost: localhost:{}\r\nauthorization: Bearer {token}\r\nconnection: close\r\n\
             if-match: {tag}\r\ncontent-type: {media}\r\ncontent-length: {length}\r\n\r\n{text}",
            self.port
        ))
    }

    /// Opens the stream of events, and leaves it open until it is dropped.
    pub(crate) fn follow_events(&self) -> TcpStream {
        let mut stream = self.connect();
        let (port, token) = (self.port, self.keys.token());
        let head = format!("host: localhost:{port}\r\nauthorization: Bearer {token}");
        let request = format!("GET /api/events HTTP/1.1\r\n{head}\r\n\r\n");
        stream.write_all(request.as_bytes()).expect("the request can be sent");
        stream
    }

    pub(crate) fn get(&self, path: &str) -> Response {
        self.call("GET", path, &[], None)
    }

    pub(crate) fn post(&self, path: &str, body: &Value) -> Response {
        self.call("POST", path, &[], Some(body))
    }
}

pub(crate) fn read(stream: &mut TcpStream) -> Response {
    let mut bytes = Vec::new();
    // A reset after the answer is as good as an end.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8_lossy(&bytes);
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
    let mut lines = head.lines();
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|status| status.parse().ok());
    let header =
        |line: &str| line.split_once(": ").map(|(name, value)| (name.to_lowercase(), value.to_owned()));
    Response {
        status: status.unwrap_or_default(),
        headers: lines.filter_map(header).collect(),
        body: body.to_owned(),
    }
}
