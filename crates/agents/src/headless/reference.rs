//! The page of agents in the reference, rendered from [`AGENTS`] and compared with the file.
//!
//! `UPDATE_EXPECT=1` writes it again.

use std::path::Path;

use expect_test::expect_file;

use super::{AGENTS, HeadlessAgent};

const INTRODUCTION: &str = "\
# Agents

Rendered from the code by a test of `crates/agents`, which compares it; `UPDATE_EXPECT=1` writes it again. Do not edit by hand.

These programs are known. The name of one is a `kind` and a `login` in [the config](config.md), and the program that is
started unless `command` names another. `regatta agent detect` finds them on your PATH, and their ACP bridges, too. Any other program
that speaks the Agent Client Protocol is of the kind `acp`.

In a sandbox an agent gets its login and its settings by copies of these files, of which only known fields are copied; see
[logins](../SECURITY.md#logins). What is kept in its private home lets it resume a session.

| Kind | ACP bridges | Copied from your home | Moved by | Kept to resume |
|---|---|---|---|---|
";

#[test]
fn the_page_of_agents_is_current() {
    let rows: Vec<String> = AGENTS.iter().map(row).collect();
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/reference/agents.md");
    expect_file![path].assert_eq(&format!("{INTRODUCTION}{}", rows.concat()));
}

fn row(agent: &HeadlessAgent) -> String {
    let home = &agent.home;
    let files: Vec<&str> = home.files.iter().map(|given| given.source.unwrap_or(given.path)).collect();
    let moved: Vec<&str> = home.moved_by.iter().map(|(name, _)| *name).collect();
    let cells: [&[&str]; 4] = [agent.bridges, &files, &moved, home.kept];
    format!("| `{}` | {} |\n", agent.name, cells.map(cell).join(" | "))
}

fn cell(names: &[&str]) -> String {
    let names: Vec<String> = names.iter().map(|name| format!("`{name}`")).collect();
    if names.is_empty() { "–".to_owned() } else { names.join(", ") }
}
