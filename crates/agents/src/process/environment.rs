//! Builds the environment of a program: an allow-list, what the caller gives, and the marker.
//!
//! Nothing else of the engine's own environment reaches an agent, so no secret does by accident.

use std::ffi::OsString;

use super::MARKER;
use crate::sandbox::Sandbox;
use crate::session_id::SessionId;
use crate::start::StartError;

/// Variables passed through: what programs need to be found, to find their settings, and to print; a
/// time of day that an agent prints is then in our own zone.
const PASSED_THROUGH: [&str; 6] = ["PATH", "HOME", "TERM", "LANG", "TMPDIR", "TZ"];

/// Names a folder outside; in a sandbox it is not writable, and the usual one is there.
const ONLY_OUTSIDE: &str = "TMPDIR";

/// Returns the whole environment; the caller's values win over passed ones, those of the sandbox over the caller's, and
/// the marker over all.
pub(super) fn build(
    session: &SessionId,
    given: &[(String, String)],
    sandbox: Option<&Sandbox>,
) -> Result<Vec<(OsString, OsString)>, StartError> {
    let mut variables: Vec<(OsString, OsString)> = PASSED_THROUGH
        .into_iter()
        .filter(|name| sandbox.is_none() || *name != ONLY_OUTSIDE)
        .filter_map(|name| std::env::var_os(name).map(|value| (OsString::from(name), value)))
        .collect();
    for (name, value) in given.iter().chain(sandbox.iter().flat_map(|sandbox| &sandbox.environment)) {
        if name.is_empty() || name.contains(['=', '\0']) || value.contains('\0') {
            return Err(StartError::BadEnvironment { name: name.clone() });
        }
        variables.push((name.into(), value.into()));
    }
    variables.push((MARKER.into(), session.as_str().into()));
    Ok(variables)
}
