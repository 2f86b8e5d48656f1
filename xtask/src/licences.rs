//! The rule: every crate of the dependency graph can be used under licences that we allow.

use std::path::Path;

use serde::Deserialize;
use spdx::{Expression, ParseMode};

use crate::error::Error;
use crate::program::Program;
use crate::stage::Verdict;

/// Licences that let the binary be distributed under ours.
const ALLOWED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

/// Crates also write `MIT/Apache-2.0`, and names that the list has replaced.
const MODE: ParseMode =
    ParseMode { allow_slash_as_or_operator: true, allow_deprecated: true, ..ParseMode::STRICT };

/// The part of `cargo metadata` that the rule reads.
#[derive(Debug, Deserialize)]
struct Metadata {
    packages: Vec<Package>,
}

#[derive(Debug, Deserialize)]
struct Package {
    name: String,
    version: String,
    license: Option<String>,
}

/// Prints the crates whose licence is not allowed, and fails if there are any.
pub(crate) fn check(root: &Path) -> Result<Verdict, Error> {
    let program = Program::new("cargo", &["metadata", "--locked", "--format-version", "1"]);
    let printed = program.read(root)?;
    let metadata: Metadata = serde_json::from_slice(&printed)
        .map_err(|source| Error::Output { command: program.to_string(), source })?;
    let faults = find_faults(&metadata.packages);
    for fault in &faults {
        eprintln!("{fault}");
    }
    if faults.is_empty() { Ok(Verdict::Passed) } else { Err(Error::Faults { count: faults.len() }) }
}

fn find_faults(packages: &[Package]) -> Vec<String> {
    packages
        .iter()
        .filter_map(|package| Some(format!("{} {}: {}", package.name, package.version, judge(package)?)))
        .collect()
}

fn judge(package: &Package) -> Option<String> {
    let Some(text) = &package.license else {
        return Some("names no licence".to_owned());
    };
    match Expression::parse_mode(text, MODE) {
        Err(_) => Some(format!("`{text}` is not a licence expression")),
        Ok(expression) => {
            let is_allowed = expression.evaluate(|licence| ALLOWED.contains(&licence.to_string().as_str()));
            (!is_allowed).then(|| format!("`{text}` is not allowed"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_crate_is_named_with_what_is_wrong() {
        let text = r#"{"packages": [
            {"name": "good", "version": "1.0.0", "license": "MIT OR GPL-3.0", "edition": "2024"},
            {"name": "bad", "version": "1.0.0", "license": "GPL-3.0-only"},
            {"name": "both", "version": "1.0.0", "license": "(MIT OR GPL-3.0) AND Apache-2.0 WITH LLVM-exception"},
            {"name": "old", "version": "1.0.0", "license": "MIT/GPL-3.0"},
            {"name": "exception", "version": "1.0.0", "license": "MIT WITH LLVM-exception"},
            {"name": "odd", "version": "2.0.0", "license": "MIT,"},
            {"name": "silent", "version": "0.1.0", "license": null}
        ]}"#;
        let metadata: Metadata = serde_json::from_str(text).unwrap();
        assert_eq!(
            find_faults(&metadata.packages),
            [
                "bad 1.0.0: `GPL-3.0-only` is not allowed",
                "exception 1.0.0: `MIT WITH LLVM-exception` is not allowed",
                "odd 2.0.0: `MIT,` is not a licence expression",
                "silent 0.1.0: names no licence",
            ]
        );
    }
}
