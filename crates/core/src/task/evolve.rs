//! Folds one fact into a task.
//!
//! Facts are never refused: [`Task::evolve`] leaves a task as it is when a fact does not fit, and only `replay`
//! asks [`try_evolve`] whether each fitted.

use super::answers::take_answers;
use super::state::{Review, Task, Work};
use super::{
    Cleanup, Criterion, Diff, Failure, Forecast, Landed, Memory, OutputNote, Park, Proof, Rejection,
    ReviewNote, ReviewPhase, Row, Stage, WorkPhase, Worktree,
};
use super::{can_collide, can_hide};
use crate::{AgentId, CriterionNote, Event, Fact};

impl Task {
    /// Folds one fact into the task; `None` before it is created.
    pub fn evolve(mut task: Option<Task>, fact: &Fact) -> Option<Task> {
        fold(&mut task, fact);
        task
    }

    /// Does what [`Task::evolve`] does where the task stands: a task is large, and most facts change little of it.
    pub fn evolve_in_place(task: &mut Option<Task>, fact: &Fact) {
        fold(task, fact);
    }
}

/// Folds one fact into the task, or returns `None` when the task cannot carry it. A deleted task is none any more.
pub(crate) fn try_evolve(mut task: Option<Task>, fact: &Fact) -> Option<Option<Task>> {
    fold(&mut task, fact).then_some(task)
}

/// Folds one fact into the task; a task that cannot carry it stays as it is, and that is said.
fn fold(task: &mut Option<Task>, fact: &Fact) -> bool {
    let task = match (task, &fact.event) {
        (none @ None, Event::TaskCreated { .. }) => {
            *none = created(fact);
            return none.is_some();
        }
        (some @ Some(_), Event::TaskDeleted { task_id }) => {
            let may_go = |task: &mut Task| {
                task.id == *task_id && task.attempts == 0 && matches!(task.stage, Stage::Backlog)
            };
            return some.take_if(may_go).is_some();
        }
        (Some(task), event) if task.id == event.task() => task,
        _ => return false,
    };
    match &fact.event {
        Event::TaskDependenciesSet { dependencies, .. } if matches!(task.stage, Stage::Backlog) => {
            task.dependencies.clone_from(dependencies)
        }
        Event::TaskQueued { priority, .. } if matches!(task.stage, Stage::Backlog) => {
            task.priority = *priority;
            task.error = None;
        }
        Event::TaskDequeued { .. } if matches!(task.stage, Stage::Backlog) => task.error = None,
        Event::TaskAssignFailed { error, .. } if matches!(task.stage, Stage::Backlog) => {
            task.error = Some(error.clone())
        }
        Event::WorktreeSalvaged { salvage, .. } if is_removing(&task.stage) || is_driven(&task.stage) => {
            task.salvages.push(salvage.clone())
        }
        Event::ApprovalRejected { .. } if is_ready(&task.stage) => {}
        Event::TaskImported { source, .. } if can_be_imported(task) => {
            task.hidden = source.done;
            task.source = Some(Box::new(source.clone()));
        }
        Event::TaskHidden { .. } if can_hide(task) => task.hidden = true,
        Event::TaskUnhidden { .. } if can_hide(task) => task.hidden = false,
        Event::CriteriaJudged { findings, .. } => task.findings = Some(findings.clone()),
        Event::CommentsAnswered { answers, .. } => take_answers(task, answers),
        Event::CollisionsForecast { forecast, .. } => task.forecast.clone_from(forecast),
        event if event.is_note() => {}
        event if remember(task, event) => {}
        event if advance(task, event) => {}
        _ => return false,
    }
    if !fact.event.is_of_file() && !fact.event.is_note() {
        task.updated_at = fact.at;
    }
    // What it would have collided with went with its branch.
    if !task.forecast.is_empty() && !can_collide(task) {
        task.forecast = Forecast::default();
    }
    true
}

