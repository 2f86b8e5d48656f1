//! Cases of kept lists: built once, then written with the events.

use super::sample::{Subject, append, refusal, store};
use regatta_store::{Append, List, ListId, NewRow, Row, RowRead, Seq};
use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

const LIST: ListId = ListId { name: "tasks", format: 1 };

fn put(key: u64, data: &str) -> NewRow {
    NewRow { list: LIST, key, data: Some(data.to_owned()) }
}

fn row(key: u64, seq: u64, data: &str) -> Row {
    Row { key, seq: Seq(seq), data: data.to_owned() }
}

/// An append of one event that writes rows.
fn with_rows(version: u64, rows: Vec<NewRow>) -> Append {
    Append { rows, ..append(&[("a", version)], &[&["a"]]) }
}

pub(crate) async fn a_list_exists_once_it_is_built(subject: Subject) {
    store(&subject, with_rows(0, vec![put(1, "early")])).await;
    assert_eq!(subject.find_list(LIST).await.unwrap(), None, "a row alone makes no list");
    assert!(!subject.has_list(LIST).await.unwrap());
    let rows = vec![(7, "seven".to_owned()), (2, "two".to_owned())];
    assert!(!subject.build_list(LIST, Seq(0), rows.clone()).await.unwrap(), "the log has moved");
    assert_eq!(subject.find_list(LIST).await.unwrap(), None);
    assert!(subject.build_list(LIST, Seq(1), rows).await.unwrap());
    let built = List { head: Seq(1), rows: vec![row(2, 1, "two"), row(7, 1, "seven")] };
    assert_eq!(subject.find_list(LIST).await.unwrap(), Some(built));
    assert!(subject.build_list(LIST, Seq(1), Vec::new()).await.unwrap(), "and it may be built again");
    assert_eq!(subject.find_list(LIST).await.unwrap(), Some(List { head: Seq(1), rows: Vec::new() }));
}

pub(crate) async fn rows_are_written_with_their_events(subject: Subject) {
    assert!(subject.build_list(LIST, Seq(0), Vec::new()).await.unwrap());
    store(&subject, with_rows(0, vec![put(2, "two"), put(1, "one")])).await;
    let gone = NewRow { list: LIST, key: 2, data: None };
    let mut second = append(&[("a", 1)], &[&["a"], &["a"]]);
    second.rows = vec![gone, put(3, "three")];
    store(&subject, second).await;
    let known = List { head: Seq(3), rows: vec![row(1, 1, "one"), row(3, 3, "three")] };
    assert_eq!(subject.find_list(LIST).await.unwrap(), Some(known.clone()));

    refusal(subject.append(with_rows(1, vec![put(1, "stale")])).await);
    let twice = refusal(subject.append(with_rows(3, vec![put(1, "x"), put(1, "y")])).await);
    assert!(twice.contains("row 1 of the list `tasks` is written twice"), "{twice}");
    assert_eq!(subject.find_list(LIST).await.unwrap(), Some(known), "a refused append writes no row");

    store(&subject, Append { rows: vec![put(1, "again")], ..Append::default() }).await;
    let rows = subject.find_list(LIST).await.unwrap().unwrap().rows;
    assert_eq!(rows, [row(1, 3, "again"), row(3, 3, "three")], "no event is needed");
}

pub(crate) async fn a_list_is_read_from_a_number_on_as_far_as_is_wanted(subject: Subject) {
    let rows = [1, 2, 5, 9].map(|key| (key, format!("row {key}")));
    assert!(subject.build_list(LIST, Seq(0), rows.to_vec()).await.unwrap());
    for (from, count_max, expected) in
        [(0, 9, vec![1, 2, 5, 9]), (2, 2, vec![2, 5]), (6, 9, vec![9]), (10, 9, vec![])]
    {
        let seen = Arc::new(Mutex::new(Vec::new()));
        let kept = Arc::clone(&seen);
        let take = Box::new(move |row: RowRead<'_>| {
            assert_eq!((row.seq, row.data), (Seq(0), &*format!("row {}", row.key)));
            let mut kept = kept.lock().unwrap();
            kept.push(row.key);
            if kept.len() == count_max { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        assert_eq!(subject.read_list(LIST, from, take).await.unwrap(), Some(Seq(0)));
        assert_eq!(*seen.lock().unwrap(), expected, "from {from}");
    }
    let newer = ListId { format: 2, ..LIST };
    let take = Box::new(|_: RowRead<'_>| panic!("there is no row"));
    assert_eq!(subject.read_list(newer, 0, take).await.unwrap(), None);
}

pub(crate) async fn a_list_of_another_format_is_built_again(subject: Subject) {
    let newer = ListId { format: 2, ..LIST };
    let other = ListId { name: "files", format: 1 };
    for list in [LIST, other] {
        assert!(subject.build_list(list, Seq(0), vec![(1, "old".to_owned())]).await.unwrap());
    }
    assert_eq!(subject.find_list(newer).await.unwrap(), None);
    assert!(subject.has_list(LIST).await.unwrap() && !subject.has_list(newer).await.unwrap());
    store(&subject, with_rows(0, vec![NewRow { list: newer, key: 2, data: Some("new".to_owned()) }])).await;
    for list in [LIST, newer] {
        assert_eq!(subject.find_list(list).await.unwrap(), None, "it has rows of two formats, so it is none");
    }
    assert!(subject.build_list(newer, Seq(1), vec![(2, "new".to_owned())]).await.unwrap());
    assert_eq!(subject.find_list(newer).await.unwrap().unwrap().rows, [row(2, 1, "new")]);
    assert_eq!(subject.find_list(other).await.unwrap().unwrap().rows, [row(1, 0, "old")]);
}
