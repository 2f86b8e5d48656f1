//! Tells code from comments and literals.
//!
//! The two texts that come out are as long as the one that went in, with spaces for what does not belong, so that
//! a place in one is the same place in the others.

/// A source text taken apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Masked {
    /// Only the code: no comments, no contents of string and character literals.
    pub(crate) code: String,
    /// Only the comments.
    pub(crate) comments: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Code,
    Comment,
    Literal,
}

/// Takes a source text apart.
pub(crate) fn mask(text: &str) -> Masked {
    let (mut code, mut comments) = (String::with_capacity(text.len()), String::with_capacity(text.len()));
    let mut at = 0;
    let mut previous = ' ';
    while let Some(first) = text[at..].chars().next() {
        let (kind, length) = piece(&text[at..], first, previous);
        let piece = &text[at..at + length];
        push(&mut code, piece, kind == Kind::Code);
        push(&mut comments, piece, kind == Kind::Comment);
        previous = piece.chars().next_back().unwrap_or(' ');
        at += length;
    }
    Masked { code, comments }
}

fn push(out: &mut String, piece: &str, keep: bool) {
    if keep {
        out.push_str(piece);
    } else {
        out.extend(piece.bytes().map(|byte| if byte == b'\n' { '\n' } else { ' ' }));
    }
}

/// Returns what the text begins with, and how many bytes of it.
fn piece(text: &str, first: char, previous: char) -> (Kind, usize) {
    if text.starts_with("//") {
        return (Kind::Comment, text.find('\n').unwrap_or(text.len()));
    }
    if text.starts_with("/*") {
        return (Kind::Comment, block_comment_length(text));
    }
    let in_word = previous.is_alphanumeric() || previous == '_';
    if let Some(length) = string_length(text).filter(|_| first == '"' || !in_word) {
        return (Kind::Literal, length);
    }
    if let Some(length) = character_length(text) {
        return (Kind::Literal, length);
    }
    (Kind::Code, first.len_utf8())
}

fn block_comment_length(text: &str) -> usize {
    let bytes = text.as_bytes();
    let (mut at, mut depth) = (0, 0_u32);
    while at < bytes.len() {
        match bytes.get(at..at + 2) {
            Some(b"/*") => {
                depth += 1;
                at += 2;
            }
            Some(b"*/") => {
                depth -= 1;
                at += 2;
                if depth == 0 {
                    return at;
                }
            }
            _ => at += 1,
        }
    }
    bytes.len()
}

/// Returns the length of the string literal that the text begins with: plain, byte, C or raw.
fn string_length(text: &str) -> Option<usize> {
    let after_kind = text.strip_prefix(['b', 'c']).unwrap_or(text);
    let after_raw = after_kind.strip_prefix('r');
    let body = after_raw.unwrap_or(after_kind);
    let hashes = if after_raw.is_some() { body.len() - body.trim_start_matches('#').len() } else { 0 };
    let inside = body[hashes..].strip_prefix('"')?;
    let opened = text.len() - inside.len();
    if after_raw.is_some() {
        let end = format!("\"{}", "#".repeat(hashes));
        return Some(inside.find(&end).map_or(text.len(), |found| opened + found + end.len()));
    }
    Some(opened + escaped_length(inside, b'"'))
}

/// Returns the length up to and with the closing quote; a backslash guards what follows it.
fn escaped_length(inside: &str, quote: u8) -> usize {
    let mut bytes = inside.bytes().enumerate();
    while let Some((at, byte)) = bytes.next() {
        if byte == quote {
            return at + 1;
        }
        if byte == b'\\' {
            bytes.next();
        }
    }
    inside.len()
}

/// Returns the length of the character literal that the text begins with; a lifetime is none.
fn character_length(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('\'')?;
    if inside.starts_with('\\') {
        return Some(1 + escaped_length(inside, b'\''));
    }
    let length = inside.chars().next()?.len_utf8();
    inside[length..].starts_with('\'').then_some(length + 2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn code(text: &str) -> String {
        let masked = mask(text);
        assert_eq!(masked.code.len(), text.len(), "{text}");
        assert_eq!(masked.comments.len(), text.len(), "{text}");
        masked.code.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn comments_and_literals_are_not_code() {
        assert_eq!(code("a /* b /* c */ d */ e // f\ng"), "a e g");
        assert_eq!(code(r##"x = "a \" // b"; y = r#"c " d"#; z = b"e" ;"##), "x = ; y = ; z = ;");
        assert_eq!(code(r"f('\'', '\\', 'é', '\u{1F600}'); g"), "f( , , , ); g");
        assert_eq!(code("fn f<'a>(x: &'a str) {}"), "fn f<'a>(x: &'a str) {}");
        assert_eq!(code(r#"r#type; attr"x"; é "ü" z"#), "r#type; attr ; é z");
    }

    #[test]
    fn what_is_never_closed_ends_with_the_text() {
        for open in ["/* a", "\"a", "r#\"a\"", "'\\", "\"\\"] {
            assert_eq!(code(open), "", "{open}");
        }
    }

    #[test]
    fn comments_keep_their_lines() {
        let masked = mask("a\n// one\n\"// two\" // three\n");
        let lines: Vec<&str> = masked.comments.lines().map(str::trim).collect();
        assert_eq!(lines, ["", "// one", "// three"]);
    }
}
