//! The rule: a relative link of a Markdown file leads to a file that is there, and to a heading that is in it.
//!
//! Links to the network are not followed: a test does not depend on somebody's server.

use super::fault::Fault;
use super::markdown::{find_anchors, find_links};
use crate::tree::Tree;

/// Finds links that lead nowhere.
pub(crate) fn check(tree: &Tree) -> Vec<Fault> {
    let mut faults = Vec::new();
    for (path, text) in tree.texts_ending(".md") {
        for link in find_links(text) {
            if let Some(what) = judge(tree, path, &link.target) {
                faults.push(Fault::at(path, link.line, what));
            }
        }
    }
    faults
}

fn judge(tree: &Tree, from: &str, target: &str) -> Option<String> {
    if has_scheme(target) {
        return None;
    }
    let (file, anchor) = target.split_once('#').map_or((target, None), |(file, anchor)| (file, Some(anchor)));
    let found = if file.is_empty() { Some(from.to_owned()) } else { resolve(from, &decode(file)) };
    let Some(found) = found.filter(|found| tree.contains(found)) else {
        return Some(format!("the link `{target}` leads to no file"));
    };
    let anchor = anchor.filter(|_| found.ends_with(".md"))?;
    let text = tree.find(&found)?;
    (!find_anchors(text).contains(anchor))
        .then(|| format!("the link `{target}` leads to no heading of {found}"))
}

/// Tells whether a target is an address such as `https://…` or `mailto:…`.
fn has_scheme(target: &str) -> bool {
    let scheme = target.split(':').next().filter(|scheme| scheme.len() < target.len());
    target.starts_with("//")
        || scheme.is_some_and(|scheme| scheme.bytes().all(|byte| byte.is_ascii_alphabetic()))
}

/// Returns the path from the root; nothing when it leads out of the repository.
fn resolve(from: &str, target: &str) -> Option<String> {
    let mut parts: Vec<&str> = if target.starts_with('/') { Vec::new() } else { from.split('/').collect() };
    parts.pop();
    for part in target.split('/') {
        match part {
            "" | "." => {}
            ".." => {
                parts.pop()?;
            }
            _ => parts.push(part),
        }
    }
    Some(parts.join("/"))
}

/// Reads `%20` and its like.
fn decode(target: &str) -> String {
    let mut bytes = Vec::with_capacity(target.len());
    let mut rest = target.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
        let code = digits.filter(|_| *first == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(code.unwrap_or(*first));
        rest = if code.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::super::fault::render;
    use super::*;

    fn check_text(text: &str) -> Vec<String> {
        let other = "# Title\n## A part\n";
        render(&check(&Tree::of(&[("docs/a.md", text), ("docs/b c.md", other), ("src/x.rs", "")])))
    }

    #[test]
    fn links_that_lead_somewhere_pass() {
        for target in [
            "b%20c.md",
            "./b%20c.md#a-part",
            "../src/x.rs#L1",
            "../src",
            "/docs/a.md",
            "#own",
            "https://example.org/missing.md",
            "mailto:a@example.org",
            "..",
        ] {
            assert_eq!(check_text(&format!("# Own\n[x]({target})\n")), Vec::<String>::new(), "{target}");
        }
    }

    #[test]
    fn links_that_lead_nowhere_are_named() {
        assert_eq!(check_text("\n[x](missing.md)"), ["docs/a.md:2: the link `missing.md` leads to no file"]);
        assert_eq!(
            check_text("[x](../../out.md)"),
            ["docs/a.md:1: the link `../../out.md` leads to no file"]
        );
        assert_eq!(
            check_text("[x](b%20c.md#another)"),
            ["docs/a.md:1: the link `b%20c.md#another` leads to no heading of docs/b c.md"]
        );
        assert_eq!(check_text("[x](#nowhere)").len(), 1);
        assert_eq!(check_text("[x](src)").len(), 1);
    }
}
