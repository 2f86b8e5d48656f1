//! A run in the foreground: shown as it goes, until it has ended or waits for a person who is not asked here.

use crate::family::Family;
use crate::progress::Progress;
use crate::screen::Screen;
use crate::verb::asked::Asked;
use crate::verb::follow::interruption;
use crate::verb::person::{Decision, Person};
use crate::walls::Walls;
use regatta_engine::core::run::{Mapping, Phase, Run, waits_for_person};
use regatta_engine::core::{AnyEvent, Code, Event, Problem, RunId, TaskId};
use regatta_engine::orders::{self, Approving, Caller};
use regatta_engine::runs::{self, RecordingHead};
use regatta_engine::{Error, Project, Supervisor, Update};
use std::sync::Arc;
use tokio_util::sync::CancellationToken;

/// Who decides when a run waits for a person.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Decides {
    /// The person at the terminal.
    Person,
    /// The demo, which approves everything.
    Demo,
    /// The person at the terminal of the demo, who agrees by pressing Enter.
    PersonAtDemo,
    /// Nobody here.
    Nobody,
}

impl Decides {
    /// Asks where somebody can be asked.
    pub(crate) fn at(screen: Screen) -> Self {
        if screen.can_ask() { Decides::Person } else { Decides::Nobody }
    }
}

/// The hold of this process on a project while it follows a run.
pub(crate) struct Foreground {
    project: Arc<Project>,
    supervisor: Supervisor,
    progress: Progress,
    caller: Caller,
    person: Person,
    decides: Decides,
    family: Option<Family>,
    /// What people said when the run was recorded that is now played.
    recorded: Option<RecordingHead>,
}

impl Foreground {
    /// Takes hold of the project. `run` is the run that an order is about to be given to.
    pub(crate) async fn take(
        project: &Arc<Project>,
        screen: Screen,
        decides: Decides,
        title: &str,
        run: Option<RunId>,
    ) -> Result<Self, Problem> {
        let interrupt = interruption();
        let supervisor = Supervisor::take(Arc::clone(project), interrupt.clone()).await?;
        Self::with(project, supervisor, interrupt, screen, decides, title, run).await
    }

    /// Starts an engine with somebody else to play the roles; refused when one runs.
    pub(crate) async fn take_alone(
        project: &Arc<Project>,
        roles: Arc<dyn runs::Roles>,
        screen: Screen,
        decides: Decides,
        title: &str,
    ) -> Result<Self, Problem> {
        let interrupt = interruption();
        let supervisor = Supervisor::take_alone(Arc::clone(project), roles, interrupt.clone()).await;
        let supervisor = supervisor?;
        Self::with(project, supervisor, interrupt, screen, decides, title, None).await
    }

    async fn with(
        project: &Arc<Project>,
        supervisor: Supervisor,
        interrupt: CancellationToken,
        screen: Screen,
        decides: Decides,
        title: &str,
        run: Option<RunId>,
    ) -> Result<Self, Problem> {
        let person = match decides {
            Decides::PersonAtDemo => Person::who_agrees(interrupt),
            Decides::Person | Decides::Demo | Decides::Nobody => Person::who_may_leave(interrupt),
        };
        let progress = Progress::new(screen, title);
        let caller = crate::caller::caller(None);
        let family = match run {
            // Whether there is such a run is for the order to say.
            Some(run) => match runs::get_run(project, run).await {
                Ok(run) => Some(Family::of(project, &run).await?),
                Err(_) => None,
            },
            None => None,
        };
        let project = Arc::clone(project);
        Ok(Foreground { project, supervisor, progress, caller, person, decides, family, recorded: None })
    }

    /// Repeats in the run what people did when it was recorded.
    pub(crate) fn answered_by(self, recorded: Option<RecordingHead>) -> Self {
        Foreground { recorded, ..self }
    }

    /// Follows a run, lets go of the project, and returns the run as it rests.
    pub(crate) async fn follow(mut self, run: RunId) -> Result<Run, Problem> {
        let followed = self.until_rest(run).await;
        self.release().await.and(followed)
    }

    /// Lets go of the project.
    pub(crate) async fn release(self) -> Result<(), Problem> {
        let Foreground { supervisor, progress, .. } = self;
        drop(progress);
        supervisor.release().await.map_err(|error| error.explain())
    }

