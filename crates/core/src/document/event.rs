//! What can happen to an epic or a PRD, in the words of the log.
//!
//! As with tasks, the names and fields are contracts: kinds and fields are added, and the meaning of an old one
//! never changes. A change carries the whole document, so that the newest event alone says what it is.

use crate::{EpicId, PrdSlug};

events! {
    /// Everything that can happen to an epic or a PRD.
    pub enum Event {
        EpicAdded = "epic:added" {
            epic_id: EpicId,
            title: String,
            #[serde(default, skip_serializing_if = "String::is_empty")]
            description: String,
            prd: Option<PrdSlug>,
        },
        EpicChanged = "epic:changed" {
            epic_id: EpicId,
            title: String,
            #[serde(default, skip_serializing_if = "String::is_empty")]
            description: String,
            prd: Option<PrdSlug>,
        },
        PrdAdded = "prd:added" { slug: PrdSlug, title: String, text: String },
        PrdChanged = "prd:changed" { slug: PrdSlug, title: String, text: String },
    }
}

impl Event {
    /// The subjects with which the names of these kinds begin.
    pub const SUBJECTS: &'static [&'static str] = &["epic", "prd"];

    /// Returns the epic it happened to, if it was one.
    pub fn find_epic(&self) -> Option<EpicId> {
        match self {
            Event::EpicAdded { epic_id, .. } | Event::EpicChanged { epic_id, .. } => Some(*epic_id),
            Event::PrdAdded { .. } | Event::PrdChanged { .. } => None,
        }
    }

    /// Returns the PRD it happened to, if it was one.
    pub fn find_prd(&self) -> Option<&PrdSlug> {
        match self {
            Event::PrdAdded { slug, .. } | Event::PrdChanged { slug, .. } => Some(slug),
            Event::EpicAdded { .. } | Event::EpicChanged { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::document_samples;
    use expect_test::expect;

    #[test]
    fn every_kind_survives_json_in_these_words() {
        let samples = document_samples();
        let kinds: Vec<&str> = samples.iter().map(Event::kind).collect();
        assert_eq!(kinds, Event::KINDS, "there is one sample of each kind");
        let write = |event: &Event| {
            let text = serde_json::to_string(event).unwrap();
            assert_eq!(&serde_json::from_str::<Event>(&text).unwrap(), event);
            text
        };
        let lines: Vec<String> = samples.iter().map(write).collect();
        expect![[r##"
            {"type":"epic:added","epicId":3,"title":"Login"}
            {"type":"epic:changed","epicId":3,"title":"Login","description":"All of it","prd":"user-auth"}
            {"type":"prd:added","slug":"user-auth","title":"User auth","text":"# User auth\n"}
            {"type":"prd:changed","slug":"user-auth","title":"User auth","text":"# User auth\n\nMore.\n"}"##]]
        .assert_eq(&lines.join("\n"));
    }

    #[test]
    fn each_kind_is_of_one_document_and_of_a_known_subject() {
        for event in document_samples() {
            assert!(event.find_epic().is_some() != event.find_prd().is_some(), "{event:?}");
            let subject = event.kind().split(':').next().unwrap();
            assert!(Event::SUBJECTS.contains(&subject), "{subject}");
        }
    }
}
