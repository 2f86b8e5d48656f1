//! Messages without a recipient, and signals that lead nowhere.

use expect_test::expect;

use crate::{WORK, check_all, check_with};

const INPUT: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "required": ["text"],
  "properties": { "text": { "type": "string" }, "most": { "type": "integer" } }
}"#;

/// Checks a workflow that goes from `work` to `done`, with more behind it.
fn check_more(more: &str, expected: expect_test::Expect) {
    let edge = "edges = [{ id = \"a\", from = \"work\", to = \"done\" }]\n";
    check_with(&format!("{WORK}{edge}{more}"), &[("tell.json", INPUT)], expected);
}

#[test]
fn a_message_is_to_a_role_that_there_is() {
    let edge = |send: &str| {
        format!("{WORK}edges = [{{ id = \"a\", from = \"work\", to = \"done\", send = {send} }}]\n")
    };
    check_with(
        &edge(
            r#"{ to = "worker", kind = "DONE", subject = "title", body = "output.title", data = "output" }"#,
        ),
        &[],
        expect![[""]],
    );
    check_with(
        &edge(
            r#"[{ to = "wroker", kind = "A", data = "'x'" }, { to = "zebra", from = "boss", kind = "B", body = "titel" }]"#,
        ),
        &[],
        expect![[r#"
            3:65 error[unknown-role]: no node has the role `wroker`, here or in a workflow above
                did you mean `worker`?
            3:95 error[data-not-object]: `data` is an object, and this gives "x"
                write `data = "{'name': value}"`, or put the text into `body`
            3:110 error[unknown-role]: no node has the role `zebra`, here or in a workflow above
            3:126 error[unknown-role]: no node has the role `boss`, here or in a workflow above
            3:154 error[unknown-field]: the state has no field `titel`
                did you mean `title`?
        "#]],
    );
    check_all(
        &edge(r#"{ to = "worker", text = "'x'", kind = "two words", body = "$signal.text" }"#),
        &[],
        expect![[r#"
            3:74 error[unknown-key]: a message of edge `a` has no key `text`
                its keys are `to`, `kind`, `from`, `subject`, `body`, `data` and `when`
            3:95 error[bad-name]: `two words` is not a valid name
                use letters, digits, `_` and `-`, starting with a letter, at most 64 characters
            3:116 error[misplaced-variable]: `$signal` is not known here
                use it in a table of `[signals]`
        "#]],
    );
}

#[test]
fn a_child_may_write_to_a_role_above_it() {
    let parent = r#"nodes.work = { kind = "map", workflow = "part", items = "tasks", key = "id" }
nodes.lead = { kind = "agent", role = "worker" }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "work", to = "lead" }, { id = "b", from = "lead", to = "done", send = { to = "helper", kind = "X" } }]
"#;
    let child = r#"name = "part"
start = "help"
nodes.help = { kind = "agent", role = "helper" }
nodes.done = { kind = "end" }
edges = [{ id = "a", from = "help", to = "done", send = [{ to = "worker", kind = "X" }, { to = "nobody", kind = "X" }] }]
signals.more = { input = "more.json", to = "help" }
"#;
    let files = [
        ("children/part/workflow.toml", child),
        ("children/part/state.schema.json", r#"{ "type": "object" }"#),
        ("children/part/more.json", "{}"),
        ("children/part/roles/helper.md", "Help."),
        ("children/part/roles/helper.output.json", "{}"),
    ];
    check_with(
        parent,
        &files,
        expect![[r#"
        children/part/workflow.toml error[unknown-role]: no node has the role `nobody`, here or in a workflow above
        children/part/workflow.toml error[signal-continues-child]: `to` of signal `more` can never be followed: it is of a child
            remove it: a child that has ended is not continued, because its parent has used its result
        4:106 error[unknown-role]: no node has the role `helper`, here or in a workflow above
    "#]],
    );
}

#[test]
fn a_signal_leads_to_a_node_and_sets_what_fits() {
    check_more(
        "[signals.extend]\ntitle = \"More\"\ninput = \"tell.json\"\nwhen = \"$signal.most > most\"\nto = \"work\"\nroles = [\"worker\"]\n\
         set = { title = \"$signal.text\" }\nsend = { to = \"worker\", kind = \"more\", body = \"$signal.text\" }\n",
        expect![[""]],
    );
    check_more(
        "[signals.pause]\ninput = \"tell.json\"\nwhen = \"$signal.txet = 'x'\"\nto = \"done\"\nroles = [\"wroker\"]\n\
         set = { titel = \"$signal.text\" }\nsend = { to = \"boss\", kind = \"more\" }\n",
        expect![[r#"
            4:10 error[reserved-signal]: `pause` is a signal that every run has
                give it another name
            6:17 error[unknown-field]: `$signal` has no field `txet`
                did you mean `text`?
            7:6 error[signal-to-end]: signal `pause` continues a run at `done`, where it ends
                name a node at which there is something to do, or remove `to`
            8:10 error[unknown-role]: no node has the role `wroker`, here
                did you mean `worker`?
            9:9 error[set-outside-schema]: `titel` is outside the schema of the state: the state has no field `titel`
                did you mean `title`?
            10:15 error[unknown-role]: no node has the role `boss`, here or in a workflow above
        "#]],
    );
    check_more(
        "[signals.a]\ninput = \"tell.json\"\nto = \"wrok\"\n",
        expect![[r#"
        6:6 error[unknown-node]: there is no node `wrok`
            did you mean `work`?
    "#]],
    );
    check_all(
        &format!(
            "{WORK}edges = [{{ id = \"a\", from = \"work\", to = \"done\" }}]\nsignals.a = {{ to = \"work\" }}\nsignals.b = {{ input = \"no.json\" }}\nsignals.c = 1\n"
        ),
        &[],
        expect![[r#"
            4:9 error[missing-key]: signal `a` has no `input`
                add `input = …`
            5:23 error[missing-file]: there is no file `no.json`
            6:13 error[wrong-type]: signal `c` must be a table
        "#]],
    );
}

#[test]
fn a_node_that_only_a_signal_leads_to_is_reached() {
    check_more(
        "nodes.again = { kind = \"agent\", role = \"worker\" }\n[signals.more]\ninput = \"tell.json\"\nto = \"again\"\n",
        expect![[r#"
            4:7 error[dead-end]: `again` cannot be left: it has no outgoing edge and is not an end
                add an edge from it, or make its kind `end`
        "#]],
    );
}
