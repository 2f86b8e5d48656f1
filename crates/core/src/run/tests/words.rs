//! The events of runs in JSON: words that the log keeps forever.

use crate::run::Event;
use crate::testing::run_samples;
use expect_test::expect;

#[test]
fn every_kind_survives_json_in_these_words() {
    let samples = run_samples();
    let kinds: Vec<&str> = samples.iter().map(Event::kind).collect();
    assert_eq!(kinds, Event::KINDS, "there is one sample of each kind");
    let write = |event: &Event| {
        let text = serde_json::to_string(event).unwrap();
        assert_eq!(&serde_json::from_str::<Event>(&text).unwrap(), event);
        text
    };
    let lines: Vec<String> = samples.iter().map(write).collect();
    expect![[r#"
        {"type":"workflow:kept","digest":"00","name":"speckit","files":{"workflow.toml":"name = \"speckit\"\n"}}
        {"type":"run:created","runId":4,"plan":{"workflow":"part","digest":"00","within":["part"],"level":7,"board":true,"boardBelow":true,"tape":{"record":"/tape"},"prd":"user-auth","input":{"prd":"Text"},"state":{"tasks":[]},"feedback":{"text":"Yes"},"taken":{"coder-retry":{"T001":2}},"visits":{"coder-retry":{"T001":2}},"tasks":{"T001":7},"heads":{"T002":"0000001000000000000000000000000000000000"},"restarted":["T003"],"step":3,"next":{"do":"map","node":"all","workflow":"part","items":[{"key":"a","depends":["b"],"input":{"key":"a"}}],"maxParallel":2,"publishes":true},"passes":true,"item":"T002","takesUp":true,"parent":{"runId":1,"item":"b","task":7},"isParentPaused":true,"forked":{"runId":1,"step":3},"imported":{"folder":"/cycle","files":[{"path":"plan.json","digest":"00"}],"leftOut":["tasks: it is no list"],"createdAt":"1970-01-01T00:00:01Z","endedAt":"1970-01-01T00:00:02Z","messages":[{"from":"user","to":"ra","body":"More","read":true}]},"files":{"plan":"cycles/1.progress/plan.json"}}}
        {"type":"run:published","runId":4,"step":2,"tasks":{"T001":7}}
        {"type":"run:stepped","runId":4,"step":2,"node":"coder","output":{"passed":false,"weight":0.1},"head":"0000001000000000000000000000000000000000","set":[[["tasks",0]],[["tasks",0],1]],"choice":{"edge":"coder-retry","scope":"T001","exhausted":1,"fail":"T001","drop":"T002","tried":[["coder-retry",true,[["output.passed",false]]]]},"messages":[5,6],"next":{"do":"land","node":"coder","edge":"next-task","item":"T001","taskId":7},"outcome":{"on":"rejected","details":{"edge":"next-task"},"feedback":"Slow","item":"T001"},"seen":40}
        {"type":"run:member_ended","runId":4,"step":2,"node":"coder","came":{"status":"returned","output":{"passed":true},"head":"0000001000000000000000000000000000000000"}}
        {"type":"run:output_refused","runId":4,"step":2,"faults":["`code` is missing"],"asks":1}
        {"type":"run:agent_refused","runId":4,"step":2,"agentId":"alpha","what":"the tool approve_task"}
        {"type":"run:children_started","runId":4,"step":2,"children":{"a":5}}
        {"type":"run:child_ended","runId":4,"step":2,"item":"a","child":{"status":"skipped"}}
        {"type":"run:landed","runId":4,"step":2,"taskId":7,"next":{"do":"perform","node":"coder","item":"T001"}}
        {"type":"run:sent_back","runId":4,"step":2,"taskId":7,"feedback":"Slow","fail":"T001","drop":"T001","set":[[["tasks",0],null]],"next":{"do":"perform","node":"coder","item":"T001"}}
        {"type":"run:signalled","runId":4,"step":2,"signal":"extend","input":{"text":"More"},"from":"person:local","set":[[["tasks",0],"More"]],"messages":[7],"restarted":["T001"],"next":{"do":"perform","node":"coder","item":"T001"},"seen":40}
        {"type":"run:edited","runId":4,"step":2,"file":"plan","path":"plan.json","written":40,"digest":"0f","set":[[["tasks",0],"More"]]}
        {"type":"run:edit_kept","runId":4,"step":2,"file":"plan","path":"plan.json","written":40,"digest":"0f","kept":"plan.json.edit-40","error":{"code":"EDIT_CONFLICT","message":"it did not work: a reason","hint":"try again"}}
        {"type":"run:held","runId":4,"step":2,"error":{"code":"INTERNAL","message":"it did not work: a reason","hint":"try again"}}
        {"type":"run:put_off","runId":4,"step":2}
        {"type":"run:paused","runId":4}
        {"type":"run:resumed","runId":4}
        {"type":"run:parent_paused","runId":4}
        {"type":"run:parent_resumed","runId":4}
        {"type":"run:stopping","runId":4,"reason":"Enough"}
        {"type":"run:completed","runId":4,"result":{"ok":true}}
        {"type":"run:failed","runId":4,"error":{"code":"INTERNAL","message":"it did not work: a reason","hint":"try again"},"output":null,"outcome":{"on":"rejected","details":{"edge":"next-task"},"feedback":"Slow","item":"T001"}}"#]].assert_eq(&lines.join("\n"));
}

#[test]
fn every_kind_but_that_of_a_definition_is_of_a_run() {
    for event in run_samples() {
        assert_eq!(event.find_run().is_none(), event.kind() == "workflow:kept");
    }
}
