//! How a run fails: outputs that do not fit, states that are not allowed, expressions that fail, no edge to
//! take.

use super::check;
use super::workflows::{Example, plain_state, small, speckit};
use expect_test::expect;

/// A worker that goes round, with the lines of one edge and one node to be filled in.
fn round(node: &str, edge: &str) -> Example {
    let toml = format!(
        r#"name = "round"
start = "work"

[nodes.work]
kind = "agent"
role = "worker"
{node}

[nodes.done]
kind = "end"

[[edges]]
id = "round"
from = "work"
to = "work"
{edge}

[[edges]]
id = "out"
from = "work"
to = "done"
when = "output.done = true"
"#
    );
    small(&toml, &plain_state(), &[])
}

#[test]
fn an_output_that_does_not_fit_is_asked_for_again_twice() {
    check(
        &speckit(),
        "begin; spec T001",
        "coder broken; coder broken; again; coder pass; review broken; review yes",
        expect![[r#"
            > coder broken
              run:output_refused 2 asked 1: "taskId" is a required property; "status" is a required property; "selfValidation" is a required property; code: 7 is not of type "string"
              ! perform_node step 2 asked 1
              = running, step 2 coder T001: performing, asked 1
            > coder broken
              run:output_refused 2 asked 2: "taskId" is a required property; "status" is a required property; "selfValidation" is a required property; code: 7 is not of type "string"
              ! perform_node step 2 asked 2
              = running, step 2 coder T001: performing, asked 2
            > again
              = nothing; running, step 2 coder T001: performing, asked 2
            > coder pass
              run:stepped 2 coder -[coder-to-reviewer]-> perform reviewer T001
              ! perform_node step 3
              = running, step 3 reviewer T001: performing
            > review broken
              run:output_refused 3 asked 1: "fine" is not of type "object"
              ! perform_node step 3 asked 1
              = running, step 3 reviewer T001: performing, asked 1
            > review yes
              run:stepped 3 reviewer -[all-done]-> end done
              run:completed null
              = completed
        "#]],
    );
    check(
        &speckit(),
        "begin; spec T001; coder broken; coder broken",
        "coder broken; again",
        expect![[r#"
        > coder broken
          run:failed AGENT_OUTPUT_INVALID: run 1 has no usable answer at node `coder`: the role was asked again and still returned: "taskId" is a required property; "status" is a required property; "selfValidation" is a required property; code: 7 is not of type "string"
          = failed AGENT_OUTPUT_INVALID
        > again
          = nothing; failed AGENT_OUTPUT_INVALID
    "#]],
    );
}

#[test]
fn an_answer_to_an_earlier_ask_is_too_late() {
    let early = super::script::played(&speckit(), "begin; spec T001");
    let mut play = super::script::played(&speckit(), "begin; spec T001; coder broken");
    let output = super::script::coder_output("T001", "pass");
    let late = crate::run::Command::Performed { step: early.run.step, asks: 0, output, head: None, edits: 0 };
    assert!(play.tell(late).unwrap().events.is_empty());
}

#[test]
fn a_state_that_its_schema_does_not_allow_refuses_the_step() {
    let example =
        round("set = { count = \"output.count\" }", "when = \"output.count < 9\"\nmaxIterations = 5");
    check(
        &example,
        "begin",
        "give {\"count\": 3}; state count; give {\"count\": 4}; state count",
        expect![[r#"
        > give {"count": 3}
          run:stepped 1 work -[round]-> perform work
          ! perform_node step 2
          = running, step 2 work: performing
        > state count
          count = 3
        > give {"count": 4}
          run:failed STATE_INVALID: run 1 stopped after node `work`: the new state does not satisfy its schema: count: 4 is greater than the maximum of 3
          = failed STATE_INVALID
        > state count
          count = 3
    "#]],
    );
    check(
        &example,
        "begin",
        "give {\"count\": \"three\"}; state count",
        expect![[r#"
        > give {"count": "three"}
          run:failed EDGE_EVALUATION_FAILED: run 1 stopped after node `work`: edge `round`: `output.count < 9` could not be evaluated: The values "three" and 9 either side of operator "<" must be of the same data type
          = failed EDGE_EVALUATION_FAILED
        > state count
          count = 0
    "#]],
    );
    let beyond = round("set = { \"list[5]\" = \"1\" }", "maxIterations = 1");
    check(
        &beyond,
        "begin",
        "give {}; state list",
        expect![[r#"
        > give {}
          run:failed STATE_INVALID: run 1 stopped after node `work`: node `work`: a change does not fit the state: `list[5]` is beyond the end of a list of 0
          = failed STATE_INVALID
        > state list
          list = []
    "#]],
    );
}

#[test]
fn an_expression_that_fails_stops_the_run_and_is_named() {
    let example = round("", "when = \"output.count > 'a'\"\nmaxIterations = 1");
    check(
        &example,
        "begin",
        "give {\"count\": 1}",
        expect![[r#"
        > give {"count": 1}
          run:failed EDGE_EVALUATION_FAILED: run 1 stopped after node `work`: edge `round`: `output.count > 'a'` could not be evaluated: The values 1 and "a" either side of operator ">" must be of the same data type
          = failed EDGE_EVALUATION_FAILED
    "#]],
    );
    check(
        &example,
        "begin",
        "give {\"done\": true}",
        expect![[r#"
        > give {"done": true}
          run:stepped 1 work -[out]-> end done
          run:completed null
          = completed
    "#]],
    );
    let scope = round("", "maxIterations = 1\nscope = \"output\"");
    check(
        &scope,
        "begin",
        "give {\"a\": 1}",
        expect![[r#"
        > give {"a": 1}
          run:failed EDGE_EVALUATION_FAILED: run 1 stopped after node `work`: edge `round`: `output` gives {"a":1} where a text, a number or a boolean is needed
          = failed EDGE_EVALUATION_FAILED
    "#]],
    );
    let place = round("set = { \"list[output.at]\" = \"1\" }", "maxIterations = 1");
    check(
        &place,
        "begin",
        "give {}",
        expect![[r#"
        > give {}
          run:failed EDGE_EVALUATION_FAILED: run 1 stopped after node `work`: node `work`: `list[output.at]` is not a place: an expression in it is undefined
          = failed EDGE_EVALUATION_FAILED
    "#]],
    );
    let play = super::script::played(&example, "begin; give {\"count\": 1}");
    let crate::run::Situation::Failed { error } = &play.run.situation else { panic!("it failed") };
    assert_eq!(error.details["expression"], "output.count > 'a'");
    assert_eq!(error.details["node"], "work");
}

#[test]
fn no_edge_that_holds_stalls_the_run() {
    let example = round("", "when = \"output.again\"\nmaxIterations = 1");
    check(
        &example,
        "begin",
        "give {}",
        expect![[r#"
            > give {}
              run:failed RUN_STALLED: run 1 cannot continue from node `work`: none of its edges holds: `round` saw nothing; `out` saw nothing
              = failed RUN_STALLED
        "#]],
    );
    check(
        &example,
        "begin",
        "give {\"again\": \"true\"}",
        expect![[r#"
            > give {"again": "true"}
              run:failed RUN_STALLED: run 1 cannot continue from node `work`: none of its edges holds: `round` saw output.again = "true"; `out` saw nothing
              = failed RUN_STALLED
        "#]],
    );
    let alone = small(
        "name = \"alone\"\nstart = \"work\"\n[nodes.work]\nkind = \"agent\"\nrole = \"worker\"\n",
        &plain_state(),
        &[],
    );
    check(
        &alone,
        "begin",
        "give 1",
        expect![[r#"
        > give 1
          run:failed RUN_STALLED: run 1 cannot continue from node `work`: no edge leaves it at this level, and it is not an end
          = failed RUN_STALLED
    "#]],
    );
    check(
        &alone,
        "begin",
        "give null",
        expect![[r#"
        > give null
          run:failed RUN_STALLED: run 1 cannot continue from node `work`: no edge leaves it at this level, and it is not an end
          = failed RUN_STALLED
    "#]],
    );
}

#[test]
fn an_edge_that_is_used_up_and_has_no_route_fails_the_scope() {
    let example = round("", "when = \"output.again\"\nmaxIterations = 2\nscope = \"output.key\"");
    check(
        &example,
        "begin",
        "give {\"again\": true, \"key\": \"a\"}; give {\"again\": true, \"key\": \"b\"}
         give {\"again\": true, \"key\": \"a\"}; counts; give {\"again\": true, \"key\": \"a\"}; counts",
        expect![[r#"
            > give {"again": true, "key": "a"}
              run:stepped 1 work -[round a]-> perform work
              ! perform_node step 2
              = running, step 2 work: performing
            > give {"again": true, "key": "b"}
              run:stepped 2 work -[round b]-> perform work
              ! perform_node step 3
              = running, step 3 work: performing
            > give {"again": true, "key": "a"}
              run:stepped 3 work -[round a]-> perform work
              ! perform_node step 4
              = running, step 4 work: performing
            > counts
              taken {"round":{"a":2,"b":1}}
              visits {"work":{"":3}}
            > give {"again": true, "key": "a"}
              run:failed MAX_ITERATIONS_EXCEEDED: run 1 gave up: edge `round` reached its iteration limit for a
              = failed MAX_ITERATIONS_EXCEEDED
            > counts
              taken {"round":{"a":2,"b":1}}
              visits {"work":{"":3}}
        "#]],
    );
}

#[test]
fn an_edge_that_is_used_up_takes_the_first_route_that_holds() {
    let edge = r#"when = "output.again"
maxIterations = 1
[[edges.exhausted]]
to = "work"
when = "output.soft"
set = { note = "'soft'" }
[[edges.exhausted]]
to = "done"
when = "output.hard"
"#;
    let example = round("", edge);
    check(
        &example,
        "begin; give {\"again\": true}",
        "give {\"again\": true, \"soft\": true}; state note; counts; give {\"again\": true, \"hard\": true}",
        expect![[r#"
            > give {"again": true, "soft": true}
              run:stepped 2 work -[round, used up, route 0]-> perform work
              ! perform_node step 3
              = running, step 3 work: performing
            > state note
              note = "soft"
            > counts
              taken {"round":{"":1}}
              visits {"work":{"":2}}
            > give {"again": true, "hard": true}
              run:stepped 3 work -[round, used up, route 1]-> end done
              run:completed null
              = completed
        "#]],
    );
    check(
        &example,
        "begin; give {\"again\": true}",
        "give {\"again\": true}",
        expect![[r#"
        > give {"again": true}
          run:failed MAX_ITERATIONS_EXCEEDED: run 1 gave up: edge `round` reached its iteration limit
          = failed MAX_ITERATIONS_EXCEEDED
    "#]],
    );
}

#[test]
fn a_run_can_be_over_when_it_begins() {
    let end = |rest: &str| {
        let toml = format!("name = \"end\"\nstart = \"done\"\n[nodes.done]\nkind = \"end\"\n{rest}");
        small(&toml, &plain_state(), &[])
    };
    check(
        &end(""),
        "",
        "begin; pause; resume; stop; stopped",
        expect![[r#"
        > begin
          run:created level 1, step 1: end done
          run:completed null
          = completed
        > pause
          refused RUN_INVALID_TRANSITION: run 1 cannot pause: it is completed
        > resume
          refused RUN_INVALID_TRANSITION: run 1 cannot resume: it is completed
        > stop
          refused RUN_INVALID_TRANSITION: run 1 cannot stop: it is completed
        > stopped
          = nothing; completed
    "#]],
    );
    check(
        &end("result = \"{'n': count + 1}\""),
        "",
        "begin",
        expect![[r#"
        > begin
          run:created level 1, step 1: end done
          run:completed {"n":1}
          = completed
    "#]],
    );
    check(
        &end(""),
        "",
        "begin child",
        expect![[r#"
        > begin child
          run:created level 1, step 1: end done
          run:completed {"count":0,"note":"","list":[]}
          ! tell_parent 9 this
          = completed
    "#]],
    );
    check(
        &end("status = \"failed\"\nreason = \"'because'\""),
        "",
        "begin child",
        expect![[r#"
        > begin child
          run:created level 1, step 1: end done
          run:failed RUN_FAILED: run 1 ended at node `done`: because
          ! tell_parent 9 this
          = failed RUN_FAILED
    "#]],
    );
    check(
        &end("result = \"count + 'a'\""),
        "",
        "begin",
        expect![[r#"
            > begin
              refused VALIDATION_ERROR: the command is invalid: `workflow` cannot begin: node `done`: `count + 'a'` could not be evaluated: The right side of the "+" operator must evaluate to a number
        "#]],
    );
}
