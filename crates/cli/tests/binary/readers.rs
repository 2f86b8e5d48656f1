//! Readers of the live stream across a kill -9 and a restart of the server, and many clients at once.

use crate::server::{get, up, up_with};
use crate::support::{add, with_agents};
use regatta_testkit::binary::TestProject;
use regatta_testkit::wait::{WAIT_MAX, until};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

const READERS: usize = 100;

/// One event of the stream: its number and its text.
type Sent = (u64, String);

/// Connects, and begins to read events after one.
fn follow(port: u16, token: &str, after: u64) -> std::io::Result<BufReader<TcpStream>> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(WAIT_MAX))?;
    let head = format!("host: localhost:{port}\r\nauthorization: Bearer {token}\r\nlast-event-id: {after}");
    stream.write_all(format!("GET /api/events HTTP/1.1\r\n{head}\r\n\r\n").as_bytes())?;
    Ok(BufReader::new(stream))
}

/// Reads events until the connection ends; the last one may be torn, and then it does not count.
fn read_events(mut stream: BufReader<TcpStream>, seen: &mut Vec<Sent>, last: &AtomicU64) {
    let (mut id, mut data, mut line) = (None, None, String::new());
    while stream.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
        let whole = line.ends_with('\n');
        match line.trim_end() {
            "" => {
                if let (true, Some(id), Some(data)) = (whole, id.take(), data.take()) {
                    seen.push((id, data));
                }
                if seen.last().is_some_and(|(id, _)| *id == last.load(Ordering::SeqCst)) {
                    return;
                }
            }
            text => {
                id = text.strip_prefix("id: ").map_or(id, |id| id.parse().ok());
                data = text.strip_prefix("data: ").map_or(data, |text| Some(text.to_owned()));
            }
        }
        line.clear();
    }
}

/// Reads until the last event is there, and connects again whenever the server is gone.
fn read_all(port: u16, token: &str, last: &AtomicU64, connected: &AtomicUsize) -> Vec<Sent> {
    let (mut seen, begin): (Vec<Sent>, _) = (Vec::new(), Instant::now());
    while seen.last().map_or(0, |(id, _)| *id) != last.load(Ordering::SeqCst) {
        assert!(begin.elapsed() < WAIT_MAX, "the reader got to event {:?}", seen.last());
        let after = seen.last().map_or(0, |(id, _)| *id);
        match follow(port, token, after) {
            Ok(stream) => {
                connected.fetch_add(1, Ordering::SeqCst);
                read_events(stream, &mut seen, last);
            }
            Err(_) => std::thread::yield_now(),
        }
    }
    seen
}

fn token_of(project: &TestProject) -> String {
    project.json(&["token"])["token"].as_str().expect("the token is text").to_owned()
}

#[test]
fn every_reader_sees_the_same_sequence_across_kills_of_the_server() {
    let project = with_agents("");
    // A port that no other test takes while the server is gone.
    let port = TcpListener::bind(("127.0.0.1", 0))
        .and_then(|free| free.local_addr())
        .expect("a port is free")
        .port();
    let port_text = port.to_string();
    let begin = || up_with(&project, &["up", "--port", &port_text]);
    let (mut running, _) = begin();
    let (last, connected) = (Arc::new(AtomicU64::new(u64::MAX)), Arc::new(AtomicUsize::new(0)));
    let token = token_of(&project);
    let readers: Vec<JoinHandle<Vec<Sent>>> = (0..READERS)
        .map(|_| {
            let (token, last, connected) = (token.clone(), Arc::clone(&last), Arc::clone(&connected));
            std::thread::spawn(move || read_all(port, &token, &last, &connected))
        })
        .collect();
    for round in 1..=2 {
        until("the readers are connected", || connected.load(Ordering::SeqCst) >= READERS * round);
        let task = add(&project, &format!("task {round}"));
        project.run(&["task", "assign", &task, "--agent", "worker", "--no-wait"]);
        // In the middle of what the engine does, and of what the readers are sent.
        running.kill();
        add(&project, "while nobody serves");
        (running, _) = begin();
    }
    for task in ["1", "3"] {
        until("the engine has finished what it was killed in", || {
            project.json(&["task", "show", task])["waitsFor"] == "you"
        });
    }
    let head = get(&project, port, "/healthz")["seq"].as_u64().expect("the log has a position");
    last.store(head, Ordering::SeqCst);
    // Nudges those that have seen everything and wait for more.
    running.kill();
    let (running, _) = begin();
    let expected: Vec<u64> = (1..=head).collect();
    let mut sequences = readers.into_iter().map(|reader| reader.join().expect("a reader does not fail"));
    let first = sequences.next().expect("there are readers");
    assert_eq!(first.iter().map(|(id, _)| *id).collect::<Vec<_>>(), expected, "no gap, and none twice");
    assert!(sequences.all(|sequence| sequence == first), "every reader has the identical sequence");
    running.kill();
}

