//! Text in, text out: a few lines of commands to a run, and the result of each.
//!
//! ```text
//! begin [level=N] [board] [child [held]] [NAME=VALUE]…   a run of the example; further names go into its input
//! spec KEY,KEY              the role `spec` returns these tasks
//! coder pass|fail|blocked|broken    the role `coder` returns a good, bad, or unusable output
//! review yes|no|broken      so does `reviewer`
//! give JSON                 the node returns this
//! member NODE JSON | member NODE fail CODE [CLASS]     a member of a `parallel` node ends
//! publish [KEY=N,…|none]    the items are on the board; by default the next tasks of `speckit`
//! land | back TEXT          the task is merged, or sent back
//! fail CODE [CLASS]         what was asked for could not be done
//! conflict FILE,FILE        the task does not merge
//! cannot CODE               and never can be
//! give-knowing JSON         so does one whose prompt knew the edits of files so far
//! edit FILE [JSON] -> JSON  somebody edited a file, which was written as that, or as the state is now
//! unusable FILE CODE        what is in the file is no edit
//! signal NAME JSON          a person sends a signal; `signal-as PARTY NAME JSON`; `signal-gone KEY,KEY NAME JSON`
//! start [KEY,KEY]           children are started; by default those that can be
//! child KEY ok JSON | child KEY fail      a child ends
//! answer yes|no TEXT | pause | resume | stop [REASON] | stopped
//! off                       nobody has begun what was asked for, and it is postponed
//! above pause|resume        the run that waits for it, or one above that, is paused or resumed
//! again                     the last command is given once more
//! late COMMAND              the command comes for a step that is over
//! state PATH…               shows parts of the state
//! counts | feedback | tasks
//! ```

use super::play::{Play, RUN, Told, part_of};
use super::told::{describe_effect, describe_event, describe_message, describe_run};
use super::workflows::Example;
use crate::run::{
    ChildEnd, Command, Conflict, EditContent, EditMark, FoundEdit, MemberCame, MemberReport, Parent, Phase,
    SignalGiven,
};
use crate::testing::{commit, failure, id};
use crate::{Code, Failure, Refusal, RunId, TaskId};
use expect_test::Expect;
use regatta_flow::{Content, NodeName};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Plays `given` in silence, where nothing may be refused, then compares what comes of `when`.
pub(super) fn check(example: &Example, given: &str, when: &str, expect: Expect) {
    let mut play = None;
    for line in lines(given) {
        let said = carry_out(example, &mut play, line);
        assert!(!said.contains("  refused "), "`{line}` is not given: {said}");
    }
    let mut text = String::new();
    for line in lines(when) {
        text.push_str(&format!("> {line}\n{}", carry_out(example, &mut play, line)));
    }
    expect.assert_eq(&text);
}

/// Returns a run in which these lines were played, none of them refused.
pub(super) fn played(example: &Example, given: &str) -> Play {
    let mut play = None;
    for line in lines(given) {
        let said = carry_out(example, &mut play, line);
        assert!(!said.contains("  refused "), "`{line}` is not given: {said}");
    }
    play.expect("the script begins a run")
}

fn lines(script: &str) -> impl Iterator<Item = &str> {
    script.split(['\n', ';']).map(str::trim).filter(|line| !line.is_empty())
}

/// Carries out one line, and returns its result.
pub(super) fn carry_out(example: &Example, play: &mut Option<Play>, line: &str) -> String {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (verb, rest) = words.split_first().expect("a line has a word");
    if *verb == "begin" {
        return match begin(example, rest) {
            Ok((begun, told)) => render(&play.insert(begun).run, &told),
            Err(refusal) => render_refusal(&refusal),
        };
    }
    let play = play.as_mut().expect("a script begins with `begin`");
    if let Some(shown) = show(play, verb, rest) {
        return shown;
    }
    let command =
        if *verb == "late" { make_late(parse(play, rest[0], &rest[1..])) } else { parse(play, verb, rest) };
    match play.tell(command) {
        Ok(told) => render(&play.run, &told),
        Err(refusal) => render_refusal(&refusal),
    }
}

