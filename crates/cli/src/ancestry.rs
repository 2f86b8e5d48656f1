//! Who called this process: a person, or something in an agent's session.
//!
//! A process of a session says so in its environment. One whose environment was cleaned is known by those above it: the
//! supervisor of the session has the session's variables, and the agent cannot change those of a process that runs already.
//! That is a courtesy between honest programs, not a wall: keeping an agent from our files is the sandbox's matter.

use regatta_engine::{find_root, list_environments_above};
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;
use std::sync::OnceLock;

/// Every process of a session has it.
const SESSION: &str = "REGATTA_SESSION";
const PROJECT: &str = "REGATTA_PROJECT";

static ANCESTRY: OnceLock<Ancestry> = OnceLock::new();

/// The session around this process, by its variables.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ancestry {
    variables: BTreeMap<String, String>,
}

impl Ancestry {
    /// Finds out who calls for the project of a folder, once for this process.
    pub(crate) fn find(folder: &Path) -> &'static Ancestry {
        ANCESTRY.get_or_init(|| {
            let text = |(name, value): (OsString, OsString)| {
                Some((name.into_string().ok()?, value.into_string().ok()?))
            };
            let own = std::env::vars_os().filter_map(text).collect();
            choose(own, list_environments_above(), find_root(folder).as_deref())
        })
    }

    /// Returns who called; a person until it was found out.
    pub(crate) fn current() -> &'static Ancestry {
        static PERSON: Ancestry = Ancestry { variables: BTreeMap::new() };
        ANCESTRY.get().unwrap_or(&PERSON)
    }

    /// Tells whether it is an agent's session.
    pub(crate) fn is_agent(&self) -> bool {
        !self.variables.is_empty()
    }

    /// Returns a variable of the session.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.variables.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

/// Chooses the outermost agent's session of the project, or what the process says of itself.
///
/// A session of another project above is none of ours: an agent that works on Regatta itself runs its tests.
fn choose(
    own: BTreeMap<String, String>,
    above: Vec<BTreeMap<String, String>>,
    root: Option<&Path>,
) -> Ancestry {
    let is_ours = |variables: &BTreeMap<String, String>| {
        let project = variables.get(PROJECT).map(Path::new);
        is_of_agent(variables) && root.is_some() && project == root
    };
    if let Some(variables) = above.into_iter().rev().find(is_ours) {
        return Ancestry { variables };
    }
    if is_of_agent(&own) { Ancestry { variables: own } } else { Ancestry::default() }
}

/// Checks and set-ups are marked too, and are the project's own.
fn is_of_agent(variables: &BTreeMap<String, String>) -> bool {
    let session = variables.get(SESSION).map_or("", String::as_str);
    let is_of_project = ["check", "setup"].contains(&session.split('-').nth(1).unwrap_or_default());
    !session.is_empty() && !is_of_project
}

#[cfg(test)]
mod tests {
    use super::*;

    fn variables(session: &str, project: &str) -> BTreeMap<String, String> {
        [(SESSION, session), (PROJECT, project)]
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .into()
    }

    #[test]
    fn checks_and_set_ups_are_the_projects_own() {
        for (session, expected) in [
            ("p0-task-1-1.x", true),
            ("p0-run-1-2.x", true),
            ("p0-check-1.x", false),
            ("p0-setup-1.x", false),
            ("", false),
        ] {
            assert_eq!(is_of_agent(&variables(session, "/p")), expected, "{session}");
        }
    }

    #[test]
    fn a_session_above_counts_for_its_own_project_whatever_the_process_says() {
        let root = Some(Path::new("/p"));
        let found = |own: &BTreeMap<String, String>, above: &[BTreeMap<String, String>]| {
            choose(own.clone(), above.to_vec(), root).variable(SESSION).map(str::to_owned)
        };
        let (person, agent) = (BTreeMap::new(), variables("p0-task-1-1.x", "/p"));
        assert_eq!(found(&person, &[]), None, "nobody is above");
        assert_eq!(found(&person, &[person.clone(), agent.clone()]).as_deref(), Some("p0-task-1-1.x"));
        assert_eq!(found(&person, &[variables("p1-task-1-1.x", "/other")]), None);
        let forged = variables("p0-check-1.x", "/p");
        assert_eq!(found(&forged, &[forged.clone(), agent.clone()]).as_deref(), Some("p0-task-1-1.x"));
        assert_eq!(found(&forged, std::slice::from_ref(&forged)), None, "a check of the project");
        assert_eq!(found(&variables("p1-task-1-1.x", "/other"), &[]).as_deref(), Some("p1-task-1-1.x"));
    }
}