/// Takes in what the task file says; possible in every stage, since people may write in it at any time.
fn remember(task: &mut Task, event: &Event) -> bool {
    let memory = &mut task.memory;
    match event {
        Event::CriterionChecked { index, .. } => {
            task.row.ticked = true;
            mark(&mut task.criteria, *index, true);
        }
        Event::CriterionUnchecked { index, .. } => mark(&mut task.criteria, *index, false),
        Event::CriteriaSet { criteria, .. } => {
            let criterion = |note: &CriterionNote| Criterion {
                text: note.text.clone(),
                checked: note.checked,
                check: note.check.clone(),
            };
            let is_new = |note: &&CriterionNote| {
                note.checked && !task.criteria.iter().any(|known| known.checked && known.text == note.text)
            };
            let is_ticked = criteria.iter().any(|note| is_new(&note));
            task.row.ticked |= is_ticked;
            task.criteria = criteria.iter().map(criterion).collect();
        }
        Event::ProgressLogged { entry, .. } => {
            memory.entries += 1;
            memory.last = Some(entry.clone());
        }
        Event::OutputWritten { digest, summary, .. } => {
            memory.output = Some(OutputNote { digest: digest.clone(), summary: summary.clone() });
        }
        Event::OutputRemoved { .. } => memory.output = None,
        Event::TaskEdited { title, description, priority, filed, .. } => {
            if let Some(title) = title {
                task.title.clone_from(title);
            }
            if let Some(description) = description {
                task.description.clone_from(description);
            }
            task.priority = priority.unwrap_or(task.priority);
            if let Some(filed) = filed {
                task.epic = filed.epic_id;
                task.prd.clone_from(&filed.prd);
            }
        }
        Event::RequirementsEdited { text, .. } => task.description.clone_from(text),
        Event::InputsEmbedded { inputs, .. } => memory.inputs.clone_from(inputs),
        Event::FileArchived { last, .. } => {
            memory.archived = Some(*last);
            // Those of a file that was imported were archived before anything was logged here.
            memory.entries = memory.entries.max(*last);
        }
        Event::FileConflicted { .. } => memory.conflicts += 1,
        Event::FileCorrupt { error, .. } | Event::FileWriteFailed { error, .. } => {
            task.error = Some(error.clone());
        }
        Event::FileChanged { splice, .. } => {
            let gone = splice.end.saturating_sub(splice.start);
            memory.file_bytes = memory.file_bytes.saturating_sub(gone) + splice.text.len() as u64;
        }
        Event::FileWritten { .. } => {}
        _ => return false,
    }
    true
}

fn mark(criteria: &mut [Criterion], index: u32, checked: bool) {
    let index = usize::try_from(index).ok();
    if let Some(criterion) = index.and_then(|index| criteria.get_mut(index)) {
        criterion.checked = checked;
    }
}

fn can_be_imported(task: &Task) -> bool {
    matches!(task.stage, Stage::Backlog) && task.attempts == 0 && task.source.is_none()
}

fn is_removing(stage: &Stage) -> bool {
    match stage {
        Stage::Backlog => false,
        Stage::InProgress(work) => matches!(work.phase, WorkPhase::Unwinding | WorkPhase::Removing { .. }),
        Stage::WaitingApproval(review) => matches!(review.phase, ReviewPhase::Removing { .. }),
        Stage::Verified(landed) => landed.cleanup != Cleanup::Done,
    }
}

fn is_driven(stage: &Stage) -> bool {
    matches!(stage, Stage::InProgress(work) if matches!(work.phase, WorkPhase::Driven { .. }))
}

fn is_ready(stage: &Stage) -> bool {
    matches!(stage, Stage::WaitingApproval(review) if review.phase == ReviewPhase::Ready)
}

fn created(fact: &Fact) -> Option<Task> {
    let Event::TaskCreated {
        task_id,
        title,
        description,
        criteria,
        dependencies,
        priority,
        epic_id,
        prd,
        branch,
        base,
    } = &fact.event
    else {
        return None;
    };
    Some(Task {
        id: *task_id,
        title: title.clone(),
        description: description.clone(),
        criteria: criteria.iter().map(|text| Criterion::parse(text)).collect(),
        dependencies: dependencies.clone(),
        priority: *priority,
        epic: *epic_id,
        prd: prd.clone(),
        branch: branch.clone(),
        base: base.clone(),
        created_at: fact.at,
        updated_at: fact.at,
        rejection_count: 0,
        retries: 0,
        row: Row::default(),
        review_note: None,
        attempts: 0,
        sessions: 0,
        completions: 0,
        salvages: Vec::new(),
        memory: Memory::default(),
        run: None,
        owner: None,
        findings: None,
        forecast: Forecast::default(),
        proof: None,
        source: None,
        hidden: false,
        error: None,
        stage: Stage::Backlog,
    })
}

