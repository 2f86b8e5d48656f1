//! What the parts of a task file's handling cost, and that the time of parsing grows with the size and no faster.
//!
//! What it costs beside the bytes alone is measured by `against_bytes`.

use divan::counter::BytesCount;
use divan::{Bencher, black_box};
use regatta_files::size::ARCHIVE_BYTES;
use regatta_files::{NewSession, TaskFile};

#[path = "sample/file_of.rs"]
mod file_of;

use file_of::file_of;

fn main() {
    divan::main();
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
