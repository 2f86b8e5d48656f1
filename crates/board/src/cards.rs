//! The board: four columns of cards.

use crate::ball::{self, Ball};
use crate::filter;
use crate::markup::{Markup, render};
use crate::moves;
use crate::parts;
use crate::shell::Shell;
use crate::words::{self, Clock};
use askama::Template;
use regatta_engine::core::TaskId;
use regatta_engine::core::machine::Column;
use regatta_engine::runs::RunView;
use regatta_engine::{TaskRow, TaskView};

/// The head of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Head {
    /// Which.
    pub column: Column,
    /// How many tasks are in it, after the filter.
    pub count: usize,
    /// One fact about it.
    pub fact: String,
}

impl Head {
    /// Returns the column's name for people.
    pub fn name(&self) -> &'static str {
        name_of(self.column)
    }

    fn short(&self) -> &'static str {
        match self.column {
            Column::WaitingApproval => "Waiting",
            column => name_of(column),
        }
    }

    fn key(&self) -> &'static str {
        self.column.as_str()
    }
}

/// Returns the name of a column for people.
pub fn name_of(column: Column) -> &'static str {
    match column {
        Column::Backlog => "Backlog",
        Column::InProgress => "In progress",
        Column::WaitingApproval => "Waiting approval",
        Column::Verified => "Verified",
    }
}

/// A column with the cards that are shown.
#[derive(Debug, Clone)]
pub struct ColumnPart {
    /// Its head.
    pub head: Head,
    /// Its first cards.
    pub cards: Vec<Markup>,
    /// Where the next ones begin, if there are more.
    pub next: Option<String>,
}

impl ColumnPart {
    /// Says what would be in it.
    fn empty(&self) -> &'static str {
        match self.head.column {
            Column::Backlog => "No tasks wait here.",
            Column::InProgress => "Nobody is at work. Assign a task from the backlog.",
            Column::WaitingApproval => "Nothing to review. Finished work shows up here.",
            Column::Verified => "Nothing merged yet.",
        }
    }
}

/// One card: a task, with the run that drives it if that is known.
#[derive(Debug, Clone, Copy)]
pub struct Card<'a> {
    /// The task.
    pub task: &'a TaskView,
    /// Its row, which says where it stands.
    pub row: &'a TaskRow,
    /// The run.
    pub run: Option<&'a RunView>,
}

#[derive(Template)]
#[template(path = "card.html")]
struct CardPage<'a> {
    task: &'a TaskView,
    clock: &'a Clock,
    rank: String,
    moves: String,
    waits: String,
    ball: Ball,
    name: String,
    cost: Option<String>,
}

impl CardPage<'_> {
    fn is_done(&self) -> bool {
        self.task.column == Column::Verified
    }

    /// Since when it is where it is.
    fn since(&self) -> jiff::Timestamp {
        match self.task.column {
            Column::Backlog => self.task.created_at,
            _ => self.task.updated_at,
        }
    }
}

/// Renders a card.
pub fn card(card: Card<'_>, clock: &Clock) -> Markup {
    let Card { task, row, run } = card;
    let ball = ball::of(task, run, clock);
    let cost = task.spent.as_ref().map(|spent| spent.cost_micros).filter(|cost| *cost > 0).map(words::money);
    let waits: Vec<String> = task.blocked_by.iter().map(ToString::to_string).collect();
    render(&CardPage {
        task,
        clock,
        rank: filter::rank(row),
        moves: moves::to_json(&moves::of(task)),
        waits: waits.join(" "),
        name: name(task, &ball),
        ball,
        cost,
    })
}

/// The name of a card for a screen reader: its status line comes first.
fn name(task: &TaskView, ball: &Ball) -> String {
    let mut parts = vec![ball.plain(), format!("#{} {}", task.id, task.title)];
    parts.extend(task.agent_id.clone());
    if task.rejection_count > 0 {
        parts.push(format!("attempt {}", task.rejection_count + 1));
    }
    if !task.criteria.is_empty() {
        parts.push(parts::said(&task.criteria));
    }
    parts.extend(parts::ahead(task));
    parts.join(", ")
}

