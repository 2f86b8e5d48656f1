//! `regatta task reject`.

use super::agent_id;
use crate::arguments::Place;
use crate::exit::Exit;
use crate::verb::follow::{Begin, WaitOptions};
use clap::Args;
use regatta_engine::core::{Comment, Part, Problem, Side, TaskId};
use regatta_engine::orders::{self, Rejecting};

/// Send a task's work back to its agent or to another, and wait for the session to end.
#[derive(Args)]
pub(crate) struct Reject {
    /// Task number.
    #[arg(value_name = "ID")]
    task: TaskId,
    /// Reason, 1 to 1000 characters; may be left out with --comment.
    #[arg(long, value_name = "TEXT", required_unless_present = "comment")]
    reason: Option<String>,
    /// Instructions for the agent, at most 5000 characters.
    #[arg(long, value_name = "TEXT")]
    feedback: Option<String>,
    /// Comment on a line, lines or a file of the diff, such as `src/a.rs:12-14: TEXT`; `src/a.rs:old:12: TEXT` is about
    /// the version before the change, `plan: TEXT` and `output: TEXT` about the task. Repeatable.
    #[arg(long, value_name = "WHERE: TEXT", value_parser = parse_comment)]
    comment: Vec<Comment>,
    /// Send it to this agent [default: the one that did the work].
    #[arg(long, value_name = "NAME")]
    agent: Option<String>,
    #[command(flatten)]
    options: WaitOptions,
}

impl Reject {
    pub(crate) async fn run(self, place: &Place) -> Result<Exit, Problem> {
        let agent = self.agent.as_deref().map(agent_id).transpose()?;
        let title = match &agent {
            Some(agent) => format!("#{} goes to {agent}", self.task),
            None => format!("#{} goes back to its agent", self.task),
        };
        let order = async |project: &_, caller: &_| {
            let Reject { reason, feedback, comment: comments, .. } = self;
            let rejecting = Rejecting { reason, feedback, comments, agent };
            orders::reject_with(project, caller, self.task, rejecting).await
        };
        self.options.carry_out(place, self.task, &title, Begin::WhenSettled, order).await
    }
}

/// Reads `PATH[:old][:LINE[-END]]: TEXT`, or a part of the task in place of the path.
fn parse_comment(given: &str) -> Result<Comment, String> {
    const FORM: &str = "write it as `src/a.rs:12-14: TEXT`";
    let (place, text) = given.split_once(": ").ok_or(FORM)?;
    let (place, lines) = match place.rsplit_once(':').map(|(rest, lines)| (rest, parse_lines(lines))) {
        Some((rest, Some((first, last)))) => (rest, Some((first, last))),
        _ => (place, None),
    };
    let (path, side) = match place.strip_suffix(":old") {
        Some(path) => (path, Side::Old),
        None => (place.strip_suffix(":new").unwrap_or(place), Side::New),
    };
    let part = match path {
        "plan" => Some(Part::Plan),
        "output" => Some(Part::Output),
        "" => return Err(FORM.to_owned()),
        _ => None,
    };
    let path = path.strip_prefix("./").unwrap_or(path);
    Ok(Comment {
        path: Some(path.to_owned()).filter(|_| part.is_none()),
        part,
        side,
        line: lines.map(|(first, _)| first),
        end_line: lines.map(|(_, last)| last),
        text: text.to_owned(),
        quote: None,
    })
}

fn parse_lines(text: &str) -> Option<(u32, u32)> {
    let (first, last) = text.split_once('-').unwrap_or((text, text));
    let number = |digits: &str| {
        let is_number = !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit());
        is_number.then(|| digits.parse().ok()).flatten()
    };
    Some((number(first)?, number(last)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_names_its_place_and_then_says_its_text() {
        let parse = |given: &str| parse_comment(given).map(|it| format!("{it} = {}", it.text));
        for (given, expected) in [
            ("src/a.rs:12: Why: because", "src/a.rs:12 = Why: because"),
            ("src/a.rs:12-14: Why", "src/a.rs:12-14 = Why"),
            ("src/a.rs:old:3: Why", "src/a.rs:3 (before the change) = Why"),
            ("src/a.rs:new:3: Why", "src/a.rs:3 = Why"),
            ("src/a.rs: Why", "src/a.rs = Why"),
            ("a b:c.rs: Why", "a b:c.rs = Why"),
            ("./plan:1: Why", "plan:1 = Why"),
            ("plan: Why", "the plan = Why"),
            ("output:2: Why", "the chain output:2 = Why"),
            ("a:99999999999: Why", "a:99999999999 = Why"),
        ] {
            assert_eq!(parse(given).as_deref(), Ok(expected), "{given}");
        }
        for bad in ["", "src/a.rs:12", ":12: Why", "no text:"] {
            assert!(parse(bad).is_err(), "{bad}");
        }
    }
}
