//! Performs the members of a `parallel` node at the same time, in one effect.
//!
//! Each works on the run as it sees it: at its own node, for its own item. Its result is stored as soon as it comes; the
//! intent is settled by the append that joins them all, so a crash before that loses only what had not ended, and the next
//! engine performs only the members that are still open.

use crate::commands::batch::Batch;
use crate::commands::round::{self, Envelope, Round, Verdict};
use crate::commands::run_orders::get_run;
use crate::core::run::{self, Command, MemberReport, Phase, Run};
use crate::core::{Actor, Effect, RunId};
use crate::crash;
use crate::error::Error;
use crate::on_heap::on_heap;
use crate::perform::Work;
use crate::perform::runs::node::play;
use crate::project::Project;
use crate::recording::recorder;
use crate::runs::driver::Driver;
use crate::runs::post::Handed;
use crate::runs::trouble;
use crate::runtime::active_steps::OnTask;
use crate::runtime::stop_handle::StopHandle;
use crate::session::role::Roles;
use regatta_flow::NodeName;
use regatta_store::IntentId;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Poll;

/// Whether a report is the last one is found out by trying; it changes only when another process changes the run.
const TRIES_MAX: u32 = 16;

/// The run after its step, with the effects that it asks for.
pub(super) type Joined = (Driver, Vec<(IntentId, Effect)>);

/// What the performance of one member is given.
#[derive(Clone, Copy)]
struct Performing<'a> {
    work: &'a Work,
    roles: &'a dyn Roles,
    intent: IntentId,
    /// Taken while a report is stored, so that two that end together do not keep each other from it.
    turn: &'a tokio::sync::Mutex<()>,
    stop_handle: &'a StopHandle,
}

/// Performs every member that is open. Returns the run after the step that joins them; nothing if there is none, because
/// the run was stopped or paused, or the engine shuts down.
pub(super) async fn perform(
    work: &Work,
    roles: &dyn Roles,
    driver: &Driver,
    intent: IntentId,
    stop_handle: &StopHandle,
) -> Result<Option<Joined>, Error> {
    let turn = tokio::sync::Mutex::new(());
    let performing = Performing { work, roles, intent, turn: &turn, stop_handle };
    let (run, step) = (driver.run().id, driver.run().step);
    let open = driver.run().members().iter().filter(|state| state.is_open());
    let members = open.map(|state| {
        let node = state.member.node.clone();
        on_heap(move || performing.member(run, step, node))
    });
    let mut joined = None;
    for ended in all(members.collect()).await {
        joined = joined.or(ended?);
    }
    Ok(joined)
}

impl Performing<'_> {
    /// Performs one member until something came of it.
    async fn member(self, run: RunId, step: u64, node: NodeName) -> Result<Option<Joined>, Error> {
        loop {
            let driver = Driver::load(&self.work.project, run).await?;
            let is_wanted = driver.run().step == step && !driver.run().is_held();
            let Some(mut view) =
                driver.as_member(&node).filter(|_| is_wanted && is_open(driver.run(), &node))
            else {
                return Ok(None);
            };
            let Some(&Phase::Performing { asks, .. }) = view.run().phase() else { return Ok(None) };
            let task = view.run().find_task();
            // Held until the outcome is stored: until then its task is not cancelled.
            let on_task = task.map(|task| self.work.active_steps.enter(task, self.stop_handle));
            let stop_handle = on_task.as_ref().map_or(self.stop_handle, OnTask::stop_handle);
            let played = on_heap(|| play(self.work, self.roles, &mut view, asks, stop_handle)).await;
            let Some(command) = trouble::or_hold(view.run(), played)? else { return Ok(None) };
            let came = match command {
                Command::Performed { output, head, .. } => Ok((output, head)),
                Command::NotPerformed { failure, .. } | Command::Unperformable { failure, .. } => {
                    Err(failure)
                }
                // As if nobody had begun: look again.
                Command::PutOff { .. } => continue,
                // What stops the run says so itself.
                _ => return Ok(None),
            };
            crash::point("perform_node.played");
            let command =
                Command::MemberEnded { step, report: MemberReport { node: node.clone(), asks, came } };
            let report = Report { run, command, handed: view.take_handed(), joins: false };
            if let Some(joined) = self.store(report).await? {
                return Ok(Some(joined));
            }
            // It may have to be asked again.
            if !is_open(&get_run(&self.work.project, run).await?, &node) {
                return Ok(None);
            }
        }
    }

    /// Stores what came of a member; with the last one the intent is settled.
    async fn store(self, mut report: Report) -> Result<Option<Joined>, Error> {
        let _turn = self.turn.lock().await;
        for _ in 0..TRIES_MAX {
            let settles = if report.joins { vec![self.intent] } else { Vec::new() };
            let envelope = Envelope { settles, ..self.work.envelope() };
            let told = round::submit(&self.work.project, &envelope, &report, None).await?;
            if told.answer {
                let Some(driver) = told.reads.filter(|_| report.joins) else { return Ok(None) };
                recorder::close_if_resting(&self.work.project, driver.run()).await;
                return Ok(Some((driver, told.asked)));
            }
            report.joins = !report.joins;
        }
        Ok(None)
    }
}

fn is_open(run: &Run, node: &NodeName) -> bool {
    run.members().iter().any(|state| state.member.node == *node && state.is_open())
}

/// A report of a member, of which it is assumed whether it is the last. The answer is whether that is so.
struct Report {
    run: RunId,
    command: Command,
    /// What stood in its prompt.
    handed: Option<Handed>,
    joins: bool,
}

impl Round for Report {
    type Reads = Driver;
    type Answer = bool;

    async fn load(&self, project: &Project) -> Result<Driver, Error> {
        let mut driver = Driver::load(project, self.run).await?;
        driver.open_post(project, self.handed.as_ref()).await?;
        Ok(driver)
    }

    fn decide(&self, driver: &mut Driver, batch: &mut Batch) -> Result<Verdict<bool>, Error> {
        let events = run::decide(driver.inputs(batch.at), driver.run(), &self.command);
        // What joins them comes after the report itself.
        if (events.map_err(Error::Refused)?.len() > 1) != self.joins {
            return Ok(Verdict::Withdraw(false));
        }
        driver.decide_with(Actor::Engine, &self.command, self.handed.as_ref(), batch)?;
        Ok(Verdict::Append(true))
    }
}

/// Waits for all of them; each is polled whenever one can go on, which is cheap for a handful.
async fn all<T>(mut open: Vec<Pin<Box<dyn Future<Output = T> + Send + '_>>>) -> Vec<T> {
    let mut ended = Vec::new();
    poll_fn(|waker| {
        open.retain_mut(|one| match one.as_mut().poll(waker) {
            Poll::Ready(value) => {
                ended.push(value);
                false
            }
            Poll::Pending => true,
        });
        if open.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    })
    .await;
    ended
}
