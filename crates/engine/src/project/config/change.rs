//! What a changed config may do at once, and what waits for a restart.
//!
//! Whoever can write the config could otherwise run programs, or widen what agents may do, without anybody at the
//! terminal: so what does either waits until a person starts `regatta up` again. Everything else applies at once.

use super::{AgentEntry, Config, Program, SandboxSettings, Sandboxed, Source, Variable};
use crate::core::{AgentId, Approval, Settings};
use regatta_agents::Permissions;
use serde::Serialize;
use std::collections::BTreeMap;

/// A change of the config that waits for a restart.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    /// The key of the config.
    pub key: String,
    /// Why it waits.
    pub why: &'static str,
}

const OUTSIDE: &str = "it names a program that runs outside of the sandbox";
const WIDER: &str = "it widens what agents may do";
const PLACES: &str = "the running engine keeps its folders";

/// What came of a new config.
pub(crate) struct Applied {
    pub(crate) config: Config,
    pub(crate) waiting: Vec<Waiting>,
}

/// Merges a new config into the one in force; `is_sandboxed` tells whether programs of agents run in a sandbox now.
pub(crate) fn apply(old: &Config, new: Config, is_sandboxed: bool) -> Applied {
    // Named one by one, so that whoever adds a key decides here what a change of it does.
    let Config {
        default_branch,
        settings,
        agents,
        roles,
        setup,
        setup_wall,
        copy,
        filters,
        merge_drivers,
        sandbox,
        worktrees,
        checks,
        check_wall,
        review,
        task_states,
        archives,
        folders,
        editor,
        notify,
    } = new;
    let mut held = Held(Vec::new());
    let agents = held.agents(&old.agents, agents, is_sandboxed);
    let roles = held.roles(old, roles, &agents);
    let is_new_setup = setup.is_some() && setup != old.setup;
    let is_more_copied = copy.iter().any(|path| !old.copy.contains(path));
    let checks = held.checks(&old.checks, checks, is_sandboxed);
    let settings = held.settings(&old.settings, settings, &agents, &checks);
    let config = Config {
        default_branch,
        settings,
        agents,
        roles,
        setup: held.keep_if(is_new_setup, "worktree.setup", OUTSIDE, setup, &old.setup),
        setup_wall,
        copy: held.keep_if(is_more_copied, "worktree.copy", WIDER, copy, &old.copy),
        filters: held.keep("worktree.filters", OUTSIDE, filters, &old.filters),
        merge_drivers: held.keep("worktree.merge_drivers", OUTSIDE, merge_drivers, &old.merge_drivers),
        sandbox: held.sandbox(&old.sandbox, sandbox),
        worktrees: held.keep("paths.worktrees", PLACES, worktrees, &old.worktrees),
        checks,
        check_wall,
        review,
        task_states: held.keep("paths.task_states", PLACES, task_states, &old.task_states),
        archives: held.keep("paths.archives", PLACES, archives, &old.archives),
        folders: held.keep("paths", PLACES, folders, &old.folders),
        editor: held.keep("board.editor", OUTSIDE, editor, &old.editor),
        notify: held.keep("notify", OUTSIDE, notify, &old.notify),
    };
    Applied { config, waiting: held.0 }
}

/// What waits.
struct Held(Vec<Waiting>);

impl Held {
    fn note(&mut self, key: impl Into<String>, why: &'static str) {
        self.0.push(Waiting { key: key.into(), why });
    }

    fn keep_if<T: Clone>(&mut self, waits: bool, key: &str, why: &'static str, new: T, old: &T) -> T {
        if !waits {
            return new;
        }
        self.note(key, why);
        old.clone()
    }

    fn keep<T: Clone + PartialEq>(&mut self, key: &str, why: &'static str, new: T, old: &T) -> T {
        self.keep_if(new != *old, key, why, new, old)
    }

    fn agents(
        &mut self,
        old: &BTreeMap<AgentId, AgentEntry>,
        new: BTreeMap<AgentId, AgentEntry>,
        is_sandboxed: bool,
    ) -> BTreeMap<AgentId, AgentEntry> {
        let mut agents = BTreeMap::new();
        for (id, entry) in new {
            let before = old.get(&id);
            let reasons = reasons(before, &entry, is_sandboxed);
            for (key, why) in &reasons {
                self.note(format!("agents.{id}.{key}"), why);
            }
            match before {
                _ if reasons.is_empty() => drop(agents.insert(id, entry)),
                // How long it may work and how often widens nothing else of it.
                Some(before) => {
                    let (limits, instances) = (entry.limits, entry.instances);
                    agents.insert(id, AgentEntry { limits, instances, ..before.clone() });
                }
                None => {}
            }
        }
        agents
    }

    /// A role of an agent that waits stays with the agent that it had.
    fn roles(
        &mut self,
        old: &Config,
        new: BTreeMap<String, AgentId>,
        agents: &BTreeMap<AgentId, AgentEntry>,
    ) -> BTreeMap<String, AgentId> {
        let mut roles = BTreeMap::new();
        for (role, agent) in new {
            if agents.contains_key(&agent) {
                roles.insert(role, agent);
                continue;
            }
            self.note(format!("roles.{role}"), "its agent waits");
            let before = old.roles.get(&role).filter(|before| agents.contains_key(*before));
            roles.extend(before.map(|before| (role, before.clone())));
        }
        roles
    }

