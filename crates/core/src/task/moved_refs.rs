//! Refs that moved while an agent without a sandbox worked: noted with its task, and nothing more.
//!
//! Whether it was the agent is not known, since its user may work in the same repository. So nothing is moved back.

use super::one_line;
use crate::{AgentId, CommitId, Event, TaskId};
use serde::{Deserialize, Serialize};

/// So many are named; an agent can move thousands, and the rest is counted.
const NAMED_MAX: usize = 50;

/// A ref that was moved or deleted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct MovedRef {
    /// Its full name.
    #[serde(rename = "ref")]
    pub name: String,
    /// What it pointed to.
    pub from: CommitId,
    /// What it points to now; nothing if it is gone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to: Option<CommitId>,
}

/// Refs that moved during a session, and not by us.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MovedRefs {
    /// The agent.
    pub agent: AgentId,
    /// Its session.
    pub session: u32,
    /// All of them.
    pub refs: Vec<MovedRef>,
}

/// Returns the fact that refs moved; none for none.
pub(crate) fn note_moved_refs(task_id: TaskId, moved: &MovedRefs) -> Vec<Event> {
    let MovedRefs { agent, session, refs } = moved;
    if refs.is_empty() {
        return Vec::new();
    }
    let shown = |moved: &MovedRef| MovedRef { name: one_line(&moved.name), ..moved.clone() };
    vec![Event::AgentRefsMoved {
        task_id,
        agent_id: agent.clone(),
        session: *session,
        refs: refs.iter().take(NAMED_MAX).map(shown).collect(),
        more: u32::try_from(refs.len().saturating_sub(NAMED_MAX)).unwrap_or(u32::MAX),
    }]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{World, agent, commit, id};
    use crate::{Actor, Command, replay_task};

    fn moved(count: usize) -> MovedRefs {
        let one = |number: usize| MovedRef {
            name: format!("refs/heads/branch-{number}"),
            from: commit(1),
            to: (number > 0).then(|| commit(2)),
        };
        MovedRefs { agent: agent("alpha"), session: 1, refs: (0..count).map(one).collect() }
    }

    #[test]
    fn a_note_is_bounded_and_changes_nothing_of_the_task() {
        let mut world = World::given("add; assign 1 alpha; settle 1");
        let before = world.tasks[&id(1)].clone();
        world.give(id(1), &Actor::Engine, &Command::NoteMovedRefs(moved(NAMED_MAX + 7))).unwrap();
        assert_eq!(world.tasks[&id(1)], before);
        let Some(Event::AgentRefsMoved { refs, more, .. }) = world.facts.last().map(|fact| &fact.event)
        else {
            panic!("it is noted");
        };
        assert_eq!((refs.len(), *more), (NAMED_MAX, 7));
        assert_eq!(replay_task(&world.facts).unwrap(), Some(before));
    }

    #[test]
    fn nothing_moved_is_nothing_to_note() {
        assert_eq!(note_moved_refs(id(1), &moved(0)), []);
    }
}
