//! Reads the folders of GitHub Spec Kit: `NNN-name/{spec,plan,tasks}.md`, each a feature.
//!
//! A line `- [ ] T001 [P] [US1] Do it in src/a.rs` is a task. The tasks of a phase come after those of the phase before;
//! within a phase they come one after the other, but for neighbours with `[P]`, which are worked on side by side.

use crate::core::Priority;
use crate::core::document::{find_title, slug_from};
use crate::takeover::found::{EpicFound, Found, PrdFound, TaskFound, is_done};
use crate::takeover::gather::Files;
use crate::takeover::kind::Kind;
use std::collections::BTreeSet;

const TASKS: &str = "tasks.md";

/// Reads the files.
pub(crate) fn read(files: &Files) -> Found {
    let mut found = Found::new(Kind::SpecKit);
    let mut features: Vec<&str> = Vec::new();
    for (path, _) in files.iter() {
        if path == TASKS {
            features.push("");
        } else if let Some(folder) = path.strip_suffix("/tasks.md") {
            features.push(folder);
        }
    }
    for folder in features {
        read_feature(&mut found, files, folder);
    }
    found
}

fn read_feature(found: &mut Found, files: &Files, folder: &str) {
    let at = |name: &str| if folder.is_empty() { name.to_owned() } else { format!("{folder}/{name}") };
    let path = at(TASKS);
    let Some(bytes) = files.take(&path) else { return };
    let Ok(text) = std::str::from_utf8(bytes) else {
        return found.odd(&path, None, "not UTF-8 text; only a copy is kept");
    };
    let own_name = files.root.file_name().map(|name| name.to_string_lossy().into_owned());
    let name = match folder.rsplit('/').next() {
        Some("") | None => own_name.unwrap_or_else(|| "feature".to_owned()),
        Some(name) => name.to_owned(),
    };
    let slug = read_documents(found, files, &name, [at("spec.md"), at("plan.md")]);
    let title = find_title(text).unwrap_or(&name);
    let title = title.strip_prefix("Tasks:").unwrap_or(title).trim().to_owned();
    let description = format!("From `{path}`.");
    found.epics.push(EpicFound { item: name.clone(), title, description, prd: slug.clone() });
    let before = found.tasks.len();
    Reading {
        found,
        path: &path,
        feature: &name,
        prd: slug,
        frontier: Vec::new(),
        group: Vec::new(),
        is_parallel: false,
    }
    .read(text);
    if found.tasks.len() == before {
        found.odd(&path, None, "no line such as `- [ ] T001 Do it`; no tasks");
    }
}

/// Reads the specification and the plan as one PRD: both are what an agent has to know.
fn read_documents(found: &mut Found, files: &Files, name: &str, paths: [String; 2]) -> Option<String> {
    let mut parts: Vec<(String, &str)> = Vec::new();
    for path in paths {
        match files.take(&path).map(std::str::from_utf8) {
            Some(Ok(text)) if !text.trim().is_empty() => parts.push((path, text)),
            Some(Ok(_)) => found.odd(&path, None, "empty"),
            Some(Err(_)) => found.odd(&path, None, "not UTF-8 text; only a copy is kept"),
            None => found.odd(&path, None, "missing"),
        }
    }
    let (file, first) = parts.first()?;
    let slug = slug_from(name)?.to_string();
    let title = find_title(first).unwrap_or(name).to_owned();
    let text = parts.iter().map(|(_, text)| text.trim_end()).collect::<Vec<_>>().join("\n\n") + "\n";
    let file = file.clone();
    found.prds.push(PrdFound { slug: slug.clone(), title, text, file });
    Some(slug)
}

/// One `tasks.md` as it is read, line by line.
struct Reading<'a> {
    found: &'a mut Found,
    path: &'a str,
    feature: &'a str,
    prd: Option<String>,
    /// The tasks that come before the current group.
    frontier: Vec<String>,
    /// The tasks that are worked on side by side.
    group: Vec<String>,
    is_parallel: bool,
}

