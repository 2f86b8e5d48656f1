//! What the kernel says about this process and its files.

use crate::error::Error;
use std::path::Path;
use std::time::Duration;

/// SQLite's files beside the database, while it is open.
const SIDE_FILES: [&str; 3] = ["", "-wal", "-shm"];

/// Returns the bytes that this process has sent towards the disk.
pub(crate) fn written_bytes() -> Result<u64, Error> {
    read_field("/proc/self/io", "write_bytes:")
}

/// Returns the most memory that this process has held, in megabytes.
pub(crate) fn peak_memory() -> Result<f64, Error> {
    Ok(read_field("/proc/self/status", "VmHWM:")? as f64 / 1_024.0)
}

fn read_field(path: &'static str, name: &'static str) -> Result<u64, Error> {
    let text = std::fs::read_to_string(path).map_err(Error::io("read", path))?;
    let line = text.lines().find_map(|line| line.strip_prefix(name));
    let number = line.and_then(|rest| rest.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| Error::Wrong { what: name, found: text, wanted: "a number".to_owned() })
}

/// Returns the size of a database with the files that belong to it.
pub(crate) fn database_bytes(database: &Path) -> u64 {
    let size = |suffix: &&str| {
        let mut path = database.as_os_str().to_owned();
        path.push(suffix);
        std::fs::metadata(path).map_or(0, |metadata| metadata.len())
    };
    SIDE_FILES.iter().map(size).sum()
}

/// Returns how many there were in a second.
pub(crate) fn rate(count: usize, took: Duration) -> f64 {
    round(count as f64 / took.as_secs_f64())
}

/// Returns the value below which a part of all values lies, in milliseconds.
pub(crate) fn percentile(sorted: &[Duration], part: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let index = (last as f64 * part) as usize;
    sorted.get(index).map_or(0.0, |value| round(value.as_secs_f64() * 1_000.0))
}

/// Keeps four digits after the point; the rest is noise.
pub(crate) fn round(value: f64) -> f64 {
    (value * 10_000.0).round() / 10_000.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_values_that_were_seen() {
        let values: Vec<Duration> = (1..=100).map(Duration::from_millis).collect();
        assert_eq!((percentile(&values, 0.5), percentile(&values, 0.99)), (50.0, 99.0));
        assert_eq!(percentile(&[], 0.5), 0.0);
    }

    #[test]
    fn the_kernel_tells_what_is_asked() {
        assert!(peak_memory().unwrap() > 0.1);
        written_bytes().unwrap();
    }
}
