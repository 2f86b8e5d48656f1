//! Cases of reading: streams, snapshots, prefixes, pages, and the walk over the whole log.

use super::sample::{Subject, append, intent, name, places, snapshot, store};
use regatta_store::{Append, Loaded, NewSnapshot, Seq, Snapshot, Verified, Version};

fn kept(version: u64, format: u32, data: &str) -> Option<Snapshot> {
    Some(Snapshot { version: Version(version), format, data: data.to_owned() })
}

fn with_snapshot(append: Append, snapshot: NewSnapshot) -> Append {
    Append { snapshots: vec![snapshot], ..append }
}

pub(crate) async fn a_stream_that_does_not_exist_is_empty(subject: Subject) {
    let empty = Loaded { stream: name("a"), version: Version(0), snapshot: None, tail: vec![] };
    assert_eq!(subject.load(&name("a"), 1).await.unwrap(), empty);
    store(&subject, append(&[("b", 0)], &[&["b"]])).await;
    assert_eq!(subject.load(&name("a"), 1).await.unwrap(), empty);
}

pub(crate) async fn a_snapshot_shortens_the_tail(subject: Subject) {
    let first = append(&[("a", 0), ("b", 0)], &[&["a"], &["b", "a"]]);
    store(&subject, with_snapshot(first, snapshot("a", 1, "\"two\""))).await;
    store(&subject, append(&[("a", 2)], &[&["a"]])).await;

    let loaded = subject.load(&name("a"), 1).await.unwrap();
    assert_eq!(loaded.snapshot, kept(2, 1, "\"two\""));
    assert_eq!((loaded.version, places(&loaded.tail)), (Version(3), vec![3]));

    let other_format = subject.load(&name("a"), 2).await.unwrap();
    assert_eq!(other_format.snapshot, None);
    assert_eq!((other_format.version, places(&other_format.tail)), (Version(3), vec![1, 2, 3]));

    store(&subject, with_snapshot(append(&[("a", 3)], &[&["a"]]), snapshot("a", 2, "\"four\""))).await;
    let replaced = subject.load(&name("a"), 2).await.unwrap();
    assert_eq!((replaced.snapshot, places(&replaced.tail)), (kept(4, 2, "\"four\""), vec![]));
    let old_format = subject.load(&name("a"), 1).await.unwrap();
    assert_eq!((old_format.snapshot, old_format.tail.len()), (None, 4));
    assert_eq!(subject.load(&name("b"), 1).await.unwrap().snapshot, None);
}

pub(crate) async fn a_snapshot_without_events_is_of_the_stream_as_it_is(subject: Subject) {
    store(&subject, append(&[("a", 0)], &[&["a"], &["a"]])).await;
    store(&subject, with_snapshot(append(&[("a", 2)], &[]), snapshot("a", 1, "2"))).await;
    let loaded = subject.load(&name("a"), 1).await.unwrap();
    assert_eq!((loaded.snapshot, loaded.version), (kept(2, 1, "2"), Version(2)));
}

pub(crate) async fn a_prefix_loads_streams_by_name(subject: Subject) {
    let names = ["task/2", "task/1", "zz", "task/12", "crew", "task", "task-x", "task/1/z"];
    for stream in names {
        store(&subject, append(&[(stream, 0)], &[&[stream]])).await;
    }
    store(&subject, with_snapshot(append(&[("task/1", 1)], &[&["task/1"]]), snapshot("task/1", 1, "{}")))
        .await;
    let found = async |prefix: &str| -> Vec<String> {
        let loaded = subject.load_prefix(prefix, 1).await.unwrap();
        loaded.into_iter().map(|loaded| loaded.stream.into()).collect()
    };
    assert_eq!(found("task/1").await, ["task/1", "task/1/z", "task/12"]);
    assert_eq!(found("task/").await, ["task/1", "task/1/z", "task/12", "task/2"]);
    assert_eq!(found("z").await, ["zz"]);
    let all = ["crew", "task", "task-x", "task/1", "task/1/z", "task/12", "task/2", "zz"];
    assert_eq!(found("").await, all);
    for nothing in ["task/13", "zzz", "Task", "%", "task_", "é", "\u{10FFFF}"] {
        assert_eq!(found(nothing).await, [""; 0], "prefix {nothing}");
    }

    let loaded = subject.load_prefix("task/1", 1).await.unwrap();
    assert_eq!((loaded[0].version, &loaded[0].snapshot), (Version(2), &kept(2, 1, "{}")));
    assert_eq!(places(&loaded[2].tail), [4]);
    assert_eq!(subject.load_prefix("task/1", 2).await.unwrap()[0].tail.len(), 2);
}

pub(crate) async fn several_streams_load_in_the_order_asked(subject: Subject) {
    store(&subject, append(&[("a", 0), ("b", 0)], &[&["a", "b"], &["a"]])).await;
    let asked = ["b", "none", "a", "b"].map(name);
    let loaded = subject.load_many(&asked, 1).await.unwrap();
    let seen: Vec<_> = loaded
        .iter()
        .map(|loaded| (loaded.stream.as_str(), loaded.version.0, places(&loaded.tail)))
        .collect();
    assert_eq!(seen, [("b", 1, vec![1]), ("none", 0, vec![]), ("a", 2, vec![1, 2]), ("b", 1, vec![1])]);
    assert_eq!(subject.load_many(&[], 1).await.unwrap(), []);
}

pub(crate) async fn the_log_is_read_in_pages(subject: Subject) {
    let five: [&[&str]; 5] = [&["a"]; 5];
    store(&subject, append(&[("a", 0)], &five)).await;
    for (after, limit, expected) in [
        (0, 2, vec![1, 2]),
        (2, 2, vec![3, 4]),
        (4, 2, vec![5]),
        (5, 2, vec![]),
        (6, 2, vec![]),
        (0, 0, vec![]),
        (3, usize::MAX, vec![4, 5]),
        (u64::MAX, usize::MAX, vec![]),
    ] {
        let read = subject.read(Seq(after), limit).await.unwrap();
        assert_eq!(places(&read), expected, "after {after}, at most {limit}");
    }
}

pub(crate) async fn a_sound_log_is_verified(subject: Subject) {
    let mut first = append(&[("a", 0), ("b", 0)], &[&["a"], &["b", "a"]]);
    first.intents = vec![intent(1, "x"), intent(0, "y"), intent(1, "z")];
    first.snapshots = vec![snapshot("a", 1, "{}")];
    store(&subject, first).await;
    let settle = vec!["2.1".parse().unwrap()];
    store(&subject, Append { settle, ..append(&[("a", 2)], &[&["a"]]) }).await;
    assert_eq!(subject.verify().await.unwrap(), Verified { events: 3, streams: 2, intents: 3 });
}