/// Moves the task to its next stage or phase, or leaves it as it is and says no.
fn advance(task: &mut Task, event: &Event) -> bool {
    let stage = std::mem::replace(&mut task.stage, Stage::Backlog);
    let step = match stage {
        Stage::Backlog => from_backlog(task, event),
        Stage::InProgress(work) => from_work(task, work, event),
        Stage::WaitingApproval(review) => from_review(task, review, event),
        Stage::Verified(landed) => from_landed(landed, event),
    };
    let (stage, error) = match step {
        Ok(step) => step,
        Err(kept) => {
            task.stage = kept;
            return false;
        }
    };
    task.stage = stage;
    match error {
        ErrorChange::Keep => {}
        ErrorChange::Clear => task.error = None,
        ErrorChange::Set(failure) => task.error = Some(failure),
    }
    true
}

/// What a fact does to the error that a task shows.
enum ErrorChange {
    Keep,
    Clear,
    Set(Failure),
}

/// Where a fact leads, or the stage as it was.
type Step = Result<(Stage, ErrorChange), Stage>;

fn from_backlog(task: &mut Task, event: &Event) -> Step {
    let Event::TaskAssigned {
        agent_id, branch, target, base, path, attempt, priority, run_id, owner, ..
    } = event
    else {
        return Err(Stage::Backlog);
    };
    task.run = *run_id;
    task.hidden = false;
    task.owner.clone_from(owner);
    task.row = Row::default();
    task.attempts = *attempt;
    task.priority = *priority;
    let worktree =
        Worktree { branch: branch.clone(), target: target.clone(), base: base.clone(), path: path.clone() };
    let work = Work { agent: agent_id.clone(), worktree, phase: WorkPhase::Preparing };
    Ok((Stage::InProgress(Box::new(work)), ErrorChange::Clear))
}

