//! Text in, text out: a few lines of commands, and the result of each.
//!
//! ```text
//! add [PRIORITY] [on ID,ID] [criteria N]   tick ID NUMBER   sessions N
//! add … done | open              a task that was imported, done there or not
//! assign ID AGENT [PRIORITY]     complete ID [empty]
//! assign ID default              assign ID AGENT noqueue        dequeue ID       unassignable ID
//! depend ID [+ID]… [-ID]…        reject ID REASON               cancel ID [REASON]
//! take ID                        reassign ID AGENT|me [stop]    submit ID [empty]
//! reject ID to:AGENT REASON      delete ID                      hide ID | unhide ID
//! approve ID [by ACTOR] [head HEX] [dirty FILE,FILE] [moved|gone|baseless] [anyway]
//! ok ID | fail ID                the oldest open effect of the task goes well, or badly
//! finish ID | break ID | idle ID | halt ID   its session ends well, badly, with no change, or is stopped
//! settle ID                      everything succeeds until only sessions are running
//! ready ID                       its session ends well, and everything after it goes well
//! report ID OUTCOME [SESSION]    an outcome that nobody may be waiting for
//! queue                          the queue in order, and which task is next
//! obeyed FILE,FILE              what every diff changes from now on that the engine obeys
//! forget AGENT | limit N | instances AGENT N | members NAME,NAME | auto | checks NAME,NAME (one called `broken` fails)
//! ```

use super::{Step, World, agent, breakdown, commit, complete, evidence, failure, id, task_source, user};
use crate::{
    Actor, AgentSettings, Answer, Approval, Approve, Assign, Assignee, Cancel, Code, Command, Create, Depend,
    Edit, FailureClass, Feedback, FileChange, Outcome, Priority, Problem, Reassign, Refusal, Reject, RunEnd,
    RunId, Salvage, SessionEnd, Stage, Start, Take, Task, TaskId,
};
use expect_test::Expect;
use std::collections::BTreeSet;

/// Carries out `given` in silence, where nothing may be refused, then compares what comes of `when`.
pub(crate) fn check(given: &str, when: &str, expect: Expect) {
    expect.assert_eq(&run(given, when));
}

/// Carries out `given` in silence, and returns what comes of `when`.
pub(crate) fn run(given: &str, when: &str) -> String {
    let mut world = World::given(given);
    let mut text = String::new();
    for line in lines(when) {
        text.push_str(&format!("> {line}\n{}", world.line(line)));
    }
    text
}

pub(super) fn lines(script: &str) -> impl Iterator<Item = &str> {
    script.split(['\n', ';']).map(str::trim).filter(|line| !line.is_empty())
}

impl World {
    /// Returns a world in which these lines were carried out, none of them refused.
    pub(crate) fn given(script: &str) -> Self {
        let mut world = World::new();
        for line in lines(script) {
            let said = world.line(line);
            assert!(!said.contains("error["), "`{line}` is not given: {said}");
        }
        world
    }

    pub(crate) fn line(&mut self, line: &str) -> String {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words[..] {
            ["add", ref rest @ ..] => {
                let next = self.plan.next_id();
                self.command(next, &user(), Command::Create(parse_create(rest)))
            }
            ["limit", count] => {
                self.set(|world| world.settings.max_concurrent_agents = count.parse().unwrap())
            }
            ["instances", name, count] => self.set(|world| {
                let settings = AgentSettings { instances: count.parse().unwrap() };
                world.settings.agents.insert(agent(name), settings);
            }),
            ["forget", name] => self.set(|world| {
                world.settings.agents.remove(&agent(name));
            }),
            ["members", names] => {
                self.set(|world| world.settings.members = names.split(',').map(str::to_owned).collect())
            }
            ["sessions", count] => self.set(|world| world.settings.sessions = count.parse().unwrap()),
            ["retries", count] => self.set(|world| world.settings.retries.count = count.parse().unwrap()),
            ["checks", names] => {
                self.set(|world| world.settings.checks = names.split(',').map(str::to_owned).collect())
            }
            ["obeyed", names] => {
                self.set(|world| world.obeyed = names.split(',').map(str::to_owned).collect())
            }
            ["default", name] => self.set(|world| world.settings.default_agent = Some(agent(name))),
            ["only", name] => self.set(|world| world.settings.agents.retain(|id, _| id.as_str() == name)),
            ["auto"] => self.set(|world| world.settings.approval = Approval::Auto),
            ["queue"] => self.render_queue(),
            [verb, number, ref rest @ ..] => self.verb(verb, id(number.parse().unwrap()), rest),
            _ => panic!("`{line}` is not a line of a script"),
        }
    }

    fn set(&mut self, change: impl FnOnce(&mut World)) -> String {
        change(self);
        String::new()
    }

