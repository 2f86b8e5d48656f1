//! `Depend`: what must be verified before a task may be assigned.

use super::create::unknown;
use super::{Stage, Task};
use crate::command::DEPENDENCIES_MAX;
use crate::{Depend, Event, FieldFault, Plan, Refusal};

/// Changes the dependencies, unless that closes a cycle.
pub(crate) fn depend(plan: &Plan, task: &Task, depend: &Depend) -> Result<Vec<Event>, Refusal> {
    if !matches!(task.stage, Stage::Backlog) {
        let problem = format!("can change only in backlog; task #{} is in {}", task.id, task.column());
        return Err(Refusal::Invalid { faults: vec![FieldFault { field: "dependencies", problem }] });
    }
    let faults: Vec<FieldFault> = depend.add.iter().filter(|on| !plan.contains(**on)).map(unknown).collect();
    if !faults.is_empty() {
        return Err(Refusal::Invalid { faults });
    }
    if let Some(cycle) = depend.add.iter().find_map(|on| plan.find_cycle(task.id, *on)) {
        return Err(Refusal::DependencyCycle { task: task.id, cycle });
    }
    let mut dependencies = task.dependencies.clone();
    dependencies.extend(depend.add.iter().copied());
    dependencies.retain(|on| !depend.remove.contains(on));
    if dependencies.len() > DEPENDENCIES_MAX {
        let problem = format!("are too many; at most {DEPENDENCIES_MAX}");
        return Err(Refusal::Invalid { faults: vec![FieldFault { field: "dependencies", problem }] });
    }
    if dependencies == task.dependencies {
        return Ok(Vec::new());
    }
    Ok(vec![Event::TaskDependenciesSet { task_id: task.id, dependencies }])
}

#[cfg(test)]
mod tests {
    use crate::command::DEPENDENCIES_MAX;
    use crate::testing::{World, check, id, user};
    use crate::{Code, Command, Depend};
    use expect_test::expect;
    use std::collections::BTreeSet;

    #[test]
    fn dependencies_are_added_and_removed() {
        check(
            "add; add; add",
            "depend 3 +1 +2; assign 3 alpha; depend 3 -1; depend 3 -1; assign 3 alpha",
            expect![[r#"
                > depend 3 +1 +2
                [task:dependencies_set]
                #3 backlog
                > assign 3 alpha
                error[TASK_BLOCKED]: task #3 was not assigned
                  why:  it depends on tasks that are not verified: #1 (backlog), #2 (backlog)
                  next: finish those first, or drop the dependency with `regatta task depends 3 --remove ID`
                > depend 3 -1
                [task:dependencies_set]
                #3 backlog
                > depend 3 -1
                []
                #3 backlog
                > assign 3 alpha
                error[TASK_BLOCKED]: task #3 was not assigned
                  why:  it depends on tasks that are not verified: #2 (backlog)
                  next: finish those first, or drop the dependency with `regatta task depends 3 --remove ID`
            "#]],
        );
    }

    #[test]
    fn a_cycle_is_shown() {
        check(
            "add; add on 1; add on 2",
            "depend 1 +3; depend 1 +1; depend 3 +1",
            expect![[r#"
            > depend 1 +3
            error[DEPENDENCY_CYCLE]: the dependency of task #1 was not added
              why:  it would close a cycle: #1 -> #3 -> #2 -> #1
              next: remove one of these dependencies first with `regatta task depends ID --remove ID`
            > depend 1 +1
            error[DEPENDENCY_CYCLE]: the dependency of task #1 was not added
              why:  it would close a cycle: #1 -> #1
              next: remove one of these dependencies first with `regatta task depends ID --remove ID`
            > depend 3 +1
            [task:dependencies_set]
            #3 backlog
        "#]],
        );
    }

    #[test]
    fn an_unknown_task_is_named() {
        check(
            "add",
            "depend 1 +7 +8",
            expect![[r#"
            > depend 1 +7 +8
            error[VALIDATION_ERROR]: the command is invalid
              why:  `dependencies` name task #7, which does not exist; `dependencies` name task #8, which does not exist
              next: correct the fields named above and try again; nothing was done
        "#]],
        );
    }

    #[test]
    fn only_in_the_backlog() {
        check(
            "add; add; assign 1 alpha",
            "depend 1 +2",
            expect![[r#"
            > depend 1 +2
            error[VALIDATION_ERROR]: the command is invalid
              why:  `dependencies` can change only in backlog; task #1 is in in_progress
              next: correct the fields named above and try again; nothing was done
        "#]],
        );
    }

    #[test]
    fn there_are_at_most_a_hundred() {
        let mut world = World::given(&"add; ".repeat(DEPENDENCIES_MAX + 2));
        let depend = |numbers: std::ops::Range<u32>| {
            Command::Depend(Depend { add: numbers.map(id).collect(), remove: BTreeSet::new() })
        };
        assert!(world.give(id(1), &user(), &depend(2..102)).is_ok());
        let refusal = world.give(id(1), &user(), &depend(102..103)).unwrap_err();
        assert_eq!(refusal.code(), Code::ValidationError);
    }

    #[test]
    fn a_queued_task_that_gets_a_dependency_does_not_hold_up_the_queue() {
        let world = World::given(
            "limit 1; add; add; add; assign 1 alpha; assign 2 beta; assign 3 beta; depend 2 +1; cancel 1; settle 1",
        );
        let may = |task| world.tasks[&task].dependencies.is_empty();
        let next = world.assignments.find_next_where(&world.settings, may).map(|queued| queued.task);
        assert_eq!(next, Some(id(3)));
    }
}