    async fn until_rest(&mut self, run: RunId) -> Result<Run, Problem> {
        let found = runs::get_run(&self.project, run).await?;
        let mut family = match self.family.take() {
            Some(family) => family,
            None => Family::of(&self.project, &found).await?,
        };
        let project = Arc::clone(&self.project);
        let walls = Walls::find(&project).await;
        loop {
            let progress = &self.progress;
            let mut show = |update: Update<'_>| {
                let Update::Event(entry) = update else { return progress.hear(update) };
                if let Some(shown) = family.take_in(entry)
                    && !is_between_steps(entry)
                {
                    progress.show_about(entry, shown.item.as_deref());
                    walls.warn(entry).iter().for_each(|line| progress.print(line));
                }
            };
            let rested =
                self.supervisor.rest_run(run, &mut show).await.map_err(|error| explain(run, error))?;
            if !self.act_as_recorded(&rested).await? && !self.decide(&rested).await? {
                return Ok(rested);
            }
        }
    }

    /// Decides what the run waits for; false when nobody does here.
    async fn decide(&mut self, run: &Run) -> Result<bool, Problem> {
        if run.is_over() || run.hold().is_some() {
            return Ok(false);
        }
        match run.phase() {
            Some(Phase::Mapping(mapping)) => self.decide_for_children(mapping).await,
            _ if self.decides == Decides::Nobody => Ok(false),
            Some(Phase::Asking { question }) => self.answer(run, question).await,
            Some(Phase::Landing { task, .. }) => self.approve(*task).await,
            _ => Ok(false),
        }
    }

    /// Does what people did in this place when the run was recorded; false if there is no record, or they did nothing.
    async fn act_as_recorded(&self, run: &Run) -> Result<bool, Problem> {
        match &self.recorded {
            Some(head) => head.act(&self.project, &self.caller, run).await.map_err(|error| error.explain()),
            None => Ok(false),
        }
    }

    /// Decides what one of the children waits for.
    async fn decide_for_children(&mut self, mapping: &Mapping) -> Result<bool, Problem> {
        for child in mapping.under_way() {
            let found = runs::get_run(&self.project, child).await?;
            if Box::pin(self.decide(&found)).await? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    async fn answer(&mut self, run: &Run, question: &str) -> Result<bool, Problem> {
        if self.decides == Decides::Demo {
            return Ok(false);
        }
        let asked = Asked::question(run);
        let answer = self.person.answer(&mut self.progress, question).await?;
        if asked.is_past(&self.progress, &self.project).await? {
            return Ok(true);
        }
        let Some(answer) = answer else { return Ok(false) };
        let place = (run.id, run.step);
        let given = runs::answer(&self.project, &self.caller, place, answer.approved, answer.text).await;
        self.judge(&asked, given).await
    }

    async fn approve(&mut self, task: TaskId) -> Result<bool, Problem> {
        let found = orders::get_task(&self.project, task).await?;
        // Decided this very moment, or halted: what to do about that is shown with the run.
        let Some(asked) = Asked::diff(&found) else { return Ok(!waits_for_person(&found)) };
        let decision = match self.decides {
            Decides::Demo => Decision::Approve,
            _ => self.person.decide(&mut self.progress, &self.project, task).await?,
        };
        if asked.is_past(&self.progress, &self.project).await? {
            return Ok(true);
        }
        let given = match decision {
            Decision::Approve => {
                // The prompt said what the diff lacks.
                let approval = Approving { feedback: None, head: asked.head(), anyway: true };
                orders::approve(&self.project, &self.caller, task, approval).await.map(|_| ())
            }
            Decision::Reject(reason) => {
                orders::reject(&self.project, &self.caller, task, reason, None).await.map(|_| ())
            }
            Decision::Later => return Ok(false),
        };
        self.judge(&asked, given).await
    }

    /// Continues after an order, also if somebody else gave one just before.
    async fn judge(&self, asked: &Asked, given: Result<(), Error>) -> Result<bool, Problem> {
        match given {
            Ok(()) => Ok(true),
            Err(Error::Refused(_)) if asked.is_past(&self.progress, &self.project).await? => Ok(true),
            // The task shows what was in the way, and the person fixes it.
            Err(error) => Err(error.explain()),
        }
    }
}

/// That an agent pauses after each step of a run says nothing that the step does not.
fn is_between_steps(entry: &regatta_engine::Entry) -> bool {
    matches!(entry.event, AnyEvent::Task(Event::AgentPaused { .. }))
}

/// Says how a run continues that was not waited for to its end.
fn explain(run: RunId, error: Error) -> Problem {
    let problem = error.explain();
    match problem.code {
        Code::WaitTimedOut => {
            let next = format!(
                "resume it with `regatta run --resume {run}`; give it up with `regatta run stop {run}`"
            );
            Problem { next, ..problem }.with("runId", run.number())
        }
        _ => problem,
    }
}
