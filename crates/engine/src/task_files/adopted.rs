//! A task file that another tool wrote becomes the file of a task here, word for word but for what the engine owns: number,
//! epic and status.

use crate::commands::orders::{Caller, Given};
use crate::commands::request::Request;
use crate::commands::round::{self, Envelope};
use crate::core::{EpicId, TaskId};
use crate::error::Error;
use crate::project::Project;
use crate::task_files::changes;
use crate::task_files::{self, Editing};
use regatta_files::{TaskFile, find_damage};
use serde_json::json;

/// Makes a text the newest version of a task's file; what it says becomes events. Given again with the same digest, it
/// changes nothing. Returns false for a text that lacks the sections of a task file.
pub(crate) async fn adopt(
    project: &Project,
    caller: &Caller,
    task: TaskId,
    (text, digest): (&str, &str),
) -> Result<bool, Error> {
    let new = TaskFile::parse(text);
    let mut is_damaged = false;
    let request = Request::AdoptFile { task, digest };
    if round::find_answer::<Given>(project, &Envelope::of(caller, &request)).await?.is_some() {
        // It may have been killed before it wrote the file.
        task_files::look_in(project, task).await?;
        return Ok(true);
    }
    let editing = Editing::of(caller, &request);
    let change = |file: &TaskFile| {
        is_damaged = find_damage(file, &new).is_some();
        if is_damaged {
            return Ok((file.clone(), Vec::new()));
        }
        let mut changes = changes::between(file, &new);
        // Before the sessions, so that those that are archived count too.
        changes.splice(0..0, changes::archived_of(file, &new));
        Ok((new.clone(), changes))
    };
    task_files::edit_by(project, task, &editing, change).await?;
    Ok(!is_damaged)
}

/// Gives a text the number and the epic that its task has here, and its inputs the numbers of the tasks that they come
/// from. An input of a task that is not here stays, but is no longer one that the engine keeps up to date.
pub(crate) fn readdress(
    text: &str,
    task: TaskId,
    epic: Option<EpicId>,
    number_of: impl Fn(u32) -> Option<TaskId>,
) -> String {
    let mut file = readdress_inputs(TaskFile::parse(text), number_of);
    if file.title().and_then(|title| title.id).is_some_and(|id| id != task.number())
        && let Some(renumbered) = renumber(&file, task)
    {
        file = renumbered;
    }
    for (key, value) in [("task_id", Some(json!(task))), ("epic_id", epic.map(|epic| json!(epic)))] {
        let is_other =
            file.metadata().is_ok_and(|map| map.get(key).is_some_and(|known| Some(known) != value.as_ref()));
        // What cannot be read stays, and is reported with the file.
        if is_other
            && let Some(value) = value
            && let Ok(changed) = file.with_metadata(key, &value)
        {
            file = changed;
        }
    }
    file.into_text()
}

fn readdress_inputs(file: TaskFile, number_of: impl Fn(u32) -> Option<TaskId>) -> TaskFile {
    const FROM: &str = "From Task";
    let mut text = file.text().to_owned();
    // From the last on, so that the places of the others stay.
    for input in file.chain_inputs().iter().rev() {
        let Some(number) = input.task else { continue };
        let heading = text[input.range.clone()].lines().next().unwrap_or_default().to_owned();
        let changed = match number_of(number) {
            Some(here) if here.number() == number => continue,
            Some(here) => heading.replacen(&format!("#{number}"), &format!("#{here}"), 1),
            None => heading.replacen(FROM, "From Earlier Task", 1),
        };
        text.replace_range(input.range.start..input.range.start + heading.len(), &changed);
    }
    if text == file.text() { file } else { TaskFile::parse(text) }
}

/// Replaces the number in the first heading.
fn renumber(file: &TaskFile, task: TaskId) -> Option<TaskFile> {
    let id = file.title()?.id?.to_string();
    let text = file.text();
    let at = text.find(&format!("#{id}"))? + 1;
    let renumbered = TaskFile::parse(format!("{}{task}{}", &text[..at], &text[at + id.len()..]));
    let is_right = renumbered.title().is_some_and(|title| title.id == Some(task.number()));
    is_right.then_some(renumbered)
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "# Task #9: A\n\n## 0. Metadata\n```json\n{ \"task_id\": 9, \"epic_id\": 4 }\n```\n\n## 2. Chain Inputs\n\n\
        ### From Task #1: B\n> one\n\n### From Task #2: C\n> two\n\n### From Task #3: D\n> three\n";

    fn id(number: u32) -> TaskId {
        TaskId::new(number).unwrap()
    }

    #[test]
    fn numbers_become_those_of_this_project() {
        let number_of = |number: u32| {
            [(1, 1), (2, 12)].iter().find(|(there, _)| *there == number).map(|(_, here)| id(*here))
        };
        let text = readdress(TEXT, id(20), Some(EpicId::new(5).unwrap()), number_of);
        let expected = TEXT
            .replace("Task #9", "Task #20")
            .replace("\"task_id\": 9, \"epic_id\": 4", "\"task_id\": 20, \"epic_id\": 5")
            .replace("Task #2: C", "Task #12: C")
            .replace("From Task #3", "From Earlier Task #3");
        assert_eq!(text, expected);
        assert_eq!(readdress(TEXT, id(9), None, |number| Some(id(number))), TEXT);
    }
}
