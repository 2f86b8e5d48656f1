//! Default names of a PRD: its slug from a file name, its title from its first heading.

use crate::PrdSlug;

/// Makes a slug of a name such as `User Auth.v2`; `None` when no letter or digit is left.
pub fn slug_from(name: &str) -> Option<PrdSlug> {
    let mut slug = String::new();
    for letter in name.chars().flat_map(char::to_lowercase) {
        if letter.is_ascii_alphanumeric() {
            slug.push(letter);
        } else if !slug.is_empty() && !slug.ends_with('-') {
            slug.push('-');
        }
        if slug.len() == PrdSlug::BYTES_MAX {
            break;
        }
    }
    slug.trim_end_matches('-').parse().ok()
}

/// Finds the first heading of a Markdown text, of any level, outside fenced code.
pub fn find_title(text: &str) -> Option<&str> {
    let mut fence: Option<&str> = None;
    for line in text.trim_start_matches('\u{feff}').lines() {
        let content = line.trim_start_matches(' ');
        if line.len() - content.len() > 3 {
            continue;
        }
        let mark = ["```", "~~~"].into_iter().find(|mark| content.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (None, None) => {
                if let Some(title) = heading(content) {
                    return Some(title);
                }
            }
            _ => {}
        }
    }
    None
}

fn heading(content: &str) -> Option<&str> {
    const LEVEL_MAX: usize = 6;
    let rest = content.trim_start_matches('#');
    let level = content.len() - rest.len();
    if !(1..=LEVEL_MAX).contains(&level) || !rest.starts_with([' ', '\t']) {
        return None;
    }
    let title = rest.trim();
    let open = title.trim_end_matches('#');
    // Marks at the end close the heading, if a space stands before them.
    let title = if open.is_empty() || open.ends_with([' ', '\t']) { open.trim_end() } else { title };
    (!title.is_empty()).then_some(title)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slug_keeps_letters_and_digits() {
        let slug = |name: &str| slug_from(name).map(|slug| slug.to_string());
        assert_eq!(slug("user-auth").as_deref(), Some("user-auth"));
        assert_eq!(slug("  User Auth.v2 (Draft)!").as_deref(), Some("user-auth-v2-draft"));
        assert_eq!(slug("Überblick").as_deref(), Some("berblick"));
        assert_eq!(slug(&"a".repeat(100)), Some("a".repeat(64)));
        assert_eq!(slug(&format!("{} b", "a".repeat(63))), Some("a".repeat(63)));
        assert_eq!((slug("…"), slug("")), (None, None));
    }

    #[test]
    fn the_first_heading_is_the_title() {
        for (text, title) in [
            ("# User auth\n\ntext\n# Other\n", Some("User auth")),
            ("\u{feff}# User auth\r\n", Some("User auth")),
            ("text\n\n  ## Deep ##\n", Some("Deep")),
            ("# C#\n", Some("C#")),
            ("```sh\n# no\n~~~\n```\n# Yes\n", Some("Yes")),
            ("    # code\n#hash\n####### seven\n", None),
            ("# \n# #\n# Yes", Some("Yes")),
            ("", None),
        ] {
            assert_eq!(find_title(text), title, "{text:?}");
        }
    }
}
