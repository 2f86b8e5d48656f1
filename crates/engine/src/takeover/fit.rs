//! Makes what was found fit the limits of this project, and says what was cut: the copy of the file has all of it.

use crate::core::document::TEXT_BYTES_MAX;
use crate::core::plain_text;
use crate::takeover::found::{CriterionFound, Found, TaskFound};

/// Those of a task, as its commands check them.
const TITLE_CHARACTERS_MAX: usize = 200;
const DESCRIPTION_CHARACTERS_MAX: usize = 20_000;
const CRITERION_CHARACTERS_MAX: usize = 1_000;
const CRITERIA_MAX: usize = 100;
/// That of a message to a task.
const MESSAGE_CHARACTERS_MAX: usize = 4_000;
/// A word for a status is read by people.
const STATUS_CHARACTERS_MAX: usize = 40;
/// What something is called in its files stands in the log with every mention.
const ITEM_CHARACTERS_MAX: usize = 120;

/// Cuts what is too long, and replaces what is missing.
pub(crate) fn settle(found: &mut Found) {
    let mut told: Vec<(String, String)> = Vec::new();
    for task in &mut found.tasks {
        for what in settle_task(task) {
            told.push((task.file.clone(), format!("{}: {what}", task.item)));
        }
    }
    for epic in &mut found.epics {
        epic.title = title_of(&epic.title, &epic.item).0;
        epic.description = cut(&plain_text(&epic.description), DESCRIPTION_CHARACTERS_MAX).0;
    }
    for prd in &mut found.prds {
        prd.title = title_of(&prd.title, &prd.slug).0;
        if prd.text.len() > TEXT_BYTES_MAX {
            let end = (0..=TEXT_BYTES_MAX).rev().find(|end| prd.text.is_char_boundary(*end)).unwrap_or(0);
            told.push((prd.file.clone(), format!("its text was cut from {} to {end} bytes", prd.text.len())));
            prd.text.truncate(end);
        }
        if prd.text.is_empty() {
            prd.text = format!("{}\n", prd.title);
        }
    }
    for (file, what) in told {
        found.odd(&file, None, what);
    }
}

fn settle_task(task: &mut TaskFound) -> Vec<String> {
    let mut told = Vec::new();
    let (title, is_other) = title_of(&task.title, &format!("Task {}", task.item));
    if is_other {
        // The whole title is what an agent has to read.
        let whole = std::mem::replace(&mut task.title, title);
        told.push(format!("its title was changed to `{}`", task.title));
        if !whole.trim().is_empty() && task.text.is_none() {
            task.description = format!("{}\n\n{}", whole.trim(), task.description).trim_end().to_owned();
        }
    } else {
        task.title = title;
    }
    let plain = plain_text(&task.description);
    let (description, is_cut) = cut(&plain, DESCRIPTION_CHARACTERS_MAX);
    if is_cut && task.text.is_none() {
        told.push(format!("its description was cut to {DESCRIPTION_CHARACTERS_MAX} characters"));
    }
    task.description = description;
    told.extend(settle_criteria(task));
    for message in &mut task.messages {
        message.text = cut(&plain_text(&message.text), MESSAGE_CHARACTERS_MAX).0;
    }
    task.status = task.status.take().map(|status| cut(&one_line(&status), STATUS_CHARACTERS_MAX).0);
    told
}

fn settle_criteria(task: &mut TaskFound) -> Vec<String> {
    let mut told = Vec::new();
    let mut kept: Vec<CriterionFound> = Vec::new();
    let all = task.criteria.len();
    for criterion in std::mem::take(&mut task.criteria) {
        let (text, is_cut) = cut(&one_line(&criterion.text), CRITERION_CHARACTERS_MAX);
        if text.is_empty() {
            continue;
        }
        if is_cut && task.text.is_none() {
            told.push(format!("a criterion was cut to {CRITERION_CHARACTERS_MAX} characters"));
        }
        kept.push(CriterionFound { text, ..criterion });
    }
    if kept.len() > CRITERIA_MAX && task.text.is_none() {
        told.push(format!("only the first {CRITERIA_MAX} of its {all} criteria were imported"));
    }
    kept.truncate(CRITERIA_MAX);
    task.criteria = kept;
    told
}

/// Returns a title that fits, and whether it says less than what was there.
fn title_of(text: &str, other: &str) -> (String, bool) {
    let line = one_line(text);
    if line.is_empty() {
        return (cut(&one_line(other), TITLE_CHARACTERS_MAX).0, true);
    }
    cut(&line, TITLE_CHARACTERS_MAX)
}

/// Returns what something is called in its files, as it stands in the log.
pub(crate) fn item(text: &str) -> String {
    cut(&one_line(text), ITEM_CHARACTERS_MAX).0
}

/// Returns a text on one line, without control characters.
pub(crate) fn one_line(text: &str) -> String {
    let is_gap = |character: char| character.is_whitespace() || character.is_control();
    let plain = plain_text(text);
    plain.split(is_gap).filter(|word| !word.is_empty()).collect::<Vec<_>>().join(" ")
}

/// Cuts a text to so many characters, and tells whether it did.
pub(crate) fn cut(text: &str, most: usize) -> (String, bool) {
    match text.char_indices().nth(most) {
        None => (text.to_owned(), false),
        Some(_) => (text.chars().take(most - 1).chain(['…']).collect(), true),
    }
}
