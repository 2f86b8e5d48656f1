//! The official JSONata cases, run through the room.
//!
//! The cases are not part of this repository: they are looked for where `REGATTA_JSONATA_SUITE` says, or in
//! `shared/jsonata-suite` beside the checkout. Those that do not pass are listed in `suite-exceptions.txt`; the list
//! is exact, so a case that starts to pass, or to fail, is noticed. The language is judged here and not the usual
//! limits, so the limits are wide: some cases build ten million items.
//!
//! This test has its own `main`. Whether the cases are there is known only at run time, and the usual harness has no
//! way to report a test as ignored then: it would pass without running anything.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use regatta_expr::{Expression, Fault, Limits};
use serde_json::Value;

/// How many cases the suite has. A runner that skips some must not pass.
const CASES: usize = 1_686;

/// How many may fail.
const EXCEPTIONS_MAX: usize = 3;

/// The codes under which an engine may report a limit of its own where the suite says `U1001`.
const LIMIT_CODES: &[&str] = &["U1001", "U1006", "D1011", "D1012"];

/// The name of the one test, as runners list it.
const NAME: &str = "the_official_cases_pass";

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let has = |flag: &str| arguments.iter().any(|argument| argument == flag);
    let is_wanted = |filter: &String| NAME.contains(filter.as_str());
    let mut filters = arguments.iter().filter(|argument| !argument.starts_with('-')).peekable();
    let is_asked_for = filters.peek().is_none() || filters.any(is_wanted);
    let root = find_root();
    if has("--list") {
        // nextest lists all tests first, then those that are ignored, and counts these as skipped.
        if !has("--ignored") || root.is_none() {
            println!("{NAME}: test");
        }
        return;
    }
    let (passed, ignored) = match root {
        Some(root) if is_asked_for => {
            check_all_cases(&Suite::load(root));
            (1, 0)
        }
        None if is_asked_for => {
            println!("test {NAME} ... ignored, there are no cases: set REGATTA_JSONATA_SUITE");
            (0, 1)
        }
        _ => (0, 0),
    };
    println!("test result: ok. {passed} passed; 0 failed; {ignored} ignored");
}

fn check_all_cases(suite: &Suite) {
    let exceptions = read_exceptions();
    assert!(exceptions.len() <= EXCEPTIONS_MAX, "at most {EXCEPTIONS_MAX} cases may be listed");
    let (mut count, mut unexpected) = (0, Vec::new());
    for (id, case) in suite.cases() {
        count += 1;
        let outcome = case.and_then(|case| suite.check(&id, &case));
        match (outcome, exceptions.contains_key(&id)) {
            (Ok(()), true) => unexpected.push(format!("{id}: passes, and is listed as an exception")),
            (Err(why), false) => unexpected.push(format!("{id}: {why}")),
            (Ok(()), false) | (Err(_), true) => {}
        }
    }
    assert!(unexpected.is_empty(), "{} surprises:\n{}", unexpected.len(), unexpected.join("\n"));
    assert_eq!(count, CASES, "cases that were run");
    println!("JSONata suite: {} of {CASES} cases pass", CASES - exceptions.len());
}

/// Reads the listed cases, each with its reason.
fn read_exceptions() -> BTreeMap<String, String> {
    let text = include_str!("suite-exceptions.txt");
    let lines = text.lines().filter(|line| !line.is_empty() && !line.starts_with('#'));
    let split = |line: &str| {
        let (id, reason) = line.split_once(": ").expect("a line is `case: reason`");
        (id.to_owned(), reason.to_owned())
    };
    lines.map(split).collect()
}

struct Suite {
    root: PathBuf,
    datasets: BTreeMap<String, Value>,
    expressions: Value,
}

/// Finds the folder of the cases. One that is named must be there.
fn find_root() -> Option<PathBuf> {
    let beside = || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/jsonata-suite");
    match std::env::var_os("REGATTA_JSONATA_SUITE") {
        Some(named) => Some(PathBuf::from(named)),
        None => Some(beside()).filter(|beside| beside.is_dir()),
    }
}

type Outcome<T> = Result<T, String>;

impl Suite {
    fn load(root: PathBuf) -> Suite {
        let datasets = files_in(&root.join("datasets"))
            .map(|path| (stem(&path), read_json(&path).expect("a dataset is JSON")))
            .collect();
        let expressions = read_json(&root.join("expr-files.json")).expect("expr-files.json");
        Suite { root, datasets, expressions }
    }

    /// Returns every case with its name: `group/file`, and a number where a file holds several.
    fn cases(&self) -> Vec<(String, Outcome<Value>)> {
        let mut cases = Vec::new();
        for group in files_in(&self.root.join("groups")) {
            for path in files_in(&group) {
                let id = format!("{}/{}", stem(&group), stem(&path));
                match read_json(&path) {
                    Ok(Value::Array(several)) => cases.extend(
                        several.into_iter().enumerate().map(|(at, case)| (format!("{id}#{at}"), Ok(case))),
                    ),
                    one => cases.push((id, one)),
                }
            }
        }
        cases
    }

