//! Projects with scripted roles for runs of `speckit`, and looks at what became of them.

use crate::support::PROGRAM;
use regatta_testkit::binary::TestProject;
use regatta_testkit::wait::until;
use serde_json::{Value, json};

/// Who plays the roles; `coder` is defined by each test.
const AGENTS: &str = r#"
[agents.planner]
kind = "scripted"
script = ".regatta/scripts/spec.toml"

[agents.judge]
kind = "scripted"
script = ".regatta/scripts/reviewer.toml"

[roles]
spec = "planner"
coder = "worker"
reviewer = "judge"
"#;

/// Fails its own validation on T001 once, and is ready at once with everything else.
pub(crate) const CODER: &str = r#"
[[session]]
item = "T001"
step = [
    { write = { path = "${item}.txt", text = "draft\n" } },
    { result = { code = "a draft", taskId = "${item}", status = "needs_revision", selfValidation = { passed = false, issues = ["it is a draft"] } } },
]

[[session]]
item = "T001"
step = [
    { write = { path = "${item}.txt", text = "work on ${item}, visit ${visit}\n" } },
    { result = { code = "the work", taskId = "${item}", status = "complete", selfValidation = { passed = true, issues = [] } } },
]

[[session]]
step = [
    { write = { path = "${item}.txt", text = "work on ${item}, visit ${visit}\n" } },
    { result = { code = "the work", taskId = "${item}", status = "complete", selfValidation = { passed = true, issues = [] } } },
]
"#;

/// Never passes its own validation.
pub(crate) const HOPELESS: &str = r#"
[[session]]
step = [
    { write = { path = "${item}.txt", text = "visit ${visit}\n" } },
    { result = { code = "a draft", taskId = "${item}", status = "needs_revision", selfValidation = { passed = false, issues = ["it does not work"] } } },
]
"#;

/// Asks a question first.
pub(crate) const BLOCKED: &str = r#"
[[session]]
step = [
    { result = { code = "", taskId = "${item}", status = "blocked", selfValidation = { passed = false, issues = ["which colour?"] } } },
]

[[session]]
step = [
    { write = { path = "${item}.txt", text = "blue\n" } },
    { result = { code = "blue", taskId = "${item}", status = "complete", selfValidation = { passed = true, issues = [] } } },
]
"#;

/// Sends T002 back once, and approves everything else.
const REVIEWER: &str = r#"
[[session]]
item = "T002"
step = [{ result = { taskId = "T002", approved = false, issues = [{ severity = "major", description = "it is too short" }], criteriaResults = [{ criterion = "${item}.txt is there", met = false }] } }]

[[session]]
item = "T002"
step = [{ result = { taskId = "T002", approved = true, issues = [], criteriaResults = [{ criterion = "${item}.txt is there", met = true }] } }]

[[session]]
step = [{ result = { taskId = "${item}", approved = true, issues = [], criteriaResults = [{ criterion = "${item}.txt is there", met = true }] } }]
"#;

/// A coder that says that it has started, and continues when the test lets it; its first draft is not good enough.
const GATED: &str = r#"
cat > /dev/null
echo "$REGATTA_STEP" >> "$REGATTA_PROJECT/.regatta/begun"
while [ ! -e "$REGATTA_PROJECT/.regatta/open-$REGATTA_STEP" ]; do sleep 0.05; done
[ "$REGATTA_STEP" = 1 ] && passed=false || passed=true
echo "step $REGATTA_STEP" > work.txt
echo "{\"code\":\"work\",\"taskId\":\"PRD\",\"status\":\"complete\",\"selfValidation\":{\"passed\":$passed,\"issues\":[]}}"
"#;

/// A coder that keeps its prompt of each step, and is ready at once.
const LISTENING: &str = r#"
cat > "$REGATTA_PROJECT/.regatta/told-$REGATTA_STEP"
echo "step $REGATTA_STEP" > work.txt
echo '{"code":"work","taskId":"PRD","status":"complete","selfValidation":{"passed":true,"issues":[]}}'
"#;

/// Runs the workflow below it once for each item.
const MANY: &str = r#"
name = "many"
start = "each"
state = "state.schema.json"

