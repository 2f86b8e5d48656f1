//! Says whether bubblewrap works on this machine, by trying it once.
//!
//! That it is installed says little: a container or a hardened kernel may forbid namespaces, and then every session in a
//! sandbox would fail. The answer is kept for as long as the process lives.

use std::ffi::OsString;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::sync::OnceCell;
use tokio::time::timeout;

use super::{PROGRAM, Sandbox, arguments};

/// A trial takes milliseconds; one that takes longer than this hangs.
const TRIAL_MAX: Duration = Duration::from_secs(20);

/// How much of a complaint is shown.
const COMPLAINT_CHARACTERS_MAX: usize = 200;

/// Whether sessions can be kept in a sandbox here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Sandboxing {
    /// They can.
    Works {
        /// The version of bubblewrap.
        version: String,
        /// Whether the network can be closed too; some containers forbid that alone.
        closes_network: bool,
    },
    /// They cannot.
    Missing {
        /// Why not.
        why: String,
        /// What to do about it.
        next: String,
    },
}

/// Tells whether bubblewrap works here; it is tried the first time this is asked.
pub async fn probe() -> &'static Sandboxing {
    static FOUND: OnceCell<Sandboxing> = OnceCell::const_new();
    FOUND.get_or_init(look).await
}

async fn look() -> Sandboxing {
    let version = match run(&["--version".into()]).await {
        Ok(printed) => printed.trim().trim_start_matches("bubblewrap ").to_owned(),
        Err(Complaint::NotFound) => {
            return Sandboxing::Missing {
                why: format!("bubblewrap (`{PROGRAM}`) was not found on PATH"),
                next: "install it, for example with `apt install bubblewrap`".to_owned(),
            };
        }
        Err(Complaint::Said(why)) => return forbidden(why),
    };
    match try_out(true).await {
        Ok(_) => Sandboxing::Works { version, closes_network: try_out(false).await.is_ok() },
        Err(complaint) => forbidden(complaint.to_string()),
    }
}

async fn try_out(has_network: bool) -> Result<String, Complaint> {
    let sandbox = Sandbox { has_network, ..Sandbox::default() };
    run(&arguments(&sandbox, Path::new("/"), &["true".into()])).await
}

fn forbidden(why: String) -> Sandboxing {
    Sandboxing::Missing {
        why: format!("bubblewrap is installed but does not work here: {why}"),
        next: "allow unprivileged user namespaces on this machine or in this container".to_owned(),
    }
}

/// Why a trial did not succeed.
#[derive(Debug, thiserror::Error)]
enum Complaint {
    #[error("it is not installed")]
    NotFound,
    #[error("{0}")]
    Said(String),
}

async fn run(words: &[OsString]) -> Result<String, Complaint> {
    let mut command = Command::new(PROGRAM);
    command.args(words).stdin(Stdio::null()).kill_on_drop(true);
    let output = match timeout(TRIAL_MAX, command.output()).await {
        Ok(Ok(output)) => output,
        Ok(Err(error)) if error.kind() == std::io::ErrorKind::NotFound => return Err(Complaint::NotFound),
        Ok(Err(error)) => return Err(Complaint::Said(error.to_string())),
        Err(_) => return Err(Complaint::Said(format!("it did not end within {TRIAL_MAX:?}"))),
    };
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let line = said.lines().rev().find(|line| !line.trim().is_empty()).unwrap_or("it gave no reason");
    Err(Complaint::Said(line.chars().take(COMPLAINT_CHARACTERS_MAX).collect()))
}
