//! `AddEpic`: a new group of tasks.

use super::{Catalogue, Event};
use crate::command::Faults;
use crate::{EpicId, FieldFault, PrdSlug, Refusal};
use serde::Serialize;

/// Adds an epic.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AddEpic {
    title: String,
    description: String,
    prd: Option<PrdSlug>,
    /// The number that it has elsewhere, and keeps unless it is taken.
    #[serde(skip_serializing_if = "Option::is_none")]
    number: Option<EpicId>,
}

impl AddEpic {
    /// Checks and makes the payload.
    pub fn new(title: &str, description: String, prd: Option<PrdSlug>) -> Result<Self, Vec<FieldFault>> {
        let mut faults = Faults::default();
        faults.title(title);
        faults.description(&description);
        faults.or(AddEpic { title: title.trim().to_owned(), description, prd, number: None })
    }

    /// Asks for a number, which the epic gets unless it is taken.
    #[must_use]
    pub fn numbered(self, number: Option<EpicId>) -> Self {
        AddEpic { number, ..self }
    }

    /// Returns the number that the epic gets.
    pub fn find_number(&self, catalogue: &Catalogue) -> EpicId {
        let is_free = |number: &EpicId| !catalogue.epics.contains_key(number);
        self.number.filter(is_free).unwrap_or_else(|| catalogue.next_epic())
    }
}

/// Adds the epic with the number that it asks for, or that the catalogue gives next.
pub(super) fn decide(catalogue: &Catalogue, add: &AddEpic) -> Result<Vec<Event>, Refusal> {
    if let Some(prd) = &add.prd {
        catalogue.get_prd(prd)?;
    }
    let epic_id = add.find_number(catalogue);
    let AddEpic { title, description, prd, .. } = add.clone();
    Ok(vec![Event::EpicAdded { epic_id, title, description, prd }])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::check_documents;
    use expect_test::expect;

    #[test]
    fn epics_are_numbered_and_made_for_a_prd_that_exists() {
        check_documents(
            "add prd user-auth",
            "add epic Login; add epic Logout about out prd user-auth; add epic Lost prd user-out",
            expect![[r#"
                > add epic Login
                [epic:added]
                epic 1 Login about "" for nothing
                > add epic Logout about out prd user-auth
                [epic:added]
                epic 2 Logout about "out" for user-auth
                > add epic Lost prd user-out
                error[PRD_NOT_FOUND]: there is no PRD `user-out`
                  why:  no PRD with that slug was added to this project
                  next: did you mean `user-auth`? see the PRDs with `regatta prd list`, or add one with `regatta prd add FILE`
            "#]],
        );
    }

    #[test]
    fn all_bad_fields_are_named_at_once() {
        let faults = AddEpic::new(" ", "x".repeat(20_001), None).unwrap_err();
        let fields: Vec<&str> = faults.iter().map(|fault| fault.field).collect();
        assert_eq!(fields, ["title", "description"]);
    }
}