    fn checks(
        &mut self,
        old: &BTreeMap<String, Vec<String>>,
        new: BTreeMap<String, Vec<String>>,
        is_sandboxed: bool,
    ) -> BTreeMap<String, Vec<String>> {
        let mut checks = BTreeMap::new();
        for (name, command) in new {
            if is_sandboxed || old.get(&name) == Some(&command) {
                checks.insert(name, command);
                continue;
            }
            self.note(format!("checks.{name}"), OUTSIDE);
            checks.extend(old.get(&name).map(|before| (name, before.clone())));
        }
        checks
    }

    fn settings(
        &mut self,
        old: &Settings,
        new: Settings,
        agents: &BTreeMap<AgentId, AgentEntry>,
        checks: &BTreeMap<String, Vec<String>>,
    ) -> Settings {
        let is_auto = new.approval == Approval::Auto && old.approval != Approval::Auto;
        // Nobody named means that everybody here may approve.
        let is_member = |name: &String| old.members.is_empty() || old.members.contains(name);
        let is_open = new.members.is_empty() && !old.members.is_empty();
        let has_more = is_open || !new.members.iter().all(is_member);
        let is_there = |agent: &AgentId| agent.is_any() || agents.contains_key(agent);
        let (approval, members) = (new.approval, new.members);
        Settings {
            approval: self.keep_if(is_auto, "project.approval", WIDER, approval, &old.approval),
            members: self.keep_if(
                has_more,
                "project.members",
                "it lets others approve",
                members,
                &old.members,
            ),
            default_agent: new.default_agent.filter(is_there),
            checks: checks.keys().cloned().collect(),
            agents: new.agents.into_iter().filter(|(id, _)| agents.contains_key(id)).collect(),
            ..new
        }
    }

    fn sandbox(&mut self, old: &SandboxSettings, new: SandboxSettings) -> SandboxSettings {
        let is_weaker = strength(new.mode) < strength(old.mode);
        let is_online = new.has_network && !old.has_network;
        let has_more = |new: &[_], old: &[_]| new.iter().any(|path| !old.contains(path));
        let (writes, reads) =
            (has_more(&new.writable, &old.writable), has_more(&new.readable, &old.readable));
        let shows = has_more(&old.hidden, &new.hidden);
        SandboxSettings {
            mode: self.keep_if(is_weaker, "sandbox.mode", WIDER, new.mode, &old.mode),
            has_network: self.keep_if(is_online, "sandbox.network", WIDER, new.has_network, &old.has_network),
            writable: self.keep_if(writes, "sandbox.writable", WIDER, new.writable, &old.writable),
            readable: self.keep_if(reads, "sandbox.readable", WIDER, new.readable, &old.readable),
            hidden: self.keep_if(shows, "sandbox.hidden", WIDER, new.hidden, &old.hidden),
        }
    }
}

/// Returns why an entry of an agent waits, by key.
fn reasons(
    old: Option<&AgentEntry>,
    new: &AgentEntry,
    is_sandboxed: bool,
) -> Vec<(&'static str, &'static str)> {
    let mut reasons = Vec::new();
    let is_script = matches!(new.program, Program::Scripted { .. });
    if !is_sandboxed && !is_script && old.is_none_or(|old| old.program != new.program) {
        reasons.push(("command", OUTSIDE));
    }
    let is_new = |variable: &&Variable| old.is_none_or(|old| !old.environment.contains(variable));
    for variable in new.environment.iter().filter(is_new) {
        match variable.source {
            Source::Value(_) => {}
            Source::Command(_) => reasons.push(("env", OUTSIDE)),
            Source::Passed(_) | Source::File(_) => reasons.push(("env", WIDER)),
        }
    }
    // Whoever may start a program may give it the login that is its own.
    let is_usual = new.login == new.program.usual_login() || old.is_some_and(|old| old.login == new.login);
    if new.login.is_some() && !is_usual {
        reasons.push(("login", WIDER));
    }
    let allowed = old.map_or_else(Permissions::default, |old| old.permissions);
    if width(new.permissions) > width(allowed) {
        reasons.push(("permissions", WIDER));
    }
    reasons.dedup();
    reasons
}

fn width(permissions: Permissions) -> u8 {
    match permissions {
        Permissions::Deny => 0,
        Permissions::Worktree => 1,
        Permissions::Ask => 2,
    }
}