impl Reading<'_> {
    fn read(mut self, text: &str) {
        let (mut phase, mut priority, mut fence) = (String::new(), None, None::<String>);
        let mut seen: BTreeSet<String> = BTreeSet::new();
        let mut last: Option<usize> = None;
        for (at, line) in text.lines().enumerate() {
            let trimmed = line.trim_start();
            if let Some(mark) = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark)) {
                fence = if fence.as_deref() == Some(mark) {
                    None
                } else {
                    fence.or_else(|| Some(mark.to_owned()))
                };
                continue;
            }
            if fence.is_some() {
                continue;
            }
            if let Some(heading) = line.strip_prefix("## ") {
                self.close_group();
                phase = heading.trim().to_owned();
                priority = find_priority(heading);
                last = None;
            } else if let Some((checked, words)) = parse_box(trimmed) {
                let indent = line.len() - trimmed.len();
                if indent >= 2 && last.is_some() && find_item(words).is_none() {
                    self.add_detail(last, line);
                    continue;
                }
                let number = at + 1;
                self.add(number, line, (checked, words), (&phase, priority), &mut seen);
                last = Some(self.found.tasks.len() - 1);
            } else if line.starts_with([' ', '\t']) && !trimmed.is_empty() {
                self.add_detail(last, line);
            } else if line.starts_with('#') {
                last = None;
            }
        }
    }

    fn add(
        &mut self,
        number: usize,
        line: &str,
        (checked, words): (bool, &str),
        (phase, priority): (&str, Option<Priority>),
        seen: &mut BTreeSet<String>,
    ) {
        let (item, rest) = match find_item(words) {
            Some((item, rest)) => (item.to_owned(), rest),
            None => {
                let item = format!("line {number}");
                self.found.odd(self.path, Some(number), format!("no ID such as T001; it is called `{item}`"));
                (item, words)
            }
        };
        if !seen.insert(item.clone()) {
            self.found.odd(self.path, Some(number), format!("{item} appears twice"));
        }
        let (is_parallel, story, title) = find_tags(rest);
        let status = if checked { "x" } else { "" };
        let mut task = TaskFound::new(format!("{}/{item}", self.feature), self.path, line.trim().as_bytes());
        task.done = is_done(status);
        task.status = checked.then(|| "checked".to_owned());
        task.title = title.to_owned();
        task.priority = priority;
        task.epic = Some(self.feature.to_owned());
        task.prd.clone_from(&self.prd);
        let mut about = format!("{item} of {}", self.path);
        if !phase.is_empty() {
            about.push_str(&format!(", {phase}"));
        }
        if let Some(story) = story {
            about.push_str(&format!(", story {story}"));
        }
        task.description = format!("{title}\n\n{about}.");
        if !(is_parallel && self.is_parallel) {
            self.close_group();
        }
        self.is_parallel = is_parallel;
        task.depends_on.clone_from(&self.frontier);
        self.group.push(task.item.clone());
        self.found.tasks.push(task);
    }

    /// What comes next has to wait for the group.
    fn close_group(&mut self) {
        if !self.group.is_empty() {
            self.frontier = std::mem::take(&mut self.group);
        }
        self.is_parallel = false;
    }

    fn add_detail(&mut self, last: Option<usize>, line: &str) {
        if let Some(task) = last.and_then(|last| self.found.tasks.get_mut(last)) {
            task.description.push('\n');
            task.description.push_str(line.trim_end());
        }
    }
}

/// Reads `- [x] words`.
fn parse_box(line: &str) -> Option<(bool, &str)> {
    let rest = line.strip_prefix(['-', '*', '+'])?.trim_start().strip_prefix('[')?;
    let checked = match rest.chars().next()? {
        ' ' => false,
        'x' | 'X' => true,
        _ => return None,
    };
    let words = rest[1..].strip_prefix(']')?;
    let words = words.trim();
    (!words.is_empty()).then_some((checked, words))
}

/// Finds the number that a task begins with, such as `T001`.
fn find_item(words: &str) -> Option<(&str, &str)> {
    let (first, rest) = words.split_once(char::is_whitespace)?;
    let bare = first.trim_matches(['*', ':', '.']);
    let digits = bare.strip_prefix('T')?.trim_end_matches(|c: char| c.is_ascii_lowercase());
    let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_ascii_digit());
    is_number.then_some((bare, rest.trim_start()))
}

/// Takes the tags off the front of a task: `[P]`, and a story such as `[US1]`.
fn find_tags(words: &str) -> (bool, Option<&str>, &str) {
    let (mut is_parallel, mut story, mut rest) = (false, None, words);
    while let Some((tag, after)) = rest.strip_prefix('[').and_then(|inside| inside.split_once(']')) {
        let is_story = tag.strip_prefix("US").or_else(|| tag.strip_prefix("Story")).is_some();
        match tag {
            "P" => is_parallel = true,
            _ if is_story => story = Some(tag),
            _ => break,
        }
        if after.trim_start().is_empty() {
            break;
        }
        rest = after.trim_start();
    }
    (is_parallel, story, rest)
}

/// Finds the priority of a story in its heading: `(Priority: P1)`.
fn find_priority(heading: &str) -> Option<Priority> {
    let (_, rest) = heading.split_once("Priority:")?;
    match rest.trim_start().chars().take(2).collect::<String>().as_str() {
        "P1" => Some(Priority::High),
        "P2" => Some(Priority::Medium),
        "P3" | "P4" | "P5" => Some(Priority::Low),
        _ => None,
    }
}
