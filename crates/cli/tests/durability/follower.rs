//! A reader that follows the log, and fails when a number is left out.

use crate::world::World;
use std::io::{BufRead, BufReader};
use std::process::{Child, ChildStdout};

/// Reads the log as it grows.
pub(crate) struct Follower {
    child: Child,
    lines: BufReader<ChildStdout>,
    last: u64,
}

impl Follower {
    pub(crate) fn start(world: &World) -> Self {
        let mut command = world.project.command(&["--json", "events", "--follow"]);
        let mut child = command.spawn().expect("the binary can be started");
        let lines = BufReader::new(child.stdout.take().expect("stdout is a pipe"));
        Follower { child, lines, last: 0 }
    }

    /// Waits until the event of this number is seen, having seen every one before it.
    pub(crate) fn until_seen(&mut self, seq: u64) {
        while self.last < seq {
            let mut line = String::new();
            self.lines.read_line(&mut line).expect("the log can be read");
            let event: serde_json::Value = serde_json::from_str(&line).expect("a line is one event");
            assert_eq!(event["seq"].as_u64(), Some(self.last + 1), "a number was left out");
            self.last += 1;
        }
    }
}

impl Drop for Follower {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
