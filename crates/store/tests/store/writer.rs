//! Another process that appends to a log, for the tests of several processes: `append STREAM PATH`, or `endless PATH`.

#![allow(dead_code, reason = "it needs a part of the samples only")]
#![allow(clippy::unwrap_used, reason = "it belongs to the tests, which say what failed by where they stop")]

#[path = "contract/sample.rs"]
mod sample;

use std::sync::Arc;

use regatta_store::{OpenMode, SqliteStore};
use sample::{Subject, append, append_with_retries, store};

/// How often it appends when it is told to append.
const APPENDS: u64 = 40;

#[tokio::main]
async fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    match arguments[..] {
        ["append", stream, path] => append_with_retries(open(path), stream.to_owned(), APPENDS).await,
        ["endless", path] => {
            let subject = open(path);
            for version in 0.. {
                let stored = store(&subject, append(&[("a", version)], &[&["a"]])).await;
                println!("stored {stored}");
            }
        }
        _ => panic!("usage: append STREAM PATH | endless PATH"),
    }
}

fn open(path: &str) -> Subject {
    Arc::new(SqliteStore::open(path, OpenMode::Create).expect("the log opens"))
}
