//! The small parts that every page is made of: icons, faces, meters, badges, the status line.

use crate::ball::{Ball, Tone};
use crate::markup::{Markup, escape};
use crate::words::{self, Clock};
use jiff::Timestamp;
use regatta_engine::core::{CollisionKind, Evidence, Priority};
use regatta_engine::{CollisionView, CriterionView, TaskView};
use std::borrow::Borrow;

/// An icon of 16 pixels beside words; screen readers skip it.
pub fn icon(name: &str) -> Markup {
    drawn(name, "i")
}

/// An icon of 14 pixels.
pub fn small(name: &str) -> Markup {
    drawn(name, "i s")
}

/// An icon with classes of its own.
pub fn drawn(name: &str, class: &str) -> Markup {
    let (name, class) = (escape(name), escape(class));
    Markup::new(format!("<svg class=\"{class}\" aria-hidden=\"true\"><use href=\"#i-{name}\"/></svg>"))
}

/// The two letters of an agent in a square; its name stands beside it.
pub fn face(agent: &str) -> Markup {
    let letters = escape(&words::letters(agent));
    Markup::new(format!("<span class=\"face\" aria-hidden=\"true\">{letters}</span>"))
}

/// The letter of a person in a circle.
pub fn person(name: &str) -> Markup {
    let letter: String = name.chars().take(1).flat_map(char::to_uppercase).collect();
    Markup::new(format!("<span class=\"face me\" aria-hidden=\"true\">{}</span>", escape(&letter)))
}

/// Three bars.
pub fn priority(priority: impl Borrow<Priority>) -> Markup {
    let (bars, word) = match priority.borrow() {
        Priority::High => (3, "high"),
        Priority::Medium => (2, "medium"),
        Priority::Low => (1, "low"),
    };
    Markup::new(format!(
        "<span class=\"prio p{bars}\" title=\"Priority: {word}\"><span class=\"sr\">{word} priority</span><i></i><i></i><i></i></span>"
    ))
}

/// How many criteria are drawn; more are said in words.
const SQUARES_MAX: usize = 12;

/// One square for each criterion: open, ticked by the agent, verified by the engine.
pub fn meter(criteria: &[CriterionView]) -> Markup {
    if criteria.is_empty() {
        return Markup::default();
    }
    let says = escape(&said(criteria));
    let squares: String = criteria
        .iter()
        .take(SQUARES_MAX)
        .map(|criterion| match (criterion.verified, criterion.checked) {
            (true, _) => "<i class=\"v\"></i>",
            (false, true) => "<i class=\"c\"></i>",
            (false, false) => "<i></i>",
        })
        .collect();
    Markup::new(format!(
        "<span class=\"crit\" role=\"img\" aria-label=\"{says}\" title=\"Criteria: {says}\">{squares}</span>"
    ))
}

/// Says how many criteria are ticked and verified, in full.
pub fn said(criteria: &[CriterionView]) -> String {
    let (all, ticked, verified) = counts(criteria);
    format!("{ticked} of {all} ticked, {verified} verified")
}

/// Says it in short: `4/4 ticked, 3 verified`.
pub fn tally(criteria: &[CriterionView]) -> String {
    let (all, ticked, verified) = counts(criteria);
    match (all, ticked, verified) {
        (0, ..) => String::new(),
        (1, 0, 0) => "1 criterion".to_owned(),
        (_, 0, 0) => format!("{all} criteria"),
        _ if ticked == verified => format!("{verified}/{all} verified"),
        (_, _, 0) => format!("{ticked}/{all} ticked"),
        _ => format!("{ticked}/{all} ticked, {verified} verified"),
    }
}

fn counts(criteria: &[CriterionView]) -> (usize, usize, usize) {
    let ticked = criteria.iter().filter(|criterion| criterion.checked || criterion.verified).count();
    (criteria.len(), ticked, criteria.iter().filter(|criterion| criterion.verified).count())
}

/// The line of a card that says what its branch is going to collide with; nothing if there is nothing.
pub fn collision(task: &TaskView) -> Markup {
    let Some(line) = ahead(task) else { return Markup::default() };
    let class = if task.collisions[0].kind == CollisionKind::Conflict { " warn" } else { "" };
    let title = escape(&task.collisions[0].summary);
    Markup::new(format!(
        "<div class=\"meta{class}\" title=\"{title}\">{}<span class=\"cut\">{}</span></div>",
        small("conflict"),
        escape(&line)
    ))
}

