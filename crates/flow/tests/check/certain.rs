//! What the check may conclude from sample values: an error only where they stand for all others.

use crate::{WORK, faults_of, folder};

/// What the role returns here: one field of each kind.
const OUTPUT: &str = r#"{
  "type": "object",
  "additionalProperties": false,
  "required": ["n", "m", "t", "u", "ok"],
  "properties": {
    "n": { "type": "integer" },
    "m": { "type": "number" },
    "t": { "type": "string" },
    "u": { "type": "string" },
    "ok": { "type": "boolean" },
    "e": { "enum": ["a", "b", 3] },
    "limited": { "type": "integer", "minimum": 0, "maximum": 100 },
    "names": { "type": "array", "items": { "type": "string" } },
    "any": {}
  }
}"#;

/// Tells the rules that a workflow with edges of these conditions breaks, each with the place of its edge.
fn rules(before: &str, conditions: &[&str]) -> Vec<String> {
    let edge = |(place, when): (usize, &&str)| {
        format!("  {{ id = \"e{place}\", from = \"work\", to = \"done\", when = '''{when}''' }},\n")
    };
    let edges: String = conditions.iter().enumerate().map(edge).collect();
    let text = format!("{before}edges = [\n{edges}]\n");
    let first = 3 + text.lines().take_while(|line| !line.starts_with("edges")).count() + 2;
    let faults = faults_of(&folder(&text, &[("roles/worker.output.json", OUTPUT)]));
    let tell = |line: usize, rule: &str| match line.checked_sub(first) {
        Some(place) => format!("e{place} {rule}"),
        None => rule.to_owned(),
    };
    faults.iter().map(|fault| tell(fault.line, fault.rule)).collect()
}

fn never_holds(when: &str) -> bool {
    rules(WORK, &[when]).contains(&"e0 edge-never-holds".to_owned())
}

#[test]
fn a_condition_that_can_hold_is_not_said_never_to() {
    for when in [
        "output.n > 1e3",
        "output.m = 1e-3",
        r#"output.t = "it\"s""#,
        r"output.t = 'a\nb'",
        "output.n < -5",
        "output.n = -5",
        "output.n - 50 > 100",
        "output.n + output.m > 100 and output.n < 0",
        "$count(output.names) > 10",
        "$count(output.names) > 200",
        "output.t > 'z'",
        "output.t < 'A'",
        "output.t > output.u",
        "output.t = output.u",
        "output.any = 5",
        "output.any.x.y = 'k'",
        "output.limited > 50 and output.limited < 52",
        "output.m >= 0.5 and output.m < 0.8",
        "output.m > 5 and output.m < 5.01",
        "output.n = output.limited + 3",
        "output.ok = (output.n > 3)",
        "output.names = 'a'",
        "-output.n > 3",
        "output.n != 3 and output.n != 0 and output.n != 1 and output.n != -1 and output.n != 2 and output.n != 4",
        "output.n > 1000000000000",
        "output.m > 1.7e308",
        "output.t != 'other' and output.t != ''",
        "counts.a > 3",
    ] {
        assert!(!never_holds(when), "{when}");
    }
}

#[test]
fn a_condition_that_cannot_hold_is_told() {
    for when in [
        "false",
        "[true]",
        "1",
        "output.t",
        "output.t = 5",
        "output.ok = 'true'",
        "output.ok and $not(output.ok)",
        "output.e = 'c'",
        "output.n > 'x'",
        "output.ok < 3",
        "$number('x') > 1",
        "output.n < -5 and output.n > 5",
        "output.n > 6 and output.n < 7",
        "output.m > 0.8 and output.m < 0.5",
        "output.limited > 100",
        "$count(output.names) < 0",
        "output.t = 'a' and output.t = 'b' /* or 'c' */",
    ] {
        assert!(never_holds(when), "{when}");
    }
}

#[test]
fn a_value_between_close_literals_is_tried() {
    assert_eq!(rules(WORK, &["output.m > 0.52", "output.m < 0.51"]), ["may-stall"]);
    assert_eq!(
        rules(WORK, &["output.m >= 0.8", "output.m >= 0.5 and output.m < 0.8", "output.m < 0.5"]),
        [""; 0]
    );
}

#[test]
fn what_a_node_sets_is_followed_as_far_as_it_can_be() {
    let setting = |set: &str| {
        format!(
            "nodes.work = {{ kind = \"agent\", role = \"worker\", set = {{ {set} }} }}\nnodes.done = {{ kind = \"end\" }}\n"
        )
    };
    assert_eq!(rules(&setting("most = '''output.n * 7'''"), &["most = 21", "most != 21"]), [""; 0]);
    assert_eq!(
        rules(&setting("title = '''output.t & '-x' '''"), &["title = 'a-x'", "title != 'a-x'"]),
        [""; 0]
    );
    assert_eq!(rules(&setting("most = '''most + 10'''"), &["most = 21", "most != 21"]), [""; 0]);
    // A fraction is rounded on the way.
    assert_eq!(rules(&setting("share = '''share + 0.1'''"), &["share = 0.3", "share != 0.3"]), [""; 0]);
    assert_eq!(rules(&setting("mode = '''output.t'''"), &["mode = 'fast'", "mode != 'fast'"]), [""; 0]);
    assert_eq!(
        rules(&setting("mode = '''output.t'''"), &["mode = 'quick'", "mode != 'quick'"]),
        ["e0 edge-never-holds"]
    );
}

#[test]
fn an_edge_is_shadowed_only_where_those_before_it_are_certain() {
    let found = rules(WORK, &["$length(output.t) < 80", "output.t != 'a'", "output.t = 'a'"]);
    assert!(!found.iter().any(|rule| rule.ends_with("edge-shadowed")), "{found:?}");
}

#[test]
fn one_fault_does_not_hide_another() {
    let broken = |before: &str, conditions: &[&str]| {
        let mut found = rules(before, conditions);
        found.retain(|rule| rule.contains("never-holds"));
        found
    };
    assert_eq!(broken(WORK, &["output.t = 5", "output.n.x = 1"]), ["e0 edge-never-holds"]);
    assert_eq!(broken(WORK, &["false", "nope"]), ["e0 edge-never-holds"]);
    for set in ["index = \"'x'\"", "unknown = \"'x'\""] {
        let before = format!(
            "nodes.work = {{ kind = \"agent\", role = \"worker\", set = {{ {set} }} }}\nnodes.done = {{ kind = \"end\" }}\n"
        );
        assert_eq!(broken(&before, &["output.t = 5", "index > 0"]), ["e0 edge-never-holds"], "{set}");
    }
}

#[test]
fn an_edge_is_judged_alone_where_all_together_look_at_too_much() {
    let found = rules(
        WORK,
        &[
            "output.t = 5",
            "output.ok = 'true'",
            "output.n > 3 and output.n < 3",
            "output.m > 0.5 and output.u = 'x'",
            "output.limited > 50 and $count(output.names) > 2 and output.e = 'a' and output.t = 'y' and output.ok",
        ],
    );
    let dead: Vec<&String> = found.iter().filter(|rule| rule.ends_with("edge-never-holds")).collect();
    assert_eq!(dead, ["e0 edge-never-holds", "e1 edge-never-holds", "e2 edge-never-holds"], "{found:?}");
}
