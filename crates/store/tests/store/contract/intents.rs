//! Cases of intents: their ids, and that each is settled once.

use super::sample::{Subject, append, command, intent, picture, refusal, store, time};
use regatta_store::{Append, Appended, Intent, IntentId, Seq};

fn id(text: &str) -> IntentId {
    text.parse().expect("the case has a good id")
}

async fn open_ids(subject: &Subject) -> Vec<String> {
    subject.open_intents().await.unwrap().iter().map(|intent| intent.id.to_string()).collect()
}

async fn settle(subject: &Subject, intent: &str) -> Result<Appended, regatta_store::Error> {
    subject.append(Append { settle: vec![id(intent)], ..Append::default() }).await
}

pub(crate) async fn ids_are_made_from_positions(subject: Subject) {
    store(&subject, append(&[("a", 0)], &[&["a"]])).await;
    let mut with_intents = append(&[("a", 1)], &[&["a"], &["a"]]);
    with_intents.intents = vec![intent(1, "third"), intent(0, "first"), intent(0, "second")];
    let stored = subject.append(with_intents).await.unwrap();
    let intents = ["3.0", "2.0", "2.1"].map(id).to_vec();
    assert_eq!(stored, Appended::Stored { first: Some(Seq(2)), last: Seq(3), intents });

    let open = subject.open_intents().await.unwrap();
    let kinds: Vec<_> = open.iter().map(|intent| (intent.id.to_string(), intent.kind.as_str())).collect();
    let expected = [("2.0", "first"), ("2.1", "second"), ("3.0", "third")];
    assert_eq!(kinds, expected.map(|(id, kind)| (id.to_owned(), kind)));
    let (kind, lane, data) = ("third".to_owned(), "lane".to_owned(), "{}".to_owned());
    assert_eq!(open[2], Intent { id: id("3.0"), kind, lane, data, at: time(2) });
}

pub(crate) async fn an_intent_is_settled_once(subject: Subject) {
    let intents = vec![intent(0, "x"), intent(0, "y")];
    store(&subject, Append { intents, ..append(&[("a", 0)], &[&["a"]]) }).await;
    assert!(subject.is_open(id("1.0")).await.unwrap());

    store(&subject, Append { settle: vec![id("1.0")], ..append(&[("a", 1)], &[&["a"]]) }).await;
    assert!(!subject.is_open(id("1.0")).await.unwrap());
    assert_eq!(open_ids(&subject).await, ["1.1"]);

    let before = picture(&subject).await;
    let again = Append { settle: vec![id("1.1"), id("1.0")], ..append(&[("a", 2)], &[&["a"]]) };
    assert_eq!(refusal(subject.append(again).await), "intent 1.0 is already settled");
    assert_eq!(picture(&subject).await, before);

    let alone = settle(&subject, "1.1").await.unwrap();
    assert_eq!(alone, Appended::Stored { first: None, last: Seq(2), intents: vec![] });
    assert_eq!(open_ids(&subject).await, [""; 0]);
    assert_eq!(refusal(settle(&subject, "1.1").await), "intent 1.1 is already settled");
}

pub(crate) async fn an_unknown_intent_is_refused(subject: Subject) {
    assert_eq!(refusal(settle(&subject, "1.0").await), "there is no intent 1.0");
    store(&subject, Append { intents: vec![intent(0, "x")], ..append(&[("a", 0)], &[&["a"]]) }).await;
    for unknown in ["1.1", "0.0", "2.0", "18446744073709551615.0", "1.4294967295"] {
        assert!(!subject.is_open(id(unknown)).await.unwrap());
        assert_eq!(refusal(settle(&subject, unknown).await), format!("there is no intent {unknown}"));
    }
    let mut of_itself = append(&[("a", 1)], &[&["a"]]);
    of_itself.intents = vec![intent(0, "x")];
    of_itself.settle = vec![id("2.0")];
    assert_eq!(refusal(subject.append(of_itself).await), "there is no intent 2.0");
}

pub(crate) async fn a_refused_append_settles_nothing(subject: Subject) {
    store(&subject, Append { intents: vec![intent(0, "x")], ..append(&[("a", 0)], &[&["a"]]) }).await;
    let stale = Append { settle: vec![id("1.0")], ..append(&[("a", 0)], &[&["a"]]) };
    refusal(subject.append(stale).await);
    let half = Append { settle: vec![id("1.0"), id("9.0")], ..append(&[("a", 1)], &[&["a"]]) };
    let half = Append { command: Some(command(1, "digest")), ..half };
    assert_eq!(refusal(subject.append(half).await), "there is no intent 9.0");
    assert_eq!(open_ids(&subject).await, ["1.0"]);
    assert_eq!(subject.find_answer(&command(1, "digest")).await.unwrap(), None);
}
