//! Any sequence of commands and reports, good and bad.
//!
//! Two kinds of world: in the wild one any outcome may be reported at any time, true or not, and the log must still
//! add up; in the honest one outcomes answer effects, and then nothing may get stuck or leak.

use crate::machine::{Column, TRANSITIONS};
use crate::testing::{World, agent, breakdown, commit, complete, evidence, failure, id, task_of, user};
use crate::{
    Actor, Approval, Approve, Assign, Cancel, Code, Command, Create, Depend, Effect, Event, Fact,
    FailureClass, Feedback, Outcome, Priority, Reassign, Reject, Salvage, Seen, SessionEnd, Stage, Start,
    Take, Task, TaskId, WorkPhase, replay_assignments, replay_plan, replay_task,
};
use proptest::collection::{btree_set, vec};
use proptest::prelude::*;

/// Enough for two agents, a queue and a chain of dependencies.
const TASKS_MAX: u32 = 4;
/// A whole life of a task takes about ten moves.
const STEPS_MAX: usize = 60;
/// What a second or two of testing can afford.
const CASES: u32 = 400;

/// One thing that happens to the world.
#[derive(Debug, Clone)]
enum Move {
    Give(TaskId, Actor, Box<Command>),
    Approve(TaskId, Actor),
    Answer(prop::sample::Index, bool),
    Break(prop::sample::Index, FailureClass),
    Settle(TaskId),
}

proptest! {
    #![proptest_config(ProptestConfig { cases: CASES, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn in_a_wild_world_the_log_adds_up(
        limit in 0u32..4,
        instances in 0u32..3,
        auto: bool,
        checks in any_checks(),
        begun in any_beginning(),
        moves in vec(any_move(), 0..STEPS_MAX),
    ) {
        let mut world = world(limit, instances, auto, &checks, &begun);
        for step in moves {
            let before = Before::of(&world);
            let refused = play(&mut world, step);
            before.check_nothing_lost(&world, refused)?;
            check_folds(&world)?;
        }
        check_replay(&world)?;
    }

    #[test]
    fn in_an_honest_world_nothing_gets_stuck(
        limit in 1u32..4,
        instances in 1u32..3,
        auto: bool,
        checks in any_checks(),
        begun in any_beginning(),
        moves in vec(honest_move(), 0..STEPS_MAX),
    ) {
        let mut world = world(limit, instances, auto, &checks, &begun);
        for step in moves {
            let before = Before::of(&world);
            let refused = play(&mut world, step);
            before.check_nothing_lost(&world, refused)?;
            check_honest(&world)?;
        }
        check_replay(&world)?;
        for number in 1..=TASKS_MAX {
            world.settle(id(number));
        }
        check_honest(&world)?;
    }
}

/// The stage of each task when the moves begin; no agent works, so that every place is free.
const BEGINNINGS: [&str; 3] =
    ["", "assign N alpha; settle N; ready N", "assign N alpha; settle N; ready N; approve N; settle N"];

fn world(limit: u32, instances: u32, auto: bool, checks: &[&str], begun: &[usize]) -> World {
    let mut script = "add low; ".repeat(begun.len());
    for (number, beginning) in (1..).zip(begun) {
        script.push_str(&BEGINNINGS[*beginning].replace('N', &format!("{number}")));
        script.push(';');
    }
    let mut world = World::given(&script);
    world.settings.max_concurrent_agents = limit;
    for agent in world.settings.agents.values_mut() {
        agent.instances = instances;
    }
    if auto {
        world.settings.approval = Approval::Auto;
    }
    world.settings.checks = checks.iter().map(|name| (*name).to_owned()).collect();
    world.settings.members = vec!["local".to_owned()];
    world
}

fn any_checks() -> impl Strategy<Value = Vec<&'static str>> {
    prop::sample::select(vec![vec![], vec!["test"], vec!["test", "broken"]])
}

/// Carries out a move, and tells whether it was refused.
fn play(world: &mut World, step: Move) -> bool {
    match step {
        Move::Give(task, actor, command) => world.give(task, &actor, &command).is_err(),
        Move::Approve(task, actor) => {
            let approve = Approve::new(None, None, world.seen(task)).unwrap();
            world.give(task, &actor, &Command::Approve(approve)).is_err()
        }
        Move::Answer(index, well) => {
            if let Some(index) = turn(world, &index) {
                world.answer(index, well);
            }
            false
        }
        Move::Break(index, class) => {
            let sessions: Vec<usize> =
                (0..world.open.len()).filter(|open| world.open[*open].started).collect();
            if !sessions.is_empty() {
                let open = world.open.remove(sessions[index.index(sessions.len())]);
                let (task, session) = (task_of(&open.effect), world.tasks[&task_of(&open.effect)].sessions);
                let end = SessionEnd::Broken(breakdown(class));
                world.report(task, Outcome::SessionEnded { session, end });
            }
            false
        }
        Move::Settle(task) => {
            world.settle(task);
            false
        }
    }
}

