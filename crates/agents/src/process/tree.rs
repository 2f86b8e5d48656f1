//! Finds the living processes of a session on Linux, by reading `/proc`.
//!
//! A process is known by its id and its start time together, because ids are given again. It only looks and
//! signals; when to do which is decided in `end`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File};
use std::io::Read;

use rustix::process::{
    Pid, PidfdFlags, Signal, kill_process, kill_process_group, pidfd_open, pidfd_send_signal,
};

use super::{Around, Leftover, MARKER};
use crate::session_id::SessionId;

/// How much of an environment is searched; the kernel itself allows about 6 MB for arguments and environment.
const ENVIRONMENT_BYTES_MAX: u64 = 8 * 1024 * 1024;

/// How often a supervisor is spared: it needs a moment for each child.
const SPARED_MAX: u32 = 6;

/// How many parents are followed upwards; a longer chain is a sign of a torn reading.
const ANCESTORS_MAX: usize = 4096;

/// A living process, told apart from a later one with the same id by its start time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Member {
    pub(super) pid: i32,
    started: u64,
}

/// The processes of one session.
#[derive(Debug, Clone)]
pub(super) struct Tree {
    /// Nothing if it is all that is below this process.
    marker: Option<String>,
    leader: Option<Member>,
    /// What the leader is, if not the program.
    around: Around,
    /// How often members were killed.
    kills: u32,
    known: BTreeSet<Member>,
}

impl Tree {
    /// Describes the tree of a session of which only the marker is known.
    pub(super) fn of_session(session: &SessionId) -> Tree {
        let marker = Some(format!("{MARKER}={session}"));
        Tree { marker, ..Tree::below_this_process() }
    }

    /// Describes everything that is below this process.
    pub(super) fn below_this_process() -> Tree {
        Tree { marker: None, leader: None, around: Around::Nothing, kills: 0, known: BTreeSet::new() }
    }

    /// Describes the tree of a child that leads its own process group and is not reaped yet.
    pub(super) fn of_child(session: &SessionId, pid: u32, around: Around) -> Tree {
        let leader = i32::try_from(pid).ok().and_then(read_process).map(|process| process.member);
        Tree { leader, around, ..Tree::of_session(session) }
    }

    /// Returns every living process of the tree. One that was a member before stays one.
    pub(super) fn find_alive(&mut self) -> Vec<Member> {
        let processes = read_processes();
        let protected = find_protected(&processes);
        let mut children: BTreeMap<i32, Vec<&Process>> = BTreeMap::new();
        for process in processes.values() {
            children.entry(process.parent).or_default().push(process);
        }
        let mut open: Vec<&Process> = processes.values().filter(|process| self.is_member(process)).collect();
        let mut alive = BTreeSet::new();
        while let Some(process) = open.pop() {
            if protected.contains(&process.member.pid) || !alive.insert(process.member) {
                continue;
            }
            open.extend(children.get(&process.member.pid).into_iter().flatten());
        }
        self.known.extend(&alive);
        alive.into_iter().collect()
    }

    /// Returns how many processes were ever found.
    pub(super) fn count_known(&self) -> usize {
        self.known.len()
    }

    /// Asks one process to end. What is around the program is not asked: it would take the program with it, without its
    /// grace, or leave it without somebody who knows all that it started.
    pub(super) fn ask(&self, member: Member) {
        if self.around != Around::Nothing && self.leader == Some(member) {
            return;
        }
        self.signal(member, Signal::TERM);
        // A stopped process would not see the request.
        self.signal(member, Signal::CONT);
    }

    /// Sends a signal to one process, if it is still the one that was found.
    pub(super) fn signal(&self, member: Member, signal: Signal) {
        let Some(pid) = Pid::from_raw(member.pid) else { return };
        // The descriptor is opened first and the start time compared after: from then on it cannot be another
        // process. Errors mean that the process is gone, which is what is wanted.
        let descriptor = pidfd_open(pid, PidfdFlags::empty());
        if read_process(member.pid).is_none_or(|process| process.member != member) {
            return;
        }
        let _ = match descriptor {
            Ok(descriptor) => pidfd_send_signal(descriptor, signal),
            Err(_) => kill_process(pid, signal),
        };
    }

