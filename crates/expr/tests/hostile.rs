//! Hostile expressions: each ends, soon, with an answer or a typed fault, and all of them in less than 64 MB.
//!
//! The list runs in a process of its own, so that its peak of memory can be read, and on a small stack, so that
//! recursion that is not counted would overflow it. What each must end with is in the list.

mod hostile_list;

use std::process::Command;
use std::time::{Duration, Instant};

use hostile_list::{Case, End, cases, deep};
use regatta_expr::{Expression, Fault, Limit, Limits, STEPS_MAX};
use serde_json::Value;

/// What the process may take at its peak, in kB.
const PEAK_KB_MAX: u64 = 64 * 1024;

/// What a thread of an evaluation may start with: less than any runtime gives.
const STACK_BYTES: usize = 512 * 1024;

/// The backstop, far behind the usual one: a loaded machine is slow, and all of these end by what is counted.
const TIME: Duration = Duration::from_secs(60);

/// The steps within which an answer must come, what is counted as steps included. The time is not judged: it is that of
/// the machine.
const ANSWER_STEPS_MAX: u64 = STEPS_MAX / 10 * 9;

/// Set for the process that runs the list.
const CHILD: &str = "REGATTA_EXPR_HOSTILE";

const TEST: &str = "hostile_expressions_end_soon_and_small";

#[test]
fn hostile_expressions_end_soon_and_small() {
    if std::env::var_os(CHILD).is_some() {
        return run_list();
    }
    let binary = std::env::current_exe().expect("the test has a binary");
    let output = Command::new(binary)
        .args(["--exact", TEST, "--nocapture", "--test-threads=1"])
        .env(CHILD, "1")
        .output()
        .expect("the test starts itself");
    let (said, complained) =
        (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    println!("{said}");
    assert!(output.status.success(), "the list ended with {}:\n{said}\n{complained}", output.status);
    assert!(said.contains("all ended"), "the list was not run:\n{said}");
    assert!(!complained.contains("panicked"), "the engine printed a panic:\n{complained}");
}

#[test]
fn an_input_of_ten_thousand_levels_is_read_and_not_followed() {
    // The input itself takes a large stack to be dropped; the evaluation does not need it.
    let deep = std::thread::Builder::new().stack_size(64 * 1024 * 1024).spawn(|| {
        let input = deep(10_000);
        let end = |text: &str| {
            let expression = Expression::compile(text).expect("an expression");
            expression.evaluate(&input, &[], &Limits::at(0)).map_err(|fault| fault.limit())
        };
        assert_eq!(end("$exists(a[0].a[0].a)"), Ok(Some(Value::Bool(true))));
        for text in ["$", "$string($)", "**", "$clone($)", "$ ~> |a|{}|"] {
            assert_eq!(end(text), Err(Some(Limit::Nesting)), "{text}");
        }
    });
    deep.expect("a thread starts").join().expect("no overflow");
}

fn run_list() {
    let before = peak_kb();
    let list = std::thread::Builder::new().stack_size(STACK_BYTES).spawn(|| {
        let all = cases();
        assert!(all.len() >= 60, "{} cases", all.len());
        let wrong: Vec<String> = all.iter().filter_map(judge).collect();
        assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
        all.len()
    });
    let count = list.expect("a thread starts").join().expect("the list ends");
    let after = peak_kb();
    println!("all ended: {count} expressions; peak {before:?} kB before, {after:?} kB after");
    assert!(after.is_none_or(|peak| peak < PEAK_KB_MAX), "the peak was {after:?} kB");
}

/// Evaluates a case, and says what is wrong with how it ended.
fn judge(case: &Case) -> Option<String> {
    let begin = Instant::now();
    let end = evaluate(case, STEPS_MAX);
    let took = begin.elapsed();
    println!("{:>6} ms  {:?}  {}: {end:?}", took.as_millis(), peak_kb(), case.name);
    let right = match &case.end {
        End::Limit(which) => end.as_ref().err().and_then(Fault::limit) == Some(*which),
        End::AnyLimit => {
            end.as_ref().err().is_some_and(|fault| fault.limit().is_some_and(|l| l != Limit::Time))
        }
        End::Fault(code) => end.as_ref().err().is_some_and(|fault| fault.jsonata_code() == *code),
        End::Answer => end.is_ok(),
        End::Any => !matches!(&end, Err(fault) if fault.limit() == Some(Limit::Time)),
    };
    let few_steps = end.is_err() || evaluate(case, ANSWER_STEPS_MAX).is_ok();
    (!right || !few_steps).then(|| format!("{} ended after {took:?} with {end:?}", case.name))
}

/// Returns the length of the answer, which may be long.
fn evaluate(case: &Case, steps: u64) -> Result<usize, Fault> {
    let expression = Expression::compile(&case.text)?;
    let limits = Limits { time: TIME, steps, ..Limits::at(0) };
    let answer = expression.evaluate(&case.input.make(), &[], &limits)?;
    Ok(answer.map_or(0, |answer| answer.to_string().len()))
}

/// Reads the most memory that this process has had, where the system says so.
fn peak_kb() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    line.trim().trim_end_matches("kB").trim().parse().ok()
}
