//! What unit tests of several files need: an agent by its name, and a start with nothing particular in it.

use std::collections::BTreeMap;
use std::path::Path;

use crate::kind::HeadlessKind;
use crate::limits::Limits;
use crate::permission::Permissions;
use crate::session_id::SessionId;
use crate::start::{Program, ResultIs, Start};

/// Returns the agent of this name.
pub(crate) fn headless(name: &str) -> HeadlessKind {
    HeadlessKind::find(name).unwrap()
}

/// Returns the start of a session in a folder that need not exist.
pub(crate) fn start_for(folder: &Path) -> Start {
    Start {
        session: SessionId::new("session-1").unwrap(),
        number: 1,
        item: None,
        result_is: ResultIs::Report,
        program: Program::Command(vec!["agent".to_owned()]),
        folder: folder.to_owned(),
        prompt: "do it".to_owned(),
        environment: Vec::new(),
        variables: BTreeMap::new(),
        model: None,
        resume: None,
        resumed_usage: None,
        tools: None,
        permissions: Permissions::Worktree,
        asker: None,
        secrets: Vec::new(),
        tokens: Vec::new(),
        sandbox: None,
        home: None,
        private: Path::new("/private").to_owned(),
        transcript: Path::new("/private/transcript.jsonl").to_owned(),
        limits: Limits::default(),
    }
}
