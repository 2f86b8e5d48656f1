//! The entry that the engine writes in the progress log for a session whose agent wrote none.
//!
//! It says only what was seen: which files changed, how the session ended, and the results of the checks.
//! Checks run after the session, so the entry first names them and is amended once they have run. An entry
//! that somebody has edited since is left alone.

use crate::commands::orders;
use crate::core::{
    Actor, Code, Complete, Evidence, Outcome, RunId, SessionEnd, SessionFailure, Settings, Task, TaskId,
};
use crate::error::Error;
use crate::perform::Work;
use crate::project::Project;
use crate::task_files;
use crate::task_files::archive;
use crate::task_files::edits::{self, Progress};
use regatta_agents::Outcome as Ending;
use regatta_files::TaskFile;
use regatta_git::CommitId;

/// How many files are named; the diff has the others.
const FILES_MAX: usize = 20;

/// A line of the log is read by people.
const LINE_CHARACTERS_MAX: usize = 200;

const NONE: &str = "None";
const REVIEW: &str = "Review";
const CHECKS: &str = "- Checks: ";
const FAILED_CHECK: &str = "- Check ";

/// What a session left in its worktree.
#[derive(Debug, Default, PartialEq, Eq)]
struct Seen {
    files: Vec<String>,
    uncommitted: Vec<String>,
    lines_added: u64,
    lines_removed: u64,
    head: String,
}

/// Returns the commit from which a session starts.
pub(crate) async fn find_start(project: &Project, task: &Task) -> Option<CommitId> {
    let place = project.place(&task.worktree()?.path);
    project.repository().head_of_worktree(&place).await.ok()
}

/// Reads what the agent wrote in the task's file; if it wrote no entry, adds one from what was seen.
pub(crate) async fn remember(
    work: &Work,
    before: &Task,
    session: u32,
    start: Option<&CommitId>,
    (ending, end): (&Ending, &SessionEnd),
) -> Result<(), Error> {
    let project = &work.project;
    work.keep_file(before.id).await?;
    let after = orders::get_task(project, before.id).await?;
    if after.memory.entries <= before.memory.entries {
        let seen = look(project, &after, start, end).await;
        let checks: Vec<&str> = project.config().checks.keys().map(String::as_str).collect();
        let ahead = Ahead::of(&after, &project.config().settings);
        let progress = render(session, seen.as_ref(), ending, (end, &ahead), &checks);
        let logged = edits::log_for_agent(project, before.id, &progress).await;
        task_files::report(project, before.id, logged).await?;
    }
    archive_if_due(work, before.id).await
}

/// Archives old entries of a file that is too large; a disk error is reported, and stops nothing else.
pub(crate) async fn archive_if_due(work: &Work, task: TaskId) -> Result<(), Error> {
    let archived = archive::archive_if_due(&work.project, task).await;
    task_files::report(&work.project, task, archived).await
}

/// Writes the results of the checks into the newest entry, if it is the engine's.
pub(crate) async fn amend(project: &Project, task: TaskId, outcome: &Outcome) -> Result<(), Error> {
    let newest = orders::get_task(project, task).await?.memory.last;
    if !newest.is_some_and(|entry| entry.by_engine) {
        return Ok(());
    }
    let change = |file: &TaskFile| Ok((with_checks(file, outcome), Vec::new()));
    let amended = task_files::edit(project, task, &Actor::Engine, change).await.map(|_| ());
    task_files::report(project, task, amended).await
}

/// If git cannot read the worktree, the files are not named, and the entry says so.
async fn look(project: &Project, task: &Task, start: Option<&CommitId>, end: &SessionEnd) -> Option<Seen> {
    let place = project.place(&task.worktree()?.path);
    let repository = project.repository();
    let (head, status) = match end {
        // Everything is committed at a known head, so git is not asked for it: many sessions may end at
        // once, and each call is a process.
        SessionEnd::Finished(complete) => (orders::to_git(&complete.diff().head).ok()?, Vec::new()),
        SessionEnd::Broken(_) | SessionEnd::Failed(_) | SessionEnd::Stopped => (
            repository.head_of_worktree(&place).await.ok()?,
            repository.status(&place, &project.config().copy).await.ok()?,
        ),
    };
    let changed = repository.changed_files(start?, &head).await.ok()?;
    Some(Seen {
        lines_added: changed.iter().map(|file| file.added).sum(),
        lines_removed: changed.iter().map(|file| file.removed).sum(),
        files: changed.into_iter().map(|file| file.path).collect(),
        uncommitted: status.into_iter().map(|entry| entry.path).collect(),
        head: head.short().to_owned(),
    })
}

/// What comes after a session according to the rules.
struct Ahead<'a> {
    open: Vec<&'a str>,
    has_follower: bool,
    run: Option<RunId>,
}

