//! `ChangePrd`: another title or another text.

use super::prd::check_text;
use super::{Event, Situation};
use crate::command::Faults;
use crate::{FieldFault, PrdSlug, Refusal};
use serde::Serialize;

/// Changes a PRD; what is not given stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangePrd {
    slug: PrdSlug,
    title: Option<String>,
    text: Option<String>,
}

impl ChangePrd {
    /// Checks and makes the payload.
    pub fn new(slug: PrdSlug, title: Option<String>, text: Option<String>) -> Result<Self, Vec<FieldFault>> {
        let mut faults = Faults::default();
        if let Some(title) = &title {
            faults.title(title);
        }
        if let Some(text) = &text {
            check_text(&mut faults, text);
        }
        let title = title.map(|title| title.trim().to_owned());
        faults.or(ChangePrd { slug, title, text })
    }

    /// Returns the slug.
    pub fn slug(&self) -> &PrdSlug {
        &self.slug
    }
}

pub(super) fn decide(situation: &Situation<'_>, change: &ChangePrd) -> Result<Vec<Event>, Refusal> {
    let prd = situation.prd.ok_or_else(|| situation.catalogue.lacks_prd(&change.slug))?;
    let title = change.title.as_ref().unwrap_or(&prd.title);
    let text = change.text.as_ref().unwrap_or(&prd.text);
    if (title, text) == (&prd.title, &prd.text) {
        return Ok(Vec::new());
    }
    Ok(vec![Event::PrdChanged { slug: change.slug.clone(), title: title.clone(), text: text.clone() }])
}

#[cfg(test)]
mod tests {
    use crate::testing::check_documents;
    use expect_test::expect;

    #[test]
    fn what_is_not_given_stays_and_what_is_the_same_is_no_change() {
        check_documents(
            "add prd user-auth",
            "change prd user-auth title Login; change prd user-auth text more; change prd user-auth text more",
            expect![[r#"
                > change prd user-auth title Login
                [prd:changed]
                PRD user-auth Login "text"
                > change prd user-auth text more
                [prd:changed]
                PRD user-auth Login "more"
                > change prd user-auth text more
                nothing
            "#]],
        );
    }

    #[test]
    fn a_mistyped_slug_is_answered_with_the_nearest() {
        check_documents(
            "add prd user-auth; add prd billing",
            "change prd user-aut text more; change prd x text more",
            expect![[r#"
                > change prd user-aut text more
                error[PRD_NOT_FOUND]: there is no PRD `user-aut`
                  why:  no PRD with that slug was added to this project
                  next: did you mean `user-auth`? see the PRDs with `regatta prd list`, or add one with `regatta prd add FILE`
                > change prd x text more
                error[PRD_NOT_FOUND]: there is no PRD `x`
                  why:  no PRD with that slug was added to this project
                  next: see the PRDs with `regatta prd list`, or add one with `regatta prd add FILE`
            "#]],
        );
        check_documents(
            "",
            "change prd x text more",
            expect![[r#"
            > change prd x text more
            error[PRD_NOT_FOUND]: there is no PRD `x`
              why:  no PRD with that slug was added to this project
              next: see the PRDs with `regatta prd list`, or add one with `regatta prd add FILE`
        "#]],
        );
    }
}