    fn verb(&mut self, verb: &str, task: TaskId, rest: &[&str]) -> String {
        match verb {
            "tick" => {
                let number: u32 = rest[0].parse().unwrap();
                let text = format!("Criterion {number} holds");
                let changes = vec![FileChange::CriterionChecked { index: number - 1, text }];
                let edit = Edit { base: None, steps: Vec::new(), changes };
                self.command(task, &Actor::Unknown, Command::Edit(edit))
            }
            "depend" => self.command(task, &user(), Command::Depend(parse_depend(rest))),
            "assign" => self.command(task, &user(), parse_assign(rest)),
            "take" => self.command(task, &user(), Command::Take(Take { priority: None, start: start() })),
            "dequeue" => self.command(task, &user(), Command::Dequeue),
            "unassignable" => {
                let command = Command::NoteUnassignable(failure(Code::TaskBlocked));
                self.command(task, &Actor::Policy("queue".to_owned()), command)
            }
            "complete" => {
                let files = u64::from(rest.first() != Some(&"empty"));
                let head = commit(self.tasks.get(&task).map_or(0, |task| task.completions) + 1);
                self.command(task, &user(), Command::Complete(complete(files, head)))
            }
            "approve" => {
                let (actor, approve) = self.parse_approve(task, rest);
                self.command(task, &actor, Command::Approve(approve))
            }
            "submit" => {
                let files = u64::from(rest.first() != Some(&"empty"));
                let head = commit(self.tasks.get(&task).map_or(0, |task| task.completions) + 1);
                self.command(task, &user(), Command::Submit(complete(files, head)))
            }
            "reassign" => {
                let to = rest.first().filter(|name| **name != "me").map(|name| agent(name));
                let stop = rest.contains(&"stop");
                let reassign = Reassign::new(to, stop, Some("see the note".to_owned()), start()).unwrap();
                self.command(task, &user(), Command::Reassign(reassign))
            }
            "delete" => self.command(task, &user(), Command::Delete),
            "hide" => self.command(task, &user(), Command::Hide { hidden: true }),
            "unhide" => self.command(task, &user(), Command::Hide { hidden: false }),
            "reject" => {
                let to = rest.first().and_then(|word| word.strip_prefix("to:"));
                let rest = if to.is_some() { &rest[1..] } else { rest };
                let reject = Reject::new(rest.join(" "), Some("see the note".to_owned())).unwrap();
                self.command(task, &user(), Command::Reject(reject.handed_to(to.map(agent))))
            }
            "cancel" => {
                let reason = (!rest.is_empty()).then(|| rest.join(" "));
                self.command(task, &user(), Command::Cancel(Cancel::new(reason).unwrap()))
            }
            "resume" => {
                let text = (!rest.is_empty()).then(|| rest.join(" "));
                self.command(task, &user(), Command::Resume(Feedback::new(text).unwrap()))
            }
            "crash" => {
                self.open.remove(self.find_session(task).expect("a session is under way"));
                let session = self.tasks[&task].sessions;
                let end = SessionEnd::Broken(breakdown(FailureClass::find(rest[0]).unwrap()));
                let step = self.report(task, Outcome::SessionEnded { session, end });
                self.render(task, &[step])
            }
            "report" => {
                let step = self.report(task, parse_outcome(rest));
                self.render(task, &[step])
            }
            _ => {
                let steps = self.drive(verb, task);
                self.render(task, &steps)
            }
        }
    }

    /// Answers open effects, as git and the agents would.
    fn drive(&mut self, verb: &str, task: TaskId) -> Vec<Step> {
        let session = |world: &World| world.find_session(task).expect("a session is under way");
        let effect = |world: &World| world.find_open(task).expect("an effect is open");
        match verb {
            "ok" => self.answer(effect(self), true),
            "fail" => self.answer(effect(self), false),
            "finish" => self.answer(session(self), true),
            "break" => self.answer(session(self), false),
            "settle" => self.settle(task),
            "ready" => [self.answer(session(self), true), self.settle(task)].concat(),
            "idle" | "halt" => {
                self.open.remove(session(self));
                let number = self.tasks[&task].sessions;
                let nothing = SessionEnd::Finished(complete(0, commit(0)));
                let end = if verb == "idle" { nothing } else { SessionEnd::Stopped };
                vec![self.report(task, Outcome::SessionEnded { session: number, end })]
            }
            _ => panic!("`{verb}` is not a verb of a script"),
        }
    }

    fn command(&mut self, task: TaskId, actor: &Actor, command: Command) -> String {
        let before = self.facts.len();
        match self.give(task, actor, &command) {
            Ok(step) => self.render(task, &[step]),
            Err(refusal) => {
                assert_eq!(self.facts.len(), before, "a refusal appends nothing");
                render_refusal(&refusal)
            }
        }
    }

