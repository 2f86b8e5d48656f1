//! Faults of form: one table, text in, text out.

use expect_test::{Expect, expect};
use regatta_flow::{FILE_BYTES_MAX, Folder, Workflow};

use crate::folders::{SMALL, SMALL_STATE, small};

/// Loads the small workflow with some files replaced; an empty text takes the file away.
fn check(files: &[(&str, &str)], expected: Expect) {
    let mut folder = small();
    for (name, text) in files {
        match *text {
            "" => drop(folder.remove(*name)),
            text => drop(folder.insert((*name).to_owned(), text.to_owned())),
        }
    }
    let told = match Workflow::load(&Folder::new(folder)) {
        Ok(workflow) => format!("{} loads\n", workflow.name),
        Err(faults) => faults.iter().map(|fault| format!("{fault}\n  | {}\n", fault.excerpt)).collect(),
    };
    expected.assert_eq(&told);
}

/// Loads the small workflow with a part of `workflow.toml` replaced.
fn check_toml(old: &str, new: &str, expected: Expect) {
    assert!(SMALL.contains(old), "{old}");
    check(&[("workflow.toml", &SMALL.replacen(old, new, 1))], expected);
}

/// Loads the small workflow with something added to `workflow.toml`.
fn check_added(added: &str, expected: Expect) {
    check(&[("workflow.toml", &format!("{SMALL}{added}"))], expected);
}