/// Picks an open effect whose turn it is: those of one task are performed in order, but for sessions.
fn turn(world: &World, index: &prop::sample::Index) -> Option<usize> {
    if world.open.is_empty() {
        return None;
    }
    let is_session = |effect: &Effect| matches!(effect, Effect::RunSession { .. } | Effect::Wait { .. });
    let picked = index.index(world.open.len());
    let effect = &world.open[picked].effect;
    if is_session(effect) {
        return Some(picked);
    }
    world.open.iter().position(|open| task_of(&open.effect) == task_of(effect) && !is_session(&open.effect))
}

/// What is remembered of the world before a move.
struct Before {
    facts: usize,
    tasks: Vec<Task>,
    verified: Vec<TaskId>,
    working: u32,
}

impl Before {
    fn of(world: &World) -> Self {
        let is_verified = |task: &&Task| task.column() == Column::Verified;
        Before {
            facts: world.facts.len(),
            tasks: world.tasks.values().cloned().collect(),
            verified: world.tasks.values().filter(is_verified).map(|task| task.id).collect(),
            working: world.assignments.count_working(),
        }
    }

    fn check_nothing_lost(&self, world: &World, refused: bool) -> Result<(), TestCaseError> {
        let new = &world.facts[self.facts..];
        prop_assert!(!refused || new.is_empty(), "a refusal appends nothing");
        if new.is_empty() {
            prop_assert!(world.tasks.values().eq(&self.tasks), "no fact, no change");
        }
        for task in &self.verified {
            prop_assert_eq!(world.tasks[task].column(), Column::Verified, "verified is final");
        }
        self.check_limit(world, new)
    }

    /// `ASSIGN` never takes a place that is not there; only `REJECT` and a session that is tried again may bring the
    /// count over the limit, because the session they ask for waits for its place in the engine.
    fn check_limit(&self, world: &World, new: &[Fact]) -> Result<(), TestCaseError> {
        let limit = world.settings.max_concurrent_agents;
        let is_assign = |fact: &Fact| matches!(fact.event, Event::TaskAssigned { .. });
        let is_reject = |fact: &Fact| {
            matches!(
                fact.event,
                Event::TaskRejected { .. } | Event::AgentWoken { .. } | Event::TaskReassigned { .. }
            )
        };
        let working = world.assignments.count_working();
        if let Some(Fact { event: Event::TaskAssigned { agent_id: Some(agent_id), .. }, .. }) =
            new.iter().find(|f| is_assign(f))
        {
            prop_assert!(working <= limit, "{working} work, {limit} may");
            let instances = world.settings.agents[agent_id].instances;
            prop_assert!(world.assignments.count_working_as(agent_id) <= instances);
        }
        if working > self.working {
            prop_assert!(new.iter().any(|fact| is_assign(fact) || is_reject(fact)), "{new:?}");
        }
        let is_resumed = |task: &&TaskId| facts_of(world, **task).any(is_reject);
        let resumed = world.tasks.keys().filter(is_resumed).count();
        prop_assert!(working <= limit + u32::try_from(resumed).unwrap());
        Ok(())
    }
}

fn facts_of(world: &World, task: TaskId) -> impl Iterator<Item = &Fact> {
    world.facts.iter().filter(move |fact| fact.event.task() == task)
}

fn check_replay(world: &World) -> Result<(), TestCaseError> {
    for (id, live) in &world.tasks {
        let replayed = replay_task(facts_of(world, *id));
        prop_assert_eq!(replayed, Ok(Some(live.clone())));
        let text = serde_json::to_string(live).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Task>(&text).unwrap(), live, "a snapshot loses nothing");
    }
    for fact in &world.facts {
        let text = serde_json::to_string(&fact.event).unwrap();
        prop_assert_eq!(&serde_json::from_str::<Event>(&text).unwrap(), &fact.event);
    }
    check_folds(world)
}

fn check_folds(world: &World) -> Result<(), TestCaseError> {
    prop_assert_eq!(&replay_assignments(&world.facts), &world.assignments);
    prop_assert_eq!(&replay_plan(&world.facts), &world.plan);
    let of_assignments = world.facts.iter().filter(|fact| fact.event.concerns_assignments());
    prop_assert_eq!(
        &replay_assignments(of_assignments),
        &world.assignments,
        "`concerns_crew` names every fact that matters"
    );
    let of_plan = world.facts.iter().filter(|fact| fact.event.concerns_plan());
    prop_assert_eq!(&replay_plan(of_plan), &world.plan);
    for queued in &world.assignments.queue {
        prop_assert_eq!(world.tasks[&queued.task].column(), Column::Backlog, "only the backlog queues");
    }
    Ok(())
}

