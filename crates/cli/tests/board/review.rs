//! Work that is sent back with a comment on a line.

use crate::support::{World, command};
use regatta_testkit::browser::Look;
use regatta_testkit::wait::until;

#[test]
fn a_comment_on_a_line_outlives_a_reload_and_reaches_the_second_session() {
    let Some(world) = World::new() else { return };
    let task = world.add_and_work("Say hello");
    let page = &world.browser;
    world.open(&format!("/tasks/{task}/review"));
    page.click("[data-path='work-1.txt'] tr[data-new='2'] td.n[data-side=new]");
    page.fill("form.writing textarea", "Say three instead");
    page.reload();
    page.until(
        "the draft is there",
        "document.querySelector('form.writing textarea')?.value === 'Say three instead'",
    );
    page.click("form.writing [type=submit]");
    page.until_shown(".is-draft .say");
    page.click("#send-back");
    page.click("#do-it");
    page.until_text("Sent #1 back");
    let prompt = world.prompt(1, 2);
    assert!(prompt.contains("Say three instead") && prompt.contains("work-1.txt"), "{prompt}");
    page.until("the draft is sent", "localStorage.getItem('regatta-review-1') === null");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

/// Says in its second session what became of the comments.
const ANSWERER: &str = r#"cat > /dev/null
printf 'one\ntwo\nsession %s\n' "$REGATTA_SESSION_NUMBER" > "work-$REGATTA_TASK_ID.txt"
[ "$REGATTA_SESSION_NUMBER" = 1 ] || echo '{"summary":"Done","answers":[{"comment":1,"text":"<b>Two</b> has to stay: it is counted."},{"comment":2,"text":"Said in the file."}]}'"#;

#[test]
fn an_answer_of_the_agent_stands_below_its_comment() {
    let Some(world) = World::of(&command("worker", ANSWERER), |_| {}) else { return };
    world.add_and_work("Say hello");
    let comments = ["--comment", "work-1.txt:2: Say three instead", "--comment", "plan: Say why"];
    world.project.json(&[&["task", "reject", "1"][..], &comments].concat());
    until("it is up for review again", || world.task("1")["phase"] == "ready");
    let page = &world.browser;
    world.open("/tasks/1/review");
    page.until_shown("tr[data-new='2'] + tr.note .is-answer");
    let talk = page.text("tr.note .talk");
    let parts =
        ["tester", "Say three instead", "worker", "in attempt 2", "<b>Two</b> has to stay: it is counted."];
    let places: Vec<Option<usize>> = parts.iter().map(|part| talk.find(part)).collect();
    assert!(places.is_sorted() && places.iter().all(Option::is_some), "{places:?} {talk}");
    page.click(".panel [data-tab=plan]");
    page.until_text("Said in the file.");
    world.open("/tasks/1");
    page.until_text("worker answered 2 comments");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn a_phone_shows_one_column_and_two_when_it_is_turned() {
    let Some(world) = World::new() else { return };
    world.add_and_work("Say hello");
    let page = &world.browser;
    page.look(Look::PHONE);
    world.open("/tasks/1/review?split");
    page.until_shown("[data-path='work-1.txt'] table.diff:not(.two) tr[data-new]");
    page.until_gone("#diffs table.two");
    let offered = page.run("return document.querySelector('[data-layout=split]').checkVisibility()");
    assert_eq!(offered, false, "it is not offered");
    page.look(Look { width: 844, height: 390, is_dark: false });
    page.until_shown("[data-path='work-1.txt'] table.two tr[data-new]");
    page.click("[data-layout=unified]");
    page.until_gone("#diffs table.two");
    assert_eq!(page.complaints(), Vec::<String>::new());
}
