//! The cases of the official Durable Streams suite that read, against the log of a real project that `up` serves.
//!
//! The suite makes its streams itself, which cannot be done here. So it talks to an adapter: what it appends becomes a message
//! in the log, its stream is the log from there on, and a message that is read becomes the value again. Statuses, headers,
//! offsets, framing and waiting are the server's own. Cases that are about writing, about content that is not JSON, or about
//! pages of other origins are left out by name.

use crate::server::up;
use crate::support::with_agents;
use regatta_testkit::agent_programs::find_program;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Command;
use std::sync::{Arc, Mutex};

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

/// Stands between the suite and the server.
struct Adapter {
    /// The port of the server.
    port: u16,
    token: String,
    /// Where in the log each stream begins.
    streams: Mutex<BTreeMap<String, u64>>,
}

/// A request, or the answer of the server.
struct Message {
    /// Its first line and its headers.
    head: Vec<String>,
    reader: BufReader<TcpStream>,
}

impl Message {
    fn read(stream: TcpStream) -> Option<Self> {
        let (mut reader, mut head) = (BufReader::new(stream), Vec::new());
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok().filter(|bytes| *bytes > 0)?;
            match line.trim_end() {
                "" => return Some(Message { head, reader }),
                line => head.push(line.to_owned()),
            }
        }
    }

    fn header(&self, name: &str) -> Option<&str> {
        let lines = self.head.iter().skip(1).filter_map(|line| line.split_once(": "));
        lines.into_iter().find(|(found, _)| found.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }

    /// Reads the body of a request.
    fn body(&mut self) -> Vec<u8> {
        let mut body = Vec::new();
        let length = self.header("content-length").and_then(|length| length.parse().ok());
        match length {
            Some(length) => drop(self.reader.by_ref().take(length).read_to_end(&mut body)),
            None if self.header("transfer-encoding").is_some() => loop {
                let mut size = String::new();
                self.reader.read_line(&mut size).expect("a chunk has a size");
                let size = u64::from_str_radix(size.trim(), 16).expect("it is a number");
                let mut chunk = Vec::new();
                self.reader.by_ref().take(size + 2).read_to_end(&mut chunk).expect("a chunk has a content");
                chunk.truncate(usize::try_from(size).expect("it is small"));
                if chunk.is_empty() {
                    break;
                }
                body.extend(chunk);
            },
            None => {}
        }
        body
    }
}

impl Adapter {
    /// Sends a request to the server; its answer has no chunks, and ends with the connection.
    fn ask(&self, method: &str, path: &str, body: Option<&Value>) -> Message {
        let mut stream = TcpStream::connect(("127.0.0.1", self.port)).expect("the server listens");
        let body = body.map(Value::to_string).unwrap_or_default();
        let head = format!("host: localhost:{}\r\nauthorization: Bearer {}", self.port, self.token);
        let media = format!("content-type: application/json\r\ncontent-length: {}", body.len());
        let request = format!("{method} {path} HTTP/1.0\r\n{head}\r\n{media}\r\n\r\n{body}");
        stream.write_all(request.as_bytes()).expect("the server reads");
        Message::read(stream).expect("the server answers")
    }

    /// Returns the offset at the end of the log, as the server writes it.
    fn end(&self) -> String {
        self.ask("HEAD", "/streams/log", None)
            .header("stream-next-offset")
            .expect("a log has an end")
            .to_owned()
    }

    fn serve(&self, stream: TcpStream) {
        let mut out = stream.try_clone().expect("a socket can be shared");
        let Some(mut request) = Message::read(stream) else { return };
        let words: Vec<String> = request.head[0].split(' ').map(str::to_owned).collect();
        let (path, query) = words[1].split_once('?').unwrap_or((&words[1], ""));
        match words[0].as_str() {
            "PUT" | "POST" => {
                let body = request.body();
                let _ = out.write_all(self.append(path, &body).as_bytes());
            }
            method => {
                let begin = self.streams.lock().expect("no case panics").get(path).copied();
                let place = match begin {
                    Some(begin) => format!("/streams/log?{}", begin_at(query, begin)),
                    None => format!("/streams/sessions/none?{query}"),
                };
                pass_on(self.ask(method, &place, None), &mut out);
            }
        }
    }

