//! A note: a message from a person to whoever works on a task.
//!
//! It waits in the inbox of the task until a session has it: in its prompt, or because its agent looked. So it stops
//! nobody, needs no session to be running, and is delivered once.

use super::{Draft, Party};
use crate::command::Faults;
use crate::{Refusal, Stage, Task};

/// The kind of message that it is.
pub const KIND: &str = "note";

/// A longer text belongs in the task's description or its file.
const TEXT_CHARACTERS_MAX: usize = 4_000;

/// Makes a note to a task, or says why nobody would read it.
pub fn note(task: &Task, from: Party, text: String) -> Result<Draft, Refusal> {
    if matches!(task.stage, Stage::Verified(_)) {
        return Err(Refusal::NotLegal {
            task: task.id,
            column: task.column(),
            verb: "note",
            why: "it is in verified, and no session follows that could read a note".to_owned(),
            next: "add a task for what is left to do: `regatta task add TITLE`".to_owned(),
        });
    }
    let mut faults = Faults::default();
    faults.length("text", text.trim(), 1, TEXT_CHARACTERS_MAX);
    let text = faults.or(text).map_err(|faults| Refusal::Invalid { faults })?;
    let draft = Draft::new(from, Party::Task(task.id), KIND, None, text);
    Ok(draft.map_err(|faults| Refusal::Invalid { faults })?.about(Some(task.id), None, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{World, id, render_refusal};
    use expect_test::expect;

    fn say(given: &str, text: &str) -> Result<Draft, Refusal> {
        note(&World::given(given).tasks[&id(1)], "person:me".parse().unwrap(), text.to_owned())
    }

    #[test]
    fn a_note_is_for_a_task_that_somebody_will_work_on() {
        for given in ["add", "add; assign 1 alpha; settle 1", "add; assign 1 alpha; settle 1; ready 1"] {
            let draft = say(given, "Keep the signature").unwrap();
            assert_eq!(draft.to().to_string(), "task:1", "{given}");
        }
        let merged = say("add; assign 1 alpha; settle 1; ready 1; approve 1; settle 1", "Too late");
        expect![[r#"
            error[TASK_INVALID_TRANSITION]: `note` was refused for task #1
              why:  it is in verified, and no session follows that could read a note
              next: add a task for what is left to do: `regatta task add TITLE`
        "#]]
        .assert_eq(&render_refusal(&merged.unwrap_err()));
    }

    #[test]
    fn a_note_has_a_text_of_some_length() {
        for text in [String::new(), " \n".to_owned(), "x".repeat(TEXT_CHARACTERS_MAX + 1)] {
            let Err(Refusal::Invalid { faults }) = say("add", &text) else { panic!("{text:?}") };
            assert_eq!(faults[0].field, "text");
        }
        say("add", &"é".repeat(TEXT_CHARACTERS_MAX)).unwrap();
    }
}
