//! Shows how an agent is started, for the tests in the file of each.

use std::path::Path;

use expect_test::Expect;
use serde_json::Value;

use super::agent::HeadlessAgent;
use crate::permission::Permissions;
use crate::sandbox::Sandbox;
use crate::start::{Start, ToolServer};
use crate::testing::start_for;
use crate::usage::Usage;

/// Shows a first start with tools and a model, a resumed one in a sandbox, and one that is allowed nothing.
pub(super) fn check(agent: &HeadlessAgent, expected: Expect) {
    let plain = start_for(Path::new("/project"));
    let command = ["regatta", "mcp", "--session", "/private folder"].map(str::to_owned).to_vec();
    let first = Start {
        tools: Some(ToolServer { name: "regatta".to_owned(), command }),
        model: Some("model-1".to_owned()),
        ..plain.clone()
    };
    let mut resumed = Start {
        resume: Some("agent-session".to_owned()),
        resumed_usage: Some(Usage { cost_micros: Some(500_000), ..Usage::default() }),
        sandbox: Some(Sandbox::default()),
        tools: first.tools.clone(),
        ..plain.clone()
    };
    resumed.limits.cost_micros_max = Some(2_000_000);
    let denied = Start { permissions: Permissions::Deny, ..plain };
    let shown: Vec<String> = [first, resumed, denied].iter().map(|start| show(agent, start)).collect();
    expected.assert_eq(&shown.join("\n"));
}

fn show(agent: &HeadlessAgent, start: &Start) -> String {
    let plan = (agent.adapter)().plan(start, &["agent".to_owned(), "--mine".to_owned()]);
    assert_eq!(plan.input, start.prompt);
    assert!(!plan.command.iter().any(|word| word.contains(&start.prompt)), "{:?}", plan.command);
    let mut shown = format!("{}\n", plan.command.join(" "));
    for (name, value) in plan.environment {
        shown += &format!("  {name}={value}\n");
    }
    for (name, text) in plan.files {
        let value: Value = serde_json::from_str(&text).unwrap();
        shown += &format!("  {name}: {value}\n");
    }
    if let Some((path, fields)) = plan.home_settings {
        shown += &format!("  ~/{path}: {fields}\n");
    }
    shown
}
