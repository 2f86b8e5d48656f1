//! Cards that are moved: with the mouse, and with the keyboard alone.

use crate::support::World;

const FROM: &str = "#card-1 .card";
const TO: &str = ".col[data-column=in_progress]";

#[test]
fn a_task_is_assigned_by_a_drag() {
    let Some(world) = World::new() else { return };
    world.project.json(&["task", "add", "Say hello"]);
    let page = &world.browser;
    world.open("/");
    page.drag(FROM, TO, || {
        page.until_shown(&format!("{TO}.can .dropnote"));
        page.until_shown(".col.cannot .dropnote");
    });
    world.until_card("1", "waiting_approval");
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn a_task_is_assigned_by_keys() {
    let Some(world) = World::new() else { return };
    world.project.json(&["task", "add", "Say hello"]);
    let page = &world.browser;
    world.open("/");
    page.until_shown("#card-1");
    page.press(&["j", "m"]);
    page.until_shown(&format!("{TO}.target .dropnote"));
    page.press(&["Enter"]);
    world.until_card("1", "waiting_approval");
    assert_eq!(page.complaints(), Vec::<String>::new());
}
