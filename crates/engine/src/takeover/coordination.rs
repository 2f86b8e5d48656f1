//! Reads the folder of a team: `pm_state.json`, `group_status.json`, `orchestrator_state.json` and `messages/*.json`.
//!
//! A group is a task, and its tasks are the criteria. The requirements become a PRD. A message that nobody has read goes to
//! the next session on its group; the others are history, of which the copy of the files is kept.

use crate::core::Priority;
use crate::takeover::found::{CriterionFound, Found, MessageFound, PrdFound, TaskFound};
use crate::takeover::gather::Files;
use crate::takeover::kind::Kind;
use regatta_files::run_file::{self, Layout};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

const PM_STATE: &str = "pm_state.json";
const GROUP_STATUS: &str = "group_status.json";
const ORCHESTRATOR: &str = "orchestrator_state.json";

/// Reads the files.
pub(crate) fn read(files: &Files) -> Found {
    let mut found = Found::new(Kind::Coordination);
    let mut documents: BTreeMap<String, Value> = BTreeMap::new();
    for (path, _) in files.iter().filter(|(path, _)| path.ends_with(".json")) {
        if [PM_STATE, GROUP_STATUS, ORCHESTRATOR].contains(&path) || path.starts_with("messages/") {
            documents.extend(parse(&mut found, files, path).map(|value| (path.to_owned(), value)));
        }
    }
    let nothing = Value::Null;
    let of = |name: &str| documents.get(name).unwrap_or(&nothing);
    let (pm, groups, orchestrator) = (of(PM_STATE), of(GROUP_STATUS), of(ORCHESTRATOR));
    let prd = read_requirements(&mut found, pm);
    let messages = read_messages(&mut found, &documents);
    let plans: BTreeMap<String, &Value> =
        list(pm, "task_groups").filter_map(|group| Some((text(group, "id")?, group))).collect();
    let mut parts: BTreeMap<String, Vec<&Value>> = BTreeMap::new();
    for part in list(pm, "all_tasks") {
        parts.entry(text(part, "group_id").unwrap_or_default()).or_default().push(part);
    }
    for id in list_groups(pm, groups) {
        let group = Group {
            id: &id,
            plan: plans.get(&id).copied().unwrap_or(&Value::Null),
            status: &groups[&id],
            parts: parts.remove(&id).unwrap_or_default(),
        };
        let task = read_group(&mut found, &group, prd.clone(), messages.get(&id));
        found.tasks.push(task);
    }
    let lost: usize = parts.values().map(Vec::len).sum();
    if lost > 0 {
        found.odd(PM_STATE, None, format!("{lost} tasks belong to no group; only the copy has them"));
    }
    let known: BTreeSet<String> = found.tasks.iter().map(|task| task.item.clone()).collect();
    for (group, letters) in messages.iter().filter(|(group, _)| !known.contains(*group)) {
        let count = letters.unread.len() + letters.read;
        found.odd(
            "messages",
            None,
            format!("{count} messages are about group {group}, which does not exist"),
        );
    }
    tell_run(&mut found, orchestrator);
    found
}

/// Parses a document, or says why it cannot be parsed.
pub(super) fn parse(found: &mut Found, files: &Files, path: &str) -> Option<Value> {
    let bytes = files.texts.get(path)?;
    match run_file::parse(bytes, Layout::Json) {
        Ok(value @ Value::Object(_)) => {
            files.note_used(path);
            Some(value)
        }
        Ok(_) => {
            found.odd(path, Some(1), "not a JSON object; only a copy is kept");
            None
        }
        Err(fault) => {
            let what = format!("not valid JSON ({}); only a copy is kept", fault.what);
            found.odd(path, Some(fault.line), what);
            None
        }
    }
}

