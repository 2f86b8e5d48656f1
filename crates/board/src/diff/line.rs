//! One line of code as HTML: colours, changed words, and nothing that acts or hides.
//!
//! Control characters and those that turn or hide text are shown by name, because a diff that looks different from what it
//! does is how a review is tricked.

use super::highlight::Span;
use std::fmt::Write;
use std::ops::Range;

/// Longer lines are cut; the rest is data.
pub const LINE_CHARACTERS_MAX: usize = 4_000;

/// Appends a line of code. The ranges are in bytes of `text`.
pub fn render_code(out: &mut String, text: &str, spans: &[Span], words: &[Range<usize>]) {
    let end = text.char_indices().nth(LINE_CHARACTERS_MAX).map_or(text.len(), |(at, _)| at);
    let mut edges: Vec<usize> = vec![0, end];
    let bounds = spans.iter().map(|span| &span.range).chain(words);
    edges.extend(bounds.flat_map(|range| [range.start, range.end]).filter(|edge| *edge < end));
    edges.retain(|edge| text.is_char_boundary(*edge));
    edges.sort_unstable();
    edges.dedup();
    let (mut span, mut word, mut is_in_word) = (0, 0, false);
    for edge in edges.windows(2) {
        let (from, to) = (edge[0], edge[1]);
        while spans.get(span).is_some_and(|span| span.range.end <= from) {
            span += 1;
        }
        while words.get(word).is_some_and(|word| word.end <= from) {
            word += 1;
        }
        let is_word = words.get(word).is_some_and(|word| word.start <= from);
        if is_in_word && !is_word {
            out.push_str("</span>");
        }
        if is_word && !is_in_word {
            out.push_str("<span class=\"w\">");
        }
        is_in_word = is_word;
        match spans.get(span).filter(|span| span.range.start <= from) {
            Some(span) => {
                let _ = write!(out, "<span class=\"{}\">", span.class.as_str());
                escape(out, &text[from..to]);
                out.push_str("</span>");
            }
            None => escape(out, &text[from..to]),
        }
    }
    if is_in_word {
        out.push_str("</span>");
    }
    if end < text.len() {
        let more = text[end..].chars().count();
        let _ = write!(out, "<span class=\"ctl\">… {more} more characters</span>");
    }
}

fn escape(out: &mut String, text: &str) {
    for character in text.chars() {
        match character {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            '\t' => out.push('\t'),
            other if is_hidden(other) => {
                let _ = write!(out, "<span class=\"ctl\">U+{:04X}</span>", u32::from(other));
            }
            other => out.push(other),
        }
    }
}

/// Tells whether a character turns the direction of text, has no width, or controls a terminal.
fn is_hidden(character: char) -> bool {
    character.is_control()
        || matches!(
            character,
            '\u{ad}'
                | '\u{61c}'
                | '\u{180e}'
                | '\u{200b}'
                | '\u{200e}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{feff}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e007f}'
        )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::diff::Class;

    fn render(text: &str, spans: &[(Range<usize>, Class)], words: &[Range<usize>]) -> String {
        let spans: Vec<Span> =
            spans.iter().map(|(range, class)| Span { range: range.clone(), class: *class }).collect();
        let mut out = String::new();
        render_code(&mut out, text, &spans, words);
        out
    }

    #[test]
    fn words_go_around_colours() {
        assert_eq!(
            render(
                "let a = 1;",
                &[(0..3, Class::Keyword), (8..9, Class::Number)],
                &[Range { start: 4, end: 9 }]
            ),
            "<span class=\"kw\">let</span> <span class=\"w\">a = <span class=\"nu\">1</span></span>;"
        );
        assert_eq!(
            render("abcd", &[(0..3, Class::Type)], &[1..2, 3..4]),
            "<span class=\"ty\">a</span><span class=\"w\"><span class=\"ty\">b</span></span><span class=\"ty\">c</span>\
             <span class=\"w\">d</span>"
        );
    }

    #[test]
    fn nothing_in_a_line_acts_or_hides() {
        assert_eq!(
            render("<script>'\"&\u{1b}[31m\u{202e}x\u{0}", &[], &[]),
            "&lt;script&gt;&#39;&quot;&amp;<span class=\"ctl\">U+001B</span>[31m<span class=\"ctl\">U+202E</span>x\
             <span class=\"ctl\">U+0000</span>"
        );
    }

    #[test]
    fn ranges_that_do_not_fit_do_no_harm() {
        let odd = [0..1, 1..2, 5..900, 3..3];
        let shown = render("äöü", &[(1..3, Class::Type), (90..99, Class::Type)], &odd);
        assert_eq!(
            shown, "<span class=\"w\">ä</span><span class=\"ty\">öü</span>",
            "edges inside a character are left out"
        );
        assert_eq!(render("", &[], &[]), "");
        let long = render(&"é<".repeat(5_000), &[], &[]);
        assert!(long.ends_with("<span class=\"ctl\">… 6000 more characters</span>"));
        assert!(long.len() < 40_000);
    }
}
