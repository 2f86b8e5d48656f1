//! The page of an error: what failed, why, what to do next.

use crate::markup::{Markup, render};
use crate::shell::Shell;
use crate::words;
use askama::Template;
use regatta_engine::core::Problem;

#[derive(Template)]
#[template(path = "problem.html")]
struct Page<'a> {
    shell: &'a Shell,
    headline: String,
    why: String,
    next: &'a str,
    code: &'a str,
}

/// Renders the page of an error.
pub fn page(shell: &Shell, problem: &Problem) -> Markup {
    render(&Page {
        shell,
        headline: words::sentence(&problem.what),
        why: words::sentence(&problem.why.join(": ")),
        next: &problem.next,
        code: problem.code.as_str(),
    })
}