    fn parse_approve(&self, task: TaskId, words: &[&str]) -> (Actor, Approve) {
        let (mut actor, mut head, mut seen, mut anyway) = (user(), None, self.seen(task), false);
        let mut words = words.iter().copied();
        while let Some(word) = words.next() {
            let mut value = || words.next().expect("a value follows");
            match word {
                "by" => actor = parse_actor(value()),
                "head" => head = Some(value().to_owned()),
                "dirty" => seen.dirty = value().split(',').map(str::to_owned).collect(),
                "moved" => seen.head = Some(commit(0x999)),
                "gone" => seen.head = None,
                "baseless" => seen.is_base_gone = true,
                "anyway" => anyway = true,
                _ => panic!("`{word}` is not a part of an approval"),
            }
        }
        (actor, Approve::new(None, head, seen).unwrap().anyway(anyway))
    }

    fn render(&self, id: TaskId, steps: &[Step]) -> String {
        let kinds: Vec<&str> = steps.iter().flat_map(|step| &step.events).map(|event| event.kind()).collect();
        let effects: Vec<&str> = steps.iter().flat_map(|step| &step.effects).map(|e| e.kind()).collect();
        let mut text = String::new();
        for step in steps {
            if let Answer::Queued { code, working, limit } = step.answer {
                text.push_str(&format!("queued: {code}, {working} of {limit}\n"));
            }
        }
        text.push_str(&format!("[{}]", kinds.join(", ")));
        if !effects.is_empty() {
            text.push_str(&format!(" -> {}", effects.join(", ")));
        }
        let task = self.tasks.get(&id).map_or_else(|| format!("#{id} is gone"), |task| self.describe(task));
        format!("{text}\n{task}\n")
    }

    fn describe(&self, task: &Task) -> String {
        let mut text = format!("#{} {}", task.id, task.column());
        let phase = match &task.stage {
            Stage::InProgress(work) => format!("{:?}", work.phase),
            Stage::WaitingApproval(review) => format!("{:?}", review.phase),
            Stage::Verified(landed) => format!("Cleanup{:?}", landed.cleanup),
            Stage::Backlog => String::new(),
        };
        let word = phase.split([' ', '{']).next().unwrap_or_default();
        if !word.is_empty() {
            text.push_str(&format!("/{}", word.to_lowercase()));
        }
        if let Some(assignment) = self.assignments.held.get(&task.id) {
            text.push_str(&format!(
                ", {} {}",
                assignment.agent,
                format!("{:?}", assignment.state).to_lowercase()
            ));
        }
        if task.hidden {
            text.push_str(", hidden");
        }
        if task.rejection_count > 0 {
            text.push_str(&format!(", rejected {}", task.rejection_count));
        }
        if let Some(error) = &task.error {
            text.push_str(&format!(", error {}", error.code));
        }
        text
    }

    fn render_queue(&self) -> String {
        let mut text = String::new();
        for queued in self.assignments.in_order() {
            let place = self.assignments.find_place(queued.task).unwrap();
            let priority = format!("{:?}", queued.priority).to_lowercase();
            text.push_str(&format!("{place}. #{} {priority} for {}\n", queued.task, queued.agent));
        }
        let next = self.assignments.find_next(&self.settings);
        text.push_str(&next.map_or("next: none\n".to_owned(), |queued| format!("next: #{}\n", queued.task)));
        text
    }
}

/// Renders a refusal as a terminal shows it.
pub(crate) fn render_refusal(refusal: &Refusal) -> String {
    let Problem { code, what, why, next, .. } = refusal.explain();
    assert_eq!(code, refusal.code());
    let why: String = why.iter().map(|line| format!("  why:  {line}\n")).collect();
    format!("error[{code}]: {what}\n{why}  next: {next}\n")
}

fn parse_actor(text: &str) -> Actor {
    match text.split_once(':') {
        Some(("agent", name)) => Actor::Agent(agent(name)),
        Some(("policy", name)) => Actor::Policy(name.to_owned()),
        _ if text == "engine" => Actor::Engine,
        _ => Actor::User(text.to_owned()),
    }
}

fn find_priority(text: &str) -> Option<Priority> {
    match text {
        "high" => Some(Priority::High),
        "medium" => Some(Priority::Medium),
        "low" => Some(Priority::Low),
        _ => None,
    }
}

fn parse_ids(text: &str) -> BTreeSet<TaskId> {
    text.split(',').map(|number| number.parse().unwrap()).collect()
}

