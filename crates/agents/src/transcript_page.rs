//! Reads a part of a transcript of any length: the items before a place, or those from a place on.
//!
//! A place is an offset in bytes at which a line begins, so that neither direction reads what it does not show. What one
//! page may read is bounded; a line that is longer is passed over, as [`Follower`](crate::Follower) does.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use crate::item::TimedItem;

/// How much is read first: a page of ordinary items fits into it.
const WINDOW_BYTES_MIN: u64 = 128 * 1024;

/// How much is read at most for one page.
const WINDOW_BYTES_MAX: u64 = 16 * 1024 * 1024;

/// A part of a transcript.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct TranscriptPage {
    /// The items, oldest first, each with the offset of its line.
    pub items: Vec<(u64, TimedItem)>,
    /// Where the first of them begins; nothing stands before 0.
    pub begin: u64,
    /// Where the first line after them begins.
    pub end: u64,
    /// How long the file is, up to the end of its last whole line or more.
    pub length: u64,
}

impl TranscriptPage {
    /// Reads the last `count` items before a place, or of the file.
    pub fn before(path: &Path, place: Option<u64>, count: usize) -> io::Result<TranscriptPage> {
        let Some((mut file, length)) = open(path)? else { return Ok(TranscriptPage::default()) };
        let stop = place.unwrap_or(length).min(length);
        let mut window = WINDOW_BYTES_MIN;
        loop {
            let start = stop.saturating_sub(window);
            let bytes = read(&mut file, start, stop)?;
            // The window may begin within a line, and the file may end within one.
            let whole = if start == 0 { 0 } else { end_of_first_line(&bytes) };
            let mut items = parse(&bytes[whole..], start + whole as u64);
            let is_last = start == 0 || window >= WINDOW_BYTES_MAX;
            if items.len() < count && !is_last {
                window = (window * 4).min(WINDOW_BYTES_MAX);
                continue;
            }
            let has_more = items.len() > count;
            items.drain(..items.len().saturating_sub(count));
            let begin = match items.first() {
                Some((offset, _)) if has_more => *offset,
                // A line that is longer than the window is passed over.
                _ if whole == bytes.len() => start,
                _ => start + whole as u64,
            };
            return Ok(TranscriptPage { items, begin, end: start + end_of_last_line(&bytes), length });
        }
    }

    /// Reads the next `count` items from a place on.
    pub fn from(path: &Path, place: u64, count: usize) -> io::Result<TranscriptPage> {
        let Some((mut file, length)) = open(path)? else { return Ok(TranscriptPage::default()) };
        let start = if place > length { 0 } else { place };
        let mut window = WINDOW_BYTES_MIN;
        loop {
            let bytes = read(&mut file, start, length.min(start + window))?;
            let whole = end_of_last_line(&bytes);
            let mut items = parse(&bytes, start);
            let is_last = start + window >= length || window >= WINDOW_BYTES_MAX;
            if items.len() <= count && !is_last {
                window = (window * 4).min(WINDOW_BYTES_MAX);
                continue;
            }
            let next = items.get(count).map(|(offset, _)| *offset);
            items.truncate(count);
            let is_too_long = whole == 0 && bytes.len() as u64 >= WINDOW_BYTES_MAX;
            let end = match next {
                Some(next) => next,
                None if is_too_long => start + bytes.len() as u64,
                None => start + whole,
            };
            return Ok(TranscriptPage { items, begin: start, end, length });
        }
    }
}

fn open(path: &Path) -> io::Result<Option<(File, u64)>> {
    match File::open(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error),
        Ok(file) => {
            let length = file.metadata()?.len();
            Ok(Some((file, length)))
        }
    }
}

fn read(file: &mut File, start: u64, stop: u64) -> io::Result<Vec<u8>> {
    file.seek(SeekFrom::Start(start))?;
    let mut bytes = Vec::new();
    file.take(stop - start).read_to_end(&mut bytes)?;
    Ok(bytes)
}

fn end_of_first_line(bytes: &[u8]) -> usize {
    memchr::memchr(b'\n', bytes).map_or(bytes.len(), |end| end + 1)
}

fn end_of_last_line(bytes: &[u8]) -> u64 {
    memchr::memrchr(b'\n', bytes).map_or(0, |end| end as u64 + 1)
}