    /// Kills the given members, the group at one stroke so that it cannot fork away. A sandbox is the group, and the
    /// kernel ends all that is in it. A supervisor is spared at first: it reaps what is killed, and then ends by itself.
    pub(super) fn kill(&mut self, members: &[Member]) {
        self.kills += 1;
        if self.around == Around::Supervisor && self.kills <= SPARED_MAX {
            for member in members.iter().filter(|member| Some(**member) != self.leader) {
                self.signal(*member, Signal::KILL);
            }
            return;
        }
        if let Some(leader) = self.leader
            && members
                .iter()
                .any(|member| read_process(member.pid).is_some_and(|process| process.is_in_group_of(leader)))
            && let Some(group) = Pid::from_raw(leader.pid)
        {
            let _ = kill_process_group(group, Signal::KILL);
        }
        for member in members {
            self.signal(*member, Signal::KILL);
        }
    }

    fn is_member(&self, process: &Process) -> bool {
        self.known.contains(&process.member)
            || self.leader.is_some_and(|leader| process.member == leader || process.is_in_group_of(leader))
            || match &self.marker {
                Some(marker) => holds_entry(&read_environment(process.member.pid), marker.as_bytes()),
                None => u32::try_from(process.parent) == Ok(std::process::id()),
            }
    }
}

/// Returns every process that carries the marker of a session whose id starts so.
pub fn find_leftovers(marker_prefix: &str) -> Vec<Leftover> {
    let processes = read_processes();
    let protected = find_protected(&processes);
    let mut found = Vec::new();
    for pid in processes.keys().filter(|pid| !protected.contains(pid)) {
        let environment = read_environment(*pid);
        let session = find_marked(&environment).filter(|session| session.as_str().starts_with(marker_prefix));
        if let (Some(session), Ok(pid)) = (session, u32::try_from(*pid)) {
            found.push(Leftover { pid, session });
        }
    }
    found
}

/// Returns the environments of the processes that this one runs under, the nearest first, as far as they can be read.
pub fn list_environments_above() -> Vec<BTreeMap<String, String>> {
    let mut found = Vec::new();
    let mut next = i32::try_from(std::process::id()).ok().and_then(read_process).map(|own| own.parent);
    while let Some(pid) = next.filter(|pid| *pid > 0)
        && found.len() < ANCESTORS_MAX
    {
        found.push(parse_environment(&read_environment(pid)));
        next = read_process(pid).map(|process| process.parent);
    }
    found
}

fn parse_environment(environment: &[u8]) -> BTreeMap<String, String> {
    let entries = environment.split(|byte| *byte == 0).filter_map(|entry| std::str::from_utf8(entry).ok());
    // The first of several entries is the one that a program finds.
    let pairs = entries.filter_map(|entry| entry.split_once('=')).rev();
    pairs.map(|(name, value)| (name.to_owned(), value.to_owned())).collect()
}

#[derive(Debug)]
struct Process {
    member: Member,
    parent: i32,
    group: i32,
    is_dead: bool,
}

impl Process {
    fn is_in_group_of(&self, leader: Member) -> bool {
        self.group == leader.pid && self.member.started >= leader.started
    }
}

/// Returns what must never be signalled: this process, those it runs under, and the first one.
fn find_protected(processes: &BTreeMap<i32, Process>) -> BTreeSet<i32> {
    let mut protected = BTreeSet::from([1]);
    let mut next = i32::try_from(std::process::id()).ok();
    while let Some(pid) = next
        && protected.len() < ANCESTORS_MAX
    {
        protected.insert(pid);
        next = processes.get(&pid).map(|process| process.parent).filter(|parent| *parent > 1);
    }
    protected
}

