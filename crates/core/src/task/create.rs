//! `Create`: a new task for the backlog.

use crate::{Create, Event, FieldFault, Refusal, Situation, TaskId};

/// Creates the task with the number that the plan gives next.
pub(crate) fn create(situation: &Situation<'_>, id: TaskId, create: &Create) -> Result<Vec<Event>, Refusal> {
    let plan = situation.plan;
    if plan.contains(id) {
        let problem = format!("{id} is taken; the next is {}", plan.next_id());
        return Err(Refusal::Invalid { faults: vec![FieldFault { field: "taskId", problem }] });
    }
    let unknown: Vec<FieldFault> =
        create.dependencies.iter().filter(|on| !plan.contains(**on)).map(unknown).collect();
    if !unknown.is_empty() {
        return Err(Refusal::Invalid { faults: unknown });
    }
    let epic = create.epic.map(|epic| situation.catalogue.get_epic(epic)).transpose()?;
    let prd = create.prd.as_ref().or(epic.and_then(|epic| epic.prd.as_ref()));
    if let Some(prd) = prd {
        situation.catalogue.get_prd(prd)?;
    }
    let created = Event::TaskCreated {
        task_id: id,
        title: create.title.clone(),
        description: create.description.clone(),
        criteria: create.criteria.clone(),
        dependencies: create.dependencies.clone(),
        priority: create.priority,
        epic_id: create.epic,
        prd: prd.cloned(),
        branch: create.branch.clone(),
        base: create.base.clone(),
    };
    let source =
        create.source.iter().map(|source| Event::TaskImported { task_id: id, source: source.clone() });
    Ok(std::iter::once(created).chain(source).collect())
}

pub(super) fn unknown(on: &TaskId) -> FieldFault {
    FieldFault { field: "dependencies", problem: format!("name task #{on}, which does not exist") }
}

#[cfg(test)]
mod tests {
    use crate::testing::{World, check, document_facts, id, user};
    use crate::{Code, Command, Create, EpicId, Priority};
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
            error[VALIDATION_ERROR]: the command is invalid
              why:  `dependencies` name task #4, which does not exist; `dependencies` name task #5, which does not exist
              next: correct the fields named above and try again; nothing was done
        "#]],
        );
    }

    #[test]
    fn a_task_is_filed_under_what_exists() {
        let mut world = World::given("");
        for fact in document_facts() {
            world.catalogue = world.catalogue.evolve(&fact);
        }
        let mut file = |number: u32, epic: Option<u32>, prd: Option<&str>| {
            let create = Create::new("A".into(), String::new(), vec![], BTreeSet::new(), Priority::Low);
            let epic = epic.map(|number| EpicId::new(number).unwrap());
            let create = create.unwrap().filed_under(epic, prd.map(|slug| slug.parse().unwrap()));
            let step = world.give(id(number), &user(), &Command::Create(create));
            step.map(|_| {
                let task = &world.tasks[&id(number)];
                (task.epic.map(EpicId::number), task.prd.as_ref().map(ToString::to_string))
            })
            .map_err(|refusal| refusal.code())
        };
        assert_eq!(file(1, Some(3), None), Ok((Some(3), Some("user-auth".to_owned()))), "the epic's PRD");
        assert_eq!(file(2, None, Some("user-auth")), Ok((None, Some("user-auth".to_owned()))));
        assert_eq!(file(3, None, None), Ok((None, None)));
        assert_eq!(file(4, Some(4), None), Err(Code::EpicNotFound));
        assert_eq!(file(4, Some(3), Some("user-aut")), Err(Code::PrdNotFound));
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
