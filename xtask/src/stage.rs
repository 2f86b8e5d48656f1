//! Runs stages one after the other, stops at the first that fails, and sums up.
//!
//! What a stage does is a closure, so that the order, the stop and the words can be tested without building
//! anything. The clock is given too.

use std::io::Write;
use std::time::Duration;

use crate::error::Error;

/// One stage of a chore.
pub(crate) struct Stage<'a> {
    /// What it is called in the summary.
    pub(crate) name: &'static str,
    /// The command that runs only this.
    pub(crate) alone: String,
    /// What it does.
    pub(crate) run: Box<dyn FnOnce() -> Result<Verdict, Error> + 'a>,
}

/// How a stage ended, if it did not fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// All is well.
    Passed,
    /// It does not apply here, and this is why.
    Skipped(&'static str),
}

/// What the summary says of a stage.
struct Line {
    name: &'static str,
    mark: &'static str,
    took: Option<Duration>,
    note: String,
}

/// Runs the stages in order and tells whether none failed.
///
/// Failing to print is no reason to stop checking, so errors of `out` are ignored.
pub(crate) fn run_all(stages: Vec<Stage<'_>>, out: &mut dyn Write, now: &dyn Fn() -> Duration) -> bool {
    let mut lines: Vec<Line> = Vec::new();
    let mut failed: Option<String> = None;
    for Stage { name, alone, run } in stages {
        if failed.is_some() {
            lines.push(Line { name, mark: "not run", took: None, note: String::new() });
            continue;
        }
        let _ = writeln!(out, "==> {name}: {alone}");
        let begun = now();
        let result = run();
        let took = Some(now().saturating_sub(begun));
        lines.push(match result {
            Ok(Verdict::Passed) => Line { name, mark: "ok", took, note: String::new() },
            Ok(Verdict::Skipped(why)) => Line { name, mark: "skipped", took, note: why.to_owned() },
            Err(error) => {
                failed = Some(format!("{name} failed: {}\nrun only this: {alone}", error.render()));
                Line { name, mark: "FAILED", took, note: String::new() }
            }
        });
    }
    let _ = write!(out, "\n{}", render_summary(&lines));
    if let Some(failure) = &failed {
        let _ = writeln!(out, "\n{failure}");
    }
    failed.is_none()
}

fn render_summary(lines: &[Line]) -> String {
    let mut text = String::new();
    for Line { name, mark, took, note } in lines {
        let seconds = took.map_or_else(String::new, |took| format!("{:.1} s", took.as_secs_f64()));
        let line = format!("{mark:<8} {name:<14} {seconds:>9}  {note}");
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use expect_test::{Expect, expect};
    use std::cell::Cell;

    fn stage<'a>(name: &'static str, result: Result<Verdict, Error>, ran: &'a Cell<u32>) -> Stage<'a> {
        let run = move || {
            ran.set(ran.get() + 1);
            result
        };
        Stage { name, alone: format!("cargo {name}"), run: Box::new(run) }
    }

    /// Runs with a clock that advances by 1.25 s at each look; returns the verdict and how many stages ran.
    fn check(results: Vec<(&'static str, Result<Verdict, Error>)>, expected: Expect) -> (bool, u32) {
        let (ran, looks) = (Cell::new(0), Cell::new(0));
        let stages = results.into_iter().map(|(name, result)| stage(name, result, &ran)).collect();
        let now = || {
            looks.set(looks.get() + 1);
            Duration::from_millis(1_250) * looks.get()
        };
        let mut out = Vec::new();
        let passed = run_all(stages, &mut out, &now);
        expected.assert_eq(&String::from_utf8(out).unwrap());
        (passed, ran.get())
    }

    #[test]
    fn all_stages_run_and_each_is_timed() {
        let results =
            vec![("fmt", Ok(Verdict::Passed)), ("tidy", Ok(Verdict::Skipped("not a git checkout")))];
        let outcome = check(
            results,
            expect![[r#"
                ==> fmt: cargo fmt
                ==> tidy: cargo tidy

                ok       fmt                1.2 s
                skipped  tidy               1.2 s  not a git checkout
            "#]],
        );
        assert_eq!(outcome, (true, 2));
    }

    #[test]
    fn the_first_failure_stops_and_says_how_to_run_only_that() {
        let results = vec![
            ("fmt", Ok(Verdict::Passed)),
            ("tidy", Err(Error::Faults { count: 2 })),
            ("docs", Ok(Verdict::Passed)),
        ];
        let outcome = check(
            results,
            expect![[r#"
                ==> fmt: cargo fmt
                ==> tidy: cargo tidy

                ok       fmt                1.2 s
                FAILED   tidy               1.2 s
                not run  docs

                tidy failed: 2 faults found
                run only this: cargo tidy
            "#]],
        );
        assert_eq!(outcome, (false, 2));
    }
}
