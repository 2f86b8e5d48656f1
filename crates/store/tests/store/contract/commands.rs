//! Cases of commands: done once however often they are sent.

use super::sample::{
    Subject, append, command, event, lease, picture, refusal, snapshot, store, token, versions,
};
use regatta_store::{Append, Appended, CommandKey, Seq};

fn commanded(key: CommandKey, answer: &str, append: Append) -> Append {
    Append { command: Some(key), answer: answer.to_owned(), ..append }
}

pub(crate) async fn a_repeated_command_has_one_effect(subject: Subject) {
    let key = || command(1, "digest");
    assert_eq!(subject.find_answer(&key()).await.unwrap(), None);
    let first = commanded(key(), "\"first\"", append(&[("a", 0)], &[&["a"]]));
    assert_eq!(store(&subject, first.clone()).await, Seq(1));
    assert_eq!(subject.find_answer(&key()).await.unwrap().as_deref(), Some("\"first\""));

    let before = picture(&subject).await;
    let again = commanded(key(), "\"second\"", append(&[("a", 1)], &[&["a"]]));
    for repeated in [first, again] {
        let answer = "\"first\"".to_owned();
        assert_eq!(subject.append(repeated).await.unwrap(), Appended::Repeated { answer });
    }
    assert_eq!(picture(&subject).await, before);
}

pub(crate) async fn a_reused_id_is_refused(subject: Subject) {
    store(&subject, commanded(command(1, "one"), "1", append(&[("a", 0)], &[&["a"]]))).await;
    let text = "command 00000000-0000-0000-0000-000000000001 was used before, for something else";
    let other = commanded(command(1, "two"), "2", append(&[("a", 1)], &[&["a"]]));
    assert_eq!(refusal(subject.append(other).await), text);
    assert_eq!(refusal(subject.find_answer(&command(1, "two")).await), text);
    assert_eq!(subject.head().await.unwrap(), Seq(1));
}

pub(crate) async fn a_command_without_events_keeps_its_answer(subject: Subject) {
    let nothing = commanded(command(1, "digest"), "\"nothing to do\"", Append::default());
    assert_eq!(store(&subject, nothing).await, Seq(0));
    let answer = subject.find_answer(&command(1, "digest")).await.unwrap();
    assert_eq!(answer.as_deref(), Some("\"nothing to do\""));
}

pub(crate) async fn a_refused_append_keeps_no_answer(subject: Subject) {
    let stale = commanded(command(1, "digest"), "1", append(&[("a", 5)], &[&["a"]]));
    refusal(subject.append(stale).await);
    assert_eq!(subject.find_answer(&command(1, "digest")).await.unwrap(), None);
    store(&subject, commanded(command(1, "other"), "2", append(&[("a", 0)], &[&["a"]]))).await;
}

pub(crate) async fn a_repeated_command_is_answered_whatever_has_changed(subject: Subject) {
    subject.take_lease(lease(9, 0)).await.unwrap();
    let mut once = commanded(command(1, "digest"), "1", append(&[("a", 0)], &[&["a"]]));
    once.fence = Some(token(9));
    store(&subject, once.clone()).await;
    subject.release_lease(&token(9)).await.unwrap();
    store(&subject, append(&[("a", 1)], &[&["a"]])).await;
    assert_eq!(subject.append(once).await.unwrap(), Appended::Repeated { answer: "1".to_owned() });
}

pub(crate) async fn a_command_sent_at_once_is_done_once(subject: Subject) {
    const SENT: usize = 16;
    let sends: Vec<_> = (0..SENT)
        .map(|sender| {
            let subject = subject.clone();
            let own = format!("own/{sender}");
            let events = vec![event(1, &[&own])];
            let append = Append { expect: versions(&[(&own, 0)]), events, ..Append::default() };
            let append = Append { snapshots: vec![snapshot(&own, 1, "{}")], ..append };
            tokio::spawn(async move {
                subject.append(commanded(command(1, "same"), &sender.to_string(), append)).await.unwrap()
            })
        })
        .collect();
    let (mut stored, mut answers) = (0, Vec::new());
    for send in sends {
        match send.await.unwrap() {
            Appended::Stored { .. } => stored += 1,
            Appended::Repeated { answer } => answers.push(answer),
        }
    }
    assert_eq!((stored, answers.len()), (1, SENT - 1));
    let kept = subject.find_answer(&command(1, "same")).await.unwrap().unwrap();
    assert!(answers.iter().all(|answer| *answer == kept), "{answers:?} are not all {kept}");
    assert_eq!(subject.head().await.unwrap(), Seq(1));
}