    /// Makes a stream or adds to it: a list that makes a stream is as many values, one that is added is one.
    fn append(&self, path: &str, body: &[u8]) -> String {
        let begin = self.end().parse().expect("an offset is a number");
        let is_new = !self.streams.lock().expect("no case panics").contains_key(path);
        self.streams.lock().expect("no case panics").entry(path.to_owned()).or_insert(begin);
        let values = match serde_json::from_slice(body) {
            Ok(Value::Array(values)) => values,
            Ok(value) => vec![value],
            Err(_) => Vec::new(),
        };
        for value in values {
            let message = json!({ "to": "person:suite", "body": value.to_string() });
            let sent = self.ask("POST", "/api/messages", Some(&message));
            assert!(sent.head[0].contains(" 201 "), "{:?}", sent.head);
        }
        let status = if is_new { "201 Created" } else { "204 No Content" };
        let length = if is_new { "content-length: 0\r\n" } else { "" };
        format!(
            "HTTP/1.1 {status}\r\n{length}connection: close\r\ncontent-type: application/json\r\nlocation: {path}\r\n\
             stream-next-offset: {}\r\n\r\n",
            self.end()
        )
    }
}

/// Puts the beginning of a stream where a query means the beginning.
fn begin_at(query: &str, begin: u64) -> String {
    let begin = format!("offset={begin:020}");
    if query.contains("offset=") { query.replace("offset=-1", &begin) } else { format!("{begin}&{query}") }
}

/// Passes an answer on as it comes, with values in place of messages.
fn pass_on(mut answer: Message, out: &mut TcpStream) {
    let is_kept = |line: &&String| !line.to_lowercase().starts_with("content-length");
    let mut head: Vec<&str> = answer.head.iter().filter(is_kept).map(String::as_str).collect();
    let status = head[0].replacen("HTTP/1.0", "HTTP/1.1", 1);
    head[0] = &status;
    let _ = write!(out, "{}\r\nconnection: close\r\n\r\n", head.join("\r\n"));
    let mut line = String::new();
    while answer.reader.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
        let (field, rest) = match line.strip_prefix("data:") {
            Some(rest) => ("data:", rest),
            None => ("", line.as_str()),
        };
        let changed = match serde_json::from_str(rest) {
            Ok(Value::Array(events)) => {
                let ending = if line.ends_with('\n') { "\n" } else { "" };
                let values: Value = events.into_iter().map(value_of).collect();
                format!("{field}{values}{ending}")
            }
            _ => line.clone(),
        };
        if out.write_all(changed.as_bytes()).is_err() {
            return;
        }
        line.clear();
    }
}

fn value_of(event: Value) -> Value {
    match event["body"].as_str() {
        Some(body) if event["type"] == "message:sent" => serde_json::from_str(body).expect("it was JSON"),
        _ => event,
    }
}

#[test]
fn the_reading_cases_of_the_official_suite_pass_on_a_real_log() {
    let (Some(node), Some(suite)) = (find_program("node"), find_program("durable-streams-suite")) else {
        return;
    };
    let project = with_agents("");
    let (running, port) = up(&project);
    let token = project.json(&["token"])["token"].as_str().expect("the token is text").to_owned();
    let listener = TcpListener::bind(("127.0.0.1", 0)).expect("a port is free");
    let url = format!("http://{}", listener.local_addr().expect("it has an address"));
    let adapter = Arc::new(Adapter { port, token, streams: Mutex::default() });
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let adapter = Arc::clone(&adapter);
            std::thread::spawn(move || adapter.serve(stream));
        }
    });
    // The suite is a module, which node finds from the folder of the file that asks for it.
    let modules = suite.ancestors().find(|folder| folder.ends_with("node_modules")).expect("it is a package");
    let folder = modules.with_file_name(format!("suite-{}", std::process::id()));
    std::fs::create_dir(&folder).expect("the folder can be made");
    let text = format!(
        "import {{ runConformanceTests }} from \"@durable-streams/server-conformance-tests\"\n\
         runConformanceTests({{ baseUrl: \"{url}\", longPollTimeoutMs: 20000 }})\n"
    );
    std::fs::write(folder.join("reading.test.mjs"), text).expect("the file can be written");
    let names = format!("({})", CASES.join("|"));
    let mut command = Command::new(node);
    command.arg(&suite).args(["run", "reading.test.mjs", "--reporter=json", "-t", &names]);
    command.env_clear().env("HOME", &folder).env("NO_COLOR", "1").current_dir(&folder);
    let output = command.output().expect("node can be started");
    std::fs::remove_dir_all(&folder).expect("the folder can be removed");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    let report: Value =
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stdout}{stderr}"));
    let cases = report["testResults"][0]["assertionResults"].as_array().expect("it lists its cases");
    let failed: Vec<&Value> = cases.iter().filter(|case| case["status"] == "failed").collect();
    assert!(output.status.success() && failed.is_empty(), "{failed:#?}\n{stderr}");
    let passed = cases.iter().filter(|case| case["status"] == "passed").count();
    assert!(passed >= CASES.len(), "{passed} passed");
    running.kill();
}
