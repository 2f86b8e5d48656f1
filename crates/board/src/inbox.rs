//! The inbox: one row for each thing that waits for a person, with its answers.

use crate::act::Act;
use crate::ball;
use crate::markup::{Markup, escape, render};
use crate::parts;
use crate::shell::Shell;
use crate::words::{self, Clock};
use askama::Template;
use jiff::Timestamp;
use regatta_engine::core::{Code, Failure};
use regatta_engine::recovery::{ActionView, Means, RecoveryView, recover_from, recover_task};
use regatta_engine::{InboxItem, InboxKind, QuestionView, TaskView, WaitingRun};
use serde_json::json;

/// What is listed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Show {
    /// Everything.
    All,
    /// Diffs.
    Reviews,
    /// Questions of agents and runs.
    Questions,
    /// What failed or is used up.
    Problems,
}

impl Show {
    const ALL: [Show; 4] = [Show::All, Show::Reviews, Show::Questions, Show::Problems];

    /// Finds what an address names; everything if it names nothing.
    pub fn find(name: &str) -> Self {
        Show::ALL.into_iter().find(|show| show.name() == name).unwrap_or(Show::All)
    }

    fn name(self) -> &'static str {
        match self {
            Show::All => "all",
            Show::Reviews => "reviews",
            Show::Questions => "questions",
            Show::Problems => "problems",
        }
    }

    fn label(self) -> &'static str {
        match self {
            Show::All => "All",
            Show::Reviews => "Reviews",
            Show::Questions => "Questions",
            Show::Problems => "Problems",
        }
    }

    fn admits(self, kind: InboxKind) -> bool {
        match self {
            Show::All => true,
            Show::Reviews => kind == InboxKind::Review,
            Show::Questions => matches!(kind, InboxKind::Permission | InboxKind::Question),
            Show::Problems => matches!(kind, InboxKind::Problem | InboxKind::Budget | InboxKind::Paused),
        }
    }
}

/// One row.
#[derive(Debug, Clone)]
struct Row {
    /// Its place in the page: `task-38`, `run-7`, `question-…`.
    id: String,
    icon: &'static str,
    tone: &'static str,
    what: Markup,
    context: Vec<Markup>,
    /// What is asked, in the words of who asks.
    quote: Option<String>,
    /// What is asked for, as code.
    term: Option<String>,
    note: Option<String>,
    /// The label of a field for an answer.
    field: Option<&'static str>,
    acts: Vec<Act>,
    open: String,
    since: Timestamp,
}

impl Row {
    fn icon_class(&self) -> &'static str {
        match self.tone {
            "acc" => "i acc",
            "warn" => "i warn",
            _ => "i bad",
        }
    }

    fn is_open(&self) -> bool {
        self.quote.is_some() || self.term.is_some() || self.field.is_some()
    }
}

#[derive(Template)]
#[template(path = "inbox.html")]
struct Page<'a> {
    shell: &'a Shell,
    list: Markup,
}

impl List<'_> {
    fn is(&self, show: &Show) -> bool {
        self.show == *show
    }
}

#[derive(Template)]
#[template(path = "inbox_list.html")]
struct List<'a> {
    rows: Vec<Row>,
    shows: Vec<(Show, usize)>,
    show: Show,
    clock: &'a Clock,
    at_work: usize,
    all: usize,
}

/// Renders the page.
pub fn page(shell: &Shell, items: &[InboxItem], show: Show, clock: &Clock) -> Markup {
    let at_work = shell.side.agents.iter().filter(|agent| agent.is_busy).count();
    render(&Page { shell, list: list(items, show, clock, at_work) })
}

/// Renders the list alone, for a page that is open.
pub fn list(items: &[InboxItem], show: Show, clock: &Clock, at_work: usize) -> Markup {
    let shows =
        Show::ALL.map(|show| (show, items.iter().filter(|item| show.admits(item.kind)).count())).to_vec();
    let rows = items.iter().filter(|item| show.admits(item.kind)).map(row).collect();
    render(&List { rows, shows, show, clock, at_work, all: items.len() })
}

