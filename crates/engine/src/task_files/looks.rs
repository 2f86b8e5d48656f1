//! Which task files to look at, and when: system reports go in, tasks that are due come out.
//!
//! ```text
//!   closed after writing, or moved to its name     due at once
//!   touched in any other way                       due when two looks a moment apart agree
//!   something beside it                            due a moment later, unless it is gone by then
//!   gone, though its task is there                 due when two looks a moment apart agree
//!   reports were lost, or none came for long       the whole folder is looked at
//! ```
//!
//! Nothing depends on reports alone: the next scan of the folder finds what they miss. Nothing here touches
//! the disk.

use crate::core::TaskId;
use crate::task_files::settled::Stamp;
use std::collections::{BTreeMap, BTreeSet};
use std::time::{Duration, Instant};

/// How far apart two looks must be, and agree, before a file counts as completely written.
const AGREE_AFTER: Duration = Duration::from_millis(150);
/// Files that we displace ourselves are mostly gone after this.
const BESIDE_AFTER: Duration = Duration::from_millis(300);
/// How often the whole folder is scanned, whatever was reported. It is scanned less often if a scan takes
/// long, so that all scans together take no more than this share of the time.
const FOLDER_EVERY: Duration = Duration::from_secs(5);
const FOLDER_SHARE: u32 = 500;
/// A scan that only took long because the machine was busy must not delay the next one forever.
const FOLDER_EVERY_MAX: Duration = Duration::from_secs(60);
/// A flood of lost reports triggers a scan of the folder no more often than this.
const FOLDER_PAUSE: Duration = Duration::from_millis(250);

/// What the system reports about the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Report {
    /// A task file was closed after writing, or got its name.
    Finished(TaskId),
    /// A task file changed in some other way.
    Touched(TaskId),
    /// Something happened to a file beside it that belongs to the task.
    Beside(TaskId),
    /// Reports were lost, or the folder was replaced.
    Lost,
}

/// One task as a scan of the folder finds it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Found {
    /// The task.
    pub(crate) task: TaskId,
    /// Its file, if there is one.
    pub(crate) stamp: Option<Stamp>,
    /// Whether something is left beside it.
    pub(crate) has_left_over: bool,
}

impl Found {
    /// Returns a task that has nothing in the folder.
    pub(crate) fn gone(task: TaskId) -> Self {
        Found { task, stamp: None, has_left_over: false }
    }
}

/// What to do about a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Step {
    /// Nothing, or nothing yet.
    Grant,
    /// Its file is taken in.
    TakeIn { is_first: bool },
}

/// All that is known of the folder.
#[derive(Debug)]
pub(crate) struct Looks {
    tasks: BTreeMap<TaskId, Seen>,
    folder_at: Instant,
    folder_seen: Option<Instant>,
}

#[derive(Debug, Default)]
struct Seen {
    last: Option<Stamp>,
    taken: Option<Stamp>,
    /// Whether its task is known, so that there must be a file.
    is_expected: bool,
    is_finished: bool,
    due_at: Option<Instant>,
}

impl Looks {
    /// Starts with nothing known: the folder is due.
    pub(crate) fn new(now: Instant) -> Self {
        Looks { tasks: BTreeMap::new(), folder_at: now, folder_seen: None }
    }

    /// Records a report.
    pub(crate) fn report(&mut self, report: Report, now: Instant) {
        match report {
            Report::Finished(task) => {
                self.tasks.entry(task).or_default().is_finished = true;
                self.make_due(task, now);
            }
            Report::Touched(task) => self.make_due(task, now + AGREE_AFTER),
            Report::Beside(task) => self.make_due(task, now + BESIDE_AFTER),
            Report::Lost => {
                let soonest = self.folder_seen.map_or(now, |seen| now.max(seen + FOLDER_PAUSE));
                self.folder_at = self.folder_at.min(soonest);
            }
        }
    }

    /// Tells whether the whole folder should be scanned.
    pub(crate) fn is_folder_due(&self, now: Instant) -> bool {
        self.folder_at <= now
    }

    /// Records that a task must have a file.
    pub(crate) fn expect(&mut self, task: TaskId) {
        self.tasks.entry(task).or_default().is_expected = true;
    }

    /// Forgets a task that does not exist.
    pub(crate) fn forget(&mut self, task: TaskId) {
        self.tasks.remove(&task);
    }

    /// Records a scan of the folder, and how long it took.
    pub(crate) fn see_folder(&mut self, found: &[Found], now: Instant, took: Duration) {
        let pause = (took * FOLDER_SHARE).clamp(FOLDER_EVERY, FOLDER_EVERY_MAX);
        (self.folder_seen, self.folder_at) = (Some(now), now + pause);
        let there: BTreeSet<TaskId> = found.iter().map(|one| one.task).collect();
        let is_gone =
            |(task, seen): (&TaskId, &Seen)| (seen.is_expected && !there.contains(task)).then_some(*task);
        for task in self.tasks.iter().filter_map(is_gone).collect::<Vec<_>>() {
            self.make_due(task, now + AGREE_AFTER);
        }
        for one in found {
            let seen = self.tasks.entry(one.task).or_default();
            let is_changed = one.stamp.is_some() && seen.taken != one.stamp;
            if is_changed {
                seen.last = one.stamp;
            }
            if is_changed || one.has_left_over {
                self.make_due(one.task, now + AGREE_AFTER);
            }
        }
    }

