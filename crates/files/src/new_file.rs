//! A new task file, in the standard layout.

use std::fmt::Write;

use serde_json::{Map, Value};

use crate::chain_input::{self, NewChainInput};
use crate::contain::contain;
use crate::criterion::NewCriterion;
use crate::edit::OUTPUT_PLACEHOLDER;
use crate::line::{on_one_line, with_endings};
use crate::metadata::render_value;
use crate::session::protect_closing_marks;
use crate::task_file::TaskFile;

/// What stands in the progress log until the first session.
const LOG_PLACEHOLDER: &str = "(No sessions yet)";

/// The level of headings that may stand in the requirements.
const INNER_LEVEL: usize = 4;

/// What a new task file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewTaskFile {
    /// The task's number.
    pub id: u32,
    /// Its title.
    pub title: String,
    /// Its status, in the words of the engine.
    pub status: String,
    /// The epic it belongs to.
    pub epic: Option<NewEpic>,
    /// The requirements document it comes from.
    pub prd: Option<NewPrd>,
    /// The repository it is about.
    pub repository: Option<String>,
    /// What is wanted.
    pub requirements: String,
    /// When it counts as done.
    pub criteria: Vec<NewCriterion>,
    /// The tasks it depends on.
    pub dependencies: Vec<u32>,
    /// What those tasks produced, as far as that is known.
    pub chain_inputs: Vec<NewChainInput>,
}

/// The epic of a new task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewEpic {
    /// Its number.
    pub id: u32,
    /// Its title.
    pub title: String,
    /// Where it is described.
    pub link: Option<String>,
}

/// The requirements document of a new task.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct NewPrd {
    /// Its name.
    pub title: String,
    /// Where it is.
    pub link: Option<String>,
}

/// Writes a new task file.
pub fn render_new(new: &NewTaskFile) -> TaskFile {
    let mut out = format!("# Task #{}: {}\n\n", new.id, protect_closing_marks(&on_one_line(&new.title)));
    let _ = write!(out, "## 0. Metadata\n```json\n{}\n```\n\n", render_metadata(new));
    let _ = write!(out, "## 1. Context\n\n{}", render_context(new));
    if !new.chain_inputs.is_empty() {
        out.push_str("## 2. Chain Inputs\n\n");
        for input in &new.chain_inputs {
            let _ = write!(out, "{}\n\n", chain_input::render(input));
        }
    }
    let _ = write!(
        out,
        "## 3. Progress Log\n\n{LOG_PLACEHOLDER}\n\n## 4. Chain Output\n\n{OUTPUT_PLACEHOLDER}\n"
    );
    TaskFile::parse(out)
}

fn render_metadata(new: &NewTaskFile) -> String {
    let mut map = Map::new();
    map.insert("task_id".into(), new.id.into());
    map.insert("epic_id".into(), new.epic.as_ref().map_or(Value::Null, |epic| epic.id.into()));
    map.insert("status".into(), new.status.as_str().into());
    if !new.dependencies.is_empty() {
        map.insert("dependencies".into(), new.dependencies.clone().into());
    }
    map.insert("total_sessions".into(), 0.into());
    let members: Vec<String> =
        map.iter().map(|(key, value)| format!("  \"{key}\": {}", render_value(value))).collect();
    format!("{{\n{}\n}}", members.join(",\n"))
}

/// Writes the line that names the epic.
pub(crate) fn render_epic(epic: &NewEpic) -> String {
    let link = epic.link.as_ref().map_or(String::new(), |link| format!(" [details]({})", on_one_line(link)));
    format!("**Epic:** {} (#{}){link}", on_one_line(&epic.title), epic.id)
}

/// Writes the line that names the requirements document.
pub(crate) fn render_prd(prd: &NewPrd) -> String {
    let title = on_one_line(&prd.title);
    match &prd.link {
        Some(link) => format!("**PRD:** [{title}]({})", on_one_line(link)),
        None => format!("**PRD:** {title}"),
    }
}

fn render_context(new: &NewTaskFile) -> String {
    let mut out = String::new();
    if let Some(epic) = &new.epic {
        let _ = writeln!(out, "{}", render_epic(epic));
    }
    if let Some(prd) = &new.prd {
        let _ = writeln!(out, "{}", render_prd(prd));
    }
    if let Some(repository) = &new.repository {
        let _ = writeln!(out, "**Repository:** {}", on_one_line(repository));
    }
    if !out.is_empty() {
        out.push('\n');
    }
    let requirements = contain(&with_endings(&new.requirements, "\n"), INNER_LEVEL);
    let _ = writeln!(out, "### Requirements\n{requirements}");
    out.push_str(if requirements.is_empty() { "" } else { "\n" });
    out.push_str("### Acceptance Criteria\n");
    for criterion in &new.criteria {
        let _ = writeln!(out, "{}", criterion.render("- "));
    }
    out.push('\n');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_file_has_all_five_sections_and_no_fault() {
        let new = NewTaskFile {
            id: 102,
            title: "Auth API endpoints #".into(),
            status: "backlog".into(),
            epic: Some(NewEpic { id: 10, title: "User Auth".into(), link: Some("/api/epics/10".into()) }),
            prd: Some(NewPrd { title: "user-auth.md".into(), link: Some("/api/prds/user-auth".into()) }),
            repository: Some("backend".into()),
            requirements: "Create REST endpoints.\n\n# Scope\nLogin only.\n".into(),
            criteria: vec![
                NewCriterion { text: "Tests pass".into(), checked: false, check: Some("test".into()) },
                NewCriterion::of("Login\nworks"),
            ],
            dependencies: vec![100, 101],
            chain_inputs: vec![NewChainInput {
                task: 100,
                title: "Database Schema".into(),
                summary: "Users table: id".into(),
                link: Some("/api/tasks/100/chain-output".into()),
                stale: false,
            }],
        };
        let file = render_new(&new);
        expect_test::expect![[r#"
            # Task #102: Auth API endpoints \#

            ## 0. Metadata
            ```json
            {
              "task_id": 102,
              "epic_id": 10,
              "status": "backlog",
              "dependencies": [100, 101],
              "total_sessions": 0
            }
            ```

            ## 1. Context

            **Epic:** User Auth (#10) [details](/api/epics/10)
            **PRD:** [user-auth.md](/api/prds/user-auth)
            **Repository:** backend

            ### Requirements
            Create REST endpoints.

            #### Scope
            Login only.

            ### Acceptance Criteria
            - [ ] Tests pass (check: test)
            - [ ] Login works

            ## 2. Chain Inputs

            ### From Task #100: Database Schema
            > Users table: id

            [Full chain output](/api/tasks/100/chain-output)

            ## 3. Progress Log

            (No sessions yet)

            ## 4. Chain Output

            (To be completed)
        "#]]
        .assert_eq(file.text());
        assert_eq!((file.faults(), file.unknown()), (&[][..], &[][..]));
        assert_eq!(file.criteria()[0].check.as_deref(), Some("test"));
    }

    #[test]
    fn the_smallest_file_has_no_fault_either() {
        let file = render_new(&NewTaskFile { id: 1, title: "A".into(), ..NewTaskFile::default() });
        assert_eq!(file.faults(), []);
        assert_eq!((file.requirements(), file.criteria().len(), file.sections().len()), (Some(""), 0, 4));
    }
}
