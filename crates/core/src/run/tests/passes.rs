//! `pass` nodes: their steps come with the step that leads to them, and each is a step of its own.

use super::check;
use super::workflows::{Example, plain_state, small};
use expect_test::expect;

fn example(rest: &str) -> Example {
    let toml = format!(
        r#"name = "passing"
start = "work"

[board]
items = "list"
key = "$"

[nodes.work]
kind = "agent"
role = "worker"
set = {{ "list[+]" = "output.add", note = "output.note" }}

[nodes.count]
kind = "pass"
set = {{ count = "count + 1", note = "output ? 'there' : note & '.'" }}

[nodes.done]
kind = "end"

[[edges]]
id = "worked"
from = "work"
to = "count"

{rest}"#
    );
    small(&toml, &plain_state(), &[])
}

/// Goes back while there is less to count than there are items.
const AGAIN: &str = r#"
[nodes.judge]
kind = "pass"

[[edges]]
id = "counted"
from = "count"
to = "judge"

[[edges]]
id = "again"
from = "judge"
to = "work"
when = "count < 2"
set = { note = "''" }

[[edges]]
id = "enough"
from = "judge"
to = "done"
"#;

#[test]
fn each_is_a_step_in_the_same_append() {
    check(
        &example(AGAIN),
        "begin",
        r#"give {"add": ["a", "b"], "note": "x"}; state list note count; counts; pause; give {"note": "y"}; state list note count"#,
        expect![[r#"
            > give {"add": ["a", "b"], "note": "x"}
              run:stepped 1 work -[worked]-> pass count
              run:stepped 2 count -[counted]-> pass judge
              run:stepped 3 judge -[again]-> perform work
              ! perform_node step 4
              = running, step 4 work: performing
            > state list note count
              list = ["a","b"]
              note = ""
              count = 1
            > counts
              taken {"again":{"":1},"counted":{"":1},"worked":{"":1}}
              visits {"count":{"":1},"judge":{"":1},"work":{"":1}}
            > pause
              run:paused
              = running, step 4 work: performing, paused
            > give {"note": "y"}
              run:stepped 4 work -[worked]-> pass count
              run:stepped 5 count -[counted]-> pass judge
              run:stepped 6 judge -[enough]-> end done
              run:completed null
              = completed
            > state list note count
              list = ["a","b"]
              note = "y."
              count = 2
        "#]],
    );
}

#[test]
fn one_that_a_run_begins_with_is_performed_by_itself() {
    let begins = example(AGAIN).workflow.folder.files()["workflow.toml"]
        .replace("start = \"work\"", "start = \"count\"");
    check(
        &small(&begins, &plain_state(), &[]),
        "",
        "begin; give null; give {}; again",
        expect![[r#"
            > begin
              run:created level 1, step 1: perform count
              ! perform_node step 1
              = created, step 1 count: performing
            > give null
              run:stepped 1 count -[counted]-> pass judge
              run:stepped 2 judge -[again]-> perform work
              ! perform_node step 3
              = running, step 3 work: performing
            > give {}
              run:stepped 3 work -[worked]-> pass count
              run:stepped 4 count -[counted]-> pass judge
              run:stepped 5 judge -[enough]-> end done
              run:completed null
              = completed
            > again
              = nothing; completed
        "#]],
    );
}

#[test]
fn a_cap_counts_each_passage_of_one_append() {
    let rest = r#"
[nodes.judge]
kind = "pass"

[[edges]]
id = "on"
from = ["count", "judge"]
to = "judge"
maxIterations = 2

[[edges.exhausted]]
to = "done"
set = { note = "'used up'" }
"#;
    check(
        &example(rest),
        "begin",
        r#"give {"note": "x"}; state note count; counts"#,
        expect![[r#"
        > give {"note": "x"}
          run:stepped 1 work -[worked]-> pass count
          run:stepped 2 count -[on]-> pass judge
          run:stepped 3 judge -[on]-> pass judge
          run:stepped 4 judge -[on, used up, route 0]-> end done
          run:completed null
          = completed
        > state note count
          note = "used up"
          count = 1
        > counts
          taken {"on":{"":2},"worked":{"":1}}
          visits {"count":{"":1},"judge":{"":2},"work":{"":1}}
    "#]],
    );
}

#[test]
fn what_cannot_be_made_is_of_the_node_that_makes_it() {
    let fails = "[[edges]]\nid = \"on\"\nfrom = \"count\"\nto = \"done\"\nwhen = \"$number('x') = 1\"\n";
    check(
        &example(fails),
        "begin",
        r#"give {"note": "x"}"#,
        expect![[r#"
        > give {"note": "x"}
          run:stepped 1 work -[worked]-> pass count
          run:failed EDGE_EVALUATION_FAILED: run 1 stopped after node `count`: edge `on`: `$number('x') = 1` could not be evaluated: Unable to cast value to a number: "x"
          = failed EDGE_EVALUATION_FAILED
    "#]],
    );
    let stalls = "[[edges]]\nid = \"on\"\nfrom = \"count\"\nto = \"done\"\nwhen = \"count = 5\"\n";
    check(
        &example(stalls),
        "begin",
        r#"give {"note": "x"}"#,
        expect![[r#"
        > give {"note": "x"}
          run:stepped 1 work -[worked]-> pass count
          run:failed RUN_STALLED: run 1 cannot continue from node `count`: none of its edges holds: `on` saw count = 1
          = failed RUN_STALLED
    "#]],
    );
    // The check finds such a loop; a run must end all the same.
    let round = "[[edges]]\nid = \"on\"\nfrom = \"count\"\nto = \"count\"\nset = { count = \"0\" }\n";
    let example = example(round);
    let played = super::script::played(&example, r#"begin; give {"note": "x"}"#);
    assert_eq!(played.facts.len(), 103, "a hundred passages, the beginning, the step and the failure");
}

#[test]
fn a_merge_leads_through_one() {
    let rest = r#"
[nodes.more]
kind = "pass"
set = { note = "'merged'" }

[[edges]]
id = "up"
from = "count"
to = "more"
submit = "list[0]"

[edges.rejected]
to = "more"

[[edges]]
id = "out"
from = "more"
to = "done"
when = "$not($exists(feedback.text))"

[[edges]]
id = "back"
from = "more"
to = "work"
when = "$exists(feedback.text)"
maxIterations = 2

[[edges.exhausted]]
to = "done"
"#;
    let toml = example(rest).workflow.folder.files()["workflow.toml"]
        .replace("role = \"worker\"\n", "role = \"worker\"\ntask = \"list[0]\"\n")
        .replace("start = \"work\"", "start = \"first\"")
        + "[nodes.first]\nkind = \"agent\"\nrole = \"worker\"\nset = { list = \"output\" }\n\n\
           [[edges]]\nid = \"begun\"\nfrom = \"first\"\nto = \"work\"\n";
    check(
        &small(&toml, &plain_state(), &[]),
        "begin board; give [\"a\"]; publish a=7",
        r#"give {"note": "x"}; back no; give {"note": "y"}; land; state note"#,
        expect![[r#"
            > give {"note": "x"}
              run:stepped 2 work -[worked]-> pass count
              run:stepped 3 count -[up]-> land a (#7)
              ! land_task step 3 #7
              = paused, step 3 count a: landing a (#7) along up
            > back no
              run:sent_back 3 #7 "no" -> pass more
              run:stepped 4 more -[back]-> perform work a
              ! perform_node step 5 for #7
              = running, step 5 work a: performing
            > give {"note": "y"}
              run:stepped 5 work -[worked]-> pass count
              run:stepped 6 count -[up]-> land a (#7)
              ! land_task step 6 #7
              = paused, step 6 count a: landing a (#7) along up
            > land
              run:landed 6 #7 -> pass more
              run:stepped 7 more -[out]-> end done
              run:completed null
              = completed
            > state note
              note = "merged"
        "#]],
    );
}
