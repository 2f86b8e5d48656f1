//! Faults of form beside all others: what cannot be read hides nothing, and gives no faults of its own.

use expect_test::expect;

use crate::{WORK, check_all};

#[test]
fn a_bad_expression_hides_no_other_fault() {
    check_all(
        r#"nodes.work = { kind = "agent", role = "worker" }
nodes.test = { kind = "agent", role = "worker" }
nodes.lone = { kind = "agent", role = "worker" }
nodes.done = { kind = "end" }
edges = [
  { id = "x", from = "work", to = "test", when = "index =" },
  { id = "y", from = "work", to = "test", when = "indx = 1", set = { zz = "1" } },
  { id = "back", from = "test", to = "work" },
  { id = "lost", from = "lone", to = "nowhere" },
]
"#,
        &[],
        expect![[r#"
            1:7 error[no-way-to-end]: no path leads from `work`, `test` to an end
                add a node of kind `end` and an edge to it
            3:7 error[unreachable-node]: `lone` cannot be reached from the start
                add an edge to it, or remove it
            4:7 error[unreachable-node]: `done` cannot be reached from the start
                add an edge to it, or remove it
            6:58 error[bad-expression]: the expression cannot be read: Unexpected end of expression (S0207)
            7:51 error[unknown-field]: the state has no field `indx`
                did you mean `index`?
            7:70 error[set-outside-schema]: `zz` is outside the schema of the state: the state has no field `zz`
                add it to the schema of the state
            8:10 error[loop-without-cap]: the loop work → test → work has no cap (by `y`, `back`)
                add `maxIterations` and an `exhausted` route to one of its edges
            9:38 error[unknown-node]: there is no node `nowhere`
        "#]],
    );
}

#[test]
fn what_a_bad_expression_says_is_left_open() {
    // It may be what ends the loop, what holds where nothing else does, and what uses the name.
    check_all(
        r#"bind = { task = "tasks[index]" }
nodes.work = { kind = "agent", role = "worker", set = { tries = "tries +" } }
nodes.done = { kind = "end" }
edges = [
  { id = "a", from = "work", to = "work", when = "tries < 3" },
  { id = "b", from = "work", to = "work", when = "index <", set = { index = "index + 1" } },
  { id = "c", from = "work", to = "work", when = "output.ok = true", maxIterations = 2, scope = "$task.", exhausted = [{ to = "done", when = "(" }] },
  { id = "d", from = "work", to = "done", when = "tries >= 3" },
]
"#,
        &[],
        expect![[r#"
            2:73 error[bad-expression]: the expression cannot be read: Unexpected end of expression (S0207)
            6:58 error[bad-expression]: the expression cannot be read: Unexpected end of expression (S0207)
            7:104 error[bad-expression]: the expression cannot be read: Unexpected end of expression (S0207)
            7:144 error[bad-expression]: the expression cannot be read: Expected ")" before end of expression (S0203)
        "#]],
    );
    check_all(
        &format!(
            "{WORK}{}",
            r#"edges = [
  { id = "a", from = "work", to = "work", when = "index < 3", set = { "index[" = "index + 1" } },
  { id = "b", from = "work", to = "done", when = "index >= 3", set = { "tasks[+].status" = "'odd'", title = 5 } },
]
"#
        ),
        &[],
        expect![[r#"
            4:77 error[bad-place]: the `[` is not closed
                a place is a path such as `tasks[currentTaskIndex].status`, or a list and `[+]` to add to it
            5:79 error[bad-expression]: the expression cannot be read: The symbol "+" cannot be used as a unary operator (S0211)
            5:93 error[set-does-not-fit]: "odd" does not fit `tasks[+].status`
                the schema of the state says what is allowed there
            5:109 error[wrong-type]: `title` of edge `b` must be an expression in quotes, but is `5`
                write `title = "5"`
        "#]],
    );
}

#[test]
fn a_part_that_cannot_be_read_says_nothing_of_the_others() {
    // A cap of the wrong type, and a node of no kind.
    check_all(
        &format!(
            "{WORK}{}",
            r#"nodes.odd = { kind = "robot", set = { nothing = "1" } }
edges = [
  { id = "a", from = "work", to = "work", when = "output.ok = true", maxIterations = "3" },
  { id = "b", from = "work", to = "odd", when = "output.okay = false" },
  { id = "c", from = "odd", to = "done", when = "output.anything = 1" },
]
"#
        ),
        &[],
        expect![[r#"
            3:22 error[unknown-kind]: there is no kind of node called `robot`
                the kinds are `agent`, `map`, `approval`, `check`, `parallel`, `pass` and `end`
            3:39 error[set-outside-schema]: `nothing` is outside the schema of the state: the state has no field `nothing`
                add it to the schema of the state
            5:86 error[wrong-type]: `maxIterations` of edge `a` must be a whole number from 1, but is a text
            6:57 error[unknown-field]: `output` has no field `okay`
                did you mean `ok`?
        "#]],
    );
    // An edge of which nobody can say where it leads.
    check_all(
        &format!(
            "{WORK}{}",
            r#"nodes.test = { kind = "agent", role = "worker" }
edges = [{ id = "a", from = "work" }, { id = "b", from = "test", to = "work", set = { nothing = "1" } }]
"#
        ),
        &[],
        expect![[r#"
            4:1 error[missing-key]: edge `a` has no `to`
                add `to = …`
            4:87 error[set-outside-schema]: `nothing` is outside the schema of the state: the state has no field `nothing`
                add it to the schema of the state
        "#]],
    );
}

#[test]
fn a_broken_schema_hides_no_unknown_name() {
    let text = format!(
        "{WORK}{}",
        r#"edges = [
  { id = "a", from = "work", to = "wrok", when = "anything = 1 and output.okay = true" },
  { id = "b", from = "work", to = "done", when = "output.ok = true", set = { anything = "1" } },
]
"#
    );
    check_all(
        &text,
        &[("state.schema.json", "{ \"type\": 3 }")],
        expect![[r#"
            state.schema.json error[bad-schema]: this is not a schema: 3 is not one of ["array","boolean","integer","null","number","object","string"]
            4:35 error[unknown-node]: there is no node `wrok`
                did you mean `work`?
            4:75 error[unknown-field]: `output` has no field `okay`
                did you mean `ok`?
        "#]],
    );
    check_all(
        &text,
        &[("roles/worker.output.json", "{"), ("roles/worker.md", "{{ odd")],
        expect![[r#"
        roles/worker.md error[bad-template]: the prompt cannot be read: unexpected end of input, expected end of variable block
        roles/worker.output.json error[bad-json]: the file is not JSON: EOF while parsing an object at line 1 column 1
        4:35 error[unknown-node]: there is no node `wrok`
            did you mean `work`?
        4:51 error[unknown-field]: the state has no field `anything`
            add it to the schema of the state, or write a text in quotes
        5:78 error[set-outside-schema]: `anything` is outside the schema of the state: the state has no field `anything`
            add it to the schema of the state
    "#]],
    );
}

#[test]
fn a_child_is_checked_when_its_parent_cannot_be_read() {
    let child =
        "name = \"child\"\nstart = \"work\"\nnodes.work = { kind = \"approval\", question = \"title\" }\n";
    let others = [
        ("children/part/workflow.toml", child),
        ("children/part/state.schema.json", r#"{ "type": "object" }"#),
    ];
    check_all(
        "nodes = ",
        &others,
        expect![[r#"
        children/part/workflow.toml error[dead-end]: `work` cannot be left: it has no outgoing edge and is not an end
            add an edge from it, or make its kind `end`
        1:9 error[bad-toml]: the file cannot be read: string values must be quoted, expected literal string
    "#]],
    );
}

#[test]
fn a_broken_table_hides_no_broken_schema() {
    check_all(
        "nodes.work = nothing\n",
        &[("state.schema.json", "{ \"type\": \n"), ("input.schema.json", "[1")],
        expect![[r#"
            input.schema.json error[bad-json]: the file is not JSON: EOF while parsing a list at line 1 column 2
            state.schema.json error[bad-json]: the file is not JSON: EOF while parsing a value at line 2 column 0
            1:14 error[bad-toml]: the file cannot be read: invalid float, expected `nan`
        "#]],
    );
}
