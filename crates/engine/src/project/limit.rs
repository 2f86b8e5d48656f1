//! Raising a limit of a budget in the config, for a person who is asked whether the work may cost more.
//!
//! Only the one value changes: the rest of the text, with its comments, stays byte for byte. The new text is checked before
//! it replaces the old one, and has to say what was asked for.

use crate::commands::orders;
use crate::core::FieldFault;
use crate::error::Error;
use crate::project::Project;
use crate::project::config::Config;
use regatta_files::disk;
use serde::Deserialize;
use std::path::Path;

/// The parts of `[budget]`.
const SCOPES: [&str; 5] = ["session", "task", "run", "day", "project"];

/// A limit of a budget.
#[derive(Debug, Clone, Deserialize)]
pub struct Limit {
    /// The part of `[budget]`: `session`, `task`, `run`, `day` or `project`.
    pub scope: String,
    /// What is limited: `tokens`, `cost` (in US dollars) or `wall` (in seconds).
    pub measure: String,
    /// The new limit.
    pub limit: f64,
}

/// Writes a limit into the config, and puts it into force: work that is resumed next must not meet the old one.
pub async fn raise_limit(project: &Project, limit: &Limit) -> Result<(), Error> {
    let path = project.config_path();
    let old = std::fs::read_to_string(&path).map_err(Error::io("read", &path))?;
    let text = set(&old, limit, &path)?;
    disk::write_atomically(&path, text.as_bytes()).map_err(Error::StateFile)?;
    project.read_config().await;
    Ok(())
}

fn set(old: &str, limit: &Limit, path: &Path) -> Result<String, Error> {
    let Limit { scope, measure, limit: amount } = limit;
    if !SCOPES.contains(&scope.as_str()) {
        return Err(invalid("scope", format!("must be one of: {}", SCOPES.join(", "))));
    }
    let value = render(measure, *amount)?;
    let section = format!("[budget.{scope}]");
    let mut lines: Vec<String> = old.split_inclusive('\n').map(str::to_owned).collect();
    let is_head = |line: &String| line.split('#').next().unwrap_or_default().trim() == section;
    let entry = format!("{measure} = {value}\n");
    match lines.iter().position(is_head) {
        Some(head) => {
            let own = lines[head + 1..].iter().position(|line| line.trim_start().starts_with('['));
            let end = own.map_or(lines.len(), |own| head + 1 + own);
            let is_key = |line: &String| line.split('=').next().is_some_and(|key| key.trim() == measure);
            match lines[head + 1..end].iter().position(is_key) {
                Some(at) => lines[head + 1 + at] = keep_comment(&lines[head + 1 + at], &entry),
                None => lines.insert(head + 1, entry),
            }
        }
        None => lines.push(format!("\n{section}\n{entry}")),
    }
    let text = lines.concat();
    // A config that is written in another style, such as an inline table, is not guessed at.
    Config::parse(&text, path).map_err(|_| {
        invalid(
            "limit",
            format!(
                "cannot be written for you: set `{measure} = {value}` in `{section}` of {}",
                path.display()
            ),
        )
    })?;
    Ok(text)
}

/// Replaces a line but for its comment.
fn keep_comment(old: &str, entry: &str) -> String {
    match old.split_once('#') {
        Some((_, comment)) => format!("{} #{comment}", entry.trim_end()),
        None => entry.to_owned(),
    }
}

fn render(measure: &str, amount: f64) -> Result<String, Error> {
    if !(0.0..=1e15).contains(&amount) {
        return Err(invalid("limit", "must be a number of a sensible size".to_owned()));
    }
    match measure {
        "tokens" => Ok(format!("{amount:.0}")),
        "cost" => Ok(format!("{amount:.2}")),
        "wall" => Ok(format!("\"{amount:.0}s\"")),
        _ => Err(invalid("measure", "must be tokens, cost or wall".to_owned())),
    }
}

fn invalid(field: &'static str, problem: String) -> Error {
    orders::invalid(vec![FieldFault { field, problem }])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn raise(old: &str, scope: &str, measure: &str, limit: f64) -> Result<String, Error> {
        let limit = Limit { scope: scope.to_owned(), measure: measure.to_owned(), limit };
        set(old, &limit, Path::new("config.toml"))
    }

    #[test]
    fn one_value_changes_and_everything_else_stays() {
        let old =
            "# Ours\n[budget.task] # each\ncost = 5.0 # dollars\ntokens = 100\n\n[budget.run]\ntokens = 7\n";
        let new = raise(old, "task", "cost", 10.0).unwrap();
        assert_eq!(new, old.replace("cost = 5.0", "cost = 10.00"));
        let new = raise(old, "run", "wall", 7200.0).unwrap();
        assert_eq!(new, old.replace("[budget.run]\n", "[budget.run]\nwall = \"7200s\"\n"));
        let new = raise("", "day", "tokens", 5e6).unwrap();
        assert_eq!(new, "\n[budget.day]\ntokens = 5000000\n");
    }

    #[test]
    fn what_is_no_limit_or_cannot_be_placed_is_refused() {
        for (old, scope, measure, limit) in [
            ("", "week", "cost", 1.0),
            ("", "task", "turns", 1.0),
            ("", "task", "cost", f64::NAN),
            ("", "task", "cost", -1.0),
            ("[budget]\ntask = { cost = 1 }\n", "task", "cost", 2.0),
        ] {
            assert!(raise(old, scope, measure, limit).is_err(), "{scope} {measure} {limit}");
        }
    }
}