/// Reads the whole lines of some bytes, with the offset of each.
fn parse(bytes: &[u8], start: u64) -> Vec<(u64, TimedItem)> {
    let mut items = Vec::new();
    let mut begin = 0;
    for end in memchr::memchr_iter(b'\n', bytes) {
        items.extend(TimedItem::parse(&bytes[begin..end]).map(|item| (start + begin as u64, item)));
        begin = end + 1;
    }
    items
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::item::Item;
    use std::path::PathBuf;

    fn write(texts: &[&str], tail: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        let line = |text: &&str| {
            format!("{{\"at\":\"2026-01-01T00:00:00Z\",\"stream\":\"out\",\"text\":{text:?}}}\n")
        };
        std::fs::write(&path, texts.iter().map(line).collect::<String>() + tail).unwrap();
        (folder, path)
    }

    fn texts(page: &TranscriptPage) -> Vec<&str> {
        let text = |(_, timed): &'_ (u64, TimedItem)| match &timed.item {
            Item::Said { .. } => (),
            other => panic!("{other:?}"),
        };
        page.items.iter().for_each(text);
        page.items
            .iter()
            .filter_map(
                |(_, timed)| if let Item::Said { text } = &timed.item { Some(text.as_str()) } else { None },
            )
            .collect()
    }

    #[test]
    fn pages_go_back_to_the_beginning_and_on_to_the_end() {
        let (_folder, path) = write(&["a", "b", "c", "d", "e"], "{\"at\":\"2026");
        let last = TranscriptPage::before(&path, None, 2).unwrap();
        assert_eq!(texts(&last), ["d", "e"]);
        let middle = TranscriptPage::before(&path, Some(last.begin), 2).unwrap();
        assert_eq!((texts(&middle), middle.end), (vec!["b", "c"], last.begin));
        let first = TranscriptPage::before(&path, Some(middle.begin), 2).unwrap();
        assert_eq!((texts(&first), first.begin), (vec!["a"], 0));
        let on = TranscriptPage::from(&path, first.end, 2).unwrap();
        assert_eq!((texts(&on), on.end), (vec!["b", "c"], last.begin));
        let rest = TranscriptPage::from(&path, on.end, 9).unwrap();
        assert_eq!((texts(&rest), rest.end), (vec!["d", "e"], last.end));
        assert!(rest.end < rest.length, "a line that is being written is not shown");
        assert_eq!(TranscriptPage::from(&path, rest.end, 9).unwrap().items, []);
    }

    #[test]
    fn a_page_does_not_read_a_long_transcript() {
        let long = "x".repeat(1000);
        let many: Vec<&str> = std::iter::repeat_n(long.as_str(), 2000).collect();
        let (_folder, path) = write(&many, "");
        let length = std::fs::metadata(&path).unwrap().len();
        let last = TranscriptPage::before(&path, None, 10).unwrap();
        assert_eq!((last.items.len(), last.end), (10, length));
        assert!(last.begin > length - 20_000);
        let first = TranscriptPage::from(&path, 0, 10).unwrap();
        assert!(first.items.len() == 10 && first.end < 20_000);
        let all = TranscriptPage::before(&path, None, 5000).unwrap();
        assert_eq!((all.items.len(), all.begin), (2000, 0));
    }

    #[test]
    fn a_line_without_an_end_is_passed_over() {
        let huge = "y".repeat(usize::try_from(WINDOW_BYTES_MAX).unwrap() + 10);
        let (_folder, path) = write(&["a", &huge, "b"], "");
        let last = TranscriptPage::before(&path, None, 10).unwrap();
        assert_eq!(texts(&last), ["b"]);
        let mut seen = Vec::new();
        let mut place = last.begin;
        for _ in 0..4 {
            let page = TranscriptPage::before(&path, Some(place), 10).unwrap();
            seen.extend(texts(&page).iter().filter(|text| text.len() < 9).map(ToString::to_string));
            place = page.begin;
        }
        assert_eq!((seen, place), (vec!["a".to_owned()], 0));
    }

    #[test]
    fn no_file_is_an_empty_page() {
        let page = TranscriptPage::before(Path::new("/nowhere/at/all"), None, 10).unwrap();
        assert_eq!(page, TranscriptPage::default());
        assert_eq!(TranscriptPage::from(Path::new("/nowhere/at/all"), 7, 10).unwrap(), page);
    }
}
