//! Every `regatta …` that an error, a hint or a page names exists: its verbs and its options are in the help.
//!
//! The texts are read from the sources and the documents, because most hints are shown only after a rare failure.

use crate::support::PROGRAM;
use regatta_testkit::binary::TestProject;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// Fewer than these cannot be all: the search itself would be broken.
const HINTS_MIN: usize = 200;

/// The help of each group and verb, read once.
struct Help<'a> {
    project: &'a TestProject,
    texts: BTreeMap<Vec<String>, String>,
    /// Flags of runs and signals that schemas of workflows make.
    of_schemas: BTreeSet<String>,
}

impl Help<'_> {
    fn of(&mut self, path: &[String]) -> &str {
        let project = self.project;
        self.texts.entry(path.to_vec()).or_insert_with(|| {
            let words: Vec<&str> = path.iter().map(String::as_str).chain(["--help"]).collect();
            let outcome = project.run(&words);
            assert_eq!(outcome.code, Some(0), "{words:?}: {outcome:?}");
            outcome.stdout
        })
    }

    fn has_verb(&mut self, path: &[String], verb: &str) -> bool {
        let help = self.of(path);
        let Some((_, list)) = help.split_once("\nCommands:\n") else { return false };
        list.lines()
            .take_while(|line| !line.is_empty())
            .any(|line| line.strip_prefix("  ").is_some_and(|line| line.split(' ').next() == Some(verb)))
    }

    /// Returns what is wrong with a command line.
    fn find_fault(&mut self, hint: &str) -> Option<String> {
        let mut words = hint.split_whitespace().peekable();
        let mut path = Vec::new();
        if words.next_if_eq(&"-C").is_some() {
            words.next();
        }
        while let Some(word) = words.next_if(|word| is_verb_like(word)) {
            if !self.has_verb(&path, word) {
                let is_group = self.of(&path).contains("\nCommands:\n");
                let takes_name = self.of(&path).contains("[WORKFLOW]");
                if is_group && !takes_name {
                    return Some(format!("there is no `{word}`"));
                }
                break;
            }
            path.push(word.to_owned());
        }
        let has_schema = path == ["run"] || path == ["run", "signal"];
        let of_schemas = if has_schema { self.of_schemas.clone() } else { BTreeSet::new() };
        let help = self.of(&path);
        let is_known = |option: &str| {
            let is_in_help = help.contains(&format!("{option} ")) || help.contains(&format!("{option}\n"));
            is_in_help || of_schemas.contains(option)
        };
        let option = words.find_map(|word| {
            let name = word
                .strip_prefix("--")?
                .split(|letter: char| !letter.is_ascii_lowercase() && letter != '-')
                .next()?;
            let option = format!("--{name}");
            (!name.is_empty() && !is_known(&option)).then_some(option)
        })?;
        Some(format!("there is no `{option}`"))
    }
}

fn is_verb_like(word: &str) -> bool {
    word.starts_with(|first: char| first.is_ascii_lowercase())
        && word.bytes().all(|byte| byte.is_ascii_lowercase() || byte == b'-')
}

#[test]
fn what_hints_name_exists() {
    let project = TestProject::without_init(PROGRAM);
    let mut help = Help { project: &project, texts: BTreeMap::new(), of_schemas: list_flags() };
    let hints = find_hints();
    assert!(hints.len() >= HINTS_MIN, "only {} hints were found", hints.len());
    let faults: Vec<String> = hints
        .iter()
        .filter_map(|(hint, file)| {
            help.find_fault(hint).map(|why| format!("{file}: `regatta {hint}`: {why}"))
        })
        .collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert_eq!(help.find_fault("task aprove 12").as_deref(), Some("there is no `aprove`"));
    assert_eq!(help.find_fault("task approve 12 --hed").as_deref(), Some("there is no `--hed`"));
}

/// Lists the flags that inputs of the shipped workflows and of their signals make.
fn list_flags() -> BTreeSet<String> {
    let mut files = Vec::new();
    list(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../workflows"), "json", &mut files);
    files.retain(|file| {
        file.ends_with("input.schema.json") || file.parent().is_some_and(|it| it.ends_with("signals"))
    });
    let names = |file: &PathBuf| -> Vec<String> {
        let text = std::fs::read_to_string(file).expect("a schema is text");
        let schema: Value = serde_json::from_str(&text).expect("a schema is JSON");
        schema["properties"].as_object().into_iter().flatten().map(|(name, _)| name.clone()).collect()
    };
    files.iter().flat_map(names).map(|name| format!("--{}", name.replace('_', "-"))).collect()
}

/// Returns what follows `regatta` in the texts of users, each with a file that has it.
fn find_hints() -> BTreeMap<String, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut files = vec![root.join("README.md"), root.join("CONTRIBUTING.md")];
    list(&root.join("docs"), "md", &mut files);
    for room in std::fs::read_dir(root.join("crates")).expect("the rooms are there") {
        list(&room.expect("a room can be listed").path().join("src"), "rs", &mut files);
    }
    let mut hints = BTreeMap::new();
    for file in files {
        let text = std::fs::read_to_string(&file).expect("a source is text");
        let shown = file.strip_prefix(&root).unwrap_or(&file).display().to_string();
        for hint in hints_in(&text) {
            hints.entry(hint).or_insert_with(|| shown.clone());
        }
    }
    hints
}

fn list(folder: &Path, ending: &str, files: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(folder) else { return };
    for entry in entries {
        let path = entry.expect("a folder can be listed").path();
        match path.is_dir() {
            true => list(&path, ending, files),
            false if path.extension().is_some_and(|extension| extension == ending) => files.push(path),
            false => {}
        }
    }
}

/// Returns the command lines of a text: in backticks, after a prompt, or where a verb follows in plain words.
fn hints_in(text: &str) -> Vec<String> {
    let mut hints = Vec::new();
    // A Rust string may continue on the next line.
    let pieces: Vec<&str> = text.split("\\\n").collect();
    let joined = pieces.iter().map(|piece| piece.trim_start_matches(' ')).collect::<Vec<_>>().join("");
    let text = if pieces.len() > 1 { joined.as_str() } else { text };
    for (at, _) in text.match_indices("regatta ") {
        let rest = &text[at + "regatta ".len()..];
        let end = match text[..at].chars().next_back() {
            Some('`') => rest.find('`'),
            Some('"' | ' ' | '\n') => rest.find(['"', '\n', ';', ',', '(', ')', '`', '\'', ':']),
            _ => None,
        };
        let Some(hint) = end.map(|end| &rest[..end]) else { continue };
        // Several command lines may follow each other in one text.
        let hint = hint.split("regatta ").next().and_then(|hint| hint.split("\\n").next()).unwrap_or(hint);
        let first = hint.split_whitespace().next().unwrap_or_default();
        let is_command = text[..at].ends_with(['`', '"']) || text[..at].ends_with("$ ");
        if (first == "-C" || is_verb_like(first)) && (is_command || hint.split_whitespace().count() > 1) {
            hints.push(hint.split_whitespace().collect::<Vec<_>>().join(" "));
        }
    }
    hints
}
