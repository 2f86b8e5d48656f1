//! Events, effects and runs in one line each, for the texts of the tests.

use crate::Effect;
use crate::message;
use crate::run::{ChildEnd, Event, Hold, MemberCame, MemberState, Next, Phase, Run, Situation};
use serde_json::json;

/// Says what happened.
pub(super) fn describe_event(event: &Event) -> String {
    let what = match event {
        Event::WorkflowKept { name, .. } => name.clone(),
        Event::RunCreated { plan, .. } => {
            format!("level {}, step {}: {}", plan.level, plan.step, describe_next(&plan.next))
        }
        Event::RunPublished { step, tasks, .. } => format!("{step} {}", json!(tasks)),
        Event::RunStepped { step, node, choice, next, outcome, .. } => {
            let on = outcome.as_ref().map_or_else(String::new, |outcome| format!(" on {}", outcome.on));
            let scope = if choice.scope.is_empty() { String::new() } else { format!(" {}", choice.scope) };
            let used_up =
                choice.exhausted.map_or_else(String::new, |route| format!(", used up, route {route}"));
            let fail = choice.fail.as_ref().map_or_else(String::new, |item| format!(", fail {item}"));
            let drop = choice.drop.as_ref().map_or_else(String::new, |item| format!(", drop {item}"));
            let edge = &choice.edge;
            format!("{step} {node}{on} -[{edge}{scope}{used_up}{fail}{drop}]-> {}", describe_next(next))
        }
        Event::RunMemberEnded { step, node, came, .. } => format!("{step} {node} {}", describe_came(came)),
        Event::RunOutputRefused { step, faults, asks, .. } => {
            format!("{step} asked {asks}: {}", faults.join("; "))
        }
        Event::RunAgentRefused { step, agent_id, what, .. } => format!("{step} {agent_id}: {what}"),
        Event::RunChildrenStarted { step, children, .. } => format!("{step} {}", json!(children)),
        Event::RunChildEnded { step, item, child, .. } => format!("{step} {item} {}", describe_end(child)),
        Event::RunLanded { step, task_id, next, .. } => {
            format!("{step} #{task_id} -> {}", describe_next(next))
        }
        Event::RunSentBack { step, task_id, feedback, fail, drop, next, .. } => {
            let fail = fail.as_ref().map_or_else(String::new, |item| format!(", fail {item}"));
            let drop = drop.as_ref().map_or_else(String::new, |item| format!(", drop {item}"));
            format!("{step} #{task_id} {feedback:?}{fail}{drop} -> {}", describe_next(next))
        }
        Event::RunSignalled { step, signal, input, from, restarted, next, .. } => {
            let restarted = if restarted.is_empty() {
                String::new()
            } else {
                format!(", restarted {}", restarted.join(" "))
            };
            let next = next.as_ref().map_or_else(String::new, |next| format!(" -> {}", describe_next(next)));
            format!("{step} {signal} {input} from {from}{restarted}{next}")
        }
        Event::RunEdited { step, mark, set, .. } => format!("{step} {} {}", mark.path, json!(set)),
        Event::RunEditKept { step, mark, kept, error, .. } => {
            format!("{step} {} as {kept}: {}: {}", mark.path, error.code, error.message)
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

/// Says what is sent.
pub(super) fn describe_message(event: &message::Event) -> String {
    let message::Event::MessageSent { message_id, letter } = event else {
        unreachable!("a step reads nothing")
    };
    let run = letter.to_run.filter(|run| Some(*run) != letter.run_id);
    let above = run.map_or_else(String::new, |run| format!(" of run {run}"));
    let subject = letter.subject.as_ref().map_or_else(String::new, |subject| format!(" ({subject})"));
    let data = json!(letter.data);
    let task = letter.task_id.map_or_else(String::new, |task| format!(", #{task}"));
    format!(
        "message:sent {message_id} {} -> {}{above}: {}{subject} {:?} {data}{task}",
        letter.from, letter.to, letter.kind, letter.body
    )
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
        Effect::DropTask { task, reason, .. } => format!("#{task} {reason}"),
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
        Phase::Parallel { members } => {
            let one = |state: &MemberState| {
                let item = state.member.item.as_ref().map_or_else(String::new, |item| format!("({item})"));
                let came = match &state.came {
                    None => "*".to_owned(),
                    Some(MemberCame::Refused { asks, .. }) => format!("?{asks}"),
                    Some(MemberCame::Returned { .. }) => "+".to_owned(),
                    Some(MemberCame::Failed { .. }) => "-".to_owned(),
                };
                format!("{}{item}{came}", state.member.node)
            };
            members.iter().map(one).collect::<Vec<_>>().join(" ")
        }
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
        Next::Parallel { node, members } => {
            let names: Vec<&str> = members.iter().map(|member| member.node.as_str()).collect();
            format!("parallel {node} [{}]", names.join(" "))
        }
        Next::Ask { node, question } => format!("ask {node} {question:?}"),
        Next::Map { node, workflow, items, max_parallel, .. } => {
            let keys: Vec<&str> = items.iter().map(|item| item.key.as_str()).collect();
            format!("map {node} {workflow} [{}] {max_parallel} at once", keys.join(" "))
        }
        Next::Land { item, task_id, .. } => format!("land {item} (#{task_id})"),
        Next::Pass { node } => format!("pass {node}"),
        Next::End { node } => format!("end {node}"),
    }
}

fn describe_came(came: &MemberCame) -> String {
    match came {
        MemberCame::Returned { output, .. } => format!("returned {output}"),
        MemberCame::Refused { faults, asks } => format!("asked {asks}: {}", faults.join("; ")),
        MemberCame::Failed { error } => format!("failed {}", error.code),
    }
}

fn describe_end(end: &ChildEnd) -> String {
    match end {
        ChildEnd::Completed { result } => format!("completed {result}"),
        ChildEnd::Failed { error } => format!("failed {}", error.code),
        ChildEnd::Skipped => "skipped".to_owned(),
    }
}