fn read_requirements(found: &mut Found, pm: &Value) -> Option<String> {
    let text = text(pm, "original_requirements").filter(|text| !text.trim().is_empty())?;
    let session = super::fit::one_line(pm["session_id"].as_str().unwrap_or("team"));
    let slug = crate::core::document::slug_from(&session)?.to_string();
    let line = text.lines().find(|line| !line.trim().is_empty()).unwrap_or(&session);
    let title = line.trim_start_matches('#').trim().to_owned();
    found.prds.push(PrdFound { slug: slug.clone(), title, text, file: PM_STATE.to_owned() });
    Some(slug)
}

/// Returns the groups of both documents, those of the plan first.
fn list_groups(pm: &Value, groups: &Value) -> Vec<String> {
    let planned = list(pm, "task_groups").filter_map(|group| text(group, "id"));
    let tracked = groups.as_object().into_iter().flatten().map(|(id, _)| id.clone());
    let mut seen = BTreeSet::new();
    planned.chain(tracked).filter(|id| seen.insert(id.clone())).collect()
}

/// What the documents say of one group.
struct Group<'v> {
    id: &'v str,
    plan: &'v Value,
    status: &'v Value,
    parts: Vec<&'v Value>,
}

fn read_group(
    found: &mut Found,
    group: &Group<'_>,
    prd: Option<String>,
    letters: Option<&Letters>,
) -> TaskFound {
    let Group { id, plan, status, parts } = group;
    let file = if plan.is_null() { GROUP_STATUS } else { PM_STATE };
    let said = serde_json::to_vec(&(plan, status, parts)).unwrap_or_default();
    let word = text(status, "status").or_else(|| text(plan, "status"));
    let mut task = TaskFound::new(*id, file, &said).with_status(word);
    task.title =
        text(plan, "name").or_else(|| text(status, "group_name")).unwrap_or_else(|| format!("Group {id}"));
    let there: BTreeSet<&str> = parts.iter().filter_map(|part| part["id"].as_str()).collect();
    let lost = list(plan, "tasks").filter_map(Value::as_str).filter(|name| !there.contains(name)).count();
    if lost > 0 {
        found.odd(file, None, format!("group {id}: {lost} of its tasks are not in `all_tasks`"));
    }
    task.criteria = parts.iter().filter_map(|part| criterion_of(part)).collect();
    task.depends_on = list(plan, "depends_on").filter_map(|on| on.as_str().map(str::to_owned)).collect();
    task.priority = match plan["complexity"].as_str() {
        Some("high") => Some(Priority::High),
        Some("low") => Some(Priority::Low),
        _ => None,
    };
    task.prd = prd;
    let runs = |role: &str| status["iterations"][role].as_u64().unwrap_or_default();
    task.sessions = usize::try_from(runs("developer") + runs("qa") + runs("tech_lead")).unwrap_or(usize::MAX);
    task.has_output = list(status, "commits").next().is_some();
    task.description = describe(id, plan, status);
    if let Some(letters) = letters {
        if !task.done {
            task.messages.clone_from(&letters.unread);
        }
        task.description.push_str(&format!(
            "\n- Messages: {} read, {} not read",
            letters.read,
            letters.unread.len()
        ));
    }
    task
}

fn criterion_of(part: &Value) -> Option<CriterionFound> {
    let (id, about) = (text(part, "id")?, text(part, "description").unwrap_or_default());
    let checked = part["status"].as_str().is_some_and(super::found::is_done);
    Some(CriterionFound { text: format!("{id}: {about}"), checked })
}

