//! The rules of axe-core, on the page that is open.
//!
//! It is installed with npm by `cargo xtask agents`; where it is not, the rules are passed over, and that is said.

use regatta_testkit::agent_programs::find_program;
use regatta_testkit::browser::Browser;
use serde_json::Value;

/// Finds what is wrong with a page, and how bad that is.
const RUN: &str = "return axe.run(document, { resultTypes: ['violations'] }).then((found) => found.violations
    .filter((one) => one.impact === 'serious' || one.impact === 'critical')
    .map((one) => `${one.id}: ${one.nodes.slice(0, 4).map((node) => `${node.target} ${node.failureSummary}`).join(' | ')}`))";

/// The rules, if they are installed.
pub(crate) struct Axe {
    script: Option<String>,
}

impl Axe {
    pub(crate) fn find() -> Self {
        let script = find_program("axe-core")
            .map(|path| std::fs::read_to_string(path).expect("the rules can be read"));
        Axe { script }
    }

    /// Returns the serious and the critical faults of the page that is open.
    pub(crate) fn faults(&self, page: &Browser) -> Vec<String> {
        let Some(script) = &self.script else { return Vec::new() };
        page.run(script);
        let found = page.run(RUN);
        let faults = found.as_array().unwrap_or_else(|| panic!("a list of faults: {found}"));
        faults.iter().filter_map(Value::as_str).map(str::to_owned).collect()
    }
}
