//! One sample of every event of epics and PRDs.

use super::user;
use crate::document::Event;
use crate::{EpicId, Fact};
use jiff::Timestamp;

/// One of each kind of event, in the order of [`Event::KINDS`].
pub(crate) fn document_samples() -> Vec<Event> {
    let epic_id = EpicId::new(3).unwrap();
    let slug: crate::PrdSlug = "user-auth".parse().unwrap();
    let (title, prd) = ("Login".to_owned(), Some(slug.clone()));
    let changed = "# User auth\n\nMore.\n".to_owned();
    vec![
        Event::EpicAdded { epic_id, title: title.clone(), description: String::new(), prd: None },
        Event::EpicChanged { epic_id, title, description: "All of it".to_owned(), prd },
        Event::PrdAdded {
            slug: slug.clone(),
            title: "User auth".to_owned(),
            text: "# User auth\n".to_owned(),
        },
        Event::PrdChanged { slug, title: "User auth".to_owned(), text: changed },
    ]
}

/// The samples as facts, a second apart.
pub(crate) fn document_facts() -> Vec<Fact<Event>> {
    let at = |second: usize| Timestamp::from_second(second as i64).unwrap();
    let fact = |(second, event)| Fact { at: at(second), actor: user(), event };
    document_samples().into_iter().enumerate().map(fact).collect()
}
