//! Opening an address in the user's browser.

use crate::screen::{Screen, YELLOW};
use std::process::{Command, Stdio};

/// The program that opens an address, where `$BROWSER` names none.
const OPENER: &str = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };

/// Starts the browser and does not wait for it; if there is none, says so.
pub(super) fn open(screen: Screen, url: &str) {
    let named = std::env::var("BROWSER").ok().filter(|program| !program.trim().is_empty());
    let program = named.as_deref().unwrap_or(OPENER);
    let mut command = Command::new(program);
    let started = command.arg(url).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn();
    if let Err(error) = started {
        screen.say(&format!(
            "{YELLOW}not opened{YELLOW:#}: could not start `{program}`: {error}; open the address yourself"
        ));
    }
}