/// The board as a page.
#[derive(Debug)]
pub struct Board<'a> {
    /// What is around it.
    pub shell: &'a Shell,
    /// What is typed into the filter.
    pub query: &'a str,
    /// The columns.
    pub columns: Vec<ColumnPart>,
    /// The agents, for the filter and for assigning.
    pub agents: Vec<String>,
    /// The epics, by number.
    pub epics: Vec<(String, String)>,
}

#[derive(Template)]
#[template(path = "board.html")]
struct BoardPage<'a> {
    shell: &'a Shell,
    board: &'a Board<'a>,
}

impl BoardPage<'_> {
    /// Whether a filter finds nothing.
    fn finds_nothing(&self) -> bool {
        !self.board.query.trim().is_empty() && self.board.columns.iter().all(|part| part.head.count == 0)
    }

    /// The column that a phone shows first.
    fn shown(&self) -> &'static str {
        let order = [Column::WaitingApproval, Column::InProgress, Column::Backlog, Column::Verified];
        let has_cards = |column: &Column| {
            self.board.columns.iter().any(|part| part.head.column == *column && part.head.count > 0)
        };
        order.into_iter().find(has_cards).unwrap_or(Column::Backlog).as_str()
    }
}

/// Renders the board.
pub fn board(board: &Board<'_>) -> Markup {
    render(&BoardPage { shell: board.shell, board })
}

#[derive(Template)]
#[template(path = "cards.html")]
struct CardsPage<'a> {
    heads: &'a [Head],
    cards: &'a [Markup],
    next: Option<&'a str>,
}

/// Renders some cards, with the heads of the columns as they are now.
pub fn cards(heads: &[Head], cards: &[Markup], next: Option<&str>) -> Markup {
    render(&CardsPage { heads, cards, next })
}

/// Says one fact about each column.
pub fn heads<'a>(rows: impl Iterator<Item = &'a TaskRow>, concurrent_max: u32, clock: &Clock) -> Vec<Head> {
    let today = clock.now.to_zoned(clock.zone.clone()).start_of_day();
    let today = today.map_or(i64::MAX, |start| start.timestamp().as_second());
    let mut counts = [[0_usize; 2]; 4];
    for row in rows {
        let at = Column::ALL.iter().position(|column| *column == row.column).unwrap_or_default();
        let is_counted = match row.column {
            Column::Backlog => row.queue_position.is_some(),
            Column::InProgress => !matches!(&*row.phase, "halted" | "parked" | "by_hand" | "unattended"),
            Column::WaitingApproval => filter::needs_you(row),
            Column::Verified => row.since >= today,
        };
        counts[at][0] += 1;
        counts[at][1] += usize::from(is_counted);
    }
    let fact = |column: Column, counted: usize| match (column, counted) {
        (Column::Backlog, 0) | (Column::WaitingApproval, 0) | (Column::Verified, 0) => String::new(),
        (Column::Backlog, _) => format!("{counted} queued"),
        (Column::InProgress, _) => format!("{counted} of {concurrent_max} at once"),
        (Column::WaitingApproval, 1) => "1 needs you".to_owned(),
        (Column::WaitingApproval, _) => format!("{counted} need you"),
        (Column::Verified, _) => format!("{counted} today"),
    };
    let head = |(column, [count, counted]): (Column, [usize; 2])| Head {
        column,
        count,
        fact: fact(column, counted),
    };
    Column::ALL.into_iter().zip(counts).map(head).collect()
}

/// Returns the tasks of a column in order, after a rank.
pub fn window<'a>(
    rows: impl Iterator<Item = &'a TaskRow>,
    column: Column,
    after: Option<&str>,
    count_max: usize,
) -> (Vec<TaskId>, Option<String>) {
    let of_column = rows.filter(|row| row.column == column);
    let mut ranked: Vec<(String, TaskId)> = of_column.map(|row| (filter::rank(row), row.id)).collect();
    ranked.retain(|(rank, _)| after.is_none_or(|after| rank.as_str() > after));
    let has_more = ranked.len() > count_max;
    // Only the first ones are wanted, so the rest need no order.
    if has_more {
        ranked.select_nth_unstable(count_max);
        ranked.truncate(count_max);
    }
    ranked.sort_unstable();
    let next = ranked.last().map(|(rank, _)| rank.clone()).filter(|_| has_more);
    (ranked.into_iter().map(|(_, id)| id).collect(), next)
}

