//! Refs that an agent without a sandbox moves: said with what they were, and not moved back.

use crate::support::{Attack, Walls};
use serde_json::{Value, json};

fn moved(attack: &Attack) -> Vec<Value> {
    let events = attack.project.json(&["events"]);
    let events = events.as_array().expect("events are a list").clone();
    events.into_iter().filter(|event| event["type"] == "agent:refs_moved").collect()
}

#[test]
fn refs_that_moved_without_a_sandbox_are_in_the_log() {
    let script = r#"
        git -c user.name=Agent -c user.email=agent@example.com commit -q --allow-empty -m "its own branch may move"
        git branch aside; git update-ref refs/heads/keep HEAD; git update-ref -d refs/heads/gone; git tag -d v1
        echo work > work.txt
    "#;
    let attack = Attack::new(Walls::None, script, "");
    let repo = &attack.project.repo;
    for words in [["branch", "keep"], ["branch", "gone"], ["branch", "untouched"], ["tag", "v1"]] {
        repo.git(&words);
    }
    let before = repo.git(&["rev-parse", "main"]);
    let said = attack.run();
    assert_eq!(attack.task()["column"], "waiting_approval", "{said:?}");
    let now = repo.git(&["rev-parse", "keep"]);
    let [event] = &moved(&attack)[..] else { panic!("it is one event: {:?}", attack.kinds()) };
    assert_eq!((&event["taskId"], &event["agentId"]), (&json!(1), &json!("hostile")), "{event}");
    let refs = json!([
        { "ref": "refs/heads/gone", "from": before },
        { "ref": "refs/heads/keep", "from": before, "to": now },
        { "ref": "refs/tags/v1", "from": before },
    ]);
    assert_eq!(event["refs"], refs, "{event}");
    let told = "refs moved while hostile worked without a sandbox: refs/heads/gone was deleted at";
    assert!(said.stdout.contains(told) || said.stderr.contains(told), "{said:?}");
    attack.assert_unharmed();
}

#[test]
fn what_an_agent_may_do_and_what_a_merge_does_is_not_told() {
    let script = r#"
        echo work > work-$REGATTA_TASK_ID.txt; git add .
        git -c user.name=Agent -c user.email=agent@example.com commit -qm work; git branch aside-$REGATTA_TASK_ID
    "#;
    let attack = Attack::new(Walls::None, script, "");
    attack.run();
    attack.project.json(&["task", "add", "another"]);
    assert_eq!(attack.project.run(&["task", "approve", "1"]).code, Some(0));
    assert_eq!(attack.project.run(&["task", "assign", "2", "--agent", "hostile"]).code, Some(0));
    assert_eq!(moved(&attack), Vec::<Value>::new());
    attack.assert_unharmed();
}