fn from_work(task: &mut Task, mut work: Box<Work>, event: &Event) -> Step {
    use WorkPhase as Phase;
    let (phase, error) = match (&work.phase, event) {
        (Phase::Preparing, Event::WorktreeCreated { .. }) if task.run.is_some() => {
            (Phase::driven(None), ErrorChange::Keep)
        }
        (Phase::Preparing, Event::WorktreeCreated { .. }) if work.agent.is_none() => {
            (Phase::ByHand, ErrorChange::Keep)
        }
        (Phase::Driven { session: None, .. }, Event::AgentAssigned { agent_id, session, .. })
            if *session == task.sessions + 1 =>
        {
            task.sessions = *session;
            work.agent = Some(agent_id.clone());
            (Phase::driven(Some(*session)), ErrorChange::Clear)
        }
        (Phase::Driven { session: Some(_), .. }, Event::AgentPaused { .. }) => {
            task.retries = 0;
            (Phase::driven(None), ErrorChange::Keep)
        }
        (
            Phase::Driven { session: Some(_), feedback, .. },
            Event::AgentParked { class, attempt, until, error, .. },
        ) => {
            task.retries = *attempt;
            let park = Some(Park { class: *class, attempt: *attempt, until: *until });
            (
                Phase::Driven { session: None, feedback: feedback.clone(), park },
                ErrorChange::Set(error.clone()),
            )
        }
        (
            Phase::Running { session },
            Event::AgentParked { session: parked, class, attempt, until, error, .. },
        ) if session == parked => {
            task.retries = *attempt;
            let park = Park { class: *class, attempt: *attempt, until: *until };
            (Phase::Parked { session: *session, park }, ErrorChange::Set(error.clone()))
        }
        (Phase::Parked { .. } | Phase::Halted, Event::AgentWoken { session, .. })
            if *session == task.sessions + 1 =>
        {
            if work.phase == Phase::Halted {
                task.retries = 0;
                task.row.sessions = 0;
            }
            task.sessions = *session;
            (Phase::Starting { session: *session, rejection: None, woken: true }, ErrorChange::Keep)
        }
        (Phase::Running { .. }, Event::AgentContinued { session, .. }) if *session == task.sessions + 1 => {
            task.sessions = *session;
            task.retries = 0;
            task.row = Row { sessions: task.row.sessions + 1, ticked: false };
            (Phase::Starting { session: *session, rejection: None, woken: true }, ErrorChange::Clear)
        }
        (Phase::Starting { session, woken: true, .. }, Event::AgentResumed { session: started, .. })
            if session == started =>
        {
            (Phase::Running { session: *session }, ErrorChange::Clear)
        }
        (Phase::Starting { rejection: None, .. }, Event::AgentSessionFailed { error, .. }) => {
            (Phase::Halted, ErrorChange::Set(error.clone()))
        }
        (Phase::Driven { .. }, Event::AgentSessionFailed { error, .. }) => {
            task.run = None;
            (Phase::Halted, ErrorChange::Set(error.clone()))
        }
        (Phase::Driven { .. }, Event::TaskReleased { run_id, error, .. }) if task.run == Some(*run_id) => {
            task.run = None;
            (Phase::Halted, error.clone().map_or(ErrorChange::Keep, ErrorChange::Set))
        }
        (Phase::Halted, Event::TaskTakenUp { run_id, .. }) if task.run.is_none() => {
            task.run = Some(*run_id);
            (Phase::Driven { session: None, feedback: None, park: None }, ErrorChange::Clear)
        }
        // Whatever is under way continues without the run; only a worktree that is being made is still for it.
        (
            Phase::Halted | Phase::Stopping { .. } | Phase::Removing { .. },
            Event::TaskReleased { run_id, .. },
        ) if task.run == Some(*run_id) => {
            task.run = None;
            (work.phase.clone(), ErrorChange::Keep)
        }
        (Phase::Preparing, Event::WorktreeCreated { .. }) => {
            task.sessions += 1;
            (Phase::Starting { session: task.sessions, rejection: None, woken: false }, ErrorChange::Keep)
        }
        (Phase::Preparing, Event::WorktreeCreateFailed { error, .. }) => {
            return Ok((Stage::Backlog, ErrorChange::Set(error.clone())));
        }
        (
            Phase::Starting { session, rejection: None, woken: false },
            Event::AgentAssigned { session: started, .. },
        )
        | (
            Phase::Starting { session, rejection: Some(_), .. },
            Event::AgentResumed { session: started, .. },
        ) if session == started => (Phase::Running { session: *session }, ErrorChange::Keep),
        (Phase::Starting { rejection: None, woken: false, .. }, Event::AgentStartFailed { error, .. }) => {
            (Phase::Unwinding, ErrorChange::Set(error.clone()))
        }
        (
            Phase::Starting { rejection: Some(rejection), .. },
            Event::AgentResumeFailed { error, rejection_count, .. },
        ) => {
            if let Some(count) = rejection_count {
                task.rejection_count = *count;
                task.review_note = None;
            }
            let review = Box::new(rejection.review.clone());
            return Ok((Stage::WaitingApproval(review), ErrorChange::Set(error.clone())));
        }
        (
            Phase::Running { .. },
            Event::AgentSessionFailed { error, .. } | Event::TaskCompleteFailed { error, .. },
        ) => (Phase::Halted, ErrorChange::Set(error.clone())),
        (
            Phase::Running { .. }
            | Phase::Driven { session: None, .. }
            | Phase::Parked { .. }
            | Phase::Halted
            | Phase::ByHand,
            Event::TaskCompleted { .. },
        ) => {
            return completed(task, work, event);
        }
        (
            Phase::Parked { .. } | Phase::Halted | Phase::ByHand,
            Event::TaskReassigned { agent_id, owner, session, .. },
        ) if reassigns_soundly(task, agent_id.as_ref(), *session) => {
            work.agent.clone_from(agent_id);
            if owner.is_some() {
                task.owner.clone_from(owner);
            }
            task.retries = 0;
            match session {
                Some(session) => {
                    task.sessions = *session;
                    (Phase::Starting { session: *session, rejection: None, woken: true }, ErrorChange::Keep)
                }
                None => (Phase::ByHand, ErrorChange::Clear),
            }
        }
        (Phase::Starting { .. } | Phase::Running { .. }, Event::AgentStopping { handover: Some(to), .. }) => {
            (Phase::Handing { to: Box::new(to.clone()) }, ErrorChange::Clear)
        }
        (Phase::Handing { .. }, Event::AgentStopped { .. }) => (Phase::Halted, ErrorChange::Keep),
        (Phase::Handing { .. }, Event::AgentStopFailed { error, .. }) => {
            (Phase::Halted, ErrorChange::Set(error.clone()))
        }
        (
            Phase::Preparing
            | Phase::Starting { .. }
            | Phase::Running { .. }
            | Phase::Driven { .. }
            | Phase::Parked { .. }
            | Phase::Halted
            | Phase::ByHand,
            Event::AgentStopping { reason, handover: None, .. },
        ) => {
            let session = match work.phase {
                Phase::Running { session } => Some(session),
                Phase::Driven { session, .. } => session,
                _ => None,
            };
            (Phase::Stopping { reason: reason.clone(), session }, ErrorChange::Clear)
        }
        (Phase::Stopping { reason, .. }, Event::AgentStopped { .. }) => {
            (Phase::Removing { reason: reason.clone() }, ErrorChange::Keep)
        }
        // Not back to running: the session may have ended meanwhile, and then nothing would ever end the phase.
        (Phase::Stopping { .. }, Event::AgentStopFailed { error, .. })
        | (Phase::Removing { .. } | Phase::Unwinding, Event::WorktreeRemoveFailed { error, .. }) => {
            (halted(work.agent.as_ref()), ErrorChange::Set(error.clone()))
        }
        (Phase::Unwinding, Event::WorktreeRemoved { .. }) => {
            return Ok((Stage::Backlog, ErrorChange::Keep));
        }
        (Phase::Removing { .. }, Event::WorktreeRemoved { .. }) => (work.phase.clone(), ErrorChange::Keep),
        (Phase::Removing { .. }, Event::TaskCancelled { .. }) => {
            return Ok((Stage::Backlog, ErrorChange::Clear));
        }
        _ => return Err(Stage::InProgress(work)),
    };
    work.phase = phase;
    Ok((Stage::InProgress(work), error))
}

