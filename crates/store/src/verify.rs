//! The walk over a whole log that finds the first thing that does not add up.
//!
//! A store feeds it what it holds, in order: every event, [`Walk::end_events`], every stream, every intent. The
//! walk keeps one number per stream, whatever the length of the log, and does no IO.

use std::collections::BTreeMap;

use crate::{Corruption, IntentId, Seq, StreamName, Version};

/// What a log that adds up holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verified {
    /// The number of events.
    pub events: u64,
    /// The number of streams.
    pub streams: u64,
    /// The number of intents, open and settled.
    pub intents: u64,
}

/// The walk, and what it has seen.
#[derive(Debug)]
pub(crate) struct Walk {
    head: Seq,
    events: u64,
    versions: BTreeMap<StreamName, u64>,
    streams: u64,
    intents: u64,
    previous: Option<IntentId>,
}

impl Walk {
    /// Starts the walk of a log that says its head is `head`.
    pub(crate) fn new(head: Seq) -> Self {
        Self { head, events: 0, versions: BTreeMap::new(), streams: 0, intents: 0, previous: None }
    }

    /// Takes the next event with its version in each of its streams.
    pub(crate) fn event(
        &mut self,
        seq: Seq,
        memberships: &[(StreamName, Version)],
    ) -> Result<(), Corruption> {
        let next = Seq(self.events + 1);
        if seq != next {
            return Err(Corruption::EventMissing { seq: next });
        }
        if seq > self.head {
            return Err(Corruption::EventPastHead { seq, head: self.head });
        }
        if memberships.is_empty() {
            return Err(Corruption::EventWithoutStream { seq });
        }
        self.events = seq.0;
        memberships.iter().try_for_each(|(stream, found)| self.membership(seq, stream, *found))
    }

    fn membership(&mut self, seq: Seq, stream: &StreamName, found: Version) -> Result<(), Corruption> {
        let version = self.versions.entry(stream.clone()).or_default();
        *version += 1;
        let expected = Version(*version);
        if found == expected {
            return Ok(());
        }
        Err(Corruption::StreamGap { stream: stream.clone(), seq, expected, found })
    }

    /// Tells that there are no more events.
    pub(crate) fn end_events(&self) -> Result<(), Corruption> {
        if self.events == self.head.0 {
            return Ok(());
        }
        Err(Corruption::EventMissing { seq: Seq(self.events + 1) })
    }

    /// Takes a stream with the version kept for it and that of its snapshot.
    pub(crate) fn stream(
        &mut self,
        stream: &StreamName,
        kept: Version,
        snapshot: Option<Version>,
    ) -> Result<(), Corruption> {
        self.streams += 1;
        let counted = Version(self.versions.get(stream).copied().unwrap_or_default());
        if kept != counted {
            return Err(Corruption::StreamVersion { stream: stream.clone(), kept, counted });
        }
        match snapshot {
            Some(snapshot) if snapshot > kept => {
                Err(Corruption::SnapshotAhead { stream: stream.clone(), snapshot, version: kept })
            }
            _ => Ok(()),
        }
    }

    /// Takes the next intent, in the order of ids, with the head of the log when it was settled.
    pub(crate) fn intent(&mut self, intent: IntentId, settled: Option<Seq>) -> Result<(), Corruption> {
        if intent.seq.0 == 0 || intent.seq.0 > self.events {
            return Err(Corruption::OrphanIntent { intent });
        }
        let ordinal = match self.previous {
            Some(previous) if previous.seq == intent.seq => previous.ordinal + 1,
            _ => 0,
        };
        let expected = IntentId { seq: intent.seq, ordinal };
        if intent != expected {
            return Err(Corruption::IntentGap { expected, found: intent });
        }
        if let Some(settled) = settled
            && (settled < intent.seq || settled > self.head)
        {
            return Err(Corruption::SettledOutside { intent, settled });
        }
        self.previous = Some(intent);
        self.intents += 1;
        Ok(())
    }

    /// Ends the walk.
    pub(crate) fn finish(self) -> Verified {
        Verified { events: self.events, streams: self.streams, intents: self.intents }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(text: &str) -> StreamName {
        StreamName::parse(text).unwrap()
    }

    /// Walks events given as `stream@version` lists and returns the first finding.
    fn walk(head: u64, events: &[(u64, &[(&str, u64)])]) -> Result<Walk, Corruption> {
        let mut walk = Walk::new(Seq(head));
        for (seq, memberships) in events {
            let memberships: Vec<_> =
                memberships.iter().map(|(stream, version)| (name(stream), Version(*version))).collect();
            walk.event(Seq(*seq), &memberships)?;
        }
        walk.end_events().map(|()| walk)
    }

    fn finding<T>(result: Result<T, Corruption>) -> String {
        result.err().map(|corruption| corruption.to_string()).unwrap_or_default()
    }

    #[test]
    fn events_must_be_gapless_up_to_the_head() {
        assert_eq!(finding(walk(0, &[])), "");
        assert_eq!(finding(walk(2, &[(1, &[("a", 1)]), (2, &[("a", 2), ("b", 1)])])), "");
        assert_eq!(finding(walk(3, &[(1, &[("a", 1)]), (3, &[("a", 2)])])), "event 2 is missing");
        assert_eq!(finding(walk(2, &[(1, &[("a", 1)])])), "event 2 is missing");
        let past = finding(walk(0, &[(1, &[("a", 1)])]));
        assert_eq!(past, "event 1 stands after the head of the log, 0");
        assert_eq!(finding(walk(1, &[(1, &[])])), "event 1 belongs to no stream");
    }

    #[test]
    fn versions_must_be_gapless_in_each_stream() {
        let gap = finding(walk(2, &[(1, &[("a", 1)]), (2, &[("a", 3)])]));
        assert_eq!(gap, "stream `a` has version 3 at event 2 where 2 must be");

        let mut ended = walk(1, &[(1, &[("a", 1)])]).unwrap();
        assert_eq!(ended.stream(&name("a"), Version(1), Some(Version(1))), Ok(()));
        let kept = finding(ended.stream(&name("a"), Version(2), None));
        assert_eq!(kept, "stream `a` is kept at version 2 but has 1 events");
        let ahead = finding(ended.stream(&name("a"), Version(1), Some(Version(2))));
        assert_eq!(ahead, "the snapshot of stream `a` is of version 2, the stream is at 1");
    }

    #[test]
    fn intents_must_belong_to_events() {
        let id = |text: &str| text.parse::<IntentId>().unwrap();
        let mut ended = walk(2, &[(1, &[("a", 1)]), (2, &[("a", 2)])]).unwrap();
        assert_eq!(ended.intent(id("1.0"), Some(Seq(2))), Ok(()));
        assert_eq!(finding(ended.intent(id("1.2"), None)), "intent 1.2 stands where 1.1 must be");
        assert_eq!(
            finding(ended.intent(id("2.0"), Some(Seq(1)))),
            "intent 2.0 is settled at event 1, outside of its event and the head of the log"
        );
        let orphan = finding(ended.intent(id("3.0"), None));
        assert_eq!(orphan, "intent 3.0 belongs to an event that the log does not have");
        assert_eq!(ended.finish(), Verified { events: 2, streams: 0, intents: 1 });
    }
}
