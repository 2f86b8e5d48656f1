//! Agents that speak the Agent Client Protocol through the public interface, played by `support/acp_agent.rs`.
#![allow(clippy::unwrap_used, reason = "a panic is how a test fails")]

mod support;

use std::time::Duration;

use regatta_agents::{
    Asker, FailureClass, Outcome, Output, PermissionAnswer, Permissions, PlanState, PlanStep, Program,
    ResultFrom, Start, StopReason, ToolServer,
};
use serde_json::Value;
use support::{Place, failure, is_alive, run, text_of, within, words};

fn agent(place: &Place, scene: &str) -> Start {
    place.start(Program::Acp(words(&[env!("CARGO_BIN_EXE_regatta-agents-test-acp"), scene])))
}

fn asked(outputs: &[Output]) -> Vec<(PermissionAnswer, &str)> {
    let asked = |output| match output {
        &Output::PermissionAsked { answer, ref by, .. } => Some((answer, by.as_str())),
        _ => None,
    };
    outputs.iter().filter_map(asked).collect()
}

fn is_edited(outputs: &[Output], file: &str) -> bool {
    outputs.iter().any(|output| matches!(output, Output::Edited { path, .. } if path == file))
}

#[tokio::test]
async fn an_edit_from_the_first_word_to_the_last() {
    let place = Place::new();
    let mut start = agent(&place, "edit");
    start.model = Some("b".to_owned());
    start.tools = Some(ToolServer { name: "regatta".to_owned(), command: words(&["regatta", "mcp"]) });
    let (outputs, ended) = run(start).await;
    assert_eq!(ended.outcome, Outcome::Finished, "{outputs:?}");
    assert_eq!((ended.turns, ended.agent_session.as_deref()), (2, Some("fake-1")));
    assert_eq!((ended.result_from, ended.summary.as_deref()), (Some(ResultFrom::Message), Some("one file")));
    assert_eq!(
        (ended.usage.input_tokens, ended.usage.cached_tokens, ended.usage.output_tokens),
        (1100, 900, 100)
    );
    let said = text_of(&outputs);
    assert!(said.contains("told: do it\nDone. {\"summary\":\"one file\"}"), "{said}");
    let step = PlanStep { text: "write it".to_owned(), state: PlanState::UnderWay };
    assert!(outputs.contains(&Output::Planned(vec![step])));
    assert!(is_edited(&outputs, "src/new.txt"), "{outputs:?}");
    assert_eq!(asked(&outputs), [(PermissionAnswer::Allowed, "policy")]);
    assert_eq!(std::fs::read_to_string(place.folder().join("src/new.txt")).unwrap(), "new\n");

    let transcript = place.transcript();
    let sent = |line: &&String| line.starts_with("in: ");
    let methods: Vec<Value> = transcript
        .iter()
        .filter(sent)
        .map(|line| serde_json::from_str::<Value>(&line[4..]).unwrap()["method"].clone())
        .collect();
    assert_eq!(
        methods,
        ["initialize", "session/new", "session/set_model", "session/prompt"]
            .map(Value::from)
            .into_iter()
            .chain([Value::Null])
            .collect::<Vec<_>>()
    );
    assert!(transcript.iter().any(|line| line.contains("\"mcpServers\":[{\"name\":\"regatta\"")));
}

#[tokio::test]
async fn what_leads_outside_is_denied_or_asked() {
    let place = Place::new();
    let (outputs, ended) = run(agent(&place, "outside")).await;
    assert_eq!(ended.outcome, Outcome::Finished);
    assert_eq!(asked(&outputs), [(PermissionAnswer::Denied, "policy")]);
    assert!(text_of(&outputs).contains("\"optionId\":\"no\""), "{outputs:?}");

    let mut unheard = agent(&place, "outside");
    unheard.permissions = Permissions::Ask;
    assert_eq!(asked(&run(unheard).await.0), [(PermissionAnswer::Denied, "nobody can be asked")]);

    let (asker, mut questions) = Asker::pair();
    let mut start = agent(&place, "outside");
    start.permissions = Permissions::Ask;
    start.asker = Some(asker);
    let id = start.session.clone();
    let running = tokio::spawn(run(start));
    let question = within(questions.next()).await.unwrap();
    assert_eq!((&question.session, question.what.as_str()), (&id, "Write (/etc/passwd)"));
    assert_eq!((question.paths.as_slice(), question.is_open()), (&["/etc/passwd".to_owned()][..], true));
    question.answer(PermissionAnswer::Allowed, "user");
    let (outputs, _) = within(running).await.unwrap();
    assert_eq!(asked(&outputs), [(PermissionAnswer::Allowed, "user")]);
    assert!(text_of(&outputs).contains("\"optionId\":\"yes-once\""), "{outputs:?}");
}

#[tokio::test]
async fn a_question_ends_with_its_session() {
    let place = Place::new();
    let (asker, mut questions) = Asker::pair();
    let mut start = agent(&place, "outside");
    start.permissions = Permissions::Ask;
    start.asker = Some(asker);
    let mut session = regatta_agents::start(start).await.unwrap();
    let question = within(questions.next()).await.unwrap();
    session.stopper().stop(StopReason::Cancelled);
    while within(session.next()).await.is_some() {}
    assert_eq!(within(session.wait()).await.outcome, Outcome::Stopped(StopReason::Cancelled));
    assert!(!question.is_open());
}

