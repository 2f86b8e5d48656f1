//! The status line of a task: who has the next move, in words.
//!
//! A line is filled only when a person must act ([`Tone::You`], [`Tone::Stop`]); everything else continues by itself. There is
//! exactly one line for a task, and it is the same on a card, in the inbox and on the task's page.

use crate::words::{self, Clock};
use regatta_engine::TaskView;
use regatta_engine::core::machine::Column;
use regatta_engine::core::{AgentState, Code, Failure, FailureClass, WaitsFor};
use regatta_engine::runs::RunView;

/// How a line looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Tone {
    /// A person must act: filled.
    You,
    /// Something failed, and a person must act: filled.
    Stop,
    /// It continues at a time.
    Clock,
    /// It waits for other work.
    Other,
    /// An agent is at work.
    Live,
    /// Nobody has to do anything.
    Rest,
}

impl Tone {
    /// Returns the class of the line.
    pub fn class(self) -> &'static str {
        match self {
            Tone::You => "ball you",
            Tone::Stop => "ball stop",
            Tone::Clock => "ball clock",
            Tone::Live => "ball now",
            Tone::Other | Tone::Rest => "ball",
        }
    }

    /// Tells whether a person must act.
    pub fn is_filled(self) -> bool {
        matches!(self, Tone::You | Tone::Stop)
    }
}

/// The status line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Ball {
    /// How it looks.
    pub tone: Tone,
    /// Its icon; a live line has a dot instead.
    pub icon: &'static str,
    /// What it says.
    pub text: String,
    /// What stands behind it as code.
    pub code: Option<String>,
    /// What follows the code.
    pub rest: String,
    /// What the person does, with the address where it is done.
    pub action: Option<(&'static str, String)>,
}

impl Ball {
    fn new(tone: Tone, icon: &'static str, text: impl Into<String>) -> Self {
        Ball { tone, icon, text: text.into(), code: None, rest: String::new(), action: None }
    }

    fn code(mut self, code: impl Into<String>) -> Self {
        self.code = Some(code.into());
        self
    }

    fn rest(mut self, rest: impl Into<String>) -> Self {
        self.rest = rest.into();
        self
    }

    fn action(mut self, word: &'static str, address: String) -> Self {
        self.action = Some((word, address));
        self
    }