impl<'a> Ahead<'a> {
    fn of(task: &'a Task, settings: &Settings) -> Self {
        let has_follower = task.run.is_none() && task.has_follower(settings);
        Ahead { open: task.open_criteria(), has_follower, run: task.run }
    }

    /// Returns issues and next step of a session that ended well.
    fn after(&self, complete: &Complete) -> (String, String) {
        let open = on_one_line(&self.open.join("; "));
        match (self.run, self.open.first()) {
            (Some(run), _) => (NONE.to_owned(), format!("Run {run} continues with its next step")),
            (None, Some(first)) if self.has_follower => {
                (NONE.to_owned(), format!("Work on the next criterion: {}", on_one_line(first)))
            }
            _ if complete.diff().is_empty() => (
                format!("- {}: the branch has no change, so there is nothing to review", Code::TaskNoDiff),
                "Change something in the worktree, or cancel the task".to_owned(),
            ),
            (None, Some(_)) => {
                (format!("- Not ticked: {open}"), format!("{REVIEW}, with criteria that are not ticked"))
            }
            (None, None) => (NONE.to_owned(), REVIEW.to_owned()),
        }
    }
}

fn render(
    session: u32,
    seen: Option<&Seen>,
    ending: &Ending,
    (end, ahead): (&SessionEnd, &Ahead<'_>),
    checks: &[&str],
) -> Progress {
    let not_run = || "not run".to_owned();
    let (how, checks_said, (issues, next)) = match end {
        SessionEnd::Finished(complete) => {
            let checks_said = match (ahead.run.is_some() || ahead.has_follower, checks) {
                (_, []) => "none are configured".to_owned(),
                (true, _) => "not run yet".to_owned(),
                (false, _) if complete.diff().is_empty() => not_run(),
                (false, _) => format!("{}; they run after the session", checks.join(", ")),
            };
            let how = if complete.diff().is_empty() { "ended without a change" } else { "ended well" };
            (how, checks_said, ahead.after(complete))
        }
        SessionEnd::Broken(SessionFailure { failure, .. }) | SessionEnd::Failed(failure) => {
            let why = format!("- {}: {}", failure.code, on_one_line(&failure.message));
            let next = failure.hint.split_whitespace().collect::<Vec<_>>().join(" ");
            ("failed", not_run(), (why, next))
        }
        SessionEnd::Stopped => {
            let why = "- The session was stopped before it finished".to_owned();
            ("was stopped", not_run(), (why, "Continue with the criteria that are not ticked".to_owned()))
        }
    };
    let exit = match ending {
        Ending::Finished => "finished without an error".to_owned(),
        other => on_one_line(&other.to_string()),
    };
    let mut did = vec![format!("- Session {session} {how}: {}", render_size(seen))];
    for (label, files) in
        seen.map_or(Vec::new(), |seen| vec![("Files", &seen.files), ("Not committed", &seen.uncommitted)])
    {
        if !files.is_empty() {
            did.push(format!("- {label}: {}", render_files(files)));
        }
    }
    did.push(format!("- Exit: {exit}"));
    did.push(format!("{CHECKS}{checks_said}"));
    Progress { did: did.join("\n"), issues, next }
}

fn render_size(seen: Option<&Seen>) -> String {
    let Some(Seen { files, uncommitted, lines_added, lines_removed, head }) = seen else {
        return "what it changed is not known".to_owned();
    };
    match files.len() {
        0 if uncommitted.is_empty() => format!("no file changed, at {head}"),
        0 => format!("nothing committed, at {head}"),
        1 => format!("1 file changed, +{lines_added} -{lines_removed}, at {head}"),
        count => format!("{count} files changed, +{lines_added} -{lines_removed}, at {head}"),
    }
}

fn render_files(files: &[String]) -> String {
    // A file may have any name, but the name must not end the line or the code span.
    let shown = |path: &String| {
        format!("`{}`", path.replace(|character: char| character.is_control() || character == '`', "?"))
    };
    let mut text = files.iter().take(FILES_MAX).map(shown).collect::<Vec<_>>().join(", ");
    if let Some(more) = files.len().checked_sub(FILES_MAX).filter(|more| *more > 0) {
        text.push_str(&format!(" and {more} more"));
    }
    text
}

/// Returns the file with the results of the checks in its last entry; the same file if that entry is no
/// longer the engine's.
fn with_checks(file: &TaskFile, outcome: &Outcome) -> TaskFile {
    let last = file.sessions().last().and_then(|entry| entry.as_added(Some(task_files::BY_ENGINE)));
    let Some(mut session) = last else { return file.clone() };
    let (said, failed) = match outcome {
        Outcome::ChecksRan { results, .. } => {
            let said: Vec<String> = results.iter().map(render_check).collect();
            (said.join(", "), results.iter().filter(|result| !result.passed).collect())
        }
        _ => ("not run".to_owned(), Vec::new()),
    };
    let kept = |text: &str, own: &str| -> Vec<String> {
        text.lines().filter(|line| !line.starts_with(own) && *line != NONE).map(str::to_owned).collect()
    };
    let mut did = kept(&session.did, CHECKS);
    did.push(format!("{CHECKS}{said}"));
    session.did = did.join("\n");
    let mut issues = kept(&session.issues, FAILED_CHECK);
    if !failed.is_empty() && session.next.starts_with(REVIEW) {
        session.next = "Fix what the checks found, or reject it".to_owned();
    }
    issues.extend(failed.into_iter().map(render_failed));
    session.issues = issues.join("\n");
    file.with_last_session(&session).unwrap_or_else(|_| file.clone())
}

fn render_check(result: &Evidence) -> String {
    let how = match (result.passed, result.exit) {
        (true, _) => "passed".to_owned(),
        (false, Some(exit)) => format!("failed with exit {exit}"),
        (false, None) => "was ended".to_owned(),
    };
    format!("{} {how}", result.name)
}

fn render_failed(result: &Evidence) -> String {
    let last = result.tail.lines().rev().find(|line| !line.trim().is_empty());
    let last = last.map_or_else(String::new, |line| format!(": {}", on_one_line(line)));
    format!("{FAILED_CHECK}{}{last}", render_check(result))
}

fn on_one_line(text: &str) -> String {
    let line = text.split_whitespace().collect::<Vec<_>>().join(" ");
    match line.char_indices().nth(LINE_CHARACTERS_MAX) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::core::{Diff, Failure, Problem};
    use regatta_agents::StopReason;
    use regatta_files::NewSession;

    fn seen(files: &[&str], uncommitted: &[&str]) -> Seen {
        let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
        Seen {
            files: names(files),
            uncommitted: names(uncommitted),
            lines_added: 5,
            lines_removed: 1,
            head: "1a2b3c4d5e".to_owned(),
        }
    }

    const ALL_TICKED: Ahead<'static> = Ahead { open: Vec::new(), has_follower: false, run: None };

    fn finished() -> SessionEnd {
        finished_with(1)
    }

    fn finished_with(files_changed: u64) -> SessionEnd {
        let commit: crate::core::CommitId = "0".repeat(40).parse().unwrap();
        let (base, head) = (commit.clone(), commit);
        let diff = Diff {
            files_changed,
            lines_added: 5,
            lines_removed: 1,
            digest: String::new(),
            base,
            head,
            obeyed_files: Vec::new(),
        };
        SessionEnd::Finished(Complete::new(diff, 1, None).unwrap())
    }

    fn log_of(progress: &Progress) -> TaskFile {
        let session = NewSession {
            number: 1,
            at: "now".into(),
            did: progress.did.clone(),
            issues: progress.issues.clone(),
            next: progress.next.clone(),
            note: Some(task_files::BY_ENGINE.into()),
        };
        TaskFile::parse("## 3. Progress Log\n").with_session(&session).unwrap()
    }

    fn ran(results: &[(&str, Option<i32>)]) -> Outcome {
        let evidence = |(name, exit): &(&str, Option<i32>)| Evidence {
            name: (*name).to_owned(),
            passed: *exit == Some(0),
            exit: *exit,
            milliseconds: 1,
            tail: "line 3\nis too   long\n\n".to_owned(),
        };
        let commit = "0".repeat(40).parse().unwrap();
        Outcome::ChecksRan { commit, results: results.iter().map(evidence).collect() }
    }

    #[test]
    fn an_entry_says_what_was_seen_and_then_what_the_checks_said() {
        let seen = seen(&["src/a.rs", "odd`\nname"], &[]);
        let entry = render(3, Some(&seen), &Ending::Finished, (&finished(), &ALL_TICKED), &["lint", "test"]);
        let file = log_of(&entry);
        assert_eq!(
            file.text(),
            "\
             ## 3. Progress Log\n\
             \n\
             ### Session 1 - now\n\
             *(written by the engine)*\n\
             \n\
             **Did:**\n\
             - Session 3 ended well: 2 files changed, +5 -1, at 1a2b3c4d5e\n\
             - Files: `src/a.rs`, `odd??name`\n\
             - Exit: finished without an error\n\
             - Checks: lint, test; they run after the session\n\
             \n\
             **Issues:** None\n\
             \n\
             **Next:** Review\n"
        );
        let checked = with_checks(&file, &ran(&[("lint", Some(4)), ("test", None), ("unit", Some(0))]));
        assert_eq!(
            checked.text(),
            "\
             ## 3. Progress Log\n\
             \n\
             ### Session 1 - now\n\
             *(written by the engine)*\n\
             \n\
             **Did:**\n\
             - Session 3 ended well: 2 files changed, +5 -1, at 1a2b3c4d5e\n\
             - Files: `src/a.rs`, `odd??name`\n\
             - Exit: finished without an error\n\
             - Checks: lint failed with exit 4, test was ended, unit passed\n\
             \n\
             **Issues:**\n\
             - Check lint failed with exit 4: is too long\n\
             - Check test was ended: is too long\n\
             \n\
             **Next:** Fix what the checks found, or reject it\n"
        );
        let again = with_checks(&checked, &ran(&[("lint", Some(0))]));
        assert!(again.text().contains("- Checks: lint passed\n\n**Issues:** None\n"), "{}", again.text());
        let not_run = with_checks(&again, &Outcome::FileWritten { digest: String::new() });
        assert!(not_run.text().contains("- Checks: not run\n"), "{}", not_run.text());
    }

    #[test]
    fn a_session_that_ended_badly_says_why() {
        let problem = Problem::new(Code::AgentSessionFailed, "session 1 failed", "crash", "read it");
        let end = SessionEnd::Failed(Failure::from(problem));
        let entry = render(
            1,
            Some(&seen(&[], &["half.txt"])),
            &Ending::Stopped(StopReason::Paused),
            (&end, &ALL_TICKED),
            &[],
        );
        assert_eq!(
            entry.did,
            "\
             - Session 1 failed: nothing committed, at 1a2b3c4d5e\n\
             - Not committed: `half.txt`\n\
             - Exit: stopped: paused\n\
             - Checks: not run"
        );
        assert!(entry.issues.starts_with("- AGENT_SESSION_FAILED: session 1 failed"), "{}", entry.issues);
        assert_eq!(entry.next, "read it");
        let checked = with_checks(&log_of(&entry), &ran(&[("lint", Some(1))]));
        assert!(
            checked.text().contains("- AGENT_SESSION_FAILED: "),
            "why it failed stays: {}",
            checked.text()
        );
        assert!(checked.text().contains("- Check lint failed with exit 1"), "{}", checked.text());
    }

    #[test]
    fn what_comes_next_is_what_will_come() {
        let told = |files, open: &[&'static str], has_follower, run: Option<u32>| {
            let ahead =
                Ahead { open: open.to_vec(), has_follower, run: run.and_then(|run| RunId::new(run).ok()) };
            let entry = render(1, None, &Ending::Finished, (&finished_with(files), &ahead), &["test"]);
            let checks = entry.did.lines().last().unwrap().strip_prefix(CHECKS).unwrap().to_owned();
            [checks, entry.issues, entry.next]
        };
        let run = "test; they run after the session";
        assert_eq!(told(1, &[], false, None), [run, "None", "Review"]);
        let open = [run, "- Not ticked: It is dry", "Review, with criteria that are not ticked"];
        assert_eq!(told(1, &["It is dry"], false, None), open);
        let follows = ["not run yet", "None", "Work on the next criterion: It is dry"];
        assert_eq!(told(1, &["It is dry", "It is red"], true, None), follows);
        assert_eq!(told(0, &["It is dry", "It is red"], true, None), follows);
        let nothing = [
            "not run",
            "- TASK_NO_DIFF: the branch has no change, so there is nothing to review",
            "Change something in the worktree, or cancel the task",
        ];
        assert_eq!(told(0, &[], false, None), nothing);
        let driven = ["not run yet", "None", "Run 3 continues with its next step"];
        assert_eq!(told(1, &["It is dry"], false, Some(3)), driven);
    }

    #[test]
    fn many_files_and_long_lines_are_bounded() {
        let names: Vec<String> = (0..50).map(|number| format!("file-{number}")).collect();
        assert!(render_files(&names).ends_with("`file-19` and 30 more"));
        assert_eq!(on_one_line(&"é".repeat(500)).chars().count(), LINE_CHARACTERS_MAX + 1);
        let unknown = render(1, None, &Ending::Finished, (&finished(), &ALL_TICKED), &[]);
        assert!(
            unknown.did.contains("what it changed is not known")
                && unknown.did.contains("none are configured")
        );
    }

    #[test]
    fn an_entry_that_somebody_changed_is_left_alone() {
        let entry =
            render(1, Some(&seen(&["a"], &[])), &Ending::Finished, (&finished(), &ALL_TICKED), &["lint"]);
        let text = log_of(&entry).text().to_owned();
        for changed in [
            text.replace("**Next:** Review\n", "**Next:** Review\n\nand my own words\n"),
            text.replace("*(written by the engine)*\n\n", ""),
            "## 3. Progress Log\n".to_owned(),
        ] {
            assert_ne!(changed, text);
            assert_eq!(
                with_checks(&TaskFile::parse(changed.clone()), &ran(&[("lint", Some(0))])).text(),
                changed
            );
        }
    }
}
