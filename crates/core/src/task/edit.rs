//! `edit`: changes what a task says of itself, in the log and in its file at once.
//!
//! What people write in the file by hand is taken as it is, in every stage; only the verb is refused.

use super::{Stage, Task};
use crate::{Edit, FileChange, Refusal, Situation};

/// Refuses an order to edit a task that is merged, or to file it under what does not exist.
pub(crate) fn check_edit(situation: &Situation<'_>, task: &Task, edit: &Edit) -> Result<(), Refusal> {
    let ordered = edit.changes.iter().find_map(|changes| match changes {
        FileChange::Edited { filed, .. } => Some(filed),
        _ => None,
    });
    let Some(filed) = ordered else { return Ok(()) };
    if matches!(task.stage, Stage::Verified(_)) {
        let column = task.column();
        let why = format!("it is in {column}, and what is merged stays as it is");
        let next = "add a new task with `regatta task add`".to_owned();
        return Err(Refusal::NotLegal { task: task.id, column, verb: "edit", why, next });
    }
    let Some(filed) = filed else { return Ok(()) };
    if let Some(epic) = filed.epic_id {
        situation.catalogue.get_epic(epic)?;
    }
    if let Some(prd) = &filed.prd {
        situation.catalogue.get_prd(prd)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use crate::testing::{World, document_facts, id, user};
    use crate::{Code, Command, Edit, EpicId, FileChange, Filed, Priority};

    fn edit(world: &mut World, changes: FileChange) -> Result<(), Code> {
        let edit = Edit { base: None, steps: Vec::new(), changes: vec![changes] };
        world.give(id(1), &user(), &Command::Edit(edit)).map(|_| ()).map_err(|refusal| refusal.code())
    }

    fn titled(title: &str) -> FileChange {
        let title = Some(title.to_owned());
        FileChange::Edited { title, description: None, priority: Some(Priority::High), filed: None }
    }

    #[test]
    fn what_is_merged_stays_as_it_is() {
        for given in ["add", "add; assign 1 alpha; settle 1", "add; assign 1 alpha; settle 1; ready 1"] {
            let mut world = World::given(given);
            assert_eq!(edit(&mut world, titled("Another")), Ok(()));
            let task = &world.tasks[&id(1)];
            assert_eq!((task.title.as_str(), task.priority), ("Another", Priority::High));
        }
        let mut world = World::given("add; assign 1 alpha; settle 1; ready 1; approve 1; settle 1");
        assert_eq!(edit(&mut world, titled("Another")), Err(Code::TaskInvalidTransition));
        let by_hand = FileChange::TitleEdited { title: "By hand".to_owned() };
        assert_eq!(edit(&mut world, by_hand), Ok(()), "a file is taken as it is");
    }

    #[test]
    fn a_new_priority_moves_a_queued_task() {
        let mut world =
            World::given("limit 1; add; add; add; assign 2 alpha; assign 3 beta low; assign 1 beta low");
        assert_eq!(world.assignments.find_place(id(1)), Some(2));
        assert_eq!(edit(&mut world, titled("Sooner")), Ok(()));
        assert_eq!(world.assignments.find_place(id(1)), Some(1));
        assert_eq!(crate::replay_assignments(&world.facts), world.assignments);
    }

    #[test]
    fn it_is_filed_under_what_exists() {
        let mut world = World::given("add");
        for fact in document_facts() {
            world.catalogue = world.catalogue.evolve(&fact);
        }
        let filed = |epic: Option<u32>, prd: Option<&str>| FileChange::Edited {
            title: None,
            description: None,
            priority: None,
            filed: Some(Filed {
                epic_id: epic.map(|number| EpicId::new(number).unwrap()),
                prd: prd.map(|slug| slug.parse().unwrap()),
            }),
        };
        assert_eq!(edit(&mut world, filed(Some(4), None)), Err(Code::EpicNotFound));
        assert_eq!(edit(&mut world, filed(Some(3), Some("nothing"))), Err(Code::PrdNotFound));
        assert_eq!(edit(&mut world, filed(Some(3), Some("user-auth"))), Ok(()));
        assert_eq!(world.tasks[&id(1)].epic.map(EpicId::number), Some(3));
        assert_eq!(edit(&mut world, filed(None, None)), Ok(()));
        assert_eq!((world.tasks[&id(1)].epic, &world.tasks[&id(1)].prd), (None, &None));
    }
}