/// Says in words what the documents know of a group and a task has no field for.
fn describe(id: &str, plan: &Value, status: &Value) -> String {
    let mut lines = vec![format!("Group {id} of a team, taken over from its files.")];
    let mut tell = |name: &str, value: Option<String>| {
        lines.extend(value.filter(|value| !value.is_empty()).map(|value| format!("- {name}: {value}")));
    };
    let join = |value: &Value, name: &str| {
        Some(list(value, name).filter_map(Value::as_str).collect::<Vec<_>>().join(", "))
    };
    tell("Files", join(plan, "files_affected"));
    tell("Branch there", text(plan, "branch_name").or_else(|| text(status, "branch_name")));
    tell("Complexity", text(plan, "complexity"));
    tell("Estimate", plan["estimated_effort_minutes"].as_f64().map(|minutes| format!("{minutes} minutes")));
    tell("Files changed", join(status, "files_modified"));
    tell("Commits there", join(status, "commits"));
    for feedback in list(status, "tech_lead_feedback") {
        let what = [text(feedback, "decision"), text(feedback, "feedback")].into_iter().flatten();
        tell("Tech lead", Some(what.collect::<Vec<_>>().join(": ")));
    }
    for blocker in list(status, "blockers").filter(|blocker| blocker["resolved"] != true) {
        tell("Blocker", text(blocker, "description"));
    }
    lines.join("\n")
}

/// The messages about one group.
#[derive(Default)]
struct Letters {
    unread: Vec<MessageFound>,
    read: usize,
}

fn read_messages(found: &mut Found, documents: &BTreeMap<String, Value>) -> BTreeMap<String, Letters> {
    let mut letters: BTreeMap<String, Letters> = BTreeMap::new();
    for (path, document) in documents.iter().filter(|(path, _)| path.starts_with("messages/")) {
        let Some(list) = document["messages"].as_array() else {
            found.odd(path, None, "no list `messages`");
            continue;
        };
        for (number, message) in list.iter().enumerate() {
            let (Some(fields), Some(group)) = (message.as_object(), text(message, "group_id")) else {
                found.odd(path, None, format!("message {} names no group", number + 1));
                continue;
            };
            let of_group = letters.entry(group).or_default();
            if message["read"] == true {
                of_group.read += 1;
            } else {
                let item = text(message, "id").unwrap_or_else(|| format!("{path} {}", number + 1));
                of_group.unread.push(MessageFound { item, text: render_message(fields) });
            }
        }
    }
    letters
}

/// Writes a message as an agent reads it: everything that it has, in the order of the file.
fn render_message(fields: &Map<String, Value>) -> String {
    let word = |name: &str| fields.get(name).and_then(Value::as_str).unwrap_or("?");
    let mut text =
        format!("From {} to {}, {}: {}", word("from"), word("to"), word("timestamp"), word("subject"));
    let known = ["id", "group_id", "from", "to", "timestamp", "subject", "read"];
    for (name, value) in fields.iter().filter(|(name, _)| !known.contains(&name.as_str())) {
        match value {
            Value::String(said) => text.push_str(&format!("\n{name}: {said}")),
            other => text.push_str(&format!("\n{name}: {other}")),
        }
    }
    text
}

/// Says how far the orchestrator was: its groups are tasks here, which no run drives.
fn tell_run(found: &mut Found, orchestrator: &Value) {
    let Some(status) = text(orchestrator, "status").filter(|status| status == "running") else { return };
    let phase = text(orchestrator, "current_phase").unwrap_or_default();
    let what = format!(
        "the team was {status} (phase {phase}); its groups become tasks in the backlog, and nothing starts by itself"
    );
    found.odd(ORCHESTRATOR, None, what);
    let active = list(orchestrator, "active_agents").filter_map(|agent| {
        Some(format!(
            "{} on {}",
            agent["agent_type"].as_str()?,
            agent["group_id"].as_str().unwrap_or("everything")
        ))
    });
    let active: Vec<String> = active.collect();
    if !active.is_empty() {
        found.odd(
            ORCHESTRATOR,
            None,
            format!("agents were running, and their sessions are lost: {}", active.join(", ")),
        );
    }
}

fn text(value: &Value, name: &str) -> Option<String> {
    value.get(name).and_then(Value::as_str).map(str::to_owned)
}

fn list<'v>(value: &'v Value, name: &str) -> impl Iterator<Item = &'v Value> {
    value.get(name).and_then(Value::as_array).into_iter().flatten()
}