[nodes.each]
kind = "map"
workflow = "one"
items = "input.items"
key = "id"
depends = "after"
max_parallel = 1
set = { results = "output" }

[nodes.done]
kind = "end"

[[edges]]
id = "all"
from = "each"
to = "done"
"#;

/// Makes one item, and fails if it is not good.
const ONE: &str = r#"
name = "one"
start = "coder"
state = "state.schema.json"

[nodes.coder]
kind = "agent"
role = "coder"
input = { id = "input.id" }
set = { passed = "output.selfValidation.passed" }

[nodes.done]
kind = "end"

[nodes.failed]
kind = "end"
status = "failed"
reason = "'it is no good'"

[[edges]]
id = "good"
from = "coder"
to = "done"
when = "passed = true"

[[edges]]
id = "bad"
from = "coder"
to = "failed"
when = "passed = false"
"#;

/// Works on one task and ends, well or badly, without submitting it.
const PLAIN: &str = r#"
name = "plain"
start = "work"
board = { items = "[{'id': 'T001', 'title': 'A task'}]", key = "id", title = "title" }
nodes.work = { kind = "agent", role = "coder", task = "'T001'" }
nodes.done = { kind = "end" }
nodes.bad = { kind = "end", status = "failed" }
edges = [
    { id = "good", from = "work", to = "done", when = "input.good" },
    { id = "bad", from = "work", to = "bad" },
]
"#;

pub(crate) const PRD: &str = "# The plan\n\nMake two files.\n";

/// Makes a project in which `worker` plays a script, with a document `plan.md` that becomes two tasks.
pub(crate) fn scripted(approval: &str, coder: &str) -> TestProject {
    let worker = "[agents.worker]\nkind = \"scripted\"\nscript = \".regatta/scripts/coder.toml\"\n";
    let project = project(approval, worker);
    project.repo.write(".regatta/scripts/coder.toml", coder);
    project
}

/// Makes a project in which `worker` waits in each step until the test calls [`open`].
pub(crate) fn gated() -> TestProject {
    project("auto", &format!("[agents.worker]\nkind = \"command\"\ncommand = ['sh', '-c', '''{GATED}''']\n"))
}

/// Makes a project in which `worker` keeps its prompts, for [`told`]; a person approves.
pub(crate) fn listening() -> TestProject {
    let worker = format!("[agents.worker]\nkind = \"command\"\ncommand = ['sh', '-c', '''{LISTENING}''']\n");
    project("person", &worker)
}

fn project(approval: &str, worker: &str) -> TestProject {
    let config =
        format!("[project]\ndefault_branch = \"main\"\napproval = \"{approval}\"\n\n{worker}\n{AGENTS}");
    let project = TestProject::new(PROGRAM, &config);
    let task = |number: u32| {
        format!(
            "{{ id = \"T00{number}\", title = \"Make file {number}\", description = \"The file T00{number}.txt.\", \
             priority = {number}, complexity = \"simple\", acceptanceCriteria = [\"T00{number}.txt is there\"], \
             status = \"pending\" }}"
        )
    };
    let summary =
        "{ totalTasks = 2, byPriority = { \"1\" = 1, \"2\" = 1 }, estimatedComplexity = \"hours\" }";
    let spec = format!(
        "[[session]]\nstep = [{{ result = {{ tasks = [{}, {}], summary = {summary} }} }}]\n",
        task(1),
        task(2)
    );
    project.repo.write(".regatta/scripts/spec.toml", &spec);
    project.repo.write(".regatta/scripts/reviewer.toml", REVIEWER);
    project.repo.write("plan.md", PRD);
    project.repo.commit("the plan");
    project
}

/// What a `map` leaves.
const RESULTS: &str = r#"{"type": "object", "properties": {"results": {"type": "array", "default": []}}}"#;

/// Gives a project the workflow `many`, a small one with children.
pub(crate) fn write_many(project: &TestProject) {
    write_many_at(project, ".regatta/workflows/many");
}

