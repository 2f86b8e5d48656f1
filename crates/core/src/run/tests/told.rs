//! Events, effects and runs in one line each, for the texts of the tests.

use crate::Effect;
use crate::run::{ChildEnd, Event, Hold, Next, Phase, Run, Situation};
use serde_json::json;

/// Says what happened.
pub(super) fn describe_event(event: &Event) -> String {
    let what = match event {
        Event::WorkflowKept { name, .. } => name.clone(),
        Event::RunCreated { plan, .. } => {
            format!("level {}, step {}: {}", plan.level, plan.step, describe_next(&plan.next))
        }
        Event::RunPublished { step, tasks, .. } => format!("{step} {}", json!(tasks)),
        Event::RunStepped { step, node, choice, next, .. } => {
            let scope = if choice.scope.is_empty() { String::new() } else { format!(" {}", choice.scope) };
            let used_up =
                choice.exhausted.map_or_else(String::new, |route| format!(", used up, route {route}"));
            let fail = choice.fail.as_ref().map_or_else(String::new, |item| format!(", fail {item}"));
            format!("{step} {node} -[{}{scope}{used_up}{fail}]-> {}", choice.edge, describe_next(next))
        }
        Event::RunOutputRefused { step, faults, asks, .. } => {
            format!("{step} asked {asks}: {}", faults.join("; "))
        }
        Event::RunAgentRefused { step, agent_id, what, .. } => format!("{step} {agent_id}: {what}"),
        Event::RunChildrenStarted { step, children, .. } => format!("{step} {}", json!(children)),
        Event::RunChildEnded { step, item, child, .. } => format!("{step} {item} {}", describe_end(child)),
        Event::RunLanded { step, task_id, next, .. } => {
            format!("{step} #{task_id} -> {}", describe_next(next))
        }
        Event::RunSentBack { step, task_id, feedback, fail, next, .. } => {
            let fail = fail.as_ref().map_or_else(String::new, |item| format!(", fail {item}"));
            format!("{step} #{task_id} {feedback:?}{fail} -> {}", describe_next(next))
        }
        Event::RunHeld { step, error, .. } => format!("{step} {}", error.code),
        Event::RunPutOff { step, .. } => step.to_string(),
        Event::RunPaused { .. }
        | Event::RunResumed { .. }
        | Event::RunParentPaused { .. }
        | Event::RunParentResumed { .. } => String::new(),
        Event::RunStopping { reason, .. } => format!("{reason:?}"),
        Event::RunCompleted { result, .. } => result.to_string(),
        Event::RunFailed { error, .. } => format!("{}: {}", error.code, error.message),
    };
    format!("{} {what}", event.kind()).trim_end().to_owned()
}

/// Says what is asked for.
pub(super) fn describe_effect(effect: &Effect) -> String {
    let what = match effect {
        Effect::PublishItems { step, .. } | Effect::StartChildren { step, .. } => format!("step {step}"),
        Effect::PerformNode { step, asks, task, .. } => {
            let task = task.map_or_else(String::new, |task| format!(" for #{task}"));
            let asks = if *asks == 0 { String::new() } else { format!(" asked {asks}") };
            format!("step {step}{asks}{task}")
        }
        Effect::LandTask { step, task, .. } => format!("step {step} #{task}"),
        Effect::StopRun { .. } => String::new(),
        Effect::ReleaseTask { task, error: Some(error), .. } => format!("#{task} {}", error.code),
        Effect::ReleaseTask { task, error: None, .. } => format!("#{task}"),
        Effect::TellParent { parent, item, .. } => format!("{parent} {item}"),
        of_task => unreachable!("no run asks for {of_task:?}"),
    };
    format!("{} {what}", effect.kind()).trim_end().to_owned()
}

/// Says where a run stands.
pub(super) fn describe_run(run: &Run) -> String {
    let working = match &run.situation {
        Situation::Working(working) => working,
        Situation::Completed { .. } => return "completed".to_owned(),
        Situation::Failed { error } => return format!("failed {}", error.code),
    };
    let phase = match &working.phase {
        Phase::Publishing { .. } => "publishing".to_owned(),
        Phase::Performing { asks: 0, .. } => "performing".to_owned(),
        Phase::Performing { asks, .. } => format!("performing, asked {asks}"),
        Phase::Asking { question } => format!("asking {question:?}"),
        Phase::Mapping(mapping) => {
            let one = |child: &crate::run::Child| {
                let how = match (&child.run, &child.end) {
                    (_, Some(ChildEnd::Completed { .. })) => "+",
                    (_, Some(ChildEnd::Failed { .. })) => "-",
                    (_, Some(ChildEnd::Skipped)) => "/",
                    (Some(_), None) => "*",
                    (None, None) => ".",
                };
                format!("{}{how}", child.item.key)
            };
            format!("mapping {}", mapping.children().iter().map(one).collect::<Vec<_>>().join(" "))
        }
        Phase::Landing { edge, item, task, .. } => format!("landing {item} (#{task}) along {edge}"),
        Phase::Passing => "passing".to_owned(),
        Phase::Ending => "ending".to_owned(),
    };
    let item = run.item.as_ref().map_or_else(String::new, |item| format!(" {item}"));
    let asked = if working.is_asked { "" } else { ", not asked" };
    let hold = match &working.hold {
        None => "",
        Some(Hold::Paused) => ", paused",
        Some(Hold::Stopping { .. }) => ", stopping",
        Some(Hold::Error { .. }) => ", held by an error",
    };
    let above = if working.is_parent_paused { ", paused above" } else { "" };
    format!("{}, step {} {}{item}: {phase}{asked}{hold}{above}", run.status(), run.step, run.node)
}

fn describe_next(next: &Next) -> String {
    match next {
        Next::Perform { node, item } => match item {
            Some(item) => format!("perform {node} {item}"),
            None => format!("perform {node}"),
        },
        Next::Ask { node, question } => format!("ask {node} {question:?}"),
        Next::Map { node, workflow, items, max_parallel } => {
            let keys: Vec<&str> = items.iter().map(|item| item.key.as_str()).collect();
            format!("map {node} {workflow} [{}] {max_parallel} at once", keys.join(" "))
        }
        Next::Land { item, task_id, .. } => format!("land {item} (#{task_id})"),
        Next::Pass { node } => format!("pass {node}"),
        Next::End { node } => format!("end {node}"),
    }
}

fn describe_end(end: &ChildEnd) -> String {
    match end {
        ChildEnd::Completed { result } => format!("completed {result}"),
        ChildEnd::Failed { error } => format!("failed {}", error.code),
        ChildEnd::Skipped => "skipped".to_owned(),
    }
}
