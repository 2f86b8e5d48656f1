//! The machine as a Mermaid state diagram.

use super::{Column, TRANSITIONS};
use std::fmt::Write;

/// Renders the table as Mermaid text.
pub fn render_mermaid() -> String {
    let mut text = String::from("stateDiagram-v2\n    [*] --> backlog\n");
    for row in TRANSITIONS {
        let guards: Vec<&str> = row.guards.iter().map(|guard| guard.name).collect();
        let _ = writeln!(text, "    {} --> {}: {} [{}]", row.from, row.to, row.command, guards.join(", "));
    }
    for column in Column::ALL.into_iter().filter(|column| column.is_final()) {
        let _ = writeln!(text, "    {column} --> [*]");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::expect_file;

    #[test]
    fn the_drawing_is_the_recorded_one() {
        expect_file!["../../tests/drawings/machine.mmd"].assert_eq(&render_mermaid());
    }
}