fn strength(mode: Sandboxed) -> u8 {
    match mode {
        Sandboxed::Off => 0,
        Sandboxed::Auto => 1,
        Sandboxed::Required => 2,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::path::Path;

    const OLD: &str = "[project]\nmembers = [\"ada\"]\n[worktree]\nsetup = \"make\"\ncopy = [\".env\"]\n\
        [checks]\nunit = \"make test\"\n[agents.a]\nkind = \"claude\"\n[roles]\ncoder = \"a\"\n\
        [sandbox]\nnetwork = false\nhidden = [\"/srv\"]\n";

    fn parse(text: &str) -> Config {
        Config::parse(text, Path::new("config.toml")).unwrap()
    }

    /// Applies a text to [`OLD`] with these words replaced; returns the keys that wait.
    fn check(replaced: &[(&str, &str)], is_sandboxed: bool) -> (Config, Vec<String>) {
        let text = replaced.iter().fold(OLD.to_owned(), |text, (old, new)| {
            assert!(text.contains(old), "{old}");
            text.replace(old, new)
        });
        let applied = apply(&parse(OLD), parse(&text), is_sandboxed);
        (applied.config, applied.waiting.into_iter().map(|waiting| waiting.key).collect())
    }

    #[test]
    fn limits_roles_and_agents_in_the_sandbox_apply_at_once() {
        let (config, waiting) = check(
            &[
                ("[project]\n", "[project]\nmax_concurrent_agents = 7\nagent = \"b\"\n"),
                ("kind = \"claude\"", "kind = \"codex\"\ninstances = 2\n[agents.b]\nkind = \"gemini\""),
                ("coder = \"a\"", "coder = \"b\""),
                ("make test", "make check"),
                ("setup = \"make\"\n", ""),
                ("copy = [\".env\"]", "copy = []"),
            ],
            true,
        );
        assert!(waiting.is_empty(), "{waiting:?}");
        assert_eq!((config.settings.max_concurrent_agents, config.agents.len()), (7, 2));
        assert_eq!(config.roles["coder"].as_str(), "b");
        assert_eq!(config.checks["unit"].last().unwrap(), "make check");
        assert!(config.setup.is_none() && config.copy.is_empty());
    }

    #[test]
    fn programs_outside_of_the_sandbox_wait() {
        let replaced = [
            ("setup = \"make\"", "setup = \"make all\"\nfilters = [\"lfs\"]\nmerge_drivers = [\"x\"]"),
            ("kind = \"claude\"", "kind = \"claude\"\nenv = { K = { command = \"pass\" } }"),
        ];
        let (config, waiting) = check(&replaced, true);
        assert_eq!(waiting, ["agents.a.env", "worktree.setup", "worktree.filters", "worktree.merge_drivers"]);
        assert_eq!(config.setup.unwrap().last().unwrap(), "make");
        assert!(config.agents.values().all(|agent| agent.environment.is_empty()));
        let replaced = [
            ("kind = \"claude\"", "kind = \"claude\"\ninstances = 3\n[agents.b]\nkind = \"gemini\""),
            ("make test", "make check\"\nmore = \"x"),
            ("coder = \"a\"", "coder = \"b\""),
        ];
        let (config, waiting) = check(&replaced, false);
        assert_eq!(waiting, ["agents.b.command", "roles.coder", "checks.more", "checks.unit"]);
        assert_eq!((config.agents.len(), config.settings.agents.len()), (1, 1));
        assert_eq!(config.agents.values().next().unwrap().instances, 3, "this applies");
        assert_eq!((config.roles["coder"].as_str(), config.settings.checks.len()), ("a", 1));
    }

    #[test]
    fn what_widens_the_rights_of_agents_waits() {
        let replaced = [
            ("[\"ada\"]", "[\"ada\", \"bob\"]\napproval = \"auto\""),
            ("[\".env\"]", "[\".env\", \"key\"]"),
            (
                "kind = \"claude\"",
                "kind = \"claude\"\nlogin = \"codex\"\nenv = [\"KEY\"]\npermissions = \"ask\"",
            ),
            (
                "network = false\nhidden = [\"/srv\"]",
                "mode = \"off\"\nwritable = [\"/data\"]\nreadable = [\"/x\"]",
            ),
        ];
        let (config, waiting) = check(&replaced, true);
        let expected = [
            "agents.a.env",
            "agents.a.login",
            "agents.a.permissions",
            "project.approval",
            "project.members",
            "worktree.copy",
            "sandbox.mode",
            "sandbox.network",
            "sandbox.writable",
            "sandbox.readable",
            "sandbox.hidden",
        ];
        assert_eq!(waiting, expected);
        assert_eq!(config.sandbox, parse(OLD).sandbox);
        let (_, waiting) = check(&[("members = [\"ada\"]", "members = []")], true);
        assert_eq!(waiting, ["project.members"], "nobody named means everybody");
    }

    #[test]
    fn what_narrows_them_applies_at_once() {
        let replaced = [
            ("hidden = [\"/srv\"]", "mode = \"required\"\nhidden = [\"/srv\", \"/data\"]"),
            ("kind = \"claude\"", "kind = \"claude\"\npermissions = \"deny\"\nlogin = \"none\""),
        ];
        let (config, waiting) = check(&replaced, false);
        assert!(waiting.is_empty(), "{waiting:?}");
        assert_eq!((config.sandbox.mode, config.sandbox.hidden.len()), (Sandboxed::Required, 2));
        assert!(config.agents.values().all(|agent| agent.login.is_none()));
    }
}