fn parse_create(words: &[&str]) -> Create {
    let priority = words.iter().find_map(|word| find_priority(word)).unwrap_or_default();
    let on = words.iter().position(|word| *word == "on");
    let dependencies = on.map_or(BTreeSet::new(), |index| parse_ids(words[index + 1]));
    let count =
        words.iter().position(|word| *word == "criteria").map_or(0, |at| words[at + 1].parse().unwrap());
    let criteria = (1..=count).map(|number: u32| format!("Criterion {number} holds")).collect();
    let create = Create::new("A task".to_owned(), String::new(), criteria, dependencies, priority).unwrap();
    match words {
        [.., word @ ("done" | "open")] => create.imported(task_source(*word == "done")),
        _ => create,
    }
}

fn parse_depend(words: &[&str]) -> Depend {
    let with =
        |sign: char| words.iter().filter_map(|word| word.strip_prefix(sign)).flat_map(parse_ids).collect();
    Depend { add: with('+'), remove: with('-') }
}

fn start() -> Start {
    Start { target: "main".to_owned(), base: commit(0), from: None, folder: "trees".to_owned() }
}

fn parse_assign(words: &[&str]) -> Command {
    let start = start();
    let priority = words.get(1).and_then(|word| find_priority(word));
    let is_recorded = words.last() == Some(&"taped");
    let run = (is_recorded || words.last() == Some(&"run")).then_some(RunId::FIRST);
    let may_queue = run.is_none() && words.last() != Some(&"noqueue");
    let to = if words[0] == "default" { Assignee::Default } else { agent(words[0]).into() };
    Command::Assign(Assign { to, priority, start, run, is_recorded, may_queue })
}

fn parse_outcome(words: &[&str]) -> Outcome {
    let session = words.get(1).map_or(0, |number| number.parse().unwrap());
    match words[0] {
        "worktree_created" => Outcome::WorktreeCreated,
        "worktree_not_created" => Outcome::WorktreeNotCreated(failure(Code::WorktreeCreationFailed)),
        "session_started" => Outcome::SessionStarted { session },
        "session_not_started" => {
            Outcome::SessionNotStarted { session, failure: failure(Code::AgentStartFailed) }
        }
        "session_finished" => {
            let end = SessionEnd::Finished(complete(1, commit(session)));
            Outcome::SessionEnded { session, end }
        }
        "session_failed" => {
            let end = SessionEnd::Failed(failure(Code::AgentSessionFailed));
            Outcome::SessionEnded { session, end }
        }
        "role_started" => Outcome::RoleStarted { agent: agent(words[2]), session },
        "session_crashed" => {
            let end = SessionEnd::Broken(breakdown(FailureClass::Crash));
            Outcome::SessionEnded { session, end }
        }
        "session_without_budget" => {
            Outcome::SessionNotStarted { session, failure: failure(Code::BudgetExceeded) }
        }
        "wait_over" => Outcome::WaitOver { session },
        "role_broke" => Outcome::RoleBroke { session, breakdown: breakdown(FailureClass::Network) },
        "role_wrote" => {
            let salvage = Salvage { name: "refs/regatta/salvage/1/1".to_owned(), commit: commit(0xdef) };
            Outcome::RoleWrote { session, salvage }
        }
        "role_ended" => Outcome::RoleEnded { session },
        "run_failed" => {
            Outcome::RunOver { run: RunId::FIRST, end: RunEnd::Failed(failure(Code::RunStopped)) }
        }
        "run_completed" => Outcome::RunOver { run: RunId::FIRST, end: RunEnd::Completed },
        "session_stopped" => Outcome::SessionEnded { session, end: SessionEnd::Stopped },
        "diff_recorded" => Outcome::DiffRecorded,
        "diff_not_recorded" => Outcome::DiffNotRecorded(failure(Code::GitFailed)),
        "agent_paused" => Outcome::AgentPaused,
        "agent_not_paused" => Outcome::AgentNotPaused(failure(Code::AgentStopFailed)),
        "checks_ran" => Outcome::ChecksRan { commit: commit(1), results: vec![evidence("test", true)] },
        "checks_not_run" => Outcome::ChecksNotRun(failure(Code::ChecksFailed)),
        "policy_refused" => Outcome::PolicyRefused(failure(Code::ApprovalStale)),
        "merged" => Outcome::Merged { commit: commit(0xabc), checkouts: Vec::new() },
        "not_merged" => {
            Outcome::NotMerged { files: Vec::new(), failure: failure(Code::WorktreeMergeConflict) }
        }
        "agent_stopped" => Outcome::AgentStopped,
        "agent_not_stopped" => Outcome::AgentNotStopped(failure(Code::AgentStopFailed)),
        "worktree_removed" => Outcome::WorktreeRemoved { salvage: None },
        "worktree_not_removed" => Outcome::WorktreeNotRemoved(failure(Code::WorktreeRemovalFailed)),
        other => panic!("`{other}` is not an outcome"),
    }
}
