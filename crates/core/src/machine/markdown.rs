//! The machine as the tables of the reference page.

use super::{Column, CommandKind, TRANSITIONS, find};
use std::fmt::Write;

/// Renders the table and the matrix of its 20 cells as Markdown.
pub fn render_markdown() -> String {
    let mut text =
        String::from("| From | Command | Guards | Effects, in order | To |\n|---|---|---|---|---|\n");
    for row in TRANSITIONS {
        let guards: Vec<String> = row.guards.iter().map(|guard| format!("`{}`", guard.name)).collect();
        let actions: Vec<String> =
            row.actions.iter().map(|action| format!("`{}`", action.as_str())).collect();
        let _ = writeln!(
            text,
            "| `{}` | `{}` | {} | {} | `{}` |",
            row.from,
            row.command,
            guards.join(", "),
            actions.join(", "),
            row.to
        );
    }
    text.push_str("\n| |");
    for command in CommandKind::ALL {
        let _ = write!(text, " {command} |");
    }
    text.push_str("\n|---|---|---|---|---|---|\n");
    for column in Column::ALL {
        let _ = write!(text, "| `{column}` |");
        for command in CommandKind::ALL {
            match find(column, command) {
                Some(row) => {
                    let _ = write!(text, " `{}` |", row.to);
                }
                None => text.push_str(" – |"),
            }
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;

    #[test]
    fn the_drawing_is_the_recorded_one() {
        expect_file!["../../tests/drawings/machine.md"].assert_eq(&render_markdown());
    }
}
