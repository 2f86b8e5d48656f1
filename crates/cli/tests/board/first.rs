//! From the first start to the first merge, by the page alone.

use crate::support::World;
use regatta_testkit::wait::until;

#[test]
fn a_first_task_is_made_assigned_reviewed_and_merged() {
    let Some(world) = World::new() else { return };
    let page = &world.browser;
    page.until_shown("#start");
    page.click("#start [data-do=new-task]");
    page.fill("#new-task [name=title]", "Say hello");
    page.click("#new-task [name=assign]");
    page.click("#new-task [type=submit]");
    world.until_card("1", "waiting_approval");
    page.click("#card-1 h3 a");
    page.until_shown("a[href^='/tasks/1/review']");
    page.click("a[href^='/tasks/1/review']");
    page.until_shown("[data-path='work-1.txt'] tr[data-new]");
    page.until_text("session 1");
    page.click("#approve");
    page.click("#do-it");
    page.until_text("Approved #1");
    until("it is merged", || world.task("1")["column"] == "verified");
    assert_eq!(world.project.repo.git(&["show", "main:work-1.txt"]), "one\ntwo\nsession 1");
    world.open("/");
    world.until_card("1", "verified");
    assert_eq!(page.complaints(), Vec::<String>::new());
}
