//! Cuts a stream of bytes into lines in bounded memory.
//!
//! A line beyond the bound is let go up to its end, however long that takes, and only its length is reported.

/// Longest line that is read: an event may hold a whole file, and none seen held more than a few megabytes.
pub(crate) const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;

/// What came up to the end of a line.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Line<'a> {
    /// The bytes of the line, without its end.
    Whole(&'a [u8]),
    /// A line that was too long, and how long it was.
    TooLong(u64),
}

/// Cuts one stream.
#[derive(Debug, Default)]
pub(crate) struct Lines {
    held: Vec<u8>,
    dropped: u64,
}

impl Lines {
    /// Takes bytes and hands on the lines that end in them.
    pub(crate) fn push(&mut self, bytes: &[u8], mut sink: impl FnMut(Line<'_>)) {
        let mut rest = bytes;
        while let Some(end) = memchr::memchr(b'\n', rest) {
            if self.held.is_empty() && self.dropped == 0 && end <= LINE_BYTES_MAX {
                sink(Line::Whole(&rest[..end]));
            } else {
                self.hold(&rest[..end]);
                self.finish(&mut sink);
            }
            rest = &rest[end + 1..];
        }
        self.hold(rest);
    }

    /// Hands on a last line that has no end.
    pub(crate) fn finish(&mut self, mut sink: impl FnMut(Line<'_>)) {
        let held = std::mem::take(&mut self.held);
        match std::mem::take(&mut self.dropped) {
            0 if held.is_empty() => {}
            0 => sink(Line::Whole(&held)),
            dropped => sink(Line::TooLong(dropped)),
        }
    }

    fn hold(&mut self, bytes: &[u8]) {
        if self.dropped > 0 || self.held.len() + bytes.len() > LINE_BYTES_MAX {
            self.dropped += (std::mem::take(&mut self.held).len() + bytes.len()) as u64;
        } else {
            self.held.extend_from_slice(bytes);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn show(pieces: &[&[u8]]) -> Vec<String> {
        let mut lines = Lines::default();
        let mut shown = Vec::new();
        let mut sink = |line: Line<'_>| {
            shown.push(match line {
                Line::Whole(bytes) => String::from_utf8_lossy(bytes).into_owned(),
                Line::TooLong(bytes) => format!("too long: {bytes}"),
            });
        };
        for piece in pieces {
            lines.push(piece, &mut sink);
        }
        lines.finish(&mut sink);
        shown
    }

    #[test]
    fn any_split_gives_the_same_lines() {
        let text = b"one\n\ntwo\r\nthree";
        for split in 0..=text.len() {
            let (before, after) = text.split_at(split);
            assert_eq!(show(&[before, after]), ["one", "", "two\r", "three"], "split at {split}");
        }
        assert_eq!(show(&[b"one\n"]), ["one"]);
    }

    #[test]
    fn a_line_that_is_too_long_is_counted_and_the_next_is_read() {
        let piece = vec![b'x'; LINE_BYTES_MAX];
        assert_eq!(show(&[&piece, b"\nshort\n"])[1], "short");
        let over = (LINE_BYTES_MAX + 1) as u64;
        assert_eq!(show(&[&piece, b"x\nshort\n"]), [format!("too long: {over}"), "short".to_owned()]);
        assert_eq!(show(&[&piece, b"x"]), [format!("too long: {over}")]);
    }

    #[test]
    fn a_gigabyte_without_an_end_is_not_held() {
        let piece = vec![b'x'; 64 * 1024];
        let mut lines = Lines::default();
        for _ in 0..16 * 1024 {
            lines.push(&piece, |_| panic!("no line ended"));
            assert!(lines.held.capacity() <= 2 * LINE_BYTES_MAX);
        }
        let mut skipped = 0;
        lines.push(b"\n", |line| match line {
            Line::TooLong(bytes) => skipped = bytes,
            Line::Whole(_) => panic!("the line is too long"),
        });
        assert_eq!(skipped, 1024 * 1024 * 1024);
    }
}
