//! Work that is sent back with a comment on a line.

use crate::support::World;

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
