//! Keeps the end of a stream of bytes in bounded memory.

/// The last bytes of a stream.
#[derive(Debug)]
pub(crate) struct Tail {
    bytes: Vec<u8>,
    bytes_max: usize,
    is_cut: bool,
}

impl Tail {
    pub(crate) fn new(bytes_max: usize) -> Tail {
        Tail { bytes: Vec::new(), bytes_max, is_cut: false }
    }

    /// Adds bytes and forgets the oldest ones.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        let kept = &bytes[bytes.len().saturating_sub(self.bytes_max)..];
        self.is_cut |= kept.len() < bytes.len();
        self.bytes.extend_from_slice(kept);
        // Cutting only at twice the bound makes the cost of a byte constant.
        if self.bytes.len() > self.bytes_max.saturating_mul(2) {
            self.cut();
        }
    }

    /// Returns the kept bytes, and whether they are all there ever were.
    pub(crate) fn read(&mut self) -> (&[u8], bool) {
        self.cut();
        (&self.bytes, !self.is_cut)
    }

    /// Returns the kept end as text, starting at a line where one starts within it.
    pub(crate) fn lines(&mut self) -> String {
        let (bytes, is_whole) = self.read();
        let text = String::from_utf8_lossy(bytes);
        match text.split_once('\n') {
            Some((_, rest)) if !is_whole && !rest.is_empty() => rest.to_owned(),
            _ => text.into_owned(),
        }
    }

    fn cut(&mut self) {
        let surplus = self.bytes.len().saturating_sub(self.bytes_max);
        self.is_cut |= surplus > 0;
        self.bytes.drain(..surplus);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_the_end_and_says_if_it_is_whole() {
        let mut tail = Tail::new(4);
        tail.push(b"abc");
        assert_eq!(tail.read(), (&b"abc"[..], true));
        tail.push(b"de");
        assert_eq!(tail.read(), (&b"bcde"[..], false));
        tail.push(b"0123456789");
        assert_eq!(tail.read(), (&b"6789"[..], false));
    }

    #[test]
    fn memory_stays_near_the_bound() {
        let mut tail = Tail::new(10);
        for _ in 0..1000 {
            tail.push(b"1234567");
            assert!(tail.bytes.len() <= 20);
        }
    }

    #[test]
    fn lines_start_at_a_line_when_cut() {
        let mut tail = Tail::new(8);
        tail.push(b"first\nsecond\n");
        assert_eq!(tail.lines(), "second\n".to_owned());
        let mut short = Tail::new(8);
        short.push(b"a\nb");
        assert_eq!(short.lines(), "a\nb");
    }
}