fn render(run: &crate::run::Run, told: &Told) -> String {
    let mut text = String::new();
    for event in &told.events {
        text.push_str(&format!("  {}\n", describe_event(event)));
    }
    for message in &told.messages {
        text.push_str(&format!("  {}\n", describe_message(message)));
    }
    for effect in &told.effects {
        text.push_str(&format!("  ! {}\n", describe_effect(effect)));
    }
    let nothing = if told.events.is_empty() { "nothing; " } else { "" };
    text.push_str(&format!("  = {nothing}{}\n", describe_run(run)));
    text
}

fn render_refusal(refusal: &Refusal) -> String {
    let problem = refusal.explain();
    format!("  refused {}: {}: {}\n", problem.code, problem.what, problem.why.join(": "))
}

fn show(play: &Play, verb: &str, rest: &[&str]) -> Option<String> {
    let run = &play.run;
    Some(match verb {
        "state" => {
            rest.iter().map(|path| format!("  {path} = {}\n", part_of(&run.sheet.state(), path))).collect()
        }
        "edits" => format!("  edits = {}\n", json!(run.edits)),
        "counts" => format!("  taken {}\n  visits {}\n", json!(run.taken), json!(run.visits)),
        "feedback" => format!("  feedback = {}\n", *run.sheet.feedback()),
        "tasks" => format!("  tasks = {}, sent back {}\n", json!(run.tasks), json!(run.sent_back)),
        _ => return None,
    })
}

fn begin(example: &Example, words: &[&str]) -> Result<(Play, Told), Refusal> {
    Play::begin(example, |order| {
        for word in words {
            match (*word, word.split_once('=')) {
                ("board", _) => order.board = true,
                ("held", _) => order.is_parent_paused = true,
                ("child", _) => {
                    order.parent =
                        Some(Parent { run_id: RunId::new(9).unwrap(), item: "this".to_owned(), task: None });
                }
                (_, Some(("level", number))) => order.level = Some(number.parse().unwrap()),
                (_, Some((name, value))) => {
                    let value = serde_json::from_str(value).unwrap_or_else(|_| Value::from(value));
                    order.input[name] = value;
                }
                _ => panic!("`{word}` is no part of `begin`"),
            }
        }
    })
}

fn parse(play: &Play, verb: &str, rest: &[&str]) -> Command {
    let step = play.run.step;
    let words = || rest.join(" ");
    match verb {
        "pause" => Command::Pause,
        "resume" => Command::Resume,
        "stop" => Command::Stop { reason: (!rest.is_empty()).then(words) },
        "above" => Command::FollowParent { is_paused: rest[0] == "pause" },
        "off" => Command::PutOff { step },
        "stopped" => Command::Stopped,
        "answer" => Command::Answer { step, approved: rest[0] == "yes", text: rest[1..].join(" ") },
        "spec" => perform(play, spec_output(rest[0])),
        "coder" => perform(play, coder_output(&item_of(play), rest[0])),
        "review" => perform(play, review_output(&item_of(play), rest[0])),
        "give" => perform(play, serde_json::from_str(&words()).unwrap()),
        "give-knowing" => match perform(play, serde_json::from_str(&words()).unwrap()) {
            Command::Performed { step, asks, output, head, .. } => {
                Command::Performed { step, asks, output, head, edits: play.run.edits.count }
            }
            other => other,
        },
        "edit" => edit(play, rest[0], &rest[1..].join(" ")),
        "unusable" => found(play, rest[0], EditContent::Unusable(failure(parse_code(rest[1]))), rest[1]),
        "publish" => Command::Published { step, tasks: parse_tasks(play, rest.first().copied()) },
        "land" => Command::Landed { step },
        "back" => Command::SentBack { step, feedback: words() },
        "fail" => Command::NotPerformed { step, failure: parse_failure(rest) },
        "member" => Command::MemberEnded { step, report: parse_report(play, rest) },
        "conflict" => Command::Conflicted {
            step,
            conflict: Conflict {
                files: rest[0].split(',').map(str::to_owned).collect(),
                target: "main".to_owned(),
                head: Some(commit(1)),
            },
        },
        "cannot" => Command::Unperformable { step, failure: failure(parse_code(rest[0])) },
        "start" => Command::ChildrenStarted { step, children: parse_children(play, rest.first().copied()) },
        "child" => Command::ChildEnded { child: child_of(play, rest[0]), end: parse_end(&rest[1..]) },
        "signal" => signal(rest, "person:me", ""),
        "signal-as" => signal(&rest[1..], rest[0], ""),
        "signal-gone" => signal(&rest[1..], "person:me", rest[0]),
        "again" => play.last.clone().expect("something was told before"),
        _ => panic!("`{verb}` is not a line of a script"),
    }
}