/// The resident memory of a process, in bytes.
fn memory_of(pid: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).expect("the process runs");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).expect("it has memory");
    line.trim().trim_end_matches(" kB").parse::<u64>().expect("it is a number") * 1024
}

/// Sends a request and returns the first line of the answer.
fn ask(port: u16, request: &[u8]) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    stream.set_read_timeout(Some(WAIT_MAX)).expect("a limit can be set");
    // What is refused early is not read to the end.
    let _ = stream.write_all(request);
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    String::from_utf8_lossy(&answer).lines().next().unwrap_or_default().to_owned()
}

/// How many tasks fill the log, and how long their descriptions are: together more than the buffers of a connection hold.
const TASKS: usize = 300;
const DESCRIPTION_BYTES: usize = 20_000;

fn fill_log(port: u16, token: &str) {
    let text = "x".repeat(DESCRIPTION_BYTES);
    for number in 1..=TASKS {
        let body = format!("{{\"title\":\"task {number}\",\"description\":\"{text}\"}}");
        let head = format!("host: localhost:{port}\r\nauthorization: Bearer {token}\r\nconnection: close");
        let media = format!("content-type: application/json\r\ncontent-length: {}", body.len());
        let answer =
            ask(port, format!("POST /api/tasks HTTP/1.1\r\n{head}\r\n{media}\r\n\r\n{body}").as_bytes());
        assert!(answer.contains("201"), "{answer}");
    }
}

/// Counts the tasks that a stream tells of, up to the last one; each event has the number after the one before.
fn count_tasks(mut stream: BufReader<TcpStream>) -> usize {
    let (mut line, mut events, mut tasks) = (String::new(), 0, 0);
    while tasks < TASKS && stream.read_line(&mut line).is_ok_and(|bytes| bytes > 0) {
        if let Some(event) = line.strip_prefix("data: {\"seq\":") {
            events += 1;
            assert!(event.starts_with(&format!("{events},")), "event {events} is missing: {:.80}", event);
            tasks += usize::from(event.contains("\"type\":\"task:created\""));
        }
        line.clear();
    }
    tasks
}

fn metrics(port: u16) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
    let head = format!("host: localhost:{port}\r\nconnection: close");
    stream.write_all(format!("GET /metrics HTTP/1.1\r\n{head}\r\n\r\n").as_bytes()).expect("it can be sent");
    let mut text = String::new();
    stream.read_to_string(&mut text).expect("an answer comes");
    text
}

