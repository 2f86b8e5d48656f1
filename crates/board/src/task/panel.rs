//! The panel beside a task: criteria with claim and evidence, facts, what it uses, what happened, what was kept.

use super::About;
use crate::act::attributes;
use crate::markup::{Markup, escape, render};
use crate::parts;
use crate::timeline::Moment;
use crate::words::{self, Clock};
use askama::Template;
use regatta_engine::core::{Salvage, TaskId};
use regatta_engine::recovery::short_path;
use regatta_engine::{CriterionView, TaskView};
use serde_json::json;

#[derive(Template)]
#[template(path = "task_panel.html")]
struct Panel<'a> {
    task: &'a TaskView,
    criteria: Vec<Row<'a>>,
    timeline: &'a [Moment],
    clock: &'a Clock,
    facts: Vec<(&'static str, Markup)>,
    salvages: Vec<Kept>,
}

/// A criterion with its claim and its evidence.
struct Row<'a> {
    mark: Markup,
    text: &'a str,
    evidence: Markup,
}

/// Work that was kept.
struct Kept {
    name: String,
    commit: String,
    request: Markup,
}

pub(super) fn panel(about: &About) -> Markup {
    let task = &about.task;
    render(&Panel {
        task,
        criteria: task.criteria.iter().map(|criterion| row(about, criterion)).collect(),
        timeline: &about.timeline,
        clock: &about.clock,
        facts: facts(about),
        salvages: task.salvages.iter().map(|salvage| kept(task, salvage)).collect(),
    })
}

fn row<'a>(about: &About, criterion: &'a CriterionView) -> Row<'a> {
    let agent = about.task.agent_id.as_deref().unwrap_or("somebody");
    let at = about.checked_at.as_deref().map_or_else(String::new, |commit| {
        format!(" at <code>{}</code>", escape(commit.get(..7).unwrap_or(commit)))
    });
    let (mark, evidence) = match (criterion.verified, criterion.checked, &criterion.check) {
        (true, _, Some(check)) => {
            (parts::drawn("check", "i ok"), format!("Verified: <code>{}</code>{at}", escape(check)))
        }
        (true, _, None) => (parts::drawn("check", "i ok"), format!("Verified{at}")),
        (false, true, Some(check)) => {
            let text =
                format!("Ticked by {}. <code>{}</code> has not shown it", escape(agent), escape(check));
            (parts::drawn("flag", "i warn"), text)
        }
        (false, true, None) => {
            (parts::drawn("flag", "i warn"), format!("Ticked by {}. No check covers it", escape(agent)))
        }
        (false, false, Some(check)) => (ring(), format!("Open. <code>{}</code> will show it", escape(check))),
        (false, false, None) => (ring(), String::new()),
    };
    let found = match criterion.met {
        Some(true) => " · found met by the reviewer",
        Some(false) => " · <span class=\"bad\">found not met by the reviewer</span>",
        None => "",
    };
    Row { mark, text: &criterion.text, evidence: Markup::new(format!("{evidence}{found}")) }
}

fn ring() -> Markup {
    Markup::new("<span class=\"seen\"><span class=\"sr\">open</span></span>".to_owned())
}

fn facts(about: &About) -> Vec<(&'static str, Markup)> {
    let task = &about.task;
    let mut facts: Vec<(&'static str, Markup)> = Vec::new();
    let mut add = |name, html: String| facts.push((name, Markup::new(html)));
    if let Some(agent) = &task.agent_id {
        let role = about.sessions.last().and_then(|session| session.role.as_ref());
        let role = role.map_or_else(String::new, |role| format!(" · {}", escape(role)));
        add("Agent", format!("<span class=\"row\">{}{}{role}</span>", parts::face(agent), escape(agent)));
    } else if task.phase == "by_hand" {
        add("Owner", escape(&task.owner));
    }
    let word = words::sentence(&format!("{:?}", task.priority).to_lowercase());
    add("Priority", format!("<span class=\"row\">{}{word}</span>", parts::priority(task.priority)));
    if let Some(branch) = &task.branch {
        let target = task.target.as_deref().unwrap_or_default();
        add("Branch", format!("<code>{}</code> from <code>{}</code>", escape(branch), escape(target)));
    }
    if let Some(folder) = &task.worktree {
        let open = if about.has_editor {
            let request = json!({ "method": "POST", "path": format!("/api/tasks/{}/open", task.id), "body": {}, "said": "The worktree opens in your editor" });
            format!(
                "<button type=\"button\" class=\"linky\" aria-label=\"Open the worktree in the editor\" {}>{}</button>",
                attributes(&request),
                parts::small("ext")
            )
        } else {
            format!(
                "<button type=\"button\" class=\"linky\" data-copy=\"{}\" aria-label=\"Copy the path\">{}</button>",
                escape(folder),
                parts::small("link")
            )
        };
        let short = short_path(folder);
        add(
            "Worktree",
            format!(
                "<span class=\"row\"><code class=\"cut\" title=\"{}\">{}</code>{open}</span>",
                escape(folder),
                escape(&short)
            ),
        );
    }
    if let Some(commit) = &task.merge_commit {
        let by = task.approver.as_ref().map_or_else(String::new, |by| format!(" by {}", escape(by)));
        add("Merged", format!("<code>{}</code>{by}", escape(commit.get(..7).unwrap_or(commit))));
    }
    if task.sessions > 0 {
        add("Sessions", task.sessions.to_string());
    }
    if task.rejection_count > 0 {
        add("Sent back", words::count(u64::from(task.rejection_count), "time"));
    }
    if let Some(spent) = &task.spent {
        let tokens = spent.input_tokens.saturating_add(spent.output_tokens);
        let mut parts = vec![words::took(spent.milliseconds)];
        if tokens > 0 {
            parts.push(format!("{} tokens", words::tokens(tokens)));
            parts.push(words::money(spent.cost_micros));
        }
        add("Used", escape(&parts.join(", ")));
    }
    if let Some(epic) = task.epic_id {
        add("Epic", epic.to_string());
    }
    if let Some(prd) = &task.prd {
        add("PRD", escape(prd.as_str()));
    }
    if !task.dependencies.is_empty() {
        add("Depends on", links(&task.dependencies));
    }
    if !about.needed_by.is_empty() {
        add("Needed by", links(&about.needed_by));
    }
    if let Some(sandbox) = &task.sandbox {
        add("Sandbox", parts::prose(sandbox).into_string());
    }
    facts
}

fn links(tasks: &[TaskId]) -> String {
    let link = |id: &TaskId| format!("<a class=\"link\" href=\"/tasks/{id}\">#{id}</a>");
    tasks.iter().map(link).collect::<Vec<_>>().join(", ")
}

fn kept(task: &TaskView, salvage: &Salvage) -> Kept {
    let number = salvage.name.rsplit('/').next().unwrap_or_default();
    let ask = json!({ "title": format!("Bring back salvage {number}?"), "text": "A branch is made from it. Nothing is merged.",
        "label": "Name of the branch (optional)", "field": "branch", "ok": "Make the branch" });
    let body = number.parse::<u32>().map_or_else(|_| json!({}), |number| json!({ "number": number }));
    let request = json!({ "method": "POST", "path": format!("/api/tasks/{}/salvage", task.id), "body": body, "ask": ask, "said": "The branch is made" });
    Kept {
        name: salvage.name.clone(),
        commit: salvage.commit.to_string().chars().take(7).collect(),
        request: attributes(&request),
    }
}
