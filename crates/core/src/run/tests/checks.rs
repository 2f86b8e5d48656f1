//! A `check` node: what the project's checks said is its output, and any output fits.

use super::check;
use super::workflows::{plain_state, small};
use expect_test::expect;

#[test]
fn what_the_checks_said_chooses_the_edge() {
    let example = small(
        r#"name = "checked"
start = "test"

[board]
items = "[{'id': 'T'}]"
key = "id"

[nodes.test]
kind = "check"
task = "'T'"
set = { note = "output.results[0].name" }

[nodes.repair]
kind = "agent"
role = "worker"
task = "'T'"

[nodes.done]
kind = "end"

[[edges]]
id = "good"
from = "test"
to = "done"
when = "output.passed"

[[edges]]
id = "bad"
from = "test"
to = "repair"
maxIterations = 1

[[edges]]
id = "again"
from = "repair"
to = "test"
"#,
        &plain_state(),
        &[],
    );
    check(
        &example,
        "",
        r#"begin board; publish T=3; give {"passed": false, "results": [{"name": "lint"}]}; state note
           fail CHECKS_FAILED; resume; give "repaired"; give {"passed": true}"#,
        expect![[r#"
            > begin board
              run:created level 1, step 1: perform test T
              ! publish_items step 1
              = running, step 1 test T: publishing
            > publish T=3
              run:published 1 {"T":3}
              ! perform_node step 1 for #3
              = running, step 1 test T: performing
            > give {"passed": false, "results": [{"name": "lint"}]}
              run:stepped 1 test -[bad]-> perform repair T
              ! perform_node step 2 for #3
              = running, step 2 repair T: performing
            > state note
              note = "lint"
            > fail CHECKS_FAILED
              run:held 2 CHECKS_FAILED
              = paused, step 2 repair T: performing, not asked, held by an error
            > resume
              run:resumed
              ! perform_node step 2 for #3
              = running, step 2 repair T: performing
            > give "repaired"
              run:stepped 2 repair -[again]-> perform test T
              ! perform_node step 3 for #3
              = running, step 3 test T: performing
            > give {"passed": true}
              run:stepped 3 test -[good]-> end done
              run:completed null
              ! release_task #3
              = completed
        "#]],
    );
    check(
        &example,
        "begin",
        r#"give {"passed": false}; give 1; give {"passed": "true"}"#,
        expect![[r#"
        > give {"passed": false}
          run:stepped 1 test -[bad]-> perform repair T
          ! perform_node step 2
          = running, step 2 repair T: performing
        > give 1
          run:stepped 2 repair -[again]-> perform test T
          ! perform_node step 3
          = running, step 3 test T: performing
        > give {"passed": "true"}
          run:failed MAX_ITERATIONS_EXCEEDED: run 1 gave up: edge `bad` reached its iteration limit
          = failed MAX_ITERATIONS_EXCEEDED
    "#]],
    );
}
