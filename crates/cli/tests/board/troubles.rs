//! What goes wrong, and the way out of it by the page: conflicts, broken sessions, a branch that moved, files that are obeyed.

use crate::support::{World, command};
use regatta_testkit::wait::until;

/// Two tasks that write the same file differ in it.
const SAME_FILE: &str = r#"cat > /dev/null; echo "by $REGATTA_TASK_ID" > shared.txt"#;

#[test]
fn a_conflict_is_resolved_in_the_worktree_and_submitted_again() {
    let Some(world) = World::of(&command("worker", SAME_FILE), |_| {}) else { return };
    for title in ["First", "Second"] {
        world.add_and_work(title);
    }
    world.project.json(&["task", "approve", "1"]);
    let page = &world.browser;
    world.open("/tasks/2/review");
    page.click("#approve");
    page.click("#do-it");
    page.click("#error a");
    page.until_shown(".error[data-code=WORKTREE_MERGE_CONFLICT]");
    let panel = page.text(".error");
    for words in ["#2 was not merged: it conflicts with main in 1 file", "shared.txt", "Nothing was changed"]
    {
        assert!(panel.contains(words), "{words}: {panel}");
    }
    // As a person does it, in an editor.
    let worktree = world.project.path().join(".regatta/worktrees/task-2");
    let git = |arguments: &[&str]| {
        std::process::Command::new("git").args(arguments).current_dir(&worktree).output().expect("git runs")
    };
    assert!(!git(&["merge", "main"]).status.success(), "it conflicts");
    std::fs::write(worktree.join("shared.txt"), "by both\n").expect("the file can be written");
    page.click(".error [data-action=submit]");
    page.until_gone(".error");
    world.open("/tasks/2/review");
    page.until_shown("[data-path='shared.txt'] tr[data-new]");
    page.click("#approve");
    page.click("#do-it");
    page.until_text("Approved #2");
    until("it is merged", || world.task("2")["column"] == "verified");
    assert_eq!(world.project.repo.git(&["show", "main:shared.txt"]), "by both");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

/// Breaks off in its first session.
const BREAKS_OFF: &str = r#"cat > /dev/null; [ "$REGATTA_SESSION_NUMBER" = 1 ] && { echo "no such compiler" >&2; exit 3; }
echo "by $REGATTA_AGENT in $REGATTA_SESSION_NUMBER" > done.txt"#;

#[test]
fn a_session_that_broke_off_is_tried_again_by_a_button_and_its_code_is_explained() {
    let Some(world) = World::of(&command("worker", BREAKS_OFF), |_| {}) else { return };
    world.project.json(&["task", "add", "Say hello"]);
    world.project.run(&["task", "assign", "1", "--agent", "worker"]);
    let page = &world.browser;
    world.open("/inbox");
    page.until_shown("#task-1");
    world.open("/tasks/1");
    page.until_shown(".error[data-code=AGENT_SESSION_FAILED]");
    page.click(".error a.code");
    page.until_shown("#manual");
    assert!(page.text("#manual").contains("AGENT_SESSION_FAILED"), "{}", page.text("#manual"));
    page.back();
    page.click(".error [data-action=retry]");
    page.until_gone(".error");
    until("it is up for review", || world.task("1")["phase"] == "ready");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn another_agent_continues_what_was_broken_off_and_what_was_sent_back() {
    let config =
        command("worker", BREAKS_OFF) + &command("other", BREAKS_OFF) + &command("third", BREAKS_OFF);
    let Some(world) = World::of(&config, |_| {}) else { return };
    world.project.json(&["task", "add", "Say hello"]);
    world.project.run(&["task", "assign", "1", "--agent", "worker"]);
    let page = &world.browser;
    world.open("/tasks/1");
    page.click(".error [data-action=otherAgent]");
    page.click("dialog .choices button[value=other]");
    until("the other one has worked", || world.task("1")["phase"] == "ready");
    assert_eq!(world.task("1")["agentId"], "other");
    world.open("/tasks/1/review");
    page.click("#more summary");
    page.click("#more [data-act=send-back-to]");
    page.choose("dialog select", "third");
    page.fill("dialog textarea", "Do it in your own words");
    page.click("#do-it");
    page.until_text("Sent #1 back");
    until("the third one has worked", || {
        let task = world.task("1");
        task["phase"] == "ready" && task["agentId"] == "third"
    });
    page.until_shown("#stale");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn only_what_was_read_can_be_approved() {
    let Some(world) = World::new() else { return };
    world.add_and_work("Say hello");
    let page = &world.browser;
    world.open("/tasks/1/review");
    page.until_shown("#approve:enabled");
    page.click("[data-path='work-1.txt'] [data-mark]");
    page.until_text("You have viewed every change");
    let worktree = world.project.path().join(".regatta/worktrees/task-1");
    std::fs::write(worktree.join("late.txt"), "late\n").expect("the file can be written");
    world.project.json(&["task", "submit", "1"]);
    page.until_shown("#stale");
    assert_eq!(page.count("#approve:enabled"), 0, "the page shows another commit");
    page.click("[data-act=show-new]");
    page.until_shown("[data-path='late.txt'] tr[data-new]");
    assert_eq!(page.text("[data-show=new][aria-pressed=true] [data-left]"), "1", "the rest was viewed");
    // The same from the menu: what is in the worktree now is put up.
    std::fs::write(worktree.join("later.txt"), "later\n").expect("the file can be written");
    page.click("#more summary");
    page.click("#more [data-act=submit]");
    page.until_shown("[data-path='later.txt'] tr[data-new]");
    page.click("#approve");
    page.click("#do-it");
    page.until_text("Approved #1");
    until("it is merged", || world.task("1")["column"] == "verified");
    assert_eq!(world.project.repo.git(&["show", "main:later.txt"]), "later");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn files_that_are_obeyed_are_singled_out_and_merged_only_when_that_is_said() {
    let script =
        r#"cat > /dev/null; mkdir -p src; echo "*.rs text" > src/.gitattributes; echo one > one.txt"#;
    let Some(world) = World::of(&command("worker", script), |_| {}) else { return };
    world.add_and_work("Say hello");
    let page = &world.browser;
    world.open("/tasks/1/review");
    page.until_shown("#obeyed");
    assert!(page.text("#obeyed").contains("src/.gitattributes"), "{}", page.text("#obeyed"));
    page.click("#approve");
    page.until_text("Regatta obeys files in this diff: src/.gitattributes");
    assert_eq!(page.text("#do-it"), "Merge it anyway");
    page.click("#do-it");
    until("it is merged", || world.task("1")["column"] == "verified");
    assert_eq!(page.complaints(), Vec::<String>::new());
}
