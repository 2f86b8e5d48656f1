//! Walks over a whole log and finds the first inconsistency.
//!
//! A store feeds it what it holds, in order: every event, every stream with its places, every open intent.
//! Events say which streams they are in, and streams which events they have; the walk compares both. It keeps
//! one number per stream, whatever the length of the log, and does no IO.

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
#[derive(Debug, Default)]
pub(crate) struct Walk {
    events: u64,
    versions: BTreeMap<StreamName, u64>,
    streams: u64,
    intents: u64,
    place: Option<(Version, Seq)>,
}

impl Walk {
    /// Takes the next event with the streams that it says it is in, and how many intents it asked for.
    pub(crate) fn event(&mut self, seq: Seq, streams: &[StreamName], intents: u64) -> Result<(), Corruption> {
        let next = Seq(self.events + 1);
        if seq != next {
            return Err(Corruption::EventMissing { seq: next });
        }
        if streams.is_empty() {
            return Err(Corruption::EventWithoutStream { seq });
        }
        for stream in streams {
            match self.versions.get_mut(stream) {
                Some(version) => *version += 1,
                None => drop(self.versions.insert(stream.clone(), 1)),
            }
        }
        self.events = seq.0;
        self.intents += intents;
        Ok(())
    }

    /// Takes the next stream with the version kept for it and that of its snapshot.
    pub(crate) fn stream(
        &mut self,
        stream: &StreamName,
        kept: Version,
        snapshot: Option<Version>,
    ) -> Result<(), Corruption> {
        self.streams += 1;
        self.place = None;
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

    /// Takes the next place of the stream that was taken last: which event has a version, and the streams that this
    /// event says it is in.
    pub(crate) fn place(
        &mut self,
        stream: &StreamName,
        found: Version,
        seq: Seq,
        joined: &[StreamName],
    ) -> Result<(), Corruption> {
        let (version, before) = self.place.unwrap_or((Version(0), Seq(0)));
        let expected = Version(version.0 + 1);
        if found != expected {
            return Err(Corruption::StreamGap { stream: stream.clone(), seq, expected, found });
        }
        if seq <= before || !joined.contains(stream) {
            return Err(Corruption::StrangeEvent { stream: stream.clone(), version: found, seq });
        }
        self.place = Some((found, seq));
        Ok(())
    }

    /// Reports that there are no more streams.
    pub(crate) fn end_streams(&self) -> Result<(), Corruption> {
        let kept = self.streams;
        let named = self.versions.len() as u64;
        if kept == named { Ok(()) } else { Err(Corruption::StreamMissing { kept, named }) }
    }

    /// Takes an open intent, with how many intents its event asked for.
    pub(crate) fn intent(&self, intent: IntentId, asked: u64) -> Result<(), Corruption> {
        if intent.seq.0 == 0 || intent.seq.0 > self.events {
            return Err(Corruption::OrphanIntent { intent });
        }
        if u64::from(intent.ordinal) >= asked {
            return Err(Corruption::IntentNotAsked { intent, asked });
        }
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

    fn names(texts: &[&str]) -> Vec<StreamName> {
        texts.iter().map(|text| name(text)).collect()
    }

    /// Walks events given with their streams, each of which asked for one intent.
    fn walk(events: &[(u64, &[&str])]) -> Result<Walk, Corruption> {
        let mut walk = Walk::default();
        for (seq, streams) in events {
            walk.event(Seq(*seq), &names(streams), 1)?;
        }
        Ok(walk)
    }

    fn finding<T>(result: Result<T, Corruption>) -> String {
        result.err().map(|corruption| corruption.to_string()).unwrap_or_default()
    }

    #[test]
    fn events_must_be_gapless() {
        assert_eq!(finding(walk(&[])), "");
        assert_eq!(finding(walk(&[(1, &["a"]), (2, &["a", "b"])])), "");
        assert_eq!(finding(walk(&[(1, &["a"]), (3, &["a"])])), "event 2 is missing");
        assert_eq!(finding(walk(&[(2, &["a"])])), "event 1 is missing");
        assert_eq!(finding(walk(&[(1, &[])])), "event 1 belongs to no stream");
    }

    #[test]
    fn a_stream_must_have_what_events_say() {
        let mut ended = walk(&[(1, &["a"])]).unwrap();
        assert_eq!(finding(ended.end_streams()), "there are 0 streams, but events name 1");
        assert_eq!(ended.stream(&name("a"), Version(1), Some(Version(1))), Ok(()));
        assert_eq!(ended.end_streams(), Ok(()));
        let kept = finding(ended.stream(&name("a"), Version(2), None));
        assert_eq!(kept, "stream `a` is kept at version 2 but has 1 events");
        let ahead = finding(ended.stream(&name("a"), Version(1), Some(Version(2))));
        assert_eq!(ahead, "the snapshot of stream `a` is of version 2, the stream is at 1");
    }

    #[test]
    fn places_must_be_gapless_and_lead_to_events_of_the_stream() {
        let (a, both) = (name("a"), names(&["a", "b"]));
        let mut ended = walk(&[(1, &["a"]), (2, &["a", "b"]), (3, &["b"])]).unwrap();
        ended.stream(&a, Version(2), None).unwrap();
        let gap = finding(ended.place(&a, Version(2), Seq(2), &both));
        assert_eq!(gap, "stream `a` has version 2 at event 2 where 1 must be");
        assert_eq!(ended.place(&a, Version(1), Seq(2), &both), Ok(()));
        for (seq, joined) in [(2, &["a", "b"][..]), (1, &["a"]), (3, &["b"])] {
            let strange = finding(ended.place(&a, Version(2), Seq(seq), &names(joined)));
            assert_eq!(strange, format!("stream `a` has event {seq} as version 2, which is not its next"));
        }
    }

    #[test]
    fn open_intents_must_belong_to_events_that_asked_for_them() {
        let id = |text: &str| text.parse::<IntentId>().unwrap();
        let ended = walk(&[(1, &["a"]), (2, &["a"])]).unwrap();
        assert_eq!(ended.intent(id("1.0"), 1), Ok(()));
        assert_eq!(finding(ended.intent(id("1.1"), 1)), "intent 1.1 is open, but its event asked for 1");
        for orphan in ["3.0", "0.0"] {
            let expected = format!("intent {orphan} belongs to an event that the log does not have");
            assert_eq!(finding(ended.intent(id(orphan), 1)), expected);
        }
        assert_eq!(ended.finish(), Verified { events: 2, streams: 0, intents: 2 });
    }
}
