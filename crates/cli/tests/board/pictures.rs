//! Every view, light and dark, wide and narrow: nothing complains, nothing scrolls sideways, and everybody can use it.
//!
//! `cargo xtask screenshots` keeps the pictures in `docs/screenshots`.

use crate::axe::Axe;
use crate::larder;
use crate::support::{World, command};
use regatta_testkit::browser::{Browser, Look};
use std::path::PathBuf;

/// Where the pictures go; without it none are kept.
const PLACE: &str = "REGATTA_SCREENSHOTS";

/// Between the two: the sidebar is a rail, and the board scrolls by itself.
const TABLET: Look = Look { width: 900, height: 700, is_dark: false };

/// How each view is looked at, with the end of its picture's name; the last one is not kept.
const LOOKS: [(Look, Option<&str>); 5] = [
    (Look::DESKTOP, Some("light")),
    (Look::DESKTOP.dark(), Some("dark")),
    (Look::PHONE, Some("phone")),
    (Look::PHONE.dark(), Some("phone-dark")),
    (TABLET, None),
];

struct View {
    name: &'static str,
    path: &'static str,
    /// What has to be there.
    shown: &'static str,
    /// What is done before the picture is taken.
    act: fn(&Browser),
}

const fn view(name: &'static str, path: &'static str, shown: &'static str) -> View {
    View { name, path, shown, act: |_| {} }
}

/// The project of each is that of [`larder`].
const VIEWS: [View; 15] = [
    view("board", "/", "#card-8"),
    view("inbox", "/inbox", ".ask [data-key=A]"),
    view("review", "/tasks/3/review", "[data-path='src/freshness.rs'] tr .talk, .talk"),
    view("review-split", "/tasks/3/review?split", "[data-path='src/freshness.rs'] tr"),
    view("task", "/tasks/5", "#log li"),
    view("file", "/tasks/3?tab=file", "#file"),
    view("error", "/tasks/4", ".error[data-code]"),
    view("stopped", "/tasks/6", ".error[data-code]"),
    view("runs", "/runs", "#runs li"),
    view("run", "/runs/1", "#question"),
    view("code", "/errors/WORKTREE_MERGE_CONFLICT", "#manual"),
    view("reference", "/api/reference", "#errors"),
    View { act: |page| page.press(&["c"]), ..view("new-task", "/", "#card-8") },
    View {
        act: |page| {
            page.press(&["Control+k"]);
            page.fill("#palette input", "con");
            page.until_gone("#find-task-4");
            page.until_shown("#find-task-13");
        },
        ..view("palette", "/", "#card-8")
    },
    View { act: |page| page.press(&["?"]), ..view("keys", "/", "#card-8") },
];

fn look_at(world: &World, views: &[View]) {
    let (page, axe) = (&world.browser, Axe::find());
    let place = std::env::var_os(PLACE).map(PathBuf::from);
    let mut faults = Vec::new();
    for View { name, path, shown, act } in views {
        for (look, suffix) in LOOKS {
            page.look(look);
            world.open(path);
            page.until(&format!("{path} is there"), &format!("document.querySelector({shown:?}) !== null"));
            act(page);
            let sideways = page.run("return document.documentElement.scrollWidth - innerWidth");
            if sideways.as_f64().unwrap_or(0.0) > 0.0 {
                faults.push(format!("{name} {}: scrolls sideways by {sideways}", look.width));
            }
            if let (Some(place), Some(suffix)) = (&place, suffix) {
                page.settle();
                page.screenshot(&place.join(format!("{name}-{suffix}.png")));
            }
            let found = axe.faults(page);
            faults
                .extend(found.iter().map(|fault| format!("{name} {} {}: {fault}", look.width, look.is_dark)));
        }
        faults.extend(page.complaints().iter().map(|complaint| format!("{name}: {complaint}")));
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn every_view_is_calm_and_open_to_all_in_every_look() {
    let Some(world) = larder::world() else { return };
    look_at(&world, &VIEWS);
    world.go_on();
}

#[test]
fn the_first_page_is_calm_and_open_to_all_in_every_look() {
    let agents = command("claude", "true") + &command("codex", "true");
    let Some(world) = World::named("larder", &agents, |_| {}) else { return };
    look_at(&world, &[view("start", "/", "#start")]);
}
