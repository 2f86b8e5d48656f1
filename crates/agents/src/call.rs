//! What a tool is called with, in one line: the command, the file, the words that are looked for.
//!
//! Agents name these differently and change their names, so this goes by the usual ones and falls back to the plain
//! values. Pure and bounded: a call may hold a whole file.

use std::path::Path;

use serde_json::Value;

use crate::text::{cut_length, one_line};

/// How much of a call is shown.
const ABOUT_BYTES_MAX: usize = 300;

/// Longest path that is shown: no system allows longer ones.
const PATH_BYTES_MAX: usize = 4096;

/// Values of an unknown tool that are shown.
const VALUES_MAX: usize = 4;

const PATH_KEYS: [&str; 8] =
    ["file_path", "filePath", "path", "notebook_path", "absolute_path", "dir_path", "filename", "file"];

const COMMAND_KEYS: [&str; 3] = ["command", "cmd", "script"];

/// What is looked for, asked or fetched.
const WORDS_KEYS: [&str; 6] = ["pattern", "query", "regex", "url", "prompt", "description"];

/// What is shown of a call.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct About {
    /// What it is about, in one line; maybe nothing.
    pub(crate) text: String,
    /// The file or folder it is about, from the working folder if it lies there.
    pub(crate) path: Option<String>,
}

impl About {
    /// Reads the input of a call.
    pub(crate) fn of(input: &Value, folder: &Path) -> About {
        let find = |keys: &[&str]| keys.iter().find_map(|key| words_of(input.get(key)?));
        let is_writing = input.get("content").is_some() || input.get("file_text").is_some();
        let path = find(&PATH_KEYS).filter(|path| path.len() <= PATH_BYTES_MAX);
        let path = path.map(|path| relative(&path, folder));
        let command = find(&COMMAND_KEYS).filter(|_| !is_writing);
        let words = find(&WORDS_KEYS);
        let text = match (command, words, &path) {
            (Some(command), _, _) => command,
            (None, Some(words), Some(path)) => format!("{words} in {path}"),
            (None, _, Some(path)) => path.clone(),
            (None, Some(words), None) => words,
            (None, None, None) => plain(input),
        };
        About { text: shorten(&text), path }
    }
}

/// Returns the path from the folder, if it lies there.
pub(crate) fn relative(path: &str, folder: &Path) -> String {
    let inside = Path::new(path).strip_prefix(folder).ok().and_then(Path::to_str);
    match inside {
        Some("") => ".".to_owned(),
        Some(inside) => inside.to_owned(),
        None => path.to_owned(),
    }
}

/// Cuts a text to one line of a bounded length.
pub(crate) fn shorten(text: &str) -> String {
    // A long text is cut first, so that no more is looked at than can be shown.
    let beginning = &text[..cut_length(text, 4 * ABOUT_BYTES_MAX)];
    let line = one_line(beginning);
    let cut = &line[..cut_length(&line, ABOUT_BYTES_MAX)];
    let is_cut = cut.len() < line.len() || beginning.len() < text.len();
    if is_cut { format!("{cut}…") } else { line }
}

/// Returns a text, or the words of a list.
fn words_of(value: &Value) -> Option<String> {
    match value {
        Value::String(text) if !text.is_empty() => Some(text.clone()),
        Value::Array(words) => {
            let words: Option<Vec<&str>> = words.iter().map(Value::as_str).collect();
            words.filter(|words| !words.is_empty()).map(|words| words.join(" "))
        }
        _ => None,
    }
}

/// Shows the first plain values of an input of which nothing is known.
fn plain(input: &Value) -> String {
    match input {
        Value::String(text) => text.clone(),
        Value::Object(fields) => {
            let shown = fields.iter().filter_map(|(name, value)| match value {
                Value::String(text) => Some(format!("{name}={}", shorten(text))),
                Value::Number(_) | Value::Bool(_) => Some(format!("{name}={value}")),
                _ => None,
            });
            shown.take(VALUES_MAX).collect::<Vec<_>>().join(" ")
        }
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn about(input: Value) -> (String, Option<String>) {
        let About { text, path } = About::of(&input, Path::new("/project"));
        (text, path)
    }

    #[test]
    fn the_usual_tools_say_what_they_are_about() {
        let file = |name: &str| (name.to_owned(), Some(name.to_owned()));
        assert_eq!(
            about(json!({ "file_path": "/project/src/a.rs", "content": "fn main() {}" })),
            file("src/a.rs")
        );
        assert_eq!(about(json!({ "filePath": "/etc/passwd" })), file("/etc/passwd"));
        assert_eq!(about(json!({ "command": "cargo  test\n --all" })).0, "cargo test --all");
        assert_eq!(
            about(json!({ "command": ["ls", "-l"], "path": "/project" })),
            ("ls -l".to_owned(), Some(".".to_owned()))
        );
        assert_eq!(about(json!({ "command": "write", "path": "a", "file_text": "x" })), file("a"));
        assert_eq!(about(json!({ "pattern": "fn .*", "path": "/project/src" })).0, "fn .* in src");
        assert_eq!(about(json!("git status")).0, "git status");
        assert_eq!(about(json!({ "index": 1, "done": true, "of": [1] })).0, "index=1 done=true");
        assert_eq!(about(json!({ "file_path": 7, "command": {} })), ("file_path=7".to_owned(), None));
        assert_eq!(about(json!(null)), (String::new(), None));
    }

    #[test]
    fn a_long_call_is_cut() {
        let (text, path) = about(json!({ "command": "ä".repeat(100_000), "path": "p".repeat(5000) }));
        assert!(text.ends_with('…') && text.len() <= ABOUT_BYTES_MAX + 3, "{}", text.len());
        assert_eq!(path, None);
    }
}