/// Gives a project the workflow `nested`, whose children are `many`, and have children themselves.
pub(crate) fn write_nested(project: &TestProject) {
    let nested = MANY.trim_start().replace("name = \"many\"", "name = \"nested\"");
    let nested = nested.replace("workflow = \"one\"", "workflow = \"many\"");
    project.repo.write(".regatta/workflows/nested/workflow.toml", &nested);
    project.repo.write(".regatta/workflows/nested/state.schema.json", RESULTS);
    write_many_at(project, ".regatta/workflows/nested/children/many");
}

fn write_many_at(project: &TestProject, folder: &str) {
    let write = |name: &str, text: &str| project.repo.write(&format!("{folder}/{name}"), text);
    write("workflow.toml", MANY.trim_start());
    write("state.schema.json", RESULTS);
    write("children/one/workflow.toml", ONE.trim_start());
    write(
        "children/one/state.schema.json",
        r#"{"type": "object", "properties": {"passed": {"type": "boolean", "default": false}}}"#,
    );
    write("children/one/roles/coder.md", "Make {{ id }}.\n");
    write(
        "children/one/roles/coder.output.json",
        r#"{"type": "object", "required": ["selfValidation"], "properties": {"selfValidation": {"type": "object"}}}"#,
    );
}

/// Gives a project the workflow `plain`.
pub(crate) fn write_plain(project: &TestProject) {
    let write =
        |name: &str, text: &str| project.repo.write(&format!(".regatta/workflows/plain/{name}"), text);
    write("workflow.toml", PLAIN.trim_start());
    write("state.schema.json", r#"{"type": "object", "properties": {}}"#);
    write("roles/coder.md", "Work.\n");
    write("roles/coder.output.json", "{}");
}

/// Lets the gated worker finish a step.
pub(crate) fn open(project: &TestProject, step: u64) {
    project.repo.write(&format!(".regatta/open-{step}"), "");
}

/// Returns what the listening worker was told in a step.
pub(crate) fn told(project: &TestProject, step: u64) -> String {
    let path = project.path().join(format!(".regatta/told-{step}"));
    std::fs::read_to_string(path).expect("the worker was told something")
}

/// Waits until the gated worker has begun so many times.
pub(crate) fn until_begun(project: &TestProject, count: usize) {
    let path = project.path().join(".regatta/begun");
    until(&format!("the worker has begun {count} times"), || {
        std::fs::read_to_string(&path).unwrap_or_default().lines().count() >= count
    });
}

/// Returns each step of a run as `node edge to`.
pub(crate) fn steps(project: &TestProject, run: u64) -> Vec<String> {
    let shown = project.json(&["run", "show", &run.to_string(), "--steps"]);
    let word = |step: &Value, name: &str| step[name].as_str().unwrap_or("-").to_owned();
    let steps = shown["steps"].as_array().expect("steps are a list");
    steps.iter().map(|step| [word(step, "node"), word(step, "edge"), word(step, "to")].join(" ")).collect()
}

/// Returns the subjects of the first parents of the target branch, newest first.
pub(crate) fn subjects(project: &TestProject) -> Vec<String> {
    let log = project.repo.git(&["log", "--first-parent", "--format=%s", "main"]);
    log.lines().map(str::to_owned).collect()
}

/// Returns what a run is in one word.
pub(crate) fn status(project: &TestProject, run: u64) -> Value {
    project.json(&["run", "show", &run.to_string()])["status"].clone()
}

/// Replaces a part of a workflow that the project has.
pub(crate) fn edit(project: &TestProject, name: &str, from: &str, to: &str) {
    let path = format!(".regatta/workflows/{name}/workflow.toml");
    let text = std::fs::read_to_string(project.path().join(&path)).expect("the workflow is there");
    assert!(text.contains(from), "{path} has no `{from}`");
    project.repo.write(&path, &text.replacen(from, to, 1));
}

/// Replaces a part of the config.
pub(crate) fn change_config(project: &TestProject, from: &str, to: &str) {
    let path = ".regatta/config.toml";
    let text = std::fs::read_to_string(project.path().join(path)).expect("the config is there");
    assert!(text.contains(from), "the config has no `{from}`");
    project.repo.write(path, &text.replacen(from, to, 1));
}

/// Returns the input of a run as it is given by hand.
pub(crate) fn input() -> String {
    json!({ "prd": PRD, "title": "By hand" }).to_string()
}
