//! Markdown to HTML that does nothing: raw HTML is text, and links lead only to `http` and `https`.

use crate::markup::{Markup, escape};
use pulldown_cmark::{CowStr, Event, Options, Parser, Tag, TagEnd, html};

/// The longest text that is rendered; what is longer is shown as text.
const BYTES_MAX: usize = 400_000;

/// Renders Markdown. Images become links, since nothing is loaded from elsewhere.
pub fn render(text: &str) -> Markup {
    if text.len() > BYTES_MAX {
        return Markup::new(format!("<pre tabindex=\"0\">{}</pre>", escape(text)));
    }
    let options = Options::ENABLE_TABLES | Options::ENABLE_STRIKETHROUGH | Options::ENABLE_TASKLISTS;
    let mut out = String::with_capacity(text.len() * 3 / 2);
    let mut open = Vec::new();
    html::push_html(&mut out, Parser::new_ext(text, options).flat_map(|event| tame(event, &mut open)));
    Markup::new(reachable(&out))
}

/// Makes blocks that scroll sideways reachable by the keyboard. No text has a tag by itself, so this finds only blocks.
pub(crate) fn reachable(html: &str) -> String {
    html.replace("<pre>", "<pre tabindex=\"0\">")
}

/// Returns an event as one that is harmless; `open` has the end of each link that is open.
fn tame<'a>(event: Event<'a>, open: &mut Vec<&'static str>) -> Option<Event<'a>> {
    let raw = |html: String| Event::Html(CowStr::from(html));
    Some(match event {
        Event::Html(text) | Event::InlineHtml(text) => Event::Text(text),
        Event::Start(Tag::Link { dest_url, .. } | Tag::Image { dest_url, .. }) => {
            let is_link = is_web(&dest_url);
            open.push(if is_link { "</a>" } else { "</span>" });
            if !is_link {
                return Some(raw("<span class=\"nolink\">".to_owned()));
            }
            let to = escape(&dest_url);
            raw(format!(
                "<a class=\"link\" href=\"{to}\" target=\"_blank\" rel=\"noopener noreferrer nofollow\">"
            ))
        }
        Event::End(TagEnd::Link | TagEnd::Image) => raw(open.pop()?.to_owned()),
        // A box that nobody can tick is a mark, with a word for who cannot see it.
        Event::TaskListMarker(is_done) => raw(match is_done {
            true => "<span class=\"seen yes\"><svg class=\"i\" aria-hidden=\"true\"><use href=\"#i-check\"/></svg></span><span class=\"sr\">done: </span>",
            false => "<span class=\"seen\"></span><span class=\"sr\">open: </span>",
        }.to_owned()),
        // A heading of a text is none of the page, so it has no name that could be linked to.
        Event::Start(Tag::Heading { level, .. }) => {
            Event::Start(Tag::Heading { level, id: None, classes: Vec::new(), attrs: Vec::new() })
        }
        other => other,
    })
}

/// Tells whether an address is one of the web.
pub(crate) fn is_web(address: &str) -> bool {
    let address = address.trim().to_ascii_lowercase();
    address.starts_with("https://") || address.starts_with("http://")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn html_is_text_and_links_lead_to_the_web() {
        let show = |text: &str| render(text).into_string();
        assert_eq!(show("a <b onclick=x>c</b>"), "<p>a &lt;b onclick=x&gt;c&lt;/b&gt;</p>\n");
        assert!(!show("<script>alert(1)</script>").contains("<script"));
        assert!(!show("[x](javascript:alert(1))").contains("href"));
        assert!(!show("[x](  JavaScript:alert(1))").contains("href"));
        assert!(!show("![x](data:text/html,x)").contains("<img"));
        assert!(!show("![x](https://example.org/a.png)").contains("<img"));
        let link = show("[x](https://example.org/?a=1&b=\"2\")");
        assert!(
            link.contains("rel=\"noopener") && link.contains("?a=1&amp;b=%222%22") || link.contains("&quot;"),
            "{link}"
        );
        let inside = show("[x](https://example.org/\"onclick=\"x)");
        let tag = inside.split('>').nth(1).unwrap_or_default();
        assert_eq!(tag.matches('"').count() % 2, 0, "every quote of the tag is its own: {inside}");
        assert!(!tag.contains("\"onclick"), "{inside}");
        assert_eq!(show("```\n<pre>\n```"), "<pre tabindex=\"0\"><code>&lt;pre&gt;\n</code></pre>\n");
        let list = show("- [x] a\n- [ ] b");
        assert!(
            list.contains("done: </span>") && list.contains("open: </span>") && !list.contains("<input"),
            "{list}"
        );
        assert!(!show("# Title {#evil .c onclick=x}").contains("id="));
    }
}
