//! Views and files: what they read, what they are called, and where the files are.

use expect_test::{Expect, expect};

use crate::check_all;

/// Behind the tables of a case.
const GRAPH: &str = r#"[nodes.work]
kind = "agent"
role = "worker"
[nodes.done]
kind = "end"
[[edges]]
id = "a"
from = "work"
to = "done"
"#;

fn check(text: &str, expected: Expect) {
    check_all(
        &format!("{text}{GRAPH}"),
        &[("files/tasks.schema.json", r#"{ "type": "array" }"#), ("files/item.md", "- {{ id }}\n")],
        expected,
    );
}

#[test]
fn sound_views_and_files_have_no_fault() {
    check(
        r#"folder = "small"
[view]
slug = "input.slug ? input.slug : 'run-' & $string($run.id)"
open = "tasks[status = 'pending']"
how_many = "$count($open)"
[files.all]
path = "{slug}/all.json"
value = "{'open': $how_many, 'by': $run.node, 'commits': $work.*.commits}"
[files.tasks]
path = "{slug}/tasks.json"
place = "tasks"
[files.list]
path = "{slug}/list.md"
value = "{'id': title}"
template = "files/item.md"
"#,
        expect![[""]],
    );
}

#[test]
fn the_names_of_views_are_their_own() {
    check(
        r#"[bind]
task = "tasks[index]"
[view]
run = "1"
task = "2"
count = "3"
a = "$b"
b = "$a & $nothing"
lonely = "title"
"#,
        expect![[r#"
            2:8 warning[unused-bind]: no expression uses `$task`
                remove it from `[bind]`
            4:1 error[name-of-fact]: `run` is called like the variable `$run` of every workflow
                give the view another name
            4:1 warning[unused-view]: nothing reads the view `run`
                remove it from `[view]`
            5:1 error[repeated-name]: `task` is also a name of `[bind]`
                give the view another name
            5:1 warning[unused-view]: nothing reads the view `task`
                remove it from `[view]`
            6:1 error[bad-name]: `count` cannot be the name of a variable
                use letters, digits and `_`, starting with a letter; it must not be a JSONata function
            6:1 warning[unused-view]: nothing reads the view `count`
                remove it from `[view]`
            7:6 error[view-below]: the view `$b` is not above this one
                move it up: a view may use those above it
            8:11 error[unknown-variable]: there is no variable `$nothing`
                define it under `[view]` or `[bind]`; places of `[bind]` cannot use variables
            9:1 warning[unused-view]: nothing reads the view `lonely`
                remove it from `[view]`
        "#]],
    );
}

#[test]
fn what_is_shown_reads_nothing_that_changes_unseen() {
    check(
        r#"[view]
late = "$now()"
lucky = "$random() & $late"
said = "output.ok & $lucky & $run.stat & $steps.edgee & $outcome.code"
[files.one]
path = "one.json"
value = "$said"
"#,
        expect![[r#"
            2:9 error[shown-not-fixed]: views and files may not read the clock or chance
                use `$run.updatedAt`, or `set` the value in a step
            3:10 error[shown-not-fixed]: views and files may not read the clock or chance
                use `$run.updatedAt`, or `set` the value in a step
            4:9 error[shown-not-fixed]: views and files may not read `output`, which is there only within a step
                `set` what they need in the state
            4:35 error[unknown-field]: `$run` has no field `stat`
                did you mean `status`?
            4:49 error[unknown-field]: `$steps` has no field `edgee`
                did you mean `edge`?
            4:57 error[misplaced-variable]: `$outcome` is not known here
                use it in an edge with `on`
        "#]],
    );
}

#[test]
fn a_file_has_one_source_and_a_place_of_its_own() {
    check(
        r#"folder = "workflows"
[view]
state = "mode"
[files.none]
path = "a.json"
[files.two]
path = "b.json"
place = "title"
value = "1"
[files.outside]
path = "../b.json"
value = "1"
[files.hidden]
path = "a/.b.json"
value = "1"
[files.moving]
path = "{state}.json"
value = "$state"
[files.unknown]
path = "{stat}.json"
value = "1"
[files.again]
path = "{stat}.json"
value = "1"
[files.far]
path = "far.json"
place = "titel"
[files.item]
path = "item.json"
place = "tasks[0]"
[files.body]
path = "body.md"
place = "last"
body = "score"
[files.list]
path = "list.log"
append = "title"
[files.schema]
path = "schema.json"
place = "tasks"
schema = "files/tasks.schema.json"
[files.missing]
path = "missing.json"
value = "1"
schema = "files/none.json"
"#,
        expect![[r#"
            1:10 error[bad-path]: `.regatta/workflows` is used for something else
                choose another name
            4:8 error[missing-key]: file `none` has no `value`
                add `place`, `append` or `value`
            9:1 error[conflicting-keys]: a file has `place` or `value`, not both
            11:9 error[bad-path]: `../b.json` is no path within the folder
                write names joined by `/`, none of which begins with `.`; `{name}` stands for a view
            14:9 error[bad-path]: `a/.b.json` is no path within the folder
                write names joined by `/`, none of which begins with `.`; `{name}` stands for a view
            16:8 error[path-not-constant]: the path of file `moving` may change: `state` is not constant
                in a path, use views that read only `input`, `$run.id` and `$run.createdAt`
            19:8 error[unknown-view]: there is no view `stat`
                did you mean `state`?
            22:8 error[path-taken]: file `again` has the path of file `unknown`
            22:8 error[unknown-view]: there is no view `stat`
                did you mean `state`?
            27:9 error[file-outside-schema]: `titel` is outside the schema of the state: the state has no field `titel`
                did you mean `title`?
            30:9 error[bad-place]: `tasks[0]` is not always the same place
                write names joined by `.`, such as `plan.tasks`
            34:8 error[body-no-text]: `last` has no field `score` that is a text
                `body` names the field that is the text of the file; the others are its front matter
            37:10 error[append-to-no-list]: `title` is no list
                use `place` for a value that changes as a whole
            41:1 error[conflicting-keys]: `schema` does not go with `place`
                what is there already fits the schema of the state
            45:10 error[missing-file]: there is no file `files/none.json`
        "#]],
    );
}

#[test]
fn a_list_in_a_file_only_grows() {
    check_all(
        r#"[files.tasks]
path = "tasks.log"
append = "tasks"
template = "files/item.md"
[nodes.work]
kind = "agent"
role = "worker"
set = { "tasks[+]" = "output.tasks", tasks = "[]", "tasks[0].status" = "'complete'" }
[nodes.done]
kind = "end"
[[edges]]
id = "a"
from = "work"
to = "done"
"#,
        &[("files/item.md", "- {{ id }}\n")],
        expect![[r#"
            8:38 error[append-replaced]: `tasks` is kept in a file that only grows
                add to it: `"tasks[+]" = …`
        "#]],
    );
}

#[test]
fn a_parent_reads_the_views_of_its_children_and_no_others() {
    let child = "name = \"part\"\nstart = \"work\"\nfolder = \"other\"\n[view]\nseen = \"1\"\nunseen = \"2\"\n\
                 [nodes]\nwork = { kind = \"agent\", role = \"worker\" }\ndone = { kind = \"end\" }\n\
                 [[edges]]\nid = \"a\"\nfrom = \"work\"\nto = \"done\"\n";
    check_all(
        r#"[view]
all = "$children.view.seen & $children.view.sene & $children.run.status & $children.keys"
[nodes.work]
kind = "map"
workflow = "part"
items = "tasks"
key = "id"
[nodes.ask]
kind = "agent"
role = "worker"
[nodes.done]
kind = "end"
[[edges]]
id = "a"
from = "work"
to = "ask"
[[edges]]
id = "b"
from = "ask"
to = "done"
when = "$all = 'x'"
"#,
        &[
            ("children/part/workflow.toml", child),
            ("children/part/state.schema.json", r#"{ "type": "object" }"#),
            ("children/part/roles/worker.md", "Work."),
            ("children/part/roles/worker.output.json", "{}"),
        ],
        expect![[r#"
            children/part/workflow.toml error[misplaced-folder]: a child writes to the folder of its parent
                remove `folder`
            children/part/workflow.toml warning[unused-view]: nothing reads the view `unseen`
                remove it from `[view]`
            2:45 error[unknown-field]: `$children.view` has no field `sene`
                did you mean `seen`?
            2:85 error[unknown-field]: `$children` has no field `keys`
                did you mean `key`?
        "#]],
    );
}

#[test]
fn an_import_sets_what_there_is_of_what_the_file_says() {
    check(
        r#"[files.list]
path = "list.json"
value = "tasks"
schema = "files/tasks.schema.json"
[files.list.import]
tasks = "$file[status = 'pending']"
"input.goal" = "$file[0].id"
"run.status" = "'completed'"
"messages[+]" = "$file.{'body': id}"
[files.tasks]
path = "tasks.json"
place = "tasks"
import = { index = "$count($file)" }
"#,
        expect![""],
    );
    check(
        r#"[files.list]
path = "list.json"
value = "tasks"
[files.list.import]
task = "$file"
"tasks[0].id" = "$file"
"run.state" = "$file"
tasks = "$run.status & $signal & $count($file)"
title = 3
[files.tasks]
path = "tasks.json"
place = "tasks"
import = { title = "$file.name" }
[files.text]
path = "text.md"
value = "last"
template = "files/item.md"
import = { title = "$file" }
"#,
        expect![[r#"
            5:1 error[file-outside-schema]: `task` is outside the schema of the state: the state has no field `task`
                did you mean `tasks`?
            6:1 error[bad-place]: `tasks[0].id` is not always the same place
                write names joined by `.`, such as `plan.tasks`
            7:1 error[unknown-key]: an import cannot set `run.state`
                did you mean `status`?
            8:10 error[unknown-variable]: there is no variable `$run`
                define it under `[view]` or `[bind]`; places of `[bind]` cannot use variables
            8:24 error[misplaced-variable]: `$signal` is not known here
                use it in a table of `[signals]`
            9:9 error[wrong-type]: `title` of file `list` must be an expression in quotes, but is `3`
                write `title = "3"`
            13:27 warning[unknown-field]: the schema does not describe a field `name` of `$file`
            17:1 error[conflicting-keys]: what a template renders cannot be read back, so there is no `import` of it
                remove `import`
        "#]],
    );
}