fn check_honest(world: &World) -> Result<(), TestCaseError> {
    for task in world.tasks.values() {
        check_has_next(world, task)?;
        let is_session = |effect: &Effect| matches!(effect, Effect::RunSession { .. });
        let sessions =
            world.open.iter().filter(|open| task_of(&open.effect) == task.id && is_session(&open.effect));
        prop_assert!(sessions.count() <= 1, "one session per task: {:?}", world.open);
        let assignment = world.assignments.held.get(&task.id);
        let holds_place = assignment.is_some_and(|assignment| assignment.state.is_working());
        prop_assert!(!(task.is_at_rest() && holds_place), "a task at rest holds no place: {task:?}");
        prop_assert!(
            holds_place || task.agent().is_none() || !needs_place(task),
            "a task at work has its place: {task:?}"
        );
    }
    Ok(())
}

/// Every state that is not final has a next action: an effect that is open, or a command that is legal.
fn check_has_next(world: &World, task: &Task) -> Result<(), TestCaseError> {
    if task.is_at_rest() {
        let is_legal = TRANSITIONS.iter().any(|row| row.from == task.column());
        prop_assert!(is_legal || task.column().is_final());
        let cancel = Command::Cancel(Cancel::new(None).unwrap());
        let mut probe = World::new();
        probe.tasks.insert(task.id, task.clone());
        let may_cancel = probe.give(task.id, &user(), &cancel).is_ok();
        let is_held = matches!(task.stage, Stage::InProgress(_) | Stage::WaitingApproval(_));
        prop_assert_eq!(may_cancel, is_held, "a task at rest can be given up: {:?}", task);
        return Ok(());
    }
    let mut open = world.open.iter().filter(|open| task_of(&open.effect) == task.id);
    let waits = match &task.stage {
        Stage::InProgress(work) => match work.phase {
            WorkPhase::Running { session } => open.any(|open| {
                open.started && matches!(open.effect, Effect::RunSession { session: n, .. } if n == session)
            }),
            _ => open.any(|open| !open.started),
        },
        _ => open.any(|open| !open.started),
    };
    prop_assert!(waits, "somebody answers for {task:?}");
    Ok(())
}

fn needs_place(task: &Task) -> bool {
    matches!(&task.stage, Stage::InProgress(work)
        if matches!(work.phase, WorkPhase::Preparing | WorkPhase::Starting { .. } | WorkPhase::Running { .. }))
}

fn honest_move() -> impl Strategy<Value = Move> {
    let answer = (any::<prop::sample::Index>(), prop::bool::weighted(0.7));
    prop_oneof![
        4 => (any_task(), any_actor(), any_command()).prop_map(|(task, actor, command)| give(task, actor, command)),
        1 => (any_task(), any_actor()).prop_map(|(task, actor)| Move::Approve(task, actor)),
        4 => answer.prop_map(|(index, well)| Move::Answer(index, well)),
        2 => (any::<prop::sample::Index>(), any_class()).prop_map(|(index, class)| Move::Break(index, class)),
        1 => any_task().prop_map(Move::Settle),
    ]
}

fn any_move() -> impl Strategy<Value = Move> {
    let report = (any_task(), any_outcome())
        .prop_map(|(task, outcome)| give(task, Actor::Engine, Command::Report(outcome)));
    prop_oneof![2 => honest_move(), 1 => report]
}

fn give(task: TaskId, actor: Actor, command: Command) -> Move {
    Move::Give(task, actor, Box::new(command))
}

/// The last task is left for `Create` to make.
fn any_beginning() -> impl Strategy<Value = Vec<usize>> {
    vec(0..BEGINNINGS.len(), TASKS_MAX as usize - 1)
}

fn any_task() -> impl Strategy<Value = TaskId> {
    (1..=TASKS_MAX).prop_map(id)
}

fn any_actor() -> impl Strategy<Value = Actor> {
    prop_oneof![
        5 => Just(user()),
        1 => Just(Actor::User("stranger".to_owned())),
        1 => Just(Actor::Agent(agent("alpha"))),
        1 => Just(Actor::Policy("auto".to_owned())),
        1 => Just(Actor::Engine),
    ]
}

