//! The binary at a terminal: what it shows is read, and what it asks is answered, as a person would.
//!
//! The terminal is a pseudo terminal that the binary has as all three of its streams. It controls no session, so no signal
//! comes from it: a test that wants one sends it to the process.

use crate::binary::TestProject;
use crate::wait::until;
use rustix::fs::{Mode, OFlags};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use std::fs::File;
use std::io::{Read, Write};
use std::os::fd::OwnedFd;
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

/// Wide enough that no line of the binary is wrapped.
const SIZE: Winsize = Winsize { ws_row: 50, ws_col: 400, ws_xpixel: 0, ws_ypixel: 0 };

/// The binary with a person in front of it.
#[derive(Debug)]
pub struct AtTerminal {
    child: Child,
    keyboard: File,
    screen: Arc<Mutex<Vec<u8>>>,
    /// How much of the screen has been looked at.
    seen: usize,
}

impl AtTerminal {
    /// Starts the binary in a project.
    pub fn start(project: &TestProject, arguments: &[&str]) -> Self {
        let (person, program) = open_pair();
        let stream = || Stdio::from(program.try_clone().expect("a terminal can be shared"));
        let mut command = project.command(arguments);
        command.stdin(stream()).stdout(stream()).stderr(stream());
        let child = command.spawn().expect("the binary can be started");
        let keyboard = File::from(person);
        let screen = Arc::default();
        let (reader, shown) = (keyboard.try_clone().expect("a terminal can be shared"), Arc::clone(&screen));
        std::thread::spawn(move || watch(reader, &shown));
        AtTerminal { child, keyboard, screen, seen: 0 }
    }

    /// Waits until a text is shown that was not looked at before.
    pub fn until_shown(&mut self, text: &str) {
        let mut found = None;
        until(&format!("`{text}` is shown at the terminal"), || {
            let screen = self.screen.lock().unwrap_or_else(PoisonError::into_inner);
            let new = String::from_utf8_lossy(&screen[self.seen..]).into_owned();
            found = new.find(text).map(|at| at + text.len());
            let is_over = found.is_none() && matches!(self.child.try_wait(), Ok(Some(_)));
            assert!(!is_over, "`{text}` is not shown, and the program has ended: {new}");
            found.is_some()
        });
        self.seen += found.unwrap_or_default();
    }

    /// Types a line.
    pub fn say(&mut self, line: &str) {
        writeln!(self.keyboard, "{line}").expect("somebody listens at the terminal");
    }

    /// Waits for its end, and returns the exit code.
    pub fn wait(mut self) -> Option<i32> {
        until("the program at the terminal has ended", || {
            self.child.try_wait().expect("a child can be asked").is_some()
        });
        self.child.wait().expect("a child can be waited for").code()
    }
}

impl Drop for AtTerminal {
    /// A test that fails leaves nothing running.
    fn drop(&mut self) {
        if matches!(self.child.try_wait(), Ok(None)) {
            let _ = self.child.kill();
            let _ = self.child.wait();
        }
    }
}

/// Returns the two ends of a new terminal: the person's, and the program's.
fn open_pair() -> (OwnedFd, OwnedFd) {
    let person = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).expect("there are pseudo terminals");
    grantpt(&person).expect("a new terminal is ours");
    unlockpt(&person).expect("a new terminal can be unlocked");
    tcsetwinsize(&person, SIZE).expect("a terminal has a size");
    let name = ptsname(&person, Vec::new()).expect("a terminal has a name");
    let flags = OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC;
    let program = rustix::fs::open(&name, flags, Mode::empty()).expect("a new terminal can be opened");
    (person, program)
}

/// Reads until nobody has the terminal open any more, which is an error of reading.
fn watch(mut terminal: File, screen: &Mutex<Vec<u8>>) {
    let mut bytes = [0; 4096];
    while let Ok(count) = terminal.read(&mut bytes) {
        screen.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&bytes[..count]);
    }
}
