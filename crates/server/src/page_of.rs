//! Lists in pages: `{"items": […], "next": CURSOR or null}`.

use crate::answer::{Answer, Rendered, invalid};
use crate::query::Query;
use regatta_engine::core::Problem;
use serde::Serialize;
use serde_json::Value;

/// How many items a page has if nobody says.
const ITEMS_DEFAULT: u64 = 100;

/// How many items a page may have.
pub(crate) const ITEMS_MAX: u64 = 1_000;

#[derive(Serialize)]
struct Page<T> {
    items: T,
    next: Option<String>,
}

/// Reads how many items are asked for.
pub(crate) fn limit(query: &Query) -> Result<usize, Problem> {
    match query.get("limit")?.unwrap_or(ITEMS_DEFAULT) {
        0 => Err(invalid("limit", "must be at least 1")),
        limit => Ok(usize::try_from(limit).expect("a page fits into memory")),
    }
}

/// Answers with a page; `next` is where the following one begins.
pub(crate) fn answer(items: impl Serialize, next: Option<impl ToString>) -> Answer {
    Answer::rendered(render(items, next))
}

/// Renders a page, for all who ask for it.
pub(crate) fn render(items: impl Serialize, next: Option<impl ToString>) -> Rendered {
    Rendered::json(Page { items, next: next.map(|next| next.to_string()) })
}

/// Answers with a page of a list that is whole in memory; `key` names an item for the cursor.
pub(crate) fn cut<T: Serialize>(
    query: &Query,
    items: &[T],
    key: impl Fn(&T) -> String,
) -> Result<Answer, Problem> {
    let limit = limit(query)?;
    let first = match query.text("after") {
        None => 0,
        Some(after) => match items.iter().position(|item| key(item) == after) {
            Some(position) => position + 1,
            None => return Err(invalid("after", "is no cursor of this list; use `next` of the page before")),
        },
    };
    let page: Vec<Value> = items
        .iter()
        .skip(first)
        .take(limit)
        .map(|item| serde_json::to_value(item).unwrap_or_default())
        .collect();
    let last = items.get(first + page.len().saturating_sub(1)).filter(|_| first + page.len() < items.len());
    Ok(answer(page, last.map(key)))
}

/// Answers with a page of a list whose items have no name of their own; the cursor is a place in the list.
pub(crate) fn cut_by_number<T: Serialize>(query: &Query, items: &[T]) -> Result<Answer, Problem> {
    let limit = limit(query)?;
    let first: usize = query.get("after")?.unwrap_or(0);
    let page: Vec<&T> = items.iter().skip(first).take(limit).collect();
    let end = first + page.len();
    Ok(answer(page, Some(end).filter(|end| *end < items.len())))
}
