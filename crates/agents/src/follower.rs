//! Reads a transcript as it grows, from any process, in bounded memory.
//!
//! It asks for nothing but the file: the caller decides when to look again. A file that is not there yet is empty, and
//! one that became shorter is read from its beginning.

use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};
use std::path::{Path, PathBuf};

use jiff::Timestamp;

use crate::headless::{Line, Lines};
use crate::item::{Item, TimedItem};
use crate::usage::Usage;

/// How much is read at a time, so that the first lines of a long transcript come at once.
const READ_BYTES_MAX: u64 = 1024 * 1024;

/// How much of the end tells what a session is doing.
const RECENT_BYTES: u64 = 4 * 1024 * 1024;

/// A place in a transcript from which one reads on.
#[derive(Debug)]
pub struct Follower {
    path: PathBuf,
    offset: u64,
    lines: Lines,
}

/// What a session is doing, as the end of its transcript says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Activity {
    /// The tool that has not come back yet, or else the last one, with what it is about.
    pub tool: Option<(String, String)>,
    /// Whether that tool is still at work.
    pub is_tool_open: bool,
    /// The file that a tool was last about, or that was changed last.
    pub file: Option<String>,
    /// What was used so far, where the agent says so while it works.
    pub usage: Option<Usage>,
    /// When it last said or did something.
    pub last_sign: Option<Timestamp>,
}

impl Follower {
    /// Starts at the beginning.
    pub fn new(path: &Path) -> Follower {
        Follower { path: path.to_owned(), offset: 0, lines: Lines::default() }
    }

    /// Reads the next items, possibly none, and tells whether there is more at once.
    pub fn read(&mut self) -> io::Result<(Vec<TimedItem>, bool)> {
        let mut items = Vec::new();
        let is_more = self.read_lines(|line| items.extend(TimedItem::parse(line)))?;
        Ok((items, is_more))
    }

    /// Hands on the next whole lines as they stand, and tells whether there are more at once.
    pub fn read_lines(&mut self, mut sink: impl FnMut(&[u8])) -> io::Result<bool> {
        let mut file = match File::open(&self.path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(false),
            other => other?,
        };
        let length = file.metadata()?.len();
        if length < self.offset {
            self.offset = 0;
            self.lines = Lines::default();
        }
        file.seek(SeekFrom::Start(self.offset))?;
        let mut bytes = Vec::new();
        file.take(READ_BYTES_MAX).read_to_end(&mut bytes)?;
        self.offset += bytes.len() as u64;
        self.lines.push(&bytes, |line| {
            if let Line::Whole(line) = line {
                sink(line);
            }
        });
        Ok(self.offset < length)
    }
}

impl Activity {
    /// Reads what a session is doing from the end of its transcript.
    pub fn load(path: &Path) -> io::Result<Activity> {
        let mut follower = Follower::new(path);
        let length = match std::fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Activity::default()),
            other => other?.len(),
        };
        // The first line is then cut, and is not understood.
        follower.offset = length.saturating_sub(RECENT_BYTES);
        let mut activity = Activity::default();
        let mut open: Vec<String> = Vec::new();
        for _ in 0..=RECENT_BYTES / READ_BYTES_MAX {
            let (items, is_more) = follower.read()?;
            items.into_iter().for_each(|item| activity.learn(item, &mut open));
            if !is_more {
                break;
            }
        }
        Ok(activity)
    }

    fn learn(&mut self, timed: TimedItem, open: &mut Vec<String>) {
        self.last_sign = Some(timed.at);
        match timed.item {
            // Another start of the same session: what was open before is not.
            Item::Prompted { .. } => {
                open.clear();
                *self = Activity { last_sign: self.last_sign, usage: self.usage, ..Activity::default() };
            }
            Item::ToolCalled { id, tool, about, path } => {
                self.tool = Some((tool, about));
                self.file = path.or(self.file.take());
                open.clear();
                open.push(id);
                self.is_tool_open = true;
            }
            Item::ToolReturned { id, .. } if open.contains(&id) => self.is_tool_open = false,
            Item::Edited { path, .. } => self.file = Some(path),
            Item::Used { input_tokens, cached_tokens, output_tokens, cost_micros } => {
                self.usage = Some(Usage { input_tokens, cached_tokens, output_tokens, cost_micros });
            }
            Item::Ended { .. } => self.is_tool_open = false,
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn line(text: &str) -> String {
        format!("{{\"at\":\"2026-01-01T00:00:00Z\",{text}}}\n")
    }

    #[test]
    fn a_file_is_followed_from_before_it_is_there() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        let mut follower = Follower::new(&path);
        assert_eq!(follower.read().unwrap(), (Vec::new(), false));
        let mut file = File::create(&path).unwrap();
        let text = line(r#""stream":"out","text":"one""#);
        let (begin, end) = text.split_at(20);
        file.write_all(begin.as_bytes()).unwrap();
        assert_eq!(follower.read().unwrap().0, []);
        file.write_all(end.as_bytes()).unwrap();
        assert_eq!(follower.read().unwrap().0[0].item, Item::Said { text: "one".to_owned() });
        std::fs::write(&path, line(r#""stream":"out","text":"2""#)).unwrap();
        assert_eq!(follower.read().unwrap().0[0].item, Item::Said { text: "2".to_owned() });
    }

    #[test]
    fn a_long_file_comes_in_parts() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        let text = line(r#""stream":"out","text":"x""#);
        let count = 2 * READ_BYTES_MAX as usize / text.len();
        std::fs::write(&path, text.repeat(count)).unwrap();
        let mut follower = Follower::new(&path);
        let (first, is_more) = follower.read().unwrap();
        assert!(is_more && first.len() < count);
        let (second, _) = follower.read().unwrap();
        assert!(first.len() + second.len() >= count - 1);
    }

    #[test]
    fn the_end_says_what_a_session_is_doing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("transcript.jsonl");
        assert_eq!(Activity::load(&path).unwrap(), Activity::default());
        let called = r#""stream":"item","item":{"kind":"toolCalled","id":"1","tool":"Edit","about":"a.rs","path":"a.rs"}"#;
        let used =
            r#""stream":"item","item":{"kind":"used","inputTokens":10,"cachedTokens":0,"outputTokens":2}"#;
        std::fs::write(&path, line(called) + &line(used)).unwrap();
        let activity = Activity::load(&path).unwrap();
        assert_eq!(activity.tool, Some(("Edit".to_owned(), "a.rs".to_owned())));
        assert!(activity.is_tool_open);
        assert_eq!((activity.file.as_deref(), activity.usage.unwrap().tokens()), (Some("a.rs"), 12));
        let returned = r#""stream":"item","item":{"kind":"toolReturned","id":"1","isError":false,"text":""}"#;
        let mut file = std::fs::OpenOptions::new().append(true).open(&path).unwrap();
        file.write_all(line(returned).as_bytes()).unwrap();
        assert!(!Activity::load(&path).unwrap().is_tool_open);
    }
}