#[test]
fn the_small_workflow_is_fit() {
    check(
        &[],
        expect![[r#"
        small loads
    "#]],
    );
}

#[test]
fn keys() {
    check_toml(
        "start =",
        "strat = \"work\"\nstart =",
        expect![[r#"
        workflow.toml:2:1: error[unknown-key]: the workflow has no key `strat` (did you mean `start`?)
          | strat
    "#]],
    );
    check_toml(
        "role = \"worker\"",
        "role = \"worker\"\ncolour = \"red\"",
        expect![[r#"
        workflow.toml:7:1: error[unknown-key]: agent node `work` has no key `colour` (its keys are `kind`, `role`, `input`, `task` and `set`)
          | colour
    "#]],
    );
    check_toml(
        "kind = \"end\"",
        "kind = \"end\"\nrole = \"worker\"",
        expect![[r#"
        workflow.toml:11:1: error[unknown-key]: end node `done` has no key `role` (its keys are `kind`, `status`, `reason` and `result`)
          | role
    "#]],
    );
    check_added(
        "maxIteration = 3\n",
        expect![[r#"
        workflow.toml:16:1: error[unknown-key]: edge `finish` has no key `maxIteration` (did you mean `maxIterations`?)
          | maxIteration
    "#]],
    );
    check_added(
        "[edges.rejected]\nto = \"work\"\nwhen = \"true\"\n",
        expect![[r#"
        workflow.toml:18:1: error[unknown-key]: a route of edge `finish` has no key `when` (its keys are `to`, `set` and `fail`)
          | when
    "#]],
    );
    check_added(
        "[[edges.exhausted]]\nto = \"work\"\nsubmit = \"'a'\"\n",
        expect![[r#"
        workflow.toml:18:1: error[unknown-key]: a route of edge `finish` has no key `submit` (its keys are `to`, `when`, `set` and `fail`)
          | submit
    "#]],
    );
    check_added(
        "[levels.1]\nfield = []\n",
        expect![[r#"
        workflow.toml:17:1: error[unknown-key]: level 1 has no key `field` (did you mean `fields`?)
          | field
    "#]],
    );
    check_added(
        "[board]\nitems = \"items\"\nkey = \"id\"\ntitel = \"title\"\n",
        expect![[r#"
        workflow.toml:19:1: error[unknown-key]: the board has no key `titel` (did you mean `title`?)
          | titel
    "#]],
    );
    check_toml(
        "name = \"small\"\nstart = \"work\"",
        "",
        expect![[r#"
        workflow.toml:1:1: error[missing-key]: the workflow has no `name` (add `name = …`)
          | 
        workflow.toml:1:1: error[missing-key]: the workflow has no `start` (add `start = …`)
          | 
    "#]],
    );
    check_toml(
        "id = \"finish\"\nfrom = \"work\"\nto",
        "til",
        expect![[r#"
        workflow.toml:12:1: error[missing-key]: the edge has no `id` (add `id = …`)
          | [[edges]]
        workflow.toml:12:1: error[missing-key]: the edge has no `from` (add `from = …`)
          | [[edges]]
        workflow.toml:12:1: error[missing-key]: the edge has no `to` (add `to = …`)
          | [[edges]]
        workflow.toml:13:1: error[unknown-key]: the edge has no key `til` (did you mean `fail`?)
          | til
    "#]],
    );
    check_added(
        "[board]\n",
        expect![[r#"
        workflow.toml:16:2: error[missing-key]: the board has no `items` (add `items = …`)
          | board
        workflow.toml:16:2: error[missing-key]: the board has no `key` (add `key = …`)
          | board
    "#]],
    );
}

#[test]
fn types() {
    check_toml(
        "name = \"small\"",
        "name = 3",
        expect![[r#"
        workflow.toml:1:8: error[wrong-type]: `name` of the workflow must be a text, and is `3`
          | 3
    "#]],
    );
    check_toml(
        "input = { goal = \"input.goal\" }",
        "input = \"input.goal\"",
        expect![[r#"
        workflow.toml:7:9: error[wrong-type]: `input` of agent node `work` must be a table, and is a text
          | "input.goal"
    "#]],
    );
    check_toml(
        "role = \"worker\"",
        "role = \"worker\"\nset = { count = 1, items.x = \"1\" }",
        expect![[r#"
        workflow.toml:7:17: error[wrong-type]: `count` of agent node `work` must be an expression in quotes, and is `1` (write `count = "1"`)
          | 1
        workflow.toml:7:20: error[wrong-type]: `items` of agent node `work` must be an expression in quotes, and is a table (write a place in quotes, such as `"items.field" = …`)
          | items
    "#]],
    );
    check_added(
        "maxIterations = 0\n",
        expect![[r#"
        workflow.toml:16:17: error[wrong-type]: `maxIterations` of edge `finish` must be a whole number from 1, and is `0`
          | 0
    "#]],
    );
    check_added(
        "maxIterations = \"3\"\nlevels = [1, \"2\"]\noverrides = \"finish\"\n",
        expect![[r#"
        workflow.toml:16:17: error[wrong-type]: `maxIterations` of edge `finish` must be a whole number from 1, and is a text
          | "3"
        workflow.toml:17:14: error[wrong-type]: `levels` of edge `finish` must be a list of whole numbers from 1, and is a text
          | "2"
        workflow.toml:18:13: error[wrong-type]: `overrides` of edge `finish` must be a list of the ids of edges, and is a text
          | "finish"
    "#]],
    );
    check_added(
        "when = true\n",
        expect![[r#"
        workflow.toml:16:8: error[wrong-type]: `when` of edge `finish` must be an expression in quotes, and is `true` (write `when = "true"`)
          | true
    "#]],
    );
    check_toml(
        "[[edges]]",
        "[edges]",
        expect![[r#"
        workflow.toml:12:1: error[wrong-type]: `edges` of the workflow must be an array of tables, and is a table
          | [edges]
    "#]],
    );
    check_added(
        "[levels]\n1 = true\n",
        expect![[r#"
        workflow.toml:17:5: error[wrong-type]: level 1 must be a table
          | true
    "#]],
    );
    check_toml(
        "[nodes.done]\nkind = \"end\"",
        "[nodes]\ndone = 1",
        expect![[r#"
        workflow.toml:10:8: error[wrong-type]: node `done` must be a table
          | 1
    "#]],
    );
}

#[test]
fn kinds_and_names() {
    check_toml(
        "kind = \"agent\"",
        "kind = \"agnet\"",
        expect![[r#"
        workflow.toml:5:8: error[unknown-kind]: there is no kind of node called `agnet` (did you mean `agent`?)
          | "agnet"
    "#]],
    );
    check_toml(
        "kind = \"agent\"",
        "kind = \"loop\"",
        expect![[r#"
        workflow.toml:5:8: error[unknown-kind]: there is no kind of node called `loop` (the kinds are `agent`, `map`, `approval`, `check` and `end`)
          | "loop"
    "#]],
    );
    check_toml(
        "kind = \"agent\"\n",
        "",
        expect![[r#"
        workflow.toml:4:8: error[missing-key]: node `work` has no `kind` (add `kind = …`)
          | work
    "#]],
    );
    check_toml(
        "[nodes.done]",
        "[nodes.\"all done\"]",
        expect![[r#"
        workflow.toml:9:8: error[bad-name]: `all done` is no name (a name has letters, digits, `_` and `-`, begins with a letter, and at most 64 characters)
          | "all done"
    "#]],
    );
    check_toml(
        "id = \"finish\"",
        "id = \"1st\"",
        expect![[r#"
        workflow.toml:13:6: error[bad-name]: `1st` is no name (a name has letters, digits, `_` and `-`, begins with a letter, and at most 64 characters)
          | "1st"
    "#]],
    );
    check_toml(
        "kind = \"end\"",
        "kind = \"end\"\nstatus = \"ok\"",
        expect![[r#"
        workflow.toml:11:10: error[bad-status]: an end is not `ok` (`status` is `completed` or `failed`)
          | "ok"
    "#]],
    );
    check_added(
        "[[edges]]\nid = \"finish\"\nfrom = \"work\"\nto = \"done\"\n",
        expect![[r#"
        workflow.toml:17:6: error[duplicate-id]: another edge is called `finish` (give it an id of its own)
          | "finish"
    "#]],
    );
    check_added(
        "[levels.one]\n[levels.0]\n[levels.01]\n",
        expect![[r#"
        workflow.toml:16:9: error[bad-name]: a level is a whole number from 1, not `one`
          | one
        workflow.toml:17:9: error[bad-name]: a level is a whole number from 1, not `0`
          | 0
        workflow.toml:18:9: error[bad-name]: a level is a whole number from 1, not `01`
          | 01
    "#]],
    );
    check_added(
        "[bind]\ncount = \"count\"\n\"a b\" = \"count\"\n",
        expect![[r#"
        workflow.toml:17:1: error[bad-name]: `count` cannot be the name of a variable (a variable has letters, digits and `_`, begins with a letter, and is no function of JSONata)
          | count
        workflow.toml:18:1: error[bad-name]: `a b` cannot be the name of a variable (a variable has letters, digits and `_`, begins with a letter, and is no function of JSONata)
          | "a b"
    "#]],
    );
}

#[test]
fn toml_and_duplicates() {
    check(
        &[("workflow.toml", "name = \"a\nstart = \"b\"\n")],
        expect![[r#"
        workflow.toml:1:10: error[bad-toml]: the file cannot be read: invalid basic string, expected `"`
          | 
    "#]],
    );
    check_added(
        "[nodes.done]\nkind = \"end\"\n",
        expect![[r#"
        workflow.toml:16:8: error[bad-toml]: the file cannot be read: duplicate key
          | done
        workflow.toml:17:1: error[bad-toml]: the file cannot be read: duplicate key
          | kind
    "#]],
    );
    check(
        &[("workflow.toml", "")],
        expect![[r#"
        workflow.toml:1:1: error[missing-file]: there is no file `workflow.toml`
          | 
    "#]],
    );
}

#[test]
fn expressions() {
    check_added(
        "when = \"count = \"\n",
        expect![[r#"
        workflow.toml:16:17: error[bad-expression]: the expression cannot be read: Unexpected end of expression (S0207)
          | 
    "#]],
    );
    check_added(
        "when = 'a.b ( c'\n",
        expect![[r#"
        workflow.toml:16:16: error[bad-expression]: the expression cannot be read: Expected ")" before end of expression (S0203)
          | 
    "#]],
    );
    check_added(
        "when = \"\"\"\n  count =\n    1 1\"\"\"\n",
        expect![[r#"
        workflow.toml:18:7: error[bad-expression]: the expression cannot be read: Syntax error: 1.0 (S0201)
          | 1
    "#]],
    );
    check_added(
        "when = \"count = \\\"a\\\" \\\"\"\n",
        expect![[r#"
        workflow.toml:16:8: error[bad-expression]: the expression cannot be read: String literal must be terminated by a matching quote (S0101)
          | "count = \"a\" \""
    "#]],
    );
    check_toml(
        "goal = \"input.goal\"",
        "goal = \"input.(\"",
        expect![[r#"
        workflow.toml:7:26: error[bad-expression]: the expression cannot be read: Expected ")" before end of expression (S0203)
          | 
    "#]],
    );
    check_added(
        "[bind]\nitem = \"items[$other]\"\nother = \"count\"\n",
        expect![[r#"
        workflow.toml:17:15: error[unknown-variable]: nothing is called `$other` (give a place that name under `[bind]`; inside a place of `[bind]` there are no variables)
          | $other
    "#]],
    );
    check_added(
        "when = \"$itme = 1 and $sum(items) = $x\"\n[bind]\nitem = \"items[0]\"\n",
        expect![[r#"
            workflow.toml:16:9: error[unknown-variable]: nothing is called `$itme` (did you mean `$item`?)
              | $itme
            workflow.toml:16:37: error[unknown-variable]: nothing is called `$x` (give a place that name under `[bind]`; inside a place of `[bind]` there are no variables)
              | $x
        "#]],
    );
    check_added(
        "when = \"($x := 1; $map(items, function($v) { $v + $x }))\"\n",
        expect![[r#"
        small loads
    "#]],
    );
}

#[test]
fn places() {
    check_added(
        "[edges.set]\n\"items[count\" = \"1\"\n",
        expect![[r#"
        workflow.toml:17:7: error[bad-place]: the `[` is not closed (a place is a path such as `tasks[currentTaskIndex].status`)
          | [count
    "#]],
    );
    check_added(
        "[edges.set]\n\"items[count +]\" = \"1\"\n",
        expect![[r#"
        workflow.toml:17:15: error[bad-expression]: the expression cannot be read: Unexpected end of expression (S0207)
          | 
    "#]],
    );
    check_added(
        "[edges.set]\n\"items count\" = \"1\"\n",
        expect![[r#"
        workflow.toml:17:7: error[bad-place]: `.` or `[` is expected here (a place is a path such as `tasks[currentTaskIndex].status`)
          |  count
    "#]],
    );
    check_added(
        "[edges.set]\n\"output.x\" = \"1\"\n",
        expect![[r#"
        workflow.toml:17:2: error[bad-place]: `output` is not a part of the state and cannot be set or named
          | output
    "#]],
    );
    check_added(
        "[bind]\nwhole = \"input\"\n",
        expect![[r#"
        workflow.toml:17:10: error[bad-place]: `input` is not a part of the state and cannot be set or named
          | input
    "#]],
    );
}

#[test]
fn schemas() {
    check(
        &[("state.schema.json", "")],
        expect![[r#"
        workflow.toml:1:1: error[missing-file]: there is no file `state.schema.json`
          | name = "small"
    "#]],
    );
    check(
        &[("state.schema.json", "{ \"type\": \"object\", }\n")],
        expect![[r#"
        state.schema.json:1:21: error[bad-json]: the file is not JSON: trailing comma at line 1 column 21
          | }
    "#]],
    );
    check(
        &[("state.schema.json", "{ \"\\u0024serde_json::private::RawValue\": \"{}\" }\n")],
        expect![[r#"
            state.schema.json:1:1: error[bad-json]: the file is not JSON: the key `$serde_json::private::RawValue` is reserved
              | {
        "#]],
    );
    check(
        &[(
            "state.schema.json",
            &SMALL_STATE.replace("integer", "integr").replace("[]", "3, \"minItems\": -1"),
        )],
        expect![[r#"
            state.schema.json:4:16: error[bad-schema]: this is not a schema: "integr" is not one of ["array","boolean","integer","null","number","object","string"]
              | "type": "integr"
            state.schema.json:5:78: error[bad-schema]: this is not a schema: -1 is less than the minimum of 0
              | "minItems": -1
        "#]],
    );
    check(
        &[("state.schema.json", &SMALL_STATE.replace("count", "output"))],
        expect![[r#"
        state.schema.json:4:5: error[reserved-name]: a field of the state cannot be called `output`: expressions see something else by that name (rename the field)
          | "output": { "type": "integer", "default": 0 }
    "#]],
    );
    check(
        &[("state.schema.json", "{ \"type\": \"array\" }\n")],
        expect![[r#"
        state.schema.json:1:3: error[state-not-object]: a state is an object (write `"type": "object"`)
          | "type": "array"
    "#]],
    );
    check(
        &[("state.schema.json", &SMALL_STATE.replace("\"default\": 0", "\"default\": 0.5"))],
        expect![[r#"
        state.schema.json:4:5: error[bad-defaults]: the defaults do not make a state that fits: count: 0.5 is not of type "integer" (every field that is required needs a `default` that fits)
          | "count": { "type": "integer", "default": 0.5 }
    "#]],
    );
    check(
        &[(
            "state.schema.json",
            &SMALL_STATE.replace("\"properties\"", "\"required\": [\"x\"],\n  \"properties\""),
        )],
        expect![[r#"
            state.schema.json:3:3: error[bad-defaults]: the defaults do not make a state that fits: "x" is a required property (every field that is required needs a `default` that fits)
              | "required": ["x"]
        "#]],
    );
    check(
        &[("state.schema.json", &SMALL_STATE.replace("\"type\": \"string\"", "\"$ref\": \"#/$defs/x\""))],
        expect![[r##"
        state.schema.json:5:44: error[bad-schema]: this is not a schema: Pointer '/$defs/x' does not exist
          | "$ref": "#/$defs/x"
    "##]],
    );
    check(
        &[(
            "state.schema.json",
            &SMALL_STATE.replace("\"type\": \"string\"", "\"$ref\": \"https://example.org/x\""),
        )],
        expect![[r#"
            state.schema.json:5:44: error[bad-schema]: this is not a schema: Resource 'https://example.org/x' is not present in a registry and retrieving it failed: Retrieval is disabled, cannot fetch https://example.org/x
              | "$ref": "https://example.org/x"
        "#]],
    );
    check(
        &[("input.schema.json", "[]\n")],
        expect![[r#"
        input.schema.json:1:1: error[bad-schema]: this is not a schema: the value is not of types "boolean", "object"
          | []
    "#]],
    );
    check_toml(
        "start =",
        "input = \"in.json\"\nstate = \"st.json\"\nstart =",
        expect![[r#"
        workflow.toml:2:9: error[missing-file]: there is no file `in.json`
          | "in.json"
        workflow.toml:3:9: error[missing-file]: there is no file `st.json`
          | "st.json"
    "#]],
    );
    check(
        &[("roles/worker.output.json", "{ \"pattern\": \"(\" }\n")],
        expect![[r#"
        roles/worker.output.json:1:3: error[bad-schema]: this is not a schema: "(" is not a "regex"
          | "pattern": "("
    "#]],
    );
}

#[test]
fn roles() {
    check(
        &[("roles/worker.md", "Do {{ goal }.\n")],
        expect![[r#"
        roles/worker.md:1:1: error[bad-template]: the prompt cannot be read: unexpected `}`, expected end of variable block
          | Do {{ goal }.
    "#]],
    );
    check(
        &[("roles/worker.md", "Do\n{% for x in goal %}\n{{ x }}\n")],
        expect![[r#"
        roles/worker.md:3:1: error[bad-template]: the prompt cannot be read: unexpected end of input, expected end of block
          | {{ x }}
    "#]],
    );
    check(
        &[("roles/worker.md", "The gaol:\n{{ range(3) }} {{ goal }} {{ gaol.x }}\n")],
        expect![[r#"
        roles/worker.md:2:30: error[unknown-input]: no node gives the prompt of role `worker` an input called `gaol` (did you mean `goal`?)
          | gaol
    "#]],
    );
    check(
        &[("roles/worker.output.json", "")],
        expect![[r#"
        roles/worker.md:1:1: error[missing-file]: there is no file `roles/worker.output.json`
          | Do {{ goal }}.
    "#]],
    );
    check(
        &[("roles/worker.md", "")],
        expect![[r#"
        roles/worker.output.json:1:1: error[missing-file]: role `worker` has no prompt: there is no file `roles/worker.md`
          | 
    "#]],
    );
    check(
        &[("roles/a b.md", "x\n")],
        expect![[r#"
        roles/a b.md:1:1: error[bad-name]: `a b` is no name for a role
          | x
    "#]],
    );
}

#[test]
fn children_and_sizes() {
    check(
        &[("children/part/workflow.toml", "name = \"part\"\nstart = 1\n")],
        expect![[r#"
        children/part/workflow.toml:1:1: error[missing-file]: there is no file `children/part/state.schema.json`
          | name = "part"
        children/part/workflow.toml:1:1: error[missing-key]: the workflow has no `nodes` (add `nodes = …`)
          | name = "part"
        children/part/workflow.toml:2:9: error[wrong-type]: `start` of the workflow must be a text, and is `1`
          | 1
    "#]],
    );
    check(
        &[("children/a b/workflow.toml", SMALL)],
        expect![[r#"
        workflow.toml:1:1: error[bad-name]: `a b` is no name for a child
          | 
    "#]],
    );
    check(
        &[("children/a/children/b/children/c/children/d/children/e/workflow.toml", SMALL)],
        expect![[r#"
        children/a/children/b/children/c/children/d/workflow.toml:1:1: error[missing-file]: there is no file `children/a/children/b/children/c/children/d/workflow.toml`
          | 
        children/a/children/b/children/c/children/d/workflow.toml:1:1: error[too-deep]: `children/a/children/b/children/c/children/d/children/e/` lies too deep: 4 levels of children are allowed
          | 
        children/a/children/b/children/c/workflow.toml:1:1: error[missing-file]: there is no file `children/a/children/b/children/c/workflow.toml`
          | 
        children/a/children/b/workflow.toml:1:1: error[missing-file]: there is no file `children/a/children/b/workflow.toml`
          | 
        children/a/workflow.toml:1:1: error[missing-file]: there is no file `children/a/workflow.toml`
          | 
    "#]],
    );
    check(
        &[("roles/worker.md", &"x".repeat(FILE_BYTES_MAX + 1))],
        expect![[r#"
        roles/worker.md:1:1: error[too-large]: the file has 262145 bytes, more than 262144
          | 
    "#]],
    );
}

#[test]
fn all_faults_of_all_files_at_once() {
    let toml = SMALL
        .replace("kind = \"end\"", "kind = \"edn\"")
        .replace("to = \"done\"", "to = \"done\"\nwhen = \"a (\"");
    check(
        &[
            ("workflow.toml", &toml),
            ("state.schema.json", "{"),
            ("roles/worker.md", "{{"),
            ("roles/worker.output.json", "3"),
        ],
        expect![[r#"
            roles/worker.md:1:1: error[bad-template]: the prompt cannot be read: unexpected end of input, expected expression
              | {{
            roles/worker.output.json:1:1: error[bad-schema]: this is not a schema: 3 is not of types "boolean", "object"
              | 3
            state.schema.json:1:1: error[bad-json]: the file is not JSON: EOF while parsing an object at line 1 column 1
              | {
            workflow.toml:10:8: error[unknown-kind]: there is no kind of node called `edn` (the kinds are `agent`, `map`, `approval`, `check` and `end`)
              | "edn"
            workflow.toml:16:12: error[bad-expression]: the expression cannot be read: Expected ")" before end of expression (S0203)
              | 
        "#]],
    );
}

#[test]
fn what_a_prompt_calls() {
    check(
        &[("roles/worker.md", "{% if goal is defined %}{{ goal | upper|tojson }}{% endif %}\n{# a|b #}")],
        expect![[r#"
            small loads
        "#]],
    );
    check(
        &[(
            "roles/worker.md",
            "Do\n{{ goal|nofilter }} {{ 1 if goal is odder }}\n{% filter loud %}a|b{% endfilter %}",
        )],
        expect![[r#"
            roles/worker.md:2:9: error[unknown-filter]: a prompt has no filter called `nofilter`
              | nofilter
            roles/worker.md:2:37: error[unknown-test]: a prompt has no test called `odder`
              | odder
            roles/worker.md:3:11: error[unknown-filter]: a prompt has no filter called `loud`
              | loud
        "#]],
    );
}

#[test]
fn files_that_cannot_be_read() {
    let check = |names: &[&str], state: &str, expected: Expect| {
        let mut files = small();
        let main = SMALL.replacen("name = \"small\"", &format!("name = \"small\"\nstate = \"{state}\""), 1);
        files.insert("workflow.toml".to_owned(), main);
        names.iter().for_each(|name| drop(files.remove(*name)));
        let unreadable = names.iter().map(|name| ((*name).to_owned(), "it is a link".to_owned())).collect();
        let folder = Folder::new(files).with_unreadable(unreadable);
        let faults = regatta_flow::check_folder(&folder);
        expected.assert_eq(&faults.iter().map(|fault| format!("{fault}\n")).collect::<String>());
    };
    // What a workflow does not use does not matter.
    check(&["picture.png", "old/workflow.toml"], "state.schema.json", expect![[""]]);
    check(
        &["roles/worker.md", "state.schema.json"],
        "state.schema.json",
        expect![[r#"
        roles/worker.md:1:1: error[unreadable-file]: this cannot be read: it is a link
        state.schema.json:1:1: error[unreadable-file]: this cannot be read: it is a link
    "#]],
    );
    check(
        &["roles"],
        "state.schema.json",
        expect![[r#"
        roles:1:1: error[unreadable-file]: this cannot be read: it is a link
    "#]],
    );
    check(
        &["other.json"],
        "other.json",
        expect![[r#"
        workflow.toml:2:9: error[unreadable-file]: the file `other.json` cannot be read: it is a link
    "#]],
    );
}