/// Returns the processes that live; a zombie does not.
fn read_processes() -> BTreeMap<i32, Process> {
    let Ok(entries) = fs::read_dir("/proc") else { return BTreeMap::new() };
    entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter_map(|pid| Some((pid, read_process(pid)?)))
        .filter(|(_, process)| !process.is_dead)
        .collect()
}

fn read_process(pid: i32) -> Option<Process> {
    parse_stat(pid, &fs::read(format!("/proc/{pid}/stat")).ok()?)
}

/// Reads a line such as `12 (a (b) c) S 1 12 12 …`: the name may hold anything, so fields start after its end.
fn parse_stat(pid: i32, line: &[u8]) -> Option<Process> {
    let name_end = line.iter().rposition(|byte| *byte == b')')?;
    let rest = std::str::from_utf8(line.get(name_end + 1..)?).ok()?;
    let fields: Vec<&str> = rest.split_ascii_whitespace().collect();
    let started = fields.get(19)?.parse().ok()?;
    Some(Process {
        member: Member { pid, started },
        parent: fields.get(1)?.parse().ok()?,
        group: fields.get(2)?.parse().ok()?,
        is_dead: matches!(*fields.first()?, "Z" | "X" | "x"),
    })
}

/// Returns the environment a process was started with; empty for those of other users.
fn read_environment(pid: i32) -> Vec<u8> {
    let mut bytes = Vec::new();
    if let Ok(file) = File::open(format!("/proc/{pid}/environ")) {
        // What was read before an error still counts: the process may be ending.
        let _ = file.take(ENVIRONMENT_BYTES_MAX).read_to_end(&mut bytes);
    }
    bytes
}

fn holds_entry(environment: &[u8], entry: &[u8]) -> bool {
    environment.split(|byte| *byte == 0).any(|candidate| candidate == entry)
}

fn find_marked(environment: &[u8]) -> Option<SessionId> {
    environment.split(|byte| *byte == 0).find_map(|entry| {
        let value = entry.strip_prefix(MARKER.as_bytes())?.strip_prefix(b"=")?;
        SessionId::new(std::str::from_utf8(value).ok()?).ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_with_brackets_does_not_shift_the_fields() {
        let line = b"12 (a) S 9 (b) S 7 8 12 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0";
        let process = parse_stat(12, line).unwrap();
        assert_eq!((process.member.started, process.parent, process.group), (4711, 7, 8));
        assert!(!process.is_dead);
        let zombie = b"12 (a) Z 7 8 12 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 4711 0 0";
        assert!(parse_stat(12, zombie).unwrap().is_dead);
        assert!(parse_stat(12, b"12 (a) S 7").is_none());
    }

    #[test]
    fn a_marker_is_a_whole_entry() {
        assert!(holds_entry(b"A=1\0REGATTA_SESSION=s1\0", b"REGATTA_SESSION=s1"));
        assert!(!holds_entry(b"REGATTA_SESSION=s10\0X=REGATTA_SESSION=s1\0", b"REGATTA_SESSION=s1"));
        assert_eq!(find_marked(b"A=1\0REGATTA_SESSION=s.1\0"), SessionId::new("s.1").ok());
        assert_eq!(find_marked(b"REGATTA_SESSION=a/b\0"), None);
    }

    #[test]
    fn an_environment_is_read_as_a_program_would() {
        let found = parse_environment(b"A=1\0B=x=y\0A=2\0no entry\0\xff=1\0");
        let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
        assert_eq!(found, BTreeMap::from([pair("A", "1"), pair("B", "x=y")]));
        let parent = &list_environments_above()[0];
        assert!(parent.contains_key("PATH"), "{parent:?}");
    }

    #[test]
    fn this_process_and_those_above_it_are_protected() {
        let protected = find_protected(&read_processes());
        let own = i32::try_from(std::process::id()).unwrap();
        let parent = rustix::process::getppid().unwrap().as_raw_nonzero().get();
        assert!(protected.contains(&1) && protected.contains(&own) && protected.contains(&parent));
    }
}