fn edit(play: &Play, file: &str, words: &str) -> Command {
    let (base, edited) = words.split_once("->").expect("an edit is `BASE -> EDITED`");
    let now = || match &play.example.workflow.files.iter().find(|known| known.name == file)?.content {
        Content::Place { place, .. } | Content::Append { list: place, .. } => {
            place.find(&play.run.sheet.state()).cloned()
        }
        Content::Value { .. } => None,
    };
    let base = match base.trim() {
        "" => now().unwrap_or_default(),
        text => serde_json::from_str(text).unwrap(),
    };
    let content = EditContent::Value { base, edited: serde_json::from_str(edited.trim()).unwrap() };
    found(play, file, content, edited.trim())
}

fn found(play: &Play, file: &str, content: EditContent, digest: &str) -> Command {
    let written = play.facts.len() as u64;
    let (file, path, digest) = (file.to_owned(), format!("{file}.json"), digest.to_owned());
    Command::Edited(FoundEdit { mark: EditMark { file, path, written, digest }, content })
}

fn signal(words: &[&str], from: &str, gone: &str) -> Command {
    let gone = gone.split(',').filter(|key| !key.is_empty()).map(str::to_owned).collect();
    let input = serde_json::from_str(&words[1..].join(" ")).unwrap();
    Command::Signal(SignalGiven { name: words[0].to_owned(), input, from: from.parse().unwrap(), gone })
}

fn parse_failure(words: &[&str]) -> Failure {
    let mut failure = failure(parse_code(words[0]));
    failure.details.extend(words.get(1).map(|class| ("class".to_owned(), json!(class))));
    failure
}

fn parse_report(play: &Play, words: &[&str]) -> MemberReport {
    let node = NodeName::parse(words[0]).unwrap();
    let state = play.run.members().iter().find(|state| state.member.node == node);
    let asks = match state.and_then(|state| state.came.as_ref()) {
        Some(MemberCame::Refused { asks, .. }) => *asks,
        _ => 0,
    };
    let came = match &words[1..] {
        ["fail", rest @ ..] => Err(parse_failure(rest)),
        rest => Ok((serde_json::from_str(&rest.join(" ")).unwrap(), None)),
    };
    MemberReport { node, asks, came }
}

fn make_late(command: Command) -> Command {
    match command {
        Command::Performed { step, asks, output, head, edits } => {
            Command::Performed { step: step - 1, asks, output, head, edits }
        }
        Command::NotPerformed { step, failure } => Command::NotPerformed { step: step - 1, failure },
        Command::Unperformable { step, failure } => Command::Unperformable { step: step - 1, failure },
        Command::PutOff { step } => Command::PutOff { step: step - 1 },
        Command::Published { step, tasks } => Command::Published { step: step - 1, tasks },
        Command::ChildrenStarted { step, children } => Command::ChildrenStarted { step: step - 1, children },
        Command::Landed { step } => Command::Landed { step: step - 1 },
        Command::SentBack { step, feedback } => Command::SentBack { step: step - 1, feedback },
        Command::MemberEnded { step, report } => Command::MemberEnded { step: step - 1, report },
        Command::Conflicted { step, conflict } => Command::Conflicted { step: step - 1, conflict },
        other => panic!("{other:?} is for no step"),
    }
}

fn perform(play: &Play, output: Value) -> Command {
    let asks = match play.run.phase() {
        Some(Phase::Performing { asks, .. }) => *asks,
        _ => 0,
    };
    Command::Performed { step: play.run.step, asks, output, head: None, edits: 0 }
}

