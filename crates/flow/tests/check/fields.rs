//! Fields that no schema knows, places outside the schema, values that do not fit.

use expect_test::expect;

use crate::{WORK, check, check_all, check_with};

#[test]
fn what_is_read_is_described() {
    check(
        r#"nodes.work = { kind = "agent", role = "worker", set = { index = "indx + 1", ok = "output.okay", title = "output.title" } }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "done", when = "mdoe = 'fast'" }, { id = "b", from = "work", to = "done", when = "$exists(last.okk) or $exists(zebra) or open.unheard = 1" }]
"#,
        expect![[r#"
            1:66 error[unknown-field]: the state has no field `indx`
                did you mean `index`?
            1:90 error[unknown-field]: `output` has no field `okay`
                did you mean `ok`?
            3:58 error[unknown-field]: the state has no field `mdoe`
                did you mean `mode`?
            3:137 error[unknown-field]: `last` has no field `okk`
                did you mean `ok`?
            3:153 error[unknown-field]: the state has no field `zebra`
                add it to the schema of the state, or write a text in quotes
            3:168 warning[unknown-field]: the schema does not describe a field `unheard` of `open`
        "#]],
    );
    check(
        r#"nodes.work = { kind = "agent", role = "worker", set = { mode = "'slow'", tasks = "output.tasks", last = "{'ok': output.ok}" } }
nodes.done = { kind = "end" }
edges = [
  { id = "a", from = "work", to = "done", when = "$count(tasks[status = 'pending']) > 0 and last.ok = true and $exists(open.known)", overrides = ["b"] },
  { id = "b", from = "work", to = "done" },
]
"#,
        expect![[""]],
    );
}

#[test]
fn what_a_node_returns_is_known_by_its_kind() {
    check(
        &format!(
            "{WORK}{}",
            r#"nodes.ask = { kind = "approval", question = "'Continue?'" }
nodes.test = { kind = "check", task = "title" }
edges = [
  { id = "a", from = "work", to = "ask" },
  { id = "b", from = "ask", to = "test", when = "output.aproved = true or feedback.txt = 'no'" },
  { id = "c", from = "test", to = "done", when = "output.pased = true" },
]
board = { items = "tasks", key = "id" }
"#
        ),
        expect![[r#"
            7:57 error[unknown-field]: `output` has no field `aproved`
                did you mean `approved`?
            7:84 error[unknown-field]: `feedback` has no field `txt`
                did you mean `text`?
            8:58 error[unknown-field]: `output` has no field `pased`
                did you mean `passed`?
        "#]],
    );
}

#[test]
fn what_stands_behind_a_bind_is_described() {
    check(
        r#"bind.task = "tasks[index]"
nodes.work = { kind = "agent", role = "worker", set = { index = "output.ok ? index + 1 : 0", title = "$task.id & $task.staus" } }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "done" }]
"#,
        expect![[r#"
            2:120 warning[unknown-field]: the schema does not describe a field `staus` of `$task`
                did you mean `status`?
        "#]],
    );
}

#[test]
fn places_are_inside_the_schema() {
    check(
        r#"bind.task = "taks[index]"
nodes.work = { kind = "agent", role = "worker", set = { indx = "1", "tasks.status" = "'pending'", "tasks[index].sttus" = "$task.id", "last.okay" = "true", "index[0]" = "1", "open.unheard" = "1" } }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "done" }]
"#,
        expect![[r#"
            1:13 error[bind-outside-schema]: `taks` is outside the schema of the state: the state has no field `taks`
                did you mean `tasks`?
            2:57 error[set-outside-schema]: `indx` is outside the schema of the state: the state has no field `indx`
                did you mean `index`?
            2:69 error[set-outside-schema]: `tasks.status` is outside the schema of the state: `tasks` is a list
                name one item, as in `tasks[0].status`
            2:99 warning[set-outside-schema]: `tasks[index].sttus` is outside the schema of the state: `tasks[index]` has no field `sttus`
                did you mean `status`?
            2:134 error[set-outside-schema]: `last.okay` is outside the schema of the state: `last` has no field `okay`
                did you mean `ok`?
            2:156 error[set-outside-schema]: `index[0]` is outside the schema of the state: `index` is neither a list nor an object
                remove the brackets
            2:174 warning[set-outside-schema]: `open.unheard` is outside the schema of the state: `open` has no field `unheard`
                add it to the schema of the state
        "#]],
    );
    check(
        r#"bind.task = "tasks[index]"
nodes.work = { kind = "agent", role = "worker", set = { index = "$task ? 1 : 0", "tasks[index].status" = "'pending'", "counts[output.status]" = "1", "counts.any" = "1", last = "{'ok': true}", "last.ok" = "true", "tasks[0]" = "output.tasks[0]" } }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "done" }]
"#,
        expect![[""]],
    );
}

#[test]
fn a_choice_has_no_parts_and_patterns_say_which_names_there_are() {
    let state = r#"{ "type": "object", "properties": {
        "mode": { "enum": ["fast", 3] },
        "kind": { "const": "a" },
        "either": { "enum": [{ "k": 1 }, "b"], "default": { "k": 1 } },
        "ports": { "type": "object", "patternProperties": { "^p[0-9]+$": { "enum": [1, 2] } }, "additionalProperties": false, "default": {} }
    } }"#;
    let text = r#"nodes.work = { kind = "agent", role = "worker", set = { "mode.k" = "1", "mode[0]" = "1", "kind.k" = "1", "either.k" = "1", "ports.p1" = "1", "ports.p2" = "3", "ports.q" = "1", "ports[output.title]" = "1" } }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "done" }]
"#;
    check_with(
        text,
        &[("state.schema.json", state)],
        expect![[r#"
        1:57 error[set-outside-schema]: `mode.k` is outside the schema of the state: `mode` has no field `k`
            add it to the schema of the state
        1:73 error[set-outside-schema]: `mode[0]` is outside the schema of the state: `mode` is neither a list nor an object
            remove the brackets
        1:90 error[set-outside-schema]: `kind.k` is outside the schema of the state: `kind` has no field `k`
            add it to the schema of the state
        1:156 error[set-does-not-fit]: 3 does not fit `ports.p2`
            the schema of the state says what is allowed there
        1:160 error[set-outside-schema]: `ports.q` is outside the schema of the state: `ports` has no field `q`
            add it to the schema of the state
    "#]],
    );
}

#[test]
fn the_name_is_pointed_at_in_a_condition_of_many_lines() {
    check(
        &format!(
            "{WORK}{}",
            r#"edges = [
  { id = "a", from = "work", to = "done", when = '''
output.ok = true
  and index = 0
  and output.okay = true''' },
  { id = "b", from = "work", to = "done", when = """
title = \"index\"
  or indx = 1""" },
  { id = "c", from = "work", to = "done" },
]
"#
        ),
        expect![[r#"
            7:14 error[unknown-field]: `output` has no field `okay`
                did you mean `ok`?
            10:6 error[unknown-field]: the state has no field `indx`
                did you mean `index`?
            11:10 warning[edges-overlap]: `c` overlaps with `b`, which is tried first, for example with `index` = 0, `output.ok` = false, `title` = "index"
                if `b` should win, add overrides = ["c"] to it
        "#]],
    );
}

#[test]
fn constants_fit() {
    check(
        r#"nodes.work = { kind = "agent", role = "worker", set = { index = "-1", mode = "'quick'", ok = "'true'", title = "5", "counts.any" = "1.5", last = "'x'" } }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "done" }]
"#,
        expect![[r#"
            1:66 error[set-does-not-fit]: -1 does not fit `index`
                the schema of the state says what is allowed there
            1:79 error[set-does-not-fit]: "quick" does not fit `mode`
                the schema of the state says what is allowed there
            1:95 error[set-does-not-fit]: "true" does not fit `ok`
                the schema of the state says what is allowed there
            1:113 error[set-does-not-fit]: 5 does not fit `title`
                the schema of the state says what is allowed there
            1:133 error[set-does-not-fit]: 1.5 does not fit `counts.any`
                the schema of the state says what is allowed there
            1:147 error[set-does-not-fit]: "x" does not fit `last`
                the schema of the state says what is allowed there
        "#]],
    );
    check(
        r#"nodes.work = { kind = "agent", role = "worker", set = { index = "1", mode = "'slow'", ok = "true", title = "'5'", "counts.any" = "2", last = "null" } }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "done" }]
"#,
        expect![[""]],
    );
}

#[test]
fn a_field_that_is_ruled_out_is_outside_the_schema() {
    let state = r#"{ "type": "object", "properties": { "never": false } }"#;
    check_with(
        r#"nodes.work = { kind = "agent", role = "worker", set = { never = "output.ok" } }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "done" }]
"#,
        &[("state.schema.json", state)],
        expect![[r#"
            1:57 error[set-outside-schema]: `never` is outside the schema of the state: `false` says that the state has no field `never`
                describe the field in the schema, or remove the `set`
        "#]],
    );
}

#[test]
fn a_place_lies_in_something_that_is_there() {
    let state = r#"{ "type": "object", "properties": {
        "meta": { "type": "object", "properties": { "a": { "type": "object", "properties": { "b": { "type": "integer" } } } } },
        "last": { "type": ["object", "null"], "default": null },
        "made": { "type": ["object", "null"], "default": null },
        "list": { "type": "array" },
        "full": { "type": "object", "properties": { "a": { "type": "object", "properties": { "b": { "type": "integer", "default": 1 } } } } }
    } }"#;
    let with = |set: &str, more: &str| {
        format!(
            "nodes.work = {{ kind = \"agent\", role = \"worker\", set = {{ {set} }} }}\nnodes.done = {{ kind = \"end\" }}\nedges = [{{ id = \"a\", from = \"work\", to = \"done\"{more} }}]\n"
        )
    };
    let others = [("state.schema.json", state)];
    check_with(
        &with(r#""meta.a.b" = "1", "last.x" = "1", "list[0]" = "1", "last['y'].z" = "1""#, ""),
        &others,
        expect![[r#"
            1:57 error[set-without-parent]: `meta.a.b` can never be set: `meta.a` has no default, and no `set` changes that
                give `meta.a` a default such as {} in the schema of the state, or set it before
            1:75 error[set-without-parent]: `last.x` can never be set: `last` is null by default, and no `set` changes that
                give `last` a default such as {} in the schema of the state, or set it before
            1:91 error[set-without-parent]: `list[0]` can never be set: `list` has no default, and no `set` changes that
                give `list` a default in the schema of the state, or set it before
            1:108 error[set-without-parent]: `last['y'].z` can never be set: `last` is null by default, and no `set` changes that
                give `last` a default such as {} in the schema of the state, or set it before
        "#]],
    );
    // A default of a part makes the whole, and any `set` may.
    check_with(
        &with(
            r#""full.a.b" = "1", "made.x" = "1", "meta.a.b" = "1", "list[0]" = "1""#,
            r#", set = { made = "output", "meta[output.title]" = "output", meta = "{}", list = "[]" }"#,
        ),
        &others,
        expect![[""]],
    );
    // What cannot be read may do so too.
    check_all(
        &with(r#""meta.a.b" = "1", "meta[" = "1""#, ""),
        &others,
        expect![[r#"
            1:80 error[bad-place]: the `[` is not closed
                a place is a path such as `tasks[currentTaskIndex].status`, or a list and `[+]` to add to it
        "#]],
    );
}

#[test]
fn what_stands_in_brackets_is_an_index_or_a_key() {
    check(
        r#"bind.task = "tasks[-1]"
nodes.work = { kind = "agent", role = "worker", set = { "tasks[1.5].status" = "'pending'", "tasks[true]" = "$task", "tasks[0].id" = "'x'", "counts['a']" = "1" } }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "done" }]
"#,
        expect![[r#"
            1:20 error[no-index]: -1 is neither an index nor a key
                items are counted from 0; `[$count(tasks) - 1]` is the last one
            2:64 error[no-index]: 1.5 is neither an index nor a key
                items are counted from 0; `[$count(tasks) - 1]` is the last one
            2:99 error[no-index]: true is neither an index nor a key
                items are counted from 0; `[$count(tasks) - 1]` is the last one
        "#]],
    );
}

#[test]
fn what_is_read_of_an_item_is_described() {
    let with =
        |more: &str| format!("{WORK}edges = [{{ id = \"a\", from = \"work\", to = \"done\" }}]\n{more}\n");
    check(
        &with(r#"board = { items = "tasks", key = "idd", title = "titel", depends = "status" }"#),
        expect![[r#"
            4:35 error[unknown-field]: an item has no field `idd`
                did you mean `id`?
            4:50 warning[unknown-field]: the schema does not describe a field `titel` of an item
        "#]],
    );
    check(
        r#"nodes.work = { kind = "map", workflow = "part", items = "tasks", key = "idd", depends = "needs" }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "done" }]
"#,
        expect![[r#"
            roles/worker.md warning[unused-role]: no node has the role `worker`
                remove its files, or add a node for it
            1:41 error[unknown-child]: there is no child workflow `part`
                a child is a folder: `children/part/workflow.toml`
            1:73 error[unknown-field]: an item has no field `idd`
                did you mean `id`?
            1:90 warning[unknown-field]: the schema does not describe a field `needs` of an item
        "#]],
    );
    // Nothing is known of these, and the item itself is no field.
    check(&with(r#"board = { items = "tasks[status = 'pending']", key = "nobody.knows" }"#), expect![[""]]);
    check(&with(r#"board = { items = "tasks", key = "$.id", title = "$string($)" }"#), expect![[""]]);
}

#[test]
fn what_is_written_out_in_an_expression_has_its_own_fields() {
    let set = |value: &str| {
        format!(
            "nodes.work = {{ kind = \"agent\", role = \"worker\", set = {{ open = \"\"\"{value}\"\"\" }} }}\nnodes.done = {{ kind = \"end\" }}\n\
             edges = [{{ id = \"a\", from = \"work\", to = \"done\" }}]\n"
        )
    };
    check(&set("(ok ? last : {'alt': 1}).alt"), expect![[""]]);
    check(&set("$append(last, {'other': 1}).other"), expect![[""]]);
    check(
        &set("(ok ? last : {'alt': 1}).al"),
        expect![[r#"
        1:92 error[unknown-field]: `last` has no field `al`
    "#]],
    );
}
