//! How large a task file is, what its parts cost to read, and what to do about it.
//!
//! One shape for `regatta task show` and `regatta state validate`. It only advises: what is archived by itself, and
//! when, is the [archive](crate::task_files::archive)'s matter.

use crate::core::Task;
use regatta_files::{TaskFile, size};
use serde::Serialize;

/// The size of a task file, with advice.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
#[allow(missing_docs, reason = "the fields say it")]
pub struct FileSize {
    pub bytes: usize,
    /// About how many; no bill should rest on it.
    pub tokens: usize,
    pub sections: Vec<SectionSize>,
    /// The archived ones included.
    pub session_count: usize,
    pub complexity: &'static str,
    pub recommendation: &'static str,
    pub advice: Vec<String>,
}

/// The size of one section; what stands before the first has no title.
#[derive(Debug, Clone, Serialize)]
#[allow(missing_docs, reason = "the fields say it")]
pub struct SectionSize {
    pub title: String,
    pub bytes: usize,
    pub tokens: usize,
}

/// Says in a few words what to look at in the file of a task, from the log alone.
pub(crate) fn warn(task: &Task) -> Vec<String> {
    let memory = &task.memory;
    let is_final = task.column().is_final();
    let stale: Vec<String> =
        memory.inputs.iter().filter(|input| input.stale).map(|input| format!("#{}", input.task_id)).collect();
    let mut warnings = Vec::new();
    if !stale.is_empty() && !is_final {
        warnings.push(format!("input from {} is stale", stale.join(", ")));
    }
    let bytes = usize::try_from(memory.file_bytes).unwrap_or(usize::MAX);
    if size::class(bytes) != size::SizeClass::Ok && !is_final {
        warnings.push(format!("file has {} KB", bytes / 1024));
    }
    let sessions = usize::try_from(memory.entries).unwrap_or(usize::MAX);
    if size::suggests_decomposition(sessions) && !is_final {
        warnings.push(format!("{sessions} sessions"));
    }
    warnings
}

/// Measures a file; `task` is the number to name in commands, if it is known.
pub(crate) fn measure(file: &TaskFile, task: Option<u32>) -> FileSize {
    let section = |estimate: size::SectionEstimate| SectionSize {
        title: estimate.title,
        bytes: estimate.bytes,
        tokens: estimate.tokens,
    };
    let sections: Vec<SectionSize> = size::estimate_sections(file).into_iter().map(section).collect();
    let session_count = size::count_sessions(file);
    let complexity = size::complexity(session_count);
    FileSize {
        bytes: file.text().len(),
        tokens: sections.iter().map(|section| section.tokens).sum(),
        sections,
        session_count,
        complexity: complexity.name(),
        recommendation: complexity.recommendation(),
        advice: advise_on_bytes(file, task).into_iter().chain(advise_on_sessions(session_count)).collect(),
    }
}

fn advise_on_bytes(file: &TaskFile, task: Option<u32>) -> Option<String> {
    let id = task.map_or_else(|| "ID".to_owned(), |task| task.to_string());
    let what_to_do = if file.sessions().len() > size::SESSIONS_KEPT {
        format!("move old sessions to the archive with `regatta task archive {id}`")
    } else {
        format!("shorten it; up to {} sessions are never archived", size::SESSIONS_KEPT)
    };
    match size::class(file.text().len()) {
        size::SizeClass::Ok => None,
        size::SizeClass::Warning => Some(format!("50 KB or more, read whole in every session: {what_to_do}")),
        size::SizeClass::Archive => {
            Some(format!("over 75 KB, where old sessions are archived between two sessions: {what_to_do}"))
        }
    }
}

fn advise_on_sessions(count: usize) -> Option<String> {
    let complexity = size::complexity(count);
    if size::suggests_decomposition(count) {
        return Some(format!(
            "{count} sessions, more than {}: decompose it into several tasks",
            size::SESSIONS_MAX
        ));
    }
    matches!(complexity, size::Complexity::Large | size::Complexity::VeryLarge).then(|| {
        let name = complexity.name().replace('_', " ");
        format!("{count} sessions, a {name} task: {}", complexity.recommendation().to_lowercase())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn advice(sessions: u32, bytes: usize) -> Vec<String> {
        let entry = |number| format!("### Session {number} - x\n**Did:** a\n\n");
        let log: String = (1..=sessions).map(entry).collect();
        let text = format!("# Task #7: A\n\n## 3. Progress Log\n\n{log}");
        let filling = "x".repeat(bytes.saturating_sub(text.len()));
        measure(&TaskFile::parse(format!("{text}{filling}")), Some(7)).advice
    }

    #[test]
    fn a_task_of_ordinary_size_needs_no_advice() {
        assert!(advice(0, 0).is_empty() && advice(8, 50 * 1024 - 1).is_empty());
    }

    #[test]
    fn a_large_file_is_to_be_archived_or_shortened() {
        let large = advice(6, 50 * 1024);
        assert_eq!(
            large,
            [
                "50 KB or more, read whole in every session: move old sessions to the archive with `regatta task archive 7`"
            ]
        );
        let few = advice(5, 75 * 1024 + 1);
        assert_eq!(
            few,
            [
                "over 75 KB, where old sessions are archived between two sessions: shorten it; up to 5 sessions are never \
              archived"
            ]
        );
    }

    #[test]
    fn many_sessions_call_for_several_tasks() {
        assert_eq!(advice(9, 0), ["9 sessions, a large task: consider splitting"]);
        assert_eq!(advice(16, 0), ["16 sessions, a very large task: must decompose"]);
        assert_eq!(advice(21, 0), ["21 sessions, more than 20: decompose it into several tasks"]);
    }

    #[test]
    fn the_parts_add_up() {
        let text =
            "# Task #1: A\n\n## 1. Context\nabc\n\n### Archived\n\n## 3. Progress Log\n\n### Session 1 - x\n";
        let size = measure(&TaskFile::parse(text), None);
        assert_eq!(size.sections.iter().map(|section| section.bytes).sum::<usize>(), size.bytes);
        assert_eq!(size.sections.iter().map(|section| section.tokens).sum::<usize>(), size.tokens);
        assert_eq!((size.session_count, size.complexity, size.recommendation), (1, "simple", "Single task"));
    }
}
