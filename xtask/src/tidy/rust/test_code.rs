//! Which part of the sources is test code.

use std::ops::Range;

/// Tells whether a whole file is test code, by its path.
pub(crate) fn is_test_file(path: &str) -> bool {
    path.ends_with("/tests.rs") || path.split('/').any(|folder| folder == "tests")
}

/// Returns the ranges of masked code that are built only for tests.
pub(crate) fn test_ranges(code: &str) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    for (start, _) in code.match_indices("#[cfg(") {
        let Some(length) = code[start..].find(']') else { continue };
        let attribute = &code[start..start + length];
        let is_inside = ranges.last().is_some_and(|range| range.contains(&start));
        if !is_inside && is_for_tests(attribute) {
            let after = start + length + 1;
            ranges.push(start..after + item_length(&code[after..]));
        }
    }
    ranges
}

fn is_for_tests(attribute: &str) -> bool {
    let mut words = attribute.split(|character: char| !character.is_alphanumeric() && character != '_');
    words.any(|word| word == "test") && !attribute.contains("not(")
}

/// Returns the length of the item that the code begins with: up to its `;`, or to the end of its block.
fn item_length(code: &str) -> usize {
    let (mut braces, mut others) = (0_u32, 0_u32);
    for (at, byte) in code.bytes().enumerate() {
        match byte {
            b'(' | b'[' => others += 1,
            b')' | b']' => others = others.saturating_sub(1),
            b'{' => braces += 1,
            b'}' => {
                braces = braces.saturating_sub(1);
                if braces == 0 {
                    return at + 1;
                }
            }
            b';' if braces == 0 && others == 0 => return at + 1,
            _ => {}
        }
    }
    code.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranges(code: &str) -> Vec<&str> {
        test_ranges(code).into_iter().map(|range| &code[range]).collect()
    }

    #[test]
    fn a_test_item_ends_with_its_block_or_semicolon() {
        let code = "fn a() {}\n#[cfg(test)]\nmod tests { fn b() { c } }\nfn d() {}";
        assert_eq!(ranges(code), ["#[cfg(test)]\nmod tests { fn b() { c } }"]);
        assert_eq!(ranges("#[cfg(test)] use x::y; fn z() {}"), ["#[cfg(test)] use x::y;"]);
        assert_eq!(ranges("#[cfg(test)] fn f(x: [u8; 2]) { y } z"), ["#[cfg(test)] fn f(x: [u8; 2]) { y }"]);
        assert_eq!(ranges("#[cfg(all(test, unix))] mod t;").len(), 1);
    }

    #[test]
    fn other_conditions_are_not_for_tests() {
        assert!(ranges("#[cfg(not(test))] mod m { }").is_empty());
        assert!(ranges("#[cfg(unix)] mod m { }").is_empty());
        assert!(ranges("#[cfg(feature_test_x)] mod m { }").is_empty());
    }

    #[test]
    fn folders_and_names_tell_test_files() {
        assert!(is_test_file("crates/git/tests/merge.rs"));
        assert!(is_test_file("crates/core/src/task/tests.rs"));
        assert!(is_test_file("crates/core/src/tests/cancel.rs"));
        assert!(!is_test_file("crates/testkit/src/lib.rs"));
        assert!(!is_test_file("xtask/src/stages.rs"));
    }
}
