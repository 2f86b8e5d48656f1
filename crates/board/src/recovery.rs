//! The panel of an error: what did not happen and why, what is safe, and every way out as a button.

use crate::act;
use crate::markup::{Markup, escape, render};
use askama::Template;
use regatta_engine::recovery::{ActionView, RecoveryView};
use serde_json::json;

/// More files than this are named in the error's own words.
pub(crate) const FILES_MAX: usize = 50;

#[derive(Template)]
#[template(path = "recovery.html")]
struct Panel<'a> {
    recovery: &'a RecoveryView,
    /// The request that opens a file, where an editor is set.
    opens: Option<String>,
    files: &'a [String],
    more: usize,
}

/// Renders the panel; `opens` is the address that opens a file of the worktree in the person's editor.
pub fn panel(recovery: &RecoveryView, opens: Option<String>) -> Markup {
    let files = &recovery.files[..recovery.files.len().min(FILES_MAX)];
    render(&Panel { recovery, opens, files, more: recovery.files.len() - files.len() })
}

/// Returns the attributes of an action's button.
pub(crate) fn attributes(action: &ActionView) -> Markup {
    let request = match (&action.request, &action.page) {
        (Some(request), _) => act::attributes(&json!(request)).into_string(),
        (None, _) => format!("data-copy=\"{}\"", escape(&action.command)),
    };
    Markup::new(format!("{request} data-action=\"{}\"", action.action))
}

/// Returns the attributes of a button that opens one file.
pub(crate) fn opening(path: &str, file: &str) -> Markup {
    let request = json!({ "method": "POST", "path": path, "body": { "path": file }, "said": "It opens in your editor" });
    act::attributes(&request)
}

/// Tells whether the button first asks for one of several.
pub(crate) fn is_choice(action: &ActionView) -> bool {
    action.request.as_ref().is_some_and(|request| request.choose.is_some())
}
