//! What expressions see as `$name` beside the places of `[bind]`: facts about the run, and what comes with an occasion.
//!
//! What a run keeps is a field of its state; what is known or derived is a variable. The facts are gathered by the owner
//! of the run, which passes them in; nothing here looks for them. A variable is bound for an expression only if the
//! expression names it, so a step that names none costs nothing. `$eval` sees no variable that the text around it does
//! not name: which facts are gathered is decided before anything is evaluated.

use std::fmt;
use std::sync::Arc;

use serde_json::Value;

/// A fact about a run that expressions can read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FactName {
    /// `$run`: the run itself, with its status and times.
    Run,
    /// `$roles`: the last session of each role in the run.
    Roles,
    /// `$children`: the children of its `map` nodes.
    Children,
    /// `$work`: what git says of its tasks, by key.
    Work,
    /// `$messages`: the messages of the run and its children.
    Messages,
    /// `$steps`: the steps of the run and its children.
    Steps,
}

impl FactName {
    /// All of them.
    pub const ALL: [FactName; 6] = [
        FactName::Run,
        FactName::Roles,
        FactName::Children,
        FactName::Work,
        FactName::Messages,
        FactName::Steps,
    ];

    /// Returns the name, without the `$`.
    pub fn as_str(self) -> &'static str {
        match self {
            FactName::Run => "run",
            FactName::Roles => "roles",
            FactName::Children => "children",
            FactName::Work => "work",
            FactName::Messages => "messages",
            FactName::Steps => "steps",
        }
    }

    /// Finds the fact of that name, without the `$`.
    pub fn find(name: &str) -> Option<FactName> {
        FactName::ALL.into_iter().find(|fact| fact.as_str() == name)
    }
}

impl fmt::Display for FactName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "${}", self.as_str())
    }
}

/// A variable that only some expressions see, because it comes with what they are for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Local {
    /// `$signal`: the input of a signal.
    Signal,
    /// `$outcome`: what an edge with `on` is for.
    Outcome,
    /// `$file`: the file that is imported.
    File,
}

impl Local {
    /// All of them.
    pub const ALL: [Local; 3] = [Local::Signal, Local::Outcome, Local::File];

    /// Returns the name, without the `$`.
    pub fn as_str(self) -> &'static str {
        match self {
            Local::Signal => "signal",
            Local::Outcome => "outcome",
            Local::File => "file",
        }
    }

    /// Returns where it is known, for a message.
    pub(crate) fn home(self) -> &'static str {
        match self {
            Local::Signal => "a table of `[signals]`",
            Local::Outcome => "an edge with `on`",
            Local::File => "`import` of a file",
        }
    }

    pub(crate) fn find(name: &str) -> Option<Local> {
        Local::ALL.into_iter().find(|local| local.as_str() == name)
    }
}

/// The values of variables, by name without the `$`. Cheap to clone.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Variables(Vec<(&'static str, Arc<Value>)>);

impl Variables {
    /// No variables.
    pub const NONE: &'static Variables = &Variables(Vec::new());

    /// Sets a fact.
    pub fn set(&mut self, fact: FactName, value: Arc<Value>) {
        self.put(fact.as_str(), value);
    }

    /// Sets a variable that comes with an occasion.
    pub fn set_local(&mut self, local: Local, value: Value) {
        self.put(local.as_str(), Arc::new(value));
    }

    /// Returns these with one more that comes with an occasion.
    #[must_use]
    pub fn with(&self, local: Local, value: Value) -> Variables {
        let mut variables = self.clone();
        variables.set_local(local, value);
        variables
    }

    /// Returns the value of a name, without the `$`.
    pub fn find(&self, name: &str) -> Option<&Arc<Value>> {
        self.0.iter().find(|(known, _)| *known == name).map(|(_, value)| value)
    }

    /// Lists names and values.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &Arc<Value>)> {
        self.0.iter().map(|(name, value)| (*name, value))
    }

    fn put(&mut self, name: &'static str, value: Arc<Value>) {
        match self.0.iter_mut().find(|(known, _)| *known == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_value_replaces_the_one_of_the_same_name() {
        let mut variables = Variables::default();
        variables.set(FactName::Run, Arc::new(json!(1)));
        variables.set(FactName::Run, Arc::new(json!(2)));
        let with = variables.with(Local::Signal, json!("x"));
        let told = |variables: &Variables| {
            variables.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" ")
        };
        assert_eq!((told(&variables).as_str(), told(&with).as_str()), ("run=2", r#"run=2 signal="x""#));
    }
}
