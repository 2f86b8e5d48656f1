//! What is asked of tasks and runs, as it is compared when a command is repeated under its id.
//!
//! The names in its JSON must stay when a field or a type is renamed: a command that is repeated after an update has
//! to be recognized. What was seen on the way (heads, dirty files, the step of a question) is not part of a request.

use crate::core::{
    AgentId, Assignee, Comment, Create, Depend, MessageId, PrdSlug, Priority, Revise, RunId, TaskId,
};
use serde::Serialize;
use serde_json::Value;

/// A request.
#[derive(Debug, Clone, Serialize)]
#[serde(tag = "command", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum Request<'a> {
    Create {
        create: &'a Create,
    },
    ImportTask {
        kind: &'a str,
        item: &'a str,
        digest: &'a str,
    },
    Depend {
        task: TaskId,
        depend: &'a Depend,
    },
    Assign {
        task: TaskId,
        to: &'a Assignee,
        priority: Option<Priority>,
        may_queue: bool,
    },
    Dequeue {
        task: TaskId,
    },
    Take {
        task: TaskId,
        priority: Option<Priority>,
    },
    Complete {
        task: TaskId,
    },
    Submit {
        task: TaskId,
    },
    Reassign {
        task: TaskId,
        to: Option<&'a AgentId>,
        stop: bool,
        feedback: Option<&'a str>,
    },
    Edit {
        task: TaskId,
        revise: &'a Revise,
    },
    Delete {
        task: TaskId,
    },
    Hide {
        task: TaskId,
        hidden: bool,
    },
    Approve {
        task: TaskId,
        feedback: Option<&'a str>,
        head: Option<&'a str>,
        anyway: bool,
    },
    Reject {
        task: TaskId,
        reason: Option<&'a str>,
        feedback: Option<&'a str>,
        agent: Option<&'a AgentId>,
        #[serde(skip_serializing_if = "<[Comment]>::is_empty")]
        comments: &'a [Comment],
    },
    Resume {
        task: TaskId,
        feedback: Option<&'a str>,
    },
    Cancel {
        task: TaskId,
        reason: Option<&'a str>,
    },
    StartRuns {
        runs: Vec<StartRun<'a>>,
    },
    PauseRun {
        run: RunId,
    },
    ResumeRun {
        run: RunId,
    },
    StopRun {
        run: RunId,
        reason: Option<&'a str>,
    },
    AnswerRun {
        run: RunId,
        approved: bool,
        text: &'a str,
    },
    ForkRun {
        run: RunId,
        step: Option<u64>,
        workflow: Option<String>,
    },
    SignalRun {
        run: RunId,
        signal: &'a str,
        input: &'a Value,
    },
    Tick {
        task: TaskId,
        numbers: &'a [(usize, bool)],
    },
    LogProgress {
        task: TaskId,
        did: &'a str,
        issues: &'a str,
        next: &'a str,
    },
    WriteOutput {
        task: TaskId,
        text: &'a str,
    },
    AdoptFile {
        task: TaskId,
        digest: &'a str,
    },
    ReplaceFile {
        task: TaskId,
        text: &'a str,
    },
    AnswerQuestion {
        question: &'a str,
        allowed: bool,
    },
    ReadMessages {
        messages: &'a [MessageId],
    },
    Archive {
        task: TaskId,
    },
    BringBack {
        task: TaskId,
        number: Option<u32>,
        branch: Option<&'a str>,
    },
}

