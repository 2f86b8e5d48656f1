//! What parsing costs beside the disk: a file of 75 KB read, edited and written, against its bytes alone.
//!
//! `write` replaces the file without waiting for the disk, so that the difference is not lost in the time of a sync;
//! `durable` writes as the engine does. `parse` shows that the time grows with the size and no faster.

use std::path::PathBuf;

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use regatta_files::size::ARCHIVE_BYTES;
use regatta_files::{NewSession, TaskFile, disk};

fn main() {
    divan::main();
}

/// Returns a task file of about this many bytes.
fn file_of(bytes: usize) -> String {
    let mut text = String::from(
        "# Task #1: A\n\n## 0. Metadata\n```json\n{\n  \"task_id\": 1,\n  \"total_sessions\": 0\n}\n```\n\n## 1. Context\n\n\
         ### Requirements\nWhat is wanted.\n\n### Acceptance Criteria\n- [ ] one\n- [x] two\n\n## 3. Progress Log\n\n",
    );
    let lines =
        "- changed `src/module.rs` so that **both** callers agree, see [the notes](https://example.org)\n"
            .repeat(20);
    for number in 1.. {
        if text.len() >= bytes {
            break;
        }
        let session = format!(
            "### Session {number} - 2024-11-26 10:00\n**Did:**\n{lines}\n```rust\n## not a heading\n```\n\n**Issues:** None\n\n**Next:** more\n\n"
        );
        text.push_str(&session);
    }
    text.push_str("## 4. Chain Output\n\n(To be completed)\n");
    text
}

/// A folder with a file of 75 KB in it.
struct Place {
    _folder: tempfile::TempDir,
    path: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("task-1-state.md");
    std::fs::write(&path, file_of(ARCHIVE_BYTES)).expect("the file can be written");
    Place { _folder: folder, path }
}

fn edit(bytes: Vec<u8>) -> String {
    let file = TaskFile::parse_bytes(bytes).expect("UTF-8");
    let is_checked = file.criteria()[0].checked;
    file.with_criterion(0, !is_checked).expect("a criterion").into_text()
}

mod write {
    use super::*;

    #[divan::bench]
    fn bytes_alone(bencher: Bencher<'_, '_>) {
        let place = place();
        bencher.bench_local(|| {
            let bytes = std::fs::read(&place.path).expect("readable");
            std::fs::write(&place.path, black_box(bytes)).expect("writable");
        });
    }

    #[divan::bench]
    fn parse_edit_render(bencher: Bencher<'_, '_>) {
        let place = place();
        bencher.bench_local(|| {
            let bytes = std::fs::read(&place.path).expect("readable");
            std::fs::write(&place.path, edit(bytes)).expect("writable");
        });
    }
}

mod durable {
    use super::*;

    #[divan::bench]
    fn bytes_alone(bencher: Bencher<'_, '_>) {
        let place = place();
        bencher.bench_local(|| {
            let bytes = std::fs::read(&place.path).expect("readable");
            disk::write_atomically(&place.path, &bytes).expect("writable");
        });
    }

    #[divan::bench]
    fn parse_edit_render(bencher: Bencher<'_, '_>) {
        let place = place();
        bencher.bench_local(|| {
            let bytes = std::fs::read(&place.path).expect("readable");
            disk::write_atomically(&place.path, edit(bytes).as_bytes()).expect("writable");
        });
    }
}

#[divan::bench(args = [75 * 1024, 750 * 1024, 10 * 1024 * 1024])]
fn parse(bencher: Bencher<'_, '_>, bytes: usize) {
    let text = file_of(bytes);
    bencher.counter(BytesCount::of_str(&text)).bench_local(|| TaskFile::parse(black_box(text.as_str())));
}

#[divan::bench]
fn append_session(bencher: Bencher<'_, '_>) {
    let file = TaskFile::parse(file_of(ARCHIVE_BYTES));
    let session =
        NewSession { number: 99, at: "now".into(), did: "- a\n- b".into(), ..NewSession::default() };
    bencher.bench_local(|| file.with_session(black_box(&session)));
}