fn row(item: &InboxItem) -> Row {
    match (&item.question, &item.run, &item.task) {
        (Some(question), _, task) => permission(item, question, task.as_ref()),
        (None, Some(run), _) => of_run(item, run),
        (None, None, Some(task)) if item.kind == InboxKind::Review => review(item, task),
        (None, None, Some(task)) => problem(item, task),
        (None, None, None) => blank(item, "nothing", "Something waits for you", "/"),
    }
}

fn blank(item: &InboxItem, id: &str, what: &str, open: &str) -> Row {
    Row {
        id: id.to_owned(),
        icon: "alert",
        tone: "bad",
        what: text(what),
        context: Vec::new(),
        quote: None,
        term: None,
        note: None,
        field: None,
        acts: Vec::new(),
        open: open.to_owned(),
        since: item.since,
    }
}

fn text(text: &str) -> Markup {
    Markup::new(escape(text))
}

/// What is said of a task in every row: its title, and who has it.
fn about(task: &TaskView) -> Vec<Markup> {
    let mut context = vec![text(&task.title)];
    if let Some(agent) = &task.agent_id {
        context.push(match task.rejection_count {
            0 => text(agent),
            count => text(&format!("{agent}, attempt {}", count + 1)),
        });
    }
    context
}

fn review(item: &InboxItem, task: &TaskView) -> Row {
    let id = task.id;
    let page = format!("/tasks/{id}/review");
    let mut context = about(task);
    if let Some(diff) = &task.diff {
        context.push(Markup::new(format!(
            "{}, <span class=\"ok\">+{}</span> <span class=\"bad\">−{}</span>",
            words::count(diff.files_changed, "file"),
            diff.lines_added,
            diff.lines_removed
        )));
    }
    context.extend(Some(parts::badge(&task.checks)).filter(|badge| !badge.is_empty()));
    if !task.criteria.is_empty() {
        context.push(text(&parts::tally(&task.criteria)));
    }
    let back =
        Act::post("Send back", format!("/api/tasks/{id}/reject"), json!({}), format!("#{id} was sent back"))
            .asking(format!("Send #{id} back"), "The agent works on with what you write.", Some("reason"));
    Row {
        icon: "eye",
        tone: "acc",
        context,
        acts: vec![Act::link("Review", page.clone()).best(), back],
        ..blank(item, &format!("task-{id}"), &format!("#{id} is ready for review"), &page)
    }
}

/// A row about a task that cannot continue by itself, with what can be done about it.
fn problem(item: &InboxItem, task: &TaskView) -> Row {
    let id = task.id;
    let page = format!("/tasks/{id}");
    let (icon, tone) = match task.error.as_ref().map(|error| error.code) {
        Some(Code::WorktreeMergeConflict | Code::CheckoutInTheWay) => ("conflict", "bad"),
        Some(Code::BudgetExceeded) => ("coin", "warn"),
        _ => ("x", "bad"),
    };
    let means = Means::default();
    let failed = || task.error.as_ref().map(|error| recover_from(task, error, &means));
    let Some(recovery) = recover_task(task, &means).or_else(failed) else {
        let row = blank(item, &format!("task-{id}"), &format!("#{id} stopped before it was done"), &page);
        return Row { icon, tone, context: about(task), acts: vec![Act::link("Open", page)], ..row };
    };
    let mut context = about(task);
    context.push(text(&words::one_line(&recovery.cause, 160)));
    context.extend(Some(codes(&recovery.files)).filter(|files| !files.is_empty()).map(Markup::new));
    let row = blank(item, &format!("task-{id}"), &recovery.headline, &page);
    Row { icon, tone, context, acts: acts_of(&recovery, &page), ..row }
}

