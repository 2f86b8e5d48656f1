//! What an agent asked for and may not have: noted with its task, and nothing more.

use crate::{Event, Refused, TaskId};

/// More of a name that an agent made up helps nobody.
const WHAT_CHARACTERS_MAX: usize = 200;

/// Returns the fact that an agent was refused something.
pub(crate) fn note_refused(task_id: TaskId, refused: &Refused) -> Event {
    let Refused { agent, session, what } = refused;
    Event::AgentRefused { task_id, agent_id: agent.clone(), session: *session, what: one_line(what) }
}

/// Returns the beginning of a text that an agent gave, as one line without control characters.
pub(crate) fn one_line(text: &str) -> String {
    let shown = |character: char| if character.is_control() { ' ' } else { character };
    text.chars().take(WHAT_CHARACTERS_MAX).map(shown).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{World, agent, id};
    use crate::{Actor, Command, replay_task};

    #[test]
    fn a_note_is_bounded_and_changes_nothing_of_the_task() {
        for given in [
            "add",
            "add; assign 1 alpha; settle 1",
            "add; assign 1 alpha; settle 1; ready 1; approve 1; settle 1",
        ] {
            let mut world = World::given(given);
            let before = world.tasks[&id(1)].clone();
            let what = format!("the tool\napprove{}", "é".repeat(500));
            let refused = Refused { agent: agent("alpha"), session: 1, what };
            world.give(id(1), &Actor::Agent(agent("alpha")), &Command::NoteRefused(refused)).unwrap();
            assert_eq!(world.tasks[&id(1)], before);
            let Some(Event::AgentRefused { what, .. }) = world.facts.last().map(|fact| &fact.event) else {
                panic!("it is noted");
            };
            assert_eq!(what.chars().count(), WHAT_CHARACTERS_MAX);
            assert!(what.starts_with("the tool approve"));
            assert_eq!(replay_task(&world.facts).unwrap(), Some(before));
        }
    }
}
