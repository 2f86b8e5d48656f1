//! How many files this process may have open: each connection is one of them.
//!
//! A process starts with a soft limit, often 1,024, that is lower than what it may set itself. Agents inherit the raised limit;
//! it is far below the numbers at which programs that close every possible file become slow.

use crate::limits::Limits;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Files that are no connections: the log, task files, transcripts, and the pipes of agents and git.
const RESERVED: u64 = 512;

/// Raises the limit as far as the connections need it and the system allows, and fits the connections to what there is then.
pub(crate) fn make_room(limits: Limits) -> Limits {
    let wanted = RESERVED + u64::try_from(limits.connections_max).unwrap_or(u64::MAX - RESERVED);
    let before = getrlimit(Resource::Nofile);
    if before.current.is_some_and(|current| current < wanted) {
        let current = before.maximum.map_or(wanted, |maximum| maximum.min(wanted));
        // What is refused shows in the limit that is read again.
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(current), ..before });
    }
    fit(limits, getrlimit(Resource::Nofile).current)
}

/// Leaves files for everything else: a connection too many is refused with an error, a log that cannot be opened stops the engine.
fn fit(limits: Limits, open_max: Option<u64>) -> Limits {
    let room = open_max.map_or(u64::MAX, |open_max| open_max.saturating_sub(RESERVED).max(open_max / 2));
    let room = usize::try_from(room).unwrap_or(usize::MAX);
    Limits {
        connections_max: limits.connections_max.min(room),
        connections_per_address_max: limits.connections_per_address_max.min(room),
        ..limits
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_room_for_other_files() {
        let max = |open_max| {
            let fitted = fit(Limits::default(), open_max);
            (fitted.connections_max, fitted.connections_per_address_max)
        };
        assert_eq!((max(None), max(Some(20_000))), ((4_096, 3_072), (4_096, 3_072)));
        assert_eq!((max(Some(4_096)), max(Some(256))), ((3_584, 3_072), (128, 128)));
    }
}
