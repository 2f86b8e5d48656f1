//! Cards that are moved: with the mouse, and with the keyboard alone.

use crate::support::{World, command};
use regatta_testkit::wait::until;

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

/// Works until it may end.
const PATIENT: &str = r#"cat > /dev/null; while [ -d "$HOME" ] && [ ! -e "$HOME/go" ]; do sleep 0.1; done
echo done > "work-$REGATTA_TASK_ID.txt""#;

#[test]
fn a_full_queue_says_who_is_next_and_lets_one_out_and_in_again() {
    let config = format!("[project]\nmax_concurrent_agents = 1\n{}", command("worker", PATIENT));
    let Some(world) = World::of(&config, |_| {}) else { return };
    let page = &world.browser;
    for title in ["First", "Second", "Third"] {
        world.project.json(&["task", "add", title]);
    }
    world.project.run(&["task", "assign", "1", "--agent", "worker", "--no-wait"]);
    world.open("/");
    world.until_card("1", "in_progress");
    for (card, place) in [("2", "Next in the queue"), ("3", "2nd in the queue")] {
        page.focus(&format!("#card-{card} h3 a"));
        page.press(&["a"]);
        page.until(
            place,
            &format!("document.querySelector('#card-{card} .ball').innerText.includes('{place}')"),
        );
    }
    page.until_text("2 queued");
    // What is queued cannot be dropped anywhere, and says so.
    page.drag("#card-2 .card", TO, || page.until_text("It is queued, and starts by itself."));
    page.focus("#card-2 h3 a");
    page.press(&["Control+k"]);
    page.fill("#palette input", "out of the queue");
    page.press(&["Enter"]);
    page.until_text("#2 was taken out of the queue");
    page.press(&["z"]);
    page.until("it is queued again", "document.querySelector('#card-2 .ball').innerText.includes('queue')");
    world.go_on();
    for card in ["1", "2", "3"] {
        world.until_card(card, "waiting_approval");
    }
    assert_eq!(page.complaints(), Vec::<String>::new());
}

#[test]
fn merged_work_is_hidden_from_the_palette_and_shown_again() {
    let Some(world) = World::new() else { return };
    world.add_and_work("Say hello");
    world.project.json(&["task", "approve", "1"]);
    let page = &world.browser;
    world.open("/");
    world.until_card("1", "verified");
    page.focus("#card-1 h3 a");
    page.press(&["Control+k"]);
    page.fill("#palette input", "Hide");
    page.press(&["Enter"]);
    page.until_gone("#card-1");
    assert_eq!(world.task("1")["hidden"], true);
    page.press(&["z"]);
    world.until_card("1", "verified");
    until("it is shown", || world.task("1")["hidden"] == false);
    assert_eq!(page.complaints(), Vec::<String>::new());
}
