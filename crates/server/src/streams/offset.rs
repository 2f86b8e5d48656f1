//! Offsets: opaque to clients, and in the order of their texts.

/// As many digits as the largest number has: all offsets have the same length, so that texts compare as numbers do.
const DIGITS: usize = 20;

/// Where a client wants to begin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Start {
    /// After so many values.
    After(u64),
    /// At the end, wherever that is.
    Now,
}

/// Writes the offset after so many values.
pub(crate) fn render(number: u64) -> String {
    format!("{number:0DIGITS$}")
}

/// Reads an offset: `-1` is the beginning.
pub(crate) fn parse(text: &str) -> Option<Start> {
    match text {
        "-1" => Some(Start::After(0)),
        "now" => Some(Start::Now),
        _ if text.len() == DIGITS && text.bytes().all(|byte| byte.is_ascii_digit()) => {
            text.parse().ok().map(Start::After)
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_offset_is_read_back_and_nothing_else_is() {
        for number in [0, 7, u64::MAX] {
            assert_eq!(parse(&render(number)), Some(Start::After(number)));
        }
        assert_eq!((parse("-1"), parse("now")), (Some(Start::After(0)), Some(Start::Now)));
        for text in ["", "7", "-2", "../x", "0000000000000000000a", "99999999999999999999", "1,2"] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert!(render(9) < render(10));
    }
}
