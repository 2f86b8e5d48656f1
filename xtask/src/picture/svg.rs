//! Draws lines of a terminal as a window in a standalone SVG: no script, no font and no picture from elsewhere.

use std::fmt::Write as _;

use super::ansi::{Colour, Span, Style, plain};

const FONT_SIZE: f64 = 13.0;
const LINE_HEIGHT: f64 = 18.0;
/// The advance of the usual monospaced fonts is 0.60 em; a little more keeps wider ones inside the window.
const CHARACTER_WIDTH: f64 = FONT_SIZE * 0.62;
const MARGIN: f64 = 22.0;
const TITLE_HEIGHT: f64 = 36.0;
const FONTS: &str = "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace";

/// Draws the window with a title and its lines.
pub(crate) fn render(title: &str, lines: &[Vec<Span>]) -> String {
    let columns = lines.iter().map(|line| plain(line).chars().count()).max().unwrap_or(0);
    let width = (2.0 * MARGIN + columns as f64 * CHARACTER_WIDTH).ceil();
    let height =
        (TITLE_HEIGHT + 2.0 * MARGIN + lines.len() as f64 * LINE_HEIGHT - (LINE_HEIGHT - FONT_SIZE)).ceil();
    let mut svg = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width} {height}\" width=\"{width}\" height=\"{height}\" \
         role=\"img\">\n<title>{title}</title>\n\
         <rect x=\"0.5\" y=\"0.5\" width=\"{}\" height=\"{}\" rx=\"10\" fill=\"#0d1117\" stroke=\"#30363d\"/>\n\
         <path d=\"M0.5 {TITLE_HEIGHT}H{}\" stroke=\"#30363d\"/>\n",
        width - 1.0,
        height - 1.0,
        width - 0.5,
        title = escape(title),
    );
    for (index, colour) in ["#ff5f57", "#febc2e", "#28c840"].iter().enumerate() {
        let x = MARGIN + index as f64 * 20.0;
        let _ = writeln!(svg, "<circle cx=\"{x}\" cy=\"{}\" r=\"6\" fill=\"{colour}\"/>", TITLE_HEIGHT / 2.0);
    }
    let _ = writeln!(
        svg,
        "<g font-family=\"{FONTS}\" font-size=\"{FONT_SIZE}\" fill=\"#c9d1d9\" xml:space=\"preserve\">\n\
         <text x=\"{}\" y=\"{}\" text-anchor=\"middle\" fill=\"#8b949e\">{}</text>",
        width / 2.0,
        TITLE_HEIGHT / 2.0 + FONT_SIZE * 0.35,
        escape(title),
    );
    for (index, line) in lines.iter().enumerate().filter(|(_, line)| !line.is_empty()) {
        let y = TITLE_HEIGHT + MARGIN + index as f64 * LINE_HEIGHT + FONT_SIZE * 0.8;
        let spans: String = line.iter().map(render_span).collect();
        let _ = writeln!(svg, "<text x=\"{MARGIN}\" y=\"{y:.1}\">{spans}</text>");
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

fn render_span(span: &Span) -> String {
    let Style { colour, is_bold, is_dim } = span.style;
    let fill = match colour {
        Some(Colour::Red) => Some("#ff7b72"),
        Some(Colour::Green) => Some("#56d364"),
        Some(Colour::Yellow) => Some("#e3b341"),
        Some(Colour::Cyan) => Some("#56d4dd"),
        None if is_dim => Some("#8b949e"),
        None if is_bold => Some("#f0f6fc"),
        None => None,
    };
    let mut attributes = fill.map_or_else(String::new, |fill| format!(" fill=\"{fill}\""));
    if is_bold {
        attributes.push_str(" font-weight=\"bold\"");
    }
    let text = escape(&span.text);
    if attributes.is_empty() { text } else { format!("<tspan{attributes}>{text}</tspan>") }
}

/// Escapes what XML gives a meaning to, and drops what it does not allow at all.
fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            control if control.is_control() => {}
            other => out.push(other),
        }
    }
    out
}

#[cfg(test)]
pub(super) mod tests {
    use super::super::ansi::parse;
    use super::*;

    /// Fails unless the text is one XML element, everything in it closed and escaped; returns the texts in it.
    pub(in super::super) fn read_xml(text: &str) -> String {
        let mut open: Vec<&str> = Vec::new();
        let mut texts = String::new();
        let mut rest = text.trim_end();
        while let Some((before, after)) = rest.split_once('<') {
            assert!(before.trim().is_empty() || !open.is_empty(), "text outside of the element: {before:?}");
            texts.push_str(&read_text(before));
            let (tag, later) = after.split_once('>').expect("a tag is closed");
            match (tag.strip_prefix('/'), tag.strip_suffix('/')) {
                (Some(name), _) => assert_eq!(open.pop(), Some(name)),
                (None, Some(empty)) => check_attributes(empty),
                (None, None) => {
                    check_attributes(tag);
                    open.push(tag.split(' ').next().unwrap_or(tag));
                }
            }
            assert!(!open.is_empty() || later.is_empty(), "something follows the element");
            rest = later;
        }
        assert_eq!((open.len(), rest), (0, ""), "an element is not closed: {open:?}");
        texts
    }

    fn read_text(text: &str) -> String {
        for piece in text.split('&').skip(1) {
            let name = piece.split(';').next().unwrap_or_default();
            assert!(["amp", "lt", "gt", "quot"].contains(&name), "a stray `&` before {piece:?}");
        }
        let text = text.replace("&lt;", "<").replace("&gt;", ">").replace("&quot;", "\"");
        text.replace("&amp;", "&")
    }

    fn check_attributes(tag: &str) {
        let quotes = tag.matches('"').count();
        assert!(quotes.is_multiple_of(2) && quotes == 2 * tag.matches("=\"").count(), "{tag}");
    }

    #[test]
    fn text_that_xml_would_obey_is_shown() {
        let svg = render("a < b", &parse("\u{1b}[32m<b>&\"\u{7}\u{1b}[0m c  d\n\nlast"));
        let texts = read_xml(&svg);
        assert!(texts.contains("<b>&\" c  d"), "{texts}");
        assert!(svg.contains("<tspan fill=\"#56d364\">&lt;b&gt;&amp;&quot;</tspan> c  d</text>"), "{svg}");
    }

    #[test]
    fn the_window_is_as_large_as_its_lines() {
        let size = |text: &str| {
            let svg = render("t", &parse(text));
            let view = svg.split_once("viewBox=\"0 0 ").unwrap().1.split('"').next().unwrap().to_owned();
            let (width, height) = view.split_once(' ').unwrap();
            (width.parse::<f64>().unwrap(), height.parse::<f64>().unwrap())
        };
        let (small, wide, tall) = (size("ab"), size(&"x".repeat(100)), size("ab\nab\nab"));
        assert!(wide.0 >= small.0 + 98.0 * FONT_SIZE * 0.6 && wide.1 == small.1);
        assert!(tall.1 == small.1 + 2.0 * LINE_HEIGHT && tall.0 == small.0);
    }
}
