//! Pages that stay open: two at once, and one whose server is killed.

use crate::support::World;
use regatta_testkit::browser::{Browser, Look};

#[test]
fn two_browsers_see_the_same_change() {
    let Some(world) = World::new() else { return };
    let Some(other) = Browser::find(Look::PHONE) else { return };
    world.project.json(&["task", "add", "Say hello"]);
    world.open("/");
    other.open(&world.address());
    other.until_shown("#card-1");
    world.browser.until_shown("#card-1");
    world.project.json(&["task", "assign", "1", "--agent", "worker"]);
    world.until_card("1", "waiting_approval");
    other.until("the other one sees it", "document.querySelector('#card-1[data-column=waiting_approval]')");
}

#[test]
fn a_page_outlives_its_server_with_a_half_written_comment() {
    let Some(mut world) = World::new() else { return };
    world.add_and_work("Say hello");
    world.open("/tasks/1/review");
    world.browser.click("[data-path='work-1.txt'] tr[data-new='2'] td.n[data-side=new]");
    world.browser.fill("form.writing textarea", "Half of a thou");
    world.kill();
    world.browser.until_shown("#offline");
    world.start();
    world.browser.until("the page is back", "document.getElementById('offline').hidden");
    let kept = world.browser.run("return document.querySelector('form.writing textarea').value");
    assert_eq!(kept, "Half of a thou");
    world.browser.reload();
    world.browser.until(
        "the draft is there",
        "document.querySelector('form.writing textarea')?.value === 'Half of a thou'",
    );
}