fn completed(task: &mut Task, work: Box<Work>, event: &Event) -> Step {
    let Event::TaskCompleted { diff, base, head, turn_count, summary, approval, .. } = event else {
        return Err(Stage::InProgress(work));
    };
    let Event::TaskCompleted { files_changed, lines_added, lines_removed, checks, obeyed_files, .. } = event
    else {
        return Err(Stage::InProgress(work));
    };
    task.completions += 1;
    task.retries = 0;
    task.row = Row::default();
    task.review_note = None;
    let diff = Diff {
        files_changed: *files_changed,
        lines_added: *lines_added,
        lines_removed: *lines_removed,
        digest: diff.clone(),
        base: base.clone(),
        head: head.clone(),
        obeyed_files: obeyed_files.clone(),
    };
    let Work { agent, worktree, .. } = *work;
    let review = Review {
        agent,
        worktree,
        diff,
        turn_count: *turn_count,
        summary: summary.clone(),
        approval: *approval,
        checks: checks.clone(),
        paused: false,
        phase: ReviewPhase::Recording,
    };
    Ok((Stage::WaitingApproval(Box::new(review)), ErrorChange::Clear))
}

fn from_review(task: &mut Task, mut review: Box<Review>, event: &Event) -> Step {
    use ReviewPhase as Phase;
    let (phase, error) = match (&review.phase, event) {
        (_, Event::TaskReleased { run_id, .. }) if task.run == Some(*run_id) => {
            task.run = None;
            (review.phase.clone(), ErrorChange::Keep)
        }
        (Phase::Recording, Event::ApprovalRequested { .. }) if review.agent.is_none() => {
            review.paused = true;
            (after_recording(&review), ErrorChange::Keep)
        }
        (Phase::Recording, Event::ApprovalRequested { .. }) => (Phase::Pausing, ErrorChange::Keep),
        (Phase::Recording, Event::ApprovalRequestFailed { error, .. })
        | (Phase::Pausing, Event::AgentPauseFailed { error, .. }) => return taken_back(*review, error),
        (Phase::Pausing, Event::AgentPaused { .. }) => {
            review.paused = true;
            (after_recording(&review), ErrorChange::Keep)
        }
        (Phase::Checking, Event::ChecksRan { commit, results, .. }) => {
            task.proof = Some(Proof { commit: commit.clone(), results: results.clone() });
            (Phase::Ready, ErrorChange::Keep)
        }
        (Phase::Checking, Event::ChecksRunFailed { error, .. }) => {
            (Phase::Ready, ErrorChange::Set(error.clone()))
        }
        (Phase::Ready, Event::ApprovalApproved { approver, .. }) => {
            (Phase::Merging { approver: approver.clone() }, ErrorChange::Clear)
        }
        (Phase::Ready, Event::ApprovalApproveFailed { error, .. })
        | (Phase::Merging { .. }, Event::WorktreeMergeFailed { error, .. }) => {
            (Phase::Ready, ErrorChange::Set(error.clone()))
        }
        (Phase::Merging { approver }, Event::WorktreeMerged { commit, .. }) => {
            let approver = approver.clone();
            let landed = landed(*review, commit.clone(), approver);
            return Ok((Stage::Verified(Box::new(landed)), ErrorChange::Clear));
        }
        (Phase::Ready, Event::TaskSubmitted { .. }) => return Ok(submitted(task, review, event)),
        (Phase::Resubmitting { .. }, Event::ApprovalRequested { .. }) => {
            (after_recording(&review), ErrorChange::Keep)
        }
        (Phase::Resubmitting { before }, Event::ApprovalRequestFailed { error, .. }) => {
            return Ok((Stage::WaitingApproval(before.clone()), ErrorChange::Set(error.clone())));
        }
        (Phase::Ready, Event::TaskReassigned { agent_id, owner, session: None, .. }) => {
            review.agent.clone_from(agent_id);
            if owner.is_some() {
                task.owner.clone_from(owner);
            }
            (Phase::Ready, ErrorChange::Keep)
        }
        (Phase::Ready, Event::TaskRejected { rejection_count, reason, feedback, agent_id, comments, .. }) => {
            task.rejection_count = *rejection_count;
            task.row = Row::default();
            let (reason, feedback, comments) = (reason.clone(), feedback.clone(), comments.clone());
            let review_note =
                task.review_note.insert(ReviewNote { reason, feedback, comments, ..ReviewNote::default() });
            if task.run.is_some() {
                return handed_back(*review, review_note.as_text());
            }
            let reason = review_note.reason.clone();
            let agent = agent_id.clone().or_else(|| review.agent.clone());
            if agent.is_none() {
                let work = Work { agent: None, worktree: review.worktree, phase: WorkPhase::ByHand };
                return Ok((Stage::InProgress(Box::new(work)), ErrorChange::Clear));
            }
            task.sessions += 1;
            return rejected(task.sessions, agent, reason, *review);
        }
        (
            Phase::Recording | Phase::Pausing | Phase::Checking | Phase::Ready,
            Event::AgentStopping { reason, handover: None, .. },
        ) => (Phase::Stopping { reason: reason.clone() }, ErrorChange::Clear),
        (Phase::Stopping { reason }, Event::AgentStopped { .. }) => {
            (Phase::Removing { reason: reason.clone() }, ErrorChange::Keep)
        }
        (Phase::Stopping { .. }, Event::AgentStopFailed { error, .. })
        | (Phase::Removing { .. }, Event::WorktreeRemoveFailed { error, .. }) => {
            if !review.paused {
                return taken_back(*review, error);
            }
            (Phase::Ready, ErrorChange::Set(error.clone()))
        }
        (Phase::Removing { .. }, Event::WorktreeRemoved { .. }) => (review.phase.clone(), ErrorChange::Keep),
        (Phase::Removing { .. }, Event::TaskCancelled { .. }) => {
            return Ok((Stage::Backlog, ErrorChange::Clear));
        }
        _ => return Err(Stage::WaitingApproval(review)),
    };
    review.phase = phase;
    Ok((Stage::WaitingApproval(review), error))
}