#[tokio::test]
async fn nothing_is_allowed_where_all_is_denied() {
    let place = Place::new();
    let mut start = agent(&place, "edit");
    start.permissions = Permissions::Deny;
    let (outputs, _) = run(start).await;
    assert_eq!(asked(&outputs), [(PermissionAnswer::Denied, "policy")]);
    assert!(!place.folder().join("src").exists());
    let mut start = agent(&place, "files");
    start.permissions = Permissions::Deny;
    run(start).await;
    assert!(!place.folder().join("made.txt").exists());
}

#[tokio::test]
async fn files_are_given_from_the_folder_only() {
    let place = Place::new();
    let (outputs, ended) = run(agent(&place, "files")).await;
    assert_eq!(ended.outcome, Outcome::Finished);
    assert!(text_of(&outputs).contains("[{},\"made\\n\",-32602,-32601]"), "{outputs:?}");
    assert!(is_edited(&outputs, "made.txt"), "{outputs:?}");
}

#[tokio::test]
async fn a_session_is_taken_up_again() {
    let place = Place::new();
    let mut start = agent(&place, "talk");
    start.resume = Some("fake-1".to_owned());
    let (outputs, ended) = run(start).await;
    assert_eq!((&ended.outcome, ended.agent_session.as_deref()), (&Outcome::Finished, Some("fake-1")));
    assert!(!text_of(&outputs).contains("old words"), "{outputs:?}");

    let mut gone = agent(&place, "talk");
    gone.resume = Some("fake-2".to_owned());
    let (outputs, ended) = run(gone).await;
    assert_eq!((&ended.outcome, ended.agent_session.as_deref()), (&Outcome::Finished, Some("fake-1")));
    assert!(ended.is_session_gone && !text_of(&outputs).is_empty(), "it started afresh: {outputs:?}");

    let mut forgetful = agent(&place, "forgetful");
    forgetful.resume = Some("fake-1".to_owned());
    let ended = run(forgetful).await.1;
    assert_eq!((&ended.outcome, ended.is_session_gone), (&Outcome::Finished, true));
    assert_eq!(run(agent(&place, "forgetful")).await.1.agent_session, None);
}

#[tokio::test]
async fn the_end_of_a_turn_is_not_trusted() {
    let place = Place::new();
    let classes = [
        ("error", FailureClass::RateLimit),
        ("told-error", FailureClass::Refused),
        ("declines", FailureClass::Refused),
        ("crash", FailureClass::Network),
        ("old", FailureClass::InvalidOutput),
    ];
    for (scene, class) in classes {
        let failed = failure(run(agent(&place, scene)).await.1);
        assert_eq!((failed.class, failed.until.is_some()), (class, scene == "error"), "{scene}: {failed:?}");
    }
}

#[tokio::test]
async fn a_cancel_is_told_before_the_tree_is_ended() {
    let place = Place::new();
    let mut start = agent(&place, "cancel");
    start.limits.grace = Duration::from_secs(30);
    let mut session = regatta_agents::start(start).await.unwrap();
    while !matches!(within(session.next()).await, Some(Output::Text(text)) if text.contains("told:")) {}
    session.stopper().stop(StopReason::Paused);
    let ended = within(session.wait()).await;
    assert_eq!(ended.outcome, Outcome::Stopped(StopReason::Paused));
    assert_eq!(ended.agent_session.as_deref(), Some("fake-1"));
    assert!(place.folder().join("cancelled").exists());
}

#[tokio::test]
async fn an_agent_that_never_comes_back_is_ended() {
    let place = Place::new();
    let mut start = agent(&place, "hang");
    start.limits.silence = Duration::from_secs(2);
    let session = regatta_agents::start(start).await.unwrap();
    let pid = session.pid().unwrap();
    let ended = within(session.wait()).await;
    assert_eq!(failure(ended).class, FailureClass::Silence);
    assert!(!is_alive(pid));

    let mut start = agent(&place, "hang");
    start.limits.wall = Duration::from_secs(2);
    assert_eq!(failure(run(start).await.1).class, FailureClass::Timeout);
}

#[tokio::test]
async fn a_limit_that_is_passed_ends_the_session() {
    let place = Place::new();
    let mut start = agent(&place, "spends");
    start.limits.cost_micros_max = Some(2_000_000);
    let (_, ended) = run(start).await;
    assert_eq!(ended.usage.cost_micros, Some(2_500_000));
    assert_eq!(failure(ended).class, FailureClass::Budget);
}

#[tokio::test]
async fn whatever_is_printed_does_no_harm() {
    let place = Place::new();
    let (outputs, ended) = run(agent(&place, "flood")).await;
    assert_eq!(ended.outcome, Outcome::Finished);
    assert!(outputs.iter().any(|output| matches!(output, Output::Skipped { .. })));
    assert!(ended.output_bytes > 29_000_000);
}
