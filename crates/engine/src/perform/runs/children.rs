//! Starts the children of a `map` node that can be started: their runs, and the parent's record of them, in
//! one append.

use crate::commands::batch::{Batch, reads};
use crate::commands::round::{self, Round, Verdict};
use crate::commands::run_orders::{Filing, NewRuns, child_order, get_run};
use crate::core::run::{Command, Item, Phase};
use crate::core::{Actor, Failure, RunId};
use crate::error::Error;
use crate::perform::Work;
use crate::perform::runs::fork_hint;
use crate::project::Project;
use crate::recording::signals;
use crate::runs::driver::{self, Driver};
use std::collections::BTreeMap;

pub(crate) async fn perform(work: &Work, run: RunId, step: u64) -> Result<(), Error> {
    let project = &work.project;
    while signals::give_due(project, &get_run(project, run).await?).await? {}
    let mut place = work.drivers.enter(run).await;
    let reads = match place.take() {
        Some(mut parent) => {
            parent.gather(project).await?;
            let children = load_children(project, &parent).await?;
            Some(Family { parent, children })
        }
        None => None,
    };
    let started = round::submit(project, &work.envelope(), &StartChildren { run, step }, reads).await?;
    let parent = started.reads.map(|reads| reads.parent);
    match started.answer {
        None => {
            place.leave(parent);
            Ok(())
        }
        Some(failure) => hold(work, (run, parent), step, failure).await,
    }
}

/// Holds the run because of an item whose child cannot begin.
async fn hold(
    work: &Work,
    (run, parent): (RunId, Option<Driver>),
    step: u64,
    mut failure: Failure,
) -> Result<(), Error> {
    if let Some(parent) = parent {
        let command = fork_hint::find(work, parent.run()).await?;
        failure.hint =
            format!("fix the workflow (`regatta workflow check`), then {command} continues with it");
    }
    driver::tell(&work.project, &work.envelope(), run, Command::NotPerformed { step, failure }).await
}

/// Loads what new children are checked against.
async fn load_children(project: &Project, parent: &Driver) -> Result<NewRuns, Error> {
    let mut children = NewRuns::load(project).await?;
    if let Some(Phase::Mapping(mapping)) = parent.run().phase()
        && let Some(workflow) = parent.workflow().children.get(&mapping.workflow)
    {
        let filing = Filing { workflow, folder: parent.folder() };
        let new: Vec<_> = mapping.startable().into_iter().map(|item| (filing, item.input.clone())).collect();
        children.find_owners(project, &new).await?;
    }
    Ok(children)
}

/// The start of all children that can be started. The answer is the failure of one that cannot.
struct StartChildren {
    run: RunId,
    step: u64,
}

/// A run with its new children.
struct Family {
    parent: Driver,
    children: NewRuns,
}

reads!(Family: children, parent);

impl Round for StartChildren {
    type Reads = Family;
    type Answer = Option<Failure>;

    async fn load(&self, project: &Project) -> Result<Family, Error> {
        let parent = Driver::load(project, self.run).await?;
        let children = load_children(project, &parent).await?;
        Ok(Family { parent, children })
    }

    fn decide(&self, reads: &mut Family, batch: &mut Batch) -> Result<Verdict<Option<Failure>>, Error> {
        let parent = reads.parent.run();
        let is_due = parent.step == self.step && parent.is_asked();
        let Some(Phase::Mapping(mapping)) = parent.phase().filter(|_| is_due) else {
            // Nobody waits for it any more; it is settled all the same.
            return Ok(Verdict::Append(None));
        };
        let name = &mapping.workflow;
        let mut children = BTreeMap::new();
        if let Some(workflow) = reads.parent.workflow().children.get(name) {
            for item in mapping.startable() {
                let filing = Filing { workflow, folder: reads.parent.folder() };
                match reads.children.begin(filing, child_order(parent, name, item), batch) {
                    Ok(id) => drop(children.insert(item.key.clone(), id)),
                    Err(error @ Error::Refused(_)) => {
                        return Ok(Verdict::Withdraw(Some(explain(self.run, item, &error))));
                    }
                    Err(other) => return Err(other),
                }
            }
        }
        let command = Command::ChildrenStarted { step: self.step, children };
        reads.parent.decide(Actor::Engine, &command, batch)?;
        Ok(Verdict::Append(None))
    }
}

fn explain(run: RunId, item: &Item, error: &Error) -> Failure {
    let mut problem = error.explain();
    problem.what = format!("run {run} cannot start the child for item `{}`", item.key);
    Failure::from(problem)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::orders::Caller;
    use crate::commands::races::race;
    use crate::runs::{self, NewRun, get_run};
    use regatta_testkit::repo::TestRepo;
    use serde_json::json;
    use std::sync::Arc;

    const PARENT: &str = r#"
name = "fan"
start = "plan"
nodes.plan = { kind = "map", workflow = "one", items = "input.items", key = "key" }
nodes.done = { kind = "end" }
edges = [{ id = "all", from = "plan", to = "done" }]
"#;
    const CHILD: &str = r#"
name = "one"
start = "ask"
nodes.ask = { kind = "approval", question = "'Continue?'" }
nodes.done = { kind = "end" }
edges = [{ id = "asked", from = "ask", to = "done" }]
"#;

    /// A pause that comes between the decision and the append is a conflict; then the children begin paused.
    #[tokio::test]
    async fn children_that_start_while_their_parent_is_paused_are_paused() {
        let repo = TestRepo::new();
        repo.write(".regatta/config.toml", "[project]\ndefault_branch = \"main\"\n");
        let schema = r#"{ "type": "object", "properties": {} }"#;
        for (file, text) in [
            ("workflow.toml", PARENT),
            ("state.schema.json", schema),
            ("children/one/workflow.toml", CHILD),
            ("children/one/state.schema.json", schema),
        ] {
            repo.write(&format!(".regatta/workflows/fan/{file}"), text);
        }
        repo.commit("a project");
        let project = Arc::new(Project::open_own(repo.path()).await.unwrap());
        let caller = Caller::new(Actor::User("local".to_owned()));
        let workflow = runs::find_workflow(Some(&project), "fan").unwrap();
        let input = json!({ "items": [{ "key": "a" }, { "key": "b" }] });
        let new = NewRun { workflow, prd: None, level: None, input, board: false, recording: None };
        let run = runs::create(&project, &caller, new).await.unwrap();
        let work = Work::for_first_intent(&project).await;
        let other = Arc::clone(&project);
        let pause = async move { runs::pause(&other, &caller, run).await.unwrap() };
        race(pause, perform(&work, run, 1)).await.unwrap();

        let children = get_run(&project, run).await.unwrap().children_under_way();
        assert_eq!(children.len(), 2);
        for child in children {
            assert!(get_run(&project, child).await.unwrap().is_held());
        }
        assert!(!project.store().is_open(work.intent).await.unwrap(), "its intent is settled with it");
        // Performed once more, as after a crash, it adds nothing.
        let head = project.store().head().await.unwrap();
        perform(&work, run, 1).await.unwrap();
        assert_eq!(project.store().head().await.unwrap(), head);
    }
}
