//! What a failed run says to do next: where only another definition helps, `run fork --with` is named.

use super::play::Play;
use super::script::played;
use super::workflows::{Example, plain_state, small, speckit};
use crate::RunId;
use crate::run::{Command, Parent, Situation};
use expect_test::{Expect, expect};
use serde_json::Value;

fn check_hint(example: &Example, given: &str, expected: Expect) {
    let Situation::Failed { error } = played(example, given).run.situation else {
        panic!("the run has not failed")
    };
    expected.assert_eq(&error.hint);
}

fn one_edge(edge: &str) -> Example {
    let toml = format!(
        "name = \"one\"\nstart = \"work\"\n[nodes.work]\nkind = \"agent\"\nrole = \"worker\"\n\
         [nodes.done]\nkind = \"end\"\n[[edges]]\nid = \"out\"\nfrom = \"work\"\nto = \"done\"\n{edge}\n"
    );
    small(&toml, &plain_state(), &[])
}

#[test]
fn an_expression_that_fails_is_mended_in_the_workflow() {
    let next = expect![[r#"
        fix the workflow (`regatta workflow check`), then `regatta run fork 1 --with WORKFLOW` continues from the last good step"#]];
    check_hint(&one_edge("when = \"'a' + 1\""), "begin; give 1", next);
}

#[test]
fn a_run_that_stalls_needs_another_edge() {
    let next = expect!["give the node an edge for this case, then `regatta run fork 1 --with WORKFLOW`"];
    check_hint(&one_edge("when = \"false\""), "begin; give 1", next);
}

/// A child is forked as it is: the run that a person began can be given another definition.
#[test]
fn a_child_names_the_run_to_fork() {
    let hint = |within: &[&str], parent: Option<u32>| {
        let (mut play, _) = Play::begin(&one_edge("when = \"false\""), |order| {
            order.within = within.iter().map(|name| (*name).to_owned()).collect();
            order.parent = parent.map(|run| Parent {
                run_id: RunId::new(run).unwrap(),
                item: "a".to_owned(),
                task: None,
            });
        })
        .unwrap();
        play.tell(Command::Performed { step: 1, asks: 0, output: Value::from(1), head: None, edits: 0 })
            .unwrap();
        let Situation::Failed { error } = play.run.situation else { panic!("the run has not failed") };
        error.hint.strip_prefix("give the node an edge for this case, then ").unwrap().to_owned()
    };
    assert_eq!(hint(&["part"], Some(7)), "`regatta run fork 7 --with WORKFLOW`");
    assert_eq!(
        hint(&["part", "piece"], Some(7)),
        "`regatta run fork RUN --with WORKFLOW`, for the run that a person started,"
    );
    assert_eq!(hint(&["part"], None), "`regatta run WORKFLOW`", "a fork of a child");
}

#[test]
fn an_edge_that_is_used_up_can_be_given_another_cap() {
    let next = expect![[r#"
        look at the work with `regatta run show 1`; `regatta run fork 1 --at STEP` tries again, with a changed workflow if you add `--with WORKFLOW`"#]];
    check_hint(&speckit(), "begin; spec T001; coder fail; coder fail; coder fail; coder fail", next);
}

#[test]
fn an_edge_can_be_given_a_way_back() {
    let next = expect![[
        "give the edge a route, then `regatta run fork 1 --with WORKFLOW`; or finish the task by hand"
    ]];
    let toml = r#"name = "one"
start = "work"
board = { items = "[{'id': 'T'}]", key = "id" }
nodes.work = { kind = "agent", role = "worker", task = "'T'" }
nodes.done = { kind = "end" }
edges = [{ id = "out", from = "work", to = "done", submit = "'T'" }]
"#;
    check_hint(&small(toml, &plain_state(), &[]), "begin board; publish T=1; give 1; back no", next);
}
