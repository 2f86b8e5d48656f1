//! Figures for Prometheus.

use crate::answer::Answer;
use crate::app::Needs;
use crate::call::Call;
use crate::route::Route;
use regatta_engine::accounts::get_account;
use regatta_engine::core::Problem;
use regatta_engine::core::machine::Column;
use regatta_engine::core::session::Scope;
use regatta_engine::{Histogram, TaskRow, find_running, list_rows};
use std::fmt::Write as _;
use std::time::{SystemTime, UNIX_EPOCH};

pub(super) fn routes() -> Vec<Route> {
    vec![Route::get("/metrics", "measure", "Show figures for Prometheus", measure).needs(Needs::Local)]
}

async fn measure(call: Call) -> Result<Answer, Problem> {
    let project = call.project();
    let rows = list_rows(project).await?;
    let account = get_account(project, Scope::Project).await?;
    let count = |is_meant: &dyn Fn(&TaskRow) -> bool| rows.iter().filter(|row| is_meant(row)).count() as u64;
    let mut text = String::new();
    let mut family = |name: &str, kind: &str, about: &str, samples: &[(String, u64)]| {
        let _ = writeln!(text, "# HELP {name} {about}\n# TYPE {name} {kind}");
        for (labels, value) in samples {
            let _ = writeln!(text, "{name}{labels} {value}");
        }
    };
    let one = |value: u64| vec![(String::new(), value)];
    let columns = Column::ALL
        .map(|column| (format!("{{column=\"{}\"}}", column.as_str()), count(&|row| row.column == column)));
    family("regatta_tasks", "gauge", "Tasks by column.", &columns);
    let queued = count(&|row| row.queue_position.is_some());
    family("regatta_tasks_queued", "gauge", "Tasks that wait in the queue.", &one(queued));
    let queued_since = rows.iter().filter(|row| row.queue_position.is_some()).map(|row| row.since).min();
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
    let age = |since: i64| now.saturating_sub(u64::try_from(since).unwrap_or_default());
    family(
        "regatta_queue_age_seconds",
        "gauge",
        "How long the task has waited that is longest in the queue.",
        &one(queued_since.map_or(0, age)),
    );
    family(
        "regatta_tasks_for_you",
        "gauge",
        "Tasks that wait for a person.",
        &one(count(&|row| row.owner == "you")),
    );
    // One is charged when it ends.
    let (spent, running) = (account.spent, account.held.len() as u64);
    let started = spent.sessions + running;
    family("regatta_sessions_total", "counter", "Sessions that were started.", &one(started));
    family("regatta_sessions_running", "gauge", "Sessions that run now.", &one(running));
    family("regatta_tokens_total", "counter", "Tokens that sessions used.", &one(spent.tokens()));
    family(
        "regatta_cost_micros_total",
        "counter",
        "Cost in millionths of a US dollar.",
        &one(spent.cost_micros),
    );
    family(
        "regatta_questions",
        "gauge",
        "Questions of agents that wait for a person.",
        &one(account.questions.len() as u64),
    );
    family("regatta_log_position", "counter", "Events in the log.", &one(call.position().await?));
    let readers = u64::try_from(call.app.hub.count_readers()).unwrap_or(u64::MAX);
    family("regatta_stream_readers", "gauge", "Clients that follow the log.", &one(readers));
    let lease = find_running(project).await?;
    family("regatta_engine_up", "gauge", "Whether an engine runs.", &one(lease.is_some().into()));
    let meters = project.meters();
    times(&mut text, "regatta_append_seconds", "Appends to the log, until they are on disk.", &meters.append);
    times(
        &mut text,
        "regatta_step_seconds",
        "Steps of runs, from an outcome to the next step.",
        &meters.step,
    );
    Ok(Answer::text("text/plain; version=0.0.4; charset=utf-8", text))
}

/// Writes a histogram of times.
fn times(text: &mut String, name: &str, about: &str, times: &Histogram) {
    let _ = writeln!(text, "# HELP {name} {about}\n# TYPE {name} histogram");
    for (bound, count) in times.list() {
        let _ = writeln!(text, "{name}_bucket{{le=\"{}\"}} {count}", bound.as_secs_f64());
    }
    // Read last: a time that is counted meanwhile must not make a bucket larger than all of them.
    let count = times.count();
    let _ = writeln!(text, "{name}_bucket{{le=\"+Inf\"}} {count}");
    let _ = writeln!(text, "{name}_sum {}\n{name}_count {count}", times.sum().as_secs_f64());
}
