//! The workload `server`: `regatta up` with many tasks, under clients and under readers of its events.
//!
//! First many clients ask for the first page of tasks, each again as soon as it has its answer. Then many readers follow the
//! events while this process appends to the log, as a command beside the server does; so the server has to notice the append
//! first. The clients share the machine with the server, and their work is part of every figure.

use crate::client::Client;
use crate::error::Error;
use crate::measure::{percentile, rate, round};
use crate::up::{Up, find_token};
use crate::{board, place};
use regatta_core::{Revise, TaskId};
use regatta_engine::{Journal, Project, orders};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// Where the first page of tasks is.
const PAGE: &str = "/api/tasks";
const CLIENTS: usize = 50;
const REQUESTS_OF_EACH: usize = 40;

const READERS: usize = 1_000;
const APPENDS: usize = 100;
const APPEND_EVERY: Duration = Duration::from_millis(100);

/// How long readers may take to get what was appended.
const PATIENCE: Duration = Duration::from_secs(60);

/// Makes the tasks that are missing, and measures.
pub(crate) fn measure(folder: &Path, tasks: usize) -> Result<Value, Error> {
    board::ensure_tasks(folder, tasks)?;
    let token = find_token(folder)?;
    let up = Up::start(folder)?;
    let idle = up.watch_idle()?;
    let (pages, readers) = place::start_runtime()?.block_on(async {
        let pages = measure_pages(&up, &token).await?;
        let project = place::ensure_project(folder).await?;
        Ok::<_, Error>((pages, measure_readers(&up, &token, &project).await?))
    })?;
    Ok(json!({ "tasks": tasks, "up": idle, "pages": pages, "readers": readers }))
}

async fn measure_pages(up: &Up, token: &str) -> Result<Value, Error> {
    let mut clients = JoinSet::new();
    let began = Instant::now();
    for _ in 0..CLIENTS {
        let mut client = Client::connect(up.port, token).await?;
        clients.spawn(async move {
            let mut took = Vec::with_capacity(REQUESTS_OF_EACH);
            let mut bytes = 0;
            for _ in 0..REQUESTS_OF_EACH {
                let began = Instant::now();
                bytes = client.get(PAGE).await?;
                took.push(began.elapsed());
            }
            Ok::<_, Error>((took, bytes))
        });
    }
    let (mut took, mut bytes) = (Vec::new(), 0);
    while let Some(client) = clients.join_next().await {
        let (of_client, bytes_of_page) = join(client)?;
        took.extend(of_client);
        bytes = bytes_of_page;
    }
    let all = began.elapsed();
    took.sort_unstable();
    Ok(json!({
        "clients": CLIENTS,
        "bytes": bytes,
        "requests_per_s": rate(took.len(), all),
        "p50_ms": percentile(&took, 0.5),
        "p99_ms": percentile(&took, 0.99),
    }))
}

/// When an event reached a reader.
struct Arrival {
    seq: u64,
    at: Instant,
}

async fn measure_readers(up: &Up, token: &str, project: &Arc<Project>) -> Result<Value, Error> {
    let before = up.memory_kb("VmRSS:")?;
    let (sender, mut arrivals) = mpsc::unbounded_channel();
    let mut readers = JoinSet::new();
    for _ in 0..READERS {
        let mut client = Client::connect(up.port, token).await?;
        client.follow("/api/events").await?;
        // The first heartbeat: from here on it follows.
        client.next_piece().await?;
        let sender = sender.clone();
        readers.spawn(async move { follow(&mut client, &sender).await });
    }
    drop(sender);
    let with_readers = up.memory_kb("VmRSS:")?;
    let mut appended = BTreeMap::new();
    for number in 0..APPENDS {
        let began = Instant::now();
        append(project, number).await?;
        let at = Instant::now();
        appended.insert(Journal::at_end(project).await?.position(), (began, at));
        tokio::time::sleep(APPEND_EVERY.saturating_sub(began.elapsed())).await;
    }
    let (mut from_order, mut from_commit) = (Vec::new(), Vec::new());
    while from_commit.len() < APPENDS * READERS {
        let arrival = tokio::time::timeout(PATIENCE, arrivals.recv()).await.ok().flatten();
        let Some(Arrival { seq, at }) = arrival else {
            let what = format!("{} of {} events have arrived", from_commit.len(), APPENDS * READERS);
            return Err(Error::Stuck { seconds: PATIENCE.as_secs(), what });
        };
        if let Some((began, committed)) = appended.get(&seq) {
            from_order.push(at.saturating_duration_since(*began));
            from_commit.push(at.saturating_duration_since(*committed));
        }
    }
    from_order.sort_unstable();
    from_commit.sort_unstable();
    let loaded = up.memory_kb("VmRSS:")?;
    readers.abort_all();
    Ok(json!({
        "readers": READERS,
        "appends": APPENDS,
        "kb_a_reader": round((with_readers - before) / READERS as f64),
        "kb_a_reader_after_events": round((loaded - before) / READERS as f64),
        "from_order_p50_ms": percentile(&from_order, 0.5),
        "from_order_p99_ms": percentile(&from_order, 0.99),
        "from_commit_p50_ms": percentile(&from_commit, 0.5),
        "from_commit_p99_ms": percentile(&from_commit, 0.99),
    }))
}

/// Reports each event that arrives.
async fn follow(client: &mut Client, sender: &mpsc::UnboundedSender<Arrival>) -> Result<(), Error> {
    loop {
        let piece = client.next_piece().await?;
        let at = Instant::now();
        let text = String::from_utf8_lossy(&piece);
        // A heartbeat has an ID too, but no data.
        let ids = text.lines().zip(text.lines().skip(1)).filter(|(_, next)| next.starts_with("data: "));
        for (line, _) in ids {
            if let Some(seq) = line.strip_prefix("id: ").and_then(|seq| seq.parse().ok()) {
                let _ = sender.send(Arrival { seq, at });
            }
        }
    }
}

/// Appends one event: a task gets another title.
async fn append(project: &Project, number: usize) -> Result<(), Error> {
    let title = Some(format!("Make the part number 1 of the whole, version {number}"));
    Ok(orders::edit(project, &place::caller(), TaskId::FIRST, Revise { title, ..Revise::default() }).await?)
}

fn join<T>(ended: Result<Result<T, Error>, tokio::task::JoinError>) -> Result<T, Error> {
    ended.map_err(|error| Error::Stuck { seconds: 0, what: error.to_string() })?
}
