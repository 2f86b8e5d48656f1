//! File names as git writes them in a patch: in quotes with escapes, if they hold anything unusual.

/// Reads a name that may be in quotes, and returns it with what follows it; nothing if a quote is not closed.
pub(super) fn read_name(text: &str) -> Option<(String, &str)> {
    let Some(quoted) = text.strip_prefix('"') else { return Some((text.to_owned(), "")) };
    let mut bytes = Vec::new();
    let mut rest = quoted.bytes().enumerate();
    while let Some((at, byte)) = rest.next() {
        match byte {
            b'"' => return Some((String::from_utf8_lossy(&bytes).into_owned(), &quoted[at + 1..])),
            b'\\' => match rest.next()?.1 {
                b'a' => bytes.push(7),
                b'b' => bytes.push(8),
                b't' => bytes.push(b'\t'),
                b'n' => bytes.push(b'\n'),
                b'v' => bytes.push(11),
                b'f' => bytes.push(12),
                b'r' => bytes.push(b'\r'),
                first @ b'0'..=b'3' => {
                    let mut value = first - b'0';
                    for _ in 0..2 {
                        let (_, digit) = rest.next()?;
                        value = value * 8 + digit.checked_sub(b'0').filter(|digit| *digit < 8)?;
                    }
                    bytes.push(value);
                }
                other => bytes.push(other),
            },
            other => bytes.push(other),
        }
    }
    None
}

/// Reads the two names of `diff --git a/X b/Y`. Unquoted names are ambiguous unless both are the same, as they are wherever
/// this line alone names them.
pub(super) fn read_pair(text: &str) -> Option<(String, String)> {
    if text.starts_with('"') {
        let (old, rest) = read_name(text)?;
        let (new, _) = read_name(rest.strip_prefix(' ')?)?;
        return Some((strip(&old, "a/"), strip(&new, "b/")));
    }
    let middle = text.len() / 2;
    if let (Some(old), Some(new)) = (text.get(..middle), text.get(middle..))
        && let (Some(old), Some(new)) = (old.strip_prefix("a/"), new.strip_prefix(" b/"))
        && old == new
    {
        return Some((old.to_owned(), new.to_owned()));
    }
    // One of the two is in quotes, or they differ; then `rename`, `---` or `+++` names them better.
    let (old, new) = text.split_once(" b/").or_else(|| text.split_once(" \"b/"))?;
    Some((strip(old, "a/"), new.trim_end_matches('"').to_owned()))
}

/// Reads the name after `--- ` or `+++ `; nothing for `/dev/null`.
pub(super) fn read_side(text: &str, prefix: &str) -> Option<String> {
    // Git ends a name that holds a space with a tab, so that other tools find its end.
    let text = if text.starts_with('"') { text } else { text.strip_suffix('\t').unwrap_or(text) };
    let (name, _) = read_name(text)?;
    if name == "/dev/null" { None } else { Some(strip(&name, prefix)) }
}

fn strip(name: &str, prefix: &str) -> String {
    name.strip_prefix(prefix).unwrap_or(name).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes_are_read() {
        let read = |text| read_name(text).map(|(name, rest)| (name, rest.to_owned()));
        assert_eq!(read(r#""a\tb\n\"c\"\\" rest"#), Some(("a\tb\n\"c\"\\".to_owned(), " rest".to_owned())));
        assert_eq!(read(r#""b\303\244d""#).unwrap().0, "bäd");
        assert_eq!(read(r#""bad-\377""#).unwrap().0, "bad-\u{fffd}");
        assert_eq!(read("plain name").unwrap().0, "plain name");
        for broken in [r#"""#, r#""a"#, r#""a\"#, r#""a\39""#, r#""a\3"#, r#""a\388""#] {
            assert_eq!(read(broken), None, "{broken}");
        }
    }

    #[test]
    fn the_names_of_a_pair_are_found() {
        let pair = |text| read_pair(text).unwrap_or_default();
        assert_eq!(pair("a/x b/x"), ("x".into(), "x".into()));
        assert_eq!(pair("a/x b/y b/x b/y"), ("x b/y".into(), "x b/y".into()));
        assert_eq!(pair(r#""a/x\t" "b/x\t""#), ("x\t".into(), "x\t".into()));
        assert_eq!(pair("a/one b/two"), ("one".into(), "two".into()));
        assert_eq!(read_pair(""), None);
        assert_eq!(read_pair("ä"), None);
    }
}
