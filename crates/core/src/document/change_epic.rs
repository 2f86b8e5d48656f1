//! `ChangeEpic`: another title, description or PRD.

use super::{Event, Situation};
use crate::command::Faults;
use crate::{EpicId, FieldFault, PrdSlug, Refusal};
use serde::Serialize;

/// Changes an epic; what is not given stays.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ChangeEpic {
    epic: EpicId,
    title: Option<String>,
    description: Option<String>,
    /// Another PRD, or `Some(None)` for no PRD any more.
    #[serde(skip_serializing_if = "Option::is_none")]
    prd: Option<Option<PrdSlug>>,
}

impl ChangeEpic {
    /// Checks and makes the payload; a `prd` of `Some(None)` takes the epic's PRD away.
    pub fn new(
        epic: EpicId,
        title: Option<String>,
        description: Option<String>,
        prd: Option<Option<PrdSlug>>,
    ) -> Result<Self, Vec<FieldFault>> {
        let mut faults = Faults::default();
        if let Some(title) = &title {
            faults.title(title);
        }
        if let Some(description) = &description {
            faults.description(description);
        }
        let title = title.map(|title| title.trim().to_owned());
        faults.or(ChangeEpic { epic, title, description, prd })
    }

    /// Returns the epic.
    pub fn epic(&self) -> EpicId {
        self.epic
    }
}

/// Changes the epic. Its tasks keep the PRD that they were made for.
pub(super) fn decide(situation: &Situation<'_>, change: &ChangeEpic) -> Result<Vec<Event>, Refusal> {
    let epic = situation.epic.ok_or(Refusal::EpicNotFound { epic: change.epic })?;
    if let Some(Some(prd)) = &change.prd {
        situation.catalogue.get_prd(prd)?;
    }
    let title = change.title.as_ref().unwrap_or(&epic.title);
    let description = change.description.as_ref().unwrap_or(&epic.description);
    let prd = change.prd.as_ref().unwrap_or(&epic.prd);
    if (title, description, prd) == (&epic.title, &epic.description, &epic.prd) {
        return Ok(Vec::new());
    }
    Ok(vec![Event::EpicChanged {
        epic_id: change.epic,
        title: title.clone(),
        description: description.clone(),
        prd: prd.clone(),
    }])
}

#[cfg(test)]
mod tests {
    use crate::testing::check_documents;
    use expect_test::expect;

    #[test]
    fn what_is_not_given_stays_and_what_is_the_same_is_no_change() {
        check_documents(
            "add prd user-auth; add epic Login about in",
            "change epic 1 prd user-auth
             change epic 1 title Tokens
             change epic 1 title Tokens about in
             change epic 1 prd none about -",
            expect![[r#"
                > change epic 1 prd user-auth
                [epic:changed]
                epic 1 Login about "in" for user-auth
                > change epic 1 title Tokens
                [epic:changed]
                epic 1 Tokens about "in" for user-auth
                > change epic 1 title Tokens about in
                nothing
                > change epic 1 prd none about -
                [epic:changed]
                epic 1 Tokens about "" for nothing
            "#]],
        );
    }

    #[test]
    fn both_the_epic_and_its_prd_must_exist() {
        check_documents(
            "add epic Login",
            "change epic 2 title Tokens; change epic 1 prd user-auth",
            expect![[r#"
                > change epic 2 title Tokens
                error[EPIC_NOT_FOUND]: there is no epic 2
                  why:  no epic with that number was added to this project
                  next: see the epics with `regatta epic list`, or add one with `regatta epic add`
                > change epic 1 prd user-auth
                error[PRD_NOT_FOUND]: there is no PRD `user-auth`
                  why:  no PRD with that slug was added to this project
                  next: see the PRDs with `regatta prd list`, or add one with `regatta prd add FILE`
            "#]],
        );
    }
}
