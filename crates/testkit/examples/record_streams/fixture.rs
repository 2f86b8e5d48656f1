//! Where fixtures are written, and the world that a case is recorded in.

use std::path::{Path, PathBuf};

use regatta_testkit::agent_programs::{Agent, Home, Installed};
use regatta_testkit::model::StubModel;
use regatta_testkit::repo::TestRepo;
use serde_json::{Value, json};

use crate::process::Ended;
use crate::scrub::Scrubber;

/// A repository, a home and a model for the cases of one agent.
pub(crate) struct World {
    pub(crate) agent: Agent,
    pub(crate) model: StubModel,
    pub(crate) home: Home,
    scrubber: Scrubber,
}

impl World {
    pub(crate) fn new(installed: &Installed) -> Self {
        let model = StubModel::start_blocking();
        let home = Home::new(&model.url());
        let mut scrubber = Scrubber::default();
        scrubber.hide_folder(home.path(), "/agent-home");
        let program = PathBuf::from(&installed.command()[0]);
        let is_modules = |folder: &&Path| folder.ends_with("node_modules");
        let place = program.ancestors().find(is_modules).and_then(Path::parent).and_then(Path::parent);
        scrubber.hide_folder(place.expect("a program is below the folder of all programs"), "/programs");
        let own = std::env::current_exe().expect("a running program has a path");
        scrubber.hide(&own.to_string_lossy(), "/programs/mcp-server");
        scrubber.hide(&format!("127.0.0.1:{}", model.port()), "127.0.0.1:8099");
        World { agent: installed.agent(), model, home, scrubber }
    }

    /// Makes a repository, whose folder is hidden from now on.
    pub(crate) fn make_repo(&mut self) -> TestRepo {
        let repo = TestRepo::new();
        self.scrubber.hide_folder(repo.path(), "/project");
        repo
    }

    /// Writes what an agent printed in a case, and the notes beside it.
    pub(crate) fn keep(&mut self, case: &str, printed: &str, command: &[String], ended: &Ended) {
        let folder =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("../agents/tests/streams").join(self.agent.name());
        std::fs::create_dir_all(&folder).expect("the folder can be made");
        let printed = self.scrubber.clean(printed);
        let mut notes =
            json!({"agent": self.agent.name(), "version": self.agent.version(), "command": command});
        for (name, value) in ended.describe().as_object().into_iter().flatten() {
            notes[name] = value.clone();
        }
        let shown = self.scrubber.clean(&format!("{notes:#}\n"));
        let count = printed.lines().count();
        eprintln!("{} {case}: {count} lines, exit {}", self.agent.name(), exit(&notes));
        write(&folder.join(format!("{case}.jsonl")), &printed);
        write(&folder.join(format!("{case}.meta.json")), &shown);
    }
}

fn exit(notes: &Value) -> String {
    if notes["timedOut"] == true { "none in time".to_owned() } else { notes["exitCode"].to_string() }
}

fn write(path: &Path, text: &str) {
    std::fs::write(path, text).expect("the fixture can be written");
}