/// Returns the tasks of a column, in order, that stand right before a rank.
pub fn window_before<'a>(
    rows: impl Iterator<Item = &'a TaskRow>,
    column: Column,
    before: &str,
    count_max: usize,
) -> Vec<TaskId> {
    let of_column = rows.filter(|row| row.column == column);
    let mut ranked: Vec<(String, TaskId)> = of_column.map(|row| (filter::rank(row), row.id)).collect();
    ranked.retain(|(rank, _)| rank.as_str() < before);
    ranked.sort_unstable();
    ranked.split_off(ranked.len().saturating_sub(count_max)).into_iter().map(|(_, id)| id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{self, row};
    use regatta_engine::CollisionView;
    use regatta_engine::core::CollisionKind;
    use serde_json::json;

    #[test]
    fn a_card_is_small_and_its_name_begins_with_its_status() {
        let mut task = sample::task();
        (task.column, task.phase) = (Column::WaitingApproval, "ready");
        (task.waits_for, task.agent_id) = (regatta_engine::core::WaitsFor::You, Some("claude".to_owned()));
        (task.rejection_count, task.role) = (1, Some("coder".to_owned()));
        let row = row(json!({ "id": 38, "column": "waiting_approval", "phase": "ready" }));
        let html = card(Card { task: &task, row: &row, run: None }, &sample::clock()).into_string();
        assert!(html.len() < 3_000, "{}", html.len());
        let name = "aria-label=\"Ready for your review, #38 Compute freshness once, claude, attempt 2\"";
        assert!(html.contains(name), "{html}");
        assert!(html.contains("href=\"/tasks/38/review\""), "{html}");
        assert!(
            html.contains("<span class=\"who\">claude</span> · coder"),
            "the role stays when nothing runs: {html}"
        );
    }

    #[test]
    fn a_card_says_what_its_branch_will_collide_with_and_nothing_is_filled() {
        let mut task = sample::task();
        let row = row(json!({ "id": 38 }));
        let plain = card(Card { task: &task, row: &row, run: None }, &sample::clock()).into_string();
        assert!(!plain.contains("i-conflict"), "{plain}");
        task.collisions = vec![CollisionView {
            kind: CollisionKind::Conflict,
            task_id: TaskId::new(12).ok(),
            branch: "task/12".to_owned(),
            files: vec!["<a>".to_owned(), "b".to_owned()],
            more_files: 3,
            summary: "will conflict with #12 in 5 files: <a>, b and 3 more".to_owned(),
        }];
        task.more_collisions = 2;
        let html = card(Card { task: &task, row: &row, run: None }, &sample::clock()).into_string();
        assert!(html.contains("Will conflict with #12 in 5 files, and 2 more"), "{html}");
        assert!(!html.contains("<a>,") && !html.contains("ball stop"), "{html}");
        assert!(
            html.contains("#38 Compute freshness once, Will conflict"),
            "a screen reader hears it: {html}"
        );
    }

    #[test]
    fn windows_follow_each_other_without_a_gap() {
        let rows: Vec<TaskRow> = (1..=70)
            .map(|id| row(json!({ "id": id, "column": "verified", "phase": "done", "owner": "nobody", "since": id })))
            .collect();
        let (mut seen, mut after) = (Vec::new(), None::<String>);
        loop {
            let (ids, next) = window(rows.iter(), Column::Verified, after.as_deref(), 30);
            seen.extend(ids.iter().map(|id| id.number()));
            match next {
                Some(next) => after = Some(next),
                None => break,
            }
        }
        assert_eq!(seen, (1..=70).rev().collect::<Vec<u32>>());
        let before = window_before(rows.iter(), Column::Verified, &filter::rank(&rows[30]), 5);
        assert_eq!(before.iter().map(|id| id.number()).collect::<Vec<u32>>(), [36, 35, 34, 33, 32]);
    }
}
