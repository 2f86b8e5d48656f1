//! An agent whose own session is gone is started afresh with what it has to be told.

use crate::support::{PROGRAM, add};
use regatta_testkit::binary::TestProject;

/// Speaks like Claude Code; it knows no session that it began before.
const FORGETFUL: &str = r#"
folder="$REGATTA_PROJECT/.regatta"
count=$(ls "$folder"/told-* 2> /dev/null | wc -l)
cat > "$folder/told-$count"
case " $* " in *" --resume "*)
    echo resumed >> "$folder/starts"
    echo '{"type":"result","subtype":"error_during_execution","is_error":true,"errors":["No conversation found with session ID: one"]}'
    exit 1
esac
echo fresh >> "$folder/starts"
echo '{"type":"system","subtype":"init","session_id":"one"}'
echo "$count" > work.txt
echo '{"type":"result","subtype":"success","is_error":false,"num_turns":1,"result":"done","session_id":"one"}'
"#;

#[test]
fn a_headless_session_that_is_gone_is_started_afresh_with_the_feedback() {
    let config =
        format!("[agents.forgetful]\nkind = \"claude\"\ncommand = ['sh', '-c', '''{FORGETFUL}''']\n");
    let project = TestProject::new(PROGRAM, &config);
    add(&project, "a task");
    assert_eq!(project.json(&["task", "assign", "1", "--agent", "forgetful"])["column"], "waiting_approval");
    let task =
        project.json(&["task", "reject", "1", "--reason", "too short", "--feedback", "make it longer"]);
    assert_eq!((&task["column"], &task["phase"]), (&"waiting_approval".into(), &"ready".into()), "{task}");
    let read = |name: &str| std::fs::read_to_string(project.path().join(".regatta").join(name)).expect(name);
    assert_eq!(read("starts"), "fresh\nresumed\nfresh\n");
    let told = read("told-2");
    assert!(
        told.contains("too short") && told.contains("make it longer") && told.contains("# Task #1"),
        "{told}"
    );
}
