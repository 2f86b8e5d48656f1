//! Text without control characters, so that nothing hides in a task file or paints over a terminal.

/// Returns the text with line ends as LF, and without control characters but the line end and the tab.
///
/// Colours and other sequences that begin with an escape go as a whole, as far as they are of the usual form.
pub fn plain_text(text: &str) -> String {
    let is_plain = |character: char| matches!(character, '\n' | '\t') || !character.is_control();
    if text.chars().all(is_plain) {
        return text.to_owned();
    }
    let mut plain = String::with_capacity(text.len());
    let mut characters = text.chars().peekable();
    while let Some(character) = characters.next() {
        match character {
            '\r' if characters.peek() != Some(&'\n') => plain.push('\n'),
            '\u{1b}' if characters.next_if_eq(&'[').is_some() => {
                while characters.next_if(|next| matches!(next, ' '..='?')).is_some() {}
                characters.next_if(|next| matches!(next, '@'..='~'));
            }
            other if is_plain(other) => plain.push(other),
            _ => {}
        }
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::plain_text;

    #[test]
    fn control_characters_go_and_everything_else_stays() {
        assert_eq!(plain_text("a\tb\nä 表"), "a\tb\nä 表");
        assert_eq!(plain_text("\u{1b}[1;31mred\u{1b}[0m\u{7} a\u{0}b\u{9b}c"), "red abc");
        assert_eq!(plain_text("one\r\ntwo\rthree\u{1b}"), "one\ntwo\nthree");
    }
}
