//! The texts of refusals about documents.

use crate::{Code, EpicId, PrdSlug, Problem, find_nearest};

pub(crate) fn explain_no_epic(epic: EpicId) -> Problem {
    Problem::new(
        Code::EpicNotFound,
        format!("there is no epic {epic}"),
        "no epic with that number was added to this project",
        "see the epics with `regatta epic list`, or add one with `regatta epic add`",
    )
    .with("epicId", epic.number())
}

pub(crate) fn explain_no_prd(prd: &PrdSlug, known: &[PrdSlug]) -> Problem {
    let names: Vec<&str> = known.iter().map(PrdSlug::as_str).collect();
    let guess = find_nearest(prd.as_str(), names.iter().copied());
    let guess = guess.map_or_else(String::new, |name| format!("did you mean `{name}`? "));
    Problem::new(
        Code::PrdNotFound,
        format!("there is no PRD `{prd}`"),
        "no PRD with that slug was added to this project",
        format!("{guess}see the PRDs with `regatta prd list`, or add one with `regatta prd add FILE`"),
    )
    .with("prd", prd.as_str())
    .with("known", names)
}

pub(crate) fn explain_taken(prd: &PrdSlug) -> Problem {
    Problem::new(
        Code::PrdExists,
        format!("the PRD `{prd}` was not added"),
        "a PRD with that slug already exists",
        format!("change that one with `regatta prd edit {prd} --text FILE`, or choose another with `--slug`"),
    )
    .with("prd", prd.as_str())
}
