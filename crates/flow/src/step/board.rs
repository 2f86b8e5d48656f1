//! The items that appear on the board as tasks.

use crate::expression::Expression;
use crate::step::items::{evaluate_list, item_text, item_texts};
use crate::step::{Look, StepFault};
use serde_json::Value;

/// One item of the board.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BoardItem {
    /// Its key, by which a step speaks of its task.
    pub key: String,
    /// The title; the key if there is none.
    pub title: String,
    /// The description; may be empty.
    pub description: String,
    /// The acceptance criteria.
    pub criteria: Vec<String>,
    /// The priority as the workflow says it, such as `high`.
    pub priority: Option<String>,
    /// The keys of the items it depends on.
    pub depends: Vec<String>,
    /// The name of its branch, if the workflow gives it one.
    pub branch: Option<String>,
    /// The commit or branch that its work starts from, if the workflow names one.
    pub base: Option<String>,
}

/// Evaluates the items of the board; there are none without one.
pub fn board_items(look: &Look<'_>) -> Result<Vec<BoardItem>, StepFault> {
    let Some(board) = &look.workflow().board else { return Ok(Vec::new()) };
    let text = |value: &Value, expression: &Option<Expression>| match expression {
        Some(expression) => item_text(look, value, expression),
        None => Ok(None),
    };
    let texts = |value: &Value, expression: &Option<Expression>| match expression {
        Some(expression) => item_texts(look, value, expression),
        None => Ok(Vec::new()),
    };
    let item = |value: Value| {
        let key = item_text(look, &value, &board.key)?;
        let key = key.ok_or_else(|| StepFault::unusable(&board.key, "a text", &Value::Null))?;
        Ok(BoardItem {
            title: text(&value, &board.title)?.unwrap_or_else(|| key.clone()),
            description: text(&value, &board.description)?.unwrap_or_default(),
            criteria: texts(&value, &board.criteria)?,
            priority: text(&value, &board.priority)?,
            depends: texts(&value, &board.depends)?,
            branch: text(&value, &board.branch)?,
            base: text(&value, &board.base)?,
            key,
        })
    };
    evaluate_list(look, &board.items)?.into_iter().map(item).collect()
}
