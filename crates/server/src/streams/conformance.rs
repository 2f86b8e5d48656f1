//! The cases of the official suite that read, against the reading half of the protocol.
//!
//! The suite makes its streams itself, which cannot be done here. So the test keeps streams in memory and offers what is
//! needed to fill them; everything that reads goes through [`read`], as for the log. Cases that are about writing, about
//! content that is not JSON, or about pages of other origins are left out by name.

use super::source::{Source, Tail};
use super::{Request, read};
use crate::answer::{self, Answer, Body};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method, Response, StatusCode};
use http_body_util::BodyExt as _;
use hyper::body::Incoming;
use hyper::service::service_fn;
use hyper_util::rt::TokioIo;
use regatta_engine::core::Problem;
use regatta_testkit::agent_programs::find_program;
use serde_json::Value;
use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use std::time::Duration;
use tokio::net::TcpListener;
use tokio::sync::watch;

/// A stream in memory.
#[derive(Debug, Clone, Default)]
struct Kept {
    values: Vec<Value>,
    is_closed: bool,
}

type Streams = Arc<Mutex<HashMap<String, watch::Sender<Kept>>>>;

struct Memory(watch::Receiver<Kept>);

impl Source for Memory {
    async fn tail(&mut self) -> Result<Tail, Problem> {
        let kept = self.0.borrow();
        Ok(Tail { count: kept.values.len() as u64, is_closed: kept.is_closed })
    }

    async fn read(&mut self, after: u64) -> Result<Vec<Value>, Problem> {
        let after = usize::try_from(after).unwrap();
        Ok(self.0.borrow().values.iter().skip(after).cloned().collect())
    }

    async fn wait(&mut self, after: u64, limit: Duration) {
        let changed = self.0.wait_for(|kept| kept.values.len() as u64 > after || kept.is_closed);
        let _ = tokio::time::timeout(limit, changed).await;
    }

    fn is_over(&self) -> bool {
        false
    }
}

async fn handle(streams: Streams, request: http::Request<Incoming>) -> Response<Body> {
    let (parts, body) = request.into_parts();
    let body = body.collect().await.map_or_else(|_| Bytes::new(), |body| body.to_bytes());
    let path = parts.uri.path().to_owned();
    let mut response = match parts.method {
        Method::GET | Method::HEAD => {
            let found = streams.lock().unwrap().get(&path).map(watch::Sender::subscribe);
            match found {
                None => status(StatusCode::NOT_FOUND),
                Some(found) => {
                    let is_head = parts.method == Method::HEAD;
                    let query = parts.uri.query().unwrap_or_default();
                    match Request::parse(&path, query, &parts.headers, is_head) {
                        Ok(request) => read(Memory(found), request).await.unwrap_or_else(refuse),
                        Err(problem) => refuse(problem),
                    }
                }
            }
        }
        Method::PUT | Method::POST => write(&streams, &path, &parts.headers, &body),
        _ => status(StatusCode::METHOD_NOT_ALLOWED),
    };
    answer::harden(&mut response);
    response
}

fn refuse(problem: Problem) -> Response<Body> {
    Answer::json(problem.to_json()).status(StatusCode::BAD_REQUEST).into_response(true, &HeaderMap::new())
}

fn status(status: StatusCode) -> Response<Body> {
    Answer::text("text/plain", "").status(status).into_response(false, &HeaderMap::new())
}

/// Just enough writing to fill a stream: a list of JSON is as many values.
fn write(streams: &Streams, path: &str, headers: &HeaderMap, body: &[u8]) -> Response<Body> {
    let mut streams = streams.lock().unwrap();
    let is_new = !streams.contains_key(path);
    let stream = streams.entry(path.to_owned()).or_insert_with(|| watch::Sender::new(Kept::default()));
    stream.send_modify(|kept| {
        match serde_json::from_slice(body) {
            Ok(Value::Array(values)) => kept.values.extend(values),
            Ok(value) => kept.values.push(value),
            Err(_) => {}
        }
        kept.is_closed |= headers.get("stream-closed").is_some_and(|closed| closed == "true");
    });
    let offset = super::offset::render(stream.borrow().values.len() as u64);
    let mut response = status(if is_new { StatusCode::CREATED } else { StatusCode::NO_CONTENT });
    let headers = response.headers_mut();
    headers.insert(super::read::NEXT, HeaderValue::from_str(&offset).unwrap());
    headers.insert(http::header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(HeaderName::from_static("location"), HeaderValue::from_str(path).unwrap());
    response
}

async fn serve() -> String {
    let listener = TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
    let address = listener.local_addr().unwrap();
    let streams = Streams::default();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let streams = Arc::clone(&streams);
            let service = service_fn(move |request| {
                let streams = Arc::clone(&streams);
                async move { Ok::<_, Infallible>(handle(streams, request).await) }
            });
            let stream = TokioIo::new(stream);
            tokio::spawn(hyper::server::conn::http1::Builder::new().serve_connection(stream, service));
        }
    });
    format!("http://{address}")
}

/// The cases that read JSON, by the words that their names begin with.
const CASES: &[&str] = &[
    "should return empty JSON array for offset=now on JSON streams",
    "should return 404 for offset=now",
    "should accept live=sse query parameter for application/json",
    "JSON SSE catch-up pairs every data event with a control event",
    "should wrap JSON data in arrays for SSE and produce valid JSON",
    "should NOT include Stream-SSE-Data-Encoding header for application/json streams",
    "should handle JSON payloads with embedded newlines safely",
    "should wrap single JSON value in array",
    "should concatenate multiple appends into single array",
    "should handle mixed single values and arrays",
    "should preserve JSON structure and nesting",
    "should work with client json\\(\\) iterator",
    "HEAD Metadata should return 404 for non-existent stream",
];

#[tokio::test(flavor = "multi_thread")]
async fn the_reading_cases_of_the_official_suite_pass() {
    let (Some(node), Some(suite)) = (find_program("node"), find_program("durable-streams-suite")) else {
        return;
    };
    let url = serve().await;
    let folder = tempfile::tempdir_in(suite.parent().unwrap().ancestors().nth(2).unwrap()).unwrap();
    let file = folder.path().join("reading.test.mjs");
    let text = format!(
        "import {{ runConformanceTests }} from \"@durable-streams/server-conformance-tests\"\n\
         runConformanceTests({{ baseUrl: \"{url}\", longPollTimeoutMs: 20000 }})\n"
    );
    std::fs::write(&file, text).unwrap();
    let names = format!("({})", CASES.join("|"));
    let mut command = tokio::process::Command::new(node);
    command.arg(&suite).args(["run", "reading.test.mjs", "--reporter=json", "-t", &names]);
    command.env_clear().env("HOME", folder.path()).env("NO_COLOR", "1").current_dir(folder.path());
    let output = command.output().await.unwrap();
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let report: Value =
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
    let cases = report["testResults"][0]["assertionResults"].as_array().unwrap();
    let failed: Vec<&Value> = cases.iter().filter(|case| case["status"] == "failed").collect();
    assert!(output.status.success() && failed.is_empty(), "{failed:#?}\n{stderr}");
    let passed = cases.iter().filter(|case| case["status"] == "passed").count();
    assert!(passed >= CASES.len(), "{passed} passed");
}