/// Where work stands that only a person can continue.
fn halted(agent: Option<&AgentId>) -> WorkPhase {
    if agent.is_some() { WorkPhase::Halted } else { WorkPhase::ByHand }
}

fn after_recording(review: &Review) -> ReviewPhase {
    if review.checks.is_empty() { ReviewPhase::Ready } else { ReviewPhase::Checking }
}

fn taken_back(review: Review, error: &Failure) -> Step {
    let phase = halted(review.agent.as_ref());
    let work = Work { agent: review.agent, worktree: review.worktree, phase };
    Ok((Stage::InProgress(Box::new(work)), ErrorChange::Set(error.clone())))
}

/// A run continues the work itself.
fn handed_back(review: Review, feedback: String) -> Step {
    let phase = WorkPhase::Driven { session: None, feedback: Some(feedback), park: None };
    let work = Work { agent: review.agent, worktree: review.worktree, phase };
    Ok((Stage::InProgress(Box::new(work)), ErrorChange::Clear))
}

/// A new diff takes the place of the one that was ready.
fn submitted(task: &mut Task, mut review: Box<Review>, event: &Event) -> (Stage, ErrorChange) {
    let before = review.clone();
    if let Event::TaskSubmitted {
        diff,
        base,
        head,
        files_changed,
        lines_added,
        lines_removed,
        approval,
        checks,
        obeyed_files,
        ..
    } = event
    {
        task.completions += 1;
        review.diff = Diff {
            files_changed: *files_changed,
            lines_added: *lines_added,
            lines_removed: *lines_removed,
            digest: diff.clone(),
            base: base.clone(),
            head: head.clone(),
            obeyed_files: obeyed_files.clone(),
        };
        review.approval = *approval;
        review.checks.clone_from(checks);
        review.phase = ReviewPhase::Resubmitting { before };
    }
    (Stage::WaitingApproval(review), ErrorChange::Clear)
}

