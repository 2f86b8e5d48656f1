//! As much of ANSI text as the command line prints: lines of spans with a colour, bold and dim.
//!
//! Sequences that are not about colour are left out; nothing is refused.

/// A colour by its place in the palette of a terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Colour {
    Red,
    Green,
    Yellow,
    Cyan,
}

/// How a span looks.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Style {
    pub(crate) colour: Option<Colour>,
    pub(crate) is_bold: bool,
    pub(crate) is_dim: bool,
}

/// A piece of a line in one style.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Span {
    pub(crate) text: String,
    pub(crate) style: Style,
}

/// Reads text with escape sequences as lines; a style lasts until it is reset, also over the end of a line.
pub(crate) fn parse(text: &str) -> Vec<Vec<Span>> {
    let mut style = Style::default();
    text.lines().map(|line| parse_line(line, &mut style)).collect()
}

/// Returns the text of a line without its styles.
pub(crate) fn plain(line: &[Span]) -> String {
    line.iter().map(|span| span.text.as_str()).collect()
}

fn parse_line(line: &str, style: &mut Style) -> Vec<Span> {
    let mut spans = Vec::new();
    let mut rest = line;
    while let Some((before, after)) = rest.split_once("\u{1b}[") {
        push(&mut spans, before, *style);
        let end = after.find(|character: char| character.is_ascii_alphabetic());
        let (sequence, letter_and_rest) = after.split_at(end.unwrap_or(after.len()));
        if letter_and_rest.starts_with('m') {
            sequence.split(';').for_each(|code| apply(style, code));
        }
        rest = letter_and_rest.get(1..).unwrap_or_default();
    }
    push(&mut spans, rest, *style);
    spans
}

fn push(spans: &mut Vec<Span>, text: &str, style: Style) {
    if !text.is_empty() {
        spans.push(Span { text: text.to_owned(), style });
    }
}

fn apply(style: &mut Style, code: &str) {
    match code {
        "" | "0" => *style = Style::default(),
        "1" => style.is_bold = true,
        "2" => style.is_dim = true,
        "31" => style.colour = Some(Colour::Red),
        "32" => style.colour = Some(Colour::Green),
        "33" => style.colour = Some(Colour::Yellow),
        "36" => style.colour = Some(Colour::Cyan),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn styles_begin_and_end_where_the_text_says() {
        let lines = parse("\u{1b}[36m#1\u{1b}[0m a\n\u{1b}[1m\u{1b}[31mb\nc\u{1b}[0m\n\n");
        let shown: Vec<Vec<(&str, Style)>> = lines
            .iter()
            .map(|line| line.iter().map(|span| (span.text.as_str(), span.style)).collect())
            .collect();
        let plain = Style::default();
        let cyan = Style { colour: Some(Colour::Cyan), ..plain };
        let loud = Style { colour: Some(Colour::Red), is_bold: true, is_dim: false };
        assert_eq!(shown, [vec![("#1", cyan), (" a", plain)], vec![("b", loud)], vec![("c", loud)], vec![]]);
    }

    #[test]
    fn other_sequences_and_a_torn_one_are_left_out() {
        assert_eq!(plain(&parse("a\u{1b}[2Kb\u{1b}[38mc\u{1b}[3")[0]), "abc");
    }
}
