//! Where agents keep their settings and caches in a home folder.
//!
//! Writable is what an agent needs to run and to be resumed. Read-only within that is what makes its user's own later
//! start of the agent run something: hooks, tool servers, commands, standing instructions. No writable path may lie
//! below another one: an agent could make a symlink of it, and the next session would open what it points to.

/// What one agent keeps in a home folder, as paths below it.
pub(super) struct Settings {
    /// The name of its program.
    pub(super) program: &'static str,
    pub(super) writable: &'static [&'static str],
    pub(super) read_only: &'static [&'static str],
}

/// The agents that are known.
pub(super) const SETTINGS: [Settings; 5] = [
    Settings {
        program: "claude",
        writable: &[".claude", ".claude.json"],
        read_only: &[
            ".claude/settings.json",
            ".claude/settings.local.json",
            ".claude/CLAUDE.md",
            ".claude/agents",
            ".claude/commands",
            ".claude/hooks",
            ".claude/plugins",
            ".claude/skills",
        ],
    },
    Settings {
        program: "codex",
        writable: &[".codex"],
        read_only: &[
            ".codex/config.toml",
            ".codex/AGENTS.md",
            ".codex/prompts",
            ".codex/rules",
            ".codex/skills",
        ],
    },
    Settings {
        program: "gemini",
        writable: &[".gemini"],
        read_only: &[".gemini/settings.json", ".gemini/GEMINI.md", ".gemini/commands", ".gemini/extensions"],
    },
    Settings {
        program: "opencode",
        writable: &[".config/opencode", ".local/share/opencode", ".local/state/opencode"],
        read_only: &[
            ".config/opencode/opencode.json",
            ".config/opencode/opencode.jsonc",
            ".config/opencode/AGENTS.md",
            ".config/opencode/agent",
            ".config/opencode/command",
            ".config/opencode/plugin",
        ],
    },
    Settings {
        program: "goose",
        writable: &[".config/goose", ".local/share/goose", ".local/state/goose"],
        read_only: &[".config/goose/config.yaml", ".config/goose/permission.yaml"],
    },
];

/// Caches of tools that agents build and test with, the common one first; nothing in them is on PATH.
pub(super) const CACHES: [&str; 12] = [
    ".cache",
    ".npm",
    ".yarn",
    ".bun/install/cache",
    ".local/share/pnpm/store",
    ".cargo/registry",
    ".cargo/git",
    ".gradle/caches",
    ".m2/repository",
    ".nuget/packages",
    ".pub-cache",
    "go/pkg",
];

/// Keys that no agent needs for its work; what an agent signs in with is not among them.
pub(super) const SECRETS: [&str; 8] = [
    ".ssh",
    ".gnupg",
    ".netrc",
    ".git-credentials",
    ".config/git/credentials",
    ".config/gh",
    ".kube",
    ".docker/config.json",
];

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn nothing_writable_lies_below_something_writable() {
        let all: Vec<&Path> = SETTINGS
            .iter()
            .flat_map(|settings| settings.writable)
            .chain(CACHES.iter())
            .map(Path::new)
            .collect();
        for one in &all {
            for other in &all {
                assert!(one == other || !one.starts_with(other), "{} in {}", one.display(), other.display());
            }
        }
    }

    #[test]
    fn what_is_read_only_lies_below_what_is_writable() {
        for settings in &SETTINGS {
            for path in settings.read_only {
                assert!(
                    settings.writable.iter().any(|above| Path::new(path).starts_with(above)),
                    "{}: {path}",
                    settings.program
                );
            }
        }
    }
}
