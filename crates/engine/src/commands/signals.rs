//! Gives signals to runs.
//!
//! A run that had ended continues by one: in the same append it has its tasks again that it released, as they are. For those
//! that somebody merged or cancelled since, it makes new ones.

use crate::commands::batch::{Batch, Reads};
use crate::commands::messages::party_of;
use crate::commands::orders::Caller;
use crate::commands::request::Request;
use crate::commands::round::{self, Envelope, Round, Verdict};
use crate::commands::run_orders::get_run;
use crate::core::message::Party;
use crate::core::run::{Command, Run, SignalGiven};
use crate::core::{Actor, Assignments, Refusal, RunId, Stage, Task, take_up};
use crate::error::Error;
use crate::log::{self, Follow, PathOwner, Stream, list};
use crate::project::Project;
use crate::recording::recorder;
use crate::run_files;
use crate::runs::driver::{Driver, find_within};
use serde_json::Value;
use std::collections::BTreeSet;

/// Gives a run a signal.
pub async fn signal(
    project: &Project,
    caller: &Caller,
    run: RunId,
    signal: &str,
    input: Value,
) -> Result<(), Error> {
    signal_from(project, caller, run, (signal, input), party_of(&caller.actor)).await
}

/// Returns the schema of what comes with a signal.
pub async fn find_signal_schema(project: &Project, run: RunId, signal: &str) -> Result<Value, Error> {
    let run = get_run(project, run).await?;
    let definition = project.definitions().get(project, &run.digest).await?;
    let workflow = find_within(&definition, &run.within);
    let found = workflow.find_signal(signal).map(|signal| signal.input.document().clone());
    found.ok_or_else(|| {
        let known = workflow.signals.iter().map(|signal| signal.name.clone()).collect();
        Error::Refused(Refusal::SignalNotFound { run: run.id, signal: signal.to_owned(), known })
    })
}

/// Gives a run a signal of somebody, such as the role that an agent plays.
pub(crate) async fn signal_from(
    project: &Project,
    caller: &Caller,
    run: RunId,
    (signal, input): (&str, Value),
    from: Party,
) -> Result<(), Error> {
    let envelope = Envelope::of(caller, &Request::SignalRun { run, signal, input: &input });
    let send = SendSignal { run, signal, input, from };
    let sent = round::submit(project, &envelope, &send, None).await?;
    if let Some(reads) = &sent.reads {
        recorder::close_if_resting(project, reads.driver.run()).await;
    }
    run_files::settle(project, run).await;
    Ok(())
}

struct SendSignal<'a> {
    run: RunId,
    signal: &'a str,
    input: Value,
    from: Party,
}

/// A run with the tasks that it had when it ended.
struct Ended {
    driver: Driver,
    tasks: Vec<(String, Stream<Option<Task>>)>,
    assignments: Option<Stream<Assignments>>,
    /// A file of the run that another run under way has by now.
    taken: Option<(String, RunId)>,
}

impl Reads for Ended {
    fn streams(&mut self) -> Vec<&mut dyn Follow> {
        let mut streams = self.driver.streams();
        streams.extend(self.tasks.iter_mut().map(|(_, task)| task as &mut dyn Follow));
        streams.extend(self.assignments.iter_mut().map(|stream| stream as &mut dyn Follow));
        streams
    }
}

impl Round for SendSignal<'_> {
    type Reads = Ended;
    type Answer = ();

    async fn load(&self, project: &Project) -> Result<Ended, Error> {
        let driver = Driver::load(project, self.run).await?;
        let mut tasks = Vec::new();
        let run = driver.run();
        for item in run.driven.iter().filter(|_| run.is_over()) {
            if let Some(task) = run.tasks.get(item) {
                tasks.push((item.clone(), Stream::load(project, log::task_stream(*task)).await?));
            }
        }
        let assignments = match tasks.is_empty() {
            true => None,
            false => Some(Stream::load(project, log::assignments_stream()).await?),
        };
        let taken = match driver.run().is_over() {
            true => find_taken(project, driver.run()).await?,
            false => None,
        };
        Ok(Ended { driver, tasks, assignments, taken })
    }

    fn decide(&self, reads: &mut Ended, batch: &mut Batch) -> Result<Verdict<()>, Error> {
        let gone = reads.tasks.iter().filter(|(_, task)| is_gone(task.state.as_ref()));
        let gone: BTreeSet<String> = gone.map(|(item, _)| item.clone()).collect();
        let (name, input, from) = (self.signal.to_owned(), self.input.clone(), self.from.clone());
        let given = SignalGiven { name, input, from, gone: gone.clone() };
        reads.driver.decide(batch.actor.clone(), &Command::Signal(given), batch)?;
        if let Some((path, owner)) = reads.taken.take().filter(|_| !reads.driver.run().is_over()) {
            return Err(Error::Refused(Refusal::FileTaken { path, owner }));
        }
        if let Some(assignments) = reads.assignments.as_mut().filter(|_| !reads.driver.run().is_over()) {
            for (_, task) in reads.tasks.iter_mut().filter(|(item, _)| !gone.contains(item)) {
                take_back(self.run, (task, assignments), batch);
            }
        }
        Ok(Verdict::Append(()))
    }
}

/// Finds a file of a run that has passed to another run, which is under way.
async fn find_taken(project: &Project, run: &Run) -> Result<Option<(String, RunId)>, Error> {
    for path in run.files.values() {
        let owner: Stream<PathOwner> = Stream::load(project, log::path_stream(path)).await?;
        if let Some(owner) = owner.state.run.filter(|owner| *owner != run.id)
            && !get_run(project, owner).await?.is_over()
        {
            return Ok(Some((path.clone(), owner)));
        }
    }
    Ok(None)
}

/// Tells whether there is no work left on a task that a run could continue.
fn is_gone(task: Option<&Task>) -> bool {
    task.is_none_or(|task| matches!(task.stage, Stage::Backlog | Stage::Verified(_)))
}

/// One whose release is still to come is the run's as it is.
fn take_back(
    run: RunId,
    (task, assignments): (&mut Stream<Option<Task>>, &mut Stream<Assignments>),
    batch: &mut Batch,
) {
    let Some(found) = &task.state else { return };
    let (id, event) = (found.id, take_up(found, run));
    if let Some(event) = event {
        batch.add_as(Actor::Engine, &mut [&mut *task, &mut *assignments], vec![event]);
        batch.list(list::rows_of(id, task.state.as_ref()));
    }
}
