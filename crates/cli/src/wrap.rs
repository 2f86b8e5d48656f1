//! Lines that fit a terminal, by the columns that their characters take.

use unicode_width::UnicodeWidthChar;

/// Cuts a line to so many columns, with a mark where something is missing.
pub(crate) fn cut(text: &str, width: usize) -> String {
    if width_of(text) <= width {
        return text.to_owned();
    }
    let mut taken = 0;
    let fitting = text.chars().take_while(|character| {
        taken += character.width().unwrap_or(0);
        taken < width
    });
    fitting.collect::<String>() + "…"
}

/// Breaks a line between words; a word that is too long is broken within. What is indented stays so.
pub(crate) fn wrap(line: &str, width: Option<usize>) -> Vec<String> {
    let Some(width) = width.filter(|width| width_of(line) > *width) else {
        return vec![line.trim_end().to_owned()];
    };
    let indent: String = line.chars().take_while(|character| *character == ' ').take(width / 2).collect();
    let mut pieces = Vec::new();
    let (mut piece, mut taken) = (String::new(), 0);
    let mut space_at: Option<usize> = None;
    for character in line.chars() {
        let own = character.width().unwrap_or(0);
        if taken + own > width {
            let rest = match space_at.filter(|at| *at > indent.len()) {
                Some(at) => piece.split_off(at).trim_start().to_owned(),
                None => String::new(),
            };
            pieces.push(piece.trim_end().to_owned());
            piece = format!("{indent}{rest}");
            taken = width_of(&piece);
            space_at = None;
            if character == ' ' && rest.is_empty() {
                continue;
            }
        }
        if character == ' ' {
            space_at = Some(piece.len());
        }
        piece.push(character);
        taken += own;
    }
    if !piece.trim().is_empty() {
        pieces.push(piece.trim_end().to_owned());
    }
    pieces
}

fn width_of(text: &str) -> usize {
    text.chars().map(|character| character.width().unwrap_or(0)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_cut_by_columns() {
        assert_eq!(cut("abc", 3), "abc");
        assert_eq!(cut("abcd", 3), "ab…");
        assert_eq!(cut("表表表", 4), "表…");
    }

    #[test]
    fn lines_wrap_between_words_and_keep_their_indent() {
        assert_eq!(wrap("  one two three four", Some(12)), ["  one two", "  three four"]);
        assert_eq!(wrap("abcdefghij", Some(4)), ["abcd", "efgh", "ij"]);
        assert_eq!(wrap("表表表", Some(4)), ["表表", "表"]);
        assert_eq!(wrap("", Some(4)), [""]);
        for width in 1..20 {
            for piece in wrap("the quick   brown fox jumps  overthelazydogagain and again", Some(width)) {
                assert!(width_of(&piece) <= width, "{piece:?} at {width}");
            }
        }
    }
}
