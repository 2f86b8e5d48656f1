//! Who has the next move in a run, in words, and what a person can do with it.

use crate::act::attributes;
use crate::ball::Tone;
use crate::markup::{Markup, escape};
use crate::parts;
use crate::words::{self, Clock};
use regatta_engine::core::WaitsFor;
use regatta_engine::core::run::Status;
use regatta_engine::runs::RunView;
use serde_json::json;

/// The status line of a run.
pub(super) fn line(run: &RunView, clock: &Clock) -> Markup {
    let (tone, icon, text) = state(run, clock);
    let mark = if tone == Tone::Live {
        "<span class=\"live\"></span>".to_owned()
    } else {
        parts::icon(icon).into_string()
    };
    Markup::new(format!("<p class=\"{}\">{mark}<span>{}</span></p>", tone.class(), escape(&text)))
}

/// Says who has the next move, with the look and the icon of that.
pub(super) fn state(run: &RunView, clock: &Clock) -> (Tone, &'static str, String) {
    if let Some(question) = &run.question {
        return (Tone::You, "ask", words::one_line(&format!("Asks: {question}"), 160));
    }
    if let Some(park) = &run.parked {
        return (Tone::Clock, "clock", format!("Paused until {}, then continues", clock.time(park.until)));
    }
    let error = run.recovery.as_ref().map(|recovery| recovery.headline.clone());
    let error = error.or_else(|| run.error.as_ref().map(|error| words::one_line(&error.message, 160)));
    match (run.status, run.waits_for) {
        (Status::Completed, _) => (Tone::Rest, "check", "Completed".to_owned()),
        (Status::Failed, _) => (Tone::Rest, "x", error.unwrap_or_else(|| "Failed".to_owned())),
        // A run that has put up a task counts as paused, but it continues when the task is merged.
        (Status::Paused, waits_for) if error.is_none() && run.phase == "landing" => {
            let task =
                run.item.as_ref().and_then(|item| run.tasks.get(item)).or(run.tasks.values().next_back());
            let task = task.map_or_else(|| "its task".to_owned(), |task| format!("#{task}"));
            match waits_for {
                WaitsFor::You => (Tone::You, "eye", format!("Waits for your review of {task}")),
                _ => (Tone::Other, "link", format!("Waits until {task} is merged")),
            }
        }
        (Status::Paused, _) if error.is_none() => (Tone::You, "pause", "Paused".to_owned()),
        (_, WaitsFor::You) => match error {
            Some(error) => (Tone::Stop, "x", error),
            None if run.phase == "unattended" => (Tone::You, "off", "No engine works on it".to_owned()),
            None => (Tone::You, "person", "Waits for you".to_owned()),
        },
        _ if run.pausing && run.phase == "mapping" => {
            (Tone::Other, "pause", "Pauses after the current steps of the runs below it".to_owned())
        }
        _ if run.phase == "mapping" => (Tone::Live, "play", describe(run)),
        (_, WaitsFor::Task) => (Tone::Other, "link", format!("{}: waits for its task", run.node)),
        _ if run.pausing => (Tone::Other, "pause", format!("Pauses after this step of {}", run.node)),
        _ => (Tone::Live, "play", describe(run)),
    }
}

/// Says what is at work.
fn describe(run: &RunView) -> String {
    let item = run.item.as_ref().map_or_else(String::new, |item| format!(" on {item}"));
    let open: Vec<&str> =
        run.members.iter().filter(|member| member.status == "open").map(|member| &*member.node).collect();
    match run.phase {
        _ if !open.is_empty() => format!("Step {}: {}", run.step, open.join(" and ")),
        "mapping" => {
            let over = run.children.iter().filter(|child| child.ended).count();
            let all = words::count(run.children.len() as u64, "run");
            format!("Step {}: {}, {over} of {all} ended", run.step, run.node)
        }
        _ => format!("Step {}: {}{item}", run.step, run.node),
    }
}

/// What a person can do with it: label, icon, class and attributes of each button.
pub(super) fn actions(run: &RunView) -> Vec<(String, &'static str, &'static str, Markup)> {
    let path = |verb: &str| format!("/api/runs/{}/{verb}", run.id);
    let mut acts = Vec::new();
    let is_over = matches!(run.status, Status::Completed | Status::Failed);
    // A run that asks continues with the answer, and one that has put up a task with what becomes of that.
    let is_decided_elsewhere = run.question.is_some() || (run.phase == "landing" && run.error.is_none());
    if !is_over && !is_decided_elsewhere {
        if run.status == Status::Paused || run.pausing || run.phase == "unattended" {
            acts.push(("Resume".to_owned(), "play", "", attributes(&json!({ "path": path("resume") }))));
        } else {
            acts.push(("Pause".to_owned(), "pause", "", attributes(&json!({ "path": path("pause") }))));
        }
    }
    // Without a step it is the last one that was not the end.
    let (from, body) = match is_over {
        true => ("its last step".to_owned(), json!({})),
        false => (format!("step {}", run.step.max(1)), json!({ "at": run.step.max(1) })),
    };
    let ask = json!({ "title": format!("Start a new run from {from}?"), "text": "It begins with the state of that step. This run stays as it is.", "ok": "Fork the run" });
    let fork = json!({ "path": path("fork"), "body": body, "ask": ask });
    acts.push((format!("Fork from {from}"), "fork", "extra", attributes(&fork)));
    if !is_over {
        let ask = json!({ "title": format!("Stop run {}?", run.id), "text": "It ends, and cannot be resumed. The work of its tasks is kept.",
            "label": "Why (optional)", "field": "reason", "ok": "Stop the run", "danger": true });
        acts.push((
            "Stop".to_owned(),
            "x",
            "plain danger extra",
            attributes(&json!({ "path": path("stop"), "ask": ask })),
        ));
    }
    acts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample::{clock, run};

    fn shown(change: impl FnOnce(&mut RunView)) -> (String, String) {
        let mut run = run();
        change(&mut run);
        let labels: Vec<String> = actions(&run).into_iter().map(|(label, ..)| label).collect();
        (state(&run, &clock()).2, labels.join(", "))
    }

    #[test]
    fn a_run_says_what_it_does_and_offers_what_helps() {
        assert_eq!(
            shown(|_| {}),
            ("Step 3: coder on T001".to_owned(), "Pause, Fork from step 3, Stop".to_owned())
        );
        let pausing = shown(|run| run.pausing = true);
        assert_eq!(pausing.0, "Pauses after this step of coder");
        assert!(pausing.1.starts_with("Resume"), "{pausing:?}");
        let paused = shown(|run| run.status = Status::Paused);
        assert_eq!((paused.0.as_str(), paused.1.starts_with("Resume")), ("Paused", true));
    }

    #[test]
    fn a_run_whose_task_is_up_waits_for_the_review_and_cannot_be_resumed() {
        let landing = |waits_for| {
            shown(|run| (run.status, run.phase, run.waits_for) = (Status::Paused, "landing", waits_for))
        };
        let actions = "Fork from step 3, Stop".to_owned();
        assert_eq!(landing(WaitsFor::You), ("Waits for your review of #38".to_owned(), actions.clone()));
        assert_eq!(landing(WaitsFor::Engine), ("Waits until #38 is merged".to_owned(), actions));
    }
}