/// A run that is to be started; its workflow is named as it was asked for, whatever its files say.
#[derive(Debug, Clone, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct StartRun<'a> {
    pub(crate) workflow: String,
    pub(crate) level: Option<u32>,
    pub(crate) prd: Option<&'a PrdSlug>,
    pub(crate) input: &'a Value,
    pub(crate) board: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    /// A command that is repeated after an update is recognized by exactly these texts.
    #[test]
    fn requests_are_written_the_same_for_ever() {
        let (task, run) = (TaskId::FIRST, RunId::FIRST);
        let agent: AgentId = "worker".parse().unwrap();
        let create = Create::new(
            "A".to_owned(),
            "B".to_owned(),
            vec!["C".to_owned()],
            BTreeSet::new(),
            Priority::High,
        );
        let create = create.unwrap();
        let depend = Depend { add: BTreeSet::from([task]), remove: BTreeSet::new() };
        let (to, any) = (Assignee::Agent(agent.clone()), Assignee::Any);
        let unfiled = Revise { epic: Some(None), ..Revise::default() };
        let (path, text) = (Some("a.rs".to_owned()), "T".to_owned());
        let comment = Comment { path, line: Some(2), text, ..Comment::default() };
        let input = serde_json::json!({ "a": 1 });
        let start =
            StartRun { workflow: "speckit".to_owned(), level: None, prd: None, input: &input, board: true };
        let requests = [
            Request::Create { create: &create },
            Request::Depend { task, depend: &depend },
            Request::Assign { task, to: &to, priority: Some(Priority::Low), may_queue: true },
            Request::Assign { task, to: &any, priority: None, may_queue: false },
            Request::Dequeue { task },
            Request::Take { task, priority: None },
            Request::Complete { task },
            Request::Submit { task },
            Request::Reassign { task, to: Some(&agent), stop: true, feedback: Some("F") },
            Request::Edit { task, revise: &unfiled },
            Request::Delete { task },
            Request::Hide { task, hidden: true },
            Request::Approve { task, feedback: None, head: Some("abcdef0"), anyway: false },
            Request::Reject { task, reason: Some("R"), feedback: None, agent: Some(&agent), comments: &[] },
            Request::Reject { task, reason: None, feedback: None, agent: None, comments: &[comment] },
            Request::Resume { task, feedback: Some("F") },
            Request::Cancel { task, reason: None },
            Request::StartRuns { runs: vec![start] },
            Request::PauseRun { run },
            Request::ResumeRun { run },
            Request::StopRun { run, reason: None },
            Request::AnswerRun { run, approved: true, text: "T" },
            Request::ForkRun { run, step: Some(3), workflow: Some("mine".to_owned()) },
            Request::SignalRun { run, signal: "extend", input: &input },
            Request::Tick { task, numbers: &[(1, true), (2, false)] },
            Request::LogProgress { task, did: "D", issues: "I", next: "N" },
            Request::WriteOutput { task, text: "T" },
            Request::ReplaceFile { task, text: "T" },
            Request::AnswerQuestion { question: "Q", allowed: true },
            Request::ReadMessages { messages: &[MessageId::FIRST] },
            Request::Archive { task },
            Request::BringBack { task, number: Some(1), branch: Some("b") },
        ];
        let written: Vec<String> =
            requests.iter().map(|request| serde_json::to_string(request).unwrap()).collect();
        let expected = [
            r#"{"command":"create","create":{"title":"A","description":"B","criteria":["C"],"dependencies":[],"priority":"high","epic":null,"prd":null}}"#,
            r#"{"command":"depend","task":1,"depend":{"add":[1],"remove":[]}}"#,
            r#"{"command":"assign","task":1,"to":{"agent":"worker"},"priority":"low","mayQueue":true}"#,
            r#"{"command":"assign","task":1,"to":"any","priority":null,"mayQueue":false}"#,
            r#"{"command":"dequeue","task":1}"#,
            r#"{"command":"take","task":1,"priority":null}"#,
            r#"{"command":"complete","task":1}"#,
            r#"{"command":"submit","task":1}"#,
            r#"{"command":"reassign","task":1,"to":"worker","stop":true,"feedback":"F"}"#,
            r#"{"command":"edit","task":1,"revise":{"title":null,"description":null,"criteria":null,"priority":null,"epic":null}}"#,
            r#"{"command":"delete","task":1}"#,
            r#"{"command":"hide","task":1,"hidden":true}"#,
            r#"{"command":"approve","task":1,"feedback":null,"head":"abcdef0","anyway":false}"#,
            r#"{"command":"reject","task":1,"reason":"R","feedback":null,"agent":"worker"}"#,
            r#"{"command":"reject","task":1,"reason":null,"feedback":null,"agent":null,"comments":[{"path":"a.rs","side":"new","line":2,"text":"T"}]}"#,
            r#"{"command":"resume","task":1,"feedback":"F"}"#,
            r#"{"command":"cancel","task":1,"reason":null}"#,
            r#"{"command":"startRuns","runs":[{"workflow":"speckit","level":null,"prd":null,"input":{"a":1},"board":true}]}"#,
            r#"{"command":"pauseRun","run":1}"#,
            r#"{"command":"resumeRun","run":1}"#,
            r#"{"command":"stopRun","run":1,"reason":null}"#,
            r#"{"command":"answerRun","run":1,"approved":true,"text":"T"}"#,
            r#"{"command":"forkRun","run":1,"step":3,"workflow":"mine"}"#,
            r#"{"command":"signalRun","run":1,"signal":"extend","input":{"a":1}}"#,
            r#"{"command":"tick","task":1,"numbers":[[1,true],[2,false]]}"#,
            r#"{"command":"logProgress","task":1,"did":"D","issues":"I","next":"N"}"#,
            r#"{"command":"writeOutput","task":1,"text":"T"}"#,
            r#"{"command":"replaceFile","task":1,"text":"T"}"#,
            r#"{"command":"answerQuestion","question":"Q","allowed":true}"#,
            r#"{"command":"readMessages","messages":[1]}"#,
            r#"{"command":"archive","task":1}"#,
            r#"{"command":"bringBack","task":1,"number":1,"branch":"b"}"#,
        ];
        assert_eq!(written, expected);
    }
}