    /// Returns the whole line as plain text.
    pub fn plain(&self) -> String {
        let code = self.code.as_deref().unwrap_or_default();
        let line = format!("{} {code}{}", self.text, self.rest);
        line.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// Returns the status line of a task; `run` is the run that drives it, if that is known.
pub fn of(task: &TaskView, run: Option<&RunView>, clock: &Clock) -> Ball {
    let page = format!("/tasks/{}", task.id);
    match task.column {
        Column::Backlog => in_backlog(task, page),
        Column::InProgress => in_progress(task, run, clock, page),
        Column::WaitingApproval => in_review(task, clock, page),
        Column::Verified => verified(task, page),
    }
}

fn in_backlog(task: &TaskView, page: String) -> Ball {
    if let Some(error) = &task.error {
        return stop(error, task, page);
    }
    if let Some(number) = task.queue_position {
        return match task.waits_for {
            WaitsFor::You => nobody_works(),
            _ => Ball::new(Tone::Other, "queue", words::place(number)),
        };
    }
    if !task.blocked_by.is_empty() {
        return Ball::new(
            Tone::Other,
            "link",
            format!("Waits for {} to be merged", words::tasks(&task.blocked_by)),
        );
    }
    Ball::new(Tone::Rest, "person", "Not assigned yet")
}

fn in_progress(task: &TaskView, run: Option<&RunView>, clock: &Clock, page: String) -> Ball {
    if let Some(question) = &task.question {
        let text = words::one_line(&format!("Asks: {}", question.what), 80);
        return Ball::new(Tone::You, "ask", text)
            .action("Answer", format!("/inbox#question-{}", question.id));
    }
    if let Some(run) = run.filter(|run| run.owner == "you") {
        return asks_of_run(run);
    }
    match task.phase {
        "unattended" => nobody_works(),
        "by_hand" => Ball::new(Tone::You, "person", "In your hands").action("Open", page),
        "halted" => match &task.error {
            Some(error) => stop(error, task, page),
            None => Ball::new(Tone::Stop, "x", "The agent stopped before it was done").action("Open", page),
        },
        "parked" => parked(task, clock),
        "running" => live(task),
        "driven" => Ball::new(Tone::Other, "runs", run_line(task, run)),
        "preparing" => Ball::new(Tone::Other, "fork", "Its worktree is being made"),
        "starting" if task.agent_state == AgentState::Starting => {
            Ball::new(Tone::Other, "play", "The agent is about to start")
        }
        "starting" => Ball::new(Tone::Other, "queue", "Waits for a free place"),
        "stopping" => Ball::new(Tone::Other, "pause", "The agent is being stopped"),
        "unwinding" => Ball::new(Tone::Other, "back", "Its worktree is being removed"),
        "removing" => Ball::new(Tone::Other, "back", "Goes back to the backlog. The work is kept"),
        other => Ball::new(Tone::Other, "clock", words::sentence(&other.replace('_', " "))),
    }
}

fn asks_of_run(run: &RunView) -> Ball {
    let address = format!("/inbox#run-{}", run.id);
    match (&run.question, &run.error) {
        (Some(_), _) => Ball::new(Tone::You, "ask", format!("Run {} asks you a question", run.id))
            .action("Answer", address),
        (None, Some(error)) => Ball::new(Tone::Stop, "x", format!("Run {}: {}", run.id, headline(error)))
            .action("Open", format!("/runs/{}", run.id)),
        (None, None) => Ball::new(Tone::You, "pause", format!("Run {} is paused", run.id))
            .action("Open", format!("/runs/{}", run.id)),
    }
}

fn run_line(task: &TaskView, run: Option<&RunView>) -> String {
    match (run, task.run_id) {
        (Some(run), _) => format!("Run {} is at {}", run.id, run.node),
        (None, Some(run)) => format!("Run {run} works on it"),
        (None, None) => "A run works on it".to_owned(),
    }
}

fn parked(task: &TaskView, clock: &Clock) -> Ball {
    let Some(park) = &task.parked else { return Ball::new(Tone::Clock, "clock", "Continues by itself") };
    let at = clock.time(park.until);
    let text = match park.class {
        FailureClass::RateLimit => format!("Limited until {at}, then continues"),
        FailureClass::Network => format!("Network lost, tries again at {at}"),
        _ => format!("Tries again at {at}"),
    };
    Ball::new(Tone::Clock, "clock", text)
}

fn live(task: &TaskView) -> Ball {
    let Some(activity) = &task.activity else { return Ball::new(Tone::Live, "", "At work") };
    match (&activity.tool, &activity.about, &activity.file) {
        (Some(_), Some(about), _) => Ball::new(Tone::Live, "", "Runs").code(words::one_line(about, 120)),
        // Some agents say what a call does, and name no tool.
        (Some(tool), None, _) if tool.trim().contains(' ') => {
            Ball::new(Tone::Live, "", "Runs").code(words::one_line(&tool.replace('`', ""), 120))
        }
        (Some(tool), None, _) => Ball::new(Tone::Live, "", "Uses").code(words::one_line(tool, 60)),
        (None, _, Some(file)) => Ball::new(Tone::Live, "", "At work on").code(words::one_line(file, 120)),
        (None, _, None) => Ball::new(Tone::Live, "", "At work"),
    }
}

fn in_review(task: &TaskView, clock: &Clock, page: String) -> Ball {
    let review = format!("{page}/review");
    if let Some(error) = &task.error {
        return stop(error, task, page);
    }
    match task.phase {
        "unattended" => nobody_works(),
        "recording" => Ball::new(Tone::Other, "read", "Its diff is being recorded"),
        "pausing" => Ball::new(Tone::Other, "pause", "The agent is being paused"),
        "checking" => Ball::new(Tone::Other, "term", "Checks run"),
        "merging" => Ball::new(Tone::Other, "merge", "Is being merged"),
        "stopping" | "removing" => {
            Ball::new(Tone::Other, "back", "Goes back to the backlog. The work is kept")
        }
        _ if task.waits_for != WaitsFor::You => {
            Ball::new(Tone::Other, "check", "About to be approved by rule")
        }
        _ => ready(task, clock, review),
    }
}

fn ready(task: &TaskView, clock: &Clock, review: String) -> Ball {
    let failed: Vec<&str> =
        task.checks.iter().filter(|check| !check.passed).map(|check| check.name.as_str()).collect();
    match (failed.as_slice(), task.overdue, task.until) {
        ([], true, Some(until)) => {
            Ball::new(Tone::You, "eye", format!("Ready for your review, overdue since {}", clock.time(until)))
                .action("Review", review)
        }
        ([], ..) => Ball::new(Tone::You, "eye", "Ready for your review").action("Review", review),
        ([one], ..) => Ball::new(Tone::Stop, "x", "Check").code(*one).rest(" fails").action("Review", review),
        (more, ..) => {
            Ball::new(Tone::Stop, "x", format!("{} checks fail", more.len())).action("Review", review)
        }
    }
}

fn verified(task: &TaskView, page: String) -> Ball {
    if task.phase == "done" && task.owner == "you" && task.merge_commit.is_none() {
        return Ball::new(Tone::Stop, "x", "Its worktree is still there").action("Open", page);
    }
    let by = match task.approver.as_deref() {
        None => String::new(),
        Some(name) if name.starts_with("policy ") => " by rule".to_owned(),
        Some(name) => format!(" by {name}"),
    };
    let commit = task.merge_commit.as_deref().unwrap_or_default();
    Ball::new(Tone::Rest, "merge", "Merged as").code(words::short(commit)).rest(by)
}

fn nobody_works() -> Ball {
    Ball::new(Tone::Clock, "pause", "No engine works on it now")
}

/// Returns the line of an error, which leads to the page with what can be done about it.
fn stop(error: &Failure, task: &TaskView, page: String) -> Ball {
    let (icon, word) = match error.code {
        Code::WorktreeMergeConflict | Code::CheckoutInTheWay => ("conflict", "Resolve"),
        _ => ("x", "Open"),
    };
    let text = match (error.code, &task.target) {
        (Code::WorktreeMergeConflict, Some(target)) => headline(error).replace("the target", target),
        _ => headline(error),
    };
    Ball::new(Tone::Stop, icon, text).action(word, page)
}

/// Says in a few words what did not happen, and why.
pub fn headline(error: &Failure) -> String {
    let files = error.details.get("files").and_then(|files| files.as_array()).map_or(0, Vec::len) as u64;
    let in_files = if files > 0 { format!(" in {}", words::count(files, "file")) } else { String::new() };
    match error.code {
        Code::WorktreeMergeConflict => format!("Conflicts with the target{in_files}"),
        Code::CheckoutInTheWay => "Your own edits are in the way".to_owned(),
        Code::WorktreeDirty => "Has changes that nobody reviewed".to_owned(),
        Code::ApprovalStale => "The branch moved while it was approved".to_owned(),
        Code::TaskNoDiff => "Finished without a change".to_owned(),
        Code::WorktreeCreationFailed => "Its worktree could not be made".to_owned(),
        Code::AgentNotFound => "Its agent is no longer set up".to_owned(),
        Code::ChecksFailed => "Its checks fail".to_owned(),
        Code::AgentSessionFailed => broke_off(error).to_owned(),
        Code::AgentStartFailed => "Its agent could not be started".to_owned(),
        Code::BudgetExceeded => "Its budget is used up".to_owned(),
        Code::MaxIterationsExceeded => "Was tried as often as allowed".to_owned(),
        _ => {
            // The message says what failed, then why; the first half fits a line.
            let what = error.message.split(": ").next().unwrap_or(&error.message);
            words::sentence(&words::one_line(what, 90))
        }
    }
}

/// Says in a few words how a session broke off.
fn broke_off(error: &Failure) -> &'static str {
    match class_of(error) {
        Some("crash") => "Its agent crashed",
        Some("timeout") => "Its agent ran longer than allowed",
        Some("silence") => "Its agent said nothing for too long",
        Some("rate_limit") => "Its agent is limited by its provider",
        Some("network") => "Its agent's provider cannot be reached",
        Some("invalid_output") => "Its agent's output cannot be read",
        Some("refused") => "Its agent gave up",
        Some("budget") => "Its budget is used up",
        _ => "Its session broke off",
    }
}

fn class_of(error: &Failure) -> Option<&str> {
    error.details.get("class").and_then(|class| class.as_str())
}

/// Returns why something failed, without what failed and without words for programs.
pub fn cause(error: &Failure) -> &str {
    let why = error.message.split_once(": ").map_or(error.message.as_str(), |(_, why)| why);
    let class =
        class_of(error).and_then(|class| why.strip_prefix(class)).and_then(|why| why.strip_prefix(": "));
    class.unwrap_or(why)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{clock, failure, task};
    use regatta_engine::core::{Evidence, Park, TaskId};

    fn check(change: impl FnOnce(&mut TaskView), tone: Tone, says: &str) {
        let mut task = task();
        change(&mut task);
        let ball = of(&task, None, &clock());
        assert_eq!((ball.tone, ball.plain().as_str()), (tone, says));
        assert_eq!(ball.action.is_some(), tone.is_filled(), "what is filled has an action: {ball:?}");
    }

    fn at(column: Column, phase: &'static str, waits_for: WaitsFor) -> impl Fn(&mut TaskView) {
        move |task| (task.column, task.phase, task.waits_for) = (column, phase, waits_for)
    }

    #[test]
    fn in_the_backlog() {
        check(|_| {}, Tone::Rest, "Not assigned yet");
        check(|task| task.queue_position = Some(1), Tone::Other, "Next in the queue");
        check(|task| task.queue_position = Some(2), Tone::Other, "2nd in the queue");
        let ids = |numbers: &[u32]| numbers.iter().map(|number| TaskId::new(*number).unwrap()).collect();
        check(|task| task.blocked_by = ids(&[38]), Tone::Other, "Waits for #38 to be merged");
        check(|task| task.blocked_by = ids(&[38, 40]), Tone::Other, "Waits for #38 and #40 to be merged");
        check(|task| task.blocked_by = ids(&[1, 2, 3]), Tone::Other, "Waits for 3 tasks to be merged");
        let error = failure(Code::WorktreeCreationFailed, "no worktree was made: the disk is full");
        check(|task| task.error = Some(error), Tone::Stop, "Its worktree could not be made");
    }

    #[test]
    fn in_progress() {
        let running = at(Column::InProgress, "running", WaitsFor::Agent);
        check(&running, Tone::Live, "At work");
        check(
            at(Column::InProgress, "preparing", WaitsFor::Engine),
            Tone::Other,
            "Its worktree is being made",
        );
        check(at(Column::InProgress, "unattended", WaitsFor::You), Tone::Clock, "No engine works on it now");
        check(at(Column::InProgress, "by_hand", WaitsFor::You), Tone::You, "In your hands");
        let parked = at(Column::InProgress, "parked", WaitsFor::Clock);
        let park = |class| Park { class, attempt: 1, until: "2026-03-05T14:05:00Z".parse().unwrap() };
        let limited = "Limited until 14:05, then continues";
        check(
            |task| {
                parked(task);
                task.parked = Some(park(FailureClass::RateLimit));
            },
            Tone::Clock,
            limited,
        );
        let halted = at(Column::InProgress, "halted", WaitsFor::You);
        check(&halted, Tone::Stop, "The agent stopped before it was done");
        check(
            |task| {
                halted(task);
                task.error = Some(failure(Code::BudgetExceeded, "the session was stopped: $5.00 are used"));
            },
            Tone::Stop,
            "Its budget is used up",
        );
    }

    #[test]
    fn in_review() {
        let ready = at(Column::WaitingApproval, "ready", WaitsFor::You);
        check(&ready, Tone::You, "Ready for your review");
        check(at(Column::WaitingApproval, "checking", WaitsFor::Engine), Tone::Other, "Checks run");
        check(at(Column::WaitingApproval, "merging", WaitsFor::Engine), Tone::Other, "Is being merged");
        let failed = |name: &str| Evidence {
            name: name.to_owned(),
            passed: false,
            exit: Some(1),
            milliseconds: 5,
            tail: String::new(),
        };
        check(
            |task| {
                ready(task);
                task.checks = vec![failed("test")];
            },
            Tone::Stop,
            "Check test fails",
        );
        check(
            |task| {
                ready(task);
                task.target = Some("main".to_owned());
                let mut error = failure(Code::WorktreeMergeConflict, "task #36 was not merged: it conflicts");
                error.details.insert("files".to_owned(), serde_json::json!(["a.rs", "b.rs"]));
                task.error = Some(error);
            },
            Tone::Stop,
            "Conflicts with main in 2 files",
        );
    }

    #[test]
    fn verified_says_as_what_and_by_whom() {
        let merged = |by: &str| {
            let by = by.to_owned();
            move |task: &mut TaskView| {
                (task.column, task.phase, task.waits_for) = (Column::Verified, "done", WaitsFor::Nobody);
                (task.approver, task.merge_commit) = (Some(by), Some("9c1e2aa5566778899".to_owned()));
            }
        };
        check(merged("owner"), Tone::Rest, "Merged as 9c1e2aa by owner");
        check(merged("policy auto"), Tone::Rest, "Merged as 9c1e2aa by rule");
    }
}
