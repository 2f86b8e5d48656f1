//! The page of an error code: its text in the manual, with links between codes. It is in the binary, so it is there offline.

use crate::markdown::reachable;
use crate::markup::{Markup, render};
use crate::shell::Shell;
use askama::Template;
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};
use regatta_engine::core::Code;

#[derive(Template)]
#[template(path = "error_page.html")]
struct Page<'a> {
    shell: &'a Shell,
    code: &'a str,
    text: Markup,
}

/// Returns the address of the page of a code.
pub fn address(code: &str) -> String {
    format!("/errors/{code}")
}

/// Renders the page of a code; nothing if there is no such code.
pub fn page(shell: &Shell, code: &str) -> Option<Markup> {
    let code = find(code)?;
    Some(render(&Page { shell, code: code.as_str(), text: show(code.page()) }))
}

fn find(name: &str) -> Option<Code> {
    Code::ALL.iter().copied().find(|code| code.as_str() == name)
}

/// Renders a text of ours. A link to another page of an error leads there; one to a file that is not in the binary is text.
fn show(text: &str) -> Markup {
    let mut out = String::with_capacity(text.len() * 3 / 2);
    let mut is_link = false;
    let events = Parser::new_ext(text, Options::ENABLE_TABLES).filter_map(|event| match event {
        Event::Start(Tag::Link { link_type, dest_url, title, id }) => {
            let dest_url = find_address(&dest_url);
            is_link = dest_url.is_some();
            let dest_url = CowStr::from(dest_url?);
            Some(Event::Start(Tag::Link { link_type, dest_url, title, id }))
        }
        Event::End(TagEnd::Link) => is_link.then_some(Event::End(TagEnd::Link)),
        other => Some(other),
    });
    html::push_html(&mut out, events);
    Markup::new(reachable(&out))
}

fn find_address(link: &str) -> Option<String> {
    let code = link.rsplit('/').next()?.strip_suffix(".md")?;
    find(code).map(|code| address(code.as_str()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_between_errors_work_and_others_are_text() {
        let shown = show("[a](GIT_FAILED.md) [b](../guide/x.md) `c`").into_string();
        assert_eq!(shown, "<p><a href=\"/errors/GIT_FAILED\">a</a> b <code>c</code></p>\n");
    }
}
