//! The rule: every error code has its page, every page its code, and the page the parts that a user looks for.

use std::collections::BTreeMap;

use regatta_core::Code;

use super::fault::Fault;
use crate::tree::Tree;

/// The folder of the pages, from the root.
const FOLDER: &str = "docs/errors/";

/// The headings of a page, in order.
const HEADINGS: &[&str] = &["## What happened", "## Why", "## What to do"];

/// Finds codes without a page, pages without a code, and pages that lack a part.
pub(crate) fn check(tree: &Tree) -> Vec<Fault> {
    check_codes(tree, Code::ALL)
}

fn check_codes(tree: &Tree, codes: &[Code]) -> Vec<Fault> {
    let mut unpaired: BTreeMap<String, Code> =
        codes.iter().map(|code| (format!("{FOLDER}{code}.md"), *code)).collect();
    let mut faults = Vec::new();
    for (path, text) in tree.texts().filter(|(path, _)| path.starts_with(FOLDER)) {
        match unpaired.remove(path) {
            Some(code) => faults.extend(check_page(path, text, code)),
            None => faults.push(Fault::of(path, "no error code has this name")),
        }
    }
    faults.extend(unpaired.into_iter().map(|(path, code)| Fault::of(&path, format!("`{code}` has no page"))));
    faults
}

fn check_page(path: &str, text: &str, code: Code) -> Vec<Fault> {
    let mut faults = Vec::new();
    let beginning = format!("# {code}\n\n{}\n", code.summary());
    if !text.starts_with(&beginning) {
        faults.push(Fault::of(path, format!("does not begin with `# {code}` and `{}`", code.summary())));
    }
    let mut rest = text;
    for heading in HEADINGS {
        match rest.split_once(&format!("\n{heading}\n")) {
            Some((_, after)) => rest = after,
            None => faults.push(Fault::of(path, format!("lacks `{heading}`, or has it out of order"))),
        }
    }
    if !text.lines().any(|line| line.starts_with(&format!("error[{code}]: "))) {
        faults.push(Fault::of(path, format!("shows no example that begins with `error[{code}]: `")));
    }
    faults
}

#[cfg(test)]
mod tests {
    use super::super::fault::render;
    use super::*;
    use crate::root::find_root;
    use regatta_core::machine::{Column, CommandKind};
    use regatta_core::{Actor, EpicId, FieldFault, Problem, Refusal, TaskId};

    const PATH: &str = "docs/errors/TASK_NOT_FOUND.md";

    fn page() -> String {
        let summary = Code::TaskNotFound.summary();
        format!(
            "# TASK_NOT_FOUND\n\n{summary}\n\n```text\nerror[TASK_NOT_FOUND]: x\n```\n\n{}\n",
            HEADINGS.join("\n\nx\n\n")
        )
    }

    fn check_one(path: &str, text: &str) -> Vec<String> {
        render(&check_codes(&Tree::of(&[(path, text)]), &[Code::TaskNotFound]))
    }

    #[test]
    fn a_code_without_a_page_and_a_page_without_a_code_are_faults() {
        assert!(check_one(PATH, &page()).is_empty());
        assert_eq!(
            check_one("docs/errors/TASK_LOST.md", &page()),
            [
                "docs/errors/TASK_LOST.md:1: no error code has this name",
                "docs/errors/TASK_NOT_FOUND.md:1: `TASK_NOT_FOUND` has no page",
            ]
        );
    }

    #[test]
    fn a_page_that_lacks_a_part_is_a_fault() {
        for (part, other) in [
            ("# TASK_NOT_FOUND\n", "# TASK_LOST\n"),
            (Code::TaskNotFound.summary(), "Something else."),
            ("## What happened", "## What happens"),
            ("## Why", "### Why"),
            ("## What to do", "What to do"),
            ("error[TASK_NOT_FOUND]", "error"),
        ] {
            assert_eq!(check_one(PATH, &page().replacen(part, other, 1)).len(), 1, "{part}");
        }
    }

    fn task(number: u32) -> TaskId {
        TaskId::new(number).unwrap()
    }

    /// One refusal of each kind, with the values that its page uses.
    fn refusals() -> Vec<Refusal> {
        let agent = |name: &str| name.parse().unwrap();
        let prd = |slug: &str| slug.parse().unwrap();
        let problem = "must have 1 to 1000 characters, not 0".to_owned();
        vec![
            Refusal::InvalidTransition {
                task: task(12),
                column: Column::Backlog,
                command: CommandKind::Approve,
            },
            Refusal::Invalid { faults: vec![FieldFault { field: "reason", problem }] },
            Refusal::TaskNotFound { task: task(12) },
            Refusal::TaskBlocked {
                task: task(12),
                missing: vec![(task(7), Column::InProgress), (task(9), Column::Backlog)],
            },
            Refusal::TaskBusy { task: task(12), doing: "it is approved and being merged" },
            Refusal::DependencyCycle { task: task(3), cycle: vec![task(3), task(5), task(4), task(3)] },
            Refusal::AgentNotFound { agent: agent("clade"), known: vec![agent("claude"), agent("scripted")] },
            Refusal::AgentAlreadyRunning { agent: agent("claude"), tasks: vec![task(7)], instances: 1 },
            Refusal::TaskNoDiff { task: task(12) },
            Refusal::ApproverNotAllowed {
                task: task(12),
                approver: Actor::User("guest".to_owned()),
                members: vec!["owner".to_owned(), "reviewer".to_owned()],
            },
            Refusal::ApprovalStale {
                task: task(12),
                reviewed: "4f1c2d9a7b".repeat(4).parse().unwrap(),
                current: Some("9e03b5c1d8".to_owned()),
            },
            Refusal::WorktreeDirty {
                task: task(12),
                files: ["src/lib.rs", "src/parse.rs", "notes.txt"].map(str::to_owned).to_vec(),
            },
            Refusal::EpicNotFound { epic: EpicId::new(7).unwrap() },
            Refusal::PrdNotFound { prd: prd("user-aut"), known: vec![prd("billing"), prd("user-auth")] },
            Refusal::PrdExists { prd: prd("user-auth") },
        ]
    }

    /// Renders a problem as the command line prints it.
    fn render_problem(problem: &Problem) -> String {
        format!(
            "error[{}]: {}\n  why:  {}\n  next: {}\n",
            problem.code,
            problem.what,
            problem.why.join("\n        "),
            problem.next
        )
    }

    #[test]
    fn pages_show_refusals_in_the_very_words_of_the_rules() {
        for refusal in refusals() {
            let path = format!("{FOLDER}{}.md", refusal.code());
            let text = std::fs::read_to_string(find_root().join(&path)).unwrap();
            let example = format!("```text\n{}```\n", render_problem(&refusal.explain()));
            assert!(text.contains(&example), "{path} does not have\n{example}");
        }
    }
}
