//! A page that has only its frame so far.

use crate::markup::{Markup, render};
use crate::shell::Shell;
use askama::Template;

#[derive(Template)]
#[template(path = "soon.html")]
struct Page<'a> {
    shell: &'a Shell,
    heading: &'a str,
}

/// Renders the frame of a page.
pub fn page(shell: &Shell, heading: &str) -> Markup {
    render(&Page { shell, heading })
}
