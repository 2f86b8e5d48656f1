//! The tables of `workflow.toml`: keys, types, kinds, names.

use expect_test::expect;

use super::loading::{check, check_added, check_toml};

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
            workflow.toml:7:1: error[unknown-key]: agent node `work` has no key `colour` (its keys are `kind`, `title`, `role`, `prompt`, `input`, `task`, `writes`, `findings` and `set`)
              | colour
        "#]],
    );
    check_toml(
        "kind = \"end\"",
        "kind = \"end\"\nrole = \"worker\"",
        expect![[r#"
            workflow.toml:11:1: error[unknown-key]: end node `done` has no key `role` (its keys are `kind`, `title`, `status`, `reason` and `result`)
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
            workflow.toml:18:1: error[unknown-key]: a route of edge `finish` has no key `when` (its keys are `to`, `set`, `send`, `fail` and `drop`)
              | when
        "#]],
    );
    check_added(
        "[[edges.exhausted]]\nto = \"work\"\nsubmit = \"'a'\"\n",
        expect![[r#"
            workflow.toml:18:1: error[unknown-key]: a route of edge `finish` has no key `submit` (its keys are `to`, `when`, `set`, `send`, `fail` and `drop`)
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
            workflow.toml:13:1: error[unknown-key]: the edge has no key `til` (did you mean `title`?)
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
        workflow.toml:1:8: error[wrong-type]: `name` of the workflow must be a text, but is `3`
          | 3
    "#]],
    );
    check_toml(
        "input = { goal = \"input.goal\" }",
        "input = \"input.goal\"",
        expect![[r#"
        workflow.toml:7:9: error[wrong-type]: `input` of agent node `work` must be a table, but is a text
          | "input.goal"
    "#]],
    );
    check_toml(
        "role = \"worker\"",
        "role = \"worker\"\nset = { count = 1, items.x = \"1\" }",
        expect![[r#"
        workflow.toml:7:17: error[wrong-type]: `count` of agent node `work` must be an expression in quotes, but is `1` (write `count = "1"`)
          | 1
        workflow.toml:7:20: error[wrong-type]: `items` of agent node `work` must be an expression in quotes, but is a table (write a place in quotes, such as `"items.field" = …`)
          | items
    "#]],
    );
    check_added(
        "maxIterations = 0\n",
        expect![[r#"
        workflow.toml:16:17: error[wrong-type]: `maxIterations` of edge `finish` must be a whole number from 1, but is `0`
          | 0
    "#]],
    );
    check_added(
        "maxIterations = \"3\"\nlevels = [1, \"2\"]\noverrides = \"finish\"\n",
        expect![[r#"
        workflow.toml:16:17: error[wrong-type]: `maxIterations` of edge `finish` must be a whole number from 1, but is a text
          | "3"
        workflow.toml:17:14: error[wrong-type]: `levels` of edge `finish` must be a list of whole numbers from 1, but is a text
          | "2"
        workflow.toml:18:13: error[wrong-type]: `overrides` of edge `finish` must be a list of the ids of edges, but is a text
          | "finish"
    "#]],
    );
    check_added(
        "when = true\n",
        expect![[r#"
        workflow.toml:16:8: error[wrong-type]: `when` of edge `finish` must be an expression in quotes, but is `true` (write `when = "true"`)
          | true
    "#]],
    );
    check_toml(
        "[[edges]]",
        "[edges]",
        expect![[r#"
        workflow.toml:12:1: error[wrong-type]: `edges` of the workflow must be an array of tables, but is a table
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
            workflow.toml:5:8: error[unknown-kind]: there is no kind of node called `loop` (the kinds are `agent`, `map`, `approval`, `check`, `parallel`, `pass` and `end`)
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
        workflow.toml:9:8: error[bad-name]: `all done` is not a valid name (use letters, digits, `_` and `-`, starting with a letter, at most 64 characters)
          | "all done"
    "#]],
    );
    check_toml(
        "id = \"finish\"",
        "id = \"1st\"",
        expect![[r#"
        workflow.toml:13:6: error[bad-name]: `1st` is not a valid name (use letters, digits, `_` and `-`, starting with a letter, at most 64 characters)
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
        workflow.toml:17:6: error[duplicate-id]: another edge is called `finish` (give it a unique id)
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
        workflow.toml:17:1: error[bad-name]: `count` cannot be the name of a variable (use letters, digits and `_`, starting with a letter; it must not be a JSONata function)
          | count
        workflow.toml:18:1: error[bad-name]: `a b` cannot be the name of a variable (use letters, digits and `_`, starting with a letter; it must not be a JSONata function)
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
