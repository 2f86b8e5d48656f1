//! From the first start to the first merge, by the page alone.

use crate::support::{PROGRAM, World};
use regatta_testkit::binary::TestProject;
use regatta_testkit::browser::{Browser, Look};
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

#[test]
fn the_demo_plays_on_the_board_and_is_merged_there() {
    let Some(page) = Browser::find(Look::DESKTOP) else { return };
    let project = TestProject::without_init(PROGRAM);
    let folder = project.repo.outside().join("demo");
    let place = folder.to_str().expect("a path is text");
    let demo = project.start(&["demo", "--board", "--dir", place]);
    until("the server has an address", || project.run(&["-C", place, "url"]).code == Some(0));
    page.open(project.json(&["-C", place, "url"])["url"].as_str().expect("an address is text"));
    page.until_shown("#card-1[data-column=waiting_approval]");
    page.click("#card-1 .ball .do");
    page.click("#approve");
    page.click("#do-it");
    page.until_text("Approved #1");
    until("it is merged", || project.json(&["-C", place, "task", "show", "1"])["column"] == "verified");
    assert_eq!(page.complaints(), Vec::<String>::new());
    demo.kill();
}