/// An agent gets the next session, and a person none.
fn reassigns_soundly(task: &Task, agent: Option<&AgentId>, session: Option<u32>) -> bool {
    match session {
        Some(session) => agent.is_some() && session == task.sessions + 1,
        None => agent.is_none(),
    }
}

fn rejected(session: u32, agent: Option<AgentId>, reason: String, review: Review) -> Step {
    let worktree = review.worktree.clone();
    let rejection = Some(Box::new(Rejection { reason, review }));
    let phase = WorkPhase::Starting { session, rejection, woken: false };
    Ok((Stage::InProgress(Box::new(Work { agent, worktree, phase })), ErrorChange::Clear))
}

fn landed(review: Review, commit: crate::CommitId, approver: String) -> Landed {
    Landed {
        agent: review.agent,
        worktree: review.worktree,
        diff: review.diff,
        turn_count: review.turn_count,
        summary: review.summary,
        commit,
        approver,
        cleanup: Cleanup::Pending,
    }
}

fn from_landed(mut landed: Box<Landed>, event: &Event) -> Step {
    let error = match (landed.cleanup, event) {
        (Cleanup::Pending, Event::TaskApproved { .. }) => ErrorChange::Keep,
        (Cleanup::Pending | Cleanup::Failed, Event::WorktreeRemoved { .. }) => {
            landed.cleanup = Cleanup::Done;
            ErrorChange::Clear
        }
        (Cleanup::Pending, Event::WorktreeRemoveFailed { error, .. }) => {
            landed.cleanup = Cleanup::Failed;
            ErrorChange::Set(error.clone())
        }
        _ => return Err(Stage::Verified(landed)),
    };
    Ok((Stage::Verified(landed), error))
}