fn any_command() -> impl Strategy<Value = Command> {
    let tasks = || btree_set(any_task(), 0..3);
    let start = Start { target: "main".to_owned(), base: commit(0), from: None, folder: "trees".to_owned() };
    let (taken, reassigned) = (start.clone(), start.clone());
    let to = prop::option::of(prop::sample::select(vec!["alpha", "beta", "nobody"]));
    let sent = prop::sample::select(vec!["alpha", "beta", "nobody"]);
    let names = prop::sample::select(vec!["alpha", "beta", "any", "nobody"]);
    let create = tasks().prop_map(|dependencies| {
        Command::Create(
            Create::new("A task".into(), String::new(), vec![], dependencies, Priority::Low).unwrap(),
        )
    });
    let seen = (prop::option::of(0u32..4), any::<bool>()).prop_map(|(head, is_dirty)| Seen {
        head: head.map(commit),
        dirty: if is_dirty { vec!["a.txt".to_owned()] } else { Vec::new() },
        is_base_gone: false,
    });
    prop_oneof![
        1 => create,
        1 => (tasks(), tasks()).prop_map(|(add, remove)| Command::Depend(Depend { add, remove })),
        5 => names.prop_map(move |name| {
            let (to, start) = (agent(name).into(), start.clone());
            Command::Assign(Assign { to, priority: None, start, run: None, is_recorded: false, may_queue: true })
        }),
        1 => Just(Command::Delete),
        1 => any::<bool>().prop_map(|hidden| Command::Hide { hidden }),
        2 => any_completion().prop_map(Command::Submit),
        2 => (to, any::<bool>()).prop_map(move |(to, stop)| {
            let to = to.map(agent);
            Command::Reassign(Reassign::new(to, stop, None, reassigned.clone()).unwrap())
        }),
        1 => sent.prop_map(|name| {
            Command::Reject(Reject::new("not yet".to_owned(), None).unwrap().handed_to(Some(agent(name))))
        }),
        2 => Just(Command::Take(Take { priority: None, start: taken })),
        1 => Just(Command::Dequeue),
        1 => Just(Command::Resume(Feedback::new(None).unwrap())),
        2 => any_completion().prop_map(Command::Complete),
        2 => seen.prop_map(|seen| Command::Approve(Approve::new(None, None, seen).unwrap())),
        2 => Just(Command::Reject(Reject::new("not yet".to_owned(), None).unwrap())),
        2 => Just(Command::Cancel(Cancel::new(Some("enough".to_owned())).unwrap())),
    ]
}

fn any_class() -> impl Strategy<Value = FailureClass> {
    prop::sample::select(FailureClass::ALL.to_vec())
}

fn any_completion() -> impl Strategy<Value = crate::Complete> {
    (0u64..3, 0u32..4).prop_map(|(files, head)| complete(files, commit(head)))
}

fn any_outcome() -> impl Strategy<Value = Outcome> {
    let session = || 0u32..4;
    let fails = |make: fn(crate::Failure) -> Outcome| Just(make(failure(Code::Internal)));
    let end = prop_oneof![
        any_completion().prop_map(SessionEnd::Finished),
        Just(SessionEnd::Failed(failure(Code::AgentSessionFailed))),
        any_class().prop_map(|class| SessionEnd::Broken(breakdown(class))),
        Just(SessionEnd::Stopped),
    ];
    let salvage = Salvage { name: "refs/regatta/salvage/1/1".to_owned(), commit: commit(9) };
    prop_oneof![
        Just(Outcome::WorktreeCreated),
        fails(Outcome::WorktreeNotCreated),
        session().prop_map(|session| Outcome::SessionStarted { session }),
        session()
            .prop_map(|session| Outcome::SessionNotStarted { session, failure: failure(Code::Internal) }),
        (session(), end).prop_map(|(session, end)| Outcome::SessionEnded { session, end }),
        session().prop_map(|session| Outcome::WaitOver { session }),
        Just(Outcome::DiffRecorded),
        fails(Outcome::DiffNotRecorded),
        Just(Outcome::AgentPaused),
        fails(Outcome::AgentNotPaused),
        any::<bool>().prop_map(|passed| Outcome::ChecksRan {
            commit: commit(1),
            results: vec![evidence("test", passed)]
        }),
        fails(Outcome::ChecksNotRun),
        fails(Outcome::PolicyRefused),
        Just(Outcome::Merged { commit: commit(9), checkouts: Vec::new() }),
        fails(|failure| Outcome::NotMerged { files: Vec::new(), failure }),
        Just(Outcome::AgentStopped),
        fails(Outcome::AgentNotStopped),
        prop::option::of(Just(salvage)).prop_map(|salvage| Outcome::WorktreeRemoved { salvage }),
        fails(Outcome::WorktreeNotRemoved),
        Just(Outcome::FileWritten { digest: "00".to_owned() }),
        fails(Outcome::FileNotWritten),
    ]
}