    /// Returns at most `max` tasks that are due; those that were reported come first.
    pub(crate) fn take_due(&mut self, now: Instant, max: usize) -> Vec<TaskId> {
        let is_due = |seen: &Seen| seen.due_at.is_some_and(|at| at <= now);
        let due = self.tasks.iter().filter(|(_, seen)| is_due(seen));
        let mut due: Vec<(bool, TaskId)> = due.map(|(task, seen)| (!seen.is_finished, *task)).collect();
        due.sort_unstable();
        due.truncate(max);
        for (_, task) in &due {
            self.tasks.entry(*task).or_default().due_at = None;
        }
        due.into_iter().map(|(_, task)| task).collect()
    }

    /// Decides about a task that was due, given what was found.
    pub(crate) fn decide(&mut self, found: Found, now: Instant) -> Step {
        let seen = self.tasks.entry(found.task).or_default();
        let is_first = seen.taken.is_none();
        let is_finished = std::mem::take(&mut seen.is_finished);
        let is_whole = found.stamp.is_none() || is_finished || seen.last == found.stamp;
        seen.last = found.stamp;
        let is_new = found.stamp.is_some() && seen.taken != found.stamp;
        if is_new && !is_whole {
            self.make_due(found.task, now + AGREE_AFTER);
            return Step::Grant;
        }
        let is_gone = found.stamp.is_none() && seen.is_expected;
        if is_new || is_gone || found.has_left_over { Step::TakeIn { is_first } } else { Step::Grant }
    }

    /// Records that the log has the content of a file with this stamp.
    pub(crate) fn settle(&mut self, task: TaskId, stamp: Option<Stamp>) {
        let seen = self.tasks.entry(task).or_default();
        seen.taken = stamp;
        seen.is_expected = true;
    }

    /// Returns when there is something to do, if nothing is reported before.
    pub(crate) fn wake_at(&self) -> Instant {
        self.tasks.values().filter_map(|seen| seen.due_at).fold(self.folder_at, Instant::min)
    }