/// Makes buttons of the first things that can be done, without those that need a choice or give the work up.
fn acts_of(recovery: &RecoveryView, page: &str) -> Vec<Act> {
    let act = |action: &ActionView| match (&action.request, &action.page) {
        (Some(request), _) if request.choose.is_none() && action.action != "cancel" => {
            Some(Act::recovering(action, request))
        }
        (None, Some(page)) => Some(Act::link(action.button.as_str(), page.as_str())),
        _ => None,
    };
    let mut acts: Vec<Act> = recovery.actions.iter().filter_map(act).take(2).collect();
    acts.push(Act::link("Open", page));
    acts[0] = acts[0].clone().best();
    acts
}

/// Says what is wrong with a run.
fn said(name: &str, error: &Failure) -> Markup {
    text(&format!("{name}: {}", lower(&ball::headline(error))))
}

/// Writes a name as one part of an address.
fn in_path(name: &str) -> String {
    let part = |byte: u8| match byte {
        b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'.' => char::from(byte).to_string(),
        other => format!("%{other:02X}"),
    };
    name.bytes().map(part).collect()
}

/// Names up to two things as code, and counts the rest.
fn codes(names: &[String]) -> String {
    let code = |name: &String| format!("<code>{}</code>", escape(&words::one_line(name, 60)));
    match names {
        [] => String::new(),
        [one] => code(one),
        [one, other] => format!("{} and {}", code(one), code(other)),
        [one, other, rest @ ..] => format!("{}, {} and {} more", code(one), code(other), rest.len()),
    }
}

fn lower(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map_or_else(String::new, |first| first.to_lowercase().chain(characters).collect())
}

fn permission(item: &InboxItem, question: &QuestionView, task: Option<&TaskView>) -> Row {
    let agent = &question.agent_id;
    let (place, open, context) = match (task, question.run_id) {
        (Some(task), _) => {
            (format!(" in #{}", task.id), format!("/tasks/{}", task.id), vec![text(&task.title)])
        }
        (None, Some(run)) => (format!(" in run {run}"), format!("/runs/{run}"), Vec::new()),
        (None, None) => (String::new(), "/".to_owned(), Vec::new()),
    };
    let path = format!("/api/questions/{}/answer", in_path(&question.id));
    let paths = (!question.paths.is_empty()).then(|| format!("Touches {}.", question.paths.join(", ")));
    Row {
        icon: "ask",
        tone: "acc",
        context,
        term: Some(question.what.trim().to_owned()),
        note: paths.map(|paths| words::one_line(&paths, 300)),
        acts: vec![
            Act::post(
                "Allow once",
                path.clone(),
                json!({ "answer": "allow" }),
                format!("{agent} was allowed to continue"),
            )
            .best()
            .key("A"),
            Act::post("Refuse", path, json!({ "answer": "deny" }), format!("{agent} was refused"))
                .danger()
                .key("R"),
        ],
        ..blank(
            item,
            &format!("question-{}", question.id),
            &format!("{agent} asks for permission{place}"),
            &open,
        )
    }
}

