//! `[budget.session|task|run|day|project]`: what sessions may use.

use crate::core::session::{Allowance, Budget};
use crate::project::config::{Fault, fault, span};
use serde::Deserialize;
use std::time::Duration;

/// More is a slip of the keyboard rather than a budget, in US dollars.
const COST_MAX: f64 = 1_000_000_000.0;

/// The budgets as written.
#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct RawBudget {
    session: RawAllowance,
    task: RawAllowance,
    run: RawAllowance,
    day: RawAllowance,
    project: RawAllowance,
}

#[derive(Deserialize, Default)]
#[serde(deny_unknown_fields, default)]
struct RawAllowance {
    tokens: Option<u64>,
    /// In US dollars.
    cost: Option<f64>,
    wall: Option<String>,
}

impl RawBudget {
    pub(crate) fn check(&self) -> Result<Budget, Fault> {
        Ok(Budget {
            session: self.session.check("session")?,
            task: self.task.check("task")?,
            run: self.run.check("run")?,
            day: self.day.check("day")?,
            project: self.project.check("project")?,
        })
    }
}

impl RawAllowance {
    fn check(&self, scope: &str) -> Result<Allowance, Fault> {
        let name = format!("budget.{scope}.cost");
        let cost_micros = self.cost.map(|cost| micros(&name, cost)).transpose()?;
        let wall = match &self.wall {
            Some(text) => Some(span("wall", Some(text), Duration::ZERO)?),
            None => None,
        };
        let milliseconds = wall.map(|wall| u64::try_from(wall.as_millis()).unwrap_or(u64::MAX));
        Ok(Allowance { tokens: self.tokens, cost_micros, milliseconds })
    }
}

/// Reads an amount of US dollars.
pub(crate) fn micros(name: &str, cost: f64) -> Result<u64, Fault> {
    if !cost.is_finite() || !(0.0..=COST_MAX).contains(&cost) {
        return Err(fault("cost", format!("`{name}` must be an amount of US dollars, not `{cost}`")));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "checked above")]
    Ok((cost * 1_000_000.0).round() as u64)
}

#[cfg(test)]
mod tests {
    use crate::core::session::Allowance;
    use crate::project::config::Config;
    use std::path::Path;

    fn parse(text: &str) -> Result<Config, crate::project::config::ConfigError> {
        Config::parse(text, Path::new("config.toml"))
    }

    #[test]
    fn budgets_are_read_in_tokens_dollars_and_time() {
        let text = "[budget.task]\ntokens = 1000\ncost = 2.5\nwall = \"2h\"\n[budget.day]\ncost = 20\n";
        let budget = parse(text).unwrap().settings.budget;
        let task =
            Allowance { tokens: Some(1_000), cost_micros: Some(2_500_000), milliseconds: Some(7_200_000) };
        assert_eq!((budget.task, budget.day.cost_micros), (task, Some(20_000_000)));
        assert!(budget.session.is_unlimited() && budget.run.is_unlimited() && budget.project.is_unlimited());
    }

    #[test]
    fn what_is_no_amount_is_refused_where_it_stands() {
        for (text, place) in [
            ("[budget.task]\ncost = -1.0\n", "config.toml:2:1: `budget.task.cost` must be"),
            ("[budget.task]\ncost = inf\n", "config.toml:2:1: `budget.task.cost` must be"),
            ("[budget.task]\nwall = \"2 days\"\n", "config.toml:2:1: `wall` must be a time"),
            ("[budget.task]\ntokens = -1\n", "config.toml:2:10: "),
            ("[budget.week]\ntokens = 1\n", "config.toml:1:9: unknown field `week`"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with(place), "{error}");
        }
    }
}