    fn make_due(&mut self, task: TaskId, at: Instant) {
        let seen = self.tasks.entry(task).or_default();
        seen.due_at = Some(seen.due_at.map_or(at, |before| before.min(at)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASK: TaskId = TaskId::FIRST;

    struct Folder {
        looks: Looks,
        now: Instant,
        stamp: Option<Stamp>,
        has_left_over: bool,
    }

    impl Folder {
        fn new() -> Self {
            let now = Instant::now();
            Folder { looks: Looks::new(now), now, stamp: Some(stamp(1)), has_left_over: false }
        }

        /// A folder with one file that was taken in.
        fn settled() -> Self {
            let mut folder = Folder::new();
            assert_eq!(folder.run(AGREE_AFTER), 1);
            folder
        }

        fn report(&mut self, report: Report) {
            self.looks.report(report, self.now);
        }

        /// Lets time pass as the watch does, and counts how often the file was taken in.
        fn run(&mut self, span: Duration) -> usize {
            let end = self.now + span;
            let mut count = 0;
            while self.now <= end {
                let found = Found { task: TASK, stamp: self.stamp, has_left_over: self.has_left_over };
                if self.looks.is_folder_due(self.now) {
                    let there = if self.stamp.is_some() { vec![found] } else { Vec::new() };
                    self.looks.see_folder(&there, self.now, Duration::ZERO);
                }
                for _ in self.looks.take_due(self.now, 1) {
                    if let Step::TakeIn { .. } = self.looks.decide(found, self.now) {
                        self.looks.settle(TASK, self.stamp);
                        count += 1;
                    }
                }
                if self.looks.wake_at() > end {
                    break;
                }
                self.now = self.looks.wake_at();
            }
            self.now = end;
            count
        }
    }

    fn stamp(bytes: u64) -> Stamp {
        Stamp::sample(bytes)
    }

    #[test]
    fn at_the_start_every_file_is_taken_in_once() {
        let mut folder = Folder::settled();
        assert_eq!(folder.run(FOLDER_EVERY * 3), 0, "and then nothing happens");
    }

    #[test]
    fn a_finished_write_is_taken_in_at_once() {
        let mut folder = Folder::settled();
        folder.stamp = Some(stamp(2));
        folder.report(Report::Finished(TASK));
        assert_eq!(folder.run(Duration::ZERO), 1);
        folder.report(Report::Finished(TASK));
        assert_eq!(folder.run(Duration::ZERO), 0, "it is known");
    }

    #[test]
    fn a_touched_file_waits_until_two_looks_agree() {
        let mut folder = Folder::settled();
        for bytes in 2..9 {
            folder.stamp = Some(stamp(bytes));
            folder.report(Report::Touched(TASK));
            assert_eq!(folder.run(AGREE_AFTER), 0, "it still grows");
        }
        assert_eq!(folder.run(AGREE_AFTER), 1);
    }

    #[test]
    fn what_is_left_beside_a_file_is_looked_at_when_it_stays() {
        let mut folder = Folder::settled();
        folder.report(Report::Beside(TASK));
        assert_eq!(folder.run(BESIDE_AFTER), 0, "it was gone by then");
        folder.has_left_over = true;
        folder.report(Report::Beside(TASK));
        assert_eq!(folder.run(BESIDE_AFTER), 1);
        assert_eq!(folder.run(FOLDER_EVERY + AGREE_AFTER), 1, "and again as long as it stays");
    }

    #[test]
    fn what_nobody_reported_is_found_by_looking_at_the_folder() {
        let mut folder = Folder::settled();
        folder.stamp = Some(stamp(2));
        assert_eq!(folder.run(FOLDER_EVERY + AGREE_AFTER), 1);
    }

    #[test]
    fn lost_reports_lead_to_a_look_at_the_folder_soon_but_not_in_a_flood() {
        let mut folder = Folder::settled();
        folder.run(FOLDER_PAUSE);
        folder.stamp = Some(stamp(2));
        folder.report(Report::Lost);
        assert_eq!(folder.run(AGREE_AFTER), 1);
        folder.report(Report::Lost);
        assert!(
            !folder.looks.is_folder_due(folder.now) && folder.looks.wake_at() < folder.now + FOLDER_PAUSE
        );
    }

    #[test]
    fn a_file_that_is_known_is_not_looked_into_at_the_start() {
        let mut folder = Folder::new();
        folder.looks.settle(TASK, folder.stamp);
        assert_eq!(folder.run(FOLDER_EVERY * 3), 0);
        folder.stamp = Some(stamp(2));
        assert_eq!(folder.run(FOLDER_EVERY + AGREE_AFTER), 1);
    }

    #[test]
    fn a_file_that_is_gone_is_looked_at_when_its_task_is_there() {
        let mut folder = Folder { stamp: None, ..Folder::new() };
        assert_eq!(folder.run(AGREE_AFTER), 0, "nothing is known of such a task");
        folder.looks.expect(TASK);
        assert_eq!(folder.run(FOLDER_EVERY + AGREE_AFTER), 1);
        let mut folder = Folder::settled();
        folder.stamp = None;
        folder.report(Report::Touched(TASK));
        assert_eq!(folder.run(AGREE_AFTER), 1);
        folder.looks.forget(TASK);
        assert_eq!(folder.run(FOLDER_EVERY * 3), 0);
    }

    #[test]
    fn a_file_that_is_gone_is_written_again_unless_it_comes_back() {
        let mut folder = Folder::settled();
        folder.stamp = None;
        assert_eq!(folder.run(FOLDER_EVERY + AGREE_AFTER), 1);
        assert_eq!(folder.run(FOLDER_EVERY), 1, "and again if it is deleted again");
        folder.looks.forget(TASK);
        assert_eq!(folder.run(FOLDER_EVERY * 2), 0, "of a task that was deleted there is nothing to write");
    }

    #[test]
    fn a_folder_that_is_slow_to_look_at_is_looked_at_less_often() {
        let mut folder = Folder::settled();
        let took = Duration::from_millis(40);
        folder.looks.see_folder(&[], folder.now, took);
        assert!(!folder.looks.is_folder_due(folder.now + FOLDER_EVERY * 2));
        assert!(folder.looks.is_folder_due(folder.now + took * FOLDER_SHARE));
    }

    #[test]
    fn reported_files_come_before_a_crowd() {
        let now = Instant::now();
        let mut looks = Looks::new(now);
        let found = |number: u32| Found {
            task: TaskId::new(number).unwrap(),
            stamp: Some(stamp(1)),
            has_left_over: false,
        };
        looks.see_folder(&(1..=9).map(found).collect::<Vec<_>>(), now, Duration::ZERO);
        looks.report(Report::Finished(TaskId::new(7).unwrap()), now);
        let due: Vec<u32> = looks.take_due(now + AGREE_AFTER, 3).into_iter().map(TaskId::number).collect();
        assert_eq!(due, [7, 1, 2]);
        assert_eq!(looks.take_due(now + AGREE_AFTER, 99).len(), 6);
    }

    #[test]
    fn a_file_that_could_not_be_taken_in_is_tried_again() {
        let mut folder = Folder::new();
        let found = Found { task: TASK, stamp: folder.stamp, has_left_over: false };
        folder.looks.see_folder(&[found], folder.now, Duration::ZERO);
        folder.now += AGREE_AFTER;
        assert_eq!(folder.looks.take_due(folder.now, 1), [TASK]);
        assert_eq!(folder.looks.decide(found, folder.now), Step::TakeIn { is_first: true });
        assert_eq!(folder.run(FOLDER_EVERY + AGREE_AFTER), 1);
    }
}