/// Small by default; `cargo xtask test --full` runs it as large as it was meant.
#[test]
fn hostile_clients_cost_the_others_nothing() {
    let is_full = std::env::var_os("REGATTA_TESTS_FULL").is_some();
    let (idle, streams, body) = if is_full { (2_000, 1_000, 1 << 30) } else { (200, 100, 64 << 20) };
    let project = with_agents("");
    let (running, port) = up(&project);
    let token = token_of(&project);
    let head = format!("host: localhost:{port}\r\nauthorization: Bearer {token}\r\n");
    let list = format!("GET /api/tasks?limit=3 HTTP/1.1\r\n{head}connection: close\r\n\r\n");
    assert!(ask(port, list.as_bytes()).contains("200"));
    let before = memory_of(running.pid());

    let idle: Vec<TcpStream> =
        (0..idle).map(|_| TcpStream::connect(("127.0.0.1", port)).expect("there is room")).collect();
    let slow: Vec<TcpStream> = (0..20)
        .map(|_| {
            let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("there is room");
            stream.write_all(b"GET /api/tasks HTTP/1.1\r\nhost: loc").expect("it can be sent");
            stream
        })
        .collect();
    // A tenth of them never reads, and is sent more than a connection holds; the others see everything.
    let mut followers: Vec<BufReader<TcpStream>> =
        (0..streams).map(|_| follow(port, &token, 0).expect("there is room")).collect();
    let reading: Vec<JoinHandle<usize>> = followers
        .split_off(streams / 10)
        .into_iter()
        .map(|stream| std::thread::spawn(move || count_tasks(stream)))
        .collect();
    fill_log(port, &token);
    for reader in reading {
        assert_eq!(
            reader.join().expect("a reader does not fail"),
            TASKS,
            "those who read have the whole log"
        );
    }
    let flood = std::thread::spawn({
        let head = head.clone();
        move || {
            let json = "content-type: application/json\r\n";
            let named =
                format!("POST /api/tasks HTTP/1.1\r\n{head}{json}content-length: {}\r\n\r\n", 1_u64 << 30);
            assert!(ask(port, named.as_bytes()).contains("413"), "a body of a gigabyte, by its length");
            let begin = format!("POST /api/tasks HTTP/1.1\r\n{head}{json}transfer-encoding: chunked\r\n\r\n");
            let mut stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
            stream.write_all(begin.as_bytes()).expect("it can be sent");
            let chunk = [b"10000\r\n".to_vec(), vec![b' '; 0x10000], b"\r\n".to_vec()].concat();
            let sent = (0..body / 0x10000).take_while(|_| stream.write_all(&chunk).is_ok()).count();
            assert!(sent < body / 0x10000, "it is cut off, not read to the end");
            let many = "x: y\r\n".repeat(100_000);
            let answer = ask(port, format!("GET /api/tasks HTTP/1.1\r\n{head}{many}\r\n").as_bytes());
            assert!(answer.is_empty() || answer.contains(" 4"), "100,000 headers: {answer}");
            let deep = format!("{{\"title\":{}{}}}", "[".repeat(10_000), "]".repeat(10_000));
            let deep = format!(
                "POST /api/tasks HTTP/1.1\r\n{head}{json}connection: close\r\ncontent-length: {}\r\n\r\n{deep}",
                deep.len()
            );
            assert!(ask(port, deep.as_bytes()).contains("422"), "JSON 10,000 deep");
        }
    });
    let mut times: Vec<Duration> = (0..200)
        .map(|_| {
            let begin = Instant::now();
            assert!(ask(port, list.as_bytes()).contains("200"));
            begin.elapsed()
        })
        .collect();
    flood.join().expect("every hostile client is refused");
    times.sort_unstable();
    let p99 = times[times.len() * 99 / 100];
    let grown = memory_of(running.pid()).saturating_sub(before);
    let connections = (idle.len() + slow.len() + streams) as u64;
    eprintln!("p99 {p99:?}; {} KiB more, {} bytes a connection", grown / 1024, grown / connections);
    assert!(p99 < Duration::from_millis(200), "p99 {p99:?}");
    assert!(grown < (50 << 20) + connections * (64 << 10), "{grown} bytes more");
    drop((idle, slow));
    if is_full {
        // Those who never read are dropped once nothing was taken for as long as a write may take.
        until("those who never read are dropped", || metrics(port).contains("\nregatta_stream_readers 0"));
    }
    drop(followers);
    running.kill();
}
