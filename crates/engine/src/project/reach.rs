//! What each agent of a project can and cannot reach, for `doctor` and `agent try`.

use crate::core::AgentId;
use crate::project::Project;
use crate::project::config::{AgentEntry, Program};
use crate::session::sandbox::{self, SandboxStatus};
use regatta_agents::{HeadlessKind, LoginState};
use serde::Serialize;
use std::path::Path;

/// What an agent can reach.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Reach {
    /// The agent.
    pub agent: String,
    /// The sandbox that holds it; nothing when it runs without one.
    pub sandbox: Option<String>,
    /// Why it runs without one, or does not run.
    pub why: Option<String>,
    /// Whose login it gets in its private home.
    pub login: Option<&'static str>,
    /// The files that this login is copied from.
    pub login_files: Vec<String>,
    /// Whether the login is renewed every few hours.
    pub is_login_rotating: bool,
    /// Whether it reaches the network.
    pub has_network: bool,
    /// What it can read besides.
    pub readable: Vec<String>,
    /// What it can change besides.
    pub writable: Vec<String>,
}

/// Looks at what an agent reaches; nothing for one that does not exist or plays a script.
pub async fn find_reach(project: &Project, agent: &AgentId) -> Option<Reach> {
    let config = project.config();
    let entry =
        config.agents.get(agent).filter(|entry| !matches!(entry.program, Program::Scripted { .. }))?;
    let (sandbox, why) = match sandbox::find_standing(project).await {
        SandboxStatus::Inside { version } => (Some(format!("bubblewrap {version}")), None),
        SandboxStatus::Without { why, .. } | SandboxStatus::Refused { why, .. } => (None, Some(why)),
    };
    let login = look_at_login(entry);
    let show = |paths: &[std::path::PathBuf]| paths.iter().map(|path| path.display().to_string()).collect();
    Some(Reach {
        agent: agent.to_string(),
        sandbox,
        why,
        login: entry.login.map(HeadlessKind::name),
        login_files: login.as_ref().map(|login| show(&login.found)).unwrap_or_default(),
        is_login_rotating: login.is_some_and(|login| login.is_rotating),
        has_network: config.sandbox.has_network,
        readable: show(&config.sandbox.readable),
        writable: show(&config.sandbox.writable),
    })
}

/// Looks at what every agent of a project reaches.
pub async fn list_reaches(project: &Project) -> Vec<Reach> {
    let mut reaches = Vec::new();
    for agent in project.config().agents.keys() {
        reaches.extend(find_reach(project, agent).await);
    }
    reaches
}

/// Returns why agents run without a sandbox although the config asks for one.
pub async fn find_missing_sandbox(project: &Project) -> Option<String> {
    match sandbox::find_standing(project).await {
        SandboxStatus::Without { why, next: Some(_) } => Some(why),
        _ => None,
    }
}

/// Looks at the login that an agent gets.
pub(crate) fn look_at_login(entry: &AgentEntry) -> Option<LoginState> {
    Some(entry.login?.look_at_login(sandbox::user_home().as_deref().unwrap_or(Path::new("/"))))
}

impl Reach {
    /// Describes it in a sentence.
    pub fn describe(&self) -> String {
        let Some(sandbox) = &self.sandbox else {
            let why = self.why.as_deref().unwrap_or("there is none");
            return format!("no sandbox ({why}): can read and change whatever you can");
        };
        let mut parts = vec![
            format!("{sandbox}: writes only to its worktree, a home and a cache of its own"),
            "reads the project, the system, and the tools on your PATH".to_owned(),
        ];
        let named = |verb: &str, paths: &[String]| {
            (!paths.is_empty()).then(|| format!("{verb} {}", paths.join(", ")))
        };
        parts.extend(named("also reads", &self.readable));
        parts.extend(named("also writes", &self.writable));
        parts.push(match (self.login, self.login_files.is_empty()) {
            (None, _) => "has no login of yours".to_owned(),
            (Some(login), true) => format!("gets your {login} login, but there is none"),
            (Some(login), false) => format!("has your {login} login ({})", self.login_files.join(", ")),
        });
        parts.push(if self.has_network { "reaches the network" } else { "reaches no network" }.to_owned());
        parts.join("; ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shut_and_what_is_open_is_said() {
        let reach = Reach {
            agent: "claude".to_owned(),
            sandbox: Some("bubblewrap 0.11.0".to_owned()),
            why: None,
            login: Some("claude"),
            login_files: vec!["/h/.claude/.credentials.json".to_owned()],
            is_login_rotating: true,
            has_network: true,
            readable: vec!["~/data".to_owned()],
            writable: Vec::new(),
        };
        assert_eq!(
            reach.describe(),
            "bubblewrap 0.11.0: writes only to its worktree, a home and a cache of its own; reads the project, the \
             system, and the tools on your PATH; also reads ~/data; has your claude login \
             (/h/.claude/.credentials.json); reaches the network"
        );
        let open = Reach { sandbox: None, why: Some("`[sandbox] mode` is \"off\"".to_owned()), ..reach };
        assert_eq!(
            open.describe(),
            "no sandbox (`[sandbox] mode` is \"off\"): can read and change whatever you can"
        );
    }
}
