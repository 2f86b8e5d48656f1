//! What a task file of 75 KB costs beside its bytes: read, parse, one edit, render and write, against read and write.
//!
//! One sample of each way is taken in turn, so that whatever else the machine does meets them alike; what is printed
//! are the medians and the least. `plain` replaces the file without waiting for the disk, `durable` writes as the
//! engine does. `in memory` is the parse, the edit and the render alone. Run it with
//! `cargo bench -p regatta-files --bench against_bytes`.

use std::hint::black_box;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use regatta_files::size::ARCHIVE_BYTES;
use regatta_files::{TaskFile, disk};

/// Enough for a steady median, and done in seconds.
const SAMPLES: usize = 1000;

/// A sync takes milliseconds, so there are fewer of these.
const DURABLE_SAMPLES: usize = 200;

/// Before the first sample, so that caches are warm for both.
const WARM_UPS: usize = 50;

#[path = "sample/file_of.rs"]
mod file_of;

fn main() {
    let text = file_of::file_of(ARCHIVE_BYTES);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("task-1-state.md");
    std::fs::write(&path, &text).expect("the file can be written");
    println!("a task file of {} bytes; {SAMPLES} samples, {DURABLE_SAMPLES} of durable writes\n", text.len());
    println!("{:<10} {:<22} {:>12} {:>12} {:>8}", "write", "way", "median", "least", "ratio");
    compare("plain", &path, SAMPLES, |path, bytes| std::fs::write(path, bytes).expect("writable"));
    compare("durable", &path, DURABLE_SAMPLES, |path, bytes| {
        disk::write_atomically(path, bytes).expect("writable");
    });
    let [alone] = interleave(SAMPLES, [&mut || drop(black_box(edit(text.clone().into_bytes())))]);
    show("none", "in memory", &alone, None);
}

/// Compares both ways with one kind of write.
fn compare(name: &str, path: &PathBuf, samples: usize, write: fn(&Path, &[u8])) {
    let mut bytes_alone = || {
        let bytes = std::fs::read(path).expect("readable");
        write(path, black_box(&bytes));
    };
    let mut parse_edit_render = || {
        let bytes = std::fs::read(path).expect("readable");
        write(path, edit(bytes).as_bytes());
    };
    let [alone, whole] = interleave(samples, [&mut bytes_alone, &mut parse_edit_render]);
    show(name, "bytes alone", &alone, None);
    show(name, "parse, edit, render", &whole, Some(&alone));
}

/// Ticks a criterion, or takes the tick away.
fn edit(bytes: Vec<u8>) -> String {
    let file = TaskFile::parse_bytes(bytes).expect("UTF-8");
    let is_checked = file.criteria()[0].checked;
    file.with_criterion(0, !is_checked).expect("a criterion").into_text()
}

/// Takes samples of each way in turn, and returns those of each in order of size.
fn interleave<const WAYS: usize>(
    samples: usize,
    mut ways: [&mut dyn FnMut(); WAYS],
) -> [Vec<Duration>; WAYS] {
    let mut taken = std::array::from_fn(|_| Vec::with_capacity(samples));
    for round in 0..WARM_UPS + samples {
        for (way, taken) in ways.iter_mut().zip(&mut taken) {
            let begin = Instant::now();
            way();
            let took = begin.elapsed();
            if round >= WARM_UPS {
                taken.push(took);
            }
        }
    }
    for samples in &mut taken {
        samples.sort_unstable();
    }
    taken
}

fn show(write: &str, way: &str, sorted: &[Duration], against: Option<&[Duration]>) {
    let (median, least) = (sorted[sorted.len() / 2], sorted[0]);
    let ratio = against.map_or(String::new(), |other| {
        format!("{:.2}", median.as_secs_f64() / other[other.len() / 2].as_secs_f64())
    });
    let microseconds = |took: Duration| format!("{:.1} µs", took.as_secs_f64() * 1e6);
    println!("{write:<10} {way:<22} {:>12} {:>12} {ratio:>8}", microseconds(median), microseconds(least));
}