fn item_of(play: &Play) -> String {
    play.run.item.clone().unwrap_or_else(|| "PRD".to_owned())
}

/// Returns what `spec` returns.
pub(super) fn spec_output(keys: &str) -> Value {
    let task = |key: &str| {
        json!({
            "id": key, "title": format!("Title {key}"), "description": "Text", "priority": 1,
            "complexity": "simple", "acceptanceCriteria": ["It works"], "status": "pending",
        })
    };
    let tasks: Vec<Value> = keys.split(',').map(task).collect();
    let summary = json!({ "totalTasks": tasks.len(), "byPriority": { "1": tasks.len() }, "estimatedComplexity": "hours" });
    json!({ "tasks": tasks, "summary": summary })
}

/// Returns what `coder` returns.
pub(super) fn coder_output(key: &str, how: &str) -> Value {
    let (status, passed, issues) = match how {
        "pass" => ("complete", true, json!([])),
        "fail" => ("needs_revision", false, json!(["It is wrong"])),
        "blocked" => ("blocked", false, json!(["Which one?"])),
        "broken" => return json!({ "code": 7 }),
        _ => panic!("a coder does not `{how}`"),
    };
    let validation = json!({ "passed": passed, "issues": issues });
    json!({ "code": "fn main() {}", "taskId": key, "status": status, "selfValidation": validation })
}

/// Returns what `reviewer` returns.
pub(super) fn review_output(key: &str, how: &str) -> Value {
    let issues = match how {
        "yes" => json!([]),
        "no" => json!([{ "severity": "major", "description": "It is slow" }]),
        "broken" => return json!("fine"),
        _ => panic!("a review is not `{how}`"),
    };
    json!({ "taskId": key, "approved": how == "yes", "issues": issues, "criteriaResults": [] })
}

fn parse_tasks(play: &Play, named: Option<&str>) -> BTreeMap<String, TaskId> {
    let number = |(key, number): (&str, &str)| (key.to_owned(), id(number.parse().unwrap()));
    if let Some(named) = named {
        return named.split(',').filter_map(|pair| pair.split_once('=')).map(number).collect();
    }
    let keys: Vec<String> = match play.run.sheet.state()["tasks"].as_array() {
        Some(tasks) if !tasks.is_empty() => {
            tasks.iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect()
        }
        _ => vec!["PRD".to_owned()],
    };
    (1..).map(id).zip(keys).map(|(task, key)| (key, task)).collect()
}

fn parse_children(play: &Play, named: Option<&str>) -> BTreeMap<String, RunId> {
    let Some(Phase::Mapping(mapping)) = play.run.phase() else { return BTreeMap::new() };
    let startable = mapping.startable();
    let keys: Vec<&str> = match named {
        Some("none") => Vec::new(),
        Some(named) => named.split(',').collect(),
        None => startable.iter().map(|item| item.key.as_str()).collect(),
    };
    let number = |key: &str| mapping.children().iter().position(|child| child.item.key == key).unwrap_or(90);
    keys.into_iter().map(|key| (key.to_owned(), child_id(number(key)))).collect()
}

/// Children are numbered in the order of their items, after the run itself.
fn child_id(index: usize) -> RunId {
    RunId::new(RUN.number() + 1 + u32::try_from(index).unwrap()).unwrap()
}

fn child_of(play: &Play, key: &str) -> RunId {
    let Some(Phase::Mapping(mapping)) = play.run.phase() else { return child_id(0) };
    child_id(mapping.children().iter().position(|child| child.item.key == key).unwrap_or(90))
}

fn parse_end(words: &[&str]) -> ChildEnd {
    match words {
        ["fail"] => ChildEnd::Failed { error: failure(Code::RunFailed) },
        ["ok", rest @ ..] => ChildEnd::Completed { result: serde_json::from_str(&rest.join(" ")).unwrap() },
        _ => panic!("a child does not end with {words:?}"),
    }
}

fn parse_code(name: &str) -> Code {
    *Code::ALL.iter().find(|code| code.as_str() == name).expect("a code that there is")
}
