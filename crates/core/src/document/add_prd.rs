//! `AddPrd`: a new requirements document.

use super::prd::check_text;
use super::{Catalogue, Event};
use crate::command::Faults;
use crate::{FieldFault, PrdSlug, Refusal};
use serde::Serialize;

/// Adds a PRD.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AddPrd {
    slug: PrdSlug,
    title: String,
    text: String,
}

impl AddPrd {
    /// Checks and makes the payload.
    pub fn new(slug: &str, title: &str, text: String) -> Result<Self, Vec<FieldFault>> {
        let mut faults = Faults::default();
        faults.title(title);
        check_text(&mut faults, &text);
        let title = title.trim().to_owned();
        match slug.parse() {
            Ok(slug) => faults.or(AddPrd { slug, title, text }),
            Err(_) if slug.is_empty() => {
                Err(faults.and("slug", "must be given; none could be made".to_owned()))
            }
            Err(bad) => Err(faults.and("slug", format!("is wrong: {bad}"))),
        }
    }

    /// Returns the slug.
    pub fn slug(&self) -> &PrdSlug {
        &self.slug
    }
}

pub(super) fn decide(catalogue: &Catalogue, add: &AddPrd) -> Result<Vec<Event>, Refusal> {
    if catalogue.prds.contains_key(&add.slug) {
        return Err(Refusal::PrdExists { prd: add.slug.clone() });
    }
    let AddPrd { slug, title, text } = add.clone();
    Ok(vec![Event::PrdAdded { slug, title, text }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::document::TEXT_BYTES_MAX;
    use crate::testing::check_documents;
    use expect_test::expect;

    #[test]
    fn a_slug_is_given_once() {
        check_documents(
            "",
            "add prd user-auth; add prd user-auth text other; add prd b",
            expect![[r#"
            > add prd user-auth
            [prd:added]
            PRD user-auth A-PRD "text"
            > add prd user-auth text other
            error[PRD_EXISTS]: the PRD `user-auth` was not added
              why:  a PRD with that slug already exists
              next: change that one with `regatta prd edit user-auth --text FILE`, or choose another with `--slug`
            > add prd b
            [prd:added]
            PRD b A-PRD "text"
        "#]],
        );
    }

    #[test]
    fn all_bad_fields_are_named_at_once() {
        let fields = |slug: &str, title: &str, text: String| {
            AddPrd::new(slug, title, text)
                .map(|_| ())
                .map_err(|faults| faults.into_iter().map(|fault| fault.field).collect::<Vec<_>>())
        };
        assert_eq!(fields("a", "A", "x".repeat(TEXT_BYTES_MAX)), Ok(()));
        assert_eq!(fields("A", "", String::new()), Err(vec!["title", "text", "slug"]));
        assert_eq!(fields("a", "\u{1b}[31m", "x".repeat(TEXT_BYTES_MAX + 1)), Err(vec!["title", "text"]));
        assert_eq!(fields("a", "two\nlines", "x".into()), Err(vec!["title"]));
        assert_eq!(fields("a", &"é".repeat(201), "x".into()), Err(vec!["title"]));
    }
}