fn of_run(item: &InboxItem, run: &WaitingRun) -> Row {
    let id = run.id;
    let page = format!("/runs/{id}");
    let mut context = vec![text(&format!("step {} of {}", run.step, run.workflow)), text(&run.node)];
    context.extend(run.item.as_deref().map(text));
    let stop =
        Act::post("Stop the run", format!("/api/runs/{id}/stop"), json!({}), format!("Run {id} was stopped"))
            .asking(format!("Stop run {id}?"), "Its tasks keep their work, and go back to you.", None)
            .danger();
    let resume =
        Act::post("Resume", format!("/api/runs/{id}/resume"), json!({}), format!("Run {id} continues"));
    let name = format!("run-{id}");
    if let Some(question) = &run.question {
        let path = format!("/api/runs/{id}/answer");
        let said = format!("Run {id} has your answer");
        return Row {
            icon: "ask",
            tone: "acc",
            context,
            quote: Some(question.clone()),
            field: Some("Your answer"),
            acts: vec![
                Act::post("Answer", path.clone(), json!({ "approved": true }), said.clone())
                    .taking("text")
                    .best()
                    .key("Ctrl ↵"),
                Act::post("Say no", path, json!({ "approved": false }), said).taking("text").danger(),
                Act::link("Open the run", page.clone()),
            ],
            ..blank(item, &name, &format!("Run {id} asks you"), &page)
        };
    }
    let open = Act::link("Open", page.clone());
    match &run.error {
        Some(error) => Row {
            icon: if item.kind == InboxKind::Budget { "coin" } else { "x" },
            tone: if item.kind == InboxKind::Budget { "warn" } else { "bad" },
            what: said(&format!("Run {id}"), error),
            context: [context, vec![text(&words::one_line(ball::cause(error), 160))]].concat(),
            acts: vec![resume.best(), open, stop],
            ..blank(item, &name, "", &page)
        },
        None => Row {
            icon: "pause",
            tone: "warn",
            context,
            acts: vec![resume.best(), open, stop],
            ..blank(item, &name, &format!("Run {id} is paused"), &page)
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{clock, failure, task};
    use regatta_engine::core::machine::Column;

    fn show(change: impl FnOnce(&mut TaskView), kind: InboxKind) -> String {
        let mut task = task();
        (task.column, task.phase, task.agent_id) =
            (Column::WaitingApproval, "ready", Some("codex".to_owned()));
        change(&mut task);
        let item = InboxItem { kind, since: task.updated_at, task: Some(task), run: None, question: None };
        list(&[item], Show::All, &clock(), 0).into_string()
    }

    #[test]
    fn a_conflict_can_be_sent_back_with_a_reason() {
        let html = show(
            |task| {
                task.target = Some("main".to_owned());
                let mut error = failure(Code::WorktreeMergeConflict, "task #38 was not merged: it conflicts");
                error.details.insert("files".to_owned(), json!(["src/<b>.rs"]));
                task.error = Some(error);
            },
            InboxKind::Problem,
        );
        assert!(html.contains("#38 was not merged: it conflicts with main in 1 file"), "{html}");
        assert!(html.contains("<code>src/&lt;b&gt;.rs</code>"), "{html}");
        assert!(html.contains("Send back to codex") && html.contains("/api/tasks/38/reject"), "{html}");
    }

    #[test]
    fn the_name_of_a_question_is_one_part_of_its_address() {
        let question = QuestionView {
            id: "pc44-task-7-1/1".to_owned(),
            agent_id: "gemini".to_owned(),
            task_id: None,
            run_id: None,
            what: "<rm>".to_owned(),
            paths: Vec::new(),
        };
        let (kind, since) = (InboxKind::Permission, clock().now);
        let item = InboxItem { kind, since, task: None, run: None, question: Some(question) };
        let html = list(&[item], Show::All, &clock(), 0).into_string();
        assert!(html.contains("/api/questions/pc44-task-7-1%2F1/answer"), "{html}");
        assert!(html.contains("&#60;rm&#62;") || html.contains("&lt;rm&gt;"), "{html}");
    }

    #[test]
    fn an_empty_inbox_says_so() {
        let html = list(&[], Show::All, &clock(), 2).into_string();
        assert!(html.contains("Nothing waits for you") && html.contains("2 agents are working"), "{html}");
    }

    #[test]
    fn what_is_counted_is_what_is_listed() {
        for kind in [
            InboxKind::Review,
            InboxKind::Permission,
            InboxKind::Question,
            InboxKind::Problem,
            InboxKind::Budget,
            InboxKind::Paused,
        ] {
            let of_kind = Show::ALL[1..].iter().filter(|show| show.admits(kind)).count();
            assert_eq!(of_kind, 1, "{kind:?} is in one list");
        }
    }
}
