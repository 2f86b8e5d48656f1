//! First start: no agents or no tasks yet. Each says the next step and offers it.

use crate::markup::{Markup, render};
use crate::shell::Shell;
use askama::Template;
use regatta_engine::InstalledView;

/// What is known of a project that has just begun.
#[derive(Debug)]
pub struct Start<'a> {
    /// What is around it.
    pub shell: &'a Shell,
    /// The folder.
    pub root: String,
    /// The branch that tasks start from and are merged into.
    pub branch: String,
    /// The agents of the config.
    pub agents: Vec<String>,
    /// The configured checks, as they are run.
    pub checks: Vec<String>,
}

#[derive(Template)]
#[template(path = "start.html")]
struct Page<'a> {
    shell: &'a Shell,
    start: &'a Start<'a>,
}

/// Renders the page.
pub fn page(start: &Start<'_>) -> Markup {
    render(&Page { shell: start.shell, start })
}

#[derive(Template)]
#[template(path = "installed.html")]
struct Installed<'a> {
    installed: &'a [InstalledView],
    known: &'a [&'a str],
}

impl Installed<'_> {
    fn new_ones(&self) -> usize {
        self.installed.iter().filter(|agent| !agent.is_known).count()
    }

    fn add(&self) -> String {
        match self.new_ones() {
            1 => "Add it".to_owned(),
            2 => "Add both".to_owned(),
            count => format!("Add all {count}"),
        }
    }

    fn found(&self) -> String {
        match self.installed.len() {
            0 => "No agent was found on this machine. Install one of these, or add a program of your own."
                .to_owned(),
            1 => "1 agent was found on this machine. It uses the account you are signed in with.".to_owned(),
            count => format!(
                "{count} agents were found on this machine. They use the account you are signed in with."
            ),
        }
    }

    fn missing(&self) -> Vec<&str> {
        let is_there = |name: &&&str| self.installed.iter().any(|agent| agent.id == **name);
        self.known.iter().filter(|name| !is_there(name)).copied().collect()
    }
}

/// Renders which agents are installed; looking for them takes a while, so the page fetches it.
pub fn installed(installed: &[InstalledView], known: &[&str]) -> Markup {
    render(&Installed { installed, known })
}
