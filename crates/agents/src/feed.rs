//! Carries output from a session to its reader in bounded memory.
//!
//! The writer never waits: when the reader is slow, text is dropped where it stands and counted in one
//! [`Output::Skipped`]. A channel would lose the place of the gap, so this is a queue behind a short lock.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio::sync::Notify;

use crate::output::Output;

/// Text that may wait for the reader: enough to bridge a pause, little beside many sessions.
const WAITING_BYTES_MAX: usize = 1024 * 1024;

/// Pieces that may wait, because small pieces cost more than their text.
const WAITING_PIECES_MAX: usize = 4096;

/// Further pieces kept for edits and commits, which are few and worth more than text.
const RESERVED_PIECES_MAX: usize = 1024;

/// The writing side; dropping it ends the feed.
#[derive(Debug)]
pub(crate) struct FeedWriter {
    shared: Arc<Shared>,
}

/// The reading side.
#[derive(Debug)]
pub(crate) struct FeedReader {
    shared: Arc<Shared>,
}

/// Makes a connected pair.
pub(crate) fn feed_pair() -> (FeedWriter, FeedReader) {
    let shared = Arc::new(Shared::default());
    (FeedWriter { shared: shared.clone() }, FeedReader { shared })
}

#[derive(Debug, Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Notify,
}

#[derive(Debug, Default)]
struct Queue {
    pieces: VecDeque<Output>,
    bytes: usize,
    is_closed: bool,
}

impl FeedWriter {
    /// Adds a piece, or counts it as skipped.
    pub(crate) fn push(&self, piece: Output) {
        let mut queue = self.shared.lock();
        if queue.is_closed {
            return;
        }
        if queue.has_room_for(&piece) {
            queue.bytes += piece.length();
            queue.pieces.push_back(piece);
        } else {
            queue.skip(piece.length() as u64);
        }
        self.shared.changed.notify_one();
    }
}

impl Drop for FeedWriter {
    fn drop(&mut self) {
        self.shared.lock().is_closed = true;
        self.shared.changed.notify_one();
    }
}

impl FeedReader {
    /// Returns the next piece; nothing once the writer is gone and all was read.
    pub(crate) async fn next(&mut self) -> Option<Output> {
        loop {
            {
                let mut queue = self.shared.lock();
                if let Some(piece) = queue.pieces.pop_front() {
                    queue.bytes -= piece.length();
                    return Some(piece);
                }
                if queue.is_closed {
                    return None;
                }
            }
            self.shared.changed.notified().await;
        }
    }
}

impl Drop for FeedReader {
    fn drop(&mut self) {
        let mut queue = self.shared.lock();
        *queue = Queue { is_closed: true, ..Queue::default() };
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Queue> {
        // No code that can panic runs under the lock, so a poisoned queue is still sound.
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Queue {
    fn has_room_for(&self, piece: &Output) -> bool {
        if piece.is_text() {
            self.pieces.len() < WAITING_PIECES_MAX && self.bytes + piece.length() <= WAITING_BYTES_MAX
        } else {
            self.pieces.len() < WAITING_PIECES_MAX + RESERVED_PIECES_MAX
        }
    }

    fn skip(&mut self, skipped: u64) {
        if let Some(Output::Skipped { bytes }) = self.pieces.back_mut() {
            *bytes += skipped;
        } else {
            self.pieces.push_back(Output::Skipped { bytes: skipped });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(length: usize) -> Output {
        Output::Text("x".repeat(length))
    }

    #[tokio::test]
    async fn a_slow_reader_learns_where_and_how_much_was_skipped() {
        let (writer, mut reader) = feed_pair();
        writer.push(text(WAITING_BYTES_MAX));
        writer.push(text(3));
        writer.push(Output::Error("yy".to_owned()));
        writer.push(Output::Edited { path: "a".to_owned(), change: None });
        assert_eq!(reader.next().await, Some(text(WAITING_BYTES_MAX)));
        writer.push(text(1));
        drop(writer);
        assert_eq!(reader.next().await, Some(Output::Skipped { bytes: 5 }));
        assert_eq!(reader.next().await, Some(Output::Edited { path: "a".to_owned(), change: None }));
        assert_eq!(reader.next().await, Some(text(1)));
        assert_eq!(reader.next().await, None);
        assert_eq!(reader.next().await, None);
    }

    #[tokio::test]
    async fn many_small_pieces_are_bounded_too() {
        let (writer, mut reader) = feed_pair();
        let sent = 3 * WAITING_PIECES_MAX as u64;
        for _ in 0..sent {
            writer.push(text(1));
        }
        assert!(writer.shared.lock().pieces.len() <= WAITING_PIECES_MAX + 1);
        drop(writer);
        let mut seen = 0;
        while let Some(piece) = reader.next().await {
            seen += match piece {
                Output::Skipped { bytes } => bytes,
                other => other.length() as u64,
            };
        }
        assert_eq!(seen, sent);
    }

    #[tokio::test]
    async fn a_waiting_reader_is_woken_and_a_missing_one_costs_nothing() {
        let (writer, mut reader) = feed_pair();
        let waiting = tokio::spawn(async move { (reader.next().await, reader) });
        writer.push(text(1));
        let (piece, reader) = waiting.await.unwrap();
        assert_eq!(piece, Some(text(1)));
        drop(reader);
        writer.push(text(1));
        assert!(writer.shared.lock().pieces.is_empty());
    }
}