/// The class of the icon of a collision: what is certain stands out.
pub fn tone_of(kind: &CollisionKind) -> &'static str {
    match kind {
        CollisionKind::Conflict => "i warn",
        CollisionKind::Overlap => "i",
    }
}

/// Says all of a collision in one sentence.
pub fn sentence(collision: &CollisionView) -> String {
    words::sentence(&collision.summary)
}

/// Says in short what a task is going to collide with: `Will conflict with #12 in 2 files, and 1 more`.
pub fn ahead(task: &TaskView) -> Option<String> {
    let first = task.collisions.first()?;
    let with = first.with();
    let files = words::count(first.files.len() as u64 + u64::from(first.more_files), "file");
    let line = match (first.kind, first.task_id) {
        (CollisionKind::Conflict, _) => format!("Will conflict with {with} in {files}"),
        (CollisionKind::Overlap, Some(_)) => format!("Changes {files} that {with} changes too"),
        (CollisionKind::Overlap, None) => format!("Changes {files} that changed on {with} since"),
    };
    let more = task.collisions.len() as u64 - 1 + u64::from(task.more_collisions);
    Some(if more == 0 { line } else { format!("{line}, and {more} more") })
}

/// The badge of the checks: how many passed, or the first that failed; nothing if none ran.
pub fn checks(task: &TaskView) -> Markup {
    if task.phase == "checking" {
        return Markup::new(format!("<span class=\"checks end\">{}checks run</span>", small("term")));
    }
    badge(&task.checks)
}

/// The badge of some results.
pub fn badge(results: &[Evidence]) -> Markup {
    let names: Vec<&str> = results.iter().map(|check| check.name.as_str()).collect();
    let title = escape(&names.join(", "));
    let failed = results.iter().find(|check| !check.passed);
    Markup::new(match (failed, results.len()) {
        (None, 0) => String::new(),
        (Some(failed), _) => format!(
            "<span class=\"checks bad end\" title=\"{title}\">{}<span class=\"sr\">failed: </span>{}</span>",
            small("x"),
            escape(&words::one_line(&failed.name, 24))
        ),
        (None, count) => format!(
            "<span class=\"checks ok end\" title=\"{title} passed\">{}{count}<span class=\"w\">{}</span></span>",
            small("check"),
            if count == 1 { "check" } else { "checks" }
        ),
    })
}

/// The status line.
pub fn ball(ball: &Ball) -> Markup {
    let mark = match ball.tone {
        Tone::Live => "<span class=\"live\"></span>".to_owned(),
        _ => icon(ball.icon).into_string(),
    };
    let code = ball.code.as_ref().map_or_else(String::new, |code| format!(" <code>{}</code>", escape(code)));
    let action = ball.action.as_ref().map_or_else(String::new, |(word, address)| {
        format!("<a class=\"do\" href=\"{}\">{}</a>", escape(address), escape(word))
    });
    Markup::new(format!(
        "<p class=\"{}\">{mark}<span title=\"{}\">{}{code}{}</span>{action}</p>",
        ball.tone.class(),
        escape(&ball.plain()),
        escape(&ball.text),
        escape(&ball.rest)
    ))
}

/// A sentence of Regatta's own, in which `code` between backticks is shown as code.
pub fn prose(text: &str) -> Markup {
    let parts = text.split('`').enumerate();
    Markup::new(
        parts
            .map(|(number, part)| match number % 2 {
                1 => format!("<code>{}</code>", escape(part)),
                _ => escape(part),
            })
            .collect(),
    )
}

/// How long ago something was; the browser keeps it up to date.
pub fn age(clock: &Clock, at: impl Borrow<Timestamp>) -> Markup {
    let at = *at.borrow();
    let full = at.to_zoned(clock.zone.clone()).strftime("%a %-d %b %Y, %H:%M:%S").to_string();
    Markup::new(format!(
        "<time class=\"end\" data-age datetime=\"{at}\" title=\"{}\">{}</time>",
        escape(&full),
        escape(&clock.age(at))
    ))
}

/// When something was.
pub fn time(clock: &Clock, at: impl Borrow<Timestamp>) -> Markup {
    let at = *at.borrow();
    let full = at.to_zoned(clock.zone.clone()).strftime("%a %-d %b %Y, %H:%M:%S").to_string();
    Markup::new(format!(
        "<time datetime=\"{at}\" title=\"{}\">{}</time>",
        escape(&full),
        escape(&clock.time(at))
    ))
}
