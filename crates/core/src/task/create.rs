//! `Create`: a new task for the backlog.

use crate::{Create, Event, FieldFault, Plan, Refusal, TaskId};

/// Creates the task with the number that the plan gives next.
pub(crate) fn create(plan: &Plan, id: TaskId, create: &Create) -> Result<Vec<Event>, Refusal> {
    if plan.contains(id) {
        let problem = format!("{id} is taken; the next is {}", plan.next_id());
        return Err(Refusal::Invalid { faults: vec![FieldFault { field: "taskId", problem }] });
    }
    let unknown: Vec<FieldFault> =
        create.dependencies.iter().filter(|on| !plan.contains(**on)).map(unknown).collect();
    if !unknown.is_empty() {
        return Err(Refusal::Invalid { faults: unknown });
    }
    Ok(vec![Event::TaskCreated {
        task_id: id,
        title: create.title.clone(),
        description: create.description.clone(),
        criteria: create.criteria.clone(),
        dependencies: create.dependencies.clone(),
        priority: create.priority,
    }])
}

pub(super) fn unknown(on: &TaskId) -> FieldFault {
    FieldFault { field: "dependencies", problem: format!("name task #{on}, which does not exist") }
}

#[cfg(test)]
mod tests {
    use crate::testing::{World, check, id, user};
    use crate::{Code, Command, Create, Priority};
    use expect_test::expect;
    use std::collections::BTreeSet;

    #[test]
    fn a_task_begins_in_the_backlog() {
        check(
            "",
            "add; add high on 1",
            expect![[r#"
            > add
            [task:created]
            #1 backlog
            > add high on 1
            [task:created]
            #2 backlog
        "#]],
        );
    }

    #[test]
    fn unknown_dependencies_are_named() {
        check(
            "add",
            "add on 1,4,5",
            expect![[r#"
            > add on 1,4,5
            error[VALIDATION_ERROR]: the command was not understood
              why:  `dependencies` name task #4, which does not exist; `dependencies` name task #5, which does not exist
              next: change what is named and try again; nothing was done
        "#]],
        );
    }

    #[test]
    fn a_number_is_given_once() {
        let mut world = World::given("add");
        let create =
            Create::new("Again".into(), String::new(), vec![], BTreeSet::new(), Priority::Low).unwrap();
        let refusal = world.give(id(1), &user(), &Command::Create(create)).unwrap_err();
        assert_eq!(refusal.code(), Code::ValidationError);
        assert_eq!(refusal.explain().why, ["`taskId` 1 is taken; the next is 2"]);
    }
}