    fn check(&self, id: &str, case: &Value) -> Outcome<()> {
        let answer = self.answer(id, case);
        if let Some(expected) = case.get("result") {
            let found = answer.map_err(|fault| format!("{fault:?}"))?.ok_or("undefined")?;
            let unordered = case["unordered"] == true;
            let same = if unordered { same_members(expected, &found) } else { same(expected, &found) };
            return if same { Ok(()) } else { Err(format!("expected {expected}, found {found}")) };
        }
        if case["undefinedResult"] == true {
            let found = answer.map_err(|fault| format!("{fault:?}"))?;
            return found.map_or(Ok(()), |found| Err(format!("expected nothing, found {found}")));
        }
        let fault = answer.err().ok_or("expected a fault")?;
        let expected = case.get("error").unwrap_or(case);
        check_fault(expected, &fault).map_err(|why| format!("{why}: {fault:?}"))
    }

    fn answer(&self, id: &str, case: &Value) -> Result<Option<Value>, Fault> {
        let expression = Expression::compile(self.text(id, case))?;
        let nothing = serde_json::Map::new();
        let bindings = case["bindings"].as_object().unwrap_or(&nothing);
        let bindings: Vec<(&str, &Value)> =
            bindings.iter().map(|(name, value)| (name.as_str(), value)).collect();
        let limits = limits_of(case);
        match (case.get("data"), case["dataset"].as_str()) {
            (Some(data), _) => expression.evaluate(data, &bindings, &limits),
            (None, Some(name)) => expression.evaluate(&self.datasets[name], &bindings, &limits),
            (None, None) => expression.evaluate_alone(&bindings, &limits),
        }
    }

    fn text<'a>(&'a self, id: &str, case: &'a Value) -> &'a str {
        let group = id.split('/').next().unwrap_or_default();
        let named = || self.expressions[format!("{group}/{}", case["expr-file"].as_str()?)].as_str();
        case["expr"].as_str().or_else(named).expect("a case has an expression")
    }
}

/// Returns wide limits, with the depth that the case asks for. Its time is left out: a slow machine is no failure.
fn limits_of(case: &Value) -> Limits {
    let depth = case["depth"].as_u64().map(|depth| usize::try_from(depth).expect("a small number"));
    Limits {
        steps: 5_000_000,
        depth: depth.unwrap_or(10_000),
        items: 10_000_000,
        string_bytes: 16_000_000,
        memory_bytes: usize::MAX,
        values: usize::MAX,
        result_bytes: 16_000_000,
        time: Duration::from_secs(120),
        ..Limits::at(1_700_000_000_000)
    }
}

fn check_fault(expected: &Value, fault: &Fault) -> Outcome<()> {
    let code = expected["code"].as_str().ok_or("the case names no code")?;
    let is_limit = code == "U1001" && LIMIT_CODES.contains(&fault.jsonata_code());
    if code != fault.jsonata_code() && !is_limit {
        return Err(format!("expected {code}"));
    }
    if let Some(message) = expected["message"].as_str().filter(|message| *message != fault.to_string()) {
        return Err(format!("expected the message {message}"));
    }
    match expected["token"].as_str().filter(|token| fault.token() != Some(token)) {
        Some(token) => Err(format!("expected the token {token}")),
        None => Ok(()),
    }
}

/// Whether two values are the same, with numbers compared as IEEE doubles.
fn same(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64() == b.as_f64(),
        (Value::Array(a), Value::Array(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same(a, b)),
        (Value::Object(a), Value::Object(b)) => {
            a.len() == b.len() && a.iter().all(|(key, a)| b.get(key).is_some_and(|b| same(a, b)))
        }
        _ => a == b,
    }
}

/// Whether two arrays hold the same items in any order.
fn same_members(a: &Value, b: &Value) -> bool {
    let (Value::Array(a), Value::Array(b)) = (a, b) else { return same(a, b) };
    let mut left: Vec<&Value> = b.iter().collect();
    a.len() == b.len()
        && a.iter().all(|a| left.iter().position(|b| same(a, b)).map(|at| left.remove(at)).is_some())
}

fn files_in(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let entries = fs::read_dir(folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("an entry").path()).collect();
    paths.sort();
    paths.into_iter()
}

fn stem(path: &Path) -> String {
    path.file_stem().expect("a file has a name").to_string_lossy().into_owned()
}

fn read_json(path: &Path) -> Outcome<Value> {
    let text = fs::read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))?;
    serde_json::from_str(&text).map_err(|error| error.to_string())
}
